"""The command ``dogc``."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Sequence

from .._stopping import INTERRUPTED, leave_at_once

# What glibc is asked for, by the numbers of its options: M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, so
# that blocks of 1 MB and more are given back once they are freed, and one M_ARENA_MAX for all
# threads.
ALLOCATOR = {-1: 1 << 20, -3: 1 << 20, -8: 1}
MISSING = 'dogc: the command line needs {name}, which is not installed; pip install "dogc[cli]".'


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a subcommand; what goes wrong is said in one sentence.

    Exit codes: 0 done, 1 it could not be done, 2 the input or the command was wrong, 130
    interrupted, 143 stopped.
    """
    if arguments is None:
        leave_at_once()
        _claim_memory()
    if hasattr(sys.stdout, "reconfigure"):
        # A letter that the terminal or the file does not know becomes a question mark.
        sys.stdout.reconfigure(errors="replace")
    try:
        _hand_over(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        print(f"dogc: {INTERRUPTED}", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:  # who reads the output has had enough: dogc ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    finally:
        if arguments is None:  # all that is left to do is to end
            leave_at_once()


def _claim_memory() -> None:
    """Refuse too narrow a limit on addresses; memory that is freed goes back to the system."""
    from .._limits import check_addresses  # not before an interrupt is provided for

    try:
        check_addresses()
    except MemoryError as error:
        print(f"dogc: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # before Arrow is imported
    with contextlib.suppress(AttributeError, OSError, TypeError):  # where there is no glibc
        for option, value in ALLOCATOR.items():
            ctypes.CDLL(None).mallopt(option, value)


def _hand_over(given: list[str]) -> None:
    debug = bool(os.environ.get("DOGC_DEBUG"))
    try:
        if given[:1] == ["paper"]:
            from ..paper.command import main as paper

            paper(given[1:])
            return
        from .commands.command_line import run

        code = run(given, debug)
    except ModuleNotFoundError as error:
        if debug or (error.name or "").startswith("dogc"):
            raise
        print(MISSING.format(name=error.name), file=sys.stderr)
        raise SystemExit(2) from None
    raise SystemExit(code)

"""The end of a command that is stopped: at once, in one sentence, with no file half-written."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any

INTERRUPTED = "interrupted; no file was left half-written."


_owned: set[str] = set()  # "process", where a command is all that it runs


def leave_at_once() -> None:
    """From here on an interrupt ends the process: there is nothing to clean up.

    To be called by a command that owns its process. While packages are imported, some of them
    would swallow an exception.
    """
    _owned.add("process")
    _on("SIGINT", _leave)


def leave_in_order() -> None:
    """From here on an interrupt is a KeyboardInterrupt, and a request to stop an exit.

    Both go up through all that cleans up after itself.
    """
    if not _owned:
        return
    _on("SIGINT", signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        _on(name, _stop)


def _on(name: str, handler: Any) -> None:
    number = getattr(signal, name, None)  # Windows has no SIGHUP
    if number is None or signal.getsignal(number) is signal.SIG_IGN:
        return  # nohup, or a job in the background: somebody wants it so
    try:
        signal.signal(number, handler)
    except ValueError:  # not in the main thread
        return


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, f"dogc: {INTERRUPTED}\n".encode())
    os._exit(130)


def _stop(number: int, frame: FrameType | None) -> None:
    os.write(2, b"dogc: stopped; no file was left half-written.\n")
    sys.exit(128 + number)

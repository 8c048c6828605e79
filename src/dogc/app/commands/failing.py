"""What is said when a command fails, and its exit code."""

from __future__ import annotations

import sys

from ..._words import LONGEST_SENTENCE, shown


def fail(sentence: str, code: int) -> int:
    """Say why, in one sentence; the exit code."""
    print(f"dogc: {shown(sentence, LONGEST_SENTENCE)}", file=sys.stderr)
    return code


def explain(error: Exception, debug: bool) -> int:
    """Say what an error means to somebody who typed a command; the exit code."""
    from ..._atomic import WriteError
    from ...encoding import TableError
    from ..models.saving import ModelFileError
    from .arguments import as_typed

    if isinstance(error, TableError | ModelFileError | WriteError):
        return fail(str(error), 2)
    if debug or isinstance(error, ModuleNotFoundError):  # dogc.app.cli says what to install
        raise error
    if isinstance(error, ValueError | OSError | ImportError | MemoryError):
        sentence = " ".join(str(error).split())
        if isinstance(error, MemoryError) and not (sentence and type(error) is MemoryError):
            sentence = "there is not enough memory; pass fewer rows."  # NumPy's words say less
        if isinstance(error, OSError) and error.strerror:  # without the number of it
            named = "" if error.filename is None else f" ('{error.filename}')"
            sentence = f"{error.strerror}{named}."
        return fail(as_typed(sentence), 2)
    kind = type(error).__name__
    return fail(as_typed(f"unexpected {kind}: {error}; DOGC_DEBUG=1 shows where."), 1)

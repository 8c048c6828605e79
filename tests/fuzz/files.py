"""Attempts on files: tables of all kinds, honest or damaged, read as the commands read them."""

from __future__ import annotations

import contextlib
import gzip
import io
import math
import pathlib
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dogc import MixedEncoder
from dogc.app.commands.command_line import run
from dogc.app.files import TableError, arrow_files, read_table, reading, text
from dogc.encoding.values import MISSING_NUMBER

from . import harness
from .damage import DAMAGE
from .made_files import MAKERS, Made

SECONDS, KILOBYTES = 8.0, 500_000
ENDINGS = ("csv", "tsv", "txt", "parquet", "feather", "npy", "npz", "gz", "csv.gz", "xyz", "")
FILE_NAMES = ("t", "two\nlines", "ä", "-t", "a b", "x" * 200, "\x1b[2J", "[t]", "t*", "\udcff")


def attempt(rng: np.random.Generator, folder: pathlib.Path) -> str:
    """Make a file, and read it in one of the ways."""
    made = MAKERS[rng.integers(len(MAKERS))](rng)
    damage = "odd" if made.cells is None else "honest"
    ending = made.kind
    if rng.random() < 0.2:
        made, ending = (
            made._replace(content=gzip.compress(made.content, mtime=0)),
            made.kind + ".gz",
        )
    if rng.random() < 0.65:
        damage, spoil = list(DAMAGE.items())[rng.integers(len(DAMAGE))]
        made = made._replace(content=spoil(rng, made.content), cells=None)
    if rng.random() < 0.1:
        damage, ending = "ending", ENDINGS[rng.integers(len(ENDINGS))]
        made = made._replace(cells=None)
    stem = FILE_NAMES[rng.integers(len(FILE_NAMES))] if rng.random() < 0.1 else "t"
    path = folder / f"{stem}.{ending}"
    path.write_bytes(made.content)
    if rng.random() < 0.04:
        _command(rng, path, folder / "out")
        return f"command, {damage}"
    way = list(WAYS)[rng.choice(len(WAYS), p=[0.6, 0.4])]
    frame = _watched(lambda: WAYS[way](str(path), rng), path)
    if frame is None:
        if made.cells is not None:
            raise harness.Broken(f"an honest {made.kind} file is refused")
        return f"{damage}, refused"
    _check(frame, made)
    return f"{damage}, read"


def _watched(read: Callable[[], Any], path: pathlib.Path) -> Any:
    """The table that was read, None if it was refused with a sentence; anything else is broken."""
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = read()
    except TableError as error:
        _check_sentence(str(error))
    taken = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if taken > SECONDS:
        raise harness.Broken(f"{taken:.0f} seconds")
    if peak - before > KILOBYTES:
        raise harness.Broken(f"{(peak - before) / 1000:.0f} MB")
    return found


def _check_sentence(sentence: str) -> None:
    if not sentence.endswith(".") or not sentence.isprintable() or len(sentence) > 1000:
        raise harness.Broken(f"no sentence: {sentence[:300]!r}")
    if "cannot be read: " in sentence:  # what an exception said that nobody foresaw
        raise harness.Broken(sentence)


def _whole(path: str, rng: np.random.Generator) -> Any:
    frame = read_table(path).frame
    if rng.random() < 0.5:
        with contextlib.suppress(TableError):
            X = MixedEncoder().fit(frame).transform(frame)
            if not np.isfinite(X).all() or len(X) != len(frame):
                raise harness.Broken("numbers that are none")
    return frame


def _chunks(path: str, rng: np.random.Generator) -> Any:
    """The same read in chunks of a few rows."""
    held = text.CHUNK_BYTES, arrow_files.CHUNK_CELLS, reading.SMALL
    text.CHUNK_BYTES, arrow_files.CHUNK_CELLS, reading.SMALL = 20_000, 20, 0
    try:
        return read_table(path).frame
    finally:
        text.CHUNK_BYTES, arrow_files.CHUNK_CELLS, reading.SMALL = held


WAYS = {"whole": _whole, "chunks": _chunks}


def _check(frame: Any, made: Made) -> None:
    """A table has rows, columns of different names, and what was written."""
    if not len(frame) or not len(frame.columns) or not frame.columns.is_unique:
        raise harness.Broken(f"a table of shape {frame.shape}")
    if made.cells is None or made.names is None:
        return
    if list(frame.columns) != made.names or len(frame) != len(made.cells):
        raise harness.Broken(f"{frame.shape}, {list(frame.columns)} instead of {made.names}"[:300])
    for name, written in zip(made.names, zip(*made.cells, strict=True), strict=True):
        for found, cell in zip(frame[name].tolist(), written, strict=True):
            if not _same(found, cell):
                raise harness.Broken(f"column {name!r} holds {found!r} instead of {cell!r}")


def _same(found: Any, cell: Any) -> bool:
    if found is pd.NA or (isinstance(found, float) and math.isnan(found)):
        return cell is None or str(cell).strip().lower() in MISSING_NUMBER
    if found is None or found is pd.NaT:
        return cell is None
    if isinstance(found, str) or isinstance(cell, bool):
        return found == (cell if isinstance(found, bool) else str(cell))
    return float(found) == float(cell)


def _command(rng: np.random.Generator, path: pathlib.Path, out: pathlib.Path) -> None:
    """The whole command: all files or none, and a sentence where it fails."""
    method = str(rng.choice(["dogc-os", "n-cut"]))
    arguments = ["cluster", str(path), "--clusters", "2", "--method", method, "--out", str(out)]
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = _watched(lambda: run(["--", *arguments][1:], debug=False), path)
    there = sorted(file.name for file in out.iterdir()) if out.exists() else []
    whole = ["labels.csv", "model.skops", "report.html", "run.json"]
    if code not in (0, 2) or there != (whole if code == 0 else []):
        raise harness.Broken(f"exit code {code}, wrote {there}: {said.getvalue()[:300]}")
    if code == 2:
        _check_sentence(said.getvalue().removesuffix("\n").removeprefix("dogc: "))

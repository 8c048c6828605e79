"""The data of benchmarks/dask.py: moons that no memory has to hold, and a CSV file of blobs.

A row depends on its number alone: rows are made in pieces of fixed size, each with a seed of its
own, and blocks of any length are put together from these. Classes are the numbers in turn.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

PIECE = 10_000  # rows that share a seed, and labels that share a hash
NOISE = 0.1
COLUMNS, CLUSTERS = 8, 6  # of the CSV file
KINDS = np.array(["amber", "blue", "coral"])


class Tally(NamedTuple):
    """Totals of the labels of rows; of the same size for any number of rows."""

    table: np.ndarray  # classes by clusters
    hash: int


def truth(start, stop, classes=2):
    """The classes of rows by their numbers."""
    return np.arange(start, stop) % classes


def moons(start, stop):
    """Two moons of radius one, as scikit-learn's, with noise."""
    parts = []
    for piece in range(start // PIECE, -(-stop // PIECE)):
        rng = np.random.default_rng([0, piece])
        upper = truth(piece * PIECE, (piece + 1) * PIECE) == 0
        angle = rng.uniform(0, np.pi, PIECE)
        x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
        y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
        parts.append(np.column_stack([x, y]) + rng.normal(0, NOISE, (PIECE, 2)))
    skipped = start // PIECE * PIECE
    return np.concatenate(parts)[start - skipped : stop - skipped]


def lazy_moons(rows, chunk):
    """The same as a dask array: a block is made by whoever works on it."""
    import dask.array as da

    chunks = da.core.normalize_chunks((chunk, 2), shape=(rows, 2))
    return da.map_blocks(_moons_block, chunks=chunks, dtype=float, meta=np.empty((0, 2)))


def _moons_block(block_info=None):
    return moons(*block_info[None]["array-location"][0])


def tally(labels, start, classes=2):
    """The tally of labels whose first row has this number; blocks are whole pieces."""
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (truth(start, start + len(labels), classes), labels), 1)
    found = 0
    for at in range(0, len(labels), PIECE):
        text = np.int64(start + at).tobytes() + labels[at : at + PIECE].astype(np.int8).tobytes()
        found ^= int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
    return Tally(table, found)


def both(tallies):
    """The tally of all."""
    total = Tally(0, 0)
    for one in tallies:
        total = Tally(total.table + one.table, total.hash ^ one.hash)
    return total


def lazy_tally(labels):
    """The tally of labels that Dask holds, put together by the workers."""
    import dask

    blocks, starts = labels.to_delayed().ravel(), np.cumsum([0, *labels.chunks[0]])
    parts = [dask.delayed(tally)(block, int(at)) for block, at in zip(blocks, starts, strict=False)]
    while len(parts) > 1:
        parts = [dask.delayed(both)(parts[i : i + 16]) for i in range(0, len(parts), 16)]
    return parts[0].compute()


def nmi(table):
    """Normalised mutual information of the classes and clusters of a table."""
    from sklearn.metrics import mutual_info_score

    def entropy(sizes):
        shares = sizes[sizes > 0] / sizes.sum()
        return -(shares * np.log(shares)).sum()

    halves = (entropy(table.sum(axis=axis)) / 2 for axis in (0, 1))
    return float(mutual_info_score(None, None, contingency=table) / sum(halves))


# --- a CSV file: an id, eight numbers, a word that mostly goes with the cluster, and the truth


def blob_table(start, stop):
    """Some rows of the file, by their numbers."""
    import pyarrow as pa

    centres = np.random.default_rng(1).uniform(-10, 10, (CLUSTERS, COLUMNS))
    rng = np.random.default_rng([2, start])
    y = truth(start, stop, CLUSTERS)
    X = np.round(centres[y] + rng.normal(0, 2, (stop - start, COLUMNS)), 6)
    kind = np.where(rng.random(len(y)) < 0.8, y, rng.integers(0, CLUSTERS, len(y))) % len(KINDS)
    named = {f"x{j}": X[:, j] for j in range(COLUMNS)}
    return pa.table({"id": np.arange(start, stop)} | named | {"kind": KINDS[kind], "truth": y})


def write_csv(path, size, most_rows=None):
    """Write rows until the file has so many bytes; how many rows there are."""
    from pyarrow import csv

    step, rows = 100_000, 0
    with open(path, "wb") as file, csv.CSVWriter(file, blob_table(0, 1).schema) as writer:
        while file.tell() < size and rows < (most_rows or np.inf):
            stop = min(rows + step, most_rows or rows + step)
            writer.write(blob_table(rows, stop))
            rows = stop
    return rows


def csv_nmi(path):
    """How far the clusters of a file of labels agree with the truth beside them, and its rows."""
    from pyarrow import csv

    table = np.zeros((CLUSTERS, CLUSTERS + 1), dtype=np.int64)
    kept = csv.ConvertOptions(include_columns=["truth", "cluster"])
    with csv.open_csv(path, convert_options=kept) as reader:
        for batch in reader:
            np.add.at(table, tuple(np.asarray(column) for column in batch.columns), 1)
    return nmi(table), int(table.sum())

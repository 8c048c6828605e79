"""Landmarks: a few points that many rows are described by, and labels of new rows by them."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from ..numerics import bipartite, discrete, lloyd
from ..numerics.exact import rounded
from ..numerics.matrix import Matrix
from . import distinct, links, scaling
from .repeatable import over_blocks
from .representatives import Frame, as_points

# Lloyd's steps from candidates to their means.
STEPS = 10
# Coordinates below this lose bits; above it a row keeps as many of its own largest one.
SMALLEST = 2.0**-60


class Landmarks(NamedTuple):
    """The landmarks and the embedding that give labels to new rows."""

    frame: Frame
    R: np.ndarray  # (p, q) as points
    n_links: int
    width: float
    V: np.ndarray  # (p, c) a row lies at the weighted mean of these
    unit_rows: bool  # whether rows are scaled to length one there
    centres: np.ndarray  # (c, c)


def points_of_rows(frame: Frame, X: Matrix) -> np.ndarray:
    """Rows as points, without the bits that change with the unit of X: ties stay ties."""
    bits = scaling.KEPT_BITS[frame.scaled.X.dtype]
    return rounded(as_points(frame, X), SMALLEST, bits)


def ready_rows(X: Matrix) -> tuple[distinct.DistinctRows, Frame]:
    """Rows made ready: sorted, copies held once with their number, on a scale of order one."""
    found = distinct.distinct_rows(X, None)
    scaled = scaling.scale_rows(found.X)
    frame = Frame(scaled._replace(X=scaled.X[:1]), None)  # of X only the kind is asked for
    size = np.bincount(found.inverse).astype(float)  # exactly
    return found._replace(size=size, unit=1.0), frame


def make_landmarks(
    rows: distinct.DistinctRows,
    frame: Frame,
    p: int,
    candidates: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> np.ndarray:
    """At most p points: the means of cells of ``candidates * p`` rows that are drawn.

    One candidate each is the rows themselves. Where p is not below their number, all rows are
    landmarks.
    """
    if p >= len(rows.size):
        return points_of_rows(frame, rows.X)
    drawn = rng.permutation(len(rows.size))[: candidates * p]
    Z = points_of_rows(frame, rows.X[drawn])
    if candidates == 1:
        return Z
    assign = functools.partial(lloyd.nearest_mean, threads=effective_n_jobs(n_jobs))
    return lloyd.cells(Z, rows.size[drawn], Z[:p], STEPS, assign)[1]


def nearest_landmarks(
    frame: Frame, R: np.ndarray, X: Matrix, k: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest landmarks of each row and their squared distances."""
    search = links.make_search(R)

    def block(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        idx, d = links.nearest(search, points_of_rows(frame, X[rows]), k)
        return idx.astype(np.int32), d

    idx, d = zip(*over_blocks(block, X, n_jobs), strict=True)
    return np.concatenate(idx), np.concatenate(d)


def embedded(idx: np.ndarray, T: np.ndarray, V: np.ndarray, unit_rows: bool) -> np.ndarray:
    """Rows where labels are read off: at the weighted means of V over their landmarks."""
    U = bipartite.place_rows(idx, T, V)
    return scaling.unit_rows(U) if unit_rows else U


def new_labels(fitted: Landmarks, n_jobs: int | None, X: Matrix) -> np.ndarray:
    """The labels of new rows: a function of each row alone."""
    idx, d = nearest_landmarks(fitted.frame, fitted.R, X, fitted.n_links, n_jobs)
    T, _ = bipartite.gaussian_links(d, fitted.width)
    return discrete.nearest_centre(embedded(idx, T, fitted.V, fitted.unit_rows), fitted.centres)

"""Means, spreads and covariances of features, of some rows at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Moments(NamedTuple):
    """Mean and spread of features."""

    rows: int
    mean: np.ndarray  # (d,)
    squares: np.ndarray  # (d,) sums of squared distances from the mean
    low: np.ndarray  # (d,)
    high: np.ndarray  # (d,)
    cross: np.ndarray | None = None  # (d, d) sums of products of distances from the mean

    @property
    def variance(self) -> np.ndarray:
        """Of each feature."""
        return self.squares / self.rows

    @property
    def bounds(self) -> tuple[np.ndarray, ...]:
        """Lowest and highest value, mean and variance of each feature."""
        return self.low, self.high, self.mean, self.variance

    def merged(self, later: Moments) -> Moments:
        """With later rows (Chan, Golub and LeVeque)."""
        rows = self.rows + later.rows
        apart = later.mean - self.mean
        share = later.rows / rows
        cross = None
        if self.cross is not None and later.cross is not None:
            cross = self.cross + later.cross + np.outer(apart, apart) * (self.rows * share)
        return Moments(
            rows,
            self.mean + apart * share,
            self.squares + later.squares + apart**2 * (self.rows * share),
            np.minimum(self.low, later.low),
            np.maximum(self.high, later.high),
            cross,
        )


def moments_of(X: np.ndarray, crossed: bool) -> Moments:
    """Of some rows; products of features only where they are asked for."""
    mean, low, high = X.mean(axis=0), X.min(axis=0), X.max(axis=0)
    X = X - mean
    cross = X.T @ X if crossed else None
    return Moments(len(X), mean, np.einsum("ij,ij->j", X, X), low, high, cross)

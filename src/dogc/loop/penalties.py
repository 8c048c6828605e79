"""The penalties alpha, beta and gamma of `eq:26`, and their units."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Penalties(NamedTuple):
    """Penalties as the user sets them."""

    alpha: float
    beta: float
    gamma: float
    relative: bool  # in units that mean the same for all data; else as `eq:26` prints them
    p: float = 2.0  # the power of the regression's loss

    @property
    def may_firm(self) -> bool:
        """True where alpha may be raised: where there is one, in relative units."""
        return self.relative and self.alpha > 0


class Weights(NamedTuple):
    """The penalties as they enter `eq:26` at one lambda."""

    alpha: float
    beta: float
    gamma: float


def paper_weights(alpha: float, beta: float, gamma: float) -> Callable[[float], Weights]:
    """Penalties exactly as `eq:26` prints them, the same at every lambda."""
    fixed = Weights(alpha, beta, gamma)
    return lambda lam: fixed


def relative_weights(
    alpha: float, beta: float, gamma: float, n: int, c: int, d: int
) -> Callable[[float], Weights]:
    r"""Penalties that mean the same at every n, d and scale.

    Rows of F are about :math:`\sqrt{c/n}` long and rows of Y are 1 long, and F feels Y
    against :math:`2 \lambda L`. So alpha is measured in units of
    :math:`\lambda \sqrt{c/n}`; beta in units of what alpha gives one row,
    :math:`\alpha \sqrt{c/n}`; gamma in units of the mean scatter of a feature, 1/d after
    scaling.
    """
    row = np.sqrt(c / n)

    def at(lam: float) -> Weights:
        absolute = alpha * lam * row
        return Weights(absolute, beta * absolute * row, gamma / d)

    return at

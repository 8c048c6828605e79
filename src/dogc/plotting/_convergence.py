"""The history of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..loop.solver import Record
from . import _canvas

REMEDY = "pass a fitted DOGC, DOGCOS, CAN, PCAN, CLR or ablation"
# Terms below this share of the objective have vanished.
VANISHED = 1e-6
# The width of the panels inside one axes.
BESIDE_LEGEND = 0.72
# Beyond this ratio of the largest and the smallest lambda only a logarithmic axis shows both.
TOO_FAR_APART = 20.0


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(_canvas.Display):
    """Objective by term, number of components and lambda over the iterations.

    Values of the objective are comparable only at the same lambda. A dotted line marks a change of
    lambda.

    Parameters
    ----------
    history : list of :class:`~dogc.results.Record`
        The ``history_`` of a fitted model.
    n_clusters : int, default=None
        The requested number of components.
    stopping_reason : str, default=None
        Why the run ended.

    Attributes
    ----------
    axes_ : array of three axes: objective, components, lambda
    ax_, figure_ : the first of them, and the figure
    lines_ : dict of the lines by name: each term, "objective", "components" and "lambda"
    target_ : line at ``n_clusters``, or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC
    >>> from dogc.plotting import ConvergenceDisplay
    >>> model = DOGC(n_clusters=3).fit(load_iris().data)
    >>> display = ConvergenceDisplay.from_estimator(model)  # doctest: +SKIP
    """

    history: Sequence[Record]
    _: KW_ONLY
    n_clusters: int | None = None
    stopping_reason: str | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw the history of a fitted model.

        Parameters
        ----------
        estimator : fitted clusterer with ``history_``, or a pipeline that ends in one
        ax : matplotlib axes or three of them; see ``plot``.

        Returns
        -------
        display : ConvergenceDisplay
        """
        history = _canvas.fitted_attribute(estimator, "history_", REMEDY)
        model = _canvas.last_step(estimator)
        asked = getattr(model, "n_clusters_", model.n_clusters)
        return cls(history, n_clusters=asked, stopping_reason=model.stopping_reason_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw three panels above each other.

        Parameters
        ----------
        ax : matplotlib axes, which are divided into three; or a sequence of three axes; None
            makes a new figure.

        Returns
        -------
        self : ConvergenceDisplay
        """
        self.axes_ = _three_axes(ax)
        top, middle, bottom = self.axes_
        when = [record.iteration for record in self.history]
        self.lines_ = _draw_terms(top, when, self.history)
        counts = [record.n_components for record in self.history]
        lam = [record.lam for record in self.history]
        look = {"color": _canvas.PALETTE[0], "marker": "o", "ms": 3.5}
        (self.lines_["components"],) = middle.plot(when, counts, **look)
        self.target_ = None
        if self.n_clusters is not None:
            self.target_ = middle.axhline(self.n_clusters, color=_canvas.ACCENT, ls="--", lw=1.2)
        middle.set(ylabel="components", ylim=(0, 1.15 * max(*counts, self.n_clusters or 1, 1)))
        (self.lines_["lambda"],) = bottom.plot(when, lam, **look)
        bottom.set(ylabel="lambda", xlabel="iteration")
        if min(lam) * TOO_FAR_APART < max(lam) and min(lam) > 0:
            bottom.set_yscale("log")
        _mark_changes(self.axes_, when, lam)
        title = None
        if self.stopping_reason is not None:
            ran = f"{len(when)} iteration{'s' if len(when) > 1 else ''}"
            title = f"{ran}: {self.stopping_reason}"
        return self._drawn(top, title)


def _three_axes(ax: Any) -> np.ndarray:
    """Three axes above each other: as given, or in the place of one."""
    if isinstance(ax, Sequence | np.ndarray):
        given = np.asarray(ax, dtype=object).ravel()
        if len(given) != 3:
            raise ValueError(f"ax must be one axes or three; got {len(given)}.")
        return given
    ax = _canvas.axes_or_new(ax, (6.2, 6.0))
    ax.set_axis_off()
    # What is left at the right is for the legend.
    top = ax.inset_axes((0.0, 0.5, BESIDE_LEGEND, 0.5))
    low = [ax.inset_axes((0.0, y, BESIDE_LEGEND, 0.2), sharex=top) for y in (0.25, 0.0)]
    return np.array([top, *low], dtype=object)


def _draw_terms(ax: Any, when: list[int], history: Sequence[Record]) -> dict[str, Any]:
    """The objective and its terms; one that vanishes falls off the lower end."""
    lines = {}
    total = np.array([record.objective for record in history])
    (lines["objective"],) = ax.plot(
        when, total, color=_canvas.ink(ax), lw=2.4, marker="o", ms=3.5, label="objective"
    )
    lowest = total.max()
    for place, name in enumerate(history[0].terms):
        values = np.array([record.terms[name] for record in history])
        look = {"color": _canvas.colour_of(place), "marker": _canvas.MARKS[place], "ms": 3.5}
        (lines[name],) = ax.plot(when, values, label=name, **look)
        visible = values[values > VANISHED * total.max()]
        lowest = min(lowest, visible.min(initial=np.inf))
    if total.max() > 0:
        ax.set_yscale("log", nonpositive="clip")
        ax.set_ylim(0.4 * lowest, 3.0 * total.max())
    ax.set_ylabel("objective by term")
    spacing = {"handlelength": 1.2, "handletextpad": 0.5, "borderaxespad": 0.2}
    _canvas.legend_beside(ax, fontsize="small", **spacing)
    return lines


def _mark_changes(axes: np.ndarray, when: list[int], lam: list[float]) -> None:
    """Leave what carries nothing out of the axes, and mark where lambda changed."""
    changed = np.asarray(when[1:])[np.diff(lam) != 0] - 0.5
    for ax in axes:
        _canvas.without_frame(ax)
        ax.locator_params(axis="x", integer=True)
        for place in changed:
            ax.axvline(place, color=_canvas.GREY, lw=0.6, ls=":", zorder=0)
    for ax in axes[:-1]:
        ax.tick_params(labelbottom=False)
    axes[1].locator_params(axis="y", integer=True, nbins=4)

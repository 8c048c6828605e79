"""Pictures of fitted models, in scikit-learn's Display convention (needs matplotlib)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .scales import ScaleChoice


class ScaleDisplay:
    """Which numbers of neighbours were tried, how far they agree, and which was taken.

    Parameters
    ----------
    choice : ScaleChoice
        The ``scales_`` of a fitted model.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
    image_ : the table of agreement
    line_ : the score of each scale

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC
    >>> from dogc.plotting import ScaleDisplay
    >>> model = DOGC(n_clusters=3).fit(load_iris().data)
    >>> display = ScaleDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(self, choice: ScaleChoice):
        """Take a choice, to be drawn by ``plot``."""
        self.choice = choice

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ScaleDisplay:
        """Draw the choice that a fitted model made.

        Parameters
        ----------
        estimator : fitted DOGC, DOGCOS, CAN, PCAN or one of the ablations
        ax : matplotlib axes to draw into; None makes new ones.
        """
        if not hasattr(type(estimator), "_method"):
            raise ValueError(
                f"{type(estimator).__name__} does not choose a scale; pass a fitted DOGC, DOGCOS, "
                "CAN, PCAN or ablation."
            )
        check_is_fitted(estimator, "scales_")
        return cls(estimator.scales_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ScaleDisplay:
        """Draw: agreement of each two scales as a table, the score of each above it."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'dogc[plots]'") from error
        sizes = self.choice.n_neighbors
        if ax is None:
            _, ax = plt.subplots(figsize=(1.8 + 0.55 * len(sizes), 2.6 + 0.35 * len(sizes)))
            ax.figure.subplots_adjust(top=0.7)
        place = np.arange(len(sizes))
        self.image_ = ax.imshow(self.choice.agreement, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        for i, j in np.ndindex(self.choice.agreement.shape):
            value = self.choice.agreement[i, j]
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7,
                    color="white" if value > 0.6 else "black")  # fmt: skip
        chosen = sizes.index(self.choice.chosen)
        ax.axvspan(chosen - 0.5, chosen + 0.5, fill=False, ec="#d9772b", lw=2)
        ax.set(xlabel="neighbours", ylabel="neighbours")
        ax.set_xticks(place, sizes)
        ax.set_yticks(place, sizes)
        above = ax.inset_axes((0, 1.04, 1, 0.3), sharex=ax)
        (self.line_,) = above.plot(place, self.choice.score, "o-", color="#2563a8", ms=4)
        above.plot(chosen, self.choice.score[chosen], "o", color="#d9772b", ms=8)
        above.set(ylabel="score", ylim=(min(0.0, self.choice.score.min()) - 0.05, 1.08))
        above.set_title(f"agreement of labels; {self.choice.chosen} neighbours taken", fontsize=10)
        above.tick_params(labelbottom=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

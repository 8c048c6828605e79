"""Axes, colours, marks and checks of a fitted model that the displays share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._extras import needed

# The first ten stay apart for people with protanopia, deuteranopia and tritanopia, and stand out
# from white and from black. All twenty stay apart for the usual eye; the second ten have another
# mark as well. There is no grey: that is for what belongs to no cluster.
PALETTE = (
    "#2a78c0", "#e8811a", "#85c797", "#9e0079", "#6dceff",
    "#aa240c", "#dbc26d", "#ce79aa", "#928655", "#864955",
    "#8700ff", "#c3e100", "#5a0f87", "#a569ff", "#a596ff",
    "#ff1e4b", "#780f1e", "#d200b4", "#1e00c3", "#2d4bd2",
)  # fmt: skip
ACCENT = PALETTE[1]
GREY = "#8a8a8a"
# Every ten clusters have the next mark; after twenty the colours come again.
MARKS, EACH_MARK = "o^sDvP*Xp<>h", 10
# Above this many things to draw a vector file would be slow to open, so they become pixels.
RASTER_FROM = 2_000


class Display:
    """A picture with ``ax_`` and ``figure_`` once it is drawn."""

    def _drawn(self, ax: Any, title: str | None = None) -> Self:
        """Write the title and keep what was drawn into."""
        if title is not None:
            ax.set_title(title, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def axes_or_new(ax: Any, figsize: tuple[float, float]) -> Any:
    """The given axes, or new ones in a figure that makes room for what is around them."""
    plt = needed("matplotlib.pyplot", "a plot")
    if ax is not None:
        return ax
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def colour_of(cluster: int) -> Any:
    """The colour of a cluster; grey for a negative number."""
    return GREY if cluster < 0 else PALETTE[cluster % len(PALETTE)]


def mark_of(cluster: int) -> str:
    """The mark of a cluster."""
    return MARKS[max(cluster, 0) // EACH_MARK % len(MARKS)]


def ink(ax: Any) -> Any:
    """Black or white, whichever can be read on these axes."""
    return readable_on(ax.get_facecolor())


def readable_on(colour: Any) -> Any:
    """Black or white, whichever can be read on a colour."""
    from matplotlib.colors import to_rgb

    light = np.dot(to_rgb(colour), (0.299, 0.587, 0.114)) > 0.55
    return (0.0, 0.0, 0.0) if light else (1.0, 1.0, 1.0)


def fading_map(ax: Any, lowest: float = 0.0) -> Any:
    """A colour map from the axes' own background to a blue that stands out from it.

    ``lowest`` in [0, 1) says where on that way the map begins.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    ground = np.array(to_rgb(ax.get_facecolor()))
    middle = np.array(to_rgb(PALETTE[0]))
    far = np.array(to_rgb("#0b2c52" if ink(ax)[0] == 0.0 else "#d9ecff"))
    way = [ground, 0.55 * ground + 0.45 * middle, middle, far]
    places: Any = list(zip((0.0, 0.35, 0.7, 1.0), way, strict=True))
    whole = LinearSegmentedColormap.from_list("fading", places)
    return LinearSegmentedColormap.from_list("fading", whole(np.linspace(lowest, 1.0, 64)))


def write_cells(ax: Any, image: Any, texts: np.ndarray, size: float) -> None:
    """Write a text into each cell of an image, row by row, in a colour that can be read there."""
    values = image.get_array()
    for i, j in np.ndindex(texts.shape):
        colour = readable_on(image.cmap(image.norm(values[i, j])))
        ax.text(j, i, texts[i, j], ha="center", va="center", fontsize=size, color=colour)


def frame(ax: Any, corner: tuple[float, float], size: tuple[float, float], colour: str) -> Any:
    """A frame around a part of the axes."""
    from matplotlib.patches import Rectangle

    return ax.add_patch(Rectangle(corner, *size, fill=False, ec=colour, lw=1.8, clip_on=False))


def without_frame(ax: Any) -> None:
    """Leave out the lines that carry nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def without_lines(ax: Any) -> None:
    """Leave names on the axes, without lines and ticks."""
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def legend_beside(ax: Any, **options: Any) -> Any:
    """A legend at the right of the axes."""
    return ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, **options)


def last_step(estimator: Any) -> Any:
    """The clusterer itself, where it is the end of a pipeline."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def fitted_attribute(estimator: Any, name: str, remedy: str) -> Any:
    """An attribute of the fitted clusterer, or one sentence that says what to do."""
    model = last_step(estimator)
    check_is_fitted(model, msg="This %(name)s is not fitted yet; call fit before drawing it.")
    value = getattr(model, name, None)
    if value is None or (isinstance(value, list) and not value):
        raise ValueError(f"{type(model).__name__} has no {name} to draw; {remedy}.")
    return value


def fitted_labels(estimator: Any, X: Any = None) -> np.ndarray:
    """The labels of the rows that the clusterer was fitted on, which X must be."""
    labels = np.asarray(fitted_attribute(estimator, "labels_", "pass a fitted clusterer"))
    if X is not None and (n := _num_samples(X)) != len(labels):
        name = type(last_step(estimator)).__name__
        raise ValueError(
            f"X has {n} rows but {name} was fitted on {len(labels)}; pass the rows it was fitted "
            "on, or draw new rows with from_predictions and the labels that predict gives."
        )
    return labels


def check_labels(labels: Any, n: int) -> np.ndarray:
    """Labels as whole numbers, one for each of n rows."""
    found = np.asarray(labels)
    if found.shape != (n,) or not np.issubdtype(found.dtype, np.integer):
        raise ValueError(
            f"labels must be one whole number for each of the {n} rows, such as labels_ or the "
            "second result of np.unique(labels, return_inverse=True); got "
            f"{found.dtype} of shape {found.shape}."
        )
    return found

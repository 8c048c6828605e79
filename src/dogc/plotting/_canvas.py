"""Axes, colours and marks that the displays share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._extras import needed

# The first ten stay apart for people with protanopia, deuteranopia and tritanopia, and stand out
# from white and from black. All twenty stay apart for the usual eye; the second ten have another
# mark as well. There is no grey: that is for what belongs to no cluster.
PALETTE = (
    "#2a78c0",
    "#e8811a",
    "#85c797",
    "#9e0079",
    "#6dceff",
    "#aa240c",
    "#dbc26d",
    "#ce79aa",
    "#928655",
    "#864955",
    "#8700ff",
    "#c3e100",
    "#5a0f87",
    "#a569ff",
    "#a596ff",
    "#ff1e4b",
    "#780f1e",
    "#d200b4",
    "#1e00c3",
    "#2d4bd2",
)
ACCENT = PALETTE[1]
GREY = "#8a8a8a"
# Every ten clusters have the next mark; after twenty the colours come again.
MARKS, EACH_MARK = "o^sDvP*Xp<>h", 10
# Above this many things to draw a vector file would be slow to open, so they become pixels.
RASTER_FROM = 2_000


def pyplot() -> Any:
    """matplotlib.pyplot, or how to get it."""
    return needed("matplotlib.pyplot", "a plot")


def axes_or_new(ax: Any, figsize: tuple[float, float]) -> Any:
    """The given axes, or new ones in a figure that makes room for what is around them."""
    plt = pyplot()
    return plt.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def colour_of(cluster: int) -> str:
    """The colour of a cluster; grey for a negative number."""
    return GREY if cluster < 0 else PALETTE[cluster % len(PALETTE)]


def mark_of(cluster: int) -> str:
    """The mark of a cluster."""
    return MARKS[max(cluster, 0) // EACH_MARK % len(MARKS)]


def ink(ax: Any) -> tuple[float, float, float]:
    """Black or white, whichever can be read on these axes."""
    return readable_on(ax.get_facecolor())


def readable_on(colour: Any) -> tuple[float, float, float]:
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
    way = np.array([ground, 0.55 * ground + 0.45 * middle, middle, far])
    steps = np.linspace(lowest, 1.0, 64)
    colours = np.stack(
        [np.interp(steps, (0.0, 0.35, 0.7, 1.0), channel) for channel in way.T], axis=1
    )
    return LinearSegmentedColormap.from_list("fading", colours)


def write_cells(ax: Any, image: Any, texts: np.ndarray, size: float) -> None:
    """Write a text into each cell of an image, row by row, in a colour that can be read there."""
    values = image.get_array()
    for i, j in np.ndindex(texts.shape):
        colour = readable_on(image.cmap(image.norm(values[i, j])))
        ax.text(j, i, texts[i, j], ha="center", va="center", fontsize=size, color=colour)


def frame(ax: Any, corner: float, size: float, colour: str) -> Any:
    """A square frame on the diagonal."""
    from matplotlib.patches import Rectangle

    square = Rectangle((corner, corner), size, size, fill=False, ec=colour, lw=1.8, clip_on=False)
    return ax.add_patch(square)


def note(ax: Any, text: str) -> Any:
    """A remark above the axes, at the right."""
    return ax.annotate(
        text, (1.0, 1.0), (0, 3), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="bottom", fontsize="small", color=GREY,
    )  # fmt: skip


def without_frame(ax: Any) -> None:
    """Leave out the lines that carry nothing."""
    ax.spines[["top", "right"]].set_visible(False)

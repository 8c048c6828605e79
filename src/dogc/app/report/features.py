"""Features that tell each cluster apart: their values by cluster, and how far these differ."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.feature_selection import f_classif

from ...encoding.columns import plan_column, with_gaps
from ...encoding.errors import listed
from ..files.deciding_numbers import COLUMNS, deciding_number
from .page import digits, short

if TYPE_CHECKING:
    from ..files.clustering import Clustering

OUTLIER = -1
BINS = 24
NUMBERS = "iuf"  # kinds of pandas
# Values at which a feature may be cut in two.
CUTS = 256
# How much a second cut must add to be worth the words.
WORTH_A_SECOND_CUT = 0.1
# How much of its gap a contrast may lose for the sake of a shorter number.
COST_OF_ROUNDING = 0.005
# With more features than these, those whose means differ most are looked at.
MOST_FEATURES = 2000
MOST_CLUSTERS = 100
# A gap from which on a feature is named in the sentence about a cluster.
TELLING = 0.3
# Words for a range of numbers, of dates, and of a feature that only says yes or no.
KINDS = {
    "above": ("higher", "later", "mostly"),
    "below": ("lower", "earlier", "rarely"),
    "between": ("medium", "between", "rarely"),
    "outside": ("extreme", "far", "rarely"),
}


class Groups(NamedTuple):
    """The group of each row: clusters 0 to c - 1, then the outliers."""

    codes: np.ndarray  # (n,) group of each row
    size: np.ndarray  # (c + 1,) rows in each group; the last are the outliers
    c: int

    @property
    def shown(self) -> list[int]:
        """The groups that have rows, outliers last."""
        return [int(group) for group in np.flatnonzero(self.size)]

    def name(self, group: int) -> int:
        """The label of a group, as in the file of labels."""
        return OUTLIER if group == self.c else group


def group_rows(labels: np.ndarray) -> Groups:
    """Groups from labels; any negative label is an outlier's.

    Examples
    --------
    >>> import numpy as np
    >>> groups = group_rows(np.array([0, 1, -1, 0]))
    >>> groups.codes, groups.size, [groups.name(g) for g in groups.shown]
    (array([0, 1, 2, 0]), array([2, 1, 1]), [0, 1, -1])
    """
    labels = np.asarray(labels).astype(np.int64)
    c = int(labels.max(initial=-1)) + 1
    codes = np.where(labels < 0, c, labels)
    return Groups(codes, np.bincount(codes, minlength=c + 1), c)


class Column(NamedTuple):
    """One feature: the original numbers where the table has them, the prepared ones where not."""

    name: str
    values: np.ndarray  # (n,), not finite where missing
    original: bool
    two_values: bool  # whether it only says yes or no
    date: bool = False  # whether the numbers are days since 1970-01-01


def feature_column(clustering: Clustering, j: int) -> Column:
    """The j-th feature, from the table if one column of numbers or dates has its name."""
    name, frame = str(clustering.feature_names[j]), clustering.rows.frame
    places = np.flatnonzero(frame.columns.astype(str) == name)
    values, date = None, False
    if len(places) == 1:
        column = frame.iloc[:, places[0]]
        if column.dtype.kind in NUMBERS:
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        elif (plan := plan_column(column))["kind"] in ("date", "number"):  # 1.000,50 or 5.20 cm
            values, date = with_gaps(column, plan), plan["kind"] == "date"
    original = values is not None
    if values is None:
        values = np.asarray(clustering.X[:, j], dtype=np.float64)
    present = values[np.isfinite(values)]
    ends = [present.min(initial=np.inf), present.max(initial=-np.inf)]
    return Column(short(name, 80), values, original, bool(np.isin(present, ends).all()), date)


def describe_column(column: Column, groups: Groups, clusters: list[int]) -> dict:
    """The histogram of all rows and of each cluster, on one scale."""
    finite = np.isfinite(column.values)
    values, codes = column.values[finite], groups.codes[finite]
    low, high, bins, log = choose_scale(values)
    on, ends = (np.log(values), np.log([low, high])) if log else (values, np.array([low, high]))
    part = (on - ends[0]) / (ends[1] - ends[0])  # a quotient of ends may be too large for a number
    inner = np.clip((part * bins).astype(np.int64), 0, bins - 1)
    count = np.bincount(codes * bins + inner, minlength=(groups.c + 1) * bins).reshape(-1, bins)
    return {
        **column._asdict(),
        "values": [digits(values.min(), 6), digits(values.max(), 6)],
        "median": digits(np.median(values), 5),
        "missing": int(len(finite) - len(values)),
        "edges": [digits(low, 5), digits(high, 5)],
        "log": log,
        "beyond": [bool(values.min() < low), bool(values.max() > high)],
        "all": count.sum(axis=0).tolist(),
        "clusters": {str(group): count[group].tolist() for group in clusters},
    }


def choose_scale(values: np.ndarray) -> tuple[float, float, int, bool]:
    """The ends of a histogram, its number of bins, and whether these grow in size.

    There is a bin for each whole number if there are few, else bins of equal width.

    A few far values do not squeeze the others: they are counted in the first or last bin.

    Examples
    --------
    >>> import numpy as np
    >>> choose_scale(np.array([1.0, 2.0, 4.0]))
    (0.5, 4.5, 4, False)
    """
    low, high = float(values.min()), float(values.max())
    whole = high - low < BINS and max(abs(low), abs(high)) < 1e9
    if whole and np.all(values == np.round(values)):
        return low - 0.5, high + 0.5, int(high - low) + 1, False
    if low > 0 and high > max(20.0 * float(np.median(values)), 50.0 * low):
        return low, high, BINS, True  # only the order of magnitude shows
    inner_low, inner_high = np.quantile(values, [0.02, 0.98]).tolist()
    margin = 0.75 * (inner_high - inner_low)
    if margin > 0:
        low, high = max(low, inner_low - margin), min(high, inner_high + margin)
    return low, high, BINS, False


class Contrast(NamedTuple):
    """The range of a feature that a cluster's rows are in most more often than the others."""

    side: str  # "above", "below", "between" or "outside"
    cuts: list[float]
    share: float  # of the cluster's rows in that range
    rest: float  # of all other rows

    @property
    def gap(self) -> float:
        """The difference of both shares."""
        return self.share - self.rest


def contrasts(
    column: Column, groups: Groups, clusters: list[int]
) -> Iterator[tuple[int, Contrast]]:
    """The difference of each cluster from the rest in a feature, if there is any.

    The difference of the two distribution functions has a highest and a lowest point; cutting
    at either, or at both, gives the range that tells cluster and rest apart best.
    """
    finite = np.isfinite(column.values)
    values, codes = column.values[finite], groups.codes[finite]
    ordered = np.sort(values)
    if not len(ordered) or ordered[0] == ordered[-1]:
        return
    at = np.linspace(0, len(ordered) - 1, min(CUTS, len(ordered))).round().astype(np.int64)
    cuts = np.unique(ordered[at])
    bins = codes * len(cuts) + np.searchsorted(cuts, values)
    count = np.bincount(bins, minlength=(groups.c + 1) * len(cuts)).reshape(-1, len(cuts))
    total = count.sum(axis=0)
    for group in clusters:
        mine, others = count[group], total - count[group]
        if mine.sum() and others.sum():
            F = np.cumsum(mine) / mine.sum(), np.cumsum(others) / others.sum()
            yield group, best_contrast(*F, cuts)


def best_contrast(F: np.ndarray, rest: np.ndarray, cuts: np.ndarray) -> Contrast:
    """The range with the largest gap, given both distribution functions at the cuts.

    Examples
    --------
    >>> import numpy as np
    >>> cuts = np.array([1.0, 2.0, 3.0])
    >>> best_contrast(np.array([0.0, 0.5, 1.0]), np.array([1.0, 1.0, 1.0]), cuts)
    Contrast(side='above', cuts=[1.0], share=1.0, rest=0.0)
    """
    difference = F - rest
    high, low = int(difference.argmax()), int(difference.argmin())
    above, below = max(-difference[low], 0.0), max(difference[high], 0.0)
    if min(above, below) >= WORTH_A_SECOND_CUT:
        side, at = ("between", [low, high]) if low < high else ("outside", [high, low])
    else:
        side, at = ("above", [low]) if above >= below else ("below", [high])
    shares = [float(D[at[-1]] - (D[at[0]] if len(at) > 1 else 0.0)) for D in (F, rest)]
    if side in ("above", "outside"):
        shares = [1.0 - share for share in shares]
    return Contrast(side, cuts[at].tolist(), *shares)


def with_short_cuts(contrast: Contrast, mine: np.ndarray, others: np.ndarray) -> Contrast:
    """The same range with cuts that are as short as they can be without telling less.

    Examples
    --------
    >>> import numpy as np
    >>> with_short_cuts(Contrast("above", [3.1416], 1.0, 0.0), np.array([4.5]), np.array([2.2]))
    Contrast(side='above', cuts=[3.0], share=1.0, rest=0.0)
    """
    for place in range(len(contrast.cuts)):
        for significant in range(16):
            cuts = list(contrast.cuts)
            cuts[place] = float(f"{cuts[place]:.{significant}e}")
            share, rest = (in_range(values, contrast.side, cuts) for values in (mine, others))
            if share - rest >= contrast.gap - COST_OF_ROUNDING and cuts == sorted(cuts):
                contrast = Contrast(contrast.side, cuts, share, rest)
                break
    return contrast


def in_range(values: np.ndarray, side: str, cuts: Sequence[float]) -> float:
    """The share of values in a range."""
    two = side in ("between", "outside")
    share = float(((values > cuts[0]) & (values <= (cuts[1] if two else np.inf))).mean())
    return share if side in ("above", "between") else 1.0 - share


def describe_features(clustering: Clustering, groups: Groups) -> dict | None:
    """For each cluster its most telling features; None where there is nothing to compare."""
    clusters = [group for group in groups.shown if group < groups.c][:MOST_CLUSTERS]
    if len(groups.shown) < 2 or not clusters:
        return None
    kept = 12 if len(clusters) <= 12 else 6
    looked_at = candidates(clustering.X, groups)
    ranked: dict[int, list[tuple[int, Contrast]]] = {group: [] for group in clusters}
    for j in looked_at:
        for group, contrast in contrasts(feature_column(clustering, j), groups, clusters):
            ranked[group].append((j, contrast))
    ranked = {group: sorted(found, key=lambda pair: -pair[1].gap)[:kept]
              for group, found in ranked.items()}  # fmt: skip
    used = sorted({j for found in ranked.values() for j, _ in found})
    columns = {j: feature_column(clustering, j) for j in used}
    described = []
    for group, found in ranked.items():
        rows, telling = groups.codes == group, []
        for j, exact in found:
            values, finite = columns[j].values, np.isfinite(columns[j].values)
            mine = values[rows & finite]
            contrast = with_short_cuts(exact, mine, values[~rows & finite])
            shares = {"share": digits(contrast.share), "rest": digits(contrast.rest)}
            at = {"column": used.index(j), "median": digits(np.median(mine), 5)}
            telling.append({**contrast._asdict(), **shares, **at})
        words = in_words([(columns[j], contrast) for j, contrast in found])
        described.append({"cluster": group, "words": words, "features": telling})
    return {
        "looked_at": len(looked_at),
        "columns": [describe_column(columns[j], groups, clusters) for j in used],
        "clusters": described,
    }


def names_of(feature: str) -> set[str]:
    """The names that the column of a feature may have.

    Examples
    --------
    >>> sorted(names_of("plan=pro"))
    ['plan', 'plan=pro']
    """
    return {str(feature), str(feature).split("=")[0].strip()}


def telling_columns(described: dict) -> list[str]:
    """Columns of the table by how well they tell a cluster from the rest, the best first."""
    found = [
        (feature["rest"] - feature["share"], described["columns"][feature["column"]]["name"])
        for group in described["clusters"]
        for feature in group["features"]
    ]
    return list(dict.fromkeys(name for _, it in sorted(found) for name in sorted(names_of(it))))


def candidates(X: np.ndarray, groups: Groups) -> list[int]:
    """The features worth looking at: all, or those that differ most between the clusters."""
    if X.shape[1] <= MOST_FEATURES:
        return list(range(X.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant features
        score = np.nan_to_num(f_classif(X, groups.codes)[0])
    return sorted(np.argsort(-score, kind="stable")[:MOST_FEATURES].tolist())


def in_words(found: list[tuple[Column, Contrast]]) -> list[dict[str, Any]]:
    """The telling features by what they are: higher, later, medium, extreme, mostly, rarely."""
    words: dict[str, list[str]] = {}
    for column, contrast in [pair for pair in found if pair[1].gap >= TELLING][:4]:
        number, date, yes_or_no = KINDS[contrast.side]
        kind = yes_or_no if column.two_values else date if column.date else number
        words.setdefault(kind, []).append(column.name)
    return [{"kind": kind, "names": names} for kind, names in words.items()]


# A value decides if clusters mix it less than this share of all rows, and the rows themselves more
# than that share. Columns of more values are not looked at.
MIXED, MIXED_BEFORE, MOST_VALUES = 0.01, 0.05, 50


def deciding_columns(clustering: Clustering, groups: Groups) -> list[str]:
    """The columns of few values that were used and that the clusters follow."""
    import pandas

    used = {name for feature in clustering.feature_names for name in names_of(feature)}
    found = []
    for place, name in enumerate(clustering.rows.frame.columns):
        if str(name) not in used or groups.c < 2:
            continue
        column = clustering.rows.frame.iloc[:, place]
        kind = column.dtype.kind
        # Durations of many thousand years cannot be written as text.
        codes, values = pandas.factorize(column if kind in "mM" else column.astype(str))
        few = 2 <= len(values) <= (2 if kind in NUMBERS else MOST_VALUES)
        if few and any(is_unmixed(codes == value, groups) for value in range(len(values))):
            found.append(short(name, 60))
    return found


def deciding_cuts(clustering: Clustering) -> dict[str, Any] | None:
    """The one column of numbers that gives the clusters when it is cut, and where to cut it."""
    if len(clustering.feature_names) > COLUMNS:
        return None
    found = [feature_column(clustering, j) for j in range(len(clustering.feature_names))]
    columns = {column.name: column for column in found if column.original}
    values = [(name, column.values) for name, column in columns.items()]
    if (number := deciding_number(values, clustering.rows.labels)) is None:
        return None
    name, cuts = number
    date = columns[name].date
    shown = [digits(cut, 6 if date else 3) for cut in cuts]
    return {"name": short(name, 60), "date": date, "cuts": shown}


def deciding_note(clustering: Clustering) -> list[str]:
    """A word on columns that the clusters follow: few values of one, or one number alone."""
    names = deciding_columns(clustering, group_rows(clustering.rows.labels))
    if not names and (cuts := deciding_cuts(clustering)):
        names = [cuts["name"]]
    if not names:
        return []
    return [f"the clusters are almost entirely determined by {listed(names)}; use --drop to see "
            f"the clusters without {'it' if len(names) == 1 else 'them'}."]  # fmt: skip


def is_unmixed(has: np.ndarray, groups: Groups) -> bool:
    """Whether nearly all rows of each cluster have a value, or nearly none has."""
    share = float(has.mean())
    ones = np.bincount(groups.codes, weights=has, minlength=groups.c + 1)
    mixed = np.minimum(ones, groups.size - ones).sum() / len(has)
    return bool(mixed < MIXED and min(share, 1.0 - share) > MIXED_BEFORE)

"""MixedEncoder: a table of numbers, dates, words and gaps becomes a table of numbers."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag
from .._words import shown
from .columns import Plan, encode, left_out, output_names, plan_of, unless_kept
from .errors import (
    TableError,
    check_columns,
    check_memory,
    check_names,
    listed,
    needed,
    no_such_column,
    numbered_names,
)
from .statistics import Moments, find_ids, gather, moments_of
from .steps import describe
from .weights import LEAST, MOST_FEATURES, has_two_values, learned_weights

if TYPE_CHECKING:
    import pandas


@dataclass(eq=False, repr=False)
class MixedEncoder(TransformerMixin, BaseEstimator):
    """Encode a table as numbers; the encoding is learned once, stored, and described in words.

    Numbers are used as they are, yes and no become 1 and 0, text with few values becomes a column
    of 0 and 1 for each. Missing numbers become the median; missing text is a value of its own.
    Dates, ids, constant columns and text whose values nearly all differ are left out; a date that
    you keep becomes days since 1970-01-01. Then the columns are centred and scaled to unit
    variance. In a table with categories or yes/no columns, each column then counts as much as it
    has in common with the others, so that a column which depends on no other does not cut the rows
    into clusters.

    Put it in front of an estimator if the table has columns that are not numeric:
    ``make_pipeline(MixedEncoder(), DOGC(4, n_neighbors="wide", geometry="given"))``.

    Parameters
    ----------
    scale : bool or "auto", default="auto"
        Whether to centre and scale. The 0/1 columns of one category share unit variance, so
        that it weighs as much as one column of numbers. "auto" leaves a table of numbers as it is
        if its columns have one unit, as pixels, embeddings and counts do: all rows have one length,
        or most numbers are 0 and none is negative, or three columns in four have at least a tenth
        of the largest standard deviation. Three in four must have more than two values.
    drop : sequence of str, default=()
        Columns to leave out.
    label_column : str, default=None
        A column that holds the known labels; it is never used.
    id_column : str, default="auto"
        A column that identifies the rows; it is not used. "auto" looks for one; None means
        there is none.
    weights : "auto", dict or None, default="auto"
        How much columns count: factors of the scaled columns. "auto" learns them where a column
        has few values (a category, yes and no, or two numbers) and ``scale`` is on. A dict has the
        weights of some columns by name; the others are as with "auto". None: all count the same.
    keep : sequence of str, default=()
        Columns to use even though they are dates or look like ids. A column with a weight of its
        own is kept too.

    Attributes
    ----------
    columns_ : list of str
        The columns that are used, in the order of the table.
    feature_names_ : list of str
        The names of the numbers that they become.
    id_column_ : str or None
        The column that identifies the rows.
    steps_ : list of str
        What was done to the data, in sentences.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each number, and what it is then divided by.
    plans_ : dict
        What is made of each column of the table.
    weights_ : dict
        How much each used column counts. ``scale_`` is divided by it.
    discrete_share_ : float
        The share of the variance that columns of few values have. From about 0.05 on, a graph of
        few neighbours falls apart between these values; ``n_neighbors="wide"`` reaches across.
    n_features_in_ : int
        The number of columns of the table.
    feature_names_in_ : ndarray of str
        The names of these columns.

    Examples
    --------
    >>> import pandas
    >>> from dogc import MixedEncoder
    >>> frame = pandas.DataFrame({"id": [7, 8, 9], "x": [1.0, None, 3.0], "c": ["a", "b", "a"]})
    >>> preparation = MixedEncoder(scale=False).fit(frame)
    >>> preparation.transform(frame)
    array([[1., 1., 0.],
           [2., 0., 1.],
           [3., 1., 0.]])
    >>> preparation.feature_names_, preparation.id_column_
    (['x', 'c=a', 'c=b'], 'id')
    """

    scale: bool | str = "auto"
    drop: Sequence[str] = ()
    label_column: str | None = None
    id_column: str | None = "auto"
    weights: str | Mapping[str, float] | None = "auto"
    keep: Sequence[str] = ()

    def fit(self, frame: pandas.DataFrame, y: object = None) -> MixedEncoder:
        """Decide what is made of each column.

        Parameters
        ----------
        frame : pandas.DataFrame
            The table.
        y : None
            Ignored.

        Returns
        -------
        self : MixedEncoder
            The fitted preparation.
        """
        frame = _as_frame(frame)
        return self.fit_chunks(lambda: [frame])

    def fit_chunks(self, chunks: Callable[[], Iterable[pandas.DataFrame]]) -> MixedEncoder:
        """Fit to a table that need not be in memory; the result does not depend on the chunks.

        Parameters
        ----------
        chunks : callable
            Gives the rows in order as frames with the same columns, as often as it is called:
            twice. The first pass decides what is made of each column, the second scales.

        Returns
        -------
        self : MixedEncoder
            The fitted preparation.
        """
        names = list(next(iter(chunks())).columns)
        roles = self._roles(names)
        columns = gather(chunks(), [name for name in names if name not in roles])
        if not all(column.rows for column in columns.values()):
            raise TableError("the table has no rows; give one with some.")
        roles = {**roles, **self._ids(columns, roles)}
        asked = {*_names(self.keep), *self._check_weights()}
        plans = {name: plan_of(columns[name]) for name in names if name not in roles}
        plans = {name: plan if name in asked else unless_kept(plan) for name, plan in plans.items()}
        self._adopt({name: roles.get(name) or plans[name] for name in names})
        learns = self.scale is not False and self.weights is not None
        crossed = learns and len(self.feature_names_) <= MOST_FEATURES
        gaps = dict.fromkeys(self.columns_, 0)
        found = (moments_of(self._encoded(frame, gaps), crossed) for frame in chunks())
        total = functools.reduce(Moments.merged, found)
        for name, plan in self.plans_.items():
            if plan.get("strays") == -1:  # planned from a sample: now all rows were seen
                plan["strays"] = gaps[name] - columns[name].missing
                plan["missing"] = gaps[name]
        return self._finish(total)

    def transform(self, frame: pandas.DataFrame) -> np.ndarray:
        """The numbers of some rows.

        Parameters
        ----------
        frame : pandas.DataFrame
            A table with the columns of the fitted one, in any order. Those that are not used
            may be absent.

        Returns
        -------
        X : ndarray of shape (n_rows, n_features)
            Float64. A category that the fitted table does not hold is 0 throughout.
        """
        check_is_fitted(self)
        frame = _as_frame(frame)
        self._check_columns(frame)
        X = self._encoded(frame)
        if self.scale:
            X -= self.mean_
            X /= self.scale_
        return X

    @property
    def n_features_in_(self) -> int:
        """How many columns the table has."""
        return len(self.plans_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns of the table."""
        return np.array(list(self.plans_), dtype=object)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """The names of the numbers, as scikit-learn asks for them."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_, dtype=object)

    def schema(self) -> list[dict[str, Any]]:
        """Decide what each column becomes, and what later tables must look like.

        Returns
        -------
        list of dict
            For each column of the fitted table its "name", its "kind" ("number", "date",
            "boolean", "category", "id", "label" or "left out"), whether it is "used", the
            "features" it becomes with the "mean" and "scale" of each, and what else belongs
            to its kind: "median", "missing", "levels", "others", "format", "reason".
        """
        check_is_fitted(self)
        described, start = [], 0
        for name, plan in self.plans_.items():
            used = plan["kind"] in _USED
            features = output_names(name, plan) if used else []
            end = start + len(features)
            mean, scale = self.mean_[start:end].tolist(), self.scale_[start:end].tolist()
            described.append({"name": name, **plan, "used": used, "features": features,
                              "mean": mean, "scale": scale})  # fmt: skip
            start = end
        return described

    def _roles(self, names: Sequence[str]) -> dict[str, Plan]:
        """Plans of the columns whose cells are not looked at, as the parameters say."""
        weights = self._check_weights()
        asked = None if self.id_column == "auto" else self.id_column
        for name in [*_names(self.drop), *_names(self.keep), *weights, self.label_column, asked]:
            if name is not None and name not in names:
                raise no_such_column(name, names)
        roles: dict[str, Plan] = {name: left_out("as you asked") for name in _names(self.drop)}
        if self.label_column is not None:
            roles[self.label_column] = {"kind": "label"}
        return roles

    def _ids(self, columns: Mapping[str, Any], roles: Mapping[str, Plan]) -> dict[str, Plan]:
        """Plans of the columns that identify the rows, of which the first is carried along."""
        ids = [] if self.id_column in (None, "auto") else [self.id_column]
        if self.id_column is not None:
            ids += find_ids(columns, [name for name in columns if name not in _names(self.keep)])
        self.id_column_ = ids[0] if ids else None
        found = {name: left_out("looks like an identifier") for name in ids if name not in roles}
        return found if self.id_column_ is None else {**found, self.id_column_: {"kind": "id"}}

    def _adopt(self, plans: dict[str, Plan]) -> None:
        """Make these what is made of the columns; means and scales are still to come."""
        self.plans_: dict[str, Plan] = plans
        self.columns_ = [name for name, plan in plans.items() if plan["kind"] in _USED]
        reasons = {name: plan.get("reason", f"the {plan['kind']} column")
                   for name, plan in plans.items()}  # fmt: skip
        if not self.columns_:
            told = (f"{reason}: {listed([name for name in plans if reasons[name] == reason], 5)}"
                    for reason in dict.fromkeys(reasons.values()))  # fmt: skip
            raise TableError(f"the table has no column to cluster by ({'; '.join(told)}); give "
                             "numbers or categories.")  # fmt: skip
        for name in _names(self.keep):
            if name not in self.columns_:
                raise TableError(f"column '{shown(name)}' cannot be kept ({reasons[name]}); do not "
                                 "name it in keep (--keep).")  # fmt: skip
        self.feature_names_ = [
            feature for name in self.columns_ for feature in output_names(name, plans[name])
        ]
        if len(self.feature_names_) > len(plans):
            check_columns(len(self.feature_names_), "the table, with one for each category,")

    def _finish(self, moments: Moments) -> MixedEncoder:
        """Scale by the means and variances of the features, and say what was done."""
        widths = [len(output_names(name, self.plans_[name])) for name in self.columns_]
        starts = np.cumsum([0, *widths[:-1]])
        facts = moments.low, moments.high, moments.mean, moments.variance
        discrete = np.array([
            self.plans_[name]["kind"] in ("category", "boolean")
            or has_two_values(*(fact[start] for fact in facts))
            for name, start in zip(self.columns_, starts, strict=True)
        ])  # fmt: skip
        # 1) means, and standard deviations that the features of one column share
        numbers = all(self.plans_[name]["kind"] == "number" for name in self.columns_)
        alike = numbers and discrete.mean() < 0.25 and moments.one_unit
        scaled = not alike if self.scale == "auto" else check_flag("scale", self.scale)
        d = len(self.feature_names_)
        self.mean_, scale = np.zeros(d), np.ones(d)
        if scaled:
            scale = np.sqrt(np.repeat(np.add.reduceat(moments.variance, starts), widths))
            # What sums in another order change is rounded off: a table that is read in chunks has
            # the same numbers as the whole one, to the last bit.
            step = np.exp2(np.ceil(np.log2(scale)) - KEPT_BITS)
            self.mean_ = np.rint(moments.mean / step) * step
            scale = np.rint(scale / step) * step
        # 2) weights, learned where columns have few values, and as they were asked for
        weight = np.ones(len(widths))
        if scaled and moments.cross is not None and discrete.any():
            covariance = moments.cross / moments.rows / np.outer(scale, scale)
            weight = learned_weights(covariance, widths, moments.rows, discrete)
        for name, factor in self._check_weights().items():
            if name in self.columns_:
                weight[self.columns_.index(name)] = factor
        self.scale_ = scale / np.repeat(weight, widths)
        self.weights_ = dict(zip(self.columns_, weight.tolist(), strict=True))
        variance = np.add.reduceat(moments.variance / self.scale_**2, starts)
        self.discrete_share_ = float(variance[discrete].sum() / variance.sum())
        self.steps_ = describe(self, scaled)
        return self

    def _encoded(self, frame: pandas.DataFrame, gaps: dict[str, int] | None = None) -> np.ndarray:
        """The numbers before they are scaled; missing numbers are counted in ``gaps``."""
        shape = (len(frame), len(self.feature_names_))
        check_memory(8 * math.prod(shape), "the table as numbers")
        X = np.empty(shape)
        start = 0
        for name in self.columns_:
            values = encode(frame[name], self.plans_[name], gaps)
            width = 1 if values.ndim == 1 else values.shape[1]
            X[:, start : start + width] = values.reshape(len(frame), width)
            start += width
        return X

    def _check_weights(self) -> Mapping[str, float]:
        """The weights that were asked for, by column."""
        given = {} if self.weights in (None, "auto") else self.weights
        if not isinstance(given, Mapping):
            raise TableError(f"weights must be 'auto', a dict or None; got {given!r}.")
        for name, factor in given.items():
            number = isinstance(factor, numbers.Real) and not isinstance(factor, bool)
            if not number or not LEAST <= factor <= 1.0 / LEAST:
                raise TableError(
                    f"the weight of column '{shown(name)}' must be a number from {LEAST:g} to "
                    f"{1 / LEAST:g}; got {shown(factor)}. Drop the column to leave it out."
                )
        return given

    def _check_columns(self, frame: pandas.DataFrame) -> None:
        missing = [name for name in self.columns_ if name not in frame.columns]
        extra = [name for name in frame.columns if name not in self.plans_]
        if missing or extra:
            faults = [f"lacks {listed(missing)}"] * bool(missing)
            faults += [f"has {listed(extra)}, which the model does not know"] * bool(extra)
            raise TableError(
                f"the table {' and '.join(faults)}; give it the columns that the model was "
                "made from."
            )


# Bits that means and scales keep.
KEPT_BITS = 32
_USED = ("number", "date", "boolean", "category")


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _as_frame(frame: Any) -> pandas.DataFrame:
    """A frame whose columns have different names, which are text."""
    pandas = needed("pandas")
    if hasattr(frame, "to_pandas") and hasattr(frame, "columns"):  # of polars, with its names
        frame = frame.to_pandas()
    if not isinstance(frame, pandas.DataFrame):
        array = np.asarray(frame)
        if array.ndim != 2:
            raise TableError(f"a table has rows and columns; got shape {array.shape}.")
        return pandas.DataFrame(array, columns=numbered_names(array.shape[1]))
    names = [str(name) for name in frame.columns]
    check_names(names, "the table")
    return frame if names == list(frame.columns) else frame.set_axis(names, axis=1)

"""Models that label rows by one matrix product, as ONNX graphs."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice
from ..._extras import needed
from ...encoding import MixedEncoder
from ...encoding.columns import category_places
from ...encoding.values import MISSING
from ...estimators import DOGCOS, SEC, DiscriminativeKMeans
from .saving import Bundle

# Old enough for runtimes of 2022 and later.
OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8


def to_onnx(model: Any, preparation: Any = None, *, dtype: str = "float32") -> Any:
    """Write the ``predict`` of a fitted :class:`DOGCOS` as an ONNX graph.

    The graph computes in float64 whatever it is fed, so its labels are those of ``predict``
    for the same rows. It does not check them: rows with missing values that no step fills get
    some label.

    Parameters
    ----------
    model : DOGCOS, Pipeline or Bundle
        A fitted model, a scikit-learn pipeline that ends in one, or what
        :func:`dogc.load_bundle` returns, with its preparation. :class:`SEC` and
        :class:`DiscriminativeKMeans` with a linear kernel are linear too and can be exported.
    preparation : MixedEncoder, default=None
        What turned a table into the model's rows; the first step of a pipeline can be one too.
        The graph's input are then the columns ``preparation.columns_`` of the table, in this
        order: numbers, or 1 for yes and 0 for no, and NaN where a value is missing. If there are
        categories, each column is an input of its own, under its name and of shape
        (n_samples, 1); those of categories hold text without blanks around it, "" where a value is
        missing. Dates cannot be exported.
    dtype : {"float32", "float64"}, default="float32"
        Type of the graph's input and of its scores.

    Returns
    -------
    proto : onnx.ModelProto
        A graph from "X" of shape (n_samples, n_features), or from columns, to "label", int64 of
        shape
        (n_samples,), and "score" of shape (n_samples, n_clusters), whose largest entry gives
        the label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGCOS, to_onnx
    >>> proto = to_onnx(DOGCOS(n_clusters=3).fit(load_iris().data))
    >>> [output.name for output in proto.graph.output]
    ['label', 'score']
    """
    check_choice("dtype", dtype, ("float32", "float64"))
    if isinstance(model, Bundle):
        model, preparation = model.model, model.preparation if preparation is None else preparation
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    *steps, last = [step for step in steps if step is not None and step != "passthrough"]
    weight, offset = linear_scores(last)
    if preparation is None and steps and isinstance(steps[0], MixedEncoder):
        preparation, *steps = steps
    graph = _Graph(dtype)
    if preparation is None:
        rows = graph.take("X", (steps or [last])[0].n_features_in_)
    else:
        rows = _append_preparation(graph, preparation)
    for step in steps:
        rows = _append_step(graph, rows, step)
    if getattr(last, "metric", None) == "cosine":
        rows = _append_unit_rows(graph, rows)
    score = graph.add("MatMul", [rows, graph.constant(weight.T)])
    score = graph.add("Add", [score, graph.constant(offset)])
    graph.add("ArgMax", [score], "label", axis=1, keepdims=0)
    graph.add("Cast", [score], "score", to=graph.outside)
    return graph.finish(len(offset))


def linear_scores(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """A and b such that the largest entry of ``A x + b`` is the label of x, in float64.

    Parameters
    ----------
    model : DOGCOS, SEC or DiscriminativeKMeans
        A fitted model that is linear in the features.

    Returns
    -------
    A, b : arrays of shape (n_clusters, n_features) and (n_clusters,)
        The scores' coefficients and constants.
    """
    linear = isinstance(model, DOGCOS | SEC | DiscriminativeKMeans)
    if not linear or getattr(model, "kernel", "linear") != "linear":
        raise ValueError(
            f"{type(model).__name__} does not label rows by a matrix product and cannot be "
            "exported to ONNX; fit DOGCOS instead."
        )
    check_is_fitted(model)
    if isinstance(model, DOGCOS):
        if not hasattr(model, "coef_"):
            raise ValueError(
                "this DOGCOS labels new rows by their neighbours, because its clusters cannot be "
                "separated by a linear rule, so it cannot be exported to ONNX; fit it with "
                "rule='logistic' to export a rule anyway."
            )
        if model.outlier_label is not None:
            raise ValueError(
                "outlier_label is not part of the rule that ONNX can hold; "
                "model.set_params(outlier_label=None) exports the labels without it."
            )
        return model.coef_.astype(np.float64), model.intercept_.astype(np.float64)
    if isinstance(model, SEC):
        coef, intercept = model.coef_, model.intercept_
    else:
        scaled, _, shift, components = model._space
        coef = components / scaled.scale
        intercept = -(coef @ scaled.shift) - shift
    # The nearest centre to W'x + b has the largest score 2 c'(W'x + b) - c'c.
    coef, intercept, centres = (
        a.astype(np.float64) for a in (coef, intercept, model.cluster_centers_)
    )
    origin = centres[0]
    centres = centres - origin
    squares = np.einsum("kj,kj->k", centres, centres)
    return 2.0 * centres @ coef, 2.0 * centres @ (intercept - origin) - squares


class _Graph:
    """An ONNX graph that grows one node at a time."""

    def __init__(self, dtype: str):
        onnx: Any = needed("onnx", "to_onnx")
        self.onnx = onnx
        self.double = onnx.TensorProto.DOUBLE
        self.outside = onnx.TensorProto.FLOAT if dtype == "float32" else self.double
        self.value = onnx.helper.make_tensor_value_info
        self.inputs: list[Any] = []
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.opsets = {"": OPSETS[""]}

    def take(self, name: str, width: int) -> str:
        """Another input of numbers; the name of it in float64."""
        self.inputs.append(self.value(name, self.outside, ["n_samples", width]))
        return self.add("Cast", [name], to=self.double)

    def take_codes(self, name: str, codes: dict[str, int], default: int) -> str:
        """Another input, a column of text; the name of the number of each text."""
        self.inputs.append(self.value(name, self.onnx.TensorProto.STRING, ["n_samples", 1]))
        self.opsets["ai.onnx.ml"] = OPSETS["ai.onnx.ml"]
        return self.add(
            "LabelEncoder",
            [name],
            domain="ai.onnx.ml",
            keys_strings=list(codes),
            values_int64s=list(codes.values()),
            default_int64=default,
        )

    def add(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """Append a node; the name of its output."""
        output = output or f"dogc_{operator}_{len(self.nodes)}"
        node = self.onnx.helper.make_node(operator, inputs, [output], output, **attributes)
        self.nodes.append(node)
        return output

    def constant(self, values: np.ndarray) -> str:
        """Hold an array; its name."""
        name = f"dogc_constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def splice(self, proto: Any, rows: str) -> str:
        """Append another graph of one input and one output; the name of its output."""
        proto = self.onnx.compose.add_prefix(proto, f"dogc_step_{len(self.nodes)}_")
        self.add("Identity", [rows], proto.graph.input[0].name)
        self.nodes.extend(proto.graph.node)
        self.constants.extend(proto.graph.initializer)
        self.opsets.update({opset.domain: opset.version for opset in proto.opset_import})
        return self.add("Cast", [proto.graph.output[0].name], to=self.double)

    def finish(self, n_clusters: int) -> Any:
        """The model, checked."""
        helper = self.onnx.helper
        label = self.value("label", self.onnx.TensorProto.INT64, ["n_samples"])
        score = self.value("score", self.outside, ["n_samples", n_clusters])
        proto = helper.make_model(
            helper.make_graph(self.nodes, "dogc", self.inputs, [label, score], self.constants),
            producer_name="dogc",
            producer_version=metadata.version("dogc"),
            opset_imports=[helper.make_opsetid(*opset) for opset in self.opsets.items()],
            ir_version=IR_VERSION,
        )
        self.onnx.checker.check_model(proto, full_check=True)
        return proto


def _append_unit_rows(graph: _Graph, rows: str) -> str:
    """Rows of length one, by their largest entry first; zero rows stay."""
    for norm in ("ReduceMax", "ReduceL2"):
        entries = graph.add("Abs", [rows]) if norm == "ReduceMax" else rows
        size = graph.add(norm, [entries], axes=[1], keepdims=1)
        zero = graph.add("Equal", [size, graph.constant(np.zeros(1))])
        size = graph.add("Where", [zero, graph.constant(np.ones(1)), size])
        rows = graph.add("Div", [rows, size])
    return rows


def _append_step(graph: _Graph, rows: str, step: Any) -> str:
    """The rows as a fitted scikit-learn transformer leaves them."""
    if isinstance(step, SimpleImputer):
        return _append_imputer(graph, rows, step)
    convert_sklearn = needed("skl2onnx", "to_onnx of a pipeline").convert_sklearn
    DoubleTensorType = needed("skl2onnx.common.data_types", "to_onnx").DoubleTensorType
    try:
        proto = convert_sklearn(
            step,
            initial_types=[("rows", DoubleTensorType([None, step.n_features_in_]))],
            target_opset=OPSETS,
        )
    except Exception as error:  # skl2onnx has many ways to say no
        raise ValueError(
            f"{type(step).__name__} cannot be exported to ONNX; put another transformer before "
            f"the model ({str(error).splitlines()[0] if str(error) else type(error).__name__})."
        ) from error
    return graph.splice(proto, rows)


def _append_imputer(graph: _Graph, rows: str, imputer: SimpleImputer) -> str:
    """Missing values filled."""
    filling, gap = imputer.statistics_, imputer.missing_values
    is_nan = isinstance(gap, float) and np.isnan(gap)
    if imputer.add_indicator or filling.dtype.kind != "f" or not is_nan:
        raise ValueError(
            "a SimpleImputer can be exported to ONNX where it fills NaN in numeric columns and "
            "adds no indicators; change its settings and fit again."
        )
    kept = np.flatnonzero(~np.isnan(filling))
    if len(kept) < len(filling):  # columns without any value are dropped
        rows = graph.add("Gather", [rows, graph.constant(kept)], axis=1)
    return _append_filling(graph, rows, filling[kept])


def _append_filling(graph: _Graph, rows: str, filling: np.ndarray) -> str:
    """A number for each column where there is none; ONNX's own imputer knows no float64."""
    missing = graph.add("IsNaN", [rows])
    return graph.add("Where", [missing, graph.constant(filling.astype(np.float64)), rows])


def _append_preparation(graph: _Graph, preparation: Any) -> str:
    """The columns of a table as a MixedEncoder fills and scales them."""
    check_is_fitted(preparation)
    plans = {name: preparation.plans_[name] for name in preparation.columns_}
    dates = [name for name, plan in plans.items() if plan["kind"] == "date"]
    if dates:
        raise ValueError(
            f"the columns {', '.join(dates)} hold dates, which cannot be exported to ONNX; drop "
            "them and fit again."
        )
    if all(plan["kind"] != "category" for plan in plans.values()):
        filling = np.array([_filling(plan) for plan in plans.values()])
        rows = _append_filling(graph, graph.take("X", len(plans)), filling)
    else:
        taken = [name for name in plans if name in ("label", "score", "")]
        if taken:
            raise ValueError(
                f"the columns {taken} have no name, or that of an output of the ONNX graph; rename "
                "them and fit again."
            )
        columns = [_append_column(graph, name, plan) for name, plan in plans.items()]
        rows = graph.add("Concat", columns, axis=1)
    if not preparation.scale:
        return rows
    rows = graph.add("Sub", [rows, graph.constant(preparation.mean_)])
    return graph.add("Div", [rows, graph.constant(preparation.scale_)])


def _filling(plan: dict[str, Any]) -> float:
    """The value that takes the place of a missing number, or of a missing yes or no."""
    return float(plan["median"] if "median" in plan else plan["usual"])


def _append_column(graph: _Graph, name: str, plan: dict[str, Any]) -> str:
    """The features of one column of a table, an input of its own."""
    if plan["kind"] != "category":
        return _append_filling(graph, graph.take(name, 1), np.array([_filling(plan)]))
    place, width, unseen = category_places(plan)
    for word in MISSING:  # as they are mostly written
        for spelling in (word, word.upper(), word.title(), word.replace("nan", "NaN")):
            place.setdefault(spelling, place[""])
    codes = graph.take_codes(name, place, unseen)
    same = graph.add("Equal", [codes, graph.constant(np.arange(width)[None])])
    return graph.add("Cast", [same], to=graph.double)

"""ONNX graphs label rows as the models do that they were made from."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import dogc
from conftest import CLUSTERERS, made, refused
from dogc import DOGCOS, SEC, DiscriminativeKMeans, MixedEncoder, to_onnx

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

LINEAR = (DOGCOS, SEC, DiscriminativeKMeans)


def rows(n, seed, dtype="float64"):
    """Rows of three clusters that run into one another, of columns on scales of their own."""
    rng = np.random.default_rng(seed)
    X = 3.0 * np.eye(3, 5)[rng.integers(3, size=n)] + rng.standard_normal((n, 5))
    return (X * [1, 10, 100, 0.1, 1] + [0, 5, -300, 1, 0]).astype(dtype)


def run(proto, X):
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(["label", "score"], {"X": X})


def assert_labels_of(model, X, **options):
    label, score = run(to_onnx(model, dtype=str(X.dtype), **options), X)
    assert label.dtype == np.int64
    assert score.dtype == X.dtype
    assert len(np.unique(label)) > 1
    np.testing.assert_array_equal(label, model.predict(X))
    return score


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fitted_on", ["float32", "float64"])
@pytest.mark.parametrize("cls", LINEAR, ids=lambda cls: cls.__name__)
def test_labels_equal_predict_on_ten_thousand_rows(cls, fitted_on, dtype):
    model = made(cls, 3, n_neighbors=10).fit(rows(300, 0, fitted_on))
    assert_labels_of(model, rows(10_000, 1, dtype))


def test_scores_are_the_decision_function():
    model = DOGCOS(3, n_neighbors=10).fit(rows(300, 0))
    X = rows(1000, 1)
    score = assert_labels_of(model, X)
    np.testing.assert_allclose(score, model.decision_function(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "before",
    [
        [StandardScaler()],
        [MinMaxScaler(), PCA(3)],
        ["passthrough", StandardScaler(with_mean=False), None],
        [SimpleImputer(strategy="median"), StandardScaler()],
    ],
    ids=str,
)
def test_pipelines_are_exported_with_their_steps(before, dtype):
    steps = [(f"step{i}", step) for i, step in enumerate(before)]
    model = Pipeline([*steps, ("model", DOGCOS(3, n_neighbors=10))]).fit(rows(300, 0))
    assert_labels_of(model, rows(10_000, 1, dtype))


def test_missing_values_are_filled():
    rng = np.random.default_rng(0)
    X, new = rows(300, 0), rows(10_000, 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    new[rng.random(new.shape) < 0.2] = np.nan
    X[:, 1] = np.nan  # this column is dropped
    model = make_pipeline(SimpleImputer(), StandardScaler(), DOGCOS(3, n_neighbors=10))
    with pytest.warns(UserWarning, match="without any observed values"):
        model.fit(X)
    proto = to_onnx(model, dtype="float64")
    with pytest.warns(UserWarning, match="without any observed values"):
        expected = model.predict(new)
    np.testing.assert_array_equal(run(proto, new)[0], expected)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tables_of_numbers_are_exported_with_their_preparation(dtype, scale):
    frame, preparation = prepared(scale)
    model = DOGCOS(3, n_neighbors=10).fit(preparation.transform(frame))
    X = frame[preparation.columns_]
    X = X.assign(paid=X["paid"].map({"yes": 1, "no": 0})).to_numpy(dtype=dtype)
    assert np.isnan(X).any()
    label, _ = run(to_onnx(model, preparation, dtype=dtype), X)
    np.testing.assert_array_equal(label, model.predict(preparation.transform(frame)))


@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.parametrize("scale", [True, False])
def test_tables_with_categories_are_exported_column_by_column(scale, gaps):
    frame, _ = prepared()
    rng = np.random.default_rng(1)
    words = np.array(["red", "green", "blue", *(f"rare{i}" for i in range(12))])
    colour = rng.choice(words, len(frame), p=[0.5, 0.3, 0.17, *[0.0025] * 12]).astype(object)
    if gaps:
        colour[::7] = None
    model = make_pipeline(MixedEncoder(scale=scale), DOGCOS(3, n_neighbors=10))
    model.fit(frame.assign(colour=colour))
    assert any("(other)" in name for name in model[0].feature_names_)
    new = frame.assign(colour=np.roll(colour, 5))
    new.loc[:40, "colour"] = "never seen"
    inputs = new[model[0].columns_].assign(colour=new["colour"].fillna(""))
    inputs["paid"] = inputs["paid"].map({"yes": 1.0, "no": 0.0})
    kinds = dict.fromkeys(inputs, "float64") | {"colour": object}
    fed = {name: inputs[[name]].to_numpy(dtype=kinds[name]) for name in inputs}
    proto = to_onnx(model, dtype="float64")
    assert [given.name for given in proto.graph.input] == list(inputs)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    np.testing.assert_array_equal(session.run(["label"], fed)[0], model.predict(new))


@pytest.mark.parametrize("names", [("x", "c"), ("X", "é'")])
def test_missing_and_unseen_words_are_labelled_as_by_predict(names):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({names[0]: rows(200, 0)[:, 0], names[1]: np.tile(["u", "v"], 100)})
    model = make_pipeline(MixedEncoder(), DOGCOS(2, n_neighbors=10)).fit(frame)
    session = onnxruntime.InferenceSession(to_onnx(model, dtype="float64").SerializeToString())
    words = np.array(["u", "NA", "NaN", "w"], dtype=object)
    few = frame.head(4).assign(**{names[1]: words})
    fed = {names[0]: few[[names[0]]].to_numpy(), names[1]: words[:, None]}
    np.testing.assert_array_equal(session.run(["label"], fed)[0], model.predict(few))


@pytest.mark.parametrize(
    ("name", "words"), [("since", "since hold dates.*drop"), ("score", r"\['score'\].*rename")]
)
def test_tables_with_other_columns_are_refused_by_name(name, words):
    frame, preparation = prepared()
    days = np.datetime64("2020-01-01") + np.arange(len(frame)) % 90
    more = {name: days if name == "since" else rows(2000, 2)[:, 0]}
    preparation.set_params(keep=["since"] if name == "since" else [])
    preparation.fit(frame.assign(**more, kind=np.tile(["u", "v"], 1000)))
    model = DOGCOS(3, n_neighbors=10).fit(rows(300, 0))
    refused(f"the columns {words}", to_onnx, model, preparation)


def prepared(scale=True):
    """A frame of numbers with gaps, yes and no, and an id; what prepares it."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rows(2000, 0, "float32").astype("float64")  # so that float32 holds them too
    paid = np.where(X[:, 0] > 1, "yes", "no").astype(object)
    X[rng.random(X.shape) < 0.05] = np.nan
    paid[::50] = None
    frame = pandas.DataFrame(X, columns=list("abcde")).assign(
        paid=paid, id=[f"r{i}" for i in range(len(X))]
    )
    return frame, MixedEncoder(scale=scale).fit(frame)


@pytest.mark.parametrize("cls", LINEAR, ids=lambda cls: cls.__name__)
def test_models_of_sparse_rows_are_exported(cls):
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((40, 4))) * rng.random((120, 12))
    model = made(cls, 3, n_neighbors=10).fit(sp.csr_array(X))
    assert_labels_of(model, rng.random((1000, 12)))


def test_ties_go_to_the_first_cluster():
    model = DOGCOS(3, n_neighbors=10).fit(rows(300, 0))
    model.coef_ = np.zeros_like(model.coef_)
    model.intercept_ = np.array([0.0, 1.0, 1.0])
    np.testing.assert_array_equal(run(to_onnx(model), rows(10, 1, "float32"))[0], 1)


@pytest.mark.parametrize(
    "model",
    [DiscriminativeKMeans(3, kernel="rbf"), KMeans(3), make_pipeline(PCA(), KMeans(3)),
     *(cls(3) for cls in CLUSTERERS if cls not in LINEAR)],
)  # fmt: skip
def test_models_that_are_not_linear_are_refused(model):
    refused(r"^\w+ does not .*; fit DOGCOS instead\.$", to_onnx, model)


def test_unfitted_models_are_refused():
    with pytest.raises(NotFittedError):
        to_onnx(DOGCOS(3))


def test_a_wrong_dtype_is_refused():
    with pytest.raises(ValueError, match="dtype must be one of 'float32', 'float64'; got 'int8'"):
        to_onnx(DOGCOS(3).fit(rows(60, 0)), dtype="int8")


def test_steps_that_cannot_be_exported_are_refused_by_name():
    step = FunctionTransformer(np.arctan)
    model = make_pipeline(step, DOGCOS(3, n_neighbors=10)).fit(rows(300, 0))
    refused("FunctionTransformer cannot be exported to ONNX", to_onnx, model)
    imputer = SimpleImputer(add_indicator=True)
    model = make_pipeline(imputer, DOGCOS(3, n_neighbors=10)).fit(rows(300, 0))
    refused("adds no indicators", to_onnx, model)


@pytest.mark.parametrize("package", ["onnx", "skl2onnx"])
def test_packages_are_asked_for_by_name(package, monkeypatch):
    model = make_pipeline(StandardScaler(), DOGCOS(3, n_neighbors=10)).fit(rows(300, 0))
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'needs {package}.*pip install "dogc\[onnx\]"'):
        to_onnx(model)


def test_what_a_model_file_holds_is_exported_with_its_preparation(tmp_path):
    pytest.importorskip("skops")
    frame, preparation = prepared(True)
    model = DOGCOS(3, n_neighbors=10).fit(preparation.transform(frame))
    dogc.save(model, tmp_path / "m.skops", preparation=preparation)
    bundle = dogc.load_bundle(tmp_path / "m.skops")
    assert to_onnx(bundle) == to_onnx(model, preparation)

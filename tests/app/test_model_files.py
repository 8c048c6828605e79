"""Model files: what comes back is what went in."""

import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from dogc.app.model_files import packing, saving
from dogc.app.model_files.saving import load, load_bundle, save
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_moons
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dogc
from conftest import CLUSTERERS, made
from dogc import CLR, DOGC, DOGCOS, LPP, DiscriminativeKMeans, MixedEncoder, NormalizedCut

skops_io = pytest.importorskip("skops.io")

EVERY = (*CLUSTERERS, LPP)
KINDS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sp.csr_array,
    "sparse matrix": sp.csr_matrix,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.fixture
def saved(three_blobs, path):
    X, _ = three_blobs
    return save(DOGCOS(3).fit(X), path)


def fitted(cls, X):
    # A non-negative X is fine for all of them.
    return made(cls, 3, n_neighbors=8).fit(X)


def assert_same(a, b):
    """Equal to the last bit, type by type."""
    assert type(a) is type(b)
    if sp.issparse(a):
        assert_same(a.tocsr().indptr, b.tocsr().indptr)
        assert_same(a.tocsr().indices, b.tocsr().indices)
        assert_same(a.tocsr().data, b.tocsr().data)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif isinstance(a, dict):
        assert_same(list(a), list(b))
        assert_same(list(a.values()), list(b.values()))
    else:
        assert a == b or (a != a and b != b)


def assert_same_model(model, again, new, methods=("predict", "transform", "decision_function")):
    fitted_names = [name for name in vars(model) if name.endswith("_")]
    assert fitted_names == [name for name in vars(again) if name.endswith("_")]
    for name in fitted_names:
        assert_same(getattr(model, name), getattr(again, name))
    for method in methods:
        if hasattr(model, method):
            assert_same(getattr(model, method)(new), getattr(again, method)(new))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)
def test_every_estimator_comes_back_the_same(cls, kind, three_blobs, path):
    X, _ = three_blobs
    new = KINDS[kind](X + np.random.default_rng(1).standard_normal(X.shape))
    model = fitted(cls, KINDS[kind](X))
    again = load(save(model, path))
    assert type(again) is cls
    assert_same(again.get_params(), model.get_params())
    assert_same_model(model, again, new)


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize(
    "search",
    [
        "auto",
        "brute",
        "kd_tree",
        KNeighborsTransformer(),
        pytest.param("pynndescent", marks=pytest.mark.slow),  # compiles for a minute
    ],
    ids=str,
)
def test_every_search_finds_the_same_after_loading(search, kind, path):
    if search == "pynndescent":
        pytest.importorskip("pynndescent")
    rng = np.random.default_rng(0)
    X = KINDS[kind](6.0 * np.eye(3, 4)[np.arange(600) % 3] + rng.standard_normal((600, 4)))
    new = KINDS[kind](3.0 * rng.standard_normal((2000, 4)))
    model = DOGC(3, n_neighbors=10, neighbors_algorithm=search).fit(X)
    again = load(save(model, path))
    assert_same_model(model, again, new)
    index, restored = model._fitted_rows.search, again._fitted_rows.search
    assert (index.kind, index.n) == (restored.kind, restored.n)
    assert type(index.search) is type(restored.search)


def test_a_search_in_leading_directions_comes_back(path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40))
    X[:, :3] += 9.0 * np.eye(3)[np.arange(300) % 3]
    model = DOGC(3).fit(X)
    assert model._fitted_rows.lookup is not None
    assert_same_model(model, load(save(model, path)), rng.standard_normal((500, 40)) * 3)


def stored_bytes(path):
    """All that a file holds, not compressed."""
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CLR, NormalizedCut], ids=lambda cls: cls.__name__)
def test_representatives_come_back_without_the_rows(cls, path):
    X, _ = make_moons(12_000, noise=0.1, random_state=0)
    model = made(cls, 2, random_state=0).fit(X)
    assert model.n_representatives_ < 3000
    again = load(save(model, path))
    new = X + 0.1 * np.random.default_rng(1).standard_normal(X.shape)
    assert_same_model(model, again, new, ["predict", "transform", "predict_membership"])
    assert path.stat().st_size < 150_000
    held = stored_bytes(path)
    assert model.representatives_[0].tobytes() in held  # what is looked for would be found
    assert not [i for i, row in enumerate(X) if row.tobytes() in held]


@pytest.mark.slow
def test_the_file_of_a_million_rows_is_small(path):
    X, _ = make_moons(1_000_000, noise=0.1, random_state=0)
    model = DOGC(2, n_jobs=1).fit(X)
    again = load(save(model, path))
    assert path.stat().st_size < 2_000_000
    assert_same(again.labels_, model.labels_)
    assert_same(again.predict(X[:10_000]), model.predict(X[:10_000]))


@pytest.mark.parametrize(
    "values",
    [
        np.array([2, 0, -1]),
        np.array([0.5, np.nan, -0.0, 0.0]),
        np.array([0.5, 1.0], dtype=np.float32),
        np.array([True, False]),
        np.arange(60_000) / 7,
        np.arange(70_000) / 7,  # too many to be worth it
        np.array(["a", "b"]),
        np.arange(5, dtype=np.longdouble),
    ],
    ids=lambda values: f"{len(values)} of {values.dtype}",
)
def test_long_arrays_come_back_to_the_last_bit(values):
    whole = np.resize(values, 90_000)[::-1]
    packed = packing.pack({"a": [whole]})
    few = whole.dtype.kind in "bif" and whole.itemsize <= 8 and len(values) < 65_536
    assert (type(packed["a"][0]) is dict) == few
    again = packing.unpack(packed)["a"][0]
    assert again.dtype == whole.dtype
    assert again.tobytes() == whole.tobytes()


def test_parameters_that_came_later_are_at_their_defaults(three_blobs, path):
    X, _ = three_blobs
    model = NormalizedCut(3, n_representatives=None).fit(X)
    del model.n_representatives  # as an earlier release would have saved it
    again = load(save(model, path))
    assert again.get_params()["n_representatives"] == "auto"
    assert_same(again.predict(X + 0.5), model.predict(X + 0.5))


def test_trees_are_not_stored_but_built_again(three_blobs, path):
    X, _ = three_blobs
    model = DOGC(3).fit(X)
    assert model._fitted_rows.search.search._tree is not None
    again = load(save(model, path))
    assert not [name for name in skops_io.get_untrusted_types(file=path) if "Tree" in name]
    assert model._fitted_rows.search.search._tree is not None  # the saved model keeps its own
    assert again._fitted_rows.search.search._tree is not None


@pytest.mark.parametrize("cls", [DOGC, NormalizedCut], ids=lambda cls: cls.__name__)
def test_models_on_given_graphs_come_back(cls, three_blobs, path):
    X, _ = three_blobs
    to_graph = KNeighborsTransformer(n_neighbors=12).fit(X)
    D = to_graph.transform(X)
    if cls is DOGC:
        model, new = DOGC(3, n_neighbors=8, metric="precomputed").fit(D), to_graph.transform(X + 1)
    else:
        A = 0.5 * (D + D.T)
        A.data = np.exp(-A.data)
        model, new = NormalizedCut(3, affinity="precomputed").fit(A), A
    assert_same_model(model, load(save(model, path)), new, ["predict"])


def test_pipelines_come_back(three_blobs, path):
    X, _ = three_blobs
    model = make_pipeline(StandardScaler(), DOGC(3)).fit(X)
    again = load(save(model, path))
    assert_same(again.predict(X + 0.5), model.predict(X + 0.5))
    assert_same(again[0].mean_, model[0].mean_)


def test_a_pipeline_with_a_search_of_its_own_comes_back(three_blobs, path):
    X, _ = three_blobs
    search = KNeighborsTransformer(n_neighbors=12)
    model = make_pipeline(search, DOGC(3, n_neighbors=8, metric="precomputed")).fit(X)
    assert_same(load(save(model, path)).predict(X + 0.5), model.predict(X + 0.5))


def test_estimators_inside_others_come_back(three_blobs, path):
    X, _ = three_blobs
    columns = make_column_transformer((StandardScaler(), [0, 1]), (LPP(1), [2, 3]))
    model = make_pipeline(columns, DOGC(3)).fit(X)
    assert_same(load(save(model, path)).predict(X + 0.5), model.predict(X + 0.5))


def test_kernel_models_come_back(three_blobs, path):
    X, _ = three_blobs
    model = DiscriminativeKMeans(3, kernel="rbf").fit(X)
    assert_same_model(model, load(save(model, path)), X + 0.5)


@pytest.mark.parametrize("seed", [7, np.random.RandomState(7), np.random.default_rng(7)], ids=str)
def test_parameters_come_back(seed, three_blobs, path):
    X, truth = three_blobs
    model = DOGC(3, init=truth, random_state=seed, outlier_label=-1, max_time=60.0).fit(X)
    again = load(save(model, path))
    assert_same(again.init, truth)
    assert (again.outlier_label, again.max_time) == (-1, 60.0)
    assert type(again.random_state) is type(seed)


def test_a_callback_is_left_out(three_blobs, path):
    X, _ = three_blobs

    def callback(record):
        return False

    model = DOGC(3, callback=callback).fit(X)
    assert load(save(model, path)).callback is None
    assert model.callback is callback


def test_names_of_columns_come_back(three_blobs, path):
    pandas = pytest.importorskip("pandas")
    X, _ = three_blobs
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = DOGCOS(3).fit(frame)
    again = load(save(model, path))
    assert_same(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[list("dcba")])


def test_another_process_labels_rows_the_same(three_blobs, path, tmp_path):
    X, _ = three_blobs
    model = DOGC(3).fit(X)
    save(model, path)
    np.save(tmp_path / "new.npy", X + 0.5)
    code = (
        "import dogc, numpy, sys\n"
        "print(dogc.load(sys.argv[1]).predict(numpy.load(sys.argv[2])).tolist())"
    )
    arguments = [sys.executable, "-c", code, str(path), str(tmp_path / "new.npy")]
    printed = subprocess.run(
        arguments, capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    assert json.loads(printed) == model.predict(X + 0.5).tolist()


def make_preparation():
    """A fitted MixedEncoder with a column of each kind, and the frame it was fitted on."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "id": [f"r{i}" for i in range(12)],
            "size": [1.5, 2.0, None, 3.0] * 3,
            "count": list(range(0, 36, 3)),
            "colour": ["red", "green", "blue", None] * 3,
        }
    )
    return MixedEncoder().fit(frame), frame


def test_a_bundle_holds_all_that_was_saved(three_blobs, path):
    X, _ = three_blobs
    preparation, frame = make_preparation()
    summary = {"sizes": [20, 20, 20], "name": "Größe", "nothing": None, "share": 1 / 3}
    settings = {"method": "dogc-os", "parameters": {"n_clusters": 3}}
    save(DOGCOS(3).fit(X), path, preparation=preparation, summary=summary, settings=settings)
    bundle = load_bundle(path)
    assert bundle.summary == summary
    assert bundle.settings == settings
    assert bundle.format_version == saving.FORMAT_VERSION == 2
    assert bundle.library_version == dogc.__version__
    assert type(bundle.preparation) is type(preparation)
    assert_same(bundle.preparation.transform(frame), preparation.transform(frame))
    assert bundle.preparation.columns_ == preparation.columns_
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("dogc.json"))
    assert header["schema"] == preparation.schema()
    assert header["library_version"] == dogc.__version__


def test_columns_may_have_the_names_that_the_file_uses(three_blobs, path):
    pandas = pytest.importorskip("pandas")
    X, _ = three_blobs
    frame = pandas.DataFrame(X[:, :2], columns=["dogc", "state"])
    preparation = MixedEncoder().fit(frame)
    save(DOGC(3).fit(X), path, preparation=preparation)
    again = load_bundle(path).preparation
    assert again.plans_ == preparation.plans_
    assert_same(again.transform(frame), preparation.transform(frame))


def test_a_field_that_came_later_has_its_default(three_blobs):
    X, _ = three_blobs
    packed = packing.pack(DOGC(3).fit(X))
    del packed["state"]["_fitted_rows"]["state"]["stray"]  # as an earlier release would have it
    assert packing.unpack(packed)._fitted_rows.stray is None


def test_a_model_alone_has_no_more(saved):
    assert load_bundle(saved)[1:4] == (None, None, None)


def modules_in(path):
    """The modules that a file names, and what of ours it holds by name."""
    with zipfile.ZipFile(path) as archive:
        schema = archive.read("schema.json").decode()
    tagged = re.findall(r'"dogc": \{[^}]*?"content": "\\"(\w+)\\""', schema)
    return set(re.findall(r'"__module__": "([^"]+)"', schema)), set(tagged)


def test_a_file_names_public_things_only(three_blobs, path):
    X, _ = three_blobs
    preparation, _ = make_preparation()
    models = [fitted(cls, X) for cls in EVERY]
    models += [
        DOGC("auto").fit(X),
        DOGC(3, n_representatives=20).fit(np.resize(X, (packing.LONG, 4))),
        make_pipeline(SimpleImputer(), DOGC(3)).fit(X),
    ]
    trusted, named = set(), set()
    for model in models:
        save(model, path, preparation=preparation)
        trusted.update(skops_io.get_untrusted_types(file=path))
        modules, names = modules_in(path)
        assert not [module for module in modules if module.startswith("dogc")]
        named |= names
    assert sorted(trusted) == list(saving.TRUSTED_TYPES)
    assert named == {*packing.STORED, "repeats", "sparse"}


def test_the_tests_know_every_estimator():
    classes = {cls for cls in vars(dogc).values() if isinstance(cls, type)}
    classes.discard(dogc.MixedEncoder)  # a part of what is stored with a model
    assert {cls for cls in classes if issubclass(cls, BaseEstimator)} == set(EVERY)


def test_no_file_is_unpickled(three_blobs, path, monkeypatch):
    X, _ = three_blobs

    def refuse(*args, **kwargs):
        raise AssertionError("a model file was pickled or unpickled")

    model = DOGC(3).fit(X)
    for name in ("load", "loads", "dump", "dumps", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    load(save(model, path))


def test_rows_are_stored_once(path):
    X = np.random.default_rng(0).standard_normal((3000, 12))
    model = DOGC(2, n_neighbors=5, n_components=None, max_iter=2).fit(X)
    with zipfile.ZipFile(io.BytesIO(save(model, path).read_bytes())) as archive:
        rows = [entry for entry in archive.infolist() if entry.file_size >= X.nbytes]
    assert len(rows) == 1


def test_folders_are_made(three_blobs, tmp_path):
    X, _ = three_blobs
    path = save(DOGC(3).fit(X), str(tmp_path / "a" / "b.skops"))
    assert path.is_file()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such mask")
@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o022, 0o644)])
def test_a_file_can_be_read_by_whom_the_mask_allows(mask, mode, three_blobs, tmp_path):
    before = os.umask(mask)
    try:
        path = tmp_path / "model.skops"
        save(DOGC(3).fit(three_blobs[0]), path)
        assert path.stat().st_mode & 0o777 == mode
        path.chmod(0o640)
        save(DOGC(3).fit(three_blobs[0]), path)
        assert path.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)


def many_columns(n_columns):
    """A wide table with numbers and categories, and its preparation."""
    rng = np.random.default_rng(0)
    names = [f'c{j}\u00e9"' for j in range(n_columns)]
    frame = pandas.DataFrame(rng.standard_normal((12, n_columns)), columns=names)
    frame["kind"] = ["a", "b", None] * 4
    return frame, MixedEncoder().fit(frame)


def test_a_wide_table_is_stored_as_few_texts(three_blobs, path):
    frame, preparation = many_columns(packing.MANY_ITEMS)
    model = DOGC(3).fit(three_blobs[0])
    save(model, path, preparation=preparation)
    again = load_bundle(path).preparation
    assert vars(again).keys() == vars(preparation).keys()
    assert again.plans_ == preparation.plans_
    np.testing.assert_array_equal(again.transform(frame), preparation.transform(frame))
    with zipfile.ZipFile(path) as archive:
        schema = archive.read("schema.json").decode()
    assert schema.count("__loader__") < packing.MANY_ITEMS


@pytest.mark.parametrize(
    "item", [float("nan"), float("inf"), 10**30, (1,), {1: 2}, [np.int64(1)], 1 + 2j]
)
def test_what_json_would_change_is_not_stored_as_text(item):
    packed = packing.pack([*range(packing.MANY_ITEMS), item])
    assert type(packed) is list
    assert packing.pack([*range(packing.MANY_ITEMS)])["dogc"] == "json"


def test_a_model_in_principal_directions_is_saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 400))
    X[:30, :60] += 0.9
    model = DOGC(2).fit(X)
    assert model.geometry_ == "principal"
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict(X), model.predict(X))

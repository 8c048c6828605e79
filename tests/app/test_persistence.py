"""Model files: what comes back is what went in, and what is refused is refused in one sentence."""

import io
import json
import pickle
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dogc
from conftest import CLUSTERERS, made
from dogc import CLR, DOGC, DOGCOS, LPP, DiscriminativeKMeans, NormalizedCut
from dogc.app.model_files import packing, saving
from dogc.app.model_files.saving import ModelFileError, load, load_bundle, save

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
    assert path.stat().st_size < 1_000_000
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
    assert isinstance(packed["a"][0], packing.StoredRepeats) == few
    again = packing.unpack(packed)["a"][0]
    assert again.dtype == whole.dtype
    assert again.tobytes() == whole.tobytes()


def test_places_out_of_range_are_refused(path):
    X, _ = make_moons(packing.LONG, random_state=0)
    packed = packing.pack(DOGC(2, n_representatives=30).fit(X))
    packed.labels_ = packed.labels_._replace(place=packed.labels_.place + 2)
    path.write_bytes(sealed({"model": packed, "preparation": None}))
    refused(path, "cannot be read as a model")


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
        "import numpy, sys; from dogc.persistence import load\n"
        "print(load(sys.argv[1]).predict(numpy.load(sys.argv[2])).tolist())"
    )
    arguments = [sys.executable, "-c", code, str(path), str(tmp_path / "new.npy")]
    printed = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == model.predict(X + 0.5).tolist()


def make_preparation():
    """A fitted Preparation with a column of each kind, and the frame it was fitted on."""
    pandas = pytest.importorskip("pandas")
    tables = pytest.importorskip("dogc.tables")
    frame = pandas.DataFrame(
        {
            "id": [f"r{i}" for i in range(12)],
            "size": [1.5, 2.0, None, 3.0] * 3,
            "count": list(range(0, 36, 3)),
            "colour": ["red", "green", "blue", None] * 3,
        }
    )
    return tables.Preparation().fit(frame), frame


def test_a_bundle_holds_all_that_was_saved(three_blobs, path):
    X, _ = three_blobs
    preparation, frame = make_preparation()
    summary = {"sizes": [20, 20, 20], "name": "Größe", "nothing": None, "share": 1 / 3}
    settings = {"method": "dogc-os", "parameters": {"n_clusters": 3}}
    save(DOGCOS(3).fit(X), path, preparation=preparation, summary=summary, settings=settings)
    bundle = load_bundle(path)
    assert bundle.summary == summary
    assert bundle.settings == settings
    assert bundle.format_version == saving.FORMAT_VERSION == 1
    assert bundle.library_version == dogc.__version__
    assert type(bundle.preparation) is type(preparation)
    assert_same(bundle.preparation.transform(frame), preparation.transform(frame))
    assert bundle.preparation.columns_ == preparation.columns_
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("dogc.json"))
    assert header["schema"] == preparation.schema()
    assert header["library_version"] == dogc.__version__


def test_a_model_alone_has_no_more(saved):
    assert load_bundle(saved)[1:4] == (None, None, None)


def test_the_trusted_types_are_exact(three_blobs, path):
    X, _ = three_blobs
    preparation, _ = make_preparation()
    models = [fitted(cls, X) for cls in EVERY]
    models += [
        DOGC("auto").fit(X),
        DOGC(3, n_representatives=20).fit(np.resize(X, (packing.LONG, 4))),
        make_pipeline(SimpleImputer(), DOGC(3)).fit(X),
    ]
    found = set()
    for model in models:
        save(model, path, preparation=preparation)
        found.update(skops_io.get_untrusted_types(file=path))
    assert sorted(found) == list(packing.TRUSTED_TYPES)


def test_the_tests_know_every_estimator():
    classes = {cls for cls in vars(dogc).values() if isinstance(cls, type)}
    assert {cls for cls in classes if issubclass(cls, BaseEstimator)} == set(EVERY)


def test_no_file_is_unpickled(three_blobs, path, monkeypatch):
    X, _ = three_blobs

    def refuse(*args, **kwargs):
        raise AssertionError("a model file was pickled or unpickled")

    model = DOGC(3).fit(X)
    for name in ("load", "loads", "dump", "dumps", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    load(save(model, path))


def one_sentence(error):
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def refused(path, match):
    with pytest.raises(ModelFileError, match=match) as error:
        load(path)
    assert str(path) in one_sentence(error)


def test_a_missing_file_is_refused(tmp_path):
    refused(tmp_path / "none.skops", "there is no model file")


def test_a_folder_is_refused(tmp_path):
    refused(tmp_path, "cannot read")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK", b"\x80\x04K\x01."], ids=repr)
def test_other_files_are_refused(content, path):
    path.write_bytes(content)
    refused(path, "not a model file written by dogc.save")


def test_other_archives_are_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    refused(path, r"not a model file written by dogc\.save; it holds a\.txt")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
def test_a_file_that_is_cut_short_is_refused(share, saved):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    refused(saved, "is cut short or damaged|was changed or damaged")


def test_no_changed_byte_goes_unseen(saved):
    data = saved.read_bytes()
    rng = np.random.default_rng(0)
    places = {*rng.integers(len(data), size=200).tolist(), *range(len(data) - 130, len(data))}
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(changed)
        with pytest.raises(ModelFileError) as error:
            load(saved)
        one_sentence(error)
    saved.write_bytes(data)
    load(saved)


def test_bytes_at_the_end_are_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"more")
    refused(saved, "damaged|not a model file")


def test_a_changed_number_is_told(saved):
    data = bytearray(saved.read_bytes())
    with zipfile.ZipFile(saved) as archive:
        entry = next(e for e in archive.infolist() if e.filename.endswith(".npy"))
    data[entry.header_offset + 60] ^= 1
    saved.write_bytes(data)
    refused(saved, "checksum does not match")


def test_a_later_format_is_refused(saved):
    data = saved.read_bytes()
    saved.write_bytes(data.replace(b"dogc model, format 1,", b"dogc model, format 2,"))
    refused(saved, r"model format 2 and this dogc reads up to 1; upgrade")


class Stranger(TransformerMixin, BaseEstimator):
    """A type that no list trusts."""

    def fit(self, X, y=None):
        self.done_ = True
        return self

    def transform(self, X):
        return X


def sealed(content):
    """A file as save would write it, were all types trusted."""
    header = {"format_version": 1, "library_version": "0", "summary": None, "settings": None}
    return saving._seal(skops_io.dumps(content), json.dumps(header).encode())


def test_other_types_are_refused_by_name(path):
    path.write_bytes(sealed({"model": Stranger().fit(None), "preparation": None}))
    refused(path, rf"does not trust: {re.escape(__name__)}\.Stranger\.$")


def test_a_function_in_a_file_is_not_run(path):
    path.write_bytes(sealed({"model": subprocess.run, "preparation": None}))
    refused(path, r"does not trust: subprocess\.run\.$")


def test_files_of_skops_itself_are_refused_with_what_they_hold(path):
    skops_io.dump({"a": Stranger().fit(None)}, path)
    refused(path, rf"it holds .*{re.escape(__name__)}\.Stranger")
    skops_io.dump(StandardScaler(), path)
    refused(path, r"it holds sklearn\.preprocessing\._data\.StandardScaler")


@pytest.mark.parametrize("content", [None, [1, 2], {"model": 3}], ids=repr)
def test_a_sealed_file_without_a_model_is_refused(content, path):
    path.write_bytes(sealed(content))
    refused(path, "cannot be read as a model")


def test_indices_out_of_range_are_refused(three_blobs, path):
    X, _ = three_blobs
    packed = packing.pack(DOGC(3).fit(X))
    stored = packed.affinity_matrix_
    indices = stored.indices.copy()
    indices[0] = 10**6
    packed.affinity_matrix_ = stored._replace(indices=indices)
    path.write_bytes(sealed({"model": packed, "preparation": None}))
    refused(path, "cannot be read as a model")


def refused_to_save(model, path, match, error=ModelFileError, **more):
    with pytest.raises(error, match=match) as raised:
        save(model, path, **more)
    if error is ModelFileError:
        one_sentence(raised)
    assert not list(path.parent.iterdir())


def test_types_that_could_not_be_loaded_are_not_saved(three_blobs, path):
    X, _ = three_blobs
    model = make_pipeline(Stranger(), DOGC(3)).fit(X)
    refused_to_save(model, path, r"not loaded from files: .*Stranger")
    model = DOGC(3, neighbors_algorithm=KNeighborsTransformer(metric=lambda a, b: abs(a - b).sum()))
    refused_to_save(model.fit(X[:30]), path, "not loaded from files: .*<lambda>")


def test_only_fitted_estimators_are_saved(path):
    refused_to_save({"a": 1}, path, "only fitted estimators can be saved, not dict")
    refused_to_save(DOGC(3), path, "not fitted", NotFittedError)


def test_settings_must_fit_into_json(three_blobs, path):
    X, _ = three_blobs
    refused_to_save(DOGC(3).fit(X), path, "must fit into JSON", settings={"a": X})


def test_an_error_leaves_the_old_file_and_nothing_else(three_blobs, saved, monkeypatch):
    X, _ = three_blobs
    before = saved.read_bytes()
    model = DOGC(3).fit(X)

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(ModelFileError, match=r"cannot write .*: No space left on device\.$"):
        save(model, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_folder_is_not_overwritten(three_blobs, tmp_path):
    X, _ = three_blobs
    with pytest.raises(ModelFileError, match="cannot write"):
        save(DOGC(3).fit(X), tmp_path)
    assert not list(tmp_path.glob("*.part"))


def test_folders_are_made(three_blobs, tmp_path):
    X, _ = three_blobs
    path = save(DOGC(3).fit(X), str(tmp_path / "a" / "b.skops"))
    assert path.is_file()


def test_skops_is_asked_for_by_name(saved, monkeypatch):
    model = load(saved)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install 'dogc\[cli\]'"):
        save(model, saved)
    with pytest.raises(ImportError, match=r"pip install 'dogc\[cli\]'"):
        load(saved)


class Shy(TransformerMixin, BaseEstimator):
    """A type that will not be written down."""

    def fit(self, X, y=None):
        self.done_ = True
        return self

    def transform(self, X):
        return X

    def __getstate__(self):
        raise RuntimeError("not\nme.")


def test_what_skops_cannot_write_is_refused(three_blobs, path):
    X, _ = three_blobs
    model = make_pipeline(Shy(), DOGC(3)).fit(X)
    refused_to_save(model, path, r"no file can hold \(RuntimeError: not me\)\.$")


def test_rows_are_stored_once(path):
    X = np.random.default_rng(0).standard_normal((3000, 12))
    model = DOGC(2, n_neighbors=5, n_components=None, max_iter=2).fit(X)
    with zipfile.ZipFile(io.BytesIO(save(model, path).read_bytes())) as archive:
        rows = [entry for entry in archive.infolist() if entry.file_size >= X.nbytes]
    assert len(rows) == 1

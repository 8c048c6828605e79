"""Model files: what comes back is what went in, and everything else is refused in one sentence."""

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dogc
from dogc import DOGC, MixedEncoder, NormalizedCut, load, load_bundle, save
from dogc.app.commands.command_line import run
from dogc.app.models import packing, saving
from dogc.app.models.saving import ModelFileError

skops_io = pytest.importorskip("skops.io")

from fuzz import model_files as forger  # noqa: E402
from fuzz.harness import Broken  # noqa: E402
from fuzz.model_files import X  # noqa: E402


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.fixture(scope="module")
def model():
    return DOGC(3).fit(X)


@pytest.fixture
def saved(model, path):
    return save(model, path)


def assert_same(a, b):
    """Equal to the last bit, type by type."""
    assert type(a) is type(b)
    if sp.issparse(a):
        for part in ("indptr", "indices", "data"):
            assert_same(getattr(a, part), getattr(b, part))
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
    elif isinstance(a, BaseEstimator):
        assert_same_attributes(a, b)
    elif not isinstance(a, np.random.RandomState | np.random.Generator):
        assert a == b or (a != a and b != b)


def assert_same_attributes(a, b):
    public = {name for name in vars(a) if not name.startswith("_")}
    assert public == {name for name in vars(b) if not name.startswith("_")}
    for name in public:
        assert_same(getattr(a, name), getattr(b, name))


def result(model, method, rows):
    try:
        return getattr(model, method)(rows)
    except (AttributeError, ValueError) as error:  # a method that this model does not have
        return str(error)


def assert_same_model(model, again, new):
    assert_same(model, again)
    for method in forger.METHODS:
        assert_same(result(model, method, new), result(again, method, new))
    assert not isinstance(result(model, "predict", new), str) or not hasattr(model, "predict")


# --- what comes back ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", forger.MODELS)
def test_models_come_back(name, path):
    model, preparation, rows = forger.fitted(name)
    again = load_bundle(save(model, path, preparation=preparation))
    assert_same_model(model, again.model, (rows * 1.01)[:500])
    if preparation is not None:
        assert_same_attributes(preparation, again.preparation)
        assert_same(preparation.transform(forger.MIXED), again.preparation.transform(forger.MIXED))


def test_models_of_every_class_and_with_every_evidence_were_among_them():
    models = [forger.fitted(name)[0] for name in forger.MODELS]
    classes = {cls for cls in vars(dogc).values() if isinstance(cls, type)} - {MixedEncoder}
    assert {cls for cls in classes if issubclass(cls, BaseEstimator)} <= {*map(type, models)}
    held = {name for model in models for name in vars(model)}
    assert {"starts_", "scales_", "cluster_counts_", "geometries_", "outliers_"} <= held
    assert forger.fitted("DOGC, principal")[0].geometry_ == "principal"
    assert forger.fitted("DOGCOS, neighbors")[0].rule_ == "neighbors"


def test_models_of_dask_rows_come_back_with_arrays(path):
    dask = pytest.importorskip("dask.array")
    model = DOGC(3).fit(dask.from_array(X, chunks=(20, 3)))
    again = load(save(model, path))
    assert isinstance(again.labels_, np.ndarray)
    assert_same(again.predict(X), model.predict(X))


@pytest.mark.slow  # compiles for a minute
def test_a_search_by_pynndescent_finds_the_same_after_loading(path):
    pytest.importorskip("pynndescent")
    rng = np.random.default_rng(0)
    rows = 6.0 * np.eye(3, 4)[np.arange(600) % 3] + rng.standard_normal((600, 4))
    model = DOGC(3, n_neighbors=10, neighbors_algorithm="pynndescent").fit(rows)
    assert_same_model(model, load(save(model, path)), 3.0 * rng.standard_normal((2000, 4)))


def stored_bytes(path):
    """All that a file holds, not compressed."""
    return b"".join(forger.opened(path.read_bytes()).values())


def test_representatives_come_back_without_the_rows(path):
    rows, _ = make_moons(12_000, noise=0.1, random_state=0)
    model = NormalizedCut(2, random_state=0).fit(rows)
    again = load(save(model, path))
    assert_same_model(model, again, rows + 0.1)
    assert path.stat().st_size < 150_000
    held = stored_bytes(path)
    assert model.representatives_[0].tobytes() in held  # what is looked for would be found
    assert not [i for i, row in enumerate(rows) if row.tobytes() in held]


@pytest.mark.slow
def test_the_file_of_a_million_rows_is_small(path):
    rows, _ = make_moons(1_000_000, noise=0.1, random_state=0)
    model = DOGC(2, n_jobs=1).fit(rows)
    again = load(save(model, path))
    assert path.stat().st_size < 2_000_000
    assert_same(again.labels_, model.labels_)
    assert_same(again.predict(rows[:10_000]), model.predict(rows[:10_000]))


def test_rows_are_stored_once_and_trees_not_at_all(path):
    rows = np.random.default_rng(0).standard_normal((3000, 12))
    model = DOGC(2, n_neighbors=5, n_components=None, max_iter=2).fit(rows)
    again = load(save(model, path))
    held = forger.opened(path.read_bytes())
    assert len([content for content in held.values() if len(content) >= rows.nbytes]) == 1
    assert b"Tree" not in held["schema.json"]
    assert b'"__module__": "dogc' not in held["schema.json"]  # a class of ours may move
    assert model._fitted_rows.search.search._tree is not None  # the saved model keeps its own
    assert again._fitted_rows.search.search._tree is not None


def test_a_wide_table_is_stored_as_few_texts(model, path):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        rng.standard_normal((12, 1000)), columns=[f'é"{j}' for j in range(1000)]
    )
    preparation = MixedEncoder().fit(frame.assign(kind=["a", "b", None] * 4))
    save(model, path, preparation=preparation)
    assert_same_attributes(preparation, load_bundle(path).preparation)
    assert stored_bytes(path).count(b"__loader__") < 1000
    for item in (np.int64(1), (1,), {1: 2}, 1 + 2j):  # JSON would change it
        assert type(packing.pack([*range(1000), item])) is list


def test_what_came_later_is_at_its_default():
    packed = packing.pack(NormalizedCut(3, n_representatives=None).fit(X))
    del packed["state"]["n_representatives"]  # as an earlier release would have it
    assert packing.unpack(packed).n_representatives == "auto"
    packed = packing.pack(DOGC(3).fit(X))
    del packed["state"]["_fitted_rows"]["state"]["stray"]
    assert packing.unpack(packed)._fitted_rows.stray is None


def test_a_callback_is_left_out(path):
    model = DOGC(3, callback=lambda record: False).fit(X)
    assert load(save(model, path)).callback is None
    assert model.callback is not None


def test_names_of_columns_are_still_compared(path):
    model, _, frame = forger.fitted("names")
    with pytest.raises(ValueError, match="feature names"):
        load(save(model, path)).predict(frame[list("cba")])


def test_another_process_labels_rows_the_same(model, saved, tmp_path):
    np.save(tmp_path / "new.npy", X + 0.5)
    code = (
        "import dogc, numpy, sys\n"
        "print(dogc.load(sys.argv[1]).predict(numpy.load(sys.argv[2])).tolist())\n"
        "assert 'torch' not in sys.modules"  # it takes seconds
    )
    arguments = [sys.executable, "-c", code, str(saved), str(tmp_path / "new.npy")]
    printed = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == model.predict(X + 0.5).tolist()


def test_a_bundle_holds_all_that_was_saved(model, path):
    summary = {"sizes": [20, 20, 20], "name": "Größe", "nothing": None, "share": 1 / 3}
    settings = {"method": "dogc", "parameters": {"n_clusters": 3}}
    bundle = load_bundle(save(model, path, summary=summary, settings=settings))
    assert bundle[1:4] == (None, summary, settings)
    assert bundle[4:] == (saving.FORMAT_VERSION, dogc.__version__)
    assert load_bundle(save(model, path))[1:4] == (None, None, None)


def test_no_file_is_unpickled(model, path, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a model file was pickled or unpickled")

    for name in ("load", "loads", "dump", "dumps", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    load(save(model, path))


# --- what is refused ----------------------------------------------------------------------------


def refused(path, match, data=None):
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as error:
        load(path)
    said = str(error.value)
    assert str(path) in said
    assert said.endswith(".")
    assert "\n" not in said
    assert len(said) < 800


def test_what_cannot_be_read_is_refused(tmp_path):
    refused(tmp_path / "none.skops", "cannot read .*: No such file")
    refused(tmp_path, "cannot read")
    if os.path.exists("/dev/zero"):  # has no end
        refused("/dev/zero", "is not a model file")


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "a")
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"PK", b"\x80\x04K\x01.", zipped(), skops_io.dumps([1])]
)
def test_other_files_are_refused(content, path):
    refused(path, r"is not a model file written by dogc\.save.*save the model again", content)


def test_damage_is_refused(saved):
    data = saved.read_bytes()
    for share in (0.01, 0.3, 0.9, 0.999):
        refused(saved, "cut short; copy it again", data[: int(share * len(data))])
    refused(saved, "not a model file", data + b"more")
    middle = bytearray(data)
    middle[len(data) // 2] ^= 1
    refused(saved, "checksum does not match; copy it again", bytes(middle))
    rng = np.random.default_rng(0)
    for place in {*rng.integers(len(data), size=200).tolist(), *range(len(data) - 130, len(data))}:
        changed = bytearray(data)
        changed[place] ^= 1 << int(rng.integers(8))
        refused(saved, "save the model again|reads format", bytes(changed))
    saved.write_bytes(data)
    load(saved)


@pytest.mark.parametrize(
    ("version", "remedy"), [(1, "fit and save the model again"), (3, "upgrade it"), (10**8, "upgr")]
)
def test_other_formats_are_refused(version, remedy, path):
    data = forger.sealed(forger.opened(forger.original("DOGC")), version)
    refused(path, rf"has model format {version}, and this dogc reads format 2; {remedy}", data)


class Stranger(TransformerMixin, BaseEstimator):
    """A type that no list trusts."""

    def fit(self, X, y=None):
        self.done_ = True
        return self

    def transform(self, X):
        return X


class Shy(Stranger):
    """A type that will not be written down."""

    def __getstate__(self):
        raise RuntimeError("not\nme.")


def sealed(model, preparation=None):
    """A file as save would write it, were all types trusted."""
    header = json.dumps({"library_version": "0", "summary": None, "settings": None})
    return saving.sealed(skops_io.dumps({"model": model, "preparation": preparation}), header)


def test_other_types_are_refused_by_name(model, path):
    for other, name in (
        (Stranger().fit(None), rf"{__name__}\.Stranger"),
        (subprocess.run, r"subprocess\.run"),
        (RandomTreesEmbedding(3).fit(X), r"sklearn\.ensemble\._forest\.Random.*tree\._tree\.Tree"),
        (sp.csr_matrix(X), r"scipy\.sparse.*csr_matrix"),  # its indices would be read unchecked
        (model, r"dogc\.estimators\._dogc\.DOGC"),  # in the skops way
    ):
        refused(path, rf"types that dogc does not trust: .*{name}", sealed(other))


def kinds_of_nodes():
    from skops.io._audit import NODE_TYPE_MAPPING

    return sorted({name for name, _ in NODE_TYPE_MAPPING} - saving.LOADERS)


@pytest.mark.parametrize("kind", kinds_of_nodes())
def test_nodes_that_call_something_are_refused(kind, path):
    entries = forger.opened(forger.original("pipeline"))
    schema = json.loads(entries["schema.json"])
    call = {"__class__": "mean", "__module__": "numpy", "__loader__": kind, "content": {}}
    schema["content"]["model"]["content"]["memory"] = call
    data = forger.sealed(entries | {"schema.json": json.dumps(schema).encode()})
    refused(path, r"does not trust: numpy\.mean\)", data)


def test_what_runs_while_a_file_is_read_would_be_seen(tmp_path):
    for run_it in (lambda: os.system(""), lambda: (tmp_path / "a").write_text("a")):
        with pytest.raises(Broken, match="a file ran"), forger.nothing_runs():
            run_it()


def test_sealed_files_without_a_model_are_refused(model, path):
    unfitted = packing.pack(DOGC(3))
    for content in (3, [1, 2], StandardScaler().fit(X), unfitted, {"dogc": "DOGC"}):
        refused(path, "cannot be read as a model", sealed(content))
    for name in ("Popen", "dogc.DOGC", "object", "spectral_rotation", "", 3):
        data = sealed({"dogc": name, "state": {"args": "ls"}})
        refused(path, "this dogc does not know", data)
    refused(path, "preparation by MixedEncoder", sealed(packing.pack(model), StandardScaler()))


def test_forged_parts_are_refused(path):
    def forged(change, model):
        packed = packing.pack(model)
        change(packed["state"])
        return sealed(packed)

    def add(name):
        return lambda state: state.update({name: 3})

    def far(state):
        held = state["affinity_matrix_"]["state"]
        held["indices"] = held["indices"] + 10**6

    model = DOGC(3).fit(X)
    for name in ("predict", "colour"):
        refused(path, rf"this dogc does not know DOGC\.{name}", forged(add(name), model))
    refused(
        path, "colour", forged(lambda state: add("colour")(state["_fitted_rows"]["state"]), model)
    )
    refused(path, "indices", forged(far, model))  # would be read unchecked
    narrow = KMeans(3, n_init=1).fit(X)
    narrow.cluster_centers_ = narrow.cluster_centers_[:, :1].copy()
    refused(path, "centres do not fit", sealed(packing.pack(narrow)))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: {"a": 1}, "dict is not a model of dogc; pass a fitted estimator"),
        (lambda: StandardScaler().fit(X), "StandardScaler is not a model of dogc"),
        (lambda: make_pipeline(DOGC(3), StandardScaler()), "StandardScaler is not"),
        (lambda: make_pipeline(Stranger(), DOGC(3)).fit(X), "not loaded from files: .*Stranger"),
        (lambda: make_pipeline(Shy(), DOGC(3)).fit(X), r"saved \(RuntimeError: not me\)\.$"),
        (lambda: make_pipeline(RandomTreesEmbedding(3), DOGC(3)).fit(X), r"_tree\.Tree; leave"),
        (lambda: DOGC(3, neighbors_algorithm=KNeighborsTransformer(
            metric=lambda a, b: abs(a - b).sum())).fit(X), "not loaded from files: .*<lambda>"),
    ],
)  # fmt: skip
def test_what_could_not_be_loaded_is_not_saved(make, match, path):
    with pytest.raises(ModelFileError, match=match):
        save(make(), path)
    assert not list(path.parent.iterdir())


def test_only_fitted_models_and_settings_that_fit_into_json_are_saved(model, path):
    with pytest.raises(NotFittedError):
        save(DOGC(3), path)
    with pytest.raises(ModelFileError, match=r"cannot be saved .*JSON"):
        save(model, path, settings={"a": X})


def test_an_error_leaves_the_old_file_and_nothing_else(model, saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(ModelFileError, match=r"cannot write .*: the disk is full"):
        save(model, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_forged_summary_is_no_report(model, path, capsys):
    for summary in ({}, {"source": 3}, {"source": "a", "clusters_found": 3, "points": []}):
        save(model, path, summary=summary, settings={"source": 3})
        assert run(["report", str(path), "--out", f"{path}.html"]) == 2
        assert "holds no report; use a file that dogc cluster wrote." in capsys.readouterr().err
        assert run(["info", str(path), "--json"]) == 0
        assert '"estimator": "DOGC"' in capsys.readouterr().out

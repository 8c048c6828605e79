"""Model files that somebody wrote who knows the format: refused, at once and in one sentence."""

import io
import json
import struct
import time
import zipfile
from inspect import signature

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

pytest.importorskip("skops.io")

from dogc.app.model_files import archive, checking, contents, packing, saving
from dogc.app.model_files.saving import ModelFileError

from conftest import CLUSTERERS, made
from dogc import (
    DOGC,
    DOGCOS,
    LPP,
    LSC,
    SEC,
    DiscriminativeKMeans,
    KMultipleMeans,
    MixedEncoder,
    NormalizedCut,
    load,
    load_bundle,
    save,
)
from dogc.app.commands.command_line import run
from fuzz import model_files as forger


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def refused(path, data, match, seconds=5.0):
    path.write_bytes(data)
    began = time.process_time()
    with pytest.raises(ModelFileError, match=match) as error:
        load(path)
    assert time.process_time() - began < seconds
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 800


def entries(name="DOGC"):
    return forger.opened(forger.original(name))


def with_entry(name, content):
    return forger.sealed([*(entries() | {name: content}).items()])


def changed_header(**changes):
    header = json.loads(entries()["dogc.json"])
    return with_entry("dogc.json", json.dumps(header | changes).encode())


@pytest.mark.parametrize("version", ["0", "-1", "2.0", "two", "02", "", "True", "9" * 5000])
def test_marks_of_other_versions_are_refused(version, path):
    mark = f"dogc model, format {version}, sha256 ".encode()
    refused(path, forger.sealed([*entries().items()], mark), "checksum does not match")


def test_later_versions_are_refused(path):
    data = forger.sealed([*entries().items()], b"dogc model, format 999999999, sha256 ")
    refused(path, data, "reads up to 2; upgrade it")


@pytest.mark.parametrize("version", [0, -2, 3, True, 2.0, "2", None, [2]], ids=repr)
def test_headers_of_other_versions_are_refused(version, path):
    refused(
        path, changed_header(format_version=version), r"two versions|not what dogc\.save writes"
    )


@pytest.mark.parametrize(
    "changes",
    [{"summary": 3}, {"settings": [1]}, {"library_version": None}, {"summary": "\ud800"}],
    ids=repr,
)
def test_headers_of_another_shape_are_refused(changes, path):
    refused(path, changed_header(**changes), r"not what dogc\.save writes")


def test_a_header_with_half_a_letter_is_refused(path):
    refused(path, changed_header(settings={"a": "\ud800"}), "cannot be read as a model")


def test_a_number_of_5000_digits_is_refused(path):
    header = entries()["dogc.json"].replace(b": 2,", b": " + b"9" * 5000 + b",")
    refused(path, with_entry("dogc.json", header), "more than 20 digits")


def test_many_megabytes_of_spaces_are_refused(path):
    content = entries()["dogc.json"] + b" " * 70_000_000
    refused(path, with_entry("dogc.json", content), "unpack", seconds=1.0)


def test_entries_that_unpack_to_more_than_they_say_are_refused(path):
    data = bytearray(with_entry("dogc.json", entries()["dogc.json"] + b" " * 20_000_000))
    true = struct.pack("<I", len(entries()["dogc.json"]) + 20_000_000)
    assert data.count(true) == 2  # before the entry and in the directory
    data = bytes(data).replace(true, struct.pack("<I", 400))
    refused(path, forger.resealed(data), "cannot be read as a model", seconds=1.0)


def test_entries_that_unpack_large_together_are_refused(path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 1 << 20)
    zeros = forger.saved_array(np.zeros(1 << 16))
    held = [*entries().items(), *((f"more{i}.npy", zeros) for i in range(5))]
    refused(path, forger.sealed(held), "unpack to more than 1 MB", seconds=1.0)


def test_deep_and_crowded_texts_are_refused(path):
    for text in (b"[" * 100_000, b"[" * 500 + b"]" * 500):
        refused(path, with_entry("dogc.json", text), "nested too deeply")
    refused(path, with_entry("dogc.json", b"[" + b"0," * 4_000_001 + b"0]"), "too long")


def test_a_tree_that_refers_to_itself_is_not_followed(path):
    """A few bytes that would stand for 2**60 lists."""
    root = json.loads(entries()["schema.json"])
    kind = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    inner = kind | {"content": [], "__id__": 1000}
    for number in range(1001, 1030):
        below = [inner, kind | {"content": [], "__id__": number - 1}]
        inner = kind | {"content": below, "__id__": number}
    root["content"]["model"]["content"]["state"]["content"]["labels_"] = inner
    refused(path, with_entry("schema.json", json.dumps(root).encode()), "cannot be read as a model")


@pytest.mark.parametrize("name", ["../a.npy", "/a.npy", "a/b.npy", "é.npy", "x" * 200, "a.pkl"])
def test_entries_with_other_names_are_refused(name, path):
    held = [*entries().items(), (name, b"")]
    refused(path, forger.sealed(held), "an entry that does not belong in a model file")


def test_two_entries_of_one_name_are_refused(path):
    held = [*entries().items(), ("dogc.json", entries()["dogc.json"])]
    refused(path, forger.sealed(held), "two entries with the same name")


def directory(data, number, offset, value):
    """The file with a number in the directory's line of one entry changed."""
    start = -1
    for _ in range(number + 1):
        start = data.index(b"PK\x01\x02", start + 1)
    place = start + offset
    return forger.resealed(data[:place] + value + data[place + len(value) :])


def test_entries_that_are_encrypted_overlap_or_are_packed_otherwise_are_refused(path):
    data = forger.original("DOGC")
    refused(path, directory(data, 1, 8, b"\x01\x00"), "encrypted")
    refused(path, directory(data, 1, 10, b"\x0c\x00"), "packed in another way")
    refused(path, directory(data, 1, 42, b"\x00\x00\x00\x00"), "overlap")


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.array([{}, print], dtype=object), "of a type that no model has"),
        (np.zeros(3, dtype=[("a", float)]), "of a type that no model has"),
        (np.zeros(3, dtype=">f8"), "of a type that no model has"),
        (np.zeros((10**12, 0)), "not as long as it says"),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_arrays_that_no_model_has_are_refused(array, match, path):
    name = next(name for name in entries() if name.endswith(".npy"))
    refused(path, with_entry(name, forger.saved_array(array)), match)


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(-1,)", "(3", "('a',)"])
def test_heads_of_arrays_that_lie_are_refused(shape, path):
    name = next(name for name in entries() if name.endswith(".npy"))
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\x00" * 64
    refused(path, with_entry(name, content), "an array")


def test_what_shrinks_too_well_is_stored_as_it_is(path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 1000)
    monkeypatch.setattr(archive, "MOST_TIMES", 1.5)
    model = DOGC(3).fit(forger.X)
    again = load(save(model, path))
    assert again.predict(forger.X).tolist() == model.predict(forger.X).tolist()


def test_trees_of_scikit_learn_are_neither_saved_nor_loaded(path):
    X = forger.X
    model = make_pipeline(RandomTreesEmbedding(3, random_state=0), DOGC(3)).fit(X)
    with pytest.raises(ModelFileError, match=r"not loaded from files: sklearn\.tree\._tree\.Tree"):
        save(model, path)
    tree = json.loads(entries("pipeline")["schema.json"])
    step = json.dumps(tree).replace("sklearn.preprocessing._data", "sklearn.ensemble._forest")
    step = step.replace('"StandardScaler"', '"RandomTreesEmbedding"').encode()
    held = entries("pipeline") | {"schema.json": step}
    refused(
        path, forger.sealed([*held.items()]), r"does not trust: sklearn\.ensemble\._forest\.Random"
    )


def test_a_file_without_a_model_of_ours_is_refused(path):
    scaler = StandardScaler().fit(forger.X)
    with pytest.raises(ModelFileError, match="does not contain a model of this library"):
        save(scaler, path)
    model = KMeans(3, n_init=1).fit(forger.X)  # that dogc cluster --method k-means makes
    assert load(save(model, path)).predict(forger.X).tolist() == model.labels_.tolist()


def forged(change, model=None):
    """The file of a model whose parts were changed."""
    packed = packing.pack((model or DOGCOS(3)).fit(forger.X))
    change(packed["state"])
    buffer = saving._skops().dumps({"model": packed, "preparation": None})
    with zipfile.ZipFile(io.BytesIO(buffer)) as found:
        held = {name: found.read(name) for name in found.namelist()}
    return saving._seal(held, json.dumps(json.loads(entries()["dogc.json"])).encode())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("metric", StandardScaler()),
        ("n_jobs", 10**6),
        ("n_jobs", "all"),
        ("n_clusters", 10**400),
        ("n_clusters", 2.5),
        ("device", "gpu"),
        ("neighbors_algorithm", "fastest"),
        ("outlier_label", 3),
        ("alpha", float("nan")),
        ("random_state", "0"),
        ("n_clusters_", 4),
        ("n_features_in_", 0),
        ("n_features_in_", 4),
        ("rule_", "oracle"),
        ("coef_", np.zeros((3, 4))),
        ("coef_", np.full((3, 3), np.nan)),
        ("coef_", None),
        ("intercept_", np.zeros(2)),
        ("labels_", np.full(36, 3)),
        ("labels_", np.zeros(36)),
        ("similarity_matrix_", sp.eye_array(35, format="csr")),
        ("_fitted_rows", None),
        ("_fitted_rows", np.zeros(3)),
        ("history_", [1, 2]),
        ("timings_", {"rows": "long"}),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_parts_that_do_not_fit_are_refused(name, value, path):
    def change(state):
        state[name] = packing.pack(value)

    refused(path, forged(change), f"{name}|of what is . elsewhere|of what is .. elsewhere")


@pytest.mark.parametrize(
    "name", ["labels_", "n_clusters_", "n_features_in_", "_fitted_rows", "coef_"]
)
def test_parts_that_are_missing_are_refused(name, path):
    refused(path, forged(lambda state: state.pop(name)), "missing|go together")


def test_changed_arrays_inside_are_refused(path):
    def change(state):
        state["_fitted_rows"]["state"]["labels"] = np.full(36, -1)

    refused(path, forged(change), r"FittedRows\.labels must be an array of labels")


@pytest.mark.parametrize(
    ("model", "part", "field", "value"),
    [
        (DOGC(3), "_fitted_rows", "labels", lambda was: was.astype(np.uint64)),
        (DOGC(3), "_fitted_rows", "xi", lambda was: 0.0),
        (NormalizedCut(3), "_voters", "sigma", np.zeros_like),
        (KMultipleMeans(3, n_prototypes=6), "_fitted_rows", "labels", lambda was: was + 40),
    ],
    ids=["unsigned labels", "no width", "no bandwidth", "labels without members"],
)
def test_values_that_would_stop_a_prediction_are_refused(model, part, field, value, path):
    def change(state):
        inside = state[part]["state"]
        inside[field] = value(inside[field])
        if "prototype_labels_" in state:
            state["prototype_labels_"] = inside["labels"]

    refused(path, forged(change, model), rf"{field}")


def test_an_origin_out_of_reach_is_refused(path):
    def change(state):
        scaled = state["_fitted_rows"]["state"]["frame"]["state"]["scaled"]["state"]
        scaled["origin"], scaled["unit"] = np.full(3, 1e300), 1e-20

    refused(path, forged(change, LSC(3, n_landmarks=9)), r"Scaled\.origin is too far away")


def test_centres_out_of_reach_are_refused(path):
    model = KMeans(3, n_init=1).fit(forger.X)
    model.cluster_centers_[0] = 1e300  # squares of distances would be no numbers
    with pytest.raises(
        ModelFileError, match=r"KMeans\.cluster_centers_ must be an array of moderate"
    ):
        save(model, path)


@pytest.mark.parametrize("cls", [SEC, DiscriminativeKMeans])
def test_centres_of_ours_out_of_reach_are_refused(cls, path):
    def change(state):
        state["cluster_centers_"] = np.full_like(state["cluster_centers_"], 1e200)

    refused(path, forged(change, cls(3)), r"cluster_centers_ must be an array of moderate")


def test_a_search_with_arguments_of_its_own_is_refused(path):
    model = DOGC(3).fit(forger.X)
    model._fitted_rows.search.search.effective_metric_params_ = {"a": 1}
    with pytest.raises(ModelFileError, match="a search with a plain metric"):
        save(model, path)


def test_a_node_without_a_name_is_refused(path):
    refused(path, with_entry("schema.json", b"{}"), "tree of parts is broken")


def test_what_could_not_be_loaded_is_not_saved(path):
    model = DOGC(3).fit(forger.X).set_params(n_jobs=0)
    with pytest.raises(ModelFileError, match=r"cannot be saved \(DOGC\.n_jobs .*; fit it again"):
        save(model, path)
    assert not path.exists()


def test_a_pipeline_whose_steps_do_not_fit_is_refused(path):
    model = make_pipeline(StandardScaler(), DOGCOS(3)).fit(forger.X)
    model[0].mean_ = model[0].mean_[:2]
    with pytest.raises(ModelFileError, match=r"StandardScaler\.mean_"):
        save(model, path)
    model = make_pipeline(FunctionTransformer(np.log1p), DOGCOS(3)).fit(forger.X)
    assert load(save(model, path)).predict(forger.X).tolist() == model.predict(forger.X).tolist()
    model.steps[1] = ("dogcos", DOGCOS(3).fit(forger.X[:, :2]))
    with pytest.raises(ModelFileError, match="last step does not fit"):
        save(model, path)


def fitted_models():
    X = forger.X
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))
    for cls in (*CLUSTERERS, LPP):
        yield made(cls, 3, n_neighbors=8).fit(X)
    yield DOGCOS(3, n_representatives=12, rule="auto").fit(frame)
    yield NormalizedCut(3, n_representatives=12).fit(X)
    yield DOGC("auto", n_components=2).fit(X)


def inside(value):
    """The value and all that it holds."""
    yield value
    if isinstance(value, BaseEstimator):
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from inside(item)


def test_the_table_has_a_line_for_everything_that_is_stored():
    """An attribute, a field or a parameter that came later needs one, or no file could hold it."""
    seen = set()
    for model in fitted_models():
        own = signature(type(model)).parameters
        assert set(own) <= set(checking.PARAMETERS)
        assert set(vars(model)) - set(own) <= set(contents.ATTRIBUTES)
        for part in inside(model):
            if isinstance(part, tuple) and hasattr(part, "_fields"):
                assert set(part._fields) == set(contents.PARTS[type(part)])
                seen.add(type(part))
    assert seen == set(contents.PARTS)
    assert {cls for cls in packing.STORED.values() if issubclass(cls, tuple)} == seen


def every_forgery(name):
    held = entries(name)
    for array in sorted(file for file in held if file.endswith(".npy")):
        with np.errstate(all="ignore"):
            rng = np.random.default_rng(0)
            others = forger.forgeries(rng, np.load(io.BytesIO(held[array])))
        for other in others.values():
            yield array, other


def harmless_or_refused(name, array, other, path):
    held = entries(name) | {array: forger.saved_array(other)}
    path.write_bytes(forger.sealed([*held.items()], forger.mark_of(forger.original(name))))
    try:
        bundle = load_bundle(path)
    except ModelFileError as error:
        forger.one_sentence(error)
    else:
        forger.check_bundle(bundle, path, commands=False)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", [*forger.MODELS, *forger.OLD_MODELS])
def test_some_forged_arrays_do_no_harm(name, path):
    found = list(every_forgery(name))
    for place in np.random.default_rng(7).choice(len(found), 4, replace=False):
        array, other = found[place]
        harmless_or_refused(name, array, other, path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", [*forger.MODELS, *forger.OLD_MODELS])
def test_no_forged_array_does_harm(name, path):
    for array, other in every_forgery(name):
        harmless_or_refused(name, array, other, path)


def test_a_scatter_that_rows_cannot_be_divided_by_is_refused(path):
    def change(state):
        state["_fitted_rows"]["state"]["scaled"]["state"]["scatter"] = 1e-320

    refused(path, forged(change), r"Scaled\.scatter must be a finite number")


@pytest.mark.parametrize("cls", [LSC, KMultipleMeans])
def test_labels_that_new_rows_would_get_alone_are_refused(cls, path):
    model = cls(3).fit(np.random.default_rng(0).standard_normal((30, 2)))
    model.labels_ = np.zeros_like(model.labels_)
    with pytest.raises(ModelFileError, match="labels_ does not fit what gives labels"):
        save(model, path)


def test_labels_that_no_row_was_given_are_refused(path):
    path.write_bytes(forger.original("NormalizedCut"))
    model = load(path)
    labels = model._voters.labels.copy()
    labels[0] = 3  # a fourth cluster, which labels_ does not know
    model._voters = model._voters._replace(labels=labels)
    with pytest.raises(ModelFileError, match="labels_ does not fit what gives labels"):
        save(model, path)


@pytest.mark.parametrize(
    "summary", [{}, {"source": 3}, {"source": "a", "clusters_found": 3, "points": []}], ids=repr
)
def test_a_forged_summary_is_no_report(summary, path, capsys):
    path.write_bytes(changed_header(summary=summary))
    assert run(["report", str(path), "--out", f"{path}.html"]) == 2
    assert "holds no report; use a file that dogc cluster wrote." in capsys.readouterr().err
    assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize(
    "settings",
    [{"clusters": [1]}, {"clusters": {"0": "many"}}, {"parameters": 3}, {"source": ["[red]"]}],
    ids=repr,
)
def test_forged_settings_are_told_as_far_as_they_go(settings, path, capsys):
    path.write_bytes(changed_header(settings=settings))
    for more in ([], ["--json"]):
        assert run(["info", str(path), *more]) == 0
    assert '"estimator": "DOGC"' in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.plans_["day"].update(format="%Y%Y"),
        lambda table: table.plans_["x"].update(median=1e200),
        lambda table: table.scale_.__setitem__(0, 1e-320),
        lambda table: table.mean_.__setitem__(0, -1e300),
    ],
    ids=["format", "median", "scale", "mean"],
)
def test_preparations_that_would_fail_on_rows_are_refused(change):
    pandas = pytest.importorskip("pandas")
    days = [f"{day:02}.01.2020" for day in range(1, 29)] * 2
    table = MixedEncoder().fit(pandas.DataFrame({"x": np.linspace(0, 9, 56) ** 2, "day": days}))
    checking.check_preparation(table)
    change(table)
    with pytest.raises(archive.Misfit):
        checking.check_preparation(table)

"""Model files that are refused, each in one sentence."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from dogc.app.model_files import packing, saving
from dogc.app.model_files.saving import ModelFileError, load, save
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dogc import DOGC, DOGCOS

skops_io = pytest.importorskip("skops.io")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.fixture
def saved(three_blobs, path):
    X, _ = three_blobs
    return save(DOGCOS(3).fit(X), path)


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


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="POSIX")
def test_a_file_without_end_is_refused():
    refused("/dev/zero", "is not a model file")


def test_a_file_larger_than_memory_is_refused(saved, monkeypatch):
    monkeypatch.setattr(saving, "free_bytes", lambda: 1000.0)
    refused(saved, "is larger than the memory that is free")


def test_a_folder_is_refused(tmp_path):
    refused(tmp_path, "cannot read")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK", b"\x80\x04K\x01."], ids=repr)
def test_other_files_are_refused(content, path):
    path.write_bytes(content)
    refused(path, "not a model file written by dogc.save")


def test_other_archives_are_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    refused(path, r"not a model file written by dogc\.save; it holds 'a\.txt'")


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
    saved.write_bytes(data.replace(b"dogc model, format 2,", b"dogc model, format 3,"))
    refused(saved, r"model format 3 and this dogc reads up to 2; upgrade")


class Stranger(TransformerMixin, BaseEstimator):
    """A type that no list trusts."""

    def fit(self, X, y=None):
        self.done_ = True
        return self

    def transform(self, X):
        return X


def sealed(content):
    """A file as save would write it, were all types trusted."""
    header = {"format_version": 2, "library_version": "0", "summary": None, "settings": None}
    with zipfile.ZipFile(io.BytesIO(skops_io.dumps(content))) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return saving._seal(entries, json.dumps(header).encode())


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


def forged(path, packed):
    path.write_bytes(sealed({"model": packed, "preparation": None}))
    return path


@pytest.fixture
def packed(three_blobs):
    X, _ = three_blobs
    return packing.pack(DOGC(3).fit(X))


def test_indices_out_of_range_are_refused(packed, path):
    stored = packed["state"]["affinity_matrix_"]["state"]
    stored["indices"] = stored["indices"].copy()
    stored["indices"][0] = 10**6
    refused(forged(path, packed), "cannot be read as a model")


def test_sparse_arrays_are_not_read_unchecked(packed, path):
    packed["state"]["affinity_matrix_"] = sp.csr_matrix(np.eye(3))  # as skops stores them
    refused(forged(path, packed), r"does not trust: scipy\.sparse\..*csr_matrix\.$")


def test_places_out_of_range_are_refused(path):
    X, _ = make_moons(packing.LONG, random_state=0)
    packed = packing.pack(DOGC(2, n_representatives=30).fit(X))
    packed["state"]["labels_"]["state"]["place"] += 2
    refused(forged(path, packed), "cannot be read as a model")


@pytest.mark.parametrize("name", ["Popen", "dogc.DOGC", "object", "spectral_rotation", "", 3])
def test_other_names_are_refused(name, path):
    refused(forged(path, {"dogc": name, "state": {"args": "ls"}}), "which this dogc does not know")


@pytest.mark.parametrize("content", [{"dogc": "DOGC"}, {"dogc": "DOGC", "state": 3}], ids=repr)
def test_a_name_without_a_state_is_refused(content, path):
    refused(forged(path, content), "cannot be read as a model")


@pytest.mark.parametrize(
    "name", ["predict", "fit", "_method", "__class__", "__dict__", "__reduce__", "colour"]
)
def test_attributes_that_a_model_cannot_have_are_refused(name, packed, path):
    packed["state"][name] = np.add  # a function that skops trusts
    refused(forged(path, packed), rf"holds DOGC\.{name}, which this dogc does not know; upgrade it")


def test_fields_that_a_tuple_does_not_have_are_refused(packed, path):
    packed["state"]["_fitted_rows"]["state"]["colour"] = 3
    refused(forged(path, packed), r"holds FittedRows\.colour, which this dogc does not know")


def test_a_tuple_without_a_field_that_it_needs_is_refused(packed, path):
    del packed["state"]["_fitted_rows"]["state"]["labels"]
    refused(forged(path, packed), "cannot be read as a model .*labels")


def test_a_sparse_array_of_another_kind_is_refused(packed, path):
    packed["state"]["affinity_matrix_"]["state"]["kind"] = "dok_array"
    refused(forged(path, packed), "cannot be read as a model")


@pytest.mark.parametrize("module", ["dogc.app.cli", "dogc.estimators._dogc"])
def test_classes_of_ours_are_made_by_name_only(module, packed, path):
    """A type of ours in the skops way is refused, whatever it is."""
    forged(path, {"main": StandardScaler()})
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(entries["schema.json"])
    schema["content"]["model"]["content"]["main"].update(__module__=module, __class__="DOGC")
    header = entries.pop("dogc.json")
    path.write_bytes(saving._seal({"schema.json": json.dumps(schema).encode()}, header))
    refused(path, rf"does not trust: {re.escape(module)}\.DOGC\.$")


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
    with pytest.raises(ModelFileError, match=r"cannot write .*: the disk is full"):
        save(model, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_folder_is_not_overwritten(three_blobs, tmp_path):
    X, _ = three_blobs
    with pytest.raises(ModelFileError, match="cannot write"):
        save(DOGC(3).fit(X), tmp_path)
    assert not list(tmp_path.parent.glob(".dogc-*"))


def test_skops_is_asked_for_by_name(saved, monkeypatch):
    model = load(saved)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r'pip install "dogc\[cli\]"'):
        save(model, saved)
    with pytest.raises(ImportError, match=r'pip install "dogc\[cli\]"'):
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
    refused_to_save(model, path, r"cannot be saved \(RuntimeError: not me\)\.$")


def test_parts_of_scikit_learn_keep_their_methods(three_blobs, tmp_path):
    path = tmp_path / "forged.skops"
    model = make_pipeline(StandardScaler(), DOGC(3)).fit(three_blobs[0])
    for part, name in ((model, "predict"), (model[0], "transform"), (model[0], "__deepcopy__")):
        vars(part)[name] = np.negative
        save(model, path)
        with pytest.raises(ModelFileError, match=rf"holds \w+\.{name}, which this dogc does not"):
            load(path)
        del vars(part)[name]
    save(model, path)
    assert np.array_equal(load(path).predict(three_blobs[0]), model.predict(three_blobs[0]))


def test_a_callback_never_comes_out_of_a_file(three_blobs, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "_state_of", lambda value: value._asdict()
                        if isinstance(value, tuple) else vars(value))  # fmt: skip
    model = DOGC(3).fit(three_blobs[0])
    model.callback = np.exp
    save(model, tmp_path / "forged.skops")
    assert load(tmp_path / "forged.skops").callback is None


def test_what_is_no_fitted_model_is_refused(three_blobs, tmp_path, monkeypatch):
    path = tmp_path / "forged.skops"
    monkeypatch.setattr(saving, "check_is_fitted", lambda model: None)
    save(DOGC(3), path)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="cannot be read as a model"):
        load(path)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_is_written_through_and_a_pipe_is_refused(three_blobs, tmp_path):
    model = DOGC(3).fit(three_blobs[0])
    (tmp_path / "link.skops").symlink_to(tmp_path / "model.skops")
    save(model, tmp_path / "link.skops")
    assert (tmp_path / "link.skops").is_symlink()
    assert load(tmp_path / "model.skops").n_clusters_ == 3
    os.mkfifo(tmp_path / "pipe.skops")
    with pytest.raises(ModelFileError, match=r"cannot write .*: .* not an ordinary file"):
        save(model, tmp_path / "pipe.skops")

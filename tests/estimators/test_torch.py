"""Tensors get the labels that arrays get, on their own device, in every run."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons

import dogc
from conftest import REPRESENTING, refused

torch = pytest.importorskip("torch")

from dogc.estimators import _elsewhere  # noqa: E402
from dogc.fitting import torch_rows  # noqa: E402

# `make gpu-test` sets it; without a GPU the same code runs on the processor.
DEVICE = os.environ.get("DOGC_TEST_DEVICE", "cpu")
FACTS = ["labels_", "membership_", "outlier_scores_", "outliers_"]
METHODS = ["predict", "predict_membership", "decision_function", "transform", "score_outliers"]
# The number of representatives is chosen in one test; here the choice would take most of the time.
P = 150
MOONS = make_moons(4_000, noise=0.1, random_state=0)[0]
BLOBS = make_blobs(4_000, 7, centers=4, cluster_std=3.0, random_state=0)[0]
FAR = np.vstack([BLOBS, [np.full(7, 400.0), np.full(7, -300.0)]])
IRIS = load_iris().data


@pytest.fixture(autouse=True)
def _cuda(monkeypatch):
    """device="cuda" is the device that is tested."""
    monkeypatch.setattr(_elsewhere, "CUDA", DEVICE)


def on(rows):
    return torch.from_numpy(rows).to(DEVICE)


def same_labels(ours, theirs):
    ours = ours.cpu().numpy() if isinstance(ours, torch.Tensor) else ours
    assert np.mean(ours == theirs) >= 0.9999


def same_fit(model, rows, **weights):
    """The fit by torch, after it was compared with the fit by NumPy."""
    local = clone(model).set_params(device="cpu").fit(rows, **weights)
    found = clone(model).set_params(device="cuda").fit(rows, **weights)
    for name in FACTS:
        if hasattr(local, name):
            ours, theirs = getattr(found, name), getattr(local, name)
            assert (type(ours), ours.dtype) == (np.ndarray, theirs.dtype)
            apart = np.abs(ours.astype(float) - theirs)
            assert np.nanquantile(apart, 0.999) <= (0 if name == "labels_" else 1e-3)
    same_labels(found.labels_, local.labels_)
    return local, found


def same_results(local, found, rows):
    """Each method makes of tensors and of arrays what NumPy makes of arrays."""
    for name in METHODS:
        if hasattr(local, name):
            theirs, ours = getattr(local, name)(rows), getattr(found, name)(on(rows))
            assert ours.device.type == torch.device(DEVICE).type
            again = getattr(found, name)(rows)
            assert type(again) is np.ndarray
            for result in (ours.cpu().numpy(), again):
                assert result.shape == theirs.shape
                assert np.isclose(result, theirs, atol=1e-4).mean() >= 0.9999


@pytest.mark.parametrize("cls", REPRESENTING)
def test_every_method_labels_tensors_as_it_labels_arrays(cls):
    local, found = same_fit(cls(4, n_representatives=P), BLOBS)
    tensors = cls(4, n_representatives=P, device="cuda").fit(on(BLOBS))
    for name in FACTS:
        if hasattr(local, name):
            value = getattr(tensors, name)
            assert value.device.type == torch.device(DEVICE).type
            np.testing.assert_array_equal(value.cpu().numpy(), getattr(found, name))
    same_results(local, tensors, BLOBS[:500] + 0.1)


@pytest.fixture(scope="module")
def on_moons():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_elsewhere, "CUDA", DEVICE)
        return dogc.DOGC(2, n_representatives=P, device="cuda").fit(on(MOONS))


def test_runs_give_the_same_bits(on_moons):
    for _ in range(2):
        again = dogc.DOGC(2, n_representatives=P, device="cuda").fit(on(MOONS))
        for name in FACTS:
            assert torch.equal(getattr(again, name), getattr(on_moons, name))


@pytest.mark.parametrize("elements", [1, 1 << 17])
def test_labels_do_not_depend_on_the_blocks(on_moons, monkeypatch, elements):
    monkeypatch.setattr(torch_rows, "ELEMENTS", elements)
    monkeypatch.setattr(torch_rows, "SHARE", 0.0)  # links are not kept on a GPU
    parts = dogc.DOGC(2, n_representatives=P, device="cuda").fit(MOONS)
    same_labels(on_moons.labels_, parts.labels_)
    scores = on_moons.outlier_scores_.cpu().numpy()
    np.testing.assert_allclose(parts.outlier_scores_, scores, atol=2e-3)


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "cosine"},
        {"metric": "manhattan", "min_cluster_size": 10},
        {"outlier_label": -1},
        {"n_clusters": "auto", "n_representatives": "auto"},
        {"n_components": 2},
        {"geometry": "within"},
        {"init": np.arange(4_002) % 4},
        {"rule": "logistic", "outlier_label": -1},
        {"rule": "paper"},
        {"rule": "auto", "outlier_label": -1},
    ],
    ids=str,
)
def test_parameters_mean_the_same(parameters):
    cls, rows = (dogc.DOGCOS, MOONS) if "rule" in parameters else (dogc.DOGC, FAR)
    local, found = same_fit(cls(4, n_representatives=P).set_params(**parameters), rows)
    assert getattr(found, "rule_", None) == getattr(local, "rule_", None)
    same_results(local, found, rows)


@pytest.mark.parametrize("kind", [torch.float32, torch.int32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_numbers_of_other_kinds(kind, device):
    for rows, p in ((on(10 * BLOBS).to(kind), P), (on(10 * IRIS).to(kind), "auto")):
        model = dogc.DOGC(3, n_representatives=p, device=device).fit(rows)
        short = rows.to(torch.float32) if rows.is_floating_point() else rows
        same_labels(
            model.labels_, dogc.DOGC(3, n_representatives=p).fit(short.cpu().numpy()).labels_
        )
        same_labels(model.predict(rows), model.predict(short.cpu().numpy()))


def test_weights():
    weight = np.arange(len(BLOBS)) % 4 * np.linspace(0.1, 1.0, len(BLOBS))
    model = dogc.DOGC(4, n_representatives=P)
    _, found = same_fit(model, BLOBS, sample_weight=weight)
    again = model.set_params(device="cuda").fit(on(BLOBS), sample_weight=on(weight))
    same_labels(again.labels_, found.labels_)


@pytest.mark.parametrize("cls", [dogc.DOGC, dogc.DOGCOS, dogc.NormalizedCut])
def test_few_rows_follow_x_too(cls):
    local, found = cls(3).fit(IRIS), cls(3, device="cuda").fit(on(IRIS))
    np.testing.assert_array_equal(found.labels_.cpu().numpy(), local.labels_)
    assert found.predict(on(IRIS)).device.type == torch.device(DEVICE).type
    np.testing.assert_array_equal(found.predict(IRIS), local.predict(IRIS))


def test_a_tensor_in_memory_needs_no_gpu_and_its_gradient_is_left_alone():
    wanted = dogc.DOGC(4, n_representatives=P).fit(BLOBS)
    found = dogc.DOGC(4, n_representatives=P).fit(torch.from_numpy(BLOBS).requires_grad_())
    assert found.labels_.device.type == "cpu"
    np.testing.assert_array_equal(found.labels_.numpy(), wanted.labels_)
    # What was fitted on tensors labels arrays, and the other way round.
    assert isinstance(found.predict(BLOBS), np.ndarray)
    assert isinstance(wanted.predict(torch.from_numpy(BLOBS)), torch.Tensor)
    labels = dogc.SEC(4).fit(torch.from_numpy(BLOBS[:300])).labels_  # which knows no tensors
    np.testing.assert_array_equal(labels, dogc.SEC(4).fit(BLOBS[:300]).labels_)


REFUSED = {
    "device must be 'auto', 'cpu', 'cuda'": lambda X: dogc.DOGC(3, device="tpu").fit(X),
    "Expected 2D array": lambda X: dogc.DOGC(3, device="cuda").fit(X[:, 0]),
    "Complex data": lambda X: dogc.DOGC(3, device="cuda").fit(X.to(torch.complex64)),
    "contains NaN": lambda X: dogc.DOGC(3, device="cuda").fit(torch.where(X > 5, np.nan, X)),
    "contains infinity": lambda X: dogc.DOGC(3, device="cuda").fit(torch.where(X > 5, np.inf, X)),
    "not finite; rescale X": lambda X: dogc.DOGC(3, device="cuda").fit(1e200 * X),
    "no number as large": lambda X: dogc.DOGC(3, device="cuda").fit(1e-200 * X),
    "minimum of 2": lambda X: dogc.DOGC(3, device="cuda").fit(X[:1]),
    "minimum of 1": lambda X: dogc.DOGC(3, device="cuda").fit(X).predict(X[:0]),
    "a dense tensor": lambda X: dogc.DOGC(3, device="cuda").fit(X.to_sparse()),
    "must be a dense": lambda X: dogc.DOGC(3).fit(X.cpu().to_sparse()),
    "dense rows": lambda X: dogc.DOGC(3, device="cuda").fit(sp.random(50, 9, 0.5)),
    "needs all rows in memory": lambda X: dogc.DOGC(3, metric="precomputed", device="cuda").fit(X),
    "2 features": lambda X: dogc.DOGC(3, device="cuda").fit(X).predict(X[:, :2]),
    "n_clusters=601 is too large": lambda X: dogc.DOGC(601, device="cuda").fit(X),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_done_is_said_in_one_sentence(sentence):
    refused(sentence, REFUSED[sentence], on(BLOBS[:600]))


def test_no_gpu_is_told(monkeypatch):
    monkeypatch.setattr(_elsewhere, "CUDA", "cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    refused("needs a GPU that torch can use", dogc.DOGC(2, device="cuda").fit, MOONS)


def test_models_of_tensors_are_saved(on_moons, tmp_path):
    dogc.save(on_moons, tmp_path / "model.skops")
    again = dogc.load(tmp_path / "model.skops").set_params(device="cpu")
    np.testing.assert_array_equal(again.labels_, on_moons.labels_.cpu().numpy())
    same_labels(again.predict(MOONS), again.labels_)

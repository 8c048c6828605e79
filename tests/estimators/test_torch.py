"""Tensors get the labels that arrays get, on their own device, in every run."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons

import dogc
from dogc import (
    CAN,
    CLR,
    DOGC,
    DOGCOS,
    PCAN,
    SEC,
    DOGCFixedGraph,
    DOGCRelaxed,
    NormalizedCut,
    RatioCut,
)

torch = pytest.importorskip("torch")

from dogc.estimators import _elsewhere  # noqa: E402
from dogc.fitting import torch_rows  # noqa: E402

# `make gpu-test` sets it; without a GPU the same code runs on the processor.
DEVICE = os.environ.get("DOGC_TEST_DEVICE", "cpu")
FITTING = [DOGC, DOGCOS, CAN, PCAN, CLR, NormalizedCut, RatioCut, DOGCRelaxed, DOGCFixedGraph]
FACTS = ["labels_", "confidence_", "outlier_scores_", "outliers_"]
METHODS = ["predict", "predict_membership", "decision_function", "transform", "score_outliers"]
# The number of representatives is chosen in one test; here the choice would take most of the time.
P = 150
MOONS = make_moons(4_000, noise=0.1, random_state=0)[0]
BLOBS = make_blobs(4_000, 7, centers=4, cluster_std=3.0, random_state=0)[0]


@pytest.fixture(autouse=True)
def _cuda(monkeypatch):
    """device="cuda" is the device that is tested."""
    monkeypatch.setattr(_elsewhere, "CUDA", DEVICE)


def on(rows):
    return torch.from_numpy(rows).to(DEVICE)


def same_fit(model, rows, **weights):
    """The fit by torch, after it was compared with the fit by NumPy."""
    local = clone(model).set_params(device="cpu").fit(rows, **weights)
    found = clone(model).set_params(device="cuda").fit(rows, **weights)
    for name in FACTS:
        if hasattr(local, name):
            ours, theirs = getattr(found, name), getattr(local, name)
            assert type(ours) is np.ndarray
            assert ours.dtype == theirs.dtype
    assert np.mean(found.labels_ == local.labels_) >= 0.9999
    for name in FACTS[1:]:
        if hasattr(local, name):
            apart = np.abs(getattr(found, name).astype(float) - getattr(local, name))
            assert np.nanquantile(apart, 0.999) <= 1e-3
    return local, found


@pytest.mark.parametrize("cls", FITTING)
def test_every_method_labels_tensors_as_it_labels_arrays(cls):
    local, found = same_fit(cls(4, n_representatives=P), BLOBS)
    tensors = cls(4, n_representatives=P, device="cuda").fit(on(BLOBS))
    for name in FACTS:
        if hasattr(local, name):
            value = getattr(tensors, name)
            assert value.device.type == torch.device(DEVICE).type
            np.testing.assert_array_equal(value.cpu().numpy(), getattr(found, name))
    new = BLOBS[:500] + 0.1
    for name in METHODS:
        if hasattr(local, name):
            theirs = getattr(local, name)(new)
            ours = getattr(tensors, name)(on(new))
            assert ours.device.type == torch.device(DEVICE).type
            np.testing.assert_allclose(ours.cpu().numpy(), theirs, atol=1e-6)
            ours = getattr(found, name)(new)
            assert type(ours) is np.ndarray
            np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_five_runs_give_the_same_bits():
    first = DOGC(2, n_representatives=P, device="cuda").fit(on(MOONS))
    for _ in range(4):
        again = DOGC(2, n_representatives=P, device="cuda").fit(on(MOONS))
        for name in FACTS:
            assert torch.equal(getattr(again, name), getattr(first, name))


@pytest.mark.parametrize("elements", [1, 1 << 13, 1 << 16])
def test_labels_do_not_depend_on_the_blocks(monkeypatch, elements):
    whole = DOGC(4, n_representatives=P, device="cuda").fit(BLOBS)
    monkeypatch.setattr(torch_rows, "ELEMENTS", elements)
    monkeypatch.setattr(torch_rows, "PAIRS", 100 * elements)
    monkeypatch.setattr(torch_rows.TorchRows, "_can_keep", lambda self, fitted: False)
    parts = DOGC(4, n_representatives=P, device="cuda").fit(BLOBS)
    for name in FACTS:
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "cosine"},
        {"metric": "manhattan"},
        {"outlier_label": -1},
        {"n_clusters": "auto"},
        {"n_representatives": "auto"},
        {"n_components": 2},
        {"geometry": "within"},
        {"min_cluster_size": 10},
        {"init": np.arange(4_002) % 4},
    ],
    ids=str,
)
def test_parameters_mean_the_same(parameters):
    rows = np.vstack([BLOBS, [np.full(7, 400.0), np.full(7, -300.0)]])
    local, found = same_fit(DOGC(4, n_representatives=P).set_params(**parameters), rows)
    for name in ("predict", "predict_membership", "score_outliers", "transform"):
        theirs = getattr(local, name)(rows)
        close = np.isclose(getattr(found, name)(rows), theirs, atol=1e-4)
        assert close.mean() >= 0.9999


@pytest.mark.parametrize("outlier_label", [None, -1])
@pytest.mark.parametrize("rule", ["logistic", "paper", "auto"])
def test_rules(rule, outlier_label):
    local, found = same_fit(
        DOGCOS(2, n_representatives=P, rule=rule, outlier_label=outlier_label), MOONS
    )
    assert found.rule_ == local.rule_
    for name in METHODS:
        if hasattr(local, name):
            np.testing.assert_allclose(
                getattr(found, name)(on(MOONS)).cpu().numpy(),
                getattr(local, name)(MOONS),
                atol=1e-5,
            )


@pytest.mark.parametrize("kind", [np.float32, np.int32])
def test_numbers_of_other_kinds(kind):
    rows = (10 * BLOBS).astype(kind)
    same_fit(DOGC(4, n_representatives=P), rows)
    labels = DOGC(4).fit(on(rows)).labels_
    np.testing.assert_array_equal(labels.cpu().numpy(), DOGC(4).fit(rows).labels_)


@pytest.mark.parametrize("rows", [BLOBS, load_iris().data], ids=["many", "few"])
@pytest.mark.parametrize("device", ["auto", "cuda", torch.device("cpu")])
def test_brain_floats(device, rows):
    tensor = torch.from_numpy(rows).to(torch.bfloat16)
    model = DOGC(3, device=device).fit(tensor)
    wanted = DOGC(3).fit(tensor.to(torch.float32).numpy()).labels_
    assert np.mean(model.labels_.numpy() == wanted) >= 0.9999
    assert np.mean(model.predict(tensor).numpy() == wanted) >= 0.99


def test_half_precision():
    rows = on(BLOBS).to(torch.float16)
    labels = DOGC(4, device="cuda").fit(rows).labels_
    wanted = DOGC(4).fit(rows.to(torch.float32).cpu().numpy()).labels_
    assert np.mean(labels.cpu().numpy() == wanted) >= 0.9999


def test_weights():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(BLOBS)) * rng.random(len(BLOBS))
    local, _ = same_fit(DOGC(4), BLOBS, sample_weight=weight)
    found = DOGC(4, device="cuda").fit(on(BLOBS), sample_weight=on(weight))
    np.testing.assert_array_equal(found.labels_.cpu().numpy(), local.labels_)


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, NormalizedCut, CLR])
def test_few_rows_follow_x_too(cls):
    rows = load_iris().data
    local, found = cls(3).fit(rows), cls(3, device="cuda").fit(on(rows))
    np.testing.assert_array_equal(found.labels_.cpu().numpy(), local.labels_)
    assert found.predict(on(rows)).device.type == torch.device(DEVICE).type
    np.testing.assert_array_equal(found.predict(rows), local.predict(rows))


def test_a_tensor_in_memory_needs_no_gpu():
    found = DOGC(4).fit(torch.from_numpy(BLOBS))
    assert found.labels_.device.type == "cpu"
    np.testing.assert_array_equal(found.labels_.numpy(), DOGC(4).fit(BLOBS).labels_)
    assert isinstance(found.fit_predict(torch.from_numpy(BLOBS)), torch.Tensor)
    # What was fitted on tensors labels arrays, and the other way round.
    assert isinstance(found.predict(BLOBS), np.ndarray)
    assert isinstance(DOGC(4).fit(BLOBS).predict(torch.from_numpy(BLOBS)), torch.Tensor)


def test_a_tensor_with_a_gradient_is_looked_at_only():
    rows = torch.from_numpy(MOONS).requires_grad_()
    np.testing.assert_array_equal(DOGC(2).fit(rows).labels_.numpy(), DOGC(2).fit(MOONS).labels_)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda X: DOGC(3, device="tpu").fit(X), "device must be 'auto', 'cpu', 'cuda'"),
        (lambda X: DOGC(3, device=None).fit(X), "device must be"),
        (lambda X: DOGC(3, device="cuda").fit(X[:, 0]), "rows and columns"),
        (lambda X: DOGC(3, device="cuda").fit(X.to_sparse()), "dense tensor"),
        (lambda X: DOGC(3, device="cuda").fit(X.to(torch.complex64)), "real numbers"),
        (lambda X: DOGC(3, device="cuda").fit(torch.where(X > 5, np.nan, X)), "NaN"),
        (lambda X: DOGC(3, device="cuda").fit(X[:1]), "minimum of 2"),
        (lambda X: DOGC(3, device="cuda").fit(sp.random(50, 9, 0.5)), "dense rows"),
        (
            lambda X: DOGC(3, metric="precomputed", device="cuda").fit(X),
            "needs a sparse graph in memory",
        ),
        (lambda X: DOGC(3, device="cuda").fit(X).predict(X[:, :2]), "2 features"),
        (lambda X: DOGC(3).fit(X.cpu().to_sparse()), "dense tensor"),
        (lambda X: DOGC(3, device="cuda").fit(X).predict(X[:0]), "has no rows"),
        (lambda X: DOGC(601, device="cuda").fit(X), "n_clusters=601 is too large"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(on(BLOBS[:600]))


def test_other_methods_say_that_they_need_memory():
    labels = SEC(4).fit(torch.from_numpy(BLOBS[:300])).labels_
    np.testing.assert_array_equal(labels, SEC(4).fit(BLOBS[:300]).labels_)


def test_no_gpu_is_told(monkeypatch):
    monkeypatch.setattr(_elsewhere, "CUDA", "cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="needs a GPU that torch can use"):
        DOGC(2, device="cuda").fit(MOONS)
    DOGC(2, device="auto").fit(MOONS)


def test_models_of_tensors_are_saved(tmp_path):
    model = DOGC(4, n_representatives=P, device="cuda").fit(on(BLOBS))
    dogc.save(model, tmp_path / "model.skops")
    again = dogc.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.labels_, model.labels_.cpu().numpy())
    np.testing.assert_array_equal(again.set_params(device="cpu").predict(BLOBS), again.labels_)

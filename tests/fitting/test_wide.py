"""Wide neighbourhoods, in which copies count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dogc import CAN, DOGC, DOGCOS, load, save
from dogc.fitting.problems import until_wide
from dogc.fitting.settings import wide_scale
from dogc.numerics import graph

thorough = settings(deadline=None, max_examples=60)


def survey(n=90, seed=0):
    """Answers of two kinds of people to five questions: few distinct rows."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    chance = np.array([[0.9, 0.8, 0.85, 0.5, 0.9], [0.2, 0.1, 0.15, 0.5, 0.1]])
    return (rng.random((n, 5)) < chance[kind]).astype(float), kind


@thorough
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([1e-9, 1.0, 1e9]))
def test_an_entry_with_copies_gets_what_the_copies_get(seed, k, scale):
    rng = np.random.default_rng(seed)
    d, xi = scale * rng.exponential(size=(1, k)), scale * rng.exponential(size=1)
    copies = rng.integers(1, 5, (1, k))
    each = np.repeat(np.arange(k), copies[0])
    apart = graph.solve_rows(d[:, each], xi)
    together = graph.solve_rows(d, xi, copies=copies)
    np.testing.assert_allclose(together[0], np.bincount(each, apart[0]), atol=1e-12)


@thorough
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(2, 5))
def test_neighbourhoods_end_where_they_hold_enough(seed, q, c):
    rng = np.random.default_rng(seed)
    copies = rng.integers(1, 6, 15)
    idx = np.stack([rng.permutation(15)[:q] for _ in range(4)])
    d = np.sort(rng.exponential(size=idx.shape), axis=1)
    found, far = until_wide(idx, d, copies, c)
    k = found.shape[1] - 1
    for i in range(4):
        needed = 1  # the slow way: one more until they are enough
        while needed < q - 1 and (
            copies[idx[i, :needed]].sum() < wide_scale(copies.sum(), c)
            or needed < wide_scale(15, c)
        ):
            needed += 1
        kept = found[i, :k] >= 0
        assert kept.sum() == needed
        np.testing.assert_array_equal(found[i, :needed], idx[i, :needed])
        np.testing.assert_array_equal(np.isfinite(far[i, :k]), kept)
        assert far[i, -1] == d[i, min(needed, q - 1)]


@pytest.mark.parametrize("cls", [DOGC, CAN, DOGCOS])
def test_weights_are_copies_and_the_order_does_not_matter(cls):
    X, _ = survey()
    model = cls(2, n_neighbors="wide").fit(X)
    shuffled = np.random.default_rng(1).permutation(len(X))
    again = cls(2, n_neighbors="wide").fit(X[shuffled])
    np.testing.assert_array_equal(again.labels_, model.labels_[shuffled])
    distinct, copies = np.unique(X, axis=0, return_counts=True)
    weighted = cls(2, n_neighbors="wide").fit(distinct, sample_weight=copies)
    np.testing.assert_array_equal(weighted.predict(X), model.predict(X))
    assert weighted.n_neighbors_ == model.n_neighbors_
    np.testing.assert_allclose(model.similarity_matrix_.sum(axis=1), 1.0)


def test_new_rows_and_model_files_count_copies_too(tmp_path):
    X, _ = survey()
    model = DOGC(2, n_neighbors="wide", geometry="given").fit(X)
    assert model.label_agreement_ == np.mean(model.predict(X) == model.labels_) > 0.9
    pytest.importorskip("skops.io")
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict_membership(X), model.predict_membership(X))


def test_a_smaller_width_says_how_far_the_clusters_depend_on_it():
    X, _ = survey(200)
    model = DOGC(2, n_neighbors="wide", geometry="given").fit(X)
    assert model.scales_.n_neighbors == (model.n_neighbors_ // 2, model.n_neighbors_)
    assert model.scales_.chosen == model.n_neighbors_
    assert list(model.starts_) == ["spectral"]
    assert model.scales_.score[0] == pytest.approx(model.scales_.agreement[0, 1])
    assert model.scales_.score[0] > 0.8
    noise = np.random.default_rng(0).integers(0, 2, (200, 12)).astype(float)
    with pytest.warns(UserWarning, match="change with the number of neighbours"):
        DOGC(4, n_neighbors="wide", geometry="given").fit(noise)

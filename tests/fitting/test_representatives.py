"""A graph of representatives, from end to end."""

import functools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import KNeighborsTransformer

from conftest import ESTIMATORS, made
from dogc import CAN, CLR, DOGC, DOGCOS, PCAN, NMFClustering, NormalizedCut, RatioCut
from dogc.fitting import passes
from dogc.fitting.auto import many_rows
from dogc.fitting.in_memory import RowsInMemory
from dogc.fitting.representatives import Frame, as_points, projected
from dogc.fitting.scaling import scale_rows

GIVEN_GRAPH = (RatioCut, NormalizedCut, NMFClustering, CLR)
ALL = (*ESTIMATORS, *GIVEN_GRAPH)
each = pytest.mark.parametrize("cls", ALL, ids=lambda e: e.__name__)
learning = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda e: e.__name__)


def moons(n=3_600, seed=0):
    """Noisy moons, one of them smaller, so that names of clusters do not hang on ties."""
    X, truth = make_moons((n - n // 3, n // 3), noise=0.1, random_state=seed)
    return X, truth


X, TRUTH = moons()


@functools.cache
def fitted(cls):
    """A model that several tests look at and none changes."""
    return cls(2).fit(X)


def nmi(truth, labels):
    return normalized_mutual_info_score(truth, labels)


def assert_same_labels(one, other):
    np.testing.assert_array_equal(one.labels_, other.labels_)


# ------------------------------------------------------------------------- what is found


@pytest.mark.parametrize(
    "model",
    [*(cls(2) for cls in ALL), CLR(2, norm="l1")],
    ids=lambda m: type(m).__name__ + getattr(m, "norm", ""),
)
def test_noisy_moons_are_found_and_what_a_fit_leaves_has_its_shape(model):
    model.fit(X)
    p, d = model.n_representatives_, X.shape[1]
    assert nmi(TRUTH, model.labels_) >= (0.94 if isinstance(model, NMFClustering) else 0.95)
    assert model.labels_.shape == (len(X),)
    assert 0.9 * model.resolutions_.chosen <= p <= model.resolutions_.chosen
    assert model.resolutions_.confirmed > 0.9
    assert model.representatives_.shape == (p, d)
    assert model.representative_weights_.shape == model.representative_labels_.shape == (p,)
    assert model.representative_weights_.sum() == pytest.approx(len(X), rel=1e-3)
    assert model.affinity_matrix_.shape == (p, p)
    assert model.embedding_.shape == (p, 2)
    if not isinstance(model, DOGCOS):
        np.testing.assert_array_equal(model.predict(X), model.labels_)
    if not isinstance(model, GIVEN_GRAPH):
        assert model.confidence_.shape == model.outliers_.shape == (len(X),)
        assert 0.5 <= model.confidence_.min() <= model.confidence_.max() <= 1.0
        np.testing.assert_allclose(model.predict_membership(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("n", [3_200, 8_000])
def test_other_numbers_of_rows_and_other_noise(n):
    rows, truth = make_moons(n, noise=0.1, random_state=3)
    assert nmi(truth, DOGC(2).fit(rows).labels_) >= 0.95


@pytest.mark.parametrize("p", [40, 300, 1_500])
def test_a_number_of_representatives_that_is_asked_for(p):
    model = DOGC(2, n_representatives=p).fit(X)
    assert 0.9 * p <= model.n_representatives_ <= p
    assert model.resolutions_.n_representatives == (p,)
    assert nmi(TRUTH, model.labels_) >= 0.9


@each
def test_as_many_representatives_as_distinct_rows_are_none(cls):
    rows = np.vstack([X[:300], X[:50]])
    labels = [cls(2, n_representatives=p).fit(rows) for p in (None, 300, 350, 5_000)]
    if cls in GIVEN_GRAPH:
        # Copies are rows of the graph for these.
        labels = [labels[0], labels[2], labels[3]]
    for model in labels:
        assert model.n_representatives_ is None
        assert model.resolutions_ is None
        assert model.representatives_ is None
        assert_same_labels(model, labels[0])


def test_few_rows_are_their_own_representatives():
    model = DOGC(2).fit(X[:1_000])
    assert model.n_representatives_ is None


@pytest.mark.parametrize(("n", "many"), [(3_000, False), (3_001, True)])
def test_representatives_begin_beyond_three_thousand_distinct_rows(n, many):
    rows = np.vstack([X[:n], X[:50]])  # copies do not count
    model = DOGC(2, n_neighbors=8, geometry="given", n_components=None).fit(rows)
    assert (model.n_representatives_ is not None) == many


def test_an_empty_representative_is_not_left_over():
    model = DOGC(2, n_representatives=3_500).fit(X)
    assert (model.representative_weights_ > 0).all()
    assert model.n_representatives_ == len(model.representatives_)


# ---------------------------------------------------------- order, blocks, threads, kinds


@pytest.mark.parametrize("d", [2, 12, 40])
def test_a_row_is_the_same_point_alone_and_among_others(d):
    rows = np.random.default_rng(0).standard_normal((300, d)) * 7.0 + 3.0
    directions = np.linalg.qr(np.random.default_rng(1).standard_normal((d, 2)))[0].T
    frame = projected(Frame(scale_rows(rows), None), directions)
    together = as_points(frame, rows)
    alone = np.vstack([as_points(frame, row[None]) for row in rows])
    np.testing.assert_array_equal(alone, together)
    np.testing.assert_allclose(together @ [1.0, 0.5], (directions.T @ [1.0, 0.5]) @ (
        scale_rows(rows).X - frame.middle).T, atol=1e-6)  # fmt: skip


@each
def test_order_of_rows_threads_and_blocks_do_not_matter(cls, monkeypatch):
    model = fitted(cls)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(cls(2).fit(X[order]).labels_, model.labels_[order])
    for jobs, elements in ((1, 1), (2, 3_000)):
        monkeypatch.setattr(passes, "BLOCK_ELEMENTS", elements)
        other = cls(2, n_jobs=jobs).fit(X)
        assert_same_labels(other, model)
        np.testing.assert_array_equal(other.representatives_, model.representatives_)
        np.testing.assert_array_equal(other.representative_weights_, model.representative_weights_)
        assert abs(other.affinity_matrix_ - model.affinity_matrix_).max() == 0
        np.testing.assert_array_equal(other.predict(X[:1_500]), model.predict(X[:1_500]))


@pytest.mark.parametrize("cls", [DOGC, PCAN])
@pytest.mark.parametrize("n_components", ["auto", 2])
def test_blocks_do_not_matter_where_a_projection_is_learned(cls, n_components, monkeypatch):
    rows = np.hstack([X, 0.3 * np.random.default_rng(0).standard_normal((len(X), 30))])
    model = cls(2, n_components=n_components).fit(rows)
    monkeypatch.setattr(passes, "BLOCK_ELEMENTS", 1)
    other = cls(2, n_components=n_components, n_jobs=2).fit(rows)
    assert_same_labels(other, model)
    np.testing.assert_array_equal(other.components_, model.components_)


def test_rows_full_of_ties_get_the_same_labels_in_any_order_and_from_predict():
    side = np.arange(64.0)
    rows = np.stack(np.meshgrid(side, side[:60]), axis=-1).reshape(-1, 2)
    rows[rows[:, 0] > 20, 0] += 6  # two rectangles, both lattices
    order = np.random.default_rng(0).permutation(len(rows))
    model = CAN(2).fit(rows)
    np.testing.assert_array_equal(CAN(2).fit(rows[order]).labels_, model.labels_[order])
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.parametrize("cls", [RatioCut, CLR])
def test_where_all_links_weigh_the_same_predict_breaks_ties_as_fit_does(cls):
    rows, _ = make_moons(5_000, noise=0.1, random_state=0)
    model = cls(2, bandwidth=1e6).fit(rows)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


@each
def test_sparse_rows_get_the_labels_of_dense_ones(cls):
    dense, sparse = made(cls, 2, geometry="given").fit(X), cls(2).fit(sp.csr_array(X))
    assert_same_labels(dense, sparse)
    np.testing.assert_array_equal(sparse.predict(X[:99]), sparse.predict(sp.csr_array(X[:99])))


def test_sparse_entries_stored_in_two_parts_or_as_zeros_change_nothing():
    plain = sp.csr_array(X)
    parts = sp.csr_array(
        (np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2), 2 * plain.indptr), X.shape
    )
    assert abs(plain - parts).max() == 0
    assert_same_labels(DOGC(2).fit(plain), DOGC(2).fit(parts))
    zeros = np.hstack([X, np.zeros((len(X), 1))])
    stored = sp.csr_array(zeros + 1.0)
    stored.data = (zeros + 0.0).ravel()
    assert_same_labels(DOGC(2).fit(sp.csr_array(zeros)), DOGC(2).fit(stored))


@learning
def test_numbers_of_32_bits(cls):
    model = cls(2).fit(X.astype(np.float32))
    assert nmi(TRUTH, model.labels_) >= 0.95
    assert model.embedding_.dtype == model.confidence_.dtype == np.float32
    if cls is not DOGCOS:
        np.testing.assert_array_equal(model.predict(X.astype(np.float32)), model.labels_)


def test_arrays_in_another_order_and_whole_numbers():
    assert_same_labels(fitted(DOGC), DOGC(2).fit(np.asfortranarray(X)))
    assert nmi(TRUTH, DOGC(2).fit((1_000 * X).astype(int)).labels_) >= 0.95


# -------------------------------------------------------------------------------- weights


@learning
def test_whole_weights_are_copies_and_rows_without_weight_get_a_label(cls):
    weight = np.random.default_rng(0).integers(0, 8, len(X))
    model = cls(2).fit(X, sample_weight=weight)
    copies = cls(2).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(np.repeat(model.labels_, weight), copies.labels_)
    np.testing.assert_array_equal(model.representatives_, copies.representatives_)
    np.testing.assert_array_equal(model.representative_weights_, copies.representative_weights_)
    assert nmi(TRUTH[weight == 0], model.labels_[weight == 0]) >= 0.9


@pytest.mark.parametrize("unit", [1e-140, 0.3, 1e12])
def test_the_unit_of_weights_does_not_matter(unit):
    weight = np.random.default_rng(0).random(len(X))
    model = DOGC(2).fit(X, sample_weight=unit * weight)
    assert nmi(TRUTH, model.labels_) >= 0.95
    assert model.representative_weights_.sum() == pytest.approx(unit * weight.sum(), rel=1e-3)


def test_clusters_are_numbered_by_falling_weight():
    weight = np.where(TRUTH == 1, 10, 1)
    labels = DOGC(2).fit(X, sample_weight=weight).labels_
    totals = np.bincount(labels, weights=weight)
    assert totals[0] > totals[1]
    assert nmi(TRUTH, labels) >= 0.95


def test_copies_alone_are_rows_of_a_graph():
    few = np.random.default_rng(0).standard_normal((50, 2))
    few[:25] += 6.0
    copies = np.tile(few, (2_000, 1))
    model = DOGC(2).fit(copies)
    assert model.n_representatives_ is None
    np.testing.assert_array_equal(model.labels_[:50], DOGC(2).fit(few).labels_)
    np.testing.assert_array_equal(model.labels_, np.tile(model.labels_[:50], 2_000))


# ------------------------------------------------------------------------- shapes of data


def test_constant_columns_change_nothing_that_matters():
    rows = np.hstack([X, np.ones((len(X), 1)), np.full((len(X), 1), 1e9)])
    assert nmi(TRUTH, DOGC(2).fit(rows).labels_) >= 0.95


def test_a_column_that_is_constant_up_to_rounding_is_no_noise():
    rng = np.random.default_rng(0)
    wavering = np.nextafter(1e8, rng.choice([0.0, 2e8], len(X)))
    rows = np.hstack([1e-9 * X, wavering[:, None]])
    assert nmi(TRUTH, DOGC(2).fit(rows).labels_) >= 0.95


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, RatioCut])
def test_wide_rows(cls):
    rows, truth = make_blobs(4_000, 300, centers=5, cluster_std=3.0, random_state=0)
    assert nmi(truth, cls(5).fit(rows).labels_) >= 0.99


def test_very_wide_rows_are_not_more_rows_than_there_are():
    rng = np.random.default_rng(0)
    rows = RowsInMemory(rng.standard_normal((3_100, 900)))
    drawn = many_rows.draw_many(rows, "auto", 2)
    assert max(many_rows.numbers_for(drawn, "auto", 2)) <= 310


def test_one_feature():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [2_000, 1_500, 1_000])
    rows = (rng.standard_normal(len(truth)) + 9.0 * truth)[:, None]
    assert nmi(truth, DOGC(3).fit(rows).labels_) >= 0.99


@pytest.mark.parametrize("cls", [DOGC, RatioCut])
@pytest.mark.parametrize("factor", [1e100, 1e-100, 1e140, 1e-140])
def test_huge_and_tiny_rows(cls, factor):
    model = cls(2).fit(factor * X)
    assert nmi(TRUTH, model.labels_) >= 0.95
    np.testing.assert_array_equal(model.predict(factor * X), model.labels_)


def test_rows_far_from_the_origin():
    model = DOGC(2).fit(X + 1e8)
    assert nmi(TRUTH, model.labels_) >= 0.95


@pytest.mark.parametrize("power", [-30, 4, 200])
def test_another_unit_draws_another_sample_and_changes_few_labels(power):
    model = DOGC(2).fit(2.0**power * X)
    assert nmi(fitted(DOGC).labels_, model.labels_) >= 0.95
    np.testing.assert_array_equal(model.predict(2.0**power * X), model.labels_)


@pytest.mark.parametrize("reach", [1e2, 1e4, 1e6, 1e8, 1e12])
def test_one_row_far_away_leaves_the_others(reach):
    rows = np.vstack([X, [reach, reach]])
    model = DOGC(2).fit(rows)
    assert nmi(TRUTH, model.labels_[:-1]) >= 0.95
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.parametrize("many", [10, 100])
def test_many_rows_far_away_leave_the_others(many):
    rows = np.vstack([X, 100.0 * np.random.default_rng(0).standard_normal((many, 2))])
    model = DOGC(2).fit(rows)
    assert nmi(TRUTH, model.labels_[: len(X)]) >= 0.95


@pytest.mark.parametrize("cls", [DOGC, RatioCut])
@pytest.mark.parametrize("reach", [1e10, 1e100, 1e140])
def test_new_rows_far_away_get_a_label(cls, reach):
    wide = np.hstack([X] * 4)
    for rows in (X, wide):
        labels = cls(2).fit(rows).predict(reach * rows[:3])
        assert set(labels) <= {0, 1}


@pytest.mark.parametrize(
    ("sizes", "spreads"),
    [((4_000, 4_000), (0.02, 5.0)), ((400, 4_000), (0.02, 5.0)), ((4_000, 400), (0.02, 5.0))],
)
@pytest.mark.parametrize("cls", [DOGC, CAN, NormalizedCut])
def test_clusters_of_very_different_density_and_size(cls, sizes, spreads):
    rng = np.random.default_rng(0)
    parts = [
        spread * rng.standard_normal((size, 2)) + at
        for size, spread, at in zip(sizes, spreads, ([0, 0], [30, 0]), strict=True)
    ]
    truth = np.repeat([0, 1], sizes)
    assert nmi(truth, cls(2).fit(np.vstack(parts)).labels_) >= 0.99


@pytest.mark.parametrize("cls", [DOGC, CAN])
def test_a_small_cluster_beside_a_large_one(cls):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [6_000, 300])
    rows = rng.standard_normal((6_300, 2)) + 10.0 * truth[:, None] * [1.0, 0.0]
    # A share of 1 in 21 is just below what the default takes for a cluster.
    assert nmi(truth, cls(2, min_cluster_size=100).fit(rows).labels_) >= 0.99


def test_small_clusters_among_large_ones_are_kept_by_default():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [3_000, 3_000, 300])
    rows = rng.standard_normal((6_300, 2)) + 10.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    assert nmi(truth, DOGC(3).fit(rows).labels_) >= 0.99


@each
def test_one_cluster(cls):
    assert set(cls(1).fit(X).labels_) == {0}


@pytest.mark.filterwarnings("ignore:the clusters change")
@each
def test_two_clusters_of_one_blob_are_both_there(cls):
    rows = np.random.default_rng(0).standard_normal((3_300, 3))
    model = cls(2).fit(rows)
    assert set(model.labels_) == {0, 1}
    if cls is not DOGCOS:
        np.testing.assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.filterwarnings("ignore:the clusters change")
@pytest.mark.parametrize("cls", [CAN, RatioCut, NMFClustering])
def test_every_cluster_has_rows_also_where_there_is_no_structure(cls):
    rows = np.random.default_rng(0).standard_normal((3_300, 40))
    model = cls(8).fit(rows)
    assert set(model.labels_) == set(model.representative_labels_) == set(range(8))


def test_labels_that_a_vote_would_lose_do_not_confirm_each_other():
    rows = np.random.default_rng(0).standard_normal((3_300, 40))
    with pytest.warns(UserWarning, match="change with the number of representatives"):
        model = RatioCut(8).fit(rows)
    assert model.resolutions_.confirmed < 0.7
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN, NormalizedCut, CLR])
def test_fifty_clusters(cls):
    rows, truth = make_blobs(6_000, 4, centers=50, cluster_std=0.4, random_state=0)
    model = cls(50).fit(rows)
    assert nmi(truth, model.labels_) >= 0.99
    assert set(model.labels_) == set(range(50))


def test_the_number_of_clusters_is_proposed():
    rows, truth = make_blobs(4_000, 3, centers=5, cluster_std=0.5, random_state=0)
    model = DOGC("auto").fit(rows)
    assert model.n_clusters_ == 5
    assert model.cluster_counts_[0].n_clusters == 5
    assert nmi(truth, model.labels_) >= 0.99


def test_more_clusters_than_representatives_are_not_proposed():
    rows, _ = make_blobs(4_000, 3, centers=9, cluster_std=0.3, random_state=0)
    with pytest.raises(ValueError, match="n_representatives=4"):
        DOGC("auto", n_representatives=4).fit(rows)


def with_noise(rows, scale):
    noise = np.random.default_rng(0).standard_normal((len(rows), 30))
    return np.hstack([rows, scale * noise])


def test_the_projection_that_the_spectrum_tells():
    rows = with_noise(X, 0.3)
    model = DOGC(2).fit(rows)
    assert nmi(TRUTH, model.labels_) >= 0.95
    assert model.components_.shape == (2, 32)
    assert np.abs(model.components_[:, :2]).max() > 0.9
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.parametrize("cls", [DOGC, PCAN])
def test_a_projection_of_so_many_dimensions(cls):
    rows, truth = make_blobs(3_600, 2, centers=[[0, 0], [4, 0], [0, 4]], random_state=0,
                             cluster_std=0.5)  # fmt: skip
    rows = with_noise(rows, 1.0)
    model = cls(3, n_components=2).fit(rows)
    assert nmi(truth, model.labels_) >= 0.95
    assert model.components_.shape == (2, 32)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(model.transform(rows[:5]), rows[:5] @ model.components_.T)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


# ------------------------------------------------------------------------------ settings


def test_labels_to_start_from():
    assert nmi(TRUTH, DOGC(2, init=TRUTH).fit(X).labels_) >= 0.95
    named = np.array(["b", "a"])[TRUTH]
    assert_same_labels(DOGC(2, init=named).fit(X), DOGC(2, init=TRUTH).fit(X))


def test_random_starts_repeat():
    models = [DOGC(2, init="random", n_init=3, random_state=0).fit(X) for _ in range(2)]
    assert_same_labels(*models)
    assert nmi(TRUTH, models[0].labels_) >= 0.95


def test_little_time_still_gives_labels():
    model = DOGC(2, max_time=1e-6).fit(X)
    assert model.stopping_reason_ == "max_time"
    assert not model.converged_
    assert set(model.labels_) == {0, 1}
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.slow
def test_weights_of_representatives_are_those_of_all_rows_also_in_little_time():
    rows, _ = make_moons(120_000, noise=0.1, random_state=0)
    model = DOGC(2, max_time=1e-6).fit(rows)
    assert model.representative_weights_.sum() == pytest.approx(len(rows), rel=1e-3)


@pytest.mark.parametrize("cls", [DOGC, CLR])
def test_a_callback_sees_the_last_run_and_can_stop_it(cls):
    seen = []
    model = cls(2, callback=lambda record: seen.append(record) or True).fit(X)
    assert len(seen) == model.n_iter_ == 1
    assert model.stopping_reason_ == "callback"
    assert set(model.labels_) == {0, 1}


@pytest.mark.parametrize("cls", [DOGC, CLR])
def test_an_interrupt_leaves_the_labels_of_the_last_iteration(cls, ctrl_c):
    model = cls(2, callback=ctrl_c).fit(X)
    assert model.stopping_reason_ == "interrupted"
    assert set(model.labels_) == {0, 1}
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_an_island_too_small_for_a_cluster_is_an_outlier():
    island = 0.1 * np.random.default_rng(0).standard_normal((8, 2)) + 8.0
    rows = np.vstack([X, island])
    model = DOGC(2, outlier_label=-1).fit(rows)
    assert nmi(TRUTH, model.labels_[: len(X)]) >= 0.95
    np.testing.assert_array_equal(model.labels_ == -1, model.outliers_)
    assert model.outliers_[-8:].all()
    assert not model.outliers_[:-8].any()


@pytest.mark.parametrize("smallest", [1, 100, 1_000])
def test_a_least_size_of_clusters(smallest):
    labels = DOGC(2, min_cluster_size=smallest).fit(X).labels_
    assert np.bincount(labels).min() >= smallest
    assert nmi(TRUTH, labels) >= 0.95


def test_a_least_size_that_cannot_be_met_is_refused():
    with pytest.raises(ValueError, match="min_cluster_size"):
        DOGC(2, min_cluster_size=len(X) // 2 + 1).fit(X)


@pytest.mark.parametrize(
    "parameters",
    [
        {"lam": 1.0},
        {"lam": 1e-3},
        {"penalties": "paper"},
        {"n_neighbors": 4},
        {"n_neighbors": 20},
        {"alpha": 0.0},
        {"xi": "mean"},
        {"n_components": None},
    ],
    ids=str,
)
def test_other_settings(parameters):
    model = DOGC(2, **parameters).fit(X)
    assert nmi(TRUTH, model.labels_) >= 0.95
    assert model.n_neighbors_ == parameters.get("n_neighbors", 8)


@pytest.mark.parametrize("n_neighbors", [1, 2, 500])
@pytest.mark.parametrize("cls", [DOGC, RatioCut])
def test_very_few_links_and_more_than_there_are_representatives(cls, n_neighbors):
    model = cls(2, n_neighbors=n_neighbors, n_representatives=60).fit(X)
    assert set(model.labels_) == {0, 1}
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("bandwidth", [1e-140, 1e-6, 0.05, 1e140])
def test_any_bandwidth_gives_labels(bandwidth):
    model = RatioCut(2, bandwidth=bandwidth, n_representatives=3_000).fit(X)
    assert set(model.labels_) == {0, 1}


def test_verbose_shows_the_phases(capfd):
    DOGC(2, verbose=1).fit(X)
    shown = "".join(capfd.readouterr())
    for phase in ("rows", "choices", "links", "iterations"):
        assert phase in shown


def test_timings_know_the_phases():
    assert {"rows", "choices", "links", "iterations"} <= set(fitted(DOGC).timings_)


# ----------------------------------------------------------------------------- arguments


@each
@pytest.mark.parametrize("value", [0, 1, -3, 2.5, "many", True, [100], float("nan")], ids=repr)
def test_a_bad_number_of_representatives_is_refused_in_one_sentence(cls, value):
    with pytest.raises(ValueError) as error:
        cls(2, n_representatives=value).fit(X[:50])
    text = str(error.value)
    assert text.startswith("n_representatives")
    assert text.endswith(".")
    assert "\n" not in text


@each
def test_fewer_representatives_than_clusters_are_refused(cls):
    with pytest.raises(ValueError, match=r"n_representatives=20 .* n_clusters=30"):
        cls(30, n_representatives=20).fit(X[:100])


def test_a_precomputed_graph_has_no_representatives():
    graph = KNeighborsTransformer(n_neighbors=20, mode="distance").fit_transform(X[:300])
    for cls in (DOGC, CAN):
        with pytest.raises(ValueError, match="n_representatives"):
            cls(2, metric="precomputed", n_representatives=100).fit(graph)
        assert cls(2, metric="precomputed").fit(graph).n_representatives_ is None
    with pytest.raises(ValueError, match="n_representatives"):
        RatioCut(2, affinity="precomputed", n_representatives=100).fit(abs(graph) @ graph.T)


@each
def test_the_parameter_is_a_parameter_like_others(cls):
    model = cls(2, n_representatives=77)
    assert clone(model).n_representatives == model.get_params()["n_representatives"] == 77
    assert model.set_params(n_representatives=None).n_representatives is None
    assert cls().n_representatives == "auto"
    assert fitted(cls).n_representatives == "auto"


@each
def test_pickles_label_the_same(cls):
    model = fitted(cls)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    # None of it holds a row for each row of X but labels and what is said of them.
    assert len(pickle.dumps(model)) < X.nbytes + 40 * len(X) + 200_000


# --------------------------------------------------------------------- what is said of it


@pytest.mark.parametrize("cls", [DOGC, CAN, CLR, RatioCut])
def test_structureless_rows_are_told(cls):
    rows = np.random.default_rng(1).random((5_000, 6))
    with pytest.warns(UserWarning, match="change with the number of representatives"):
        model = cls(4).fit(rows)
    assert model.resolutions_.confirmed < 0.7


def test_nothing_is_said_of_moons_and_of_a_number_that_was_asked_for(recwarn):
    DOGC(2).fit(X)
    DOGC(4, n_representatives=200).fit(np.random.default_rng(0).random((4_000, 3)))
    assert not [w for w in recwarn if issubclass(w.category, UserWarning)
                and "representatives" in str(w.message)]  # fmt: skip


def test_embeddings_of_the_same_problem_are_in_the_same_units():
    # CAN without learned distances and CLR solve the same problem on representatives.
    one, other = fitted(CAN), fitted(CLR)
    np.testing.assert_allclose(
        np.linalg.norm(one.embedding_, axis=1), np.linalg.norm(other.embedding_, axis=1), rtol=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN, NormalizedCut])
def test_a_hundred_thousand_noisy_moons(cls):
    rows, truth = make_moons(100_000, noise=0.1, random_state=0)
    model = cls(2).fit(rows)
    assert nmi(truth, model.labels_) >= 0.97
    order = np.random.default_rng(0).permutation(len(rows))
    again = cls(2, n_jobs=2).fit(rows[order])
    assert nmi(model.labels_[order], again.labels_) == pytest.approx(1.0)

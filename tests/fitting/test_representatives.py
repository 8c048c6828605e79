"""A graph of representatives, from end to end."""

import functools
import pickle

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import KNeighborsTransformer

from conftest import ESTIMATORS
from dogc import CAN, CLR, DOGC, DOGCOS, NMFClustering, NormalizedCut, RatioCut
from dogc.fitting import links, repeatable

GIVEN_GRAPH = (RatioCut, NormalizedCut, NMFClustering, CLR)
ALL = (*ESTIMATORS, *GIVEN_GRAPH)
slow = pytest.mark.slow


def by_class(*quick, of=ALL):
    """A case for each class; those that are not quick are left to the nightly run."""
    cases = [pytest.param(cls, marks=[] if cls in quick else slow) for cls in of]
    return pytest.mark.parametrize("cls", cases, ids=lambda e: e.__name__)


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
        assert model.membership_.shape == model.outliers_.shape == (len(X),)
        assert 0.5 <= model.membership_.min() <= model.membership_.max() <= 1.0
        np.testing.assert_allclose(model.predict_membership(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("p", [40, 1_500])
def test_a_number_of_representatives_that_is_asked_for(p):
    model = DOGC(2, n_representatives=p).fit(X)
    assert 0.9 * p <= model.n_representatives_ <= p
    assert model.resolutions_.n_representatives == (p,)
    assert nmi(TRUTH, model.labels_) >= 0.9


@pytest.mark.parametrize(("n", "many"), [(3_000, False), (3_001, True)])
def test_representatives_begin_beyond_three_thousand_distinct_rows(n, many):
    rows = np.vstack([X[:n], X[:50]])  # copies do not count
    model = DOGC(2, n_neighbors=8, geometry="given", n_components=None).fit(rows)
    assert (model.n_representatives_ is not None) == many


# ---------------------------------------------------------- order, blocks, threads, kinds


@by_class(DOGC, RatioCut)
def test_order_of_rows_threads_and_blocks_do_not_matter(cls, monkeypatch):
    model = fitted(cls)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(cls(2).fit(X[order]).labels_, model.labels_[order])
    for jobs, elements in ((1, 1), (2, 3_000)):
        monkeypatch.setattr(repeatable, "BLOCK_ELEMENTS", elements)
        other = cls(2, n_jobs=jobs).fit(X)
        assert_same_labels(other, model)
        np.testing.assert_array_equal(other.representatives_, model.representatives_)
        np.testing.assert_array_equal(other.representative_weights_, model.representative_weights_)
        assert abs(other.affinity_matrix_ - model.affinity_matrix_).max() == 0
        np.testing.assert_array_equal(other.predict(X[:1_500]), model.predict(X[:1_500]))


def test_rows_of_many_links_are_linked_in_short_blocks(monkeypatch):
    sizes, link_rows = [], links.link_rows

    def watched(search, Z, *given):
        sizes.append(len(Z))
        return link_rows(search, Z, *given)

    monkeypatch.setattr(repeatable, "BLOCK_ELEMENTS", 50 * 1_500)
    monkeypatch.setattr(links, "link_rows", watched)
    given = {"n_representatives": 200, "geometry": "given", "n_components": None}
    model = DOGC(2, n_neighbors=50, **given).fit(X)
    assert max(sizes) == 1_500
    sizes.clear()
    model.predict_membership(X)
    assert max(sizes) == 1_500


def test_rows_full_of_ties_get_the_same_labels_in_any_order_and_from_predict():
    side = np.arange(64.0)
    rows = np.stack(np.meshgrid(side, side[:60]), axis=-1).reshape(-1, 2)
    rows[rows[:, 0] > 20, 0] += 6  # two rectangles, both lattices
    order = np.random.default_rng(0).permutation(len(rows))
    model = CAN(2).fit(rows)
    np.testing.assert_array_equal(CAN(2).fit(rows[order]).labels_, model.labels_[order])
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


# -------------------------------------------------------------------------------- weights


@by_class(CAN, of=ESTIMATORS)
def test_whole_weights_are_copies_and_rows_without_weight_get_a_label(cls):
    weight = np.random.default_rng(0).integers(0, 8, len(X))
    model = cls(2).fit(X, sample_weight=weight)
    copies = cls(2).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(np.repeat(model.labels_, weight), copies.labels_)
    np.testing.assert_array_equal(model.representatives_, copies.representatives_)
    np.testing.assert_array_equal(model.representative_weights_, copies.representative_weights_)
    assert nmi(TRUTH[weight == 0], model.labels_[weight == 0]) >= 0.9


# ------------------------------------------------------------------------- shapes of data


@pytest.mark.parametrize("rows", [1e140 * X, 1e-140 * X, X.astype(np.float32)])
def test_huge_tiny_and_short_numbers(rows):
    model = CAN(2).fit(rows)
    assert nmi(TRUTH, model.labels_) >= 0.95
    assert model.embedding_.dtype == model.membership_.dtype == rows.dtype
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.parametrize("reach", [1e4, 1e12])
def test_one_row_far_away_leaves_the_others(reach):
    rows = np.vstack([X, [reach, reach]])
    model = DOGC(2).fit(rows)
    assert nmi(TRUTH, model.labels_[:-1]) >= 0.95
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.parametrize("sizes", [(400, 4_000), (4_000, 400)])
@by_class(CAN, of=(DOGC, CAN, NormalizedCut))
def test_clusters_of_very_different_density_and_size(cls, sizes):
    truth = np.repeat([0, 1], sizes)
    rows = np.random.default_rng(0).standard_normal((len(truth), 2))
    rows = np.array([0.02, 5.0])[truth][:, None] * rows + np.array([[0, 0], [30, 0]])[truth]
    assert nmi(truth, cls(2).fit(rows).labels_) >= 0.99


def test_the_number_of_clusters_is_proposed():
    rows, truth = make_blobs(4_000, 3, centers=5, cluster_std=0.5, random_state=0)
    model = DOGC("auto").fit(rows)
    assert model.n_clusters_ == 5
    assert model.cluster_counts_[0].n_clusters == 5
    assert nmi(truth, model.labels_) >= 0.99


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


# ------------------------------------------------------------------------------ settings


def test_little_time_still_gives_labels():
    model = DOGC(2, max_time=1e-6).fit(X)
    assert model.stopping_reason_ == "max_time"
    assert not model.converged_
    assert set(model.labels_) == {0, 1}
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@by_class(DOGC, CLR, of=(DOGC, CLR))
def test_a_callback_sees_the_last_run_and_can_stop_it(cls):
    seen = []
    model = cls(2, callback=lambda record: seen.append(record) or True).fit(X)
    assert len(seen) == model.n_iter_ == 1
    assert model.stopping_reason_ == "callback"
    assert set(model.labels_) == {0, 1}


def test_a_least_size_of_clusters():
    labels = DOGC(2, min_cluster_size=1_000).fit(X).labels_
    assert np.bincount(labels).min() >= 1_000
    assert nmi(TRUTH, labels) >= 0.95


# ----------------------------------------------------------------------------- arguments


@by_class(DOGC, RatioCut, of=(DOGC, RatioCut))
@pytest.mark.parametrize("value", [1, 2.5, "many", True], ids=repr)
def test_a_bad_number_of_representatives_is_refused_in_one_sentence(cls, value):
    with pytest.raises(ValueError) as error:
        cls(2, n_representatives=value).fit(X[:50])
    text = str(error.value)
    assert text.startswith("n_representatives")
    assert text.endswith(".")
    assert "\n" not in text


def test_a_precomputed_graph_has_no_representatives():
    graph = KNeighborsTransformer(n_neighbors=20, mode="distance").fit_transform(X[:300])
    for cls in (DOGC, CAN):
        with pytest.raises(ValueError, match="n_representatives"):
            cls(2, metric="precomputed", n_representatives=100).fit(graph)
        assert cls(2, metric="precomputed").fit(graph).n_representatives_ is None
    with pytest.raises(ValueError, match="n_representatives"):
        RatioCut(2, affinity="precomputed", n_representatives=100).fit(abs(graph) @ graph.T)


@by_class(DOGC, RatioCut)
def test_pickles_label_the_same(cls):
    model = fitted(cls)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    # None of it holds a row for each row of X but labels and what is said of them.
    assert len(pickle.dumps(model)) < X.nbytes + 40 * len(X) + 200_000


# --------------------------------------------------------------------- what is said of it


@by_class(of=(DOGC, DOGCOS, CAN, NormalizedCut))
def test_a_hundred_thousand_noisy_moons(cls):
    rows, truth = make_moons(100_000, noise=0.1, random_state=0)
    model = cls(2).fit(rows)
    assert nmi(truth, model.labels_) >= 0.97
    order = np.random.default_rng(0).permutation(len(rows))
    again = cls(2, n_jobs=2).fit(rows[order])
    assert nmi(model.labels_[order], again.labels_) == pytest.approx(1.0)

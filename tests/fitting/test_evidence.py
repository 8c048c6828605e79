"""Evidence for labels without ground truth, typical rows, other numbers of clusters."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer

import dogc
from dogc.fitting import evidence
from dogc.fitting.exemplars import exemplars
from dogc.fitting.structureless import gaussian_like, neighbour_graph


def two(away, n=150, columns=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, columns))
    X[n:, 0] += away
    return X, np.repeat([0, 1], n)


def test_clusters_that_touch_are_less_clear():
    found = [evidence.evidence_of(*two(away)) for away in (9.0, 4.0, 0.0)]
    assert found[0].verdict == "clear"
    assert found[2].verdict in ("doubtful", "none")
    assert found[0].separation > found[1].separation > found[2].separation
    assert found[0].stability == 1.0 > found[2].stability


def test_wrong_labels_of_clear_clusters_are_not_clear():
    X, y = two(9.0)
    found = evidence.evidence_of(X, (X[:, 1] > 0).astype(int))
    assert found.verdict == "none"
    assert found.reference_separation == evidence.evidence_of(X, y).reference_separation


def test_evidence_does_not_hang_on_names_units_or_turns():
    X, y = two(4.0)
    first = evidence.evidence_of(X, y)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    assert evidence.evidence_of(X, 7 - y) == first
    assert evidence.evidence_of(1024.0 * X, y) == first
    turned = evidence.evidence_of(X @ turn, y)
    assert turned.separation == pytest.approx(first.separation, abs=1e-6)


def test_negative_labels_are_left_out():
    X, y = two(9.0)
    far = np.vstack([X, [[50.0, 50.0, 50.0]]])
    assert evidence.evidence_of(far, np.append(y, -1)) == evidence.evidence_of(X, y)


@pytest.mark.parametrize("labels", [np.zeros(40, int), np.full(40, -1)])
def test_one_cluster_is_no_evidence(labels):
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert evidence.evidence_of(X, labels).verdict == "none"


def test_the_reference_scatters_like_the_rows_in_principal_axes_and_has_no_clusters():
    Z = two(9.0, n=2000)[0]
    Z = Z - Z.mean(axis=0)
    G, scatter = gaussian_like(Z), np.linalg.eigvalsh(np.cov(Z.T))[::-1]
    assert np.cov(G.T) == pytest.approx(np.diag(scatter), abs=0.8)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    assert gaussian_like(-Z[:, ::-1] @ turn) == pytest.approx(G, abs=1e-9)
    middle = np.abs(G[:, 0]) < 1.0
    assert middle.mean() > 0.1 > 20 * (np.abs(Z[:, 0]) < 1.0).mean()  # where the data have a gap


def test_the_graph_of_neighbours_is_that_of_the_row_problem():
    Z = np.random.default_rng(0).normal(size=(30, 2))
    d = np.square(Z[:, None] - Z).sum(axis=2)
    S = np.zeros((30, 30))
    for i in range(30):
        near = np.argsort(d[i])[1:6]
        gap = d[i, near[4]] - d[i, near[:4]]
        S[i, near[:4]] = gap / gap.sum()
    assert neighbour_graph(Z, 4).toarray() == pytest.approx((S + S.T) / 2, abs=1e-9)


@pytest.mark.parametrize("make", [dogc.DOGC, dogc.DOGCOS, dogc.CAN, dogc.PCAN])
def test_a_fit_has_evidence_few_rows_and_many(make):
    for n in (300, 4000):
        X, y = make_blobs(n, centers=3, cluster_std=0.5, random_state=2)
        model = make(3).fit(X)
        assert model.evidence_.verdict == "clear"
        assert adjusted_rand_score(y, model.labels_) > 0.97


def test_sparse_rows_cosine_and_a_graph_have_evidence():
    X, _ = two(9.0, columns=60)
    assert dogc.DOGC(2).fit(sp.csr_array(X)).evidence_.verdict != "none"
    assert dogc.DOGC(2, metric="cosine").fit(X + 3.0).evidence_.stability > 0.5
    A = KNeighborsTransformer(n_neighbors=15).fit_transform(two(9.0)[0])
    found = dogc.DOGC(2, metric="precomputed", n_neighbors=10).fit(A).evidence_
    assert found.verdict == "clear"
    assert np.isnan(found.reference_separation)


def test_exemplars_are_rows_of_their_cluster_near_its_middle():
    X = load_iris().data
    model = dogc.DOGC(3).fit(X)
    for cluster, rows in enumerate(model.exemplars_):
        assert (model.labels_[rows] == cluster).all()
        members = X[model.labels_ == cluster]
        away = np.linalg.norm(X[rows] - members.mean(axis=0), axis=1)
        usual = np.linalg.norm(members - members.mean(axis=0), axis=1)
        assert away.max() < np.median(usual)
    many = dogc.DOGC(3).fit(make_blobs(4000, centers=3, random_state=2)[0])
    assert (many.labels_[many.exemplars_] == np.arange(3)[:, None]).all()


def test_equal_rows_are_one_exemplar_and_small_clusters_are_filled_up():
    Z = np.repeat([[0.0], [1.0], [5.0]], [4, 3, 2], axis=0)
    found = exemplars(Z, np.repeat([0, 1], [7, 2]), np.ones(9), 2)
    assert found.tolist() == [[0, 4, -1, -1, -1], [7, -1, -1, -1, -1]]


def test_exemplars_do_not_change_with_the_last_digit_of_the_membership():
    rng = np.random.default_rng(0)
    Z, sure = rng.normal(size=(40, 2)), np.ones(40)
    near = sure - 1e-16 * rng.integers(0, 3, 40)
    assert near.min() < np.median(near) <= near.max()
    labels = np.zeros(40, dtype=int)
    assert (exemplars(Z, labels, near, 1) == exemplars(Z, labels, sure, 1)).all()


@pytest.mark.parametrize("n", [400, 4000])
def test_other_numbers_of_clusters_are_at_hand(n):
    X, _ = make_blobs(n, centers=4, cluster_std=0.6, random_state=3)
    model = dogc.DOGC("auto").fit(X)
    ranked = [row.n_clusters for row in model.cluster_counts_[:5] if row.n_clusters > 1]
    for c in ranked:
        sizes = np.bincount(model.labels_at(c))
        assert (sizes.sum(), len(sizes)) == (n, c)
        assert (np.diff(sizes) <= 0).all()
    assert (model.labels_at(model.n_clusters_) == model.labels_).all()
    with pytest.raises(ValueError, match="n_clusters=39 is not at hand"):
        model.labels_at(39)


def test_evidence_is_computed_when_asked_for_and_no_file_holds_rows_for_it(tmp_path):
    pytest.importorskip("skops")
    model = dogc.DOGC(3).fit(make_blobs(4000, centers=3, cluster_std=0.5, random_state=2)[0])
    assert callable(model._evidence)
    again = dogc.load(dogc.save(model, tmp_path / "model.skops"))
    assert again._evidence == model.evidence_ == model._evidence
    assert not hasattr(dogc.DOGC(3), "evidence_")

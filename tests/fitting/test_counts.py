"""How many clusters: the evidence for each number, and what is made of it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.neighbors import KNeighborsTransformer

from dogc import CAN, DOGC
from dogc.fitting.auto import n_clusters as counting

seeds = st.integers(0, 2**32 - 1)


def random_graph(n, seed, density=0.4, whole=False):
    """A symmetric graph without a diagonal; with ``whole`` it is in one piece."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    if whole:
        A += np.diag(0.1 + rng.random(n - 1), 1)
    return A + A.T


def block_graph(sizes, tie=1e-3):
    """Complete graphs of those sizes, rows of which sum to about one, tied to each other."""
    A = np.full((sum(sizes), sum(sizes)), tie)
    start = 0
    for m in sizes:
        A[start : start + m, start : start + m] = 1.0 / (m - 1)
        start += m
    np.fill_diagonal(A, 0.0)
    return sp.csr_array(A)


def far_blobs(c, seed=0, each=50):
    centers = 10.0 * np.column_stack([np.arange(c) % 3, np.arange(c) // 3])
    return make_blobs(each * c, centers=centers, random_state=seed)[0]


def numbers(model):
    return [row.n_clusters for row in model.cluster_counts_]


# ---------------------------------------------------------------------------- numerics


def price(A, inside):
    """The price of cutting some rows out of a dense graph, one row's weight added."""
    cut = A[np.ix_(inside, ~inside)].sum()
    return (cut + 1.0) / (min(A[inside].sum(), A[~inside].sum()) + 1.0)


def sweep(B):
    """The least price over all halves along the second eigenvector of a connected graph."""
    if len(B) < 4:
        return 1.0
    root = np.sqrt(B.sum(axis=1))
    vector = np.linalg.eigh(B / np.outer(root, root))[1][:, -2] / root
    order, halves = np.argsort(vector), []
    for m in range(1, len(B)):
        inside = np.zeros(len(B), dtype=bool)
        inside[order[:m]] = True
        halves.append(price(B, inside))
    return min(halves)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(4, 30))
def test_the_inner_cut_is_the_least_of_the_sweep(seed, n):
    B = random_graph(n, seed, whole=True)
    assert counting.inner_cut(sp.csr_array(B)) == pytest.approx(sweep(B), rel=1e-6)


@pytest.mark.parametrize("dense", [10, 10_000])
def test_a_large_cluster_is_cut_where_a_small_one_would_be(monkeypatch, dense):
    monkeypatch.setattr(counting, "DENSE", dense)
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    chance = np.where(y[:, None] == y, 0.3, 0.02)
    A = np.triu(rng.random((200, 200)) < chance, 1).astype(float)
    A += A.T
    assert counting.inner_cut(sp.csr_array(A)) == pytest.approx(sweep(A), rel=0.02)
    assert counting.inner_cut(sp.csr_array(A)) == pytest.approx(price(A, y == 0), rel=0.02)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 4))
def test_firmness_is_what_cuts_in_two_over_what_cut_out(seed, c):
    rng = np.random.default_rng(seed)
    A = random_graph(24, seed, density=0.9, whole=True)
    labels = rng.permutation(np.arange(24) % c)
    expected = [
        np.log(sweep(A[np.ix_(labels == j, labels == j)]) / price(A, labels == j)) for j in range(c)
    ]
    firm = counting.firmness(sp.csr_array(A), labels)
    assert firm == pytest.approx(np.mean(expected), abs=1e-6)
    # Neither the names of clusters nor the order of rows matter.
    order = rng.permutation(24)
    moved = sp.csr_array(A[np.ix_(order, order)])
    assert counting.firmness(moved, 10 - 3 * labels[order]) == pytest.approx(firm, abs=1e-9)


@pytest.mark.parametrize("sizes", [[9, 9], [20, 10, 15], [8] * 7, [6, 31, 12, 12, 9]])
def test_blocks_are_counted(sizes):
    A = block_graph(sizes)
    table = counting.weigh_counts([A, A], 12)
    best = table[0]
    assert best.n_clusters == len(sizes)
    assert (best.votes, best.n_scales) == (2, 2)
    assert best.score == pytest.approx(len(sizes) ** 0.6 * (best.firmness - 0.6), abs=2e-3)
    firm = counting.firmness(A, np.repeat(np.arange(len(sizes)), sizes))
    assert best.firmness == pytest.approx(firm, abs=2e-3)
    assert best.jump == max(row.jump for row in table)


def test_the_third_is_a_neighbour_of_the_first():
    scores = [(1, 0.0), (4, 3.0), (5, 1.0), (7, 2.0), (8, 1.5), (2, 1.2)]
    rows = [counting.CountEvidence(c, score, 0, 1) for c, score in scores]
    assert [row.n_clusters for row in counting._ordered(rows)] == [4, 7, 5, 8, 2, 1]


@pytest.mark.parametrize(
    ("n", "most"), [(2, 1), (3, 1), (4, 2), (14, 2), (15, 3), (150, 30), (299, 59), (10**6, 60)]
)
def test_no_more_than_so_many(n, most):
    assert counting.most_clusters(n) == most


# ------------------------------------------------------------------------------- data


@pytest.mark.parametrize("c", [2, 5, 8])
def test_blobs_are_counted(c):
    assert DOGC("auto").fit(far_blobs(c, seed=c)).n_clusters_ == c


def test_moons_and_circles_are_two():
    assert DOGC("auto").fit(make_moons(300, noise=0.05, random_state=0)[0]).n_clusters_ == 2
    X = make_circles(400, noise=0.04, factor=0.5, random_state=0)[0]
    assert DOGC("auto").fit(X).n_clusters_ == 2


@pytest.mark.parametrize("draw", ["random", "standard_normal"])
def test_no_clusters_are_seen_where_there_are_none(draw):
    X = getattr(np.random.default_rng(0), draw)((500, 5))
    model = DOGC("auto").fit(X)
    assert model.n_clusters_ == 1
    assert not model.labels_.any()


@pytest.mark.parametrize(
    ("cls", "n"),
    [(DOGC, 300), (CAN, 300), pytest.param(DOGC, 3600, marks=pytest.mark.slow)],
    ids=str,
)
def test_the_evidence_is_consistent(cls, n):
    X = make_blobs(n, centers=4, cluster_std=1.5, random_state=2)[0]
    model = cls("auto").fit(X)
    table = model.cluster_counts_
    first = table[0]
    assert model.n_clusters_ == first.n_clusters
    assert first.score == max(row.score for row in table)
    assert numbers(model).count(1) == 1
    assert all(1 <= c <= counting.MOST for c in numbers(model))
    one = table[numbers(model).index(1)]
    assert (one.score, one.votes) == (0.0, 0)
    for row in table:
        assert 0 <= row.votes <= row.n_scales == one.n_scales
        if row is not one:
            level = counting.level_of(row.reference)
            score = row.n_clusters**0.6 * (row.firmness - level)
            assert row.score == pytest.approx(score, abs=5e-3)
    rest = [row.score for row in table[3:]]
    assert rest == sorted(rest, reverse=True)
    assert table[1].score == sorted(row.score for row in table)[-2]


def test_threads_and_the_order_of_rows_have_no_say():
    X = far_blobs(4)
    order = np.random.default_rng(0).permutation(len(X))
    table = DOGC("auto", n_jobs=1).fit(X).cluster_counts_
    assert DOGC("auto", n_jobs=2).fit(X).cluster_counts_ == table
    assert DOGC("auto").fit(X[order]).cluster_counts_ == table


# --------------------------------------------------------------------- degenerate data


def test_sparse_rows_and_graphs_are_counted():
    X = far_blobs(4)
    assert DOGC("auto").fit(sp.csr_array(X)).n_clusters_ == 4
    D = KNeighborsTransformer(n_neighbors=45, mode="distance").fit_transform(X)
    assert DOGC("auto", metric="precomputed").fit(D).n_clusters_ == 4


# ------------------------------------------------------------------------------ picture


@pytest.fixture
def display():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from dogc.plotting import CountDisplay

    yield CountDisplay
    matplotlib.pyplot.close("all")


def test_the_picture_shows_every_number(display):
    model = DOGC("auto").fit(far_blobs(4))
    shown = display.from_estimator(model)
    table = sorted(model.cluster_counts_)
    assert shown.line_.get_xdata().tolist() == [row.n_clusters for row in table]
    np.testing.assert_allclose(shown.line_.get_ydata(), [row.score for row in table])
    assert "4 clusters" in shown.ax_.get_title()
    marks = [line for line in shown.ax_.lines if len(line.get_xdata()) == 1]
    assert len(marks) == len(table)
    largest = max(marks, key=lambda line: line.get_markersize())
    assert largest.get_xdata()[0] == 4
    shown.figure_.canvas.draw()


def test_a_model_that_was_told_the_number_has_no_picture(display):
    with pytest.raises(
        ValueError, match=r"no cluster_counts_ to draw.*fitted with n_clusters='auto'"
    ):
        display.from_estimator(DOGC(3).fit(far_blobs(4)))


def test_without_a_firm_number_the_level_falls_to_that_of_rows_without_clusters():
    # In fifty columns cuts are dear: no number of clusters is as firm as in the plane.
    rng = np.random.default_rng(0)
    y = np.arange(600) % 4
    X = 0.4 * rng.normal(size=(4, 50))[y] + rng.normal(size=(600, 50))
    first, *_ = DOGC("auto").fit(X).cluster_counts_
    assert first.n_clusters == 4
    assert first.firmness < counting.LEVEL
    level = counting.lowest_level(first.reference)
    assert first.score == pytest.approx(4**0.6 * (first.firmness - level), abs=5e-3)


@pytest.mark.parametrize("columns", [2, 5, 20])
def test_a_gaussian_and_a_cube_are_one_cluster(columns):
    rng = np.random.default_rng(3)
    for X in (rng.normal(size=(400, columns)), rng.random((400, columns))):
        assert DOGC("auto").fit(X).n_clusters_ == 1

"""Groups that lie apart, against a slow single linkage; small clusters through the public face."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from dogc import CAN, DOGC, DOGCOS
from dogc.numerics import separation


def neighbours(X):
    """All others as candidates, nearest first."""
    d = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(d, -1.0)
    idx = np.argsort(d, axis=1, kind="stable")[:, 1:]
    return idx, np.take_along_axis(d, idx, axis=1)


def slow_pieces(X, fewest):
    """Groups joined two by two, the nearest first, without a tree; then cut where one lay apart."""
    n = len(X)
    d = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    groups, longest, joins = [[i] for i in range(n)], [0.0] * n, []
    while len(groups) > 1:
        way, a, b = min(
            (d[np.ix_(groups[a], groups[b])].min(), a, b)
            for a in range(len(groups))
            for b in range(a)
        )
        small = min(a, b, key=lambda g: len(groups[g]))
        joins.append((way, longest[small], list(groups[small])))
        groups[b], longest[b] = groups[a] + groups[b], way
        del groups[a], longest[a]
    steps = sorted(way for way, *_ in joins)
    middle, usual = (steps[int(q * (len(steps) - 1))] for q in (0.5, separation.USUAL))
    far = usual + separation.FAR * (usual - middle)
    return [
        set(rows)
        for way, own, rows in joins
        if len(rows) >= fewest and way >= max(separation.OWN * own, far)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 8), st.floats(3.0, 40.0))
def test_groups_apart_are_those_of_a_slow_single_linkage(seed, few, away):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(25, 2)), rng.normal([away, 0.0], size=(few, 2))])
    piece = separation.pieces(*neighbours(X), 4)
    apart = slow_pieces(X, 4)
    for rows in apart:  # what is apart shares its piece with nobody that is nearer to the rest
        inside = np.isin(np.arange(len(X)), list(rows))
        assert not np.intersect1d(piece[inside], piece[~inside & (piece == 0)]).size or (
            piece[inside].min() == 0
        )
    assert len(np.unique(piece)) == len(apart) + 1


def test_only_the_largest_pieces_stand():
    piece = np.repeat([0, 1, 2], [50, 6, 5])
    size = np.ones(61)
    assert set(separation.stands(size, piece, 2, 10.0).tolist()) == {-1, 1}
    assert set(separation.stands(size, piece, 3, 10.0).tolist()) == {-1, 1, 2}
    assert (separation.stands(size, np.zeros(61, dtype=int), 3, 100.0) == -1).all()


def test_a_piece_that_stands_counts_for_the_least_and_its_parts_for_less():
    stands = np.repeat([-1, 1], [50, 8])
    weight = separation.standing(np.ones(58), stands, 20.0)
    assert weight[stands == 1].sum() >= 20.0
    assert weight[stands == 1][:-1].sum() < 20.0
    assert (weight[stands < 0] == 1.0).all()


def test_no_edge_leads_into_a_piece_that_stands():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(6, 2)) + 9.0])
    idx, d = neighbours(X)
    stands = np.repeat([-1, 1], [30, 6])
    apart, far = separation.set_apart(idx, d, stands)
    ends = np.where(apart >= 0, stands[apart], stands[:, None])
    assert (ends == stands[:, None]).all()
    assert (np.isinf(far) == (apart < 0)).all()
    assert (np.diff(np.where(np.isinf(far), 1e9, far), axis=1) >= 0).all()  # nearest first
    A = separation.without_links(sp.csr_array(np.ones((36, 36))), stands).toarray()
    assert (A[:30, 30:] == 0).all()
    assert A[:30, :30].all()
    assert A[30:, 30:].all()


def small_group(n, few, seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(n - few, 2)), rng.normal([10.0, 0.0], size=(few, 2))])
    return X, np.arange(n) >= n - few


@pytest.mark.parametrize(
    ("method", "n", "few"), [(DOGC, 500, 15), (DOGCOS, 1000, 20), (CAN, 10_000, 100)]
)
def test_a_small_cluster_is_found(method, n, few):
    X, y = small_group(n, few, 0)
    model = method(2).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.96
    assert not model.outliers_[y].any()
    assert model.membership_[y].mean() > 0.9
    assert model.predict(X[y]).mean() > 0.9

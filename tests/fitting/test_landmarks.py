"""Landmarks: where they are, who is joined with them, and what that adds up to."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_landmarks as dense
from dogc.fitting import landmarks, passes, prototypes
from dogc.numerics import bipartite

thorough = settings(deadline=None, max_examples=40)


def cloud(n=300, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@thorough
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_copies_are_counted_and_the_order_does_not_matter(seed, most):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 2))[rng.integers(0, 30, 30 * most)]
    rows, shuffled = (landmarks.ready_rows(Z, 1) for Z in (X, rng.permutation(X)))
    np.testing.assert_array_equal(rows.X, shuffled.X)
    np.testing.assert_array_equal(rows.size, shuffled.size)
    np.testing.assert_array_equal(rows.X[rows.inverse], X)
    assert rows.size.sum() == len(X)
    np.testing.assert_array_equal(rows.points(), shuffled.points())


@pytest.mark.parametrize("d", [2, 9])  # by a tree, by all distances
@pytest.mark.parametrize("k", [1, 4])
def test_nearest_landmarks_are_the_nearest(d, k):
    rows = landmarks.ready_rows(cloud(d=d), 1)
    R = rows.points()[::10]
    idx, found = landmarks.nearest_landmarks(rows, R, k)
    D = dense.squared_distances(rows.points(), R)
    np.testing.assert_allclose(found, np.sort(D, axis=1)[:, :k], atol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(D, idx, axis=1), found, atol=1e-9)


@pytest.mark.parametrize("candidates", [1, 10])
def test_landmarks_are_drawn_and_are_all_rows_where_these_are_few(candidates):
    rows = landmarks.ready_rows(cloud(), 1)
    drawn = [
        landmarks.make_landmarks(rows, 20, candidates, np.random.default_rng(s)) for s in (0, 0, 1)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert len(drawn[0]) <= 20
    everything = landmarks.make_landmarks(rows, 300, candidates, np.random.default_rng(0))
    np.testing.assert_array_equal(everything, rows.points())


def test_sparse_rows_are_the_same_points_but_for_the_centre():
    X = cloud()
    X[X < 0.5] = 0.0
    rows, sparse = landmarks.ready_rows(X, 1), landmarks.ready_rows(sp.csr_array(X), 1)
    np.testing.assert_array_equal(rows.inverse, sparse.inverse)
    one, other = (Z - Z.mean(axis=0) for Z in (rows.points(), sparse.points()))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_barycentres_are_weighted_means_in_any_blocks(monkeypatch):
    X = np.repeat(cloud(5_000), 2, axis=0)
    rows = landmarks.ready_rows(X, 1)
    rng = np.random.default_rng(0)
    idx = np.argsort(rng.random((5_000, 6)), axis=1)[:, :3]
    T = rng.random((5_000, 3))
    found = landmarks.Links(idx, T)
    whole = landmarks.barycentres(rows, found, 7)
    B = 2 * dense.dense(idx, T, 7)
    np.testing.assert_allclose(whole[1], B.sum(axis=0))
    np.testing.assert_allclose(whole[0][:6], (B.T @ rows.points())[:6] / whole[1][:6, None])
    np.testing.assert_array_equal(whole[0][6], 0.0)
    monkeypatch.setattr(passes, "BLOCK_ELEMENTS", 1)
    np.testing.assert_allclose(landmarks.barycentres(rows, found, 7)[0], whole[0], atol=1e-15)


@thorough
@given(st.integers(0, 2**32 - 1))
def test_clusters_of_several_clusterings_are_numbered_one_after_the_other(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, 4).tolist()
    labels = np.column_stack([rng.integers(0, count, 20) for count in counts])
    found = landmarks.cluster_links(labels, counts)
    B = 4 * dense.dense(found.idx, found.T, sum(counts))
    np.testing.assert_allclose(
        B, np.hstack([np.eye(k)[column] for k, column in zip(counts, labels.T, strict=True)])
    )
    E = bipartite.landmark_graph(found.idx, found.T, np.ones(20), sum(counts))
    np.testing.assert_allclose(E.toarray(), B.T @ B / 16)


def test_votes_of_prototypes_do_not_depend_on_other_rows():
    rows = landmarks.ready_rows(cloud(), 1)
    labels = np.arange(30) % 3
    fitted = prototypes.Prototypes(rows.frame, rows.points()[:30], 4, labels)
    new = 2.0 * cloud(200, seed=1)
    one_by_one = np.concatenate([prototypes.new_labels(fitted, row[None], 1) for row in new])
    np.testing.assert_array_equal(prototypes.new_labels(fitted, new, 2), one_by_one)


def test_one_prototype_labels_everything():
    rows = landmarks.ready_rows(cloud(), 1)
    fitted = prototypes.Prototypes(rows.frame, rows.points()[:1], 1, np.zeros(1, dtype=int))
    np.testing.assert_array_equal(prototypes.new_labels(fitted, 1e140 * cloud(9), 1), 0)

"""Landmarks: where they are, who is joined with them, and what that adds up to."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_landmarks as dense
from dogc.fitting import landmarks

thorough = settings(deadline=None, max_examples=40)


def points(rows, frame):
    return landmarks.points_of_rows(frame, rows.X)


def cloud(n=300, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@thorough
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_copies_are_counted_and_the_order_does_not_matter(seed, most):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 2))[rng.integers(0, 30, 30 * most)]
    (rows, frame), (shuffled, other) = map(landmarks.ready_rows, (X, rng.permutation(X)))
    np.testing.assert_array_equal(rows.X, shuffled.X)
    np.testing.assert_array_equal(rows.size, shuffled.size)
    np.testing.assert_array_equal(rows.X[rows.inverse], X)
    assert rows.size.sum() == len(X)
    np.testing.assert_array_equal(points(rows, frame), points(shuffled, other))


@pytest.mark.parametrize("d", [2, 9])  # by a tree, by all distances
@pytest.mark.parametrize("k", [1, 4])
def test_nearest_landmarks_are_the_nearest(d, k):
    rows, frame = landmarks.ready_rows(cloud(d=d))
    R = points(rows, frame)[::10]
    idx, found = landmarks.nearest_landmarks(frame, R, rows.X, k, 1)
    D = dense.squared_distances(points(rows, frame), R)
    np.testing.assert_allclose(found, np.sort(D, axis=1)[:, :k], atol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(D, idx, axis=1), found, atol=1e-9)


@pytest.mark.parametrize("candidates", [1, 10])
def test_landmarks_are_drawn_and_are_all_rows_where_these_are_few(candidates):
    rows, frame = landmarks.ready_rows(cloud())
    drawn = [
        landmarks.make_landmarks(rows, frame, 20, candidates, np.random.default_rng(s), 1)
        for s in (0, 0, 1)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert len(drawn[0]) <= 20
    everything = landmarks.make_landmarks(rows, frame, 300, candidates, np.random.default_rng(0), 1)
    np.testing.assert_array_equal(everything, points(rows, frame))


def test_sparse_rows_are_the_same_points_but_for_the_centre():
    X = cloud()
    X[X < 0.5] = 0.0
    both = landmarks.ready_rows(X), landmarks.ready_rows(sp.csr_array(X))
    np.testing.assert_array_equal(both[0][0].inverse, both[1][0].inverse)
    one, other = (Z - Z.mean(axis=0) for Z in (points(*ready) for ready in both))
    np.testing.assert_allclose(one, other, atol=1e-9)

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dogc.numerics import lloyd
from dogc.numerics.lloyd import cell_means, cells, halved_cells, nearest_mean
from reference_landmarks import squared_distances

thorough = settings(deadline=None, max_examples=30)


@st.composite
def clouds(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    m, q, p = draw(st.integers(1, 60)), draw(st.integers(1, 6)), draw(st.integers(1, 20))
    Z = rng.standard_normal((m, q))
    if draw(st.booleans()):
        Z = Z.round(0)  # copies and ties
    return Z, rng.integers(1, 5, m), p


# ------------------------------------------------------------------------- nearest means


@thorough
@given(clouds())
def test_the_nearest_mean_is_nearest(cloud):
    Z, _, p = cloud
    R = Z[:p] + 0.25
    found = nearest_mean(Z, R)
    d = squared_distances(Z, R)
    np.testing.assert_allclose(d[np.arange(len(Z)), found], d.min(axis=1), atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_any_number_of_threads_finds_the_same(threads, monkeypatch):
    monkeypatch.setattr(lloyd, "ELEMENTS", 1)  # many blocks
    rng = np.random.default_rng(0)
    Z, R = rng.standard_normal((1_000, 7)), rng.standard_normal((30, 7))
    np.testing.assert_array_equal(nearest_mean(Z, R, threads), nearest_mean(Z, R, 1))
    in_threads = functools.partial(nearest_mean, threads=threads)
    cell, centres = cells(Z, np.ones(1_000, dtype=int), Z[:30], 4, in_threads)
    alone, same_centres = cells(Z, np.ones(1_000, dtype=int), Z[:30], 4)
    np.testing.assert_array_equal(cell, alone)
    np.testing.assert_array_equal(centres, same_centres)


# ------------------------------------------------------------------------- means of cells


@thorough
@given(clouds())
def test_means_of_cells_match_the_obvious_loop(cloud):
    Z, weight, p = cloud
    cell = np.random.default_rng(len(Z)).integers(0, p, len(Z))
    wanted = [
        np.average(Z[cell == j], axis=0, weights=weight[cell == j])
        for j in range(p)
        if (cell == j).any()
    ]
    np.testing.assert_allclose(cell_means(Z, weight, cell, p), wanted, atol=1e-12)


# -------------------------------------------------------------------------- Lloyd's steps


@thorough
@given(clouds(), st.integers(0, 5))
def test_every_cell_has_rows_and_its_mean(cloud, steps):
    Z, weight, p = cloud
    cell, R = cells(Z, weight, Z[:p], steps)
    assert cell.shape == (len(Z),)
    assert len(R) <= min(p, len(Z))
    np.testing.assert_array_equal(np.unique(cell), np.arange(len(R)))
    for j in range(len(R)):
        inside = cell == j
        wanted = np.average(Z[inside], axis=0, weights=weight[inside])
        np.testing.assert_allclose(R[j], wanted, atol=1e-12)


def test_a_cell_that_the_last_step_empties_is_dropped():
    Z = np.array([[0.0, 6.0], [0.0, 7.0], [3.0, 7.0], [2.0, 1.0], [5.0, 1.0]])
    weight = np.array([4, 3, 1, 3, 3])
    cell, R = cells(Z, weight, Z[:3], 1)
    np.testing.assert_array_equal(cell, [0, 0, 0, 1, 1])
    np.testing.assert_allclose(R, [[3 / 8, 6.5], [3.5, 1.0]])


def test_cells_keep_their_digits_far_from_the_origin():
    Z = np.round(8.0 * np.random.default_rng(1).standard_normal((80, 2))) / 8.0
    cell, R = cells(Z, np.ones(80, dtype=int), Z[:10], 3)
    away = np.array([1e8, -1e8])
    moved, far = cells(Z + away, np.ones(80, dtype=int), Z[:10] + away, 3)
    np.testing.assert_array_equal(moved, cell)
    np.testing.assert_allclose(far - away, R, rtol=0, atol=1e-6)


# ------------------------------------------------------------------------- halves of halves


@thorough
@given(clouds())
def test_halves_of_halves_have_about_the_same_weight(cloud):
    Z, weight, p = cloud
    p = min(p, len(Z))
    counts = np.bincount(halved_cells(Z, np.ones(len(Z)), p))
    assert len(counts) == p
    assert counts.max() <= 2 * -(-len(Z) // p)
    total = np.bincount(halved_cells(Z, weight, p), weights=weight)
    assert len(total) <= p
    assert total.max() <= 2 * weight.sum() / p + 2 * weight.max()


def test_a_first_half_is_below_the_median_of_the_widest_column():
    Z = np.random.default_rng(0).standard_normal((100, 3)) * [1.0, 5.0, 2.0]
    found = halved_cells(Z, np.ones(100), 2)
    np.testing.assert_array_equal(found, Z[:, 1] >= np.median(Z[:, 1]))

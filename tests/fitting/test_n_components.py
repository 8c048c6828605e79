"""Columns that count as signal, and the space in which neighbours are then looked up."""

import numpy as np
import pytest
import scipy.sparse as sp

from dogc.fitting.auto.n_components import geometry_of, lookup_dimension, signal_dimension
from dogc.fitting.column_maps import GIVEN, Columns


def noise_with(first, d=40, n=1000):
    """Variances of pure noise at level one, all inside the edges, and one direction above."""
    reach = np.sqrt(d / n)
    return np.append(np.linspace(1.0 - reach, 1.0 + reach, d - 1), first)


@pytest.mark.parametrize(("multiple", "found"), [(1.05, None), (1.15, 1)])
def test_a_direction_is_signal_from_a_tenth_above_the_edge_on(multiple, found):
    d, n = 40, 1000
    variances = noise_with(0.0, d, n)
    edge = (1.0 + np.sqrt(d / n)) ** 2  # at level one
    for _ in range(20):  # the level is the median, which the direction itself belongs to
        variances = noise_with(multiple * edge * np.median(variances), d, n)
    assert signal_dimension(variances, n) == found


@pytest.mark.parametrize(("multiple", "told"), [(0.95, True), (0.85, False)])
def test_a_direction_far_below_the_lower_edge_is_no_noise(multiple, told):
    d, n = 40, 1000
    floor = (1.0 - np.sqrt(d / n)) ** 2
    variances = np.append(noise_with(9.0, d - 1, n), multiple * floor)
    assert (signal_dimension(variances, n) is not None) == told


def noisy_blobs(d=30, n=240):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X[:, :3] += 8.0 * np.eye(3)[np.arange(n) % 3]
    return X


def test_neighbours_are_looked_up_in_twice_as_many_directions_and_two():
    X = noisy_blobs()
    geometry = geometry_of(X, "auto")
    assert geometry.m == 2
    assert lookup_dimension(2) == 6
    assert geometry.lookup.shape == (30, 6)
    assert geometry.space.R.shape == (240, 6)
    principal = np.linalg.svd(X - X.mean(axis=0))[2][:6]
    overlap = np.linalg.svd(principal @ geometry.lookup, compute_uv=False)
    np.testing.assert_allclose(overlap, 1.0, atol=1e-6)


def test_a_number_of_ones_own_is_looked_up_everywhere():
    geometry = geometry_of(noisy_blobs(), 2)
    assert geometry.lookup is None
    assert geometry.space.R.shape[1] == 30


@pytest.mark.parametrize(
    ("m", "d", "found"),
    [(1, 9, 1), (1, 8, None), (4, 12, 4), (4, 11, None), (5, 15, 5), (5, 14, None)],
)
def test_noise_has_eight_directions_at_least_and_twice_those_of_the_signal(m, d, found):
    assert signal_dimension(np.append(np.full(m, 50.0), np.ones(d - m)), 10_000) == found


WHITENED = Columns("within", np.ones(30), 2.0 * np.eye(30))


@pytest.mark.parametrize(
    ("X", "columns"),
    [(sp.csr_array(noisy_blobs()), GIVEN), (noisy_blobs(n=30), GIVEN), (noisy_blobs(), WHITENED)],
    ids=["sparse", "as many columns as rows", "whitened"],
)
def test_elsewhere_no_direction_is_left_out(X, columns):
    geometry = geometry_of(X, "auto", columns)
    assert geometry.space is geometry.lookup is geometry.m is None

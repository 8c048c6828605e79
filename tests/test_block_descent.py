import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dogc import multigrid, stiefel
from dogc.block_descent import block_descent
from dogc.products import RowParts
from dogc.subspaces import Spans
from graphs import assert_orthonormal, blobs, laplacian, orthonormal, ring


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(multigrid, "COARSEST", 25)


def problem(seed, S, c, pull):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, c, len(S))
    B = pull * np.eye(c)[labels] @ orthonormal(rng, c, c)
    return laplacian(S), B, orthonormal(rng, len(S), c)


def descend(L, B, F, threads=1, block=16_384, **options):
    with RowParts(L, threads, block) as parts:
        return block_descent(parts, B, F, multigrid.coarsen(L), **options)


CASES = {
    "blob": (blobs(0, [200], gap=0.0), 3),
    "two blobs": (blobs(1, [120, 80], gap=40.0), 4),
    "ring": (ring(300), 3),
    "one column": (blobs(2, [150], gap=0.0), 1),
}


@pytest.mark.parametrize("pull", [1e-3, 1e-1, 10.0])
@pytest.mark.parametrize("name", CASES)
def test_it_reaches_what_the_power_iteration_reaches(name, pull):
    S, c = CASES[name]
    L, B, _ = problem(3, S, c, pull)
    # From where the labels point to, so that both are in the same basin.
    F = stiefel.polar(B)
    slow = stiefel.power_iteration(L, B, F, tol=1e-9)
    fast = descend(L, B, F, max_iter=200, tol=1e-9, gain=0.0)
    assert_orthonormal(fast.F)
    at_fast = stiefel.quadratic_objective(L @ fast.F, B, fast.F)
    assert fast.objective == pytest.approx(at_fast, rel=1e-9)
    assert fast.objective <= slow.objective + 1e-6 * abs(slow.objective)


def test_on_a_long_ring_three_iterations_beat_fifty_of_the_curvilinear_search():
    L, B, _ = problem(4, ring(4000), 3, 1e-4)
    F, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((4000, 3)))
    fast = descend(L, B, F, max_iter=3)
    slow = stiefel.curvilinear_search(L, B, F, max_iter=50)
    assert fast.n_iter <= 3
    assert fast.objective < slow.objective


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000), st.floats(1e-4, 1e2), st.floats(1e-6, 1e6))
def test_it_never_goes_up_and_stays_on_the_manifold(seed, pull, scale):
    rng = np.random.default_rng(seed)
    L, B, F = problem(seed, blobs(seed, [int(rng.integers(30, 90))], gap=0.0), 3, pull)
    L, B = L * scale, B * scale
    before = stiefel.quadratic_objective(L @ F, B, F)
    result = descend(L, B, F)
    assert_orthonormal(result.F)
    after = stiefel.quadratic_objective(L @ result.F, B, result.F)
    assert after <= before + 1e-9 * abs(before)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_a_bit(threads):
    L, B, F = problem(5, blobs(5, [200], gap=0.0), 3, 0.1)
    one = descend(L, B, F, block=16)
    many = descend(L, B, F, threads, block=16)
    assert np.array_equal(one.F, many.F)
    assert one.objective == many.objective


def test_at_a_minimum_nothing_is_done():
    L, B, _ = problem(6, blobs(6, [200], gap=0.0), 3, 1.0)
    done = descend(L, B, stiefel.polar(B), max_iter=200, tol=1e-10, gain=0.0)
    again = descend(L, B, done.F, tol=1e-7)
    assert again.n_iter == 0
    assert again.F is done.F


def test_without_edges_the_labels_decide():
    _, B, F = problem(7, ring(60), 3, 1.0)
    result = descend(sp.csr_array((60, 60)), B, F, max_iter=200)
    np.testing.assert_allclose(result.F, stiefel.polar(B), atol=1e-4)


def test_directions_that_add_nothing_are_left_out():
    L = laplacian(blobs(8, [100], gap=0.0))
    F = orthonormal(np.random.default_rng(9), 100, 3)
    with RowParts(L) as parts:
        spans = Spans(parts.__matmul__, parts, F, L @ F)
        basis, inner = spans.extend(np.hstack([F[:, :1], F[:, :1] + F[:, 1:2], np.zeros((100, 1))]))
    assert basis.shape == (6, 3)
    np.testing.assert_allclose(inner, F.T @ L @ F, atol=1e-12)

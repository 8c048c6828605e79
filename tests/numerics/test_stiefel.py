import numpy as np
import pytest

import reference
from dogc.numerics import stiefel
from graphs import assert_orthonormal, laplacian, neighbour_graph, orthonormal


def random_problem(seed, n, c, size=1.0):
    """A, B and a good start: the bottom eigenvectors of A, turned towards B."""
    rng = np.random.default_rng(seed)
    A = laplacian(neighbour_graph(rng.standard_normal((n, 2)), min(6, n - 1))) * 2.0
    B = size * rng.standard_normal((n, c)) / np.sqrt(n)
    bottom = np.linalg.eigh(A.toarray())[1][:, :c]
    return A, B, bottom @ reference.nearest_orthonormal(bottom.T @ B)


# ------------------------------------------------------------------ the quadratic problem


SIZES = [(20, 1), (30, 2), (60, 3), (40, 5), (12, 6), (10, 7), (9, 8)]


@pytest.mark.parametrize("size", [0.05, 1.0, 20.0])
@pytest.mark.parametrize(("n", "c"), SIZES)
def test_the_two_solvers_agree(n, c, size):
    A, B, start = random_problem(0, n, c, size)
    found = stiefel.curvilinear_search(A, B, start), reference.power_iteration(A, B, start)
    search, power = (reference.stiefel_value(A.toarray(), B, F) for F in found)
    assert abs(search - power) <= 1e-6 * max(1.0, abs(power))
    assert search <= reference.stiefel_value(A.toarray(), B, start) + 1e-12
    assert_orthonormal(found[0])


@pytest.mark.parametrize("max_iter", [0, 1, 5, 40])
def test_the_answer_is_never_above_the_start(max_iter):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A, B, _ = random_problem(seed, 25, 3)
        start = orthonormal(rng, 25, 3)
        F = stiefel.curvilinear_search(A, B, start, max_iter=max_iter)
        value, first = (reference.stiefel_value(A.toarray(), B, at) for at in (F, start))
        assert value <= first + 1e-13
        assert (value < first) == (max_iter > 0)
        assert_orthonormal(F)


@pytest.mark.parametrize(("n", "c"), [(20, 1), (30, 3), (15, 8)])
def test_without_a_linear_term_the_value_is_that_of_the_bottom_eigenvectors(n, c):
    A, B, _ = random_problem(5, n, c)
    start = orthonormal(np.random.default_rng(5), n, c)
    F = stiefel.curvilinear_search(A, 0.0 * B, start)
    least = reference.smallest_eigenvalue_sum(A.toarray(), c)
    np.testing.assert_allclose(np.trace(F.T @ (A @ F)), least, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_line_search_tames_steps_that_are_far_too_long(monkeypatch, seed):
    A, B, start = random_problem(seed, 30, 3)
    monkeypatch.setattr(stiefel, "_barzilai_borwein", lambda *args: 100.0)
    F = stiefel.curvilinear_search(A, B, start, max_iter=200)
    best = reference.power_iteration(A, B, start)
    value, expected = (reference.stiefel_value(A.toarray(), B, at) for at in (F, best))
    np.testing.assert_allclose(value, expected, rtol=1e-3)


@pytest.mark.parametrize("least", [0.02, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("step", [0.5, 3.0])
def test_a_step_goes_back_to_the_minimum_of_a_parabola(least, step):
    def value(t):  # a parabola with its minimum at that share of the step
        return 7.0 + (t - least * step) ** 2

    expected = 2.0 * least * step * step  # minus its slope at zero, times the step
    assert stiefel._shrink(value(0.0), value(step), expected) == pytest.approx(least)


@pytest.mark.parametrize(
    ("value_new", "share"), [(7.0 + 1e6, 0.02), (7.0 - 0.9, 0.5), (7.0 - 1.5, 0.5)]
)
def test_a_step_goes_back_by_half_at_least_and_not_to_nothing(value_new, share):
    assert stiefel._shrink(7.0, value_new, 1.0) == share


def test_steps_alternate_between_the_two_of_barzilai_and_borwein():
    # For a Hessian of diag(1, 3): s's / s'y = 2 / 4 and s'y / y'y = 4 / 10.
    moved, turned = np.array([[1.0], [1.0]]), np.array([[1.0], [3.0]])
    steps = [stiefel._barzilai_borwein(moved, turned, i, 1.0) for i in (1, 2, 3, 4)]
    np.testing.assert_allclose(steps, [0.5, 0.4, 0.5, 0.4])
    assert stiefel._barzilai_borwein(moved, 0.0 * turned, 1, 4.0) == 0.25


@pytest.mark.parametrize(("n", "c"), [(8, 1), (9, 3), (6, 5), (5, 5)])
@pytest.mark.parametrize("tau", [-0.3, 0.0, 1e-6, 0.4, 3.0, 100.0])
def test_the_curve_is_the_dense_cayley_transform(n, c, tau):
    rng = np.random.default_rng(12)
    F, G = orthonormal(rng, n, c), rng.standard_normal((n, c))
    point = stiefel._cayley_curve(F, G)(tau)
    np.testing.assert_allclose(point, reference.cayley(F, G, tau), rtol=0, atol=1e-11)

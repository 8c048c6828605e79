import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import reference
from dogc import eigen
from dogc.arrays import norm_bound
from graphs import (
    assert_orthonormal,
    blobs,
    clique,
    cliques_around_a_hub,
    laplacian,
    lattice,
    neighbour_graph,
    orthonormal,
    ring,
)


def test_the_norm_bound_is_above_every_eigenvalue():
    rng = np.random.default_rng(15)
    M = rng.standard_normal((12, 12))
    A = M + M.T
    bound = norm_bound(sp.csr_array(A))
    assert bound >= np.abs(np.linalg.eigvalsh(A)).max()
    assert bound == pytest.approx(np.abs(A).sum(axis=1).max())


def assert_bottom_eigenvectors(S, c):
    L = laplacian(S)
    _, member = reference.components(np.asarray(S))
    F = eigen.bottom_eigenvectors(L, c, member)
    assert F.shape == (len(member), c)
    assert_orthonormal(F)
    least = reference.smallest_eigenvalue_sum(L.toarray(), c)
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=0, atol=1e-8)


@pytest.mark.parametrize("c", [1, 2, 3, 5, 8])
def test_a_connected_graph(c):
    assert_bottom_eigenvectors(blobs(0, [50, 50, 50], gap=1.5), c)


@pytest.mark.parametrize("c", [4, 5, 7])
def test_fewer_components_than_vectors(c):
    assert_bottom_eigenvectors(blobs(1, [60, 40, 50], gap=40.0), c)


@pytest.mark.parametrize("c", [1, 2, 3])
def test_at_least_as_many_components_as_vectors(c):
    S = blobs(2, [30, 45, 12], gap=40.0)
    assert_bottom_eigenvectors(S, c)


def test_of_too_many_components_the_largest_are_taken():
    S = scipy.linalg.block_diag(clique(2), clique(4), clique(3), clique(4))
    _, member = reference.components(S)
    F = eigen.bottom_eigenvectors(laplacian(S), 2, member)
    expected = np.stack([member == 1, member == 3], axis=1) / 2.0
    assert np.array_equal(F, expected)


@pytest.mark.parametrize("c", [1, 2, 3, 6, 9, 10])
def test_nearly_or_exactly_as_many_vectors_as_rows(c):
    assert_bottom_eigenvectors(blobs(3, [10], gap=0.0), c)


@pytest.mark.parametrize("n", [26, 29, 30, 35, 45, 46, 60])
def test_both_sides_of_the_switch_from_dense_to_sparse(n):
    assert_bottom_eigenvectors(blobs(4, [n], gap=0.0), 3)


@pytest.mark.parametrize("c", [1, 3, 5, 6])
def test_pairs_only(c):
    # Every eigenvalue is 0 or the largest there is: it ties with where the null space is put.
    assert_bottom_eigenvectors(scipy.linalg.block_diag(*[clique(2)] * 3), c)


@pytest.mark.parametrize("c", [1, 4])
def test_no_edges(c):
    assert_bottom_eigenvectors(np.zeros((4, 4)), c)


REPEATED = {
    "ring": (ring(100), 5),
    "clique": (clique(60), 5),
    "cliques": (scipy.linalg.block_diag(*[clique(12)] * 5), 8),
    "small hub": (cliques_around_a_hub(30, 5), 5),
    "large hub": (cliques_around_a_hub(40, 10), 20),
    "lattice": (lattice(15), 6),
    "rings": (scipy.linalg.block_diag(*[ring(30)] * 4), 12),
    "copies of a blob": (scipy.linalg.block_diag(*[blobs(5, [40], gap=0.0)] * 6), 10),
}


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_eigenvalues_are_all_found(name):
    assert_bottom_eigenvectors(*REPEATED[name])


def path(n):
    return sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], shape=(n, n))


@pytest.mark.parametrize("c", [2, 5])
def test_a_long_path_falls_back_on_the_factorisation(c, monkeypatch):
    answers = []
    block_solve = eigen._block_solve

    def watched(*args, **kwargs):
        answers.append(block_solve(*args, **kwargs))
        return answers[-1]

    monkeypatch.setattr(eigen, "_block_solve", watched)
    n = eigen.FACTORISE_UP_TO + 1
    L = laplacian(path(n))
    F = eigen.bottom_eigenvectors(L, c, np.zeros(n, dtype=int))
    assert answers[0] is None
    assert_orthonormal(F)
    least = np.sum(2.0 - 2.0 * np.cos(np.pi * np.arange(c) / n))
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=1e-5)


def test_many_rows_in_blobs():
    # Three components far apart, so that the reference is three dense problems.
    rng = np.random.default_rng(6)
    sizes = [1100, 1000, 950]
    assert sum(sizes) > eigen.FACTORISE_UP_TO
    parts = [neighbour_graph(rng.standard_normal((n, 3)), 12) for n in sizes]
    values = [np.linalg.eigvalsh(laplacian(part).toarray())[:6] for part in parts]
    L = laplacian(sp.block_diag(parts))
    F = eigen.bottom_eigenvectors(L, 6, np.repeat([0, 1, 2], sizes))
    assert_orthonormal(F)
    least = np.sort(np.concatenate(values))[:6].sum()
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=0, atol=1e-8)


@pytest.mark.parametrize("c", [3, 4, 7])
def test_the_block_solver_on_small_blobs(monkeypatch, c):
    monkeypatch.setattr(eigen, "FACTORISE_UP_TO", 10)
    assert_bottom_eigenvectors(blobs(7, [80, 60, 70], gap=2.5), c)


GUESSES = {
    "the answer": lambda rng, V, c: V[:, :c],
    "nearly the answer": lambda rng, V, c: V[:, :c] + 1e-3 * rng.standard_normal((len(V), c)),
    "other eigenvectors": lambda rng, V, c: V[:, 20 : 20 + c],
    "near other eigenvectors": lambda rng, V, c: V[:, 20 : 20 + c] + 1e-7 * rng.random((len(V), c)),
    "random": lambda rng, V, c: orthonormal(rng, len(V), c),
    "the null space": lambda rng, V, c: np.ones((len(V), c)),
    "zeros": lambda rng, V, c: np.zeros((len(V), c)),
}


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("factorise_up_to", [3000, 10])
@pytest.mark.parametrize("name", ["blob", "two blobs", "ring", "lattice", "rings", "large hub"])
def test_the_answer_does_not_depend_on_the_guess(monkeypatch, name, factorise_up_to, guess):
    monkeypatch.setattr(eigen, "FACTORISE_UP_TO", factorise_up_to)
    more = {"blob": (blobs(11, [150], 0.0), 5), "two blobs": (blobs(11, [80, 70], 40.0), 5)}
    S, c = (REPEATED | more)[name]
    L = laplacian(S)
    values, vectors = np.linalg.eigh(L.toarray())
    start = GUESSES[guess](np.random.default_rng(16), vectors, c)
    _, member = reference.components(S)
    F = eigen.bottom_eigenvectors(L, c, member, guess=start)
    assert_orthonormal(F)
    np.testing.assert_allclose(np.vdot(F, L @ F), values[:c].sum(), rtol=0, atol=1e-8)


@pytest.mark.parametrize("factorise_up_to", [3000, 10])
@pytest.mark.parametrize("name", ["ring", "lattice", "rings", "large hub", "copies of a blob"])
def test_a_block_solver_that_breaks_down_costs_only_time(monkeypatch, name, factorise_up_to):
    def broken(*args, **kwargs):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(eigen, "lobpcg", broken)
    monkeypatch.setattr(eigen, "FACTORISE_UP_TO", factorise_up_to)
    assert_bottom_eigenvectors(*REPEATED[name])


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("factorise_up_to", [3000, 10])
def test_two_calls_give_the_same_bits(monkeypatch, n, factorise_up_to):
    monkeypatch.setattr(eigen, "FACTORISE_UP_TO", factorise_up_to)
    L = laplacian(blobs(8, [n], gap=0.0))
    member = np.zeros(n, dtype=int)
    F = eigen.bottom_eigenvectors(L, 4, member)
    np.random.seed(1)  # noqa: NPY002 - the global state must not matter
    assert np.array_equal(eigen.bottom_eigenvectors(L, 4, member), F)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("n", [20, 120])
def test_the_unit_of_the_weights_does_not_matter(scale, n):
    L = laplacian(blobs(9, [n], gap=0.0))
    F = eigen.bottom_eigenvectors(L * scale, 4, np.zeros(n, dtype=int))
    least = reference.smallest_eigenvalue_sum(L.toarray(), 4)
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=0, atol=1e-8)


def test_the_null_space_is_orthonormal_and_is_sent_to_zero():
    S = blobs(10, [9, 14, 5], gap=60.0)
    count, member = reference.components(S)
    N = eigen.null_space(member, count)
    assert_orthonormal(N)
    np.testing.assert_allclose(laplacian(S) @ N, 0.0, rtol=0, atol=1e-14)
    for column in range(count):
        assert np.array_equal(np.flatnonzero(N[:, column]), np.flatnonzero(member == column))

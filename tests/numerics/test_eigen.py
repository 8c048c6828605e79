import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import reference
from dogc.numerics import eigen
from graphs import assert_orthonormal, blobs, clique, cliques_around_a_hub, laplacian, lattice, ring

# Which of the two ways is forced: Lanczos's method on the matrix itself or on its inverse.
WAYS = ("itself", "inverse")


@pytest.fixture(autouse=True)
def sparse_from_few_rows_on(monkeypatch):
    """Without it a dense solve would answer for all but the largest graphs here."""
    monkeypatch.setattr(eigen, "QUICK_UP_TO", 0)


def force(monkeypatch, way):
    if way == "itself":
        monkeypatch.setattr(eigen, "_inverse", None)  # would be called otherwise, and cannot be
        monkeypatch.setattr(eigen, "FILL", 0)
    else:
        monkeypatch.setattr(eigen, "THIN", 0)


def assert_bottom_eigenvectors(S, c):
    L = laplacian(S)
    _, member = reference.components(np.asarray(S))
    F = eigen.bottom_eigenvectors(L, c, member)
    assert F.shape == (len(member), c)
    assert_orthonormal(F)
    least = reference.smallest_eigenvalue_sum(L.toarray(), c)
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=0, atol=1e-8)


def test_of_too_many_components_the_largest_are_taken():
    S = scipy.linalg.block_diag(clique(2), clique(4), clique(3), clique(4))
    _, member = reference.components(S)
    F = eigen.bottom_eigenvectors(laplacian(S), 2, member)
    expected = np.stack([member == 1, member == 3], axis=1) / 2.0
    assert np.array_equal(F, expected)


@pytest.mark.parametrize("n", [29, 30, 45, 46])
def test_both_sides_of_the_switch_from_dense_to_sparse(n):
    assert_bottom_eigenvectors(blobs(4, [n], gap=0.0), 3)


REPEATED = {
    "clique": (clique(60), 5),
    "cliques": (scipy.linalg.block_diag(*[clique(12)] * 5), 8),
    "hub": (cliques_around_a_hub(40, 10), 20),
    "lattice": (lattice(15), 6),
    "ring": (ring(500), 6),
    "rings": (scipy.linalg.block_diag(*[ring(60)] * 10), 35),
    "copies of a blob": (scipy.linalg.block_diag(*[blobs(5, [100], gap=0.0)] * 12), 20),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", REPEATED)
def test_repeated_eigenvalues_are_all_found(name, way, monkeypatch):
    force(monkeypatch, way)
    assert_bottom_eigenvectors(*REPEATED[name])


def path(n):
    return sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], shape=(n, n))


@pytest.mark.parametrize("c", [2, 5])
def test_a_long_path_is_factorised(c, monkeypatch):
    asked, inverse = [], eigen._inverse
    monkeypatch.setattr(eigen, "_inverse", lambda *args: asked.append(1) or inverse(*args))
    n = 4000
    L = laplacian(path(n))
    F = eigen.bottom_eigenvectors(L, c, np.zeros(n, dtype=int))
    assert asked
    assert_orthonormal(F)
    least = np.sum(2.0 - 2.0 * np.cos(np.pi * np.arange(c) / n))
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=1e-9)


def normalised(S):
    """The dense normalised Laplacian and its null vector; rows without edges are their own."""
    degree = np.asarray(S).sum(axis=1)
    return reference.normalised_laplacian(S), np.sqrt(np.where(degree > 0, degree, 1.0))


LOPSIDED = {
    "connected": blobs(12, [150], gap=0.0),
    "three components": blobs(13, [60, 40, 50], gap=40.0),
    "small": blobs(14, [12, 9], gap=40.0),
    "a row without edges": scipy.linalg.block_diag(np.zeros((1, 1)), blobs(15, [120], gap=0.0)),
    "hub": cliques_around_a_hub(12, 10),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("c", [2, 7])
@pytest.mark.parametrize("name", LOPSIDED)
def test_weights_serve_the_normalised_laplacian(monkeypatch, name, c, way):
    force(monkeypatch, way)
    S = LOPSIDED[name]
    L, root = normalised(S)
    _, member = reference.components(S)
    np.testing.assert_allclose(L @ eigen.null_space(member, root), 0.0, atol=1e-13)
    F = eigen.bottom_eigenvectors(sp.csr_array(L), c, member, weights=root)
    assert F.shape == (len(S), c)
    assert_orthonormal(F)
    least = reference.smallest_eigenvalue_sum(L, c)
    np.testing.assert_allclose(np.trace(F.T @ L @ F), least, rtol=0, atol=1e-8)


# ----------------------------------------------------------------------- less a low rank


def low_rank_operator(n, r, known):
    """A sparse, V, and orthonormal null vectors of A - VV' (none, or the constant one)."""
    rng = np.random.default_rng(17)
    A = (laplacian(blobs(18, [n], gap=0.0)) + sp.eye_array(n)).tocsr()
    constant = np.full((n, 1), n**-0.5)
    U = rng.standard_normal((n, r))
    U = np.linalg.qr(U - constant @ (constant.T @ U))[0] * rng.uniform(0.3, 0.99, r)
    if known:
        return A, np.hstack([constant, U]), constant
    return A, U, np.empty((n, 0))


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("n", "r", "c"), [(20, 2, 3), (20, 15, 20), (120, 1, 1), (120, 6, 4)])
def test_a_low_rank_part_is_taken_off(monkeypatch, n, r, c, way, known):
    force(monkeypatch, way)
    A, V, N = low_rank_operator(n, r, known)
    F = eigen.smallest_eigenvectors(A, c, N, V=V)
    dense = A.toarray() - V @ V.T
    assert F.shape == (n, c)
    assert_orthonormal(F)
    least = reference.smallest_eigenvalue_sum(dense, c)
    np.testing.assert_allclose(np.trace(F.T @ dense @ F), least, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.abs(N.T @ F[:, : N.shape[1]]), np.eye(N.shape[1]), atol=1e-12)


def test_the_depth_of_a_graph_is_that_of_its_levels():
    assert eigen._levels(laplacian(path(100))) == (100.0, 200.0)
    assert eigen._levels(laplacian(sp.block_diag([path(50)] * 3))) == (50.0, 300.0)
    count, rest = 1, 59  # the first row of a clique, and the others
    squares = count**2 + rest**2
    assert eigen._levels(laplacian(clique(60))) == (60**2 / squares, 2.0 * squares)


@pytest.mark.parametrize("thin", [True, False])
def test_where_one_way_fails_the_other_is_taken(monkeypatch, thin):
    monkeypatch.setattr(eigen, "THIN", 0 if thin else np.inf)
    largest, origins = eigen._largest, []

    def stubborn(apply, origin, *args):
        origins.append(origin)
        return None if len(origins) == 1 else largest(apply, origin, *args)

    monkeypatch.setattr(eigen, "_largest", stubborn)
    assert_bottom_eigenvectors(blobs(0, [50, 50, 50], gap=1.5), 4)
    assert origins == ([0.0, 2.0] if thin else [2.0, 0.0])


def test_eigenvectors_that_are_out_of_reach_are_said_to_be_rough(monkeypatch):
    monkeypatch.setattr(eigen, "FILL", 0)
    n = 4000
    L = laplacian(path(n))
    with pytest.warns(RuntimeWarning, match="residuals of .* raise n_neighbors"):
        F = eigen.bottom_eigenvectors(L, 3, np.zeros(n, dtype=int))
    assert_orthonormal(F)
    assert np.vdot(F, L @ F) < 1e-2

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial import cKDTree

import reference
from dogc import stiefel

SOLVERS = [stiefel.curvilinear_search, stiefel.power_iteration]


def neighbour_graph(Z, k):
    """Weights that fall with distance on the k nearest rows, symmetric."""
    distance, idx = cKDTree(Z).query(Z, k + 1)
    weight = np.exp(-(distance[:, 1:] ** 2))
    rows = np.repeat(np.arange(len(Z)), k)
    S = sp.csr_array((weight.ravel() / k, (rows, idx[:, 1:].ravel())), shape=(len(Z),) * 2)
    return (S + S.T) * 0.5


def laplacian(S):
    S = sp.csr_array(S)
    return sp.csr_array(sp.diags_array(np.asarray(S.sum(axis=1)).ravel()) - S)


def random_graph_laplacian(rng, n):
    return laplacian(neighbour_graph(rng.standard_normal((n, 2)), min(6, n - 1)))


def orthonormal(rng, n, c):
    return np.linalg.qr(rng.standard_normal((n, c)))[0]


def random_problem(seed, n, c, size=1.0):
    """A, B and a good start: the bottom eigenvectors of A, turned towards B."""
    rng = np.random.default_rng(seed)
    A = random_graph_laplacian(rng, n) * 2.0
    B = size * rng.standard_normal((n, c)) / np.sqrt(n)
    bottom = np.linalg.eigh(A.toarray())[1][:, :c]
    return A, B, bottom @ reference.nearest_orthonormal(bottom.T @ B)


def assert_orthonormal(F):
    np.testing.assert_allclose(F.T @ F, np.eye(F.shape[1]), rtol=0, atol=1e-12)


# ------------------------------------------------------------------ the quadratic problem


SIZES = [(20, 1), (30, 2), (60, 3), (40, 5), (12, 6), (10, 7), (9, 8)]


@pytest.mark.parametrize("size", [0.05, 1.0, 20.0])
@pytest.mark.parametrize(("n", "c"), SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_the_two_solvers_agree(seed, n, c, size):
    A, B, start = random_problem(seed, n, c, size)
    search = stiefel.curvilinear_search(A, B, start)
    power = stiefel.power_iteration(A, B, start)
    assert abs(search.objective - power.objective) <= 1e-6 * max(1.0, abs(power.objective))
    for result in (search, power):
        assert_orthonormal(result.F)
        value = reference.stiefel_value(A.toarray(), B, result.F)
        np.testing.assert_allclose(result.objective, value, rtol=1e-12, atol=1e-12)
        assert value <= reference.stiefel_value(A.toarray(), B, start) + 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "c"), SIZES)
def test_the_gradient_on_the_manifold_vanishes_at_the_answer(solver, n, c):
    A, B, start = random_problem(3, n, c)
    F = solver(A, B, start).F
    G = 2.0 * (A @ F - B)
    assert np.linalg.norm(G - F @ G.T @ F) < 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("max_iter", [0, 1, 2, 3, 5, 8, 13, 40])
def test_the_answer_is_never_above_the_start(solver, max_iter):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A, B, _ = random_problem(seed, 25, 3)
        start = orthonormal(rng, 25, 3)
        result = solver(A, B, start, max_iter=max_iter)
        assert result.objective <= reference.stiefel_value(A.toarray(), B, start) + 1e-13
        assert result.n_iter <= max_iter
        assert_orthonormal(result.F)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_answer_is_no_worse_than_many_random_points(solver):
    A, B, start = random_problem(4, 8, 2)
    rng = np.random.default_rng(0)
    best = min(reference.stiefel_value(A.toarray(), B, orthonormal(rng, 8, 2)) for _ in range(3000))
    assert solver(A, B, start).objective <= best


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "c"), [(20, 1), (30, 3), (15, 8)])
def test_without_a_linear_term_the_value_is_that_of_the_bottom_eigenvectors(solver, n, c):
    rng = np.random.default_rng(5)
    A = random_graph_laplacian(rng, n)
    result = solver(A, np.zeros((n, c)), orthonormal(rng, n, c))
    least = reference.smallest_eigenvalue_sum(A.toarray(), c)
    np.testing.assert_allclose(result.objective, least, rtol=0, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(6))
def test_one_column_is_a_quadratic_on_the_sphere(solver, seed):
    A, B, start = random_problem(seed, 25, 1, size=0.5)
    least = reference.sphere_minimum(A.toarray(), B[:, 0])
    np.testing.assert_allclose(solver(A, B, start).objective, least, rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_as_many_columns_as_rows_leave_only_a_rotation(solver, seed):
    rng = np.random.default_rng(seed)
    A, B = random_graph_laplacian(rng, 6), rng.standard_normal((6, 6))
    nearest = reference.nearest_orthonormal(B)
    turn = rng.standard_normal((6, 6))  # a proper one: Cayley curves keep the orientation
    result = solver(A, B, nearest @ scipy.linalg.expm(0.3 * (turn - turn.T)))
    np.testing.assert_allclose(result.F, nearest, rtol=0, atol=1e-5)
    least = A.trace() - 2.0 * np.linalg.norm(B, "nuc")
    np.testing.assert_allclose(result.objective, least, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_huge_linear_term_wins(solver):
    A, B, start = random_problem(6, 30, 3)
    result = solver(A, 1e9 * B, start)
    nearest = reference.nearest_orthonormal(B)
    np.testing.assert_allclose(result.F, nearest, rtol=0, atol=1e-5)
    np.testing.assert_allclose(result.objective, -2e9 * np.linalg.norm(B, "nuc"), rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_a_quadratic_term_the_answer_is_the_polar_factor(solver):
    _, B, start = random_problem(7, 30, 3)
    result = solver(sp.csr_array((30, 30)), B, start)
    np.testing.assert_allclose(result.F, reference.nearest_orthonormal(B), rtol=0, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_any_term_the_start_is_the_answer(solver):
    start = orthonormal(np.random.default_rng(8), 10, 3)
    result = solver(sp.csr_array((10, 10)), np.zeros((10, 3)), start)
    assert np.array_equal(result.F, start)
    assert result.objective == 0.0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_unit_of_the_problem_does_not_matter(solver, scale):
    A, B, start = random_problem(9, 40, 4)
    expected = solver(A, B, start).objective
    scaled = solver(A * scale, B * scale, start).objective
    np.testing.assert_allclose(scaled / scale, expected, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_first_step_does_not_depend_on_the_unit_either(solver, scale):
    A, B, start = random_problem(9, 40, 4)
    expected = solver(A, B, start, max_iter=1)
    scaled = solver(A * scale, B * scale, start, max_iter=1)
    np.testing.assert_allclose(scaled.F, expected.F, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_line_search_tames_steps_that_are_far_too_long(monkeypatch, seed):
    A, B, start = random_problem(seed, 30, 3)
    expected = stiefel.power_iteration(A, B, start).objective
    monkeypatch.setattr(stiefel, "_barzilai_borwein", lambda *args: 100.0)
    result = stiefel.curvilinear_search(A, B, start, max_iter=200)
    np.testing.assert_allclose(result.objective, expected, rtol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_solvers_leave_their_arguments_alone(solver):
    A, B, start = random_problem(10, 20, 3)
    kept = A.toarray(), B.copy(), start.copy()
    solver(A, B, start)
    assert np.array_equal(A.toarray(), kept[0])
    assert np.array_equal(B, kept[1])
    assert np.array_equal(start, kept[2])


@pytest.mark.parametrize("seed", range(5))
def test_every_power_iteration_lowers_the_objective(seed):
    A, B, _ = random_problem(seed, 25, 3)
    F = orthonormal(np.random.default_rng(seed), 25, 3)
    values = [reference.stiefel_value(A.toarray(), B, F)]
    for _ in range(60):
        result = stiefel.power_iteration(A, B, F, max_iter=1)
        F = result.F
        values.append(result.objective)
    assert (np.diff(values) <= 1e-13).all()
    assert values[-1] < values[0] - 0.1


def test_one_power_iteration_is_the_nearest_orthonormal_matrix_to_the_shifted_step():
    A, B, _ = random_problem(11, 15, 2)
    F = orthonormal(np.random.default_rng(11), 15, 2)
    eta = np.abs(A.toarray()).sum(axis=1).max()
    expected = reference.nearest_orthonormal(eta * F - A @ F + B)
    step = stiefel.power_iteration(A, B, F, max_iter=1).F
    np.testing.assert_allclose(step, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n", "c"), [(8, 1), (9, 3), (6, 5), (5, 5)])
@pytest.mark.parametrize("tau", [-0.3, 0.0, 1e-6, 0.4, 3.0, 100.0])
def test_the_curve_is_the_dense_cayley_transform(n, c, tau):
    rng = np.random.default_rng(12)
    F, G = orthonormal(rng, n, c), rng.standard_normal((n, c))
    point = stiefel._CayleyCurve(F, G).at(tau)
    np.testing.assert_allclose(point, reference.cayley(F, G, tau), rtol=0, atol=1e-11)


def test_the_slope_of_the_curve_is_the_one_the_search_expects():
    A, B, _ = random_problem(13, 12, 3)
    F = orthonormal(np.random.default_rng(13), 12, 3)
    gradient, descent = stiefel._gradients(A @ F, B, F)
    ahead, behind = (
        reference.stiefel_value(A.toarray(), B, reference.cayley(F, gradient, tau))
        for tau in (1e-5, -1e-5)
    )
    assert np.vdot(gradient, descent) > 0
    np.testing.assert_allclose((ahead - behind) / 2e-5, -np.vdot(gradient, descent), rtol=1e-6)


def test_the_polar_factor_is_the_nearest_orthonormal_matrix():
    M = np.random.default_rng(14).standard_normal((9, 4))
    np.testing.assert_allclose(stiefel.polar(M), reference.nearest_orthonormal(M), atol=1e-12)


def test_the_norm_bound_is_above_every_eigenvalue():
    rng = np.random.default_rng(15)
    M = rng.standard_normal((12, 12))
    A = M + M.T
    bound = stiefel.norm_bound(sp.csr_array(A))
    assert bound >= np.abs(np.linalg.eigvalsh(A)).max()
    assert bound == pytest.approx(np.abs(A).sum(axis=1).max())


# -------------------------------------------------------------------- bottom_eigenvectors


def clique(n):
    return np.ones((n, n)) - np.eye(n)


def ring(n):
    S = np.zeros((n, n))
    for i in range(n):
        S[i, (i + 1) % n] = S[(i + 1) % n, i] = 1.0
    return S


def lattice(side):
    path = np.diag(np.ones(side - 1), 1)
    path += path.T
    return np.kron(path, np.eye(side)) + np.kron(np.eye(side), path)


def cliques_around_a_hub(how_many, size):
    S = scipy.linalg.block_diag(np.zeros((1, 1)), *[clique(size)] * how_many)
    gates = 1 + size * np.arange(how_many)
    S[0, gates] = S[gates, 0] = 0.1
    return S


def blobs(seed, sizes, gap):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((sum(sizes), 2))
    Z[:, 0] += gap * np.repeat(np.arange(len(sizes)), sizes)
    return neighbour_graph(Z, 8).toarray()


def assert_bottom_eigenvectors(S, c):
    L = laplacian(S)
    _, member = reference.components(np.asarray(S))
    F = stiefel.bottom_eigenvectors(L, c, member)
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
    F = stiefel.bottom_eigenvectors(laplacian(S), 2, member)
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
    block_solve = stiefel._block_solve

    def watched(*args, **kwargs):
        answers.append(block_solve(*args, **kwargs))
        return answers[-1]

    monkeypatch.setattr(stiefel, "_block_solve", watched)
    n = stiefel.FACTORISE_UP_TO + 1
    L = laplacian(path(n))
    F = stiefel.bottom_eigenvectors(L, c, np.zeros(n, dtype=int))
    assert answers[0] is None
    assert_orthonormal(F)
    least = np.sum(2.0 - 2.0 * np.cos(np.pi * np.arange(c) / n))
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=1e-5)


def test_many_rows_in_blobs():
    # Three components far apart, so that the reference is three dense problems.
    rng = np.random.default_rng(6)
    sizes = [1100, 1000, 950]
    assert sum(sizes) > stiefel.FACTORISE_UP_TO
    parts = [neighbour_graph(rng.standard_normal((n, 3)), 12) for n in sizes]
    values = [np.linalg.eigvalsh(laplacian(part).toarray())[:6] for part in parts]
    L = laplacian(sp.block_diag(parts))
    F = stiefel.bottom_eigenvectors(L, 6, np.repeat([0, 1, 2], sizes))
    assert_orthonormal(F)
    least = np.sort(np.concatenate(values))[:6].sum()
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=0, atol=1e-8)


@pytest.mark.parametrize("c", [3, 4, 7])
def test_the_block_solver_on_small_blobs(monkeypatch, c):
    monkeypatch.setattr(stiefel, "FACTORISE_UP_TO", 10)
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
    monkeypatch.setattr(stiefel, "FACTORISE_UP_TO", factorise_up_to)
    more = {"blob": (blobs(11, [150], 0.0), 5), "two blobs": (blobs(11, [80, 70], 40.0), 5)}
    S, c = (REPEATED | more)[name]
    L = laplacian(S)
    values, vectors = np.linalg.eigh(L.toarray())
    start = GUESSES[guess](np.random.default_rng(16), vectors, c)
    _, member = reference.components(S)
    F = stiefel.bottom_eigenvectors(L, c, member, guess=start)
    assert_orthonormal(F)
    np.testing.assert_allclose(np.vdot(F, L @ F), values[:c].sum(), rtol=0, atol=1e-8)


@pytest.mark.parametrize("factorise_up_to", [3000, 10])
@pytest.mark.parametrize("name", ["ring", "lattice", "rings", "large hub", "copies of a blob"])
def test_a_block_solver_that_breaks_down_costs_only_time(monkeypatch, name, factorise_up_to):
    def broken(*args, **kwargs):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(stiefel, "lobpcg", broken)
    monkeypatch.setattr(stiefel, "FACTORISE_UP_TO", factorise_up_to)
    assert_bottom_eigenvectors(*REPEATED[name])


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("factorise_up_to", [3000, 10])
def test_two_calls_give_the_same_bits(monkeypatch, n, factorise_up_to):
    monkeypatch.setattr(stiefel, "FACTORISE_UP_TO", factorise_up_to)
    L = laplacian(blobs(8, [n], gap=0.0))
    member = np.zeros(n, dtype=int)
    F = stiefel.bottom_eigenvectors(L, 4, member)
    np.random.seed(1)  # noqa: NPY002 - the global state must not matter
    assert np.array_equal(stiefel.bottom_eigenvectors(L, 4, member), F)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("n", [20, 120])
def test_the_unit_of_the_weights_does_not_matter(scale, n):
    L = laplacian(blobs(9, [n], gap=0.0))
    F = stiefel.bottom_eigenvectors(L * scale, 4, np.zeros(n, dtype=int))
    least = reference.smallest_eigenvalue_sum(L.toarray(), 4)
    np.testing.assert_allclose(np.vdot(F, L @ F), least, rtol=0, atol=1e-8)


def test_the_null_space_is_orthonormal_and_is_sent_to_zero():
    S = blobs(10, [9, 14, 5], gap=60.0)
    count, member = reference.components(S)
    N = stiefel.null_space(member, count)
    assert_orthonormal(N)
    np.testing.assert_allclose(laplacian(S) @ N, 0.0, rtol=0, atol=1e-14)
    for column in range(count):
        assert np.array_equal(np.flatnonzero(N[:, column]), np.flatnonzero(member == column))

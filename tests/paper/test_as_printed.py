"""Each printed equation: the line that carries its label, and that it does what is printed."""

import inspect
import itertools
import re

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_blobs

import reference
from dogc.datasets import make_two_moons
from dogc.paper import PrintedDOGC, PrintedDOGCOS, as_printed
from dogc.paper.as_printed import (
    State,
    laplacian,
    loss_2p,
    neighbour_xi,
    overall_xi,
    projected_distances,
    row_weights,
    solve_rows,
    update_F,
    update_P,
    update_Q,
    update_W,
    update_Y,
)

N, D, C, M, K = 12, 4, 3, 2, 4


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.standard_normal((N, D)) + 3.0  # not centred: XHX' must do that


def orthonormal(rng, rows, columns):
    return np.linalg.qr(rng.standard_normal((rows, columns)))[0]


def labels(rng, n=N, c=C):
    return np.eye(c)[rng.integers(c, size=n)]


@pytest.fixture
def state(X, rng):
    """A state with nothing special about it."""
    S = rng.dirichlet(np.ones(N), size=N)
    F, W, Q = orthonormal(rng, N, C), orthonormal(rng, D, M), orthonormal(rng, C, C)
    P, weights = rng.standard_normal((D, C)), rng.random(N) + 0.5
    return State(S, F, W, Q, labels(rng), laplacian(S), 0.7, 0.05, P, weights)


def fitted_settings(cls, X, **setting):
    """An estimator whose settings have been checked, so that its steps can be called."""
    model = cls(C, n_components=M, n_neighbors=K, **setting)
    model._check(X)
    return model


# ------------------------------------------------------------------- the labels in the source


def carriers(label):
    """The functions and methods with a line that ends in a comment with the label."""
    found = set()
    for owner in (as_printed, PrintedDOGC, PrintedDOGCOS):
        for name, thing in vars(owner).items():
            if inspect.isfunction(thing) and thing.__module__ == as_printed.__name__:
                comments = re.findall(r"\S  # (.*)$", inspect.getsource(thing), flags=re.M)
                if any(label in comment.split() for comment in comments):
                    prefix = "" if owner is as_printed else f"{owner.__name__}."
                    found.add(prefix + name)
    return found


CARRIERS = {
    "PrintedDOGC.objective": (6, 7),
    "projected_distances": (8,),
    "PrintedDOGC.distances": (9,),
    "solve_rows": (10,),
    "update_F": (11,),
    "update_W": (12, 12.5, 13, 14),
    "update_Q": (15,),
    "update_Y": (16, 17, 18, 36),
    "neighbour_xi": (24,),
    "overall_xi": (25,),
    "PrintedDOGCOS.objective": (26, 27),
    "loss_2p": (28,),
    "row_weights": (30,),
    "update_P": (32, 33),
    "PrintedDOGCOS.step_Y": (34, 35),
}


def test_a_line_carries_the_label_of_each_equation():
    for where, numbers in CARRIERS.items():
        for number in numbers:
            assert carriers(f"eq:{number}") == {where}, number


def test_each_step_of_algorithm_1_is_numbered_in_order():
    source = inspect.getsource(PrintedDOGC.iterate)
    assert re.findall(r"# (\d)\.$", source, flags=re.M) == list("234567")


# ------------------------------------------------------------------------ eq:6 to eq:10: S


def slow_distances(X, W):
    """d^wx of eq:10 with XHX' written out."""
    H = np.eye(N) - np.ones((N, N)) / N
    scatter = np.trace(W.T @ X.T @ H @ X @ W)
    d = np.zeros((N, N))
    for i, j in itertools.product(range(N), repeat=2):
        d[i, j] = np.sum((W.T @ X[i] - W.T @ X[j]) ** 2) / scatter
    return d


def slow_objective(X, s, alpha):
    """eq:7, term by term."""
    d, value = slow_distances(X, s.W), 0.0
    for i, j in itertools.product(range(N), repeat=2):
        value += d[i, j] * s.S[i, j] + s.xi * s.S[i, j] ** 2
    value += 2 * s.lam * np.trace(s.F.T @ reference.laplacian(s.S) @ s.F)
    return value + alpha * np.linalg.norm(s.Y - s.F @ s.Q) ** 2


def test_the_laplacian_is_that_of_step_2(state):
    np.testing.assert_allclose(laplacian(state.S), reference.laplacian(state.S), atol=1e-15)


def test_eq_8_distances(X, state):
    np.testing.assert_allclose(
        projected_distances(X, state.W), slow_distances(X, state.W), atol=1e-14
    )


def test_eq_6_and_eq_7_objective(X, state):
    model = fitted_settings(PrintedDOGC, X, alpha=0.3)
    assert model.objective(X, state) == pytest.approx(slow_objective(X, state, 0.3), rel=1e-12)
    # With W the identity the first term is that of eq:6, but for the trace.
    whole = state._replace(W=np.eye(D))
    assert model.objective(X, whole) == pytest.approx(slow_objective(X, whole, 0.3), rel=1e-12)


def test_eq_9_rewrites_the_trace_as_distances_of_F(X, state):
    d = fitted_settings(PrintedDOGC, X).distances(X, state)
    written = np.sum(d * state.S) + state.xi * np.sum(state.S**2)
    assert written == pytest.approx(slow_objective(X, state, 0.0), rel=1e-12)  # eq:8


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_eq_10_solves_the_quadratic_programme(rng, scale):
    d = rng.random((6, 7)) * scale
    d[0, :3] = d[0, 0]  # copies
    S = solve_rows(d, 0.3 * scale)
    for row, expected in zip(d, S, strict=True):
        # By trying every support, and by a solver that knows nothing of simplices.
        np.testing.assert_allclose(expected, reference.solve_row(row, 0.3 * scale), atol=1e-10)
        found = minimize(
            lambda s, row=row: np.sum(row / scale * s + 0.3 * s**2),
            np.full(7, 1 / 7),
            jac=lambda s, row=row: row / scale + 0.6 * s,
            method="SLSQP",
            bounds=[(0, 1)] * 7,
            constraints={"type": "eq", "fun": lambda s: s.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-14, "maxiter": 200},
        )
        np.testing.assert_allclose(expected, found.x, atol=1e-5)


def test_eq_10_runs_over_all_rows_and_each_row_is_its_own_neighbour(X, state):
    S = fitted_settings(PrintedDOGC, X).step_S(X, state).S
    np.testing.assert_allclose(S.sum(axis=1), 1.0)
    assert (np.diag(S) >= S.max(axis=1)).all()
    far = solve_rows(projected_distances(X, state.W), 1e9)
    np.testing.assert_allclose(far, 1 / N, atol=1e-6)


# ---------------------------------------------------------------------------------- eq:11: F


@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1e-1, 10.0])
def test_eq_11_is_stationary_and_below_any_random_F(rng, state, alpha):
    def value(F):
        fit = alpha * np.linalg.norm(state.Y - F @ state.Q) ** 2
        return np.trace(F.T @ state.L @ F) + fit

    F = update_F(state.L, state.Y, state.Q, alpha, state.F)
    np.testing.assert_allclose(F.T @ F, np.eye(C), atol=1e-12)
    G = 2 * state.L @ F - 2 * alpha * state.Y @ state.Q.T
    assert np.linalg.norm(G - F @ (G.T @ F)) < 3e-4 * (1 + alpha)
    assert value(F) <= value(state.F)
    assert all(value(F) <= value(orthonormal(rng, N, C)) for _ in range(500))
    if alpha == 0.0:  # Ky Fan
        assert value(F) == pytest.approx(reference.smallest_eigenvalue_sum(state.L, C), abs=1e-6)


def test_eq_11_has_the_printed_weight_whatever_lambda_is(X, state):
    model = fitted_settings(PrintedDOGC, X)
    F = [model.step_F(X, state._replace(lam=lam)).F for lam in (1e-6, 1e3)]
    np.testing.assert_array_equal(*F)


def test_eq_11_finds_the_same_in_a_sparse_graph(rng):
    S = np.eye(60, k=1) + np.eye(60, k=-59)  # a ring
    Y, F, Q = labels(rng, 60), orthonormal(rng, 60, C), np.eye(C)
    # Numbers too small to matter make the same Laplacian dense.
    noise = 1e-13 * rng.random((60, 60))
    found, dense = (update_F(laplacian(S + more), Y, Q, 0.1, F) for more in (0.0, noise))
    np.testing.assert_allclose(found, dense, atol=1e-6)


def test_eq_11_moves_along_the_cayley_transform(rng, state):
    G = rng.standard_normal((N, C))
    np.testing.assert_allclose(
        as_printed._cayley(state.F, G, 0.3), reference.cayley(state.F, G, 0.3), atol=1e-12
    )


# -------------------------------------------------------------------------- eq:12 to eq:14: W


def test_eq_14_holds_and_eq_12_5_is_minimal(X, state):
    W = update_W(X, state.L, state.W)
    np.testing.assert_allclose(W.T @ W, np.eye(M), atol=1e-12)
    H = np.eye(N) - np.ones((N, N)) / N
    cut, scatter = X.T @ state.L @ X, X.T @ H @ X
    ratio = np.trace(W.T @ cut @ W) / np.trace(W.T @ scatter @ W)
    V = cut - ratio * scatter
    np.testing.assert_allclose(V @ W, W @ (W.T @ V @ W), atol=1e-8)  # eigenvectors ...
    held = np.sort(np.linalg.eigvalsh(W.T @ V @ W))
    np.testing.assert_allclose(held, np.linalg.eigvalsh(V)[:M], atol=1e-8)  # ... the smallest
    assert ratio == pytest.approx(reference.trace_ratio_minimum(cut, scatter, M), rel=1e-9)


# -------------------------------------------------------------------- eq:15 to eq:18: Q and Y


def test_eq_15_no_rotation_is_nearer(rng, state):
    Q = update_Q(state.F, state.Y)
    np.testing.assert_allclose(Q.T @ Q, np.eye(C), atol=1e-12)
    gap = np.linalg.norm(state.Y - state.F @ Q)
    others = [orthonormal(rng, C, C) for _ in range(2000)]
    assert all(gap <= np.linalg.norm(state.Y - state.F @ other) for other in others)


def test_eq_16_to_eq_18_no_labels_are_nearer(rng):
    FQ = rng.standard_normal((4, C))
    Y = update_Y(FQ)
    every = [np.eye(C)[list(names)] for names in itertools.product(range(C), repeat=4)]
    assert np.linalg.norm(Y - FQ) == pytest.approx(min(np.linalg.norm(y - FQ) for y in every))
    assert np.trace(Y.T @ FQ) == pytest.approx(max(np.trace(y.T @ FQ) for y in every))


def test_eq_18_may_leave_a_cluster_empty():
    assert update_Y(np.array([[2.0, 1.0], [3.0, 0.0]])).sum(axis=0).tolist() == [2.0, 0.0]


# ------------------------------------------------------------------------- eq:24 and eq:25: xi


def test_eq_24_gives_every_row_exactly_k_neighbours(X, state):
    d = projected_distances(X, state.W)
    xi = neighbour_xi(d, K)
    for i in range(N):
        s = solve_rows(d[i : i + 1], xi[i])[0]
        assert np.sum(s > 1e-12) == K
        less, more = (solve_rows(d[i : i + 1], by * xi[i])[0] for by in (0.999, 1.001))
        assert np.sum(less > 0) <= K < np.sum(more > 0)
        assert xi[i] == pytest.approx(reference.neighbour_xi(np.sort(d[i]), K))


def test_eq_25_is_the_mean_in_the_subspace_of_each_iteration(X, state):
    rows = [reference.neighbour_xi(np.sort(row), K) for row in slow_distances(X, state.W)]
    model = fitted_settings(PrintedDOGC, X)
    assert model.regulariser(X, state) == pytest.approx(np.mean(rows))
    other = state._replace(W=state.W[::-1])
    assert model.regulariser(X, other) != pytest.approx(np.mean(rows))
    assert 0 < overall_xi(np.array([[0.0, 0.0, 1.0]] * 3), 1) < 1e-15  # copies everywhere


# ------------------------------------------------------------------------ eq:26 to eq:36: P, Y


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.25, 2])
def test_eq_26_to_eq_28_objective(X, state, p):
    residual = state.Y - X @ state.P
    loss = sum(np.sqrt(np.sum(row**2)) ** p for row in residual)
    assert loss_2p(residual, p) == pytest.approx(loss)
    model = fitted_settings(PrintedDOGCOS, X, alpha=0.3, beta=0.2, gamma=0.4, p=p)
    expected = slow_objective(X, state, 0.3) + 0.2 * (loss + 0.4 * np.sum(state.P**2))
    assert model.objective(X, state) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("p", [0.5, 1, 1.25, 2])
def test_eq_30_weighs_squares_as_the_loss_weighs_residuals(rng, p):
    R = rng.standard_normal((5, C))
    expected = [1 / (2 / p * np.linalg.norm(r) ** (2 - p)) for r in R]
    np.testing.assert_allclose(row_weights(R, p), expected)


def test_eq_30_is_finite_at_both_ends():
    assert np.isfinite(row_weights(np.zeros((1, C)), 0.1)).all()
    assert row_weights(np.zeros((1, C)), 1) == 0.5 / np.finfo(float).eps
    assert row_weights(np.zeros((1, C)), 0) == row_weights(np.ones((1, C)), 0) == 0.0


def test_eq_33_solves_the_normal_equations_of_eq_32(X, state, rng):
    gamma = 0.3
    P = update_P(X, state.Y, state.D, np.full(D, gamma))
    np.testing.assert_allclose(P, reference.weighted_ridge(X, state.Y, state.D, gamma))

    def value(P):
        R = state.Y - X @ P
        return np.trace(R.T @ np.diag(state.D) @ R) + gamma * np.sum(P**2)

    assert all(value(P) < value(P + 1e-3 * rng.standard_normal(P.shape)) for _ in range(50))


def test_eq_33_without_an_inverse_is_the_solution_of_smallest_norm(state):
    X = np.ones((N, 2))
    P = update_P(X, state.Y, np.ones(N), np.zeros(2))
    np.testing.assert_allclose(P, np.tile(state.Y.mean(axis=0) / 2, (2, 1)))


def test_eq_35_and_eq_36_take_the_largest_entry_of_B(X, state):
    model = fitted_settings(PrintedDOGCOS, X, alpha=2.0, beta=1.0, gamma=0.4, p=0.25)
    new = model.step_Y(X, state)
    P = reference.weighted_ridge(X, state.Y, state.D, 0.4)  # with the D of before
    weights = row_weights(state.Y - X @ P, 0.25)  # from the new residual
    np.testing.assert_allclose(new.P, P)
    np.testing.assert_allclose(new.D, weights)
    B = 2.0 * state.F @ state.Q + 1.0 * np.diag(weights) @ X @ P
    for i in range(N):
        assert new.Y[i].tolist() == [float(j == np.argmax(B[i])) for j in range(C)]
    without = 2.0 * state.F @ state.Q + X @ P
    assert (without.argmax(axis=1) != B.argmax(axis=1)).any()  # so that D can be seen

    def value(Y):  # eq:34
        R = Y - X @ P
        fit = 1.0 * np.trace(R.T @ np.diag(weights) @ R)
        return 2.0 * np.linalg.norm(Y - state.F @ state.Q) ** 2 + fit

    rng = np.random.default_rng(1)
    assert all(value(new.Y) <= value(labels(rng)) for _ in range(300))


# ------------------------------------------------------------------------------ the algorithm


def test_step_1_is_random_and_feasible(X):
    model = fitted_settings(PrintedDOGC, X)
    s, other = (model.start(X, np.random.default_rng(seed)) for seed in (0, 1))
    for M in (s.F, s.W, s.Q):
        np.testing.assert_allclose(M.T @ M, np.eye(M.shape[1]), atol=1e-12)
    np.testing.assert_allclose(s.S.sum(axis=1), 1.0)
    assert (s.S > 0).all()
    assert (s.Y.sum(axis=1) == 1).all()
    assert s.lam == s.xi
    assert all((a != b).any() for a, b in zip(s[:5], other[:5], strict=True))


def test_F_and_W_see_the_laplacian_of_the_S_before(X, state):
    model = fitted_settings(PrintedDOGC, X)
    new = model.iterate(X, state)
    np.testing.assert_array_equal(new.L, laplacian(state.S))
    np.testing.assert_array_equal(
        new.F, update_F(laplacian(state.S), state.Y, state.Q, 1e-4, state.F)
    )
    np.testing.assert_array_equal(new.W, update_W(X, laplacian(state.S), state.W))
    np.testing.assert_array_equal(new.Y, update_Y(new.F @ new.Q))


@pytest.mark.parametrize(("count", "factor"), [(1, 2.0), (C, 1.0), (C + 1, 0.5)])
def test_lambda_doubles_and_halves(X, state, count, factor):
    assert fitted_settings(PrintedDOGC, X).next_lambda(state, count).lam == factor * state.lam


@pytest.mark.parametrize("cls", [PrintedDOGC, PrintedDOGCOS])
def test_a_fit_leaves_what_it_says(cls):
    X, _ = make_blobs(40, n_features=3, centers=3, random_state=0)
    model = cls(3, n_components=2, max_iter=5, random_state=3).fit(X)
    assert [model.S_.shape, model.F_.shape, model.W_.shape] == [(40, 40), (40, 3), (3, 2)]
    assert [model.Q_.shape, model.Y_.shape] == [(3, 3), (40, 3)]
    assert not np.allclose(model.S_, model.S_.T)
    np.testing.assert_array_equal(model.labels_, model.Y_.argmax(axis=1))
    last = model.history_[-1]
    assert (last.lam, last.xi) == (model.lam_, model.xi_)
    assert len(model.history_) == model.n_iter_ <= 5
    assert last.n_components == reference.components(model.S_)[0]
    assert last.n_empty == 3 - len(set(model.labels_))
    again = clone(model).fit(X)
    np.testing.assert_array_equal(model.S_, again.S_)
    np.testing.assert_array_equal(model.labels_, again.labels_)
    assert (model.labels_ != clone(model).set_params(random_state=4).fit(X).labels_).any()
    if cls is PrintedDOGCOS:
        np.testing.assert_array_equal(model.predict(X), (X @ model.P_).argmax(axis=1))


def test_it_finds_two_moons():
    X, y = make_two_moons(100, random_state=0)
    model = PrintedDOGC(2, random_state=0).fit(X)
    assert model.converged_
    assert model.history_[-1].n_components == 2
    assert np.mean(model.labels_ == y) in (0.0, 1.0)


def test_p_of_zero_is_dogc():
    X, _ = make_blobs(30, centers=3, random_state=0)
    plain, other = (cls(3, max_iter=6, random_state=0, **setting).fit(X)
                    for cls, setting in ((PrintedDOGC, {}), (PrintedDOGCOS, {"p": 0})))  # fmt: skip
    # The first P has the identity for D; from then on D is 0.
    assert not other.P_.any()
    np.testing.assert_array_equal(plain.labels_, other.labels_)


ROWS = np.random.default_rng(0).random((20, 3))
ODD = {
    "copies": np.repeat(ROWS[:4], 5, axis=0),
    "constant columns": np.column_stack([ROWS[:, :2], np.full((20, 2), 7.0)]),
    "d > n, n = c": np.random.default_rng(0).random((8, 30)),
    "huge": ROWS * 1e100,
    "tiny": ROWS * 1e-100,
    "float32": ROWS.astype(np.float32),
    "a far row": np.vstack([ROWS, np.full((1, 3), 1e6)]),
}


@pytest.mark.parametrize("cls", [PrintedDOGC, PrintedDOGCOS])
@pytest.mark.parametrize("name", ODD)
def test_odd_data(cls, name):
    for c in (1, 8):
        model = cls(c, max_iter=2, random_state=0).fit(ODD[name])
        assert all(np.isfinite(part).all() for part in (model.S_, model.F_, model.W_, model.Q_))
        np.testing.assert_allclose(model.F_.T @ model.F_, np.eye(c), atol=1e-9)
        np.testing.assert_allclose(model.S_.sum(axis=1), 1.0)
        assert all(np.isfinite(record.objective) for record in model.history_)


@pytest.mark.parametrize(
    ("setting", "kind", "message"),
    [
        ({"n_clusters": 99}, ValueError, "n_clusters == 99, must be <= 20"),
        ({"n_components": 9}, ValueError, "n_components == 9, must be <= 2"),
        ({"n_neighbors": 2.5}, TypeError, "n_neighbors must be an instance of"),
        ({"alpha": -1}, ValueError, "alpha == -1, must be >= 0"),
        ({"p": 2.5}, ValueError, "p == 2.5, must be <= 2"),
        ({"max_iter": 0}, ValueError, "max_iter == 0, must be >= 1"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(setting, kind, message):
    X, _ = make_two_moons(20, random_state=0)
    with pytest.raises(kind, match=re.escape(message)):
        PrintedDOGCOS(2).set_params(**setting).fit(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "contains NaN"),
        ([[1.0, 2.0]], "a minimum of 2 is required by PrintedDOGC"),
        ([[1.0, 2.0]] * 5, "X has no scatter that can be computed"),
        ([[1e300, 2.0], [-1e300, 0.0]], "X has no scatter that can be computed"),
    ],
)
def test_bad_rows_are_refused_in_one_sentence(X, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        PrintedDOGC(1, n_neighbors=1).fit(X)


def test_rows_to_label_have_the_fitted_columns():
    X, _ = make_two_moons(20, random_state=0)
    model = PrintedDOGCOS(2, max_iter=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 1 features"):
        model.predict(X[:, :1])

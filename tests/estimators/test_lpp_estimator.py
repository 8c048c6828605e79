import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

import reference
import reference_baselines as dense
from dogc import LPP
from dogc.estimators._lpp import locality_projection

X, _ = make_blobs(80, n_features=5, centers=3, cluster_std=2.0, random_state=0)


def graph_of(rows, k=None):
    A = dense.gaussian_graph(rows, min(15, len(rows) - 1) if k is None else k)
    return A, A.sum(axis=1), dense.laplacian(A)


def assert_solves(model, rows, A):
    """The eigen-equation on degree-centred rows, and a' X'DX a = I."""
    degree, L = A.sum(axis=1), dense.laplacian(A)
    Xc = rows - degree @ rows / degree.sum()
    a, mu = model.components_.T, model.eigenvalues_
    left, right = Xc.T @ L @ Xc @ a, Xc.T @ (degree[:, None] * Xc) @ a
    scale = np.abs(left).max() + np.abs(right).max()
    np.testing.assert_allclose(left, right * mu, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(a.T @ right, np.eye(len(mu)), atol=1e-8)


@pytest.mark.parametrize(("m", "k"), [(1, 6), (2, 20), (5, 79)])
def test_directions_are_those_of_the_dense_problem(m, k):
    model = LPP(m, n_neighbors=k).fit(X + 3.0)
    A, degree, L = graph_of(X, k)
    Xc = X - degree @ X / degree.sum()
    mu, a = scipy.linalg.eigh(Xc.T @ L @ Xc, Xc.T @ (degree[:, None] * Xc))
    np.testing.assert_allclose(model.eigenvalues_, mu[:m], rtol=1e-8)
    signs = np.sign((model.components_.T * a[:, :m]).sum(axis=0))
    np.testing.assert_allclose(model.components_.T, a[:, :m] * signs, atol=1e-8)
    np.testing.assert_allclose(model.mean_, degree @ X / degree.sum() + 3.0)
    assert_solves(model, X, A)


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_directions_of_rows_as_they_are(offset, kind):
    rows = X + offset
    model = LPP(5, n_neighbors=8, center=False).fit(kind(rows))
    _, degree, L = graph_of(X, 8)
    mu, a = scipy.linalg.eigh(rows.T @ L @ rows, rows.T @ (degree[:, None] * rows))
    np.testing.assert_allclose(model.eigenvalues_, mu, rtol=1e-6)
    signs = np.sign((model.components_.T * a).sum(axis=0))
    np.testing.assert_allclose(model.components_.T, a * signs, atol=1e-6)
    np.testing.assert_array_equal(model.mean_, 0.0)
    np.testing.assert_allclose(model.transform(rows), rows @ model.components_.T, atol=1e-9)


def test_rows_as_they_are_may_be_few_alike_or_of_any_scale():
    few = np.random.default_rng(0).standard_normal((10, 30))
    model = LPP(4, n_neighbors=4, center=False).fit(few)
    np.testing.assert_allclose(model.eigenvalues_[0], 0.0, atol=1e-9)  # a constant is in reach
    assert np.isfinite(LPP(2, center=False).fit_transform(np.ones((6, 2)))).all()
    Z = LPP(3, center=False).fit_transform(X)
    for factor in (1e-100, 1e100):
        np.testing.assert_allclose(LPP(3, center=False).fit_transform(factor * X), Z, atol=1e-8)


def test_transform_maps_the_weighted_mean_to_zero():
    model = LPP(3).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z, (X - model.mean_) @ model.components_.T)
    _, degree, _ = graph_of(X)
    np.testing.assert_allclose(degree @ Z, 0.0, atol=1e-9)
    np.testing.assert_array_equal(LPP(3).fit_transform(X), Z)


@pytest.mark.parametrize("d", [20, 21, 200])
def test_more_features_than_rows_are_safe(d):
    rows = np.random.default_rng(0).standard_normal((20, d))
    model = LPP(6, n_neighbors=5).fit(rows)
    A, _, _ = graph_of(rows, 5)
    assert_solves(model, rows, A)
    Z = model.transform(rows)
    assert np.isfinite(Z).all()
    assert ((model.eigenvalues_ >= -1e-9) & (model.eigenvalues_ <= 2 + 1e-9)).all()
    # The directions lie in the span of the rows, so that new rows are not mapped at random.
    residual = np.linalg.lstsq(dense.centred(rows).T, model.components_.T, rcond=None)[1]
    assert residual.size == 0 or residual.max() < 1e-20


def test_more_directions_than_the_rank_are_zero_and_have_no_eigenvalue():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 6))
    model = LPP(5, n_neighbors=8).fit(rows)
    np.testing.assert_array_equal(model.components_[2:], 0.0)
    assert np.isnan(model.eigenvalues_[2:]).all()
    assert np.isfinite(model.eigenvalues_[:2]).all()
    np.testing.assert_array_equal(model.transform(rows)[:, 2:], 0.0)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_matrix])
def test_sparse_rows_give_the_directions_of_dense_rows(kind):
    rows = np.where(np.abs(X) < 1.0, 0.0, X)
    plain, model = LPP(3).fit(rows), LPP(3).fit(kind(rows))
    np.testing.assert_allclose(model.components_, plain.components_, atol=1e-8)
    np.testing.assert_allclose(model.transform(kind(rows)), plain.transform(rows), atol=1e-8)
    np.testing.assert_allclose(model.transform(rows), plain.transform(kind(rows)), atol=1e-8)


@pytest.mark.parametrize("factor", [1e-100, 1e-6, 1e6, 1e100])
def test_offset_scale_and_order_of_rows_and_constant_columns_do_not_matter(factor):
    Z, order = LPP(3).fit_transform(X), np.random.default_rng(0).permutation(len(X))
    np.testing.assert_allclose(LPP(3).fit_transform(X[order]), Z[order], atol=1e-8)
    wider = np.hstack([np.full((80, 1), 1e8), X, np.zeros((80, 2))])
    model = LPP(3).fit(wider)
    np.testing.assert_array_equal(model.components_[:, [0, 6, 7]], 0.0)
    np.testing.assert_allclose(model.components_[:, 1:6], LPP(3).fit(X).components_, atol=1e-9)
    np.testing.assert_allclose(LPP(3).fit_transform(factor * X), Z, atol=1e-8)
    np.testing.assert_allclose(LPP(3).fit_transform(factor * (X + 100.0)), Z, atol=1e-7)


def test_copies_of_rows_and_constant_rows_are_harmless():
    assert np.isfinite(LPP(2, n_neighbors=4).fit_transform(np.repeat(X[:5], 6, axis=0))).all()
    model = LPP(2, n_neighbors=3).fit(np.ones((10, 4)))
    np.testing.assert_array_equal(model.transform(np.ones((2, 4))), np.zeros((2, 2)))
    np.testing.assert_allclose(LPP(1).fit(X[:2]).eigenvalues_, [2.0])
    full = LPP(2, affinity="full", bandwidth=2.0).fit(X)
    assert_solves(full, X, dense.gaussian_graph(X, len(X) - 1, 2.0))


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"n_components": 6}, "n_components=6 is too large: X has only 5 features"),
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"n_neighbors": 80}, "n_neighbors=80 is too large.*at most 79"),
        ({"affinity": "precomputed"}, "affinity must be one of 'neighbors', 'full'; got"),
        ({"bandwidth": -1.0}, "bandwidth must be 'local' or a finite number above 0"),
        ({"center": "mean"}, "center must be True or False"),
    ],
)
def test_parameters(parameters, says):
    model = LPP(**parameters)
    with pytest.raises(ValueError, match=says):
        model.fit(X)
    assert set(vars(model)) - set(model.get_params()) <= {"n_features_in_"}


# --------------------------------------------------------------- the small eigenproblem


def solve(R, A, m):
    return locality_projection(R, dense.laplacian(A), A.sum(axis=1), m)


def clique(n):
    return np.ones((n, n)) - np.eye(n)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([1e-9, 1.0, 1e9]))
def test_values_and_directions_are_those_of_the_dense_problem_in_any_unit(seed, r, unit):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(r + 3, 16)), int(rng.integers(1, r + 1))
    A = rng.random((n, n)) + 0.05
    A = (A + A.T) * clique(n)
    R = unit * rng.standard_normal((n, r))
    a, mu = solve(R, sp.csr_array(A), m)
    np.testing.assert_allclose(mu, reference.locality_values(R, A, m), rtol=1e-8, atol=1e-10)
    D = np.diag(A.sum(axis=1))
    left, right = R.T @ (D - A) @ R, R.T @ D @ R
    np.testing.assert_allclose(a.T @ right @ a, np.eye(m), rtol=0, atol=1e-9)
    np.testing.assert_allclose(a.T @ left @ a, np.diag(mu), rtol=0, atol=1e-8)


def lone_rows():
    """Eight rows in a clique, and two without edges along a direction of their own."""
    R = np.zeros((10, 3))
    R[:8, :2] = np.random.default_rng(8).standard_normal((8, 2))
    R[8:, 2] = [1.0, -1.0]
    A = np.zeros((10, 10))
    A[:8, :8] = clique(8)
    return R, A


@pytest.mark.parametrize(
    ("R", "A"),
    [
        lone_rows(),
        (np.random.default_rng(9).standard_normal((6, 2)), np.zeros((6, 6))),
        *(  # one line: sums over 400 rows round more than a sum of two numbers does
            (np.outer(np.random.default_rng(seed).standard_normal(400), [1.0, 0.3]), clique(400))
            for seed in (56, 69, 87)
        ),
        (np.array([[-1e-200], [1e-200]]), clique(2)),
    ],
    ids=["lone rows", "no edge", "a line", "a line", "a line", "tiny"],
)
def test_directions_that_nothing_decides_come_to_no_harm(R, A):
    a, mu = solve(R, A, R.shape[1])
    assert np.isfinite(a).all()
    assert np.isfinite(mu).all()
    if len(R) == 10:
        expected = reference.locality_values(R[:8, :2], clique(8), 2)
        np.testing.assert_allclose(np.sort(mu)[1:], expected, rtol=1e-6)

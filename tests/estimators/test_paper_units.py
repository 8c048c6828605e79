"""With penalties="paper" the penalties are those that eq:26 prints, in the units of X."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from dogc import DOGCOS
from dogc.numerics import l2p

IRIS = load_iris().data


def fitted(X, gamma, fit_intercept=True, **parameters):
    return DOGCOS(
        3, penalties="paper", rule="paper", gamma=gamma, n_neighbors=10, geometry="given",
        n_components=None, fit_intercept=fit_intercept, tol=1e-8, **parameters,
    ).fit(X)  # fmt: skip


@pytest.mark.parametrize("unit", [0.01, 100.0])
def test_gamma_is_in_the_units_of_the_columns(unit):
    # ||P||^2 for rows that are unit times as large is 1 / unit^2 of what it was.
    model = fitted(IRIS, gamma=30.0)
    other = fitted(unit * IRIS, gamma=30.0 * unit**2)
    assert np.array_equal(model.labels_, other.labels_)
    np.testing.assert_allclose(other.coef_ * unit, model.coef_, rtol=1e-6, atol=1e-9)
    same = fitted(unit * IRIS, gamma=30.0)
    assert not np.allclose(same.coef_ * unit, model.coef_, rtol=0.01)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("gamma", [0.5, 30.0])
def test_the_regression_is_a_minimum_of_what_is_printed(gamma, fit_intercept):
    model = fitted(IRIS, gamma, fit_intercept, p=1.0)
    # Equal rows are one row, and the last P was fitted to labels that no longer change.
    Y = np.eye(3)[model.labels_]
    residual = Y - IRIS @ model.coef_.T - model.intercept_
    D = l2p.irls_weights(np.sum(residual**2, axis=1), 1.0)
    slope = IRIS.T @ (D[:, None] * residual) - gamma * model.coef_.T
    scale = np.abs(IRIS.T @ (D[:, None] * Y)).max()
    assert np.abs(slope).max() < 0.02 * scale
    if fit_intercept:
        assert np.abs(D @ residual).max() < 0.02 * D.sum()
    else:
        assert np.array_equal(model.intercept_, np.zeros(3))

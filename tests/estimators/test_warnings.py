"""A warning names the line of whoever called, however deep it was raised."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dogc import CLR, DOGC, SEC, DiscriminativeKMeans, NMFClustering, NormalizedCut

FEW = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 4, axis=0)
PIECES = np.vstack([[[10.0 * i, 0.0], [10.0 * i + 1, 0.0], [10.0 * i, 1.0]] for i in range(6)])


CASES = {
    "few rows": (DOGC(5), FEW),
    "few rows, fixed graph": (NormalizedCut(5), FEW),
    "few rows, k-means": (DiscriminativeKMeans(5), FEW),
    "not converged": (DOGC(3, max_iter=1), FEW + np.arange(24.0).reshape(12, 2) ** 2),
    "pieces": (NormalizedCut(2, n_neighbors=2), PIECES),
    "pieces, regression": (SEC(2, n_neighbors=2), PIECES),
    "pieces, learned": (CLR(2, n_neighbors=2), PIECES),
    "factors": (NMFClustering(2, max_iter=1), PIECES + np.arange(36.0).reshape(18, 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_warning_points_at_the_callers_line(name):
    model, X = CASES[name]
    pipeline = make_pipeline(FunctionTransformer(), clone(model))
    for method in (model.fit, model.fit_predict, pipeline.fit, pipeline.fit_predict):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            line = inspect.currentframe().f_lineno + 1
            method(X)
        assert caught
        assert {(w.filename, w.lineno) for w in caught} == {(__file__, line)}


def test_a_warning_from_many_rows_points_there_too():
    X = np.random.default_rng(0).random((3200, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        DOGC(7, init="spectral").fit(X)
    assert any("number of representatives" in str(w.message) for w in caught)
    assert {(w.filename, w.lineno) for w in caught} == {(__file__, line)}

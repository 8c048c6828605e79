import io
import pickle

import joblib
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from conftest import CLUSTERERS, ESTIMATORS, made
from dogc import CAN, DOGC, DOGCOS, LPP, PCAN, SEC, DOGCFixedGraph, DOGCRelaxed
from dogc.loop.penalties import relative_weights

PROJECTING = [DOGC, DOGCOS, PCAN, DOGCRelaxed, DOGCFixedGraph]
each = pytest.mark.parametrize("cls", CLUSTERERS, ids=lambda e: e.__name__)
each_learner = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda e: e.__name__)
each_projecting = pytest.mark.parametrize("cls", PROJECTING, ids=lambda e: e.__name__)


@parametrize_with_checks([*(cls() for cls in CLUSTERERS), LPP()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@each
def test_finds_blobs_and_numbers_clusters_by_size(cls):
    X, truth = make_blobs([30, 60, 45], n_features=4, cluster_std=1.0, random_state=3)
    model = cls(3).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    np.testing.assert_array_equal(np.bincount(model.labels_), [60, 45, 30])


@each_learner
def test_fitted_attributes(cls, three_blobs):
    X, _ = three_blobs
    model = cls(3, n_neighbors=8).fit(X)
    n, d = X.shape
    assert model.labels_.shape == (n,)
    assert sp.issparse(model.affinity_matrix_)
    assert abs(model.affinity_matrix_ - model.affinity_matrix_.T).max() == 0
    assert model.affinity_matrix_.sum() == pytest.approx(n)
    assert model.embedding_.shape == (n, 3)
    assert model.n_iter_ == len(model.history_)
    assert model.n_features_in_ == d
    assert isinstance(model.converged_, bool)
    assert isinstance(model.stopping_reason_, str)
    assert hasattr(model, "rotation_") == (cls in (DOGC, DOGCOS, DOGCFixedGraph))
    assert hasattr(model, "coef_") == (cls is DOGCOS)


def test_embedding_times_rotation_points_at_the_labels(three_blobs):
    for cls in (DOGC, DOGCOS):
        model = cls(3, n_neighbors=8).fit(three_blobs[0])
        np.testing.assert_array_equal(
            (model.embedding_ @ model.rotation_).argmax(axis=1), model.labels_
        )


@each
def test_predict_labels_new_rows_like_their_neighbours(cls):
    X, truth = make_blobs(200, n_features=5, centers=4, random_state=1)
    model = cls(4).fit(X[::2])
    predicted = model.predict(X[1::2])
    assert adjusted_rand_score(truth[1::2], predicted) == 1.0
    assert set(predicted) <= set(model.labels_)
    np.testing.assert_array_equal(model.predict(X[::2]), model.labels_)


def test_predict_follows_the_moons():
    X, truth = make_moons(400, noise=0.05, random_state=0)
    model = DOGC(2).fit(X[::2])
    assert adjusted_rand_score(truth[1::2], model.predict(X[1::2])) == 1.0


@each
def test_predict_of_fitted_rows_mostly_gives_their_labels(cls):
    # Far more features than the learned subspace keeps: candidates must come from all of them.
    X = load_digits().data[:600]
    model = cls(10).fit(X)
    agreement = (model.predict(X) == model.labels_).mean()
    assert agreement > (0.9 if cls in (DOGCOS, SEC) else 0.98)


@each
def test_dense_and_sparse_mix_between_fit_and_predict(cls):
    X, _ = make_blobs(90, n_features=6, centers=3, random_state=0)
    dense, sparse = cls(3).fit(X), cls(3).fit(sp.csr_array(X))
    np.testing.assert_array_equal(dense.predict(sp.csr_array(X)), dense.predict(X))
    np.testing.assert_array_equal(sparse.predict(X), sparse.predict(sp.csr_array(X)))


def test_predict_weighs_by_the_row_problem_and_not_by_counting():
    # Three far neighbours of one cluster against two near ones of the other.
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]])
    model = CAN(2, n_neighbors=3).fit(X)
    near, far = model.labels_[0], model.labels_[-1]
    assert model.predict([[1.0]])[0] == near
    assert model.predict([[4.4]])[0] == far


@pytest.mark.parametrize(("xi", "m"), [("mean", None), ("row", None), ("row", 2), ("mean", 1)])
def test_predict_of_dogc_solves_the_row_problem_among_the_fitted_rows(xi, m):
    X, _ = make_blobs(90, n_features=3, centers=3, cluster_std=3.0, random_state=0)
    new, k = X.mean(axis=0) + 4.0 * np.random.default_rng(0).standard_normal((200, 3)), 9
    model = DOGC(3, n_neighbors=k, xi=xi, geometry="given", n_components=m).fit(X)

    def apart(A, B):  # over the scatter of the fitted rows in their space
        return ((A[:, None] - B[None]) ** 2).sum(axis=2) / np.sum((B - B.mean(axis=0)) ** 2)

    near = np.argsort(apart(new, X), axis=1)[:, : k + 1]  # in all features
    D = apart(model.transform(new), model.transform(X))  # in the subspace, where there is one
    within = np.sort(apart(X, X), axis=1)[:, 1:]
    common = np.mean([reference.neighbour_xi(row, k) for row in within])
    expected, counted = [], []
    for row, candidates in zip(D, near, strict=True):
        candidates = candidates[np.argsort(row[candidates])]
        own = common if xi == "mean" else reference.neighbour_xi(row[candidates], k)
        weight = reference.project_to_simplex(-row[candidates[:k]] / (2 * own))
        votes = model.labels_[candidates[:k]]
        expected.append(np.bincount(votes, weight).argmax())
        counted.append(np.bincount(votes).argmax())
    assert np.array_equal(model.predict(new), expected)
    assert not np.array_equal(counted, expected)


@each
def test_predict_of_a_row_does_not_depend_on_the_other_rows(cls, three_blobs):
    X, _ = three_blobs
    new = np.random.default_rng(5).standard_normal((40, 4)) * 4
    model = made(cls, 3, n_neighbors=8).fit(X)
    one_by_one = np.concatenate([model.predict(row[None]) for row in new])
    np.testing.assert_array_equal(model.predict(new), one_by_one)


def test_regression_predicts_by_coef_and_intercept(three_blobs):
    X, _ = three_blobs
    X = X + 100.0
    for fit_intercept in (True, False):
        model = DOGCOS(3, n_neighbors=8, rule="paper", fit_intercept=fit_intercept).fit(X)
        scores = X @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(X), scores)
        assert fit_intercept or np.all(model.intercept_ == 0.0)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))


def test_a_shift_of_the_rows_is_taken_up_by_the_intercept(three_blobs):
    X, _ = three_blobs
    given = {"n_neighbors": 8, "rule": "paper", "gamma": 1.0}
    model, moved = DOGCOS(3, **given).fit(X), DOGCOS(3, **given).fit(X + 50.0)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=1e-6)
    # As eq:27 prints it, P has to hold the shift.
    given |= {"fit_intercept": False}
    model, moved = DOGCOS(3, **given).fit(X), DOGCOS(3, **given).fit(X + 50.0)
    assert np.abs(moved.coef_ - model.coef_).max() > 1e-3


@each_projecting
def test_transform_is_the_learned_projection(cls, three_blobs):
    X, _ = three_blobs
    model = cls(3, n_neighbors=8, n_components=2).fit(X)
    assert model.components_.shape == (2, 4)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T)
    np.testing.assert_allclose(clone(model).fit_transform(X), model.transform(X))


@each_learner
def test_no_projection_transforms_to_the_rows_themselves(cls, three_blobs):
    X, _ = three_blobs
    parameters = {} if cls is CAN else {"n_components": None}
    model = cls(3, n_neighbors=8, **parameters).fit(X)
    assert model.components_ is None
    np.testing.assert_array_equal(model.transform(X), X)
    assert len(model.get_feature_names_out()) == 4


def test_set_output_and_feature_names():
    frame = load_iris(as_frame=True).data
    model = DOGC(3, n_components=2).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == ["dogc0", "dogc1"]
    assert out.index.equals(frame.index)
    assert list(model.feature_names_in_) == list(frame.columns)


@each
def test_same_labels_from_every_container(cls):
    frame = load_iris(as_frame=True).data
    X = frame.to_numpy()
    labels = cls(3).fit_predict(X)
    np.testing.assert_array_equal(cls(3).fit_predict(frame), labels)
    np.testing.assert_array_equal(cls(3).fit_predict(pl.from_pandas(frame)), labels)
    np.testing.assert_array_equal(cls(3).fit_predict(X.tolist()), labels)
    np.testing.assert_array_equal(cls(3).fit_predict(np.asfortranarray(X)), labels)


@each
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse_rows_give_the_labels_of_dense_rows(cls, kind, index_type):
    X, _ = make_blobs(90, n_features=6, centers=3, random_state=0)
    X[np.abs(X) < 2.0] = 0.0
    sparse = kind(X)
    for name in ("indices", "indptr", "row", "col"):
        if hasattr(sparse, name) and not (kind is sp.coo_matrix and name in ("indices", "indptr")):
            setattr(sparse, name, getattr(sparse, name).astype(index_type))
    dense = made(cls, 3, n_neighbors=10).fit(X)
    model = made(cls, 3, n_neighbors=10).fit(sparse)
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    np.testing.assert_array_equal(model.predict(sparse), dense.predict(X))


@each_projecting
def test_sparse_rows_can_be_projected_too(cls):
    X, _ = make_blobs(90, n_features=6, centers=3, random_state=0)
    X[np.abs(X) < 2.0] = 0.0
    dense = cls(3, n_neighbors=10, n_components=2).fit(X)
    model = cls(3, n_neighbors=10, n_components=2).fit(sp.csr_array(X))
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    np.testing.assert_allclose(model.components_, dense.components_, atol=1e-6)


@each
def test_float32_stays_float32(cls):
    X, _ = make_blobs(120, n_features=4, centers=3, cluster_std=2.0, random_state=0)
    X = X.astype(np.float32)
    model = made(cls, 3, n_components=2).fit(X)
    for name in ("embedding_", "affinity_matrix_", "coef_", "intercept_", "cluster_centers_"):
        assert getattr(model, name, X).dtype == np.float32
    assert not hasattr(model, "transform") or model.transform(X).dtype == np.float32
    same = made(cls, 3, n_components=2).fit(X.astype(np.float64))
    assert adjusted_rand_score(model.labels_, same.labels_) == 1.0


@pytest.mark.parametrize("cls", [DOGC, CAN, PCAN], ids=lambda e: e.__name__)
def test_precomputed_neighbour_graph_equals_features(cls):
    X, _ = make_moons(150, noise=0.06, random_state=0)
    parameters = {} if cls is CAN else {"n_components": None}
    plain = made(cls, 2, n_neighbors=10, geometry="given", **parameters).fit(X[::2])
    pipeline = make_pipeline(
        KNeighborsTransformer(n_neighbors=11, mode="distance"),
        cls(2, n_neighbors=10, metric="precomputed", **parameters),
    ).fit(X[::2])
    np.testing.assert_array_equal(pipeline[-1].labels_, plain.labels_)
    np.testing.assert_array_equal(pipeline.predict(X[1::2]), plain.predict(X[1::2]))


def test_precomputed_graph_keeps_zero_distances():
    X, _ = make_blobs(60, centers=3, random_state=0)
    X = np.repeat(X, 2, axis=0)
    graph = KNeighborsTransformer(n_neighbors=12, mode="distance").fit_transform(X)
    plain = DOGC(3, n_neighbors=10, xi="row", geometry="given", n_components=None).fit(X)
    model = DOGC(3, n_neighbors=10, xi="row", metric="precomputed").fit(graph)
    assert adjusted_rand_score(plain.labels_, model.labels_) == 1.0


@each
def test_pickle_joblib_and_clone(cls, three_blobs):
    X, _ = three_blobs
    model = made(cls, 3, n_neighbors=8).fit(X)
    copies = [pickle.loads(pickle.dumps(model))]
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    copies.append(joblib.load(buffer))
    copies.append(clone(model).fit(X))
    for copy in copies:
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        np.testing.assert_array_equal(copy.labels_, model.labels_)


def test_pipeline_and_grid_search():
    X, truth = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), DOGCOS(3))
    search = GridSearchCV(
        pipeline,
        {"dogcos__n_neighbors": [8, 15], "dogcos__alpha": [1e-3, 1e-2]},
        scoring=make_scorer(adjusted_rand_score),
        cv=ShuffleSplit(2, test_size=0.5, random_state=0),
    ).fit(X, truth)
    assert search.best_score_ > 0.8


def test_init_takes_labels_and_keeps_good_ones(three_blobs):
    X, truth = three_blobs
    names = np.array(["b", "a", "c"])[truth]
    model = DOGC(3, n_neighbors=8, init=names).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


def test_n_init_is_reproducible(three_blobs):
    X, _ = three_blobs
    kwargs = {"n_neighbors": 8, "init": "random", "n_init": 3, "random_state": 7}
    np.testing.assert_array_equal(
        DOGC(3, **kwargs).fit(X).labels_, DOGC(3, **kwargs).fit(X).labels_
    )


def test_paper_penalties_are_the_printed_ones(three_blobs):
    # With everything as eq:26 prints it, the link term is alpha ||Y - FQ||^2 to the letter.
    X, _ = three_blobs
    model = DOGC(3, n_neighbors=8, alpha=0.25, penalties="paper").fit(X)
    Y = np.eye(3)[model.labels_]
    expected = 0.25 * np.linalg.norm(Y - model.embedding_ @ model.rotation_) ** 2
    assert model.history_[-1].terms["link"] == pytest.approx(expected)


@pytest.mark.parametrize("lam", [1e-4, 1.0])
def test_relative_penalties_mean_the_same_at_every_n_and_lambda(lam):
    for n in (100, 10_000):
        c, d = 4, 7
        alpha, beta, gamma = relative_weights(0.5, 0.25, 0.125, n, c, d)(lam)
        pull = 2 * alpha * np.sqrt(n / c)  # of one column of Y on F, against 2 lambda L
        assert pull / (2 * lam) == pytest.approx(0.5)
        graph_says = alpha * np.sqrt(c / n)  # what FQ adds to the score of a row's label
        assert beta / graph_says == pytest.approx(0.25)
        assert gamma == pytest.approx(0.125 / d)

import pickle
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import dogc
import reference
from conftest import CLUSTERERS, ESTIMATORS, FAMILIES, made
from dogc.loop.penalties import relative_weights

PROJECTING = [dogc.DOGC, dogc.DOGCOS, dogc.PCAN, dogc.DOGCRelaxed, dogc.DOGCFixedGraph]
each = pytest.mark.parametrize("cls", CLUSTERERS, ids=lambda e: e.__name__)
each_family = pytest.mark.parametrize("cls", FAMILIES, ids=lambda e: e.__name__)
each_learner = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda e: e.__name__)
each_projecting = pytest.mark.parametrize("cls", PROJECTING, ids=lambda e: e.__name__)


# scikit-learn takes what has predict_proba for a classifier of the four classes in its y.
SPARSE = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")


def beyond(estimator):
    return dict.fromkeys(SPARSE if hasattr(estimator, "predict_proba") else (), "no classifier")


@parametrize_with_checks(
    [dogc.DOGC(), dogc.NormalizedCut(), dogc.DiscriminativeKMeans(), dogc.LSC(), dogc.LPP()],
    expected_failed_checks=beyond,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([cls() for cls in CLUSTERERS], expected_failed_checks=beyond)
def test_scikit_learn_conventions_of_all(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", SPARSE)
def test_sparse_rows_of_every_format(check):
    class NoProba(dogc.DOGC):
        predict_proba = property()  # an AttributeError

    getattr(estimator_checks, check)("DOGC", NoProba())


@each_family
def test_predict_of_fitted_rows_mostly_gives_their_labels(cls):
    # Far more features than the learned subspace keeps: candidates must come from all of them.
    X = load_digits().data[:600]
    model = cls(10).fit(X)
    agreement = (model.predict(X) == model.labels_).mean()
    assert agreement > {dogc.DOGCOS: 0.97, dogc.SEC: 0.9}.get(cls, 0.98)


@each
def test_far_blobs_are_found_numbered_by_size_and_predicted_row_by_row(cls):
    X, truth = make_blobs([60, 120, 90], n_features=6, cluster_std=1.0, random_state=3)
    model = cls(3).fit(X[::2])
    assert adjusted_rand_score(truth[::2], model.labels_) == 1.0
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    predicted = model.predict(X[1::2])
    assert adjusted_rand_score(truth[1::2], predicted) == 1.0
    np.testing.assert_array_equal(model.predict(X[::2]), model.labels_)
    new = np.random.default_rng(5).standard_normal((30, 6)) * 4
    one_by_one = np.concatenate([model.predict(row[None]) for row in new])
    np.testing.assert_array_equal(model.predict(new), one_by_one)
    again = clone(model).fit(X[::2])
    for copy in (pickle.loads(pickle.dumps(model)), again):
        np.testing.assert_array_equal(copy.predict(new), one_by_one)
        np.testing.assert_array_equal(copy.labels_, model.labels_)


@each_learner
def test_fitted_attributes(cls, three_blobs):
    X, _ = three_blobs
    model = made(cls, 3, n_neighbors=8, n_components=None).fit(X)
    n, d = X.shape
    assert model.labels_.shape == (n,)
    assert sp.issparse(model.affinity_matrix_)
    assert abs(model.affinity_matrix_ - model.affinity_matrix_.T).max() == 0
    assert model.affinity_matrix_.sum() == pytest.approx(n)
    assert model.embedding_.shape == (n, 3)
    assert model.n_iter_ == len(model.history_)
    assert isinstance(model.converged_, bool)
    assert isinstance(model.stopping_reason_, str)
    assert hasattr(model, "rotation_") == (cls in (dogc.DOGC, dogc.DOGCOS, dogc.DOGCFixedGraph))
    assert hasattr(model, "coef_") == (cls is dogc.DOGCOS)
    if cls in (dogc.DOGC, dogc.DOGCOS):
        F, Q = model.embedding_, model.rotation_
        np.testing.assert_array_equal((F @ Q).argmax(axis=1), model.labels_)
    assert model.components_ is None
    np.testing.assert_array_equal(model.transform(X), X)
    assert len(model.get_feature_names_out()) == d


@each
def test_rows_of_every_kind_have_the_same_labels(cls):
    frame = load_iris(as_frame=True).data
    X = frame.to_numpy()
    labels = cls(3).fit_predict(X)
    for rows in (frame, pl.from_pandas(frame), X.tolist(), np.asfortranarray(X)):
        np.testing.assert_array_equal(cls(3).fit_predict(rows), labels)


@each
def test_sparse_rows_give_the_labels_of_dense_rows(cls):
    X, _ = make_blobs(90, n_features=6, centers=3, random_state=0)
    X[np.abs(X) < 2.0] = 0.0
    dense = made(cls, 3, n_neighbors=10, n_components=2).fit(X)
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_matrix):
        sparse = kind(X)
        for name in ("indices", "indptr") if kind is not sp.coo_matrix else ("row", "col"):
            setattr(sparse, name, getattr(sparse, name).astype(np.int64))
        model = made(cls, 3, n_neighbors=10, n_components=2).fit(sparse)
        np.testing.assert_array_equal(model.labels_, dense.labels_)
        for rows in (X, sparse):
            np.testing.assert_array_equal(model.predict(rows), dense.predict(X))
    np.testing.assert_array_equal(dense.predict(sp.csr_array(X)), dense.predict(X))
    if cls in PROJECTING:
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


@pytest.mark.parametrize("cls", PROJECTING, ids=lambda e: e.__name__)
def test_transform_is_the_learned_projection(cls, three_blobs):
    X, _ = three_blobs
    model = cls(3, n_neighbors=8, n_components=2).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T)


def test_predict_weighs_by_the_row_problem_and_not_by_counting():
    # Three far neighbours of one cluster against two near ones of the other.
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]])
    model = dogc.CAN(2, n_neighbors=3).fit(X)
    near, far = model.labels_[0], model.labels_[-1]
    assert model.predict([[1.0]])[0] == near
    assert model.predict([[4.4]])[0] == far


@pytest.mark.parametrize(("xi", "m"), [("mean", None), ("row", None), ("row", 2), ("mean", 1)])
def test_predict_of_dogc_solves_the_row_problem_among_the_fitted_rows(xi, m):
    X, _ = make_blobs(90, n_features=3, centers=3, cluster_std=3.0, random_state=0)
    new, k = X.mean(axis=0) + 4.0 * np.random.default_rng(0).standard_normal((200, 3)), 9
    model = dogc.DOGC(3, n_neighbors=k, xi=xi, geometry="given", n_components=m).fit(X)

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


def test_a_shift_of_the_rows_is_taken_up_by_the_intercept(three_blobs):
    X, _ = three_blobs
    given = {"n_neighbors": 8, "rule": "paper", "gamma": 1.0}
    model, moved = dogc.DOGCOS(3, **given).fit(X), dogc.DOGCOS(3, **given).fit(X + 50.0)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=1e-6)
    # As eq:27 prints it, P has to hold the shift.
    given |= {"fit_intercept": False}
    model, moved = dogc.DOGCOS(3, **given).fit(X), dogc.DOGCOS(3, **given).fit(X + 50.0)
    assert np.abs(moved.coef_ - model.coef_).max() > 1e-3


@pytest.mark.parametrize("model", [dogc.DOGC(3, n_components=2), dogc.LPP(2)], ids=repr)
def test_set_output_and_feature_names(model):
    frame, name = load_iris(as_frame=True).data, type(model).__name__.lower()
    model = model.set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == list(model.get_feature_names_out()) == [f"{name}0", f"{name}1"]
    assert out.index.equals(frame.index)
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(out, clone(model).fit_transform(frame.to_numpy()))


@pytest.mark.parametrize("cls", [dogc.DOGC, dogc.CAN, dogc.PCAN], ids=lambda e: e.__name__)
def test_precomputed_neighbour_graph_equals_features(cls):
    X, _ = make_moons(150, noise=0.06, random_state=0)
    parameters = {} if cls is dogc.CAN else {"n_components": None}
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
    plain = dogc.DOGC(3, n_neighbors=10, xi="row", geometry="given", n_components=None).fit(X)
    model = dogc.DOGC(3, n_neighbors=10, xi="row", metric="precomputed").fit(graph)
    assert adjusted_rand_score(plain.labels_, model.labels_) == 1.0


def test_pipeline_and_grid_search():
    X, truth = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), dogc.DOGCOS(3))
    search = GridSearchCV(
        pipeline,
        {"dogcos__n_neighbors": [8, 15], "dogcos__alpha": [1e-3, 1e-2]},
        scoring=make_scorer(adjusted_rand_score),
        cv=ShuffleSplit(2, test_size=0.5, random_state=0),
    ).fit(X, truth)
    assert search.best_score_ > 0.8


def test_paper_penalties_are_the_printed_ones(three_blobs):
    # With everything as eq:26 prints it, the link term is alpha ||Y - FQ||^2 to the letter.
    X, _ = three_blobs
    model = dogc.DOGC(3, n_neighbors=8, alpha=0.25, penalties="paper").fit(X)
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


def test_habits_of_scikit_learn(three_blobs, monkeypatch):
    X, _ = three_blobs
    weight = (np.arange(len(X)) % 2).astype(float)
    # Metadata routing
    with config_context(enable_metadata_routing=True):
        own = dogc.DOGC(3).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), own).fit(X, sample_weight=weight)
        assert np.array_equal(pipeline[-1].labels_, dogc.DOGC(3).fit(X, None, weight).labels_)
        with pytest.raises(UnsetMetadataPassedError):
            make_pipeline(FunctionTransformer(), dogc.DOGC(3)).fit(X, sample_weight=weight)
    # Output as frames
    model = dogc.DOGC(3, geometry="within").set_output(transform="pandas").fit(X)
    assert list(model.transform(X).columns) == list(model.get_feature_names_out())
    # The page of a notebook links to the documentation, where there is one
    assert dogc.DOGC()._get_doc_link() == ""
    named = {"Project-URL": ["Source, https://a.b", "Documentation, https://c.d/"]}
    found = SimpleNamespace(get_all=named.get)
    monkeypatch.setattr("dogc.estimators._rows.metadata.metadata", lambda name: found)
    assert "https://c.d/api/generated/dogc.DOGC.html" in dogc.DOGC()._repr_html_()

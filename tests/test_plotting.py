import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import refused
from dogc import CLR, DOGC, DOGCOS, NormalizedCut, explore
from dogc.fitting.auto.n_neighbors import ScaleChoice
from dogc.fitting.auto.n_representatives import ResolutionChoice, only_resolution
from dogc.fitting.auto.splits import steps_between
from dogc.loop.solver import Record
from dogc.metrics import clustering_accuracy
from dogc.plotting import (
    PALETTE,
    ClusterDisplay,
    ConfusionDisplay,
    ConvergenceDisplay,
    GraphDisplay,
    ScaleDisplay,
    SplitDisplay,
)
from dogc.plotting._confusion import match_clusters
from dogc.plotting._graph import block_structure
from dogc.plotting._splits import flow_between

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def many_moons():
    """Rows that are too many for a graph of their own, and a model of them."""
    X, _ = make_moons(3_500, noise=0.05, random_state=0)
    return X, DOGC(2).fit(X)


def choice():
    agreement = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]])
    return ScaleChoice((5, 10, 15), agreement, np.array([0.7, 0.8, 0.3]), 10)


def new_axes():
    return matplotlib.figure.Figure().subplots()


def colours(collection):
    return [matplotlib.colors.to_hex(colour) for colour in collection.get_facecolors()]


# The choice of the scale


def test_the_picture_shows_every_number():
    display = ScaleDisplay(choice()).plot()
    shown = [text.get_text() for text in display.ax_.texts]
    assert shown == [f"{value:.2f}" for value in choice().agreement.ravel()]
    np.testing.assert_array_equal(display.line_.get_ydata(), [0.7, 0.8, 0.3])
    np.testing.assert_array_equal(display.image_.get_array(), choice().agreement)
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["5", "10", "15"]
    (frame,) = display.ax_.patches
    assert frame.get_bbox().bounds == (0.5, -0.5, 1.0, 3.0)


def test_numbers_of_representatives_are_drawn_in_the_same_way():
    resolutions = ResolutionChoice((125, 250, 500), *choice()[1:3], 250)
    display = ScaleDisplay(resolutions).plot()
    np.testing.assert_array_equal(display.image_.get_array(), choice().agreement)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["125", "250", "500"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("representatives",) * 2
    title = display.ax_.get_title()
    assert title == "agreement of labels\n250 representatives taken, confirmed to 0.80"
    # One number alone says nothing of agreement.
    title = ScaleDisplay(only_resolution(250)).plot().ax_.get_title()
    assert title == "agreement of labels\n250 representatives asked for"


def test_a_model_shows_representatives_if_it_has_any(many_moons, three_blobs):
    X, model = many_moons
    assert ScaleDisplay.from_estimator(model).choice is model.resolutions_
    cut = NormalizedCut(2, n_representatives=50).fit(X)
    assert ScaleDisplay.from_estimator(cut).choice.chosen == 50
    few = DOGC(3).fit(three_blobs[0])
    assert ScaleDisplay.from_estimator(few).choice is few.scales_
    cut, says = NormalizedCut(3).fit(three_blobs[0]), "NormalizedCut has no scales_ to draw; pass a"
    refused(f"{says} fitted DOGC", ScaleDisplay.from_estimator, cut)


# What all displays do


# Every display from every place it can be made from.
DRAWINGS = {
    "clusters": lambda m, X, y, ax: ClusterDisplay.from_estimator(m, X, ax=ax),
    "clusters, labels": lambda m, X, y, ax: ClusterDisplay.from_predictions(X, y, ax=ax),
    "graph": lambda m, X, y, ax: GraphDisplay.from_estimator(m, ax=ax),
    "graph, edges": lambda m, X, y, ax: GraphDisplay.from_estimator(m, X, kind="edges", ax=ax),
    "graph, labels": lambda m, X, y, ax: GraphDisplay.from_predictions(
        m.affinity_matrix_, y, X=X, kind="edges", ax=ax
    ),
    "convergence": lambda m, X, y, ax: ConvergenceDisplay.from_estimator(m, ax=ax),
    "scale": lambda m, X, y, ax: ScaleDisplay.from_estimator(m, ax=ax),
    "confusion": lambda m, X, y, ax: ConfusionDisplay.from_estimator(m, X, y, ax=ax),
    "confusion, labels": lambda m, X, y, ax: ConfusionDisplay.from_predictions(y, y, ax=ax),
    "splits": lambda m, X, y, ax: SplitDisplay.from_predictions({2: np.minimum(y, 1), 3: y}, ax=ax),
}


@pytest.fixture(scope="module")
def fitted():
    X, y = make_blobs(60, n_features=4, centers=3, random_state=0)
    return DOGCOS(3, n_neighbors=8).fit(X), X, y


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_display_draws_alone_and_into_given_axes(name, style, fitted):
    with plt.style.context(style):
        own = DRAWINGS[name](*fitted, None)
        assert own.figure_ is own.ax_.figure
        assert own.figure_.get_layout_engine() is not None
        own.figure_.canvas.draw()
        axes = new_axes()
        given = DRAWINGS[name](*fitted, axes)
        assert given.figure_ is axes.figure
        given.figure_.canvas.draw()


@pytest.mark.parametrize("name", ["clusters", "graph", "convergence", "confusion"])
def test_models_that_are_not_fitted_are_refused_in_a_sentence(name, three_blobs):
    for model in (DOGC(3), make_pipeline(StandardScaler(), DOGC(3)), KMeans(3)):
        with pytest.raises(NotFittedError, match="is not fitted yet; call fit before"):
            DRAWINGS[name](model, *three_blobs, None)


def test_models_without_what_is_drawn_are_refused_with_a_remedy(three_blobs):
    means = KMeans(3, n_init=1).fit(three_blobs[0])
    cut = NormalizedCut(3).fit(three_blobs[0])
    X, draw, rest = three_blobs[0], ClusterDisplay.from_estimator, "to draw; pass a fitted"
    refused(f"KMeans has no affinity_matrix_ {rest}", GraphDisplay.from_estimator, means)
    refused("has no affinity_matrix_ to draw", draw, means, X, layout="graph")
    refused(f"NormalizedCut has no history_ {rest}", ConvergenceDisplay.from_estimator, cut)
    refused(f"StandardScaler has no labels_ {rest}", draw, StandardScaler().fit(X), X)


# Clusters


def test_clusters_have_their_colours_and_the_legend_their_sizes():
    X = np.array([[0.0, 0.0], [1.0, 0.2], [2.0, 1.0], [3.0, 1.5]])
    display = ClusterDisplay.from_predictions(X, [0, 1, 0, -1])
    (dots,) = display.scatter_
    found = dict(zip(map(tuple, dots.get_offsets()), colours(dots), strict=True))
    assert found == {(0, 0): PALETTE[0], (1, 0.2): PALETTE[1], (2, 1): PALETTE[0]}
    np.testing.assert_array_equal(display.outliers_.get_offsets(), X[3:])
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["0  (2)", "1  (1)", "outliers  (1)"]


def test_more_features_are_seen_in_the_learned_subspace():
    X, _ = make_blobs(90, n_features=9, centers=3, random_state=0)
    pipeline = make_pipeline(StandardScaler(), DOGC(3, n_components=4, n_neighbors=8)).fit(X)
    display = ClusterDisplay.from_estimator(pipeline, X)
    expected = PCA(2).fit_transform(pipeline.transform(X))
    np.testing.assert_allclose(display.points, expected, atol=1e-8)
    assert "learned subspace" in display.ax_.get_xlabel()
    plain = ClusterDisplay.from_estimator(KMeans(3, n_init=1, random_state=0).fit(X), X)
    np.testing.assert_allclose(plain.points, PCA(2).fit_transform(X), atol=1e-8)


@pytest.mark.parametrize("shape", [(12, 1), (12, 5), (2, 5), (3, 3)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_any_shape_and_sparse_rows_come_into_the_plane(shape, kind):
    X = np.random.default_rng(0).standard_normal(shape)
    display = ClusterDisplay.from_predictions(kind(X), np.zeros(len(X), dtype=int))
    assert display.points.shape == (len(X), 2)
    assert np.isfinite(display.points).all()
    if shape == (12, 1):
        np.testing.assert_array_equal(display.points[:, 0], X[:, 0])
    if shape == (12, 5):
        expected = PCA(2).fit_transform(X)
        np.testing.assert_allclose(np.abs(display.points), np.abs(expected), atol=1e-8)


def test_outliers_of_a_model_are_marked_whatever_their_label():
    X, _ = make_blobs(120, centers=[(0, 0), (6, 0)], random_state=0)
    X = np.vstack([X, np.full((4, 2), 30.0) + np.arange(8).reshape(4, 2) / 10])
    model = DOGC(2, n_neighbors=3).fit(X)
    assert model.outliers_[-4:].all()
    assert model.labels_.min() == 0
    display = ClusterDisplay.from_estimator(model, X)
    found = {tuple(place) for place in display.outliers_.get_offsets()}
    assert found == {tuple(row) for row in X[model.outliers_]}


def test_many_rows_are_sampled_and_rasterised_and_it_says_so():
    X = np.random.default_rng(0).standard_normal((5000, 2))
    labels = np.arange(5000) % 3
    display = ClusterDisplay.from_predictions(X, labels, max_points=3000)
    assert sum(len(dots.get_offsets()) for dots in display.scatter_) == 3000
    assert all(dots.get_rasterized() for dots in display.scatter_)
    assert display.note_.get_text() == "3,000 of 5,000 rows"
    assert "0  (1,667)" in [text.get_text() for text in display.legend_.get_texts()]
    few = ClusterDisplay.from_predictions(X[:50], labels[:50])
    assert few.note_ is None
    assert few.scatter_[0].get_sizes() > display.scatter_[0].get_sizes()
    assert ClusterDisplay.from_predictions(X, labels, size=7).scatter_[0].get_sizes() == [7]
    assert not few.scatter_[0].get_rasterized()


def test_the_eleventh_cluster_has_another_mark_and_a_colour_of_its_own():
    assert len({matplotlib.colors.to_hex(colour) for colour in PALETTE}) == 20
    X = np.random.default_rng(0).standard_normal((26, 2))
    display = ClusterDisplay.from_predictions(X, np.arange(26) // 2, legend=True)
    first, second = display.scatter_
    assert sorted(colours(second)) == sorted(2 * PALETTE[10:13])
    circle, triangle = first.get_paths()[0].vertices, second.get_paths()[0].vertices
    assert len(circle) != len(triangle)
    assert display.legend_.get_texts()[-1].get_text() == "12  (2)"
    assert ClusterDisplay.from_predictions(X, np.arange(26)).legend_ is None
    last = ClusterDisplay.from_predictions(X, np.arange(26)).scatter_[-1]
    assert sorted(colours(last)) == sorted(PALETTE[:6])  # after twenty they come again
    assert ClusterDisplay.from_predictions(X, np.zeros(26, int), ax=new_axes()).legend_ is None


def test_clusters_refuse_rows_and_labels_that_do_not_fit(three_blobs):
    X, truth = three_blobs
    model, draw, given = (
        DOGC(3).fit(X),
        ClusterDisplay.from_estimator,
        ClusterDisplay.from_predictions,
    )
    refused("X has 30 rows but DOGC was fitted on 60; pass the rows", draw, model, X[::2])
    refused(r"one whole number for each of the 60 .*shape \(59,\)", given, X, truth[1:])
    refused(r"labels must be one whole number .*got <U", given, X, truth.astype(str))
    refused(r"shape \(n_samples, n_features\); got shape \(60,\)", given, X[:, 0], truth)
    cut = SpectralClustering(2, affinity="precomputed").fit(np.ones((6, 6)))
    refused("precomputed graph, which has no points", draw, cut, np.ones((6, 6)))
    refused("layout must be 'plane' or 'graph'; got 'tree'", draw, model, X, layout="tree")


# The graph


def test_blocks_hold_all_of_the_weight_where_it_belongs():
    rng = np.random.default_rng(0)
    A = sp.random_array((90, 90), density=0.2, random_state=rng)
    A = (A + A.T).tocsr()
    labels = rng.integers(0, 4, 90)
    labels[:5] = -1
    for most in (3, 20, 400):
        edges, density, clusters, borders = block_structure(A, labels, most)
        size = np.diff(edges)
        weight = density * np.outer(size, size)
        assert clusters.tolist() == [0, 1, 2, 3, -1]
        if most > 5:
            assert set(borders) <= set(edges)
            start = np.searchsorted(edges, borders)
            found = np.add.reduceat(np.add.reduceat(weight, start[:-1], 0), start[:-1], 1)
            one = np.equal.outer(clusters, labels).astype(float)
            np.testing.assert_allclose(found, one @ A @ one.T)
        np.testing.assert_allclose(weight.sum(), A.sum())
        assert len(size) <= max(most + 5, 90)
    assert len(block_structure(A, labels, 400)[0]) == 91  # a row each where there is room


def test_the_title_says_how_much_weight_is_inside():
    A = sp.csr_array(np.array([[0, 3.0, 0.5], [3.0, 0, 0.5], [0.5, 0.5, 0]]))
    display = GraphDisplay.from_predictions(A, [0, 0, 1])
    assert display.inside_ == pytest.approx(0.75)
    assert display.ax_.get_title() == "75.0% of the weight inside clusters"
    assert [frame.get_width() for frame in display.borders_] == [2, 1]
    assert GraphDisplay.from_predictions(A, [0, 0, -1]).inside_ == pytest.approx(0.75)
    assert GraphDisplay.from_predictions(A, [0, -1, -1]).inside_ == 0.0
    nearly = A.copy()
    nearly.data[nearly.data < 1] = 1e-6
    title = GraphDisplay.from_predictions(nearly, [0, 0, 1]).ax_.get_title()
    assert title == "more than 99.9% of the weight inside clusters"
    assert GraphDisplay.from_predictions(sp.csr_array((3, 3)), [0, 0, 1]).inside_ == 1.0


@pytest.mark.parametrize("sizes", [np.full(20, 10), np.arange(25, 5, -1) ** 2, np.full(3, 5)])
def test_names_of_clusters_are_not_written_over_one_another(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    display = GraphDisplay.from_predictions(sp.eye_array(len(labels)).tocsr(), labels)
    display.figure_.canvas.draw()
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        boxes = [name.get_window_extent() for name in axis.get_ticklabels()]
        assert len(boxes) >= min(len(sizes), 7)
        assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))


def test_edges_are_drawn_once_within_and_between():
    A = sp.csr_array(np.array([[0, 2.0, 0], [2.0, 0, 1.0], [0, 1.0, 0]]))
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    display = GraphDisplay.from_predictions(A, [1, 1, 0], X=X, kind="edges")
    within, between = display.edges_
    np.testing.assert_array_equal(within.get_segments(), [X[[0, 1]]])
    np.testing.assert_array_equal(between.get_segments(), [X[[1, 2]]])
    assert within.get_linewidths()[0] > between.get_linewidths()[0]
    assert matplotlib.colors.to_hex(within.get_colors()[0]) == PALETTE[1]


def test_graphs_refuse_what_they_cannot_draw(three_blobs):
    X, _ = three_blobs
    model, draw, given = DOGC(3).fit(X), GraphDisplay.from_estimator, GraphDisplay.from_predictions
    refused("kind must be 'blocks' or 'edges'; got 'lines'", draw, model, X, kind="lines")
    refused("pass X, or use kind='blocks'", draw, model, kind="edges")
    many = {"X": np.zeros((5001, 2)), "labels": np.zeros(5001, int), "kind": "edges"}
    refused("up to 5,000 rows, and there are 5,001", given, sp.eye_array(5001).tocsr(), **many)


def test_the_graph_of_representatives_is_drawn_with_or_without_the_rows(many_moons):
    X, model = many_moons
    display = GraphDisplay.from_estimator(model, kind="edges")
    also = GraphDisplay.from_estimator(model, X, kind="edges")
    np.testing.assert_array_equal(display.points, also.points)
    (dots,) = [part for part in display.ax_.collections if part not in display.edges_]
    at = np.asarray(dots.get_offsets())
    assert len(at) == model.n_representatives_ < len(X)
    order, drawn = (np.lexsort(rows.T) for rows in (model.representatives_, at))
    np.testing.assert_array_equal(at[drawn], model.representatives_[order])
    names = [PALETTE[label] for label in model.representative_labels_[order]]
    assert np.array(colours(dots))[drawn].tolist() == names
    area, weight = dots.get_sizes()[drawn], model.representative_weights_[order]
    assert area.max() > 1.5 * area.min()
    assert (np.diff(area[np.argsort(weight)]) >= 0).all()
    end = f"of the weight inside clusters\n{model.n_representatives_} representatives"
    assert display.ax_.get_title().endswith(end)


def test_representatives_are_seen_as_rows_would_be():
    pandas = pytest.importorskip("pandas")
    X, _ = make_blobs(500, centers=3, n_features=6, random_state=0)
    learned = DOGC(3, n_representatives=40, n_components=3).fit(X)
    display = GraphDisplay.from_estimator(make_pipeline(learned), kind="edges")
    assert display.axis_names[0] == "learned subspace, direction 1"
    Z = learned.transform(learned.representatives_)
    np.testing.assert_allclose(display.points, PCA(2).fit_transform(Z), atol=1e-9)
    frame = pandas.DataFrame(X[:, :2], columns=["width", "height"])
    named = DOGC(3, n_representatives=40).fit(frame)
    assert GraphDisplay.from_estimator(named, kind="edges").axis_names == ("width", "height")


def test_a_large_graph_never_becomes_dense():
    n = 30_000
    i = np.arange(n)
    A = sp.csr_array((np.ones(2 * n), (np.r_[i, (i + 1) % n], np.r_[(i + 1) % n, i])), (n, n))
    tracemalloc.start()
    for labels in (i * 5 // n, i // 2):  # few clusters, and more than there are bins
        display = GraphDisplay.from_predictions(A, labels)
        assert display.mesh_.get_array().size < 300**2
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.02 * n * n * 8


# Convergence


def records():
    return [
        Record(1, 3.0, {"graph": 2.0, "smoothness": 1.0}, 0.01, 1, 5),
        Record(2, 4.0, {"graph": 2.5, "smoothness": 1.5}, 1.0, 1, 1),
        Record(3, 2.5, {"graph": 2.5, "smoothness": 0.0}, 1.0, 2, 0),
    ]


def test_convergence_shows_the_history():
    display = ConvergenceDisplay(records(), n_clusters=2, stopping_reason="converged").plot()
    drawn = {name: line.get_ydata().tolist() for name, line in display.lines_.items()}
    assert drawn == {
        "objective": [3.0, 4.0, 2.5],
        "graph": [2.0, 2.5, 2.5],
        "smoothness": [1.0, 1.5, 0.0],
        "components": [1, 1, 2],
        "lambda": [0.01, 1.0, 1.0],
    }
    assert display.lines_["lambda"].get_xdata().tolist() == [1, 2, 3]
    assert display.ax_.get_title() == "3 iterations: converged"
    assert display.target_.get_ydata()[0] == 2
    assert display.axes_[2].get_yscale() == "log"
    low, high = display.ax_.get_ylim()
    assert 0.1 < low < 1.0  # what vanishes falls off and does not stretch the axis
    assert high > 4.0
    dotted = [line.get_xdata()[0] for line in display.axes_[2].lines if line.get_ls() == ":"]
    assert dotted == [1.5]


def test_other_methods_with_a_history_have_their_terms(three_blobs):
    model = CLR(3, n_neighbors=8).fit(three_blobs[0])
    display = ConvergenceDisplay.from_estimator(model)
    assert set(display.lines_) == {"objective", "components", "lambda", *model.history_[0].terms}
    assert display.target_.get_ydata()[0] == 3


def test_a_run_at_lambda_zero_can_be_drawn():
    history = [records()[0]._replace(lam=0.0, terms={"graph": 0.0}, objective=0.0)]
    display = ConvergenceDisplay(history, stopping_reason="settled").plot()
    assert display.ax_.get_title() == "1 iteration: settled"
    risen = [history[0], records()[1]]
    assert ConvergenceDisplay(risen).plot().axes_[2].get_yscale() == "linear"
    assert ConvergenceDisplay(records()[1:]).plot().axes_[2].get_yscale() == "linear"


# Confusion


def test_clusters_stand_below_their_classes():
    display = ConfusionDisplay.from_predictions(["b", "a", "a", "b", "b"], [0, 7, 7, 0, 7])
    assert display.classes == ["a", "b"]
    assert display.clusters == [7, 0]
    np.testing.assert_array_equal(display.table, [[2, 0], [1, 2]])
    assert display.ax_.get_title() == "ACC 0.800"
    shown = [text.get_text() for text in display.ax_.texts]
    assert shown == ["2", "", "1", "2"]
    np.testing.assert_allclose(display.image_.get_array(), [[1, 0], [1 / 3, 2 / 3]])


@pytest.mark.parametrize("n_clusters", [2, 4, 7, 25])
def test_acc_is_that_of_the_metrics_for_any_numbers_of_labels(n_clusters):
    rng = np.random.default_rng(n_clusters)
    truth, labels = rng.integers(0, 4, 200), rng.integers(-1, n_clusters - 1, 200)
    display = ConfusionDisplay.from_predictions(truth, labels)
    assert display.accuracy_ == pytest.approx(clustering_accuracy(truth, labels))
    assert sorted(display.clusters) == list(range(-1, n_clusters - 1))
    names = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert names[display.clusters.index(-1)] == "outliers"
    counts = [[np.sum((truth == a) & (labels == b)) for b in display.clusters]
              for a in display.classes]  # fmt: skip
    np.testing.assert_array_equal(display.table, counts)


def test_confusion_takes_fitted_labels_or_predicts(three_blobs):
    X, truth = three_blobs
    model = make_pipeline(StandardScaler(), DOGCOS(3)).fit(X)
    fitted = ConfusionDisplay.from_estimator(model, None, truth, class_names=["x", "y", "z"])
    assert fitted.accuracy_ == clustering_accuracy(truth, model[-1].labels_)
    assert [tick.get_text() for tick in fitted.ax_.get_yticklabels()] == ["x", "y", "z"]
    some = [0, 1, 25, 45]
    new = ConfusionDisplay.from_estimator(model, X[some], truth[some])
    assert new.table.sum() == 4
    spectral = SpectralClustering(3, random_state=0).fit(X)
    says = "SpectralClustering cannot label new rows; pass X=None"
    refused(says, ConfusionDisplay.from_estimator, spectral, X, truth)
    assert ConfusionDisplay.from_estimator(spectral, None, truth).table.sum() == 60


def test_confusion_refuses_what_does_not_fit():
    refused(r"got shapes \(3,\) and \(2,\)", match_clusters, [0, 1, 1], [0, 1])
    refused("y_true has a missing value at row 1", match_clusters, ["a", None], [0, 1])
    says = "class_names must name the 2 classes of y_true; got 3"
    refused(says, match_clusters, [0, 1], [0, 1], class_names="abc")


# Splits


def test_splits_show_every_cluster_and_every_shared_row(three_blobs):
    X, _ = three_blobs
    found = explore(X, [2, 3])
    display = SplitDisplay.from_exploration(found)
    assert len(display.blocks_) == 2 + 3
    (step,) = display.steps_
    assert len(display.bands_) == np.count_nonzero(step.table)
    heights = [block.get_height() for block in display.blocks_[:2]]
    sizes = list(found[2].sizes.values())
    assert heights[0] / heights[1] == pytest.approx(sizes[0] / sizes[1])
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert [tick.split()[0] for tick in ticks] == ["2", "3"]
    assert ticks[1].split()[1] == found[3].evidence.verdict
    assert display.ax_.get_title() == f"{found.proposed} clusters proposed"


def test_bands_end_where_their_blocks_do():
    rng = np.random.default_rng(0)
    labels = {c: rng.integers(0, c, 60) for c in (2, 3, 5)}
    blocks, ribbons = flow_between(labels, steps_between(labels))
    for block in blocks:
        assert 0.0 <= block["top"] < block["bottom"] <= 1.0
        at = (block["n_clusters"], block["cluster"])
        for ends, side in ((("fewer", "source"), "left"), (("more", "target"), "right")):
            bands = [band for band in ribbons if tuple(band[end] for end in ends) == at]
            if bands:
                assert sum(band["rows"] for band in bands) == block["rows"]
                assert max(band[side][1] for band in bands) == pytest.approx(block["bottom"])
                assert min(band[side][0] for band in bands) == pytest.approx(block["top"])


# The layout of the learned graph


def test_clusters_are_islands_in_the_layout_of_the_graph():
    X, _ = make_blobs(200, centers=[(0, 0), (9, 0), (18, 0), (27, 0)], random_state=0)
    wide = np.hstack([X, X, X])
    model = DOGC(4).fit(wide)
    display = ClusterDisplay.from_estimator(model, wide, layout="graph")
    middles = np.array([display.points[model.labels_ == c].mean(axis=0) for c in range(4)])
    radius = [np.linalg.norm(display.points[model.labels_ == c] - middles[c], axis=1).max()
              for c in range(4)]  # fmt: skip
    for a, b in itertools.combinations(range(4), 2):
        assert np.linalg.norm(middles[a] - middles[b]) > 0.7 * (radius[a] + radius[b])
    again = ClusterDisplay.from_estimator(model, wide, layout="graph")
    np.testing.assert_array_equal(display.points, again.points)
    assert display.ax_.get_xlabel() == "layout of the learned graph"

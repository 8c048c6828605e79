"""Rows that Dask holds get the labels that rows in memory get, whoever does the work."""

import os
import pathlib

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons

import dogc
from conftest import REPRESENTING, refused

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")

slow = pytest.mark.slow
every_method = pytest.mark.parametrize("cls", REPRESENTING)
FACTS = ["labels_", "membership_", "outlier_scores_", "outliers_"]
METHODS = ["predict", "predict_membership", "decision_function", "transform", "score_outliers"]
# The number of representatives is chosen in some tests; elsewhere that would take most of the time.
P = 150
MOONS = make_moons(4_000, noise=0.1, random_state=0)[0]
BLOBS = make_blobs(4_000, 7, centers=4, cluster_std=3.0, random_state=0)[0]
FAR = np.vstack([BLOBS, [np.full(7, 400.0), np.full(7, -300.0)]])
IRIS = load_iris().data
ROUND = np.round(make_moons(5_000, noise=0.08, random_state=0)[0], 1)  # many copies of few rows
DRAW = np.random.default_rng(0)


def in_blocks(rows, size):
    return da.from_array(rows, chunks=(size, rows.shape[1]))


def same_fit(model, rows, blocks, **weights):
    """The fit on blocks, after it was compared with the fit in memory."""
    local = clone(model).fit(rows, **{name: np.asarray(w) for name, w in weights.items()})
    found = clone(model).fit(blocks, **weights)
    for name in FACTS:
        if hasattr(local, name):
            ours = getattr(found, name)
            assert isinstance(ours, da.Array)
            np.testing.assert_array_equal(ours.compute(), getattr(local, name), strict=True)
    for name in ("representatives_", "coef_", "label_agreement_", "n_clusters_"):
        if hasattr(local, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(local, name))
    return local, found


def same_results(local, found, rows, blocks):
    """Each method makes of blocks what it makes of rows."""
    for name in METHODS:
        if hasattr(local, name):
            ours, theirs = getattr(found, name)(blocks), getattr(local, name)(rows)
            assert isinstance(ours, da.Array)
            assert (ours.ndim, ours.dtype) == (theirs.ndim, theirs.dtype)
            np.testing.assert_array_equal(ours.compute(), theirs, strict=True)


@every_method
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_every_method_labels_blocks_as_it_labels_rows(cls, kind):
    rows = BLOBS.astype(kind)
    blocks = in_blocks(rows, 1_100)
    local, found = same_fit(cls(4, n_representatives=P), rows, blocks)
    assert found.labels_.chunks == blocks.chunks[:1]
    same_results(local, found, rows[:500] + 1, in_blocks(rows[:500] + 1, 200))


@every_method
def test_few_rows_are_nodes_themselves(cls):
    local, found = same_fit(cls(3), IRIS, in_blocks(IRIS, 40))
    assert found.n_representatives_ is None
    same_results(local, found, IRIS[::3], in_blocks(IRIS[::3], 20))


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "cosine", "outlier_label": -1},
        {"metric": "manhattan", "min_cluster_size": 10},
        {"n_clusters": "auto", "n_representatives": "auto"},
        {"n_components": 2, "geometry": "within"},
        {"outlier_label": -7},
    ],
    ids=str,
)
def test_parameters_mean_the_same(parameters):
    model = dogc.DOGC(4, n_representatives=P).set_params(**parameters)
    local, _ = same_fit(model, FAR, in_blocks(FAR, 999))
    if parameters == {"outlier_label": -7}:
        assert local.score(in_blocks(FAR[::2], 300)) == pytest.approx(local.score(FAR[::2]))


def test_labels_do_not_depend_on_the_blocks():
    for chunks in ((1_000, 1), ((1, 3_998, 1), 2)):
        same_fit(dogc.DOGC(2, n_representatives=P), MOONS, da.from_array(MOONS, chunks=chunks))
    right = MOONS[:, 0] > 0
    blocks = in_blocks(MOONS, 1_000)
    blocks = blocks[da.from_array(right, chunks=1_000)]  # lengths are not known, and some are zero
    none = [blocks.map_blocks(lambda b: b[:0]), blocks, da.empty((0, 2))]
    blocks = da.concatenate(none, allow_unknown_chunksizes=True)
    local, found = same_fit(dogc.DOGCOS(2, n_representatives=P), MOONS[right], blocks)
    same_results(local, found, MOONS[right], blocks)


@pytest.mark.parametrize("kind", ["whole", "shares", "huge"])
@pytest.mark.parametrize(("rows", "clusters"), [(BLOBS, 4), (ROUND, 2), (IRIS, 3)])
def test_weights(kind, rows, clusters):
    whole = DRAW.integers(0, 4, len(rows)).astype(float)  # copies without weight among others
    weight = {"whole": whole, "shares": whole * DRAW.random(len(rows)), "huge": 1e140 * whole}[kind]
    lazy = weight if kind == "whole" else da.from_array(weight, chunks=777)
    model = dogc.DOGC(clusters, n_neighbors=10, n_representatives=P if rows is BLOBS else "auto")
    same_fit(model, rows, in_blocks(rows, 1_300), sample_weight=lazy)


def test_rows_that_are_all_equal():
    same_fit(dogc.DOGC(2), np.ones((50, 2)), da.ones((50, 2), chunks=(9, 2)))


def test_frames_have_names_and_their_partitions_are_the_blocks(tmp_path):
    frame = pd.DataFrame(MOONS, columns=["x", "y"]).assign(other=1.0, weight=np.arange(4_000) % 3)
    for part in range(6):
        frame.iloc[part::6].to_parquet(tmp_path / f"{part}.parquet")
    lazy = dd.read_parquet(tmp_path)
    rows = lazy.compute()
    model = dogc.DOGC(2, n_representatives=P)
    local = clone(model).fit(rows[["x", "y"]], sample_weight=rows["weight"])
    model.fit(lazy[["x", "y"]], sample_weight=lazy["weight"])
    assert model.feature_names_in_.tolist() == ["x", "y"]
    assert model.labels_.numblocks == (lazy.npartitions,)
    np.testing.assert_array_equal(model.labels_.compute(), local.labels_)
    shares = model.predict_membership(lazy[["x", "y"]])
    np.testing.assert_array_equal(shares.compute(), local.predict_membership(rows[["x", "y"]]))
    labelled = lazy.map_partitions(
        lambda part: part.assign(cluster=model.predict(part[["x", "y"]]))
    ).compute()
    np.testing.assert_array_equal(labelled["cluster"], local.predict(rows[["x", "y"]]))
    refused("feature names", model.predict, lazy.rename(columns={"x": "z"})[["z", "y"]])


def test_frames_that_cannot_be_clustered():
    gaps = pd.DataFrame({"a": pd.array([1, None] * 9, dtype="Int64"), "b": range(18)})
    words = pd.DataFrame({"town": ["x", "y"] * 9, "size": range(18)})
    for frame, sentence in ((gaps, "NaN"), (words, r"no numbers \(town\)")):
        refused(sentence, dogc.DOGC(2).fit, dd.from_pandas(frame, npartitions=2))


def test_workers_need_no_gpu():
    model = dogc.DOGC(4, n_representatives=P).fit(BLOBS).set_params(device="cuda")
    labels = model.predict(in_blocks(BLOBS, 999)).compute()
    np.testing.assert_array_equal(labels, model.labels_)


def test_labels_are_made_when_asked_for(monkeypatch):
    model = dogc.DOGC(2, n_representatives=P).fit(in_blocks(MOONS, 1_000))
    computed = []
    monkeypatch.setattr(
        "dogc.fitting.labelling.linked_labels", lambda *a: computed.append(a) or 1 / 0
    )
    assert model.labels_.shape == (4_000,)
    assert not computed
    with pytest.raises(ZeroDivisionError):
        model.labels_[:10].compute()
    assert len(computed) == 1


def test_nothing_that_grows_with_the_rows_comes_to_the_client(monkeypatch):
    seen, compute = [], dask.compute

    def watched(*tasks, **options):
        found = compute(*tasks, **options)
        seen.append(sum(size_of(part) for part in found))
        return found

    def size_of(value):
        if isinstance(value, np.ndarray):
            return value.size
        if hasattr(value, "indptr"):
            return value.nnz
        return sum(map(size_of, value)) if isinstance(value, tuple) else 1

    monkeypatch.setattr("dogc.fitting.dask_rows.dask.compute", watched)
    monkeypatch.setattr("dogc.fitting.many.LARGE_SAMPLE", 5_000)
    largest = {}
    for n in (20_000, 80_000):
        seen.clear()
        dogc.DOGC(2, n_representatives=50).fit(in_blocks(DRAW.standard_normal((n, 2)), n // 20))
        largest[n] = max(seen)
    assert largest[80_000] <= 1.2 * largest[20_000]


REFUSED = {
    "SEC needs all rows in memory; pass X.compute": lambda X: dogc.SEC(3).fit(X),
    "metric='precomputed' needs all rows": lambda X: dogc.DOGC(3, metric="precomputed").fit(X),
    "affinity='full' needs all rows": lambda X: dogc.CLR(3, affinity="full").fit(X),
    "init must": lambda X: dogc.DOGC(3, init=np.zeros(600, int)).fit(X),
    "n_clusters=601 is too large": lambda X: dogc.DOGC(601).fit(X),
    "device must be": lambda X: dogc.DOGC(3, device="gpu").fit(X),
    "device='cuda' cannot be used with Dask": lambda X: dogc.DOGC(3, device="cuda").fit(X),
    "X must be a dask dataframe, or": lambda X: dogc.DOGC(3).fit(dask.bag.from_sequence([1, 2])),
    "known number of columns": lambda X: dogc.DOGC(3).fit(
        da.from_delayed(X.to_delayed()[0, 0], (9, np.nan), float)
    ),
    "got dask.array": lambda X: dogc.DOGC(3).fit(X[:, 0]),
    "array of numbers": lambda X: dogc.DOGC(3).fit(X.astype(str)),
    "contains NaN": lambda X: dogc.DOGC(3).fit(da.where(X > 5, np.nan, X)),
    "minimum of 2": lambda X: dogc.DOGC(3).fit(X[X[:, 0] > 1e9]),
    "n_clusters=3 is too large": lambda X: dogc.DOGC(3).fit(X[:1]),
    "for each of the 600 rows": lambda X: dogc.DOGC(3).fit(X, sample_weight=da.ones(5)),
    "each of the 600 rows": lambda X: dogc.DOGC(3).fit(X, sample_weight=np.ones(5)),
    "lengths are not known": lambda X: dogc.DOGC(3).fit(X[X[:, 0] > 0], sample_weight=np.ones(5)),
    "sample_weight is zero": lambda X: dogc.DOGC(3).fit(X, sample_weight=da.zeros(600)),
    "at least 0": lambda X: dogc.DOGC(3).fit(X, sample_weight=-da.ones(600)),
    "2 features": lambda X: dogc.DOGC(3).fit(X).predict(X[:, :2]),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_done_is_said_in_one_sentence(sentence):
    refused(sentence, REFUSED[sentence], in_blocks(BLOBS[:600], 200))


@pytest.mark.parametrize("cls", [dogc.DOGC, dogc.NormalizedCut])
def test_rows_of_an_unknown_number_may_all_be_nodes(cls):
    blocks = dd.from_pandas(pd.DataFrame(BLOBS[:300]), npartitions=2)
    assert np.isnan(blocks.to_dask_array().shape[0])
    found = cls(3, n_representatives=None).fit(blocks)
    wanted = cls(3, n_representatives=None).fit(BLOBS[:300])
    np.testing.assert_array_equal(found.labels_, wanted.labels_)


def test_more_rows_than_there_is_room_for(monkeypatch):
    blocks = in_blocks(MOONS, 1_000)
    monkeypatch.setattr("dogc.fitting.dask_rows.MOST_FEW", 1_000)
    for cls in (dogc.DOGC, dogc.NormalizedCut):
        refused("leave n_representatives='auto'", cls(2, n_representatives=None).fit, blocks)
    monkeypatch.setattr("dogc.fitting.sampling.MOST", 3_999)
    refused("4,000 rows, and sums over more than 3,999", dogc.DOGC(2).fit, blocks)


@pytest.mark.parametrize("rows", [MOONS, IRIS], ids=["many", "few"])
@pytest.mark.parametrize("cls", [dogc.DOGCOS, dogc.NormalizedCut])
def test_models_are_saved_without_what_dask_holds(cls, rows, tmp_path):
    model = cls(2, n_representatives=P if rows is MOONS else "auto").fit(in_blocks(rows, 500))
    dogc.save(model, tmp_path / "model.skops")
    again = dogc.load(tmp_path / "model.skops")
    assert isinstance(again.labels_, np.ndarray)
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


# --------------------------------------------------------------------------------- a cluster


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as started,
        distributed.Client(started) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", [dogc.DOGCOS, pytest.param(dogc.NormalizedCut, marks=slow)])
def test_two_processes_find_the_same(cluster, cls):
    local, found = same_fit(cls(2), MOONS, in_blocks(MOONS, 700))
    kept = found.labels_.persist()
    assert (kept == da.from_array(local.labels_, chunks=700)).all().compute()


def dying_block(block, marks, block_info=None):
    """The block; but whoever reads the third one in the second pass is killed, once."""
    place = block_info[0]["chunk-location"][0]
    passes = sorted(pathlib.Path(marks).glob(f"{place}-*"))
    pathlib.Path(marks, f"{place}-{len(passes)}").touch()
    if place == 3 and len(passes) == 1:
        os._exit(1)
    return block


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_dies_is_replaced_and_labels_are_the_same(cluster, tmp_path):
    before = {info["pid"] for info in cluster.run(lambda: {"pid": os.getpid()}).values()}
    blocks = in_blocks(MOONS, 500).map_blocks(
        dying_block, str(tmp_path), dtype=float, meta=np.empty((0, 0))
    )
    model = dogc.DOGC(2, n_representatives=P).fit(blocks)
    cluster.wait_for_workers(2, timeout=60)
    after = {info["pid"] for info in cluster.run(lambda: {"pid": os.getpid()}).values()}
    assert len(before - after) == 1  # one of them is gone
    assert len(list(tmp_path.glob("3-*"))) >= 3
    again = dogc.DOGC(2, n_representatives=P).fit(MOONS)
    np.testing.assert_array_equal(model.labels_.compute(), again.labels_)


@slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rows_of_a_block", [50_000, 1_000_000])
def test_a_million_rows_in_two_processes(cluster, rows_of_a_block):
    rows = make_moons(1_000_000, noise=0.1, random_state=0)[0]
    local = dogc.DOGC(2, n_jobs=-1).fit(rows)
    model = dogc.DOGC(2).fit(in_blocks(rows, rows_of_a_block))
    assert (model.labels_ == da.from_array(local.labels_, chunks=rows_of_a_block)).all().compute()

"""Rows that Dask holds get the labels that rows in memory get, whoever does the work."""

import os
import pathlib

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons

import dogc
from dogc import (
    CAN,
    CLR,
    DOGC,
    DOGCOS,
    PCAN,
    SEC,
    DOGCFixedGraph,
    DOGCRelaxed,
    NormalizedCut,
    RatioCut,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")

FITTING = [DOGC, DOGCOS, CAN, PCAN, CLR, NormalizedCut, RatioCut, DOGCRelaxed, DOGCFixedGraph]
FACTS = ["labels_", "confidence_", "outlier_scores_", "outliers_"]
METHODS = ["predict", "predict_membership", "decision_function", "transform", "score_outliers"]
MOONS = make_moons(4_000, noise=0.1, random_state=0)[0]
BLOBS = make_blobs(4_000, 7, centers=4, cluster_std=3.0, random_state=0)[0]


def same_fit(model, rows, blocks, **weights):
    """The fit on blocks, after it was compared with the fit in memory."""
    local = clone(model).fit(rows, **{name: np.asarray(w) for name, w in weights.items()})
    found = clone(model).fit(blocks, **weights)
    for name in FACTS:
        if hasattr(local, name):
            ours, theirs = getattr(found, name), getattr(local, name)
            assert isinstance(ours, da.Array)
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours.compute(), theirs)
    for name in ("representatives_", "coef_", "label_agreement_", "n_clusters_"):
        if hasattr(local, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(local, name))
    return local, found


@pytest.mark.parametrize("cls", FITTING)
def test_every_method_labels_blocks_as_it_labels_rows(cls):
    blocks = da.from_array(BLOBS, chunks=(1_100, 7))
    local, found = same_fit(cls(4), BLOBS, blocks)
    assert found.labels_.chunks == blocks.chunks[:1]
    new = BLOBS[:500] + 0.1
    for name in METHODS:
        if hasattr(local, name):
            ours, theirs = getattr(found, name)(da.from_array(new, chunks=(200, 7))), None
            theirs = getattr(local, name)(new)
            assert isinstance(ours, da.Array)
            assert ours.shape == theirs.shape
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours.compute(), theirs)


@pytest.mark.parametrize("chunks", [(4_000, 2), (1_000, 1), ((1, 3_998, 1), 2)])
def test_labels_do_not_depend_on_the_blocks(chunks):
    same_fit(DOGC(2), MOONS, da.from_array(MOONS, chunks=chunks))


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "cosine"},
        {"metric": "manhattan"},
        {"outlier_label": -1},
        {"n_clusters": "auto"},
        {"n_representatives": 300},
        {"n_components": 2},
        {"geometry": "within"},
        {"min_cluster_size": 10},
    ],
    ids=str,
)
def test_parameters_mean_the_same(parameters):
    rows = np.vstack([BLOBS, [np.full(7, 400.0), np.full(7, -300.0)]])
    model = DOGC(4).set_params(**parameters)
    same_fit(model, rows, da.from_array(rows, chunks=(999, 7)))


def test_32_bits_and_whole_numbers():
    rows = BLOBS.astype(np.float32)
    same_fit(DOGC(4), rows, da.from_array(rows, chunks=(2_000, 7)))
    rows = (10 * BLOBS).astype(np.int16)
    same_fit(DOGC(4), rows, da.from_array(rows, chunks=(2_000, 7)))


@pytest.mark.parametrize("kind", ["whole", "shares", "huge"])
def test_weights(kind):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(BLOBS)).astype(float)
    weight = {"whole": weight, "shares": weight * rng.random(len(weight)), "huge": 1e140 * weight}
    blocks = da.from_array(BLOBS, chunks=(1_300, 7))
    for lazy in (weight[kind], da.from_array(weight[kind], chunks=777)):
        same_fit(DOGC(4), BLOBS, blocks, sample_weight=lazy)


def test_a_dataframe_of_unknown_lengths_has_names():
    frame = pd.DataFrame(BLOBS, columns=[f"x{j}" for j in range(7)])
    blocks = dd.from_pandas(frame, npartitions=5)
    local = DOGCOS(4).fit(frame)
    found = DOGCOS(4).fit(blocks)
    assert found.feature_names_in_.tolist() == list(frame)
    assert np.isnan(found.labels_.shape[0])
    np.testing.assert_array_equal(found.labels_.compute(), local.labels_)
    shares = found.predict_membership(blocks)
    assert shares.shape[1] == 4
    np.testing.assert_array_equal(shares.compute(), local.predict_membership(frame))
    with pytest.raises(ValueError, match="feature names"):
        found.predict(blocks.rename(columns={"x0": "other"}))
    weight = dd.from_pandas(pd.Series(np.ones(len(frame))), npartitions=5)
    np.testing.assert_array_equal(
        DOGC(4).fit(blocks, sample_weight=weight).labels_.compute(), DOGC(4).fit(frame).labels_
    )


def test_missing_values_of_nullable_columns_are_told():
    frame = pd.DataFrame({"a": pd.array([1, None] * 9, dtype="Int64"), "b": range(18)})
    with pytest.raises(ValueError, match="NaN"):
        DOGC(2).fit(dd.from_pandas(frame, npartitions=2))


@pytest.mark.parametrize("cls", FITTING)
def test_few_rows_are_nodes_themselves(cls):
    rows = load_iris().data
    local, found = same_fit(cls(3), rows, da.from_array(rows, chunks=(40, 4)))
    assert found.n_representatives_ is None
    blocks = da.from_array(rows[::3], chunks=(20, 4))
    np.testing.assert_array_equal(found.predict(blocks).compute(), local.predict(rows[::3]))


def test_many_copies_of_few_rows():
    rows = np.random.default_rng(0).integers(0, 5, (9_000, 3)).astype(float)
    same_fit(DOGC(3), rows, da.from_array(rows, chunks=(1_000, 3)))


def test_copies_of_few_rows_whose_weights_are_no_whole_numbers():
    rows = np.round(make_moons(5_000, noise=0.08, random_state=0)[0], 1)
    weight = np.random.default_rng(1).random(5_000) ** 4
    blocks = da.from_array(rows, chunks=(800, 2))
    same_fit(DOGC(2, n_neighbors=10), rows, blocks, sample_weight=weight)


def test_copies_without_weight_of_rows_that_have_some():
    rows = np.round(make_moons(5_000, noise=0.08, random_state=0)[0], 1)
    weight = np.random.default_rng(0).integers(0, 3, 5_000)
    same_fit(DOGCOS(2), rows, da.from_array(rows, chunks=(800, 2)), sample_weight=weight)


def test_rows_that_are_all_equal():
    same_fit(DOGC(2), np.ones((50, 2)), da.ones((50, 2), chunks=(9, 2)))


def test_blocks_are_the_partitions_of_files(tmp_path):
    frame = pd.DataFrame(MOONS, columns=["x", "y"]).assign(other=1.0, weight=np.arange(4_000) % 3)
    for part in range(6):
        frame.iloc[part::6].to_parquet(tmp_path / f"{part}.parquet")
    lazy = dd.read_parquet(tmp_path)
    model = DOGC(2).fit(lazy[["x", "y"]], sample_weight=lazy["weight"])
    assert model.labels_.numblocks == (lazy.npartitions,)
    rows = lazy.compute()
    local = DOGC(2).fit(rows[["x", "y"]], sample_weight=rows["weight"])
    np.testing.assert_array_equal(model.labels_.compute(), local.labels_)
    labelled = lazy.map_partitions(
        lambda part: part.assign(cluster=model.predict(part[["x", "y"]]))
    ).compute()
    np.testing.assert_array_equal(labelled["cluster"], local.predict(rows[["x", "y"]]))


def test_results_of_32_bits_stay_so():
    rows = BLOBS.astype(np.float32)
    local, blocks = DOGCOS(4).fit(rows), da.from_array(rows, chunks=(999, 7))
    for name in ("transform", "decision_function"):
        lazy = getattr(local, name)(blocks)
        assert lazy.dtype == lazy.compute().dtype == getattr(local, name)(rows).dtype


def test_few_rows_without_weight_are_labelled_as_new_ones():
    rows, weight = load_iris().data, np.r_[np.zeros(7), np.ones(143)]
    same_fit(DOGC(3), rows, da.from_array(rows, chunks=(40, 4)), sample_weight=weight)


def test_empty_blocks():
    blocks = da.from_array(MOONS, chunks=(1_000, 2))
    blocks = blocks[da.from_array(MOONS[:, 0], chunks=1_000) > 0]  # lengths are not known
    blocks = da.concatenate(
        [blocks.map_blocks(lambda b: b[:0]), blocks, da.empty((0, 2))],
        allow_unknown_chunksizes=True,
    )
    local, found = same_fit(DOGCOS(2), MOONS[MOONS[:, 0] > 0], blocks)
    for name in METHODS:
        got = getattr(found, name)(blocks).compute()
        np.testing.assert_array_equal(got, getattr(local, name)(MOONS[MOONS[:, 0] > 0]))


@pytest.mark.parametrize("outlier_label", [None, -7])
def test_score(outlier_label):
    rows = np.vstack([BLOBS, [[400.0] * 7]])
    local = DOGC(4, outlier_label=outlier_label).fit(rows)
    blocks = da.from_array(rows[::2], chunks=(300, 7))
    assert local.score(blocks) == pytest.approx(local.score(rows[::2]))


def test_workers_need_no_gpu():
    model = DOGC(4).fit(BLOBS).set_params(device="cuda")
    labels = model.predict(da.from_array(BLOBS, chunks=(999, 7))).compute()
    np.testing.assert_array_equal(labels, model.labels_)


def test_labels_are_made_when_asked_for(monkeypatch):
    blocks = da.from_array(MOONS, chunks=(1_000, 2))
    model = DOGC(2).fit(blocks)
    computed = []
    monkeypatch.setattr(
        "dogc.fitting.linked.linked_labels", lambda *a: computed.append(a) or 1 / 0
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
    monkeypatch.setattr("dogc.fitting.auto.many_rows.LARGE_SAMPLE", 5_000)
    largest = {}
    for n in (20_000, 80_000):
        seen.clear()
        rows = np.random.default_rng(0).standard_normal((n, 2))
        DOGC(2, n_representatives=50).fit(da.from_array(rows, chunks=(n // 20, 2)))
        largest[n] = max(seen)
    assert largest[80_000] <= 1.2 * largest[20_000]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda X: SEC(3).fit(X), "SEC needs all rows in memory; pass X.compute"),
        (lambda X: DOGC(3, metric="precomputed").fit(X), "metric='precomputed' needs a sparse"),
        (lambda X: CLR(3, affinity="full").fit(X), "affinity='full' needs all rows"),
        (lambda X: CLR(3, affinity="precomputed").fit(X), "affinity='precomputed' needs a sparse"),
        (lambda X: DOGC(3, init=np.zeros(600, int)).fit(X), "init must"),
        (lambda X: DOGC(601).fit(X), "n_clusters=601 is too large"),
        (lambda X: DOGC(3, device="gpu").fit(X), "device must be"),
        (lambda X: DOGC(3, device="cuda").fit(X), "device='cuda' cannot be used with Dask input"),
        (lambda X: DOGC(3).fit(dask.bag.from_sequence([1, 2])), "pass a dask array"),
        (
            lambda X: DOGC(3).fit(da.from_delayed(X.to_delayed()[0, 0], (np.nan,) * 2, float)),
            "known number of columns",
        ),
        (lambda X: DOGC(3, n_neighbors=-1).fit(X), "n_neighbors"),
        (lambda X: DOGC(3).fit(X[:, 0]), "must have rows and a known number"),
        (lambda X: DOGC(3).fit(X.astype(str)), "must hold numbers"),
        (lambda X: DOGC(3).fit(da.where(X > 5, np.nan, X)), "contains NaN"),
        (lambda X: DOGC(3).fit(X[:1]), "n_clusters=3 is too large"),
        (lambda X: DOGC(3).fit(X[X[:, 0] > 1e9]), "minimum of 2"),
        (lambda X: DOGC(3).fit(X, sample_weight=np.ones(5)), "one number for each of the 600"),
        (lambda X: DOGC(3).fit(X, sample_weight=da.ones(5)), "one number for each of the 600"),
        (lambda X: DOGC(3).fit(X, sample_weight=da.zeros(600)), "sample_weight is zero"),
        (lambda X: DOGC(3).fit(X, sample_weight=-da.ones(600)), "at least 0"),
        (lambda X: DOGC(3).fit(X).predict(X[:, :2]), "2 features"),
        (lambda X: DOGC(3).fit(X.to_delayed()[0, 0]), "pass a dask array"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(da.from_array(BLOBS[:600], chunks=(200, 7)))


def test_words_are_named():
    frame = pd.DataFrame({"town": ["x", "y"] * 9, "size": range(18)})
    with pytest.raises(ValueError, match=r"no numbers \(town\)"):
        DOGC(2).fit(dd.from_pandas(frame, npartitions=2))


def test_more_rows_than_can_be_added_up(monkeypatch):
    monkeypatch.setattr("dogc.fitting.sampling.MOST", 3_999)
    with pytest.raises(ValueError, match="4,000 rows, and sums over more than 3,999"):
        DOGC(2).fit(da.from_array(MOONS, chunks=(1_000, 2)))


def test_more_rows_than_can_be_nodes(monkeypatch):
    monkeypatch.setattr("dogc.fitting.dask_rows.MOST_FEW", 1_000)
    blocks = da.from_array(MOONS, chunks=(1_000, 2))
    for cls in (DOGC, NormalizedCut):
        with pytest.raises(ValueError, match="leave n_representatives='auto'"):
            cls(2, n_representatives=None).fit(blocks)


@pytest.mark.parametrize("rows", [MOONS, load_iris().data], ids=["many", "few"])
@pytest.mark.parametrize("cls", [DOGC, DOGCOS, NormalizedCut])
def test_models_are_saved_without_what_dask_holds(cls, rows, tmp_path):
    model = cls(2).fit(da.from_array(rows, chunks=(500, rows.shape[1])))
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
@pytest.mark.parametrize("cls", [DOGC, DOGCOS, NormalizedCut])
def test_two_processes_find_the_same(cluster, cls):
    local, found = same_fit(cls(2), MOONS, da.from_array(MOONS, chunks=(700, 2)))
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
    blocks = da.from_array(MOONS, chunks=(500, 2)).map_blocks(
        dying_block, str(tmp_path), dtype=float, meta=np.empty((0, 0))
    )
    model = DOGC(2).fit(blocks)
    cluster.wait_for_workers(2, timeout=60)
    after = {info["pid"] for info in cluster.run(lambda: {"pid": os.getpid()}).values()}
    assert len(before - after) == 1  # one of them is gone
    assert len(list(tmp_path.glob("3-*"))) >= 3
    np.testing.assert_array_equal(model.labels_.compute(), DOGC(2).fit(MOONS).labels_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rows_of_a_block", [50_000, 300_000, 1_000_000])
def test_a_million_rows_in_two_processes(cluster, rows_of_a_block):
    rows = make_moons(1_000_000, noise=0.1, random_state=0)[0]
    local = DOGC(2, n_jobs=-1).fit(rows)
    model = DOGC(2).fit(da.from_array(rows, chunks=(rows_of_a_block, 2)))
    assert (model.labels_ == da.from_array(local.labels_, chunks=rows_of_a_block)).all().compute()

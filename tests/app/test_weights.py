"""Weights of columns, and tables of numbers and categories."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from dogc import DOGC, DOGCOS, MixedEncoder, load, save
from dogc.app.commands.command_line import run
from dogc.encoding import TableError
from dogc.encoding.statistics import moments_of
from dogc.encoding.weights import LEAST, are_related, has_two_values, learned_weights


def customers(n=1200, seed=0):
    """Four segments in four numbers, a yes/no column and a category, beside three coins."""
    rng = np.random.default_rng(seed)
    segment = rng.integers(0, 4, n)
    means = np.array([[25, 28, 12, 300], [42, 60, 4, 900], [55, 85, 2, 400], [35, 40, 8, 150]])
    numbers = rng.normal(means[segment], [6, 9, 1.6, 90])
    plans = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7], [0.4, 0.5, 0.1]])
    plan = [rng.choice(["basic", "plus", "pro"], p=plans[s]) for s in segment]
    frame = pd.DataFrame(numbers, columns=["age", "income", "visits", "spend"])
    frame["newsletter"] = np.where(
        rng.random(n) < np.array([0.8, 0.4, 0.2, 0.6])[segment], "yes", "no"
    )
    frame["plan"] = plan
    frame["mobile"] = rng.choice(["yes", "no"], n)
    frame["region"] = rng.choice(list("ABCDEF"), n)
    frame["phone"] = rng.choice(["android", "ios"], n)
    return frame, segment


def reference(X, widths):
    """Column by column and feature by feature."""
    n, starts = len(X), np.cumsum([0, *widths])
    blocks = [X[:, a:b] for a, b in itertools.pairwise(starts)]
    blocks = [b - b.mean(axis=0) for b in blocks]
    blocks = [b / np.sqrt((b**2).mean(axis=0).sum()) for b in blocks]
    total = []
    for i, one in enumerate(blocks):
        shared = 0.0
        for j, two in enumerate(blocks):
            if i != j:
                common = sum((u * v).mean() ** 2 for u in one.T for v in two.T)
                shared += max(common - 1 / (n - 1), 0.0)
        total.append(shared)
    return np.maximum(np.sqrt(np.array(total) / max(total)).round(3), LEAST)


def test_weights_are_those_of_the_definition():
    frame, _ = customers(300)
    encoder = MixedEncoder().fit(frame)
    X = MixedEncoder(scale=False).fit_transform(frame)
    widths = [1, 1, 1, 1, 1, 3, 1, 6, 2]
    np.testing.assert_allclose(list(encoder.weights_.values()), reference(X, widths))
    assert encoder.weights_["mobile"] < 0.2 < encoder.weights_["plan"]
    assert 0.05 < encoder.discrete_share_ < 0.5
    assert any("Column weights (learned from" in step for step in encoder.steps_)


def test_tables_of_numbers_have_no_weights():
    frame = customers(200)[0][["age", "income", "visits"]]
    encoder = MixedEncoder().fit(frame)
    assert set(encoder.weights_.values()) == {1.0}
    assert encoder.discrete_share_ == 0.0
    np.testing.assert_array_equal(encoder.transform(frame), frame)  # deviations are alike
    scaled = MixedEncoder().fit_transform(frame.assign(income=1e3 * frame["income"]))
    np.testing.assert_allclose(scaled.std(axis=0), 1.0)


def test_two_numbers_are_a_column_of_few_values():
    frame = customers(200)[0][["age", "income"]].assign(coin=np.arange(200) % 2)
    assert MixedEncoder().fit(frame).weights_["coin"] < 0.2
    assert not has_two_values(0.0, 2.0, 1.0, 0.5)


def test_columns_that_have_nothing_in_common_count_the_same():
    for few in ([False, False], [True, True]):
        found = learned_weights(np.eye(3), [1, 2], 50, np.array(few))
        np.testing.assert_array_equal(found, 1.0)
    mixed = learned_weights(np.eye(3), [1, 2], 50, np.array([False, True]))
    np.testing.assert_array_equal(mixed, [1.0, LEAST])


@pytest.mark.parametrize("n", [100, 1000])
def test_independent_columns_are_rarely_taken_for_related_ones(n):
    rng, taken = np.random.default_rng(0), 0
    for _ in range(100):
        X = np.column_stack([rng.standard_normal((n, 3)), rng.integers(0, 2, (n, 2))])
        shared = np.corrcoef(X.T) ** 2 - np.eye(5)
        taken += are_related(shared, n)
        assert are_related(np.maximum(shared, 40.0 / n) * (1 - np.eye(5)), n)
    assert taken <= 2


@pytest.mark.parametrize("seed", range(4))
def test_groups_in_one_number_are_found_beside_a_coin(seed):
    rng, y = np.random.default_rng(seed), np.repeat([0, 1], 75)
    frame = pd.DataFrame(rng.standard_normal((150, 3)), columns=["a", "b", "c"])
    frame["a"] += 8.0 * y
    frame["coin"] = rng.choice(["heads", "tails"], 150)
    encoder = MixedEncoder()
    X = encoder.fit_transform(frame)
    assert encoder.weights_ == {"a": 1.0, "b": 1.0, "c": 1.0, "coin": LEAST}
    assert adjusted_rand_score(y, DOGC(2).fit(X).labels_) > 0.9


def test_weights_of_parts_are_those_of_the_whole():
    X = MixedEncoder(scale=False).fit_transform(customers(300)[0])
    whole, parts = moments_of(X, True), moments_of(X[:100], True).merged(moments_of(X[100:], True))
    np.testing.assert_allclose(parts.cross, whole.cross, atol=1e-9)
    np.testing.assert_allclose(parts.variance, whole.variance)


@pytest.mark.parametrize(
    ("n", "seed", "asked"),
    [
        (1200, 0, {}),
        (4000, 0, {}),
        (600, 1, {}),  # by links as wide as the fit's where they are those of representatives:
        (600, 1, {"init": "modularity", "n_representatives": 100}),
    ],
)
def test_the_segments_are_found(n, seed, asked):
    frame, segment = customers(n, seed)
    model = DOGC(4, n_neighbors="wide", geometry="given", **asked)
    model = make_pipeline(MixedEncoder(), model)
    assert adjusted_rand_score(segment, model.fit(frame)[-1].labels_) > 0.8
    assert adjusted_rand_score(segment, model.predict(frame)) > 0.8


def test_a_pipeline_is_stored_with_its_weights(tmp_path):
    frame, _ = customers(200)
    model = make_pipeline(MixedEncoder(weights={"age": 2.0}), DOGC(4)).fit(frame)
    again = load(save(model, tmp_path / "m.skops"))
    assert again[0].weights_ == model[0].weights_
    assert again[0].weights_["age"] == 2.0
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"size": 1.0}, "no column 'size'"),
        ({"age": 0.0}, "the weight of column 'age' must be a number from 0.01 to 100; got 0.0"),
        ({"age": "much"}, "must be a number"),
        ("all", "weights must be 'auto', a dict or None"),
    ],
)
def test_weights_that_cannot_be(weights, says):
    with pytest.raises(TableError, match=says):
        MixedEncoder(weights=weights).fit(customers(50)[0])


def test_kept_columns_are_used_though_they_look_like_ids():
    frame = customers(60)[0].assign(customer_id=np.arange(60))
    assert "customer_id" not in MixedEncoder().fit(frame).columns_
    assert "customer_id" in MixedEncoder(keep="customer_id").fit(frame).columns_


def test_the_command_line_weighs_and_keeps(tmp_path, capsys):
    frame, segment = customers(600)
    frame.assign(segment=segment, customer_id=np.arange(600)).to_csv(
        tmp_path / "c.csv", index=False
    )
    asked = ["cluster", str(tmp_path / "c.csv"), "-k", "4", "--out", str(tmp_path / "o")]
    assert run([*asked, "--label-column", "segment", "--weight", "age=0.5"]) == 0
    said = capsys.readouterr().out
    assert "'age' 0.5" in said
    assert "'customer_id' identifies the rows" in said
    assert run([*asked, "--force", "--weight", "age"]) == 2
    assert "--weight is 'age'; pass a column and a number" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["broad", None])
def test_neighbourhoods_are_named(value):
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match="n_neighbors must be 'auto', 'wide' or an integer"):
        DOGC(2, n_neighbors=value).fit(X)
    with pytest.raises(ValueError, match="'wide' needs features"):
        DOGC(2, n_neighbors="wide", metric="precomputed").fit(sp.csr_array(np.abs(X @ X.T)))


def test_a_wide_neighbourhood_is_a_fifth_of_the_rows_or_a_cluster():
    X = np.random.default_rng(0).standard_normal((100, 2))
    assert DOGC(2, n_neighbors="wide").fit(X).n_neighbors_ == 20
    assert DOGC(10, n_neighbors="wide").fit(X).n_neighbors_ == 10


def test_a_polars_frame_keeps_its_names():
    polars = pytest.importorskip("polars")
    frame, _ = customers(200)
    found = MixedEncoder().fit(polars.from_pandas(frame))
    expected = MixedEncoder().fit(frame)
    assert found.columns_ == expected.columns_ == list(frame.columns)
    np.testing.assert_array_equal(found.transform(polars.from_pandas(frame)),
                                  expected.transform(frame))  # fmt: skip


def test_the_columns_of_the_table_are_named_as_scikit_learn_does(tmp_path):
    frame, _ = customers(200)
    assert not hasattr(MixedEncoder(), "n_features_in_")
    pipeline = make_pipeline(MixedEncoder(drop=["phone"]), DOGC(4)).fit(frame)
    save(pipeline, tmp_path / "model.skops")
    for model in (pipeline, load(tmp_path / "model.skops")):
        assert model[0].n_features_in_ == 9
        assert model[0].feature_names_in_.tolist() == list(frame.columns)
        assert model.feature_names_in_.tolist() == list(frame.columns)


def test_two_columns_that_only_repeat_each_other_do_not_become_the_answer():
    frame, segment = customers(600)
    first = np.random.default_rng(5).normal(size=600)
    twins = frame.assign(
        first=first, last=0.95 * first + 0.3 * np.random.default_rng(6).normal(size=600)
    )
    encoder = MixedEncoder().fit(twins)
    assert max(encoder.weights_["first"], encoder.weights_["last"]) < 0.5
    assert min(encoder.weights_[name] for name in ("age", "income", "visits")) > 0.8
    model = DOGC(4, n_neighbors="wide", geometry="given")
    alone, both = (
        adjusted_rand_score(segment, model.fit_predict(MixedEncoder().fit_transform(each)))
        for each in (frame, twins)
    )
    assert both > alone - 0.1


@pytest.mark.parametrize("kind", ["pixels", "counts", "embeddings", "mixed"])
def test_a_table_of_numbers_has_the_labels_of_its_array(kind):
    X, _ = make_blobs([60, 40, 20], 6, cluster_std=2.0, random_state=0)
    X = {
        "pixels": np.clip(X + 5, 0, 16) * [1, 1, 1, 1, 1, 1e-3],
        "counts": np.rint(np.maximum(X - 2, 0)) * [1, 1, 1, 1, 1, 50],
        "embeddings": X / np.linalg.norm(X, axis=1, keepdims=True),
        "mixed": X * [1, 1, 40, 1e3, 1, 0.1],
    }[kind]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    encoder = MixedEncoder().fit(frame)
    assert np.array_equal(encoder.transform(frame), X) == (kind != "mixed")
    assert ("keep their units" in encoder.steps_[-1]) == (kind != "mixed")
    in_chunks = MixedEncoder().fit_chunks(lambda: [frame[:50], frame[50:]])
    assert np.array_equal(in_chunks.transform(frame), encoder.transform(frame))
    for cls in (DOGC, DOGCOS):
        model = cls(3)
        assert np.array_equal(model.fit(encoder.transform(frame)).labels_, cls(3).fit(X).labels_)

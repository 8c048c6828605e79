import html.parser
import json
import types

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons

pytest.importorskip("pandas")

import pandas as pd

from clusterings import HOSTILE, clustering_of, flowers
from conftest import made
from dogc import DOGC, DOGCOS, LSC, NormalizedCut
from dogc._policy import policy
from dogc.app.files.deciding_numbers import pieces_of
from dogc.app.report import describe_verdict, points, render, summarise
from dogc.app.report.features import deciding_cuts, group_rows
from dogc.app.report.points import GRAPH_BINS, describe_graph
from dogc.fitting.evidence import NOTHING, Evidence
from dogc.fitting.exemplars import exemplars
from dogc.loop.solver import STOPPING_REASONS, Record
from dogc.metrics import clustering_report
from dogc.plotting._graph import bin_rows


@pytest.fixture(scope="module")
def garden():
    return flowers()


@pytest.fixture(scope="module")
def summary(garden):
    return summarise(garden)


class Elements(html.parser.HTMLParser):
    """The elements of a page, each with its attributes and its text, as a browser finds them."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        self.found.append([None, {}, ""])

    def handle_data(self, data):
        if self.found:
            self.found[-1][2] += data

    def text(self, tag):
        return [text for name, _, text in self.found if name == tag]


def table(**columns):
    frame = pd.DataFrame(columns)
    return frame, frame.to_numpy(dtype=float, copy=True)


def portrait(summary, cluster):
    """The features of a cluster by name."""
    features = summary["features"]
    described = features["clusters"][cluster]["features"]
    return {features["columns"][f["column"]]["name"]: f for f in described}


# The summary as a whole


def test_the_summary_is_json_and_the_same_page_comes_from_its_copy(garden, summary):
    text = json.dumps(summary, allow_nan=False)
    assert json.loads(text) == summary
    assert render(json.loads(text)) == render(summary)
    assert summarise(garden) == summary


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, NormalizedCut, LSC, KMeans])
def test_every_method_has_a_report(cls, three_blobs):
    X, _ = three_blobs
    model = made(cls, 3).fit(X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    summary = summarise(clustering_of(frame, X, model.labels_, model=model))
    assert (summary["graph"] is None) == (not hasattr(model, "affinity_matrix_"))
    assert (summary["history"] is None) == (not hasattr(model, "history_"))
    assert summary["membership"] is None
    assert [group["size"] for group in summary["clusters"]] == [20, 20, 20]
    json.dumps(summary, allow_nan=False)
    render(summary)
    if cls is KMeans:
        assert summary["method"] == "k-means"
        # Its transform gives distances to centres, which are no subspace.
        assert not summary["points"]["learned"]
        assert summary["points"]["dimensions"] == 4


@pytest.mark.parametrize("labels", [[0], [-1], [0, 0, 0], [-1, -1, -1], [0, 1, -1], [0, 1, 2]])
def test_tiny_and_degenerate_clusterings(labels):
    frame, X = table(a=np.arange(len(labels)), b=np.ones(len(labels)))
    summary = summarise(clustering_of(frame, X, labels))
    json.dumps(summary, allow_nan=False)
    assert sum(group["size"] for group in summary["clusters"]) == len(labels)
    assert (summary["features"] is None) == (len(set(labels)) < 2 or max(labels) < 0)


def test_numbers_that_are_not_finite_become_missing():
    frame, X = table(a=[0.0, 1.0, 5.0, 6.0])
    frame["b"] = [np.inf, -np.inf, np.nan, 1.0]
    history = [Record(1, np.nan, {"graph": np.inf}, np.inf, 2, 0)]
    model = types.SimpleNamespace(history_=history, timings_={"rows": np.nan})
    X = np.column_stack([X, [0.0, 1.0, 2.0, 3.0]])
    membership, settings = np.array([np.nan, 0.4, 0.6, 1.0]), {"x": np.float64("nan")}
    given = {"membership": membership, "seconds": np.nan, "settings": {"parameters": settings}}
    summary = summarise(clustering_of(frame, X, [0, 0, 1, 1], model=model, **given))
    json.dumps(summary, allow_nan=False)
    assert summary["history"]["lam"] == [None]
    assert summary["data"]["seconds"] is None
    assert portrait(summary, 0)["a"]["share"] == 1.0


# Sizes and memberships


def test_sizes_and_membership():
    frame, X = table(a=[1.0, 2.0, 3.0, 9.0, 8.0, 50.0])
    membership = np.array([1.0, 0.2, 0.6, 0.5, 0.9, np.nan])
    model = types.SimpleNamespace(outliers_=np.array([0, 0, 1, 0, 0, 1], dtype=bool))
    clustering = clustering_of(frame, X, [0, 0, 0, 1, 1, -1], membership=membership, model=model)
    first, second, outliers = summarise(clustering)["clusters"]
    assert (first["cluster"], first["size"], first["outliers"]) == (0, 3, 1)
    assert first["membership"]["mean"] == pytest.approx(0.6)
    assert (first["membership"]["low"], first["membership"]["known"]) == (1, 3)
    assert second["membership"]["low"] == 0
    assert second["membership"]["histogram"] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert (outliers["cluster"], outliers["size"], outliers["membership"]) == (-1, 1, None)


def test_every_stopping_reason_has_words():
    frame, X = table(a=[1.0, 2.0, 8.0, 9.0])
    for reason in STOPPING_REASONS:
        good = reason in ("converged", "settled")
        model = types.SimpleNamespace(stopping_reason_=reason, converged_=good, n_iter_=3)
        ending = summarise(clustering_of(frame, X, [0, 0, 1, 1], model=model))["ending"]
        assert ending["words"].startswith("It converged" if good else "It did not converge")
        assert "exactly n_clusters" not in ending["words"]


# Where they lie


def test_a_sample_shows_every_cluster_and_is_always_the_same():
    labels = np.repeat([0, 1, 2, -1], [9000, 900, 3, 7])
    groups = group_rows(labels)
    rows = points.sample_rows(groups, 500)
    assert len(rows) <= 500
    assert len(set(rows.tolist())) == len(rows)
    assert np.bincount(groups.codes[rows]).tolist()[2:] == [3, 7]
    assert np.bincount(groups.codes[rows])[0] > 400
    np.testing.assert_array_equal(rows, points.sample_rows(groups, 500))
    assert sorted(points.sample_rows(groups, 10_000).tolist()) == list(range(len(labels)))


def test_points_carry_their_rows(garden, summary):
    shown = summary["points"]
    frame = garden.rows.frame
    for i in (0, 17, 119):
        row = shown["row"][i] - 1
        assert shown["id"][i] == frame["plant"][row]
        assert shown["cluster"][i] == garden.rows.labels[row]
        assert shown["truth"][i] == frame["kind"][row]
        for name, values in zip(shown["columns"], shown["values"], strict=True):
            value = frame[name][row]
            assert values[i] == (value if isinstance(value, str) else pytest.approx(value, 1e-5))
    telling = ["colour", "height <b>cm</b>", "price"]
    assert sorted(shown["columns"][:3]) == telling
    assert shown["columns"][3:] == ["remark"]


def test_a_far_row_does_not_squeeze_the_others():
    X = np.random.default_rng(0).standard_normal((1000, 2))
    X[7] = [1e6, 0.0]
    summary = summarise(clustering_of(pd.DataFrame(X), X, np.repeat([0, 1], 500)))
    shown = summary["points"]
    assert [shown["row"][i] - 1 for i in shown["outside"]] == [7]
    assert np.std(np.delete(shown["x"], shown["outside"])) > 0.05
    assert min(shown["x"]) >= 0.0
    assert max(shown["x"]) <= 1.0


def test_a_column_of_one_value_follows_no_direction():
    X = np.random.default_rng(0).standard_normal((60, 3))
    X[:, 2] = 1.0
    axes = summarise(clustering_of(pd.DataFrame(X), X, np.repeat([0, 1], 30)))["points"]["axes"]
    assert {found["name"] for axis in axes for found in axis} == {"0", "1"}


# What makes each cluster different


def test_the_most_telling_feature_comes_first_with_its_range():
    frame, X = table(noise=[1.0, 2.0, 1.0, 2.0, 1.0, 2.0], size=[1.0, 2.0, 3.0, 70.0, 80.0, 90.0])
    summary = summarise(clustering_of(frame, X, [0, 0, 0, 1, 1, 1]))
    low, high = summary["features"]["clusters"]
    assert low["words"][0] == {"kind": "lower", "names": ["size"]}
    assert high["words"][0] == {"kind": "higher", "names": ["size"]}
    assert list(portrait(summary, 0)) == ["size", "noise"]
    found = portrait(summary, 1)["size"]
    assert (found["side"], found["share"], found["rest"], found["median"]) == ("above", 1, 0, 80)
    assert 3.0 <= found["cuts"][0] < 70.0


def test_a_cluster_in_the_middle_has_a_range_with_two_ends():
    values = np.arange(30.0)
    labels = np.repeat([1, 0, 1], 10)
    frame, X = table(a=values)
    summary = summarise(clustering_of(frame, X, labels))
    inner, outer = portrait(summary, 0)["a"], portrait(summary, 1)["a"]
    found = [inner[name] for name in ("side", "cuts", "share", "rest")]
    assert found == ["between", [9, 19], 1, 0]
    assert (outer["side"], outer["share"], outer["rest"]) == ("outside", 1, 0)


def test_shares_are_what_a_count_gives(garden, summary):
    for group in summary["features"]["clusters"]:
        mine = garden.rows.labels == group["cluster"]
        for feature in group["features"]:
            column = summary["features"]["columns"][feature["column"]]
            if column["two_values"]:
                continue
            values = garden.rows.frame[column["name"]].to_numpy()
            inside = values > feature["cuts"][0]
            if feature["side"] in ("between", "outside"):
                inside &= values <= feature["cuts"][1]
            if feature["side"] in ("below", "outside"):
                inside = ~inside
            assert feature["share"] == pytest.approx(inside[mine].mean(), abs=1e-3)
            assert feature["rest"] == pytest.approx(inside[~mine].mean(), abs=1e-3)


def test_features_keep_the_units_of_the_table(garden, summary):
    columns = {column["name"]: column for column in summary["features"]["columns"]}
    assert columns["height <b>cm</b>"]["original"]
    assert columns["height <b>cm</b>"]["values"][1] == garden.rows.frame["height <b>cm</b>"].max()
    assert columns["price"]["log"]
    assert not columns["colour = red"]["original"]
    assert columns["colour = red"]["two_values"]
    words = [part for group in summary["features"]["clusters"] for part in group["words"]]
    assert {"kind": "mostly", "names": ["colour = red"]} in words


def test_histograms_count_every_row_that_has_a_value():
    frame, X = table(a=np.r_[np.arange(50.0) / 7, 1000.0, 3.0])
    frame.loc[51, "a"] = np.nan
    labels = np.repeat([0, 1], 26)
    column = summarise(clustering_of(frame, X, labels))["features"]["columns"][0]
    assert (sum(column["all"]), column["missing"]) == (51, 1)
    assert [sum(column["clusters"][k]) for k in "01"] == [26, 25]
    assert column["beyond"] == [False, True]
    assert column["edges"][1] < 20.0


def test_many_features_are_thinned_out(monkeypatch):
    from dogc.app.report import features

    monkeypatch.setattr(features, "MOST_FEATURES", 10)
    X = np.random.default_rng(0).standard_normal((60, 40))
    X[:30, 33] += 9.0
    summary = summarise(clustering_of(pd.DataFrame(X), X, np.repeat([0, 1], 30)))
    assert (summary["features"]["looked_at"], summary["data"]["facts"]["features"]) == (10, 40)
    assert next(iter(portrait(summary, 0))) == "33"


# How the graph looks


def random_graph(n, c, seed=0):
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=0.1, random_state=rng, format="csr")
    return (A + A.T).tocsr(), np.sort(rng.integers(0, c, n))


def test_blocks_and_bins_are_sums_of_the_graph():
    A, labels = random_graph(200, 4)
    groups = group_rows(labels)
    along = np.random.default_rng(1).standard_normal(200)
    found = describe_graph(types.SimpleNamespace(affinity_matrix_=A), groups, along)
    dense, member = A.toarray(), np.eye(4)[labels]
    blocks = member.T @ dense @ member
    shares = blocks / blocks.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found["blocks"], shares, atol=1e-5)
    assert found["inside"] == pytest.approx(np.trace(blocks) / blocks.sum())
    bins, owner = bin_rows(groups.codes, along, GRAPH_BINS)
    binned = np.eye(len(owner))[bins]
    weight = binned.T @ dense @ binned
    shares = weight / weight.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.array(found["bins"]) / 1000, shares, atol=1e-3)
    strongest = found["ties"][0]
    a, b = strongest["between"]
    assert strongest["share"] == pytest.approx(2 * blocks[a, b] / blocks.sum(), rel=1e-3)
    np.fill_diagonal(blocks, 0.0)
    assert blocks[a, b] == pytest.approx(blocks.max())
    full = describe_graph(types.SimpleNamespace(affinity_matrix_=dense), groups, along)
    assert full["bins"] == found["bins"]


def test_separate_pieces_have_all_weight_inside_and_history_is_the_models(garden, summary):
    history = garden.model.history_
    assert summary["history"]["components"] == [record.n_components for record in history]
    assert summary["history"]["objective"] == pytest.approx([r.objective for r in history], 1e-4)
    assert set(summary["history"]["terms"]) == set(history[0].terms)
    assert summary["ending"]["converged"]
    assert summary["graph"]["inside"] == pytest.approx(1.0)
    assert summary["graph"]["ties"] == []
    assert summary["graph"]["representatives"] is None


def test_too_many_clusters_have_no_picture():
    A, _ = random_graph(400, 1)
    model = types.SimpleNamespace(affinity_matrix_=A)
    graph = describe_graph(model, group_rows(np.arange(400) // 2), np.zeros(400))
    assert graph["bins"] is None
    assert len(graph["blocks"]) == 100


def test_the_graph_of_representatives_is_described():
    X, _ = make_moons(6_000, noise=0.1, random_state=0)
    model = DOGC(2).fit(X)
    clustering = clustering_of(pd.DataFrame(X, columns=["a", "b"]), X, model.labels_, model=model)
    summary = summarise(clustering)
    p, graph = model.n_representatives_, summary["graph"]
    assert p < 3000
    assert graph["representatives"] == summary["data"]["facts"]["n_representatives"] == p
    assert graph["inside"] == pytest.approx(1.0)
    assert sorted(set(graph["owner"])) == [0, 1]
    assert sum(group["size"] for group in summary["clusters"]) == 6_000
    assert len(summary["points"]["row"]) <= 5000
    assert len(render(json.loads(json.dumps(summary, allow_nan=False)))) < 1_000_000


# The verdict


def judged(seen, labels=(0, 0, 1, 1), **model):
    frame, X = table(a=np.arange(len(labels)))
    found = clustering_of(frame, X, labels, evidence=seen, model=types.SimpleNamespace(**model))
    return describe_verdict(found)


def test_the_verdict_comes_with_its_figures_and_what_to_try():
    clear = judged(Evidence("clear", 0.9, 1.5, 0.4, 0.3))
    assert clear["lead"] == "The clusters are clear."
    assert "nearly the same clusters are found; they are well separated." in clear["words"]
    assert [each["reference"] for each in clear["figures"]] == [0.4, 0.3]
    doubtful = judged(Evidence("doubtful", 0.6, 0.1, 0.4, 0.3))
    assert "similar clusters are found; they are hardly separated. Try" in doubtful["words"]
    assert "Try" not in clear["words"]
    assert "other clusters are found" in judged(Evidence("none", 0.1, 0.1, 0.1, 0.1))["words"]


def test_where_there_is_no_verdict_it_says_why():
    assert "--max-time" in judged(None)["words"]
    assert judged(NOTHING)["lead"] == "No verdict: there are too few rows."
    assert judged(NOTHING, [0, 0])["lead"] == "No verdict: there is one cluster."
    assert judged(NOTHING, [0, 0], cluster_counts_=[1])["lead"].startswith("No cluster structure")


# Known labels


def test_truth_is_matched_and_scored():
    frame, X = table(a=[1, 2, 3, 11, 12, 13, 21])
    truth = np.array(["b", "b", "a", "a", "a", "a", "c"], dtype=object)
    labels = [1, 1, 1, 0, 0, 0, -1]
    found = summarise(clustering_of(frame, X, labels, truth=truth))["truth"]
    assert found["classes"] == ["a", "b", "c"]
    assert found["clusters"] == [0, 1, -1]
    assert found["matched"] == [0, 1, -1]
    assert found["table"] == [[3, 1, 0], [0, 2, 0], [0, 0, 1]]
    scores = clustering_report(truth, labels)
    assert found["scores"]["acc"] == pytest.approx(6 / 7, rel=1e-3)
    expected = {"nmi": scores["nmi_max"], **{k: scores[k] for k in ("acc", "purity", "ari")}}
    assert found["scores"] == pytest.approx(expected, rel=1e-3)


def test_a_label_column_with_many_values_stays_readable():
    frame, X = table(a=np.arange(300.0))
    truth = np.array([f"v{i}" for i in range(300)])
    found = summarise(clustering_of(frame, X, np.arange(300) // 100, truth=truth))["truth"]
    assert (len(found["classes"]), found["classes_total"]) == (20, 300)
    assert found["matched"][:3] == [0, 1, 2]


# The page


def test_values_never_become_markup(summary):
    elements = Elements(render(summary))
    harmless = Elements(render({**summary, "source": "a.csv"}))
    assert [tag for tag, *_ in elements.found] == [tag for tag, *_ in harmless.found]
    assert elements.text("title") == [f"{summary['source']}: 3 clusters"]
    embedded, _ = elements.text("script")
    assert json.loads(embedded) == summary
    assert HOSTILE in json.loads(embedded)["source"]
    assert "<" not in embedded


def test_marks_of_the_template_may_occur_in_the_data(summary):
    source = "@script@ @style@ @summary@.csv"
    embedded, _ = Elements(render({**summary, "source": source})).text("script")
    assert json.loads(embedded)["source"] == source


def test_the_browser_may_run_this_script_only_and_load_nothing(summary):
    elements = Elements(render(summary))
    _, script = elements.text("script")
    (found,) = [its["content"] for _, its, _ in elements.found
                if its.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    assert found == policy(*elements.text("style"), script)
    assert found.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in found
    # Nor is there anything to load.
    page = render({**summary, "points": None, "source": "x"})
    assert page.count("http") == page.count("http://www.w3.org/2000/svg") + page.count("http-equiv")


def test_ten_thousand_rows_of_long_text_stay_below_three_megabytes():
    rng = np.random.default_rng(0)
    n = 10_000
    words = rng.integers(0x4E00, 0x9FFF, (n, 60)).astype(np.uint32)
    text = words.view("U60").ravel().astype(object)
    X, labels = rng.standard_normal((n, 30)), np.sort(rng.integers(0, 30, n))
    frame = pd.DataFrame(X).assign(**dict.fromkeys(["id", "one", "two", "three"], text))
    named = {"feature_names": range(30), "truth": text, "id_column": "id"}
    page = render(summarise(clustering_of(frame, X, labels, **named)))
    assert len(page.encode()) < 3_000_000


def test_half_characters_can_be_written(summary):
    frame, X = table(a=[1.0, 2.0, 9.0, 8.0])
    frame["b"] = pd.Series(["\udfff"] * 4, dtype=object)
    clustering = clustering_of(frame, X[:, :1], [0, 0, 1, 1], source="\ud800.csv")
    render(summarise(clustering)).encode("utf-8")


def test_a_column_that_decides_alone_is_named():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 50)
    frame = pd.DataFrame({"news": np.where(labels == 0, "yes", "no")})
    frame["plan"] = np.array(["a", "b", "c"])[rng.integers(0, 3, 100)]
    frame["rare"] = np.where(np.arange(100) == 0, "x", "y")
    frame["unused"] = np.where(labels == 0, "p", "q")
    X = np.column_stack([labels, rng.standard_normal((100, 4))])
    names = ["news", "plan=a", "plan=b", "plan=c", "rare"]
    found = summarise(clustering_of(frame, X, labels, feature_names=names))
    assert found["deciding"] == ["news"]
    mixed = summarise(clustering_of(frame, X, rng.permutation(labels), feature_names=names))
    assert mixed["deciding"] == []


def test_a_column_of_numbers_that_decides_alone_is_named_with_its_cuts():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [60, 50, 40])
    revenue = np.array([10.0, 1000.0, 3000.0])[labels] + rng.normal(0, 3, 150)
    revenue[:5] = np.nan
    frame = pd.DataFrame(rng.standard_normal((150, 3)), columns=["a", "b", "c"])
    frame["revenue"] = revenue
    X = frame.fillna(frame.median()).to_numpy()
    found = summarise(clustering_of(frame, X, labels))
    assert found["deciding"] == []
    assert found["deciding_cuts"]["name"] == "revenue"
    assert found["deciding_cuts"]["cuts"] == pytest.approx([505, 2000], rel=0.02)
    frame["cost"] = revenue / 2 + rng.normal(0, 3, 150)
    X = frame.fillna(frame.median()).to_numpy()
    assert summarise(clustering_of(frame, X, labels))["deciding_cuts"] is None
    alone = clustering_of(frame[["revenue"]], X[:, 3:4], labels)
    assert summarise(alone)["deciding_cuts"] is None


def test_blobs_and_flowers_are_no_columns_own():
    sets = [make_blobs(150, centers=3, random_state=seed) for seed in range(6)]
    for X, labels in [*sets, load_iris(return_X_y=True)]:
        assert deciding_cuts(clustering_of(pd.DataFrame(X), X, labels)) is None


def test_pieces_are_the_best_that_any_cuts_give():
    """All pairs of cuts, tried one by one."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        values, labels = rng.integers(0, 9, 12).astype(float), rng.integers(0, 3, 12)
        labels[:3] = [0, 1, 2]
        order = sorted(range(3), key=lambda name: float(np.median(values[labels == name])))
        best = max(
            np.mean(np.array(order)[(values > low).astype(int) + (values > high)] == labels)
            for low in range(-1, 9) for high in range(low, 9)
        )  # fmt: skip
        assert 1.0 - pieces_of(values, labels)[0] == pytest.approx(best)


def test_empty_cells_among_dates_are_missing_and_dates_are_early_or_late():
    """An empty cell of a CSV file is empty text; nothing is shown for it but that it is missing."""
    labels = np.repeat([0, 1], 30)
    days = np.where(labels == 0, 18000, 19000) + np.arange(60) % 7
    dates = pd.Series(days.astype("datetime64[D]")).astype(str)
    dates[:5] = ""
    clustering = clustering_of(pd.DataFrame({"joined": dates}), days[:, None] / 300.0, labels)
    found = summarise(clustering)
    (joined,) = found["features"]["columns"]
    assert joined["missing"] == 5
    assert sum(joined["clusters"]["0"]) == 25
    first, second = found["features"]["clusters"]
    assert first["features"][0]["share"] == 1.0
    assert [first["words"][0]["kind"], second["words"][0]["kind"]] == ["earlier", "later"]
    assert found["points"]["axes"][0][0]["date"]
    assert found["points"]["values"][0].count(None) == 5


def test_numbers_keep_their_units_however_they_are_written():
    values = np.r_[np.arange(30) + 1000.5, np.arange(30) + 5000.25]
    cells = [f"{value:,.2f} €".translate(str.maketrans(",.", ".,")) for value in values]
    assert cells[0] == "1.000,50 €"
    X = ((values - values.mean()) / values.std())[:, None]
    found = summarise(clustering_of(pd.DataFrame({"price": cells}), X, np.repeat([0, 1], 30)))
    (price,) = found["features"]["columns"]
    assert price["original"]
    assert price["values"] == [1000.5, 5029.25]


def test_typical_rows_come_with_their_own_values_those_asked_for_first(garden):
    found = summarise(garden)["exemplars"]
    labels = garden.rows.labels
    assert [labels[row - 1] for row in found["row"]] == found["cluster"] == sorted(found["cluster"])
    assert len(found["row"]) == 3 * 5
    names = garden.rows.frame["plant"]
    assert found["id"] == [names[row - 1] for row in found["row"]]
    Z = garden.model.transform(garden.X)
    middle = exemplars(Z, labels, garden.rows.membership, 3)
    assert [row - 1 for row in found["row"]] == middle.ravel().tolist()
    shown = garden._replace(settings={**garden.settings, "show": ["remark"]})
    assert found["columns"][0] != "remark" == summarise(shown)["exemplars"]["columns"][0]
    assert summarise(shown)["points"]["columns"][0] == "remark"


def test_long_texts_are_shown_where_they_were_asked_for(garden):
    frame = garden.rows.frame.assign(remark="a sentence " * 12)
    long = garden._replace(rows=garden.rows._replace(frame=frame))
    asked = long._replace(settings={**garden.settings, "show": ["remark"]})
    cells = [dict(zip(it["columns"], it["values"], strict=True))["remark"][0]
             for it in (summarise(long)["points"], summarise(asked)["points"])]  # fmt: skip
    assert [len(cell) for cell in cells] == [40, 132]


def test_the_map_of_representatives_places_rows_among_them():
    rng = np.random.default_rng(0)
    truth = np.arange(900) % 3
    X = 9.0 * np.eye(3, 12)[truth] + rng.standard_normal((900, 12))
    model = DOGC(3, n_representatives=90).fit(X)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    islands = summarise(clustering_of(frame, X, model.labels_, model=model))["points"]["islands"]
    assert len(islands["x"]) == 900
    points = summarise(clustering_of(frame, X, model.labels_, model=model))["points"]
    at = np.column_stack([points["islands"]["x"], points["islands"]["y"]])
    cluster = np.array(points["cluster"])
    middle = np.array([at[cluster == c].mean(axis=0) for c in range(3)])
    away = np.linalg.norm(at[:, None] - middle, axis=2)
    assert np.mean(away.argmin(axis=1) == cluster) == 1.0


def test_one_cluster_fewer_and_one_more_are_shown_where_that_is_quick(garden, summary):
    counts = summary["counts"]
    assert [row["clusters"] for row in counts["rows"]] == [2, 3, 4]
    assert counts["chosen"] == 3
    assert [step["fewer"] for step in counts["steps"]] == [2, 3]
    assert sum(block["rows"] for block in counts["flow"]["blocks"]) == 3 * 120
    limited = garden._replace(model=DOGCOS(3, max_time=60).fit(garden.X))
    assert summarise(limited)["counts"] is None

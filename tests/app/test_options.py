"""Words that are typed: options, the names of columns, and sentences that name both."""

import json
import pathlib
import re
from types import SimpleNamespace

import numpy as np
import pytest
from commands import blobs, pd, run

from dogc.app.commands import exploring, prediction
from dogc.app.commands.arguments import left_out, with_options
from dogc.encoding import TableError


def record(folder="dogc-output"):
    return json.loads(pathlib.Path(folder, "run.json").read_text(encoding="utf-8"))


@pytest.fixture
def table(folder):
    frame = blobs().drop(columns="kind")
    frame = frame.assign(phone_os=np.tile(["android", "ios"], 30), truth=np.repeat([1, 2, 3], 20))
    frame.to_csv("rows.csv", index=False)
    return folder / "rows.csv"


def test_marked_outliers_are_marked_again_by_predict(table, capsys):
    frame = pd.read_csv(table)[["a", "b", "c"]]
    frame.loc[len(frame)] = [500.0, -500.0, 500.0]
    frame.to_csv(table, index=False)
    for method in ("dogc", "dogc-os"):
        settings = ("--outliers", "--metric", "manhattan", "--components", "none", "--seed", 7)
        assert run("cluster", table, "-k", 3, *settings, "--method", method, "--force") == 0
        given = record()["parameters"]
        asked = (given["metric"], given["n_components"], given["random_state"])
        assert asked == ("manhattan", None, 7)
        said = capsys.readouterr().out
        assert re.search(r"outliers +\d+ ", said)
        assert "marked" in said
        assert "nearest cluster" not in said
        assert pd.read_csv("dogc-output/labels.csv").cluster.iloc[-1] == -1
        assert run("predict", "dogc-output/model.skops", table, "--force") == 0
        assert pd.read_csv("predicted.csv").cluster.iloc[-1] == -1


def test_clusters_of_k_means_are_numbered_by_size_here_and_in_predict(table):
    rng = np.random.default_rng(0)
    which = np.repeat([0, 1, 2, 3], [10, 40, 20, 30])
    frame = pd.DataFrame(np.array([[0, 0], [9, 0], [0, 9], [9, 9]])[which] + rng.normal(
        0, 0.5, (100, 2)), columns=["a", "b"])  # fmt: skip
    frame.to_csv(table, index=False)
    assert run("cluster", table, "-k", 4, "--method", "KM", "-q") == 0
    assert record()["clusters"] == {"0": 40, "1": 30, "2": 20, "3": 10}
    assert run("predict", "dogc-output/model.skops", table, "-q") == 0
    labels = pd.read_csv("dogc-output/labels.csv").cluster
    assert (pd.read_csv("predicted.csv").cluster == labels).all()
    assert run("compare", table, "-k", 4, "--method", "KM", "-q") == 0
    assert (pd.read_csv("dogc-compare/labels.csv")["cluster KM"] == labels).all()


@pytest.mark.slow
def test_clusters_that_hang_on_a_choice_are_said_once_and_again_by_predict(table, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(6000, 3)), columns=["a", "b", "c"])
    frame.to_csv(table, index=False)
    assert run("cluster", table, "-k", 6) == 0
    said = capsys.readouterr().out
    agreement = re.search(r"number of representatives \(agreement (0.\d\d)\)", said)[1]
    assert said.count(agreement) == 1
    frame[:50].to_csv("new.csv", index=False)
    assert run("predict", "dogc-output/model.skops", "new.csv") == 0
    again = f"change with the number of representatives (agreement {agreement})"
    assert again in capsys.readouterr().out


def test_predict_repeats_that_scales_disagree():
    scales = SimpleNamespace(n_neighbors=(5, 10), score=np.array([0.3, 0.2]))
    model = SimpleNamespace(scales_=scales, n_clusters_=3)
    (said,) = prediction.unsteady(model)
    assert "number of neighbours (agreement 0.30)" in said
    assert prediction.unsteady(SimpleNamespace(scales_=scales, n_clusters_=1)) == []
    assert prediction.unsteady(SimpleNamespace()) == []


def test_the_weight_of_a_value_points_to_the_column(table, capsys):
    assert run("cluster", table, "-k", 3, "--weight", "phone_os=android=0.5") == 2
    assert "(did you mean 'phone_os'?)" in capsys.readouterr().err
    assert run("cluster", table, "-k", 3, "--weight", "phone=0.5") == 2
    assert "no column 'phone'" in capsys.readouterr().err


def test_a_column_that_cannot_be_kept_is_named(table, capsys):
    frame = pd.read_csv(table).assign(customer_id=[f"customer {row}" for row in range(60)])
    frame.to_csv("ids.csv", index=False)
    assert run("cluster", "ids.csv", "-k", 3, "--keep", "customer_id") == 2
    said = capsys.readouterr().err
    assert "column 'customer_id' cannot be kept (text with nearly all values different)" in said
    assert "--keep" in said


def test_names_with_commas_and_equal_signs_are_names_first():
    names = ["a", "b", "a,b", "x=y"]
    assert left_out(names, ["a,b"], [], None) == ("a", "b", "x=y")
    assert left_out(names, [], ["x=y=z", "a = Rome", "b=(other)"], None) == ("x=y", "a", "b")
    with pytest.raises(TableError, match="no column 'z=a'"):
        left_out(names, [], ["z=a"], None)


def test_a_column_that_is_shown_is_not_compared(table):
    frame = pd.read_csv(table)
    frame.assign(b=100.0 * frame["b"]).to_csv("rows.csv", index=False)
    assert run("cluster", table, "-k", 3, "--show", "b", "--drop", "truth", "-q") == 0
    found = record()
    assert "b" not in found["features"]
    assert "Shown with the rows, not used for clustering: 'b'." in found["preparation"]
    page = pathlib.Path("dogc-output", "report.html").read_text(encoding="utf-8")
    assert '"columns":["b",' in page
    assert run("cluster", table, "-k", 3, "--show", "beta", "--out", "other") == 2


@pytest.mark.parametrize("typed", ["auto", "few", "0", "9" * 5000])
def test_compare_needs_a_number_and_says_so(table, capsys, typed):
    assert run("compare", table, "-k", typed) == 2
    assert f"--clusters is '{typed[:9]}" in (said := capsys.readouterr().err)
    assert "; pass a whole number above 0." in said


def test_a_column_keeps_its_name_in_a_sentence(table, capsys):
    frame = pd.read_csv(table).rename(columns={"phone_os": "n_clusters"})
    frame.to_csv("n_neighbors.csv", index=False)
    assert run("cluster", "n_neighbors.csv", "-k", 3, "--drop", "n_cluster") == 2
    said = capsys.readouterr().err
    assert "(did you mean 'n_clusters'?)" in said
    assert "--" not in said
    assert run("cluster", "n_neighbor.csv", "-k", 3) == 2
    assert "no file n_neighbor.csv (did you mean n_neighbors.csv?)" in capsys.readouterr().err


def test_help_says_what_an_option_takes(capsys):
    assert run("cluster", "--help") == 0
    said = capsys.readouterr().out
    assert re.search(r"--clusters +-k +N\|auto ", said)
    assert re.search(r"--outliers {5,}Give", said)
    assert re.search(r"--columns +NAMES ", said)
    assert "list[str]" not in said
    assert run("--help") == 0
    said += capsys.readouterr().out
    assert re.search(r"--install-completion +Install", said)
    assert re.search(r"--help +-h +Show this", said)
    assert "bool" not in said.lower()


def test_explore_takes_the_options_of_its_siblings(table, capsys):
    """The column of the truth scores and is never clustered by; settings reach the method."""
    frame = pd.read_csv(table).assign(id=np.arange(60))
    np.savez("rows.npz", other=np.zeros(3), X=frame[["a", "b", "c"]].to_numpy())
    frame.to_csv("ids.csv", index=False)
    given = ["--label-column", "truth", "--keep", "id", "--weight", "id=0.01", "--neighbors", 7]
    assert run("explore", "ids.csv", "--to", 3, *given, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["ari"] for row in found["counts"]][1] == 1.0
    steps = " ".join(found["preparation"])
    assert "The column 'truth' holds" in steps
    assert "'id' 0.01" in steps
    assert run("explore", "rows.npz", "--array", "X", "--to", 3, "--out", "other") == 0
    assert "60 rows" in capsys.readouterr().out
    assert run("explore", "ids.csv", "--metric", "cosine", "--method", "km", "--out", "third") == 2
    assert "--method km has no --metric" in capsys.readouterr().err


def test_compare_takes_the_number_of_neighbours(table, capsys):
    few = ["--method", "n-cut", "--method", "r-cut", "--method", "sc", "--drop", "phone_os"]
    assert run("compare", table, "-k", 2, *few, "--neighbors", 5) == 0
    said = capsys.readouterr().out
    assert "note: n-cut, r-cut, sc: the graph has 3 components, more than --clusters=2" in said
    assert said.count("--neighbors") == 1
    page = pathlib.Path("dogc-compare/compare.html").read_text(encoding="utf-8")
    assert "n-cut, r-cut, sc: the graph" in page
    assert run("compare", table, "-k", 2, "--neighbors", 60, "--out", "other") == 2
    assert "--neighbors=60 is too large" in capsys.readouterr().err


def test_notes_name_the_options_of_parameters():
    said = "choose a smaller n_clusters=3, or set n_neighbors; metric='cosine' and max_iter stay."
    expected = said.replace("n_clusters", "--clusters").replace("n_neighbors", "--neighbors")
    assert with_options(said) == expected


def test_a_note_of_several_numbers_of_clusters_is_said_once():
    said = {2: "", 3: "raise n_neighbors.", 4: "wait.", 5: "raise n_neighbors."}
    found = [SimpleNamespace(n_clusters=count, note=note) for count, note in said.items()]
    assert exploring._notes(found) == ["3, 5 clusters: raise n_neighbors.", "4 clusters: wait."]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("cluster of 2", ("explore", "--to", 3)),
        ("cluster KM", ("compare", "-k", 2, "--method", "KM")),
    ],
)
def test_a_column_of_the_table_keeps_its_values(name, command, table):
    frame = pd.read_csv(table).assign(**{name: np.arange(60.0)})
    frame.to_csv("odd.csv", index=False)
    command, *options = command
    assert run(command, "odd.csv", *options, "--drop", name) == 0
    found = pd.read_csv(f"dogc-{command}/labels.csv")
    np.testing.assert_array_equal(found[name], frame[name])
    assert set(found[f"dogc_{name}"]) == {0, 1}

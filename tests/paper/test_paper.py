"""The reproduction: printed numbers, protocol, cached runs, tables, figures, command."""

import csv
import json

import numpy as np
import pytest
from sklearn.base import clone

from dogc import DOGCOS
from dogc.app.cli import main as dogc_command
from dogc.comparison import METHODS
from dogc.datasets import UCI_NAMES, load_uci
from dogc.metrics import clustering_accuracy
from dogc.paper import command, figures, printed, protocol, reproduction_page, runs, tables

# ------------------------------------------------------------------------------ printed


def test_the_printed_tables_are_whole():
    for table in (printed.ACC, printed.NMI):
        assert set(table) == set(UCI_NAMES)
        assert all(tuple(row) == printed.MAIN_METHODS for row in table.values())
    assert len(printed.MAIN_METHODS) == 10
    for table in (printed.TRAIN_ACC, printed.TEST_ACC):
        assert all(tuple(row) == printed.OUT_OF_SAMPLE_METHODS for row in table.values())
    assert printed.ACC["wine"]["DOGC"] == 0.9944
    assert printed.NMI["balance"]["KM"] == 0.2966
    assert printed.TEST_ACC["vote"]["DOGC-OS"] == 0.9401
    for name, row in printed.ABLATION_ACC.items():
        assert row["DOGC-OS"] == printed.ACC[name]["DOGC-OS"]


def test_entries_that_cannot_be_right_are_named_with_the_reason():
    doubts = printed.doubts()
    assert doubts["lenses", "CAN"] == "no multiple of 1/24"
    assert doubts["vote", "DOGC-OS"] == "a multiple of 1/434, not of 1/435"
    assert ("wine", "DOGC") not in doubts
    assert sum("no multiple" in reason for reason in doubts.values()) == 11


# ----------------------------------------------------------------------------- protocol


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_of_the_grids_is_one_that_the_method_takes(method):
    settings = list(protocol.oracle_settings(method, 101, 16))
    assert settings[0] == {}
    assert len(settings) == len({json.dumps(s, sort_keys=True) for s in settings})
    for setting in settings:
        model = METHODS[method](3).set_params(**protocol.seeded(method, setting, 1))
        assert clone(model).get_params() == model.get_params()
        assert setting.get("n_neighbors", 2) < 101
        assert (setting.get("n_components") or 1) <= 16


def test_seeds_reach_the_methods_that_have_chance_in_them():
    assert protocol.seeded("DOGC", {"alpha": 1.0}, 5) == {
        "alpha": 1.0,
        "init": "random",
        "random_state": 5,
    }
    assert protocol.has_chance("KM")
    assert not protocol.has_chance("CAN")


@pytest.mark.parametrize("name", UCI_NAMES)
@pytest.mark.parametrize("preprocessing", protocol.PREPROCESSINGS)
def test_every_preprocessing_gives_finite_numbers(name, preprocessing):
    X, y = protocol.rows_and_classes(name, preprocessing)
    assert len(X) == len(y)
    assert np.isfinite(X).all()
    if preprocessing == "z-score":
        np.testing.assert_allclose(X.std(axis=0), 1.0)


def test_synthetic_data_are_named_with_parameter_and_seed():
    X, y = protocol.rows_and_classes("clusters36 0.03 7", "as drawn")
    again, _ = protocol.rows_and_classes("clusters36 0.03 7", "as drawn")
    assert X.shape == (720, 3)
    assert y.max() == 35
    np.testing.assert_array_equal(X, again)


# --------------------------------------------------------------------------------- runs


def example(seed=0, split=None):
    return runs.make_run("KM", "lenses", {"n_init": 1, "random_state": seed}, "z-score", split)


def test_results_survive_on_disk_and_are_not_computed_again(tmp_path, monkeypatch):
    cache = runs.Cache(tmp_path / "deep" / "runs.jsonl")
    runs.run_all([example(0), example(1), example(0)], cache)
    assert len(cache.results) == 2
    again = runs.Cache(cache.path)
    assert again.results == cache.results
    monkeypatch.setattr(runs, "execute", lambda run: pytest.fail("it was known"))
    runs.run_all([example(1), example(0)], again)


def test_a_line_torn_by_an_interrupt_costs_that_run_only(tmp_path):
    cache = runs.Cache(tmp_path / "runs.jsonl")
    runs.run_all([example(0), example(1)], cache)
    text = cache.path.read_text(encoding="utf-8")
    cache.path.write_text(text[:-25], encoding="utf-8")
    torn = runs.Cache(cache.path)
    assert torn.get(example(0)) == cache.get(example(0))
    assert torn.get(example(1)) is None
    runs.run_all([example(1)], torn)
    whole = runs.Cache(cache.path)
    assert whole.get(example(1))["acc"] == cache.get(example(1))["acc"]


def test_an_interrupt_keeps_what_is_done(tmp_path, monkeypatch):
    cache = runs.Cache(tmp_path / "runs.jsonl")
    execute, calls = runs.execute, []

    def interrupted(run):
        calls.append(run)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return execute(run)

    monkeypatch.setattr(runs, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runs.run_all([example(seed) for seed in range(5)], cache)
    assert len(runs.Cache(cache.path).results) == 2


def test_a_setting_that_fails_says_why():
    run = runs.make_run("CAN", "lenses", {"n_neighbors": 50}, "z-score")
    assert "n_neighbors=50 is too large" in runs.execute(run)["error"]


def test_processes_do_not_change_results(tmp_path):
    wanted = [runs.make_run("DOGC", "lenses", {}, "z-score"), example(3)]
    scores = []
    for jobs in (1, 2):
        cache = runs.Cache(tmp_path / f"{jobs}.jsonl")
        runs.run_all(wanted, cache, jobs=jobs)
        scores.append([cache.get(run)["acc"] for run in wanted])
    assert scores[0] == scores[1]


def test_on_halves_dogc_os_labels_rows_it_has_not_seen():
    X, y = protocol.rows_and_classes("wine", "z-score")
    known = runs.half(len(X), 3)
    new = np.setdiff1d(np.arange(len(X)), known)
    model = DOGCOS(3, rule="paper").fit(X[known])
    result = runs.execute(runs.make_run("DOGC-OS", "wine", {}, "z-score", 3))
    assert result["test_acc"] == clustering_accuracy(y[new], model.predict(X[new]))
    assert result["train_acc"] == clustering_accuracy(y[known], model.labels_)
    together = runs.execute(runs.make_run("CAN", "wine", {}, "z-score", 3))
    labels = METHODS["CAN"](3).fit(X).labels_
    assert together["test_acc"] == clustering_accuracy(y[new], labels[new])


# ------------------------------------------------------------------------------- tables


@pytest.fixture(scope="module")
def quick_cache(tmp_path_factory):
    return runs.Cache(tmp_path_factory.mktemp("paper") / "runs.jsonl")


def test_the_main_table_has_three_columns_for_every_number(quick_cache):
    rows = tables.main_table(quick_cache, ["lenses"], n_runs=3, quick=True)
    assert len(rows) == 10 * len(tables.METRICS)
    for row in rows:
        assert 0.0 <= row.oracle <= 1.0
        assert row.honest_q1 <= row.honest_median <= row.honest_q3
        assert row.oracle_preprocessing in protocol.PREPROCESSINGS
        if row.method in ("CAN", "PCAN", "CLR0", "CLR1"):  # no chance: the defaults are in the grid
            assert row.oracle >= row.honest_median
        if row.metric == "acc":
            assert row.printed == printed.ACC["lenses"][row.method]
        assert np.isnan(row.printed) == (row.metric == "purity")
    kmeans = {row.metric: row.honest_median for row in rows if row.method == "KM"}
    assert all(row.kmeans == kmeans[row.metric] for row in rows)


def test_the_oracle_is_the_best_of_its_runs(quick_cache):
    _, top = tables.oracle(quick_cache, "KM", "lenses", 3, 1, True, False)
    y = load_uci("lenses").target
    X = protocol.z_scored("lenses")
    starts = [{"n_init": 1}, {}]  # one random start as in the paper; the defaults
    models = [METHODS["KM"](3).set_params(random_state=s, **a) for s in range(3) for a in starts]
    seeds = [model.fit(X).labels_ for model in models]
    assert top["acc"] == max(clustering_accuracy(y, labels) for labels in seeds)


def test_the_halves_table_shows_both_parts(quick_cache):
    rows = tables.out_of_sample_table(quick_cache, ["wine"], n_splits=2, quick=True)
    assert [row.part for row in rows] == ["train", "test"] * 7
    by = {(row.method, row.part): row for row in rows}
    assert by["DOGC-OS", "test"].printed == 0.9326
    assert by["DOGC-OS", "test"].honest_median > 0.9


# --------------------------------------------------------------------- page and command


def test_cells_are_escaped_and_coloured_by_what_they_reach():
    assert "&lt;b&gt;" in reproduction_page.td("<b>", hint="it's")
    assert "good" in reproduction_page.compared(0.596, 0.6)
    assert "bad" in reproduction_page.compared(0.59, 0.6)
    assert "class=''" in reproduction_page.compared(0.5, float("nan"))
    assert reproduction_page.number(float("nan")) == "-"


def test_the_command_writes_tables_once_and_reads_them_from_then_on(tmp_path, capsys, monkeypatch):
    arguments = ["paper", "tables", "--quick", "--quiet", "--datasets", "lenses", "--only", "acc"]
    arguments += ["--runs", "2", "--out", str(tmp_path)]
    dogc_command(arguments)
    assert "main.csv" in capsys.readouterr().out
    with open(tmp_path / "main.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == set(printed.MAIN_METHODS)
    text = (tmp_path / "tables.html").read_text(encoding="utf-8")
    assert "0.8750" in text
    assert "http" not in text.replace("http-equiv", "")
    assert not list(tmp_path.glob("*.part"))
    monkeypatch.setattr(runs, "execute", lambda run: pytest.fail("it was known"))
    dogc_command(arguments)
    assert (tmp_path / "tables.html").read_text(encoding="utf-8") == text


def test_the_command_draws_figures(tmp_path, capsys):
    options = ["figures", "--only", "gaussians", "moons", "--quiet", "--out", str(tmp_path)]
    command.main(options)
    assert (tmp_path / "gaussians.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "figures.html").read_text(encoding="utf-8")
    assert text.count("data:image/png;base64") == 2


def test_directions_are_those_that_part_two_gaussians_while_they_are_far():
    X, _ = protocol.rows_and_classes("gaussians 4.0 0", "as drawn")
    for name, direction, *_ in figures.directions(X):
        assert abs(direction[1]) / np.linalg.norm(direction) > 0.95, name
    X, _ = protocol.rows_and_classes("gaussians 1.2 0", "as drawn")
    share = {n: abs(d[1]) / np.linalg.norm(d) for n, d, *_ in figures.directions(X)}
    assert share["PCA"] < 0.3
    assert share["DOGC"] > 0.8
    assert share["DOGC-OS"] > 0.8


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tables", "--only", "moons"], "--only moons: not among the tables"),
        (["figures", "--only", "acc"], "--only acc: not among the figures"),
        (["tables", "--runs", "0"], "--runs must be at least 1"),
        (["tables", "--datasets", "iris"], "invalid choice: 'iris'"),
        (["nothing"], "invalid choice: 'nothing'"),
    ],
)
def test_wrong_arguments_end_with_one_sentence(arguments, says, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "make_tables", interrupt)
    with pytest.raises(SystemExit) as ended:
        command.main(["tables", "--out", str(tmp_path)])
    assert ended.value.code == 130
    assert "run it again to go on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tables", "--only", "ablation", "--datasets", "lenses"], "name one of them"),
        (["figures", "--datasets", "wine"], "leave it out for figures"),
        (["tables", "--jobs", "0"], "--jobs must be a number of processes"),
        (["tables", "--out", __file__], "cannot make that folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 2
    assert sentence in capsys.readouterr().err

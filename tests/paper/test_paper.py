"""The reproduction: printed numbers, protocol, runs, tables, commands."""

import json
import os
import pathlib
import shlex
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dogc import DOGC, DOGCOS
from dogc.app.cli import main as dogc_command
from dogc.comparison import METHODS
from dogc.datasets import UCI_NAMES, load_uci, make_multi_cluster
from dogc.metrics import clustering_accuracy
from dogc.paper import command, printed, protocol, runs, tables
from dogc.paper import reproduction_page as pages
from dogc.paper.tables import METRICS

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


def test_every_setting_of_the_grids_is_one_that_the_method_takes():
    names = {*printed.MAIN_METHODS, *printed.ABLATIONS, *printed.OUT_OF_SAMPLE_METHODS}
    for method in names - set(protocol.DRAWN):
        settings = list(protocol.grid_settings(method, 101, 16))
        assert settings[0] == {}
        assert len(settings) == len({json.dumps(s, sort_keys=True) for s in settings})
        for setting in settings:
            METHODS[method](3).set_params(**protocol.seeded(method, setting, 1))
            assert setting.get("n_neighbors", 2) < 101
            assert (setting.get("n_components") or 1) <= 16


@pytest.mark.parametrize("units", protocol.UNITS[1:])
@pytest.mark.parametrize("method", protocol.DRAWN)
def test_every_setting_of_the_search_is_one_that_the_method_takes(method, units):
    space = protocol.search_space(method, "zoo", units)
    for title, point in protocol.FOUND.items():
        if title.split()[1:] == [method, units]:
            assert set(point) == set(space)
    model = METHODS[method](7).set_params(**protocol.fixed(method, units))
    assert model.penalties == units
    for name in set(space) - {"preprocessing"}:
        assert len(space[name]) == len(set(space[name])) > 1
        for value in space[name]:
            clone(model).set_params(**{name: value})
    if units == "paper":
        np.testing.assert_allclose(np.log10(space["alpha"]), np.arange(-6, 5))
        assert getattr(model, "fit_intercept", False) is False
        if method != "DOGC":
            assert space["beta"] == space["gamma"] == space["alpha"]
            assert (min(space["p"]), max(space["p"])) == (0.25, 2.0)


@pytest.mark.parametrize("method", printed.OURS)
def test_the_protocol_has_the_values_that_the_paper_names_and_no_others(method):
    space = protocol.search_space(method, "vote", "protocol")
    assert list(space["alpha"]) == [1e-6, 1e-4, 1e-2][method == "DOGC-OS" :]
    assert space["n_neighbors"] == [44]
    assert space["n_components"] == [2, 3]
    assert space["init"] == ["random"]
    assert "one-hot" not in space["preprocessing"]  # it would change the number of features
    if method == "DOGC-OS":
        assert (space["beta"], space["p"]) == (protocol.PAPER_RANGE, [1.25])
    else:
        assert "beta" not in space
    model = METHODS[method](2).set_params(**protocol.fixed(method, "protocol"))
    assert (model.penalties, model.min_cluster_size) == ("paper", 1)


def test_a_run_says_how_many_labels_changed_and_a_start_that_stays_is_named():
    stuck = {"alpha": 1e4, "penalties": "paper", "init": "random", "random_state": 0}
    scores = runs.execute(runs.make_run("DOGC", "wine", stuck, "z-score"))
    assert scores["changed"] == 0
    free = runs.execute(runs.make_run("DOGC", "wine", stuck | {"alpha": 1e-6}, "z-score"))
    assert free["changed"] > 50
    assert free["acc"] > scores["acc"]
    row = {"oracle_start": "seed 0", "oracle_share": 0.5, "oracle_changed": [0.0, 3.0]}
    assert list(pages.with_reached(pd.DataFrame(row)).reached) == ["50%, as it starts", "50%"]


def test_seeds_reach_the_methods_that_have_chance_in_them():
    seeded = protocol.seeded("DOGC", {"alpha": 1.0}, 5)
    assert seeded == {"alpha": 1.0, "init": "random", "random_state": 5}
    assert protocol.seeded("KM", {}, 0) != {} == protocol.seeded("CAN", {}, 0)


@pytest.mark.parametrize("preprocessing", protocol.PREPROCESSINGS)
def test_every_preprocessing_gives_what_its_name_says(preprocessing):
    for name in UCI_NAMES:
        X, y = protocol.rows_and_classes(name, preprocessing)
        assert len(X) == len(y)
        assert np.isfinite(X).all()
        if preprocessing == "z-score":
            np.testing.assert_allclose(X.std(axis=0), 1.0)
        elif preprocessing == "unit rows":
            np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
        elif preprocessing == "one-hot":
            assert np.abs(X.min(axis=0)).max() < 1e-12 > np.abs(X.max(axis=0) - 1.0).max()
        else:
            np.testing.assert_array_equal(X, load_uci(name).data)


def test_synthetic_data_are_named_with_parameter_and_seed():
    X, y = protocol.rows_and_classes("clusters36 0.03 7", "as drawn")
    np.testing.assert_array_equal(X, make_multi_cluster(noise=0.03, random_state=7)[0])
    assert y.max() == 35


# --------------------------------------------------------------------------------- runs


def example(seed=0, split=None):
    return runs.make_run("KM", "lenses", {"n_init": 1, "random_state": seed}, "z-score", split)


def known(run):
    return pytest.fail("it was known")


def test_results_survive_on_disk_and_a_torn_line_costs_that_run_only(tmp_path, monkeypatch):
    results = runs.Results(tmp_path / "deep" / "runs.jsonl")
    assert results.do([example(0), example(1), example(0)]) == [example(0), example(1)]
    path, whole = results.path, results.path.read_text(encoding="utf-8")
    path.write_text(f"{whole[:-25]}", encoding="utf-8")
    torn = runs.Results(path)
    assert torn[example(0)] == results[example(0)]
    assert torn[example(1)] == {}
    torn.do([example(1)])
    with open(path, "ab") as file:  # lines that are no results
        file.write(b'\n{"key": "a", "run": {"method": "KM"}, "result": null}\n\xff')
    monkeypatch.setattr(runs, "execute", known)
    again = runs.Results(path)
    again.do([example(1), example(0)])
    assert again[example(1)]["acc"] == results[example(1)]["acc"]


def test_an_interrupt_keeps_what_is_done(tmp_path, monkeypatch):
    results = runs.Results(tmp_path / "runs.jsonl")
    execute, calls = runs.execute, []

    def interrupted(run):
        calls.append(run)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return execute(run)

    monkeypatch.setattr(runs, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        results.do([example(seed) for seed in range(5)])
    assert len(runs.Results(results.path).known) == 2


def test_a_setting_that_fails_says_why(tmp_path):
    run = runs.make_run("CAN", "lenses", {"n_neighbors": 50}, "z-score")
    results = runs.Results(tmp_path / "runs.jsonl")
    assert results.do([run]) == []
    assert "n_neighbors=50 is too large" in results[run]["error"]


def test_processes_do_not_change_results(tmp_path):
    wanted = [runs.make_run("DOGC", "lenses", {}, "z-score"), example(3)]
    one, two = (runs.Results(tmp_path / f"{jobs}.jsonl", jobs=jobs) for jobs in (1, 2))
    one.do(wanted)
    two.do(wanted)
    np.testing.assert_array_equal(one.scores(wanted, "acc"), two.scores(wanted, "acc"))


def test_on_halves_dogc_os_labels_rows_it_has_not_seen():
    X, y = protocol.rows_and_classes("wine", "z-score")
    known = np.sort(np.random.default_rng(3).permutation(len(X))[: len(X) // 2])
    new = np.setdiff1d(np.arange(len(X)), known)
    model = DOGCOS(3, rule="paper", init="spectral").fit(X[known])
    result = runs.execute(runs.make_run("DOGC-OS", "wine", {}, "z-score", 3))
    assert result["test_acc"] == clustering_accuracy(y[new], model.predict(X[new]))
    assert result["train_acc"] == clustering_accuracy(y[known], model.labels_)
    together = runs.execute(runs.make_run("CAN", "wine", {}, "z-score", 3))
    labels = METHODS["CAN"](3, init="spectral").fit(X).labels_
    assert together["test_acc"] == clustering_accuracy(y[new], labels[new])


def test_what_is_remembered_depends_on_code_and_on_every_parameter(monkeypatch):
    wanted = runs.make_run("DOGC", "lenses", {}, "z-score")
    before = runs.key.__wrapped__(wanted)
    assert runs.key.__wrapped__(wanted) == before
    monkeypatch.setitem(METHODS, "DOGC", lambda c: DOGC(c, tol=1e-3))  # a default that changed
    changed = runs.key.__wrapped__(wanted)
    monkeypatch.undo()
    monkeypatch.setattr(runs, "versions", lambda: "another")
    assert len({before, changed, runs.key.__wrapped__(wanted)}) == 3


def test_the_version_of_the_code_sees_all_that_a_run_goes_through(tmp_path, monkeypatch):
    seen = {path.relative_to(runs.SOURCE).as_posix()
            for part in runs.PARTS for path in runs.SOURCE.glob(part)}  # fmt: skip
    for file in ("_checks.py", "datasets/data/wine.csv", "loop/steps.py", "paper/protocol.py"):
        assert file in seen
    assert any(file.startswith("fitting/auto/") for file in seen)  # rooms within rooms
    monkeypatch.setattr(runs, "SOURCE", tmp_path)
    assert runs.code_version.__wrapped__() != runs.code_version()


# ------------------------------------------------------------------------------- tables


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return runs.Results(tmp_path_factory.mktemp("paper") / "runs.jsonl", n_runs=3, quick=True)


@pytest.fixture(scope="module")
def main_rows(quick):
    rows = tables.main_table(quick, ["lenses"], printed.MAIN_METHODS)
    return pd.DataFrame(rows)[tables.OF_ALL_ROWS]


def test_the_main_table_has_three_columns_for_every_number(main_rows):
    assert len(main_rows) == (8 + 2 * 3) * len(METRICS)  # DOGC and DOGC-OS in three units
    for row in main_rows.itertuples():
        assert 0.0 <= row.oracle_median <= row.oracle <= 1.0
        assert 0.0 < row.oracle_share <= 1.0
        assert row.honest_q1 <= row.honest_median <= row.honest_q3
        assert row.oracle_preprocessing in protocol.PREPROCESSINGS
        assert row.units in (protocol.UNITS if row.method.startswith("DOGC") else ("",))
        if row.method in ("CAN", "PCAN", "CLR0", "CLR1"):  # no chance: the defaults are in the grid
            assert row.oracle >= row.honest_median
        if row.metric == "acc":
            assert row.printed == printed.ACC["lenses"][row.method]
        assert np.isnan(row.printed) == (row.metric == "purity")
    kmeans = main_rows[main_rows.method == "KM"].set_index("metric").honest_median
    assert (main_rows.kmeans == main_rows.metric.map(kmeans)).all()


def scores_of(words):
    """The scores that a command of the tables prints, each as the median of its runs."""
    options = command.parser().parse_args([*shlex.split(words)[2:], "--jobs", "1"])
    return command.run_again(options).median()


def test_every_number_of_the_table_comes_again_by_its_command(main_rows):
    """Each measure names the setting and the seed that gave it."""
    for row in main_rows[main_rows.method.isin(["KM", "DOGC-OS"])].itertuples():
        name = command.MEASURES.get(row.metric, row.metric)
        assert scores_of(row.oracle_command)[name] == pytest.approx(row.oracle), row
        assert scores_of(row.honest_command)[name] == pytest.approx(row.honest_median), row


def test_the_oracle_is_the_best_of_its_runs(quick):
    run, columns = tables.oracle(quick, "KM", "lenses", "")["acc"]
    X, y = protocol.rows_and_classes("lenses", "z-score")
    models = [METHODS["KM"](3).set_params(n_init=1, random_state=seed) for seed in range(3)]
    scores = np.array([clustering_accuracy(y, model.fit(X).labels_) for model in models])
    assert columns["oracle"] == max(scores) == scores[run.parameters["random_state"]]
    assert columns["oracle_share"] == np.mean(scores == max(scores))
    assert columns["oracle_median"] == np.median(scores)


def invented(monkeypatch, score):
    """Runs whose scores are a function of their setting."""

    def execute(run):
        return dict.fromkeys(METRICS, 0.1) | {"seconds": 0.0} | score(run.parameters)

    monkeypatch.setattr(runs, "execute", execute)


def test_each_measure_keeps_the_run_that_gave_it(tmp_path, monkeypatch):
    """The best NMI is reported with its own setting, not with that of the best ACC."""

    def score(setting):
        good, lucky = setting.get("bandwidth") == "local", setting["random_state"] == 2
        return {"acc": 0.5 + 0.1 * good, "nmi_max": 0.3 - 0.1 * good + 0.05 * lucky}

    invented(monkeypatch, score)
    found = tables.oracle(runs.Results(tmp_path / "runs.jsonl", 3), "N-cut", "lenses", "")
    run, columns = found["acc"]
    assert (run.parameters["bandwidth"], columns["oracle_share"]) == ("local", 1.0)
    run, columns = found["nmi_max"]
    assert run.parameters.get("bandwidth") != "local"
    assert (run.parameters["random_state"], columns["oracle_share"]) == (2, 1 / 3)
    assert columns["oracle"] == pytest.approx(0.35)


def test_the_search_goes_on_around_the_best_draws(tmp_path, monkeypatch):
    """A score with one peak is climbed one parameter at a time, far above what draws find."""
    peak = {"alpha": 1e-3, "beta": 1e2, "gamma": 1e-5, "p": 1.25, "n_neighbors": 7}

    def score(setting):
        return {"acc": sum(setting[name] == peak[name] for name in peak) / len(peak)}

    invented(monkeypatch, score)
    monkeypatch.setitem(tables.DRAWS, "paper", 50)
    found = tables.oracle(runs.Results(tmp_path / "r.jsonl", 2), "DOGC-OS", "lenses", "paper")
    run, columns = found["acc"]
    assert columns["oracle"] == 1.0
    assert peak.items() <= run.parameters.items()


def test_a_seed_of_the_defaults_is_one_of_the_seeds_of_the_defaults(tmp_path, monkeypatch):
    """Defaults that were tried beside the grid have ten starts, the grid has one."""

    def score(setting):
        return {"acc": 0.9 if "n_init" not in setting and setting["random_state"] == 1 else 0.5}

    invented(monkeypatch, score)
    others = [runs.make_run("KM", "lenses", {"random_state": s}, "z-score") for s in range(4)]
    results = runs.Results(tmp_path / "runs.jsonl", 4)
    _, columns = tables.oracle(results, "KM", "lenses", "", others)["acc"]
    assert [columns[f"oracle{what}"] for what in ("", "_share", "_median")] == [0.9, 0.25, 0.5]


def test_the_halves_table_shows_both_parts(quick):
    rows = tables.out_of_sample_table(quick, ["wine"], ["KM", "DOGC-OS"], 2)
    assert [row["part"] for row in rows] == ["train", "test"] * 2
    assert rows[3]["printed"] == 0.9326
    assert rows[3]["honest_median"] > 0.9
    scores = scores_of(rows[3]["oracle_command"])
    assert scores["ACC, second half"] == pytest.approx(rows[3]["oracle"])


# ----------------------------------------------------------------------------- commands


def test_cells_are_escaped_and_coloured_by_what_they_reach(main_rows):
    row = main_rows.iloc[:1].assign(printed=0.6, oracle=0.596, doubt="it's <b>")
    page = pages.section("<title>", row)
    assert "<span class='good'>0.5960</span>" in page
    assert "title='it&#x27;s &lt;b&gt;'>0.6000†<" in page
    assert "&lt;title&gt;" in page
    assert "class='bad'>0.5900<" in pages.section("", row.assign(oracle=0.59))
    assert "class=''>0.5900<" in pages.section("", row.assign(oracle=0.59, printed=np.nan))


TABLES = ["tables", "--quick", "--quiet", "--only", "acc", "--jobs", "1"]


def test_a_restricted_run_takes_nothing_from_a_fuller_one(tmp_path, capsys, monkeypatch):
    path, methods = tmp_path / "main.csv", ["--methods", "KM", "CAN", "DOGC"]
    arguments = [*TABLES, *methods, "--out", str(tmp_path)]
    full = [*arguments, "--datasets", "lenses", "zoo", "--runs", "3"]
    dogc_command(["paper", *full])
    said = capsys.readouterr().out
    assert "lenses KM" in said  # the scores, not only the times
    page = (tmp_path / "tables.html").read_text(encoding="utf-8")
    assert "0.8750" in page
    assert "http" not in page.replace("http-equiv", "")
    assert not list(tmp_path.glob("*.part"))
    before = pages.read_rows(path)
    assert list(dict.fromkeys(before.data)) == ["lenses", "zoo"]
    command.main([*arguments, "--datasets", "lenses", "--runs", "2"])
    assert f"kept {5 * len(METRICS)} rows of a fuller run" in capsys.readouterr().out
    assert pages.read_rows(path).equals(before)
    path.unlink()
    older = before.assign(version="0.0.1", oracle=0.0)
    pages.add_rows(path, older.to_dict("records"))
    monkeypatch.setattr(runs, "execute", known)
    command.main([*arguments, "--datasets", "lenses", "--runs", "3"])
    after = pages.read_rows(path)
    assert len(after) == len(before)
    assert list(after.method) == list(before.method)
    assert set(after.data[after.version == "0.0.1"]) == {"zoo"}


MINE = """
from dogc import DOGC

class Mine(DOGC):
    pass
"""


def test_an_estimator_and_data_of_ones_own_stand_in_the_table(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "my_methods.py").write_text(MINE)
    frame = load_uci("wine", as_frame=True).frame.iloc[::4]
    kind = frame.pop("class").map({0: "a", 1: "b", 2: "c"})
    frame = frame.assign(colour=["red", "white", "red"] * 15, kind=kind)
    frame.to_csv("my.csv", index=False)
    arguments = ["tables", "--estimator", "my_methods:Mine", "--data", "my.csv", "--quiet"]
    command.main([*arguments, "--runs", "2", "--jobs", "1"])
    table = pages.read_rows(pathlib.Path("paper-output/main.csv"))
    row = table[(table.metric == "acc")].iloc[0]
    assert (row.method, row.data) == ("my_methods:Mine", "my.csv")
    X, y = protocol.rows_and_classes("my.csv", "unscaled")
    assert X.shape == (45, 14)
    assert set(X[:, -1]) == {1.0, 2.0}
    Z = protocol.rows_and_classes("my.csv", "z-score")[0]
    labels = DOGC(3, init="spectral").fit(Z).labels_
    assert row.honest_median == pytest.approx(clustering_accuracy(y, labels), abs=1e-4)
    assert scores_of(row.oracle_command)["ACC"] == pytest.approx(row.oracle, abs=1e-4)
    # Another text of the same name is another run.
    one = runs.make_run("my_methods:Mine", "my.csv", {}, "z-score")
    before = runs.key.__wrapped__(one)
    (tmp_path / "my_methods.py").write_text(MINE + "# changed")
    assert runs.key.__wrapped__(one) != before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--estimator nowhere:Mine", "No module named 'nowhere'"),
        ("--estimator dogc:Nothing", "as MODULE:CLASS a clusterer"),
        ("--estimator dogc:LPP", "as MODULE:CLASS a clusterer"),
        ("--data nowhere.csv", "No such file"),
        ("--data gaps.csv", "no empty cell"),
    ],
)
def test_an_estimator_or_data_that_cannot_be_used_is_refused(
    arguments, says, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gaps.csv").write_text("a,b,class\n1,,x\n2,3,y\n")
    with pytest.raises(SystemExit):
        command.main(["tables", *arguments.split()])
    assert says in capsys.readouterr().err


def test_known_settings_are_run_again_without_a_search(tmp_path, capsys, monkeypatch):
    arguments = [*TABLES, "--methods", "KM", "DOGC", "--datasets", "lenses", "--runs", "2"]
    arguments += ["--out", str(tmp_path)]
    command.main(arguments)
    path = tmp_path / "main.csv"
    before = pages.read_rows(path)
    changed = before.assign(oracle=0.1, honest_median=0.1, oracle_changed=np.nan, version="0.0.1")
    path.unlink()
    pages.add_rows(path, changed.to_dict("records"))
    monkeypatch.setattr(tables, "oracle", lambda *a: pytest.fail("it searched"))
    command.main([*arguments, "--known"])
    again = pages.read_rows(path)
    pd.testing.assert_frame_equal(
        again.drop(columns="seconds"), before.drop(columns="seconds"), atol=1e-4
    )


def test_methods_that_are_not_there_make_no_claim(tmp_path, capsys):
    """All three files are there, but of few methods and data sets."""
    options = ["--quick", "--quiet", "--datasets", "wine", "--jobs", "1", "--runs", "1"]
    command.main(["tables", *options, "--methods", "KM", "DOGC-OS", "--out", str(tmp_path)])
    assert "has the best ACC" not in capsys.readouterr().out
    assert len(list(tmp_path.glob("*.csv"))) == 3
    assert "On halves: " in (tmp_path / "tables.html").read_text(encoding="utf-8")


def test_a_file_of_another_layout_is_refused_before_anything_is_run(tmp_path, capsys, monkeypatch):
    (tmp_path / "main.csv").write_text("data,method\n", encoding="utf-8")
    monkeypatch.setattr(runs, "execute", known)
    with pytest.raises(SystemExit):
        command.main(["tables", "--quick", "--out", str(tmp_path)])
    assert "name another --out" in capsys.readouterr().err
    assert (tmp_path / "main.csv").read_text(encoding="utf-8") == "data,method\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("tables --only moons", "argument --only: invalid choice: 'moons'"),
        ("tables --runs 0", "argument --runs: must be at least 1"),
        ("tables --jobs 0", "--jobs must be a number of processes"),
        (f"tables --out {__file__}", "is not a folder"),
        ("run wine DOGC --set alpha", "alpha: write name=value"),
        ("run wine DOGC --set alpa=1", "Invalid parameter 'alpa'"),
        ("run wine KM --seeds 2 --splits 2", "not allowed with argument"),
    ],
)
def test_wrong_arguments_end_with_one_sentence(arguments, says, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments.split())
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupt(options, results):
        assert results.n_runs == 100
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "make_tables", interrupt)
    with pytest.raises(SystemExit) as ended:
        command.main(["tables", "--out", str(tmp_path)])
    assert ended.value.code == 130
    assert "run it again to continue" in capsys.readouterr().err


def test_commands_that_follow_each_other_keep_each_others_rows(tmp_path):
    path = tmp_path / "departures.csv"
    names = pages.FILES[path.name]
    some = [dict.fromkeys(names, 0.5) | {"data": data, "variant": f"line {i}", "seeds": 1,
         "extent": "full"}
            for data in ("wine", "iris") for i in range(3)]  # fmt: skip
    for row in some[3:] + some[:3]:
        pages.add_rows(path, [row])
    rows = pages.read_rows(path)
    assert list(zip(rows.data, rows.variant, strict=True)) == [
        (row["data"], row["variant"]) for row in some
    ]
    assert list(tmp_path.iterdir()) == [path]
    assert pages.add_rows(path, [some[0] | {"extent": "quick", "seeds": 9}]) == 1  # it is kept
    assert pages.add_rows(path, [some[0] | {"seeds": 2}]) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_disk_is_said_in_one_sentence(tmp_path, capsys, monkeypatch):
    def fill(results, *arguments):
        results.path.symlink_to("/dev/full")
        results.add(example(), {"acc": 1.0})

    monkeypatch.setattr(command, "main_table", fill)
    with pytest.raises(SystemExit) as ended:
        command.main(["tables", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "No space left on device What is done is kept" in capsys.readouterr().err

"""The reproduction: printed numbers, protocol, cached runs, tables, command."""

import csv
import json
import os
import shlex
import shutil
import threading

import numpy as np
import pytest
from sklearn.base import clone

import dogc
from dogc import DOGC, DOGCOS
from dogc.app.cli import main as dogc_command
from dogc.comparison import METHODS
from dogc.datasets import UCI_NAMES, load_uci
from dogc.metrics import clustering_accuracy
from dogc.paper import (
    command,
    departures,
    oracle,
    printed,
    protocol,
    reproduction_page,
    rerun,
    runs,
    table_files,
    tables,
)
from dogc.paper.oracle import METRICS

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


PAPERS = (*printed.MAIN_METHODS, *printed.ABLATIONS, *printed.OUT_OF_SAMPLE_METHODS)


@pytest.mark.parametrize("method", sorted(set(PAPERS) - set(protocol.DRAWN)))
def test_every_setting_of_the_grids_is_one_that_the_method_takes(method):
    settings = list(protocol.grid_settings(method, 101, 16))
    assert settings[0] == {}
    assert len(settings) == len({json.dumps(s, sort_keys=True) for s in settings})
    for setting in settings:
        model = METHODS[method](3).set_params(**protocol.seeded(method, setting, 1))
        assert clone(model).get_params() == model.get_params()
        assert setting.get("n_neighbors", 2) < 101
        assert (setting.get("n_components") or 1) <= 16


@pytest.mark.parametrize("units", protocol.UNITS)
@pytest.mark.parametrize("method", protocol.DRAWN)
def test_every_setting_of_the_search_is_one_that_the_method_takes(method, units):
    space = protocol.search_space(method, "zoo", units)
    for (_, owner, kind), points in protocol.FOUND.items():
        if (owner, kind) == (method, units):
            assert all(set(point) == set(space) for point in points)
    names = [name for name in space if name != "preprocessing"]
    model = METHODS[method](7).set_params(**protocol.fixed(method, units))
    assert model.penalties == units
    assert set(names) <= set(model.get_params())
    for name in names:
        assert len(space[name]) == len(set(space[name])) > 1
        for value in space[name]:
            clone(model).set_params(**{name: value})
    if units == "paper":
        exponents = np.log10(space["alpha"])
        np.testing.assert_allclose(exponents, np.arange(-6, 5))
        assert getattr(model, "fit_intercept", False) is False
        if method != "DOGC":
            assert space["beta"] == space["gamma"] == space["alpha"]
            assert 1.25 in space["p"]
            assert (min(space["p"]), max(space["p"])) == (0.25, 2.0)


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
        runs.run_all(wanted, cache, runs.Options(jobs=jobs))
        scores.append([cache.get(run)["acc"] for run in wanted])
    assert scores[0] == scores[1]


def test_on_halves_dogc_os_labels_rows_it_has_not_seen():
    X, y = protocol.rows_and_classes("wine", "z-score")
    known = runs.half(len(X), 3)
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
    monkeypatch.setattr(runs, "code_version", lambda: "0.1.0+another")
    assert len({before, changed, runs.key.__wrapped__(wanted)}) == 3


def test_the_version_of_the_code_is_blind_to_words_alone():
    code = 'def f(x):\n    """Words."""\n    return x  # a comment\n'
    said = 'def f(x):\n    """Other words."""\n    return x\n'
    other = 'def f(x):\n    """Words."""\n    return -x\n'
    assert runs._code_alone(code) == runs._code_alone(said) != runs._code_alone(other)
    assert runs.code_version().startswith(f"{dogc.__version__}+")


# ------------------------------------------------------------------------------- tables


@pytest.fixture(scope="module")
def quick_cache(tmp_path_factory):
    return runs.Cache(tmp_path_factory.mktemp("paper") / "runs.jsonl")


QUICK = runs.Options(n_runs=3, quick=True, progress=False)


def test_the_main_table_has_three_columns_for_every_number(quick_cache):
    rows = tables.main_table(quick_cache, ["lenses"], options=QUICK)
    assert len(rows) == (8 + 2 * 2) * len(METRICS)  # DOGC and DOGC-OS in two units
    for row in rows:
        assert 0.0 <= row.oracle <= 1.0
        assert 0.0 < row.oracle_share <= 1.0
        assert row.oracle_median <= row.oracle
        assert row.honest_q1 <= row.honest_median <= row.honest_q3
        assert row.oracle_preprocessing in protocol.PREPROCESSINGS
        assert row.units in (protocol.UNITS if row.method.startswith("DOGC") else ("",))
        if row.method in ("CAN", "PCAN", "CLR0", "CLR1"):  # no chance: the defaults are in the grid
            assert row.oracle >= row.honest_median
        if row.metric == "acc":
            assert row.printed == printed.ACC["lenses"][row.method]
        assert np.isnan(row.printed) == (row.metric == "purity")
    kmeans = {row.metric: row.honest_median for row in rows if row.method == "KM"}
    assert all(row.kmeans == kmeans[row.metric] for row in rows)


def test_every_number_of_the_table_comes_again_by_its_command(quick_cache, capsys):
    """Each measure names the setting and the seed that gave it."""
    for row in tables.main_table(quick_cache, ["lenses"], options=QUICK):
        if row.method in ("KM", "NMF", "DOGC-OS"):
            command.main(shlex.split(row.oracle_command)[2:])
            scores = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines())
            assert scores[rerun.SHOWN[row.metric]] == f"{row.oracle:.4f}", row
            command.main([*shlex.split(row.honest_command)[2:], "--jobs", "1"])
            lines = capsys.readouterr().out.splitlines()
            line = next(line for line in lines if line.startswith(rerun.SHOWN[row.metric]))
            assert f"{row.honest_median:.4f}" in line, row


def test_the_oracle_is_the_best_of_its_runs(quick_cache):
    found = oracle.oracle(quick_cache, "KM", "lenses", "", [], QUICK)
    y = load_uci("lenses").target
    X = protocol.z_scored("lenses")
    models = [METHODS["KM"](3).set_params(n_init=1, random_state=seed) for seed in range(3)]
    scores = [clustering_accuracy(y, model.fit(X).labels_) for model in models]
    best = found["acc"]
    assert best.score == max(scores)
    assert best.share == np.mean(np.array(scores) == max(scores))
    assert scores[json.loads(best.run.setting)["random_state"]] == best.score


def test_each_measure_keeps_the_run_that_gave_it(tmp_path, monkeypatch):
    """The best NMI is reported with its own setting, not with that of the best ACC."""

    def execute(run):
        setting = json.loads(run.setting)
        good = setting.get("bandwidth") == "local"
        lucky = setting["random_state"] == 2
        score = {"acc": 0.5 + 0.1 * good, "nmi_max": 0.3 - 0.1 * good + 0.05 * lucky}
        return {**score, "nmi_geometric": 0.1, "purity": 0.1, "seconds": 0.0}

    monkeypatch.setattr(runs, "execute", execute)
    cache = runs.Cache(tmp_path / "runs.jsonl")
    found = oracle.oracle(cache, "N-cut", "lenses", "", [], runs.Options(3, progress=False))
    assert json.loads(found["acc"].run.setting)["bandwidth"] == "local"
    assert found["acc"].share == 1.0
    winner = json.loads(found["nmi_max"].run.setting)
    assert winner.get("bandwidth") != "local"
    assert winner["random_state"] == 2
    assert found["nmi_max"].share == 1 / 3
    assert found["nmi_max"].score == pytest.approx(0.35)


def test_the_search_goes_on_around_the_best_draws(tmp_path, monkeypatch):
    """A score with one peak is climbed one parameter at a time, far above what draws find."""
    peak = {"alpha": 1e-3, "beta": 1e2, "gamma": 1e-5, "p": 1.25, "n_neighbors": 7}

    def execute(run):
        setting = json.loads(run.setting)
        score = sum(setting[name] == value for name, value in peak.items()) / len(peak)
        return dict.fromkeys(METRICS, score) | {"seconds": 0.0}

    monkeypatch.setattr(runs, "execute", execute)
    monkeypatch.setitem(oracle.DRAWS, "paper", 50)
    cache = runs.Cache(tmp_path / "runs.jsonl")
    options = runs.Options(2, progress=False)
    best = oracle.oracle(cache, "DOGC-OS", "lenses", "paper", [], options)["acc"]
    assert best.score == 1.0
    assert peak.items() <= json.loads(best.run.setting).items()


def test_the_halves_table_shows_both_parts(quick_cache):
    rows = tables.out_of_sample_table(quick_cache, ["wine"], n_splits=2, options=QUICK)
    assert [row.part for row in rows] == ["train", "test"] * 7
    by = {(row.method, row.part): row for row in rows}
    assert by["DOGC-OS", "test"].printed == 0.9326
    row = by["DOGC-OS", "test"]
    assert row.honest_median > 0.9
    words = shlex.split(row.oracle_command)[3:]
    options = command.run_parser().parse_args(words)
    setting = rerun.read_setting(options.set)
    again = rerun.runs_of("wine", "DOGC-OS", options.preprocessing, setting, 1, options.splits)
    assert np.median(rerun.scores_of(again, 1)["test_acc"]) == row.oracle


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


def test_a_restricted_run_takes_nothing_from_a_fuller_one(tmp_path, capsys):
    arguments = ["tables", "--quick", "--quiet", "--only", "acc", "--jobs", "1"]
    arguments += ["--out", str(tmp_path)]
    command.main([*arguments, "--datasets", "lenses", "zoo", "--runs", "3"])
    said = capsys.readouterr().out
    assert "lenses KM" in said  # the scores, not only the times
    before = table_files.read_rows(tmp_path / "main.csv", tables.Row)
    command.main([*arguments, "--datasets", "lenses", "--runs", "2"])
    assert f"kept {12 * len(METRICS)} rows of a fuller run" in capsys.readouterr().out
    assert str(table_files.read_rows(tmp_path / "main.csv", tables.Row)) == str(before)
    older = [row._replace(version="0.0.1", oracle=0.0) for row in before]
    (tmp_path / "main.csv").unlink()
    table_files.add_rows(tmp_path / "main.csv", older)
    command.main([*arguments, "--datasets", "lenses", "--runs", "3"])
    after = table_files.read_rows(tmp_path / "main.csv", tables.Row)
    assert len(after) == len(before)
    assert {row.data for row in after if row.version == "0.0.1"} == {"zoo"}


def test_methods_that_are_not_there_make_no_claim(tmp_path, capsys):
    """All three files are there, but of few methods and data sets."""
    options = ["--quick", "--quiet", "--datasets", "wine", "--jobs", "1", "--runs", "1"]
    command.main(["tables", *options, "--methods", "KM", "DOGC-OS", "--out", str(tmp_path)])
    assert "has the best ACC" not in capsys.readouterr().out
    assert len(list(tmp_path.glob("*.csv"))) == 3
    assert (tmp_path / "tables.html").exists()


def test_a_seed_of_the_defaults_is_one_of_the_seeds_of_the_defaults(tmp_path, monkeypatch):
    """Defaults that were tried beside the grid have ten starts, the grid has one."""

    def execute(run):
        setting = json.loads(run.setting)
        lucky = "n_init" not in setting and setting["random_state"] == 1
        return dict.fromkeys(METRICS, 0.9 if lucky else 0.5) | {"seconds": 0.0}

    monkeypatch.setattr(runs, "execute", execute)
    cache = runs.Cache(tmp_path / "runs.jsonl")
    options = runs.Options(4, progress=False)
    others = [runs.make_run("KM", "lenses", {"random_state": s}, "z-score") for s in range(4)]
    best = oracle.oracle(cache, "KM", "lenses", "", others, options)["acc"]
    assert (best.score, best.share) == (0.9, 0.25)
    assert np.median(best.seeds) == 0.5


@pytest.mark.parametrize("file", ["_checks.py", "datasets/data/wine.csv", "loop/steps.py"])
def test_the_version_of_the_code_sees_all_that_a_run_goes_through(file, tmp_path, monkeypatch):
    shutil.copytree(runs.SOURCE, tmp_path / "dogc")
    monkeypatch.setattr(runs, "SOURCE", tmp_path / "dogc")
    before = runs.code_version.__wrapped__()
    with open(tmp_path / "dogc" / file, "a", encoding="utf-8") as text:
        text.write("x = 1\n")
    assert runs.code_version.__wrapped__() != before


@pytest.mark.parametrize(
    "line", ['{"key": "a", "run": {"method": "KM"}, "result": null}', "\udcff"]
)
def test_lines_that_are_no_results_are_passed_over(line, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(line, encoding="utf-8", errors="surrogateescape")
    assert runs.Cache(path).results == {}


@pytest.mark.parametrize("text", ["data,method\n", "", "{header}\nwine,KM"])
def test_a_file_of_another_layout_is_refused_before_anything_is_run(
    text, tmp_path, capsys, monkeypatch
):
    text = text.format(header=",".join(tables.Row._fields))
    (tmp_path / "main.csv").write_text(text, encoding="utf-8")
    monkeypatch.setattr(runs, "execute", lambda run: pytest.fail("it was refused"))
    with pytest.raises(SystemExit):
        command.main(["tables", "--quick", "--out", str(tmp_path)])
    assert "name another --out" in capsys.readouterr().err
    assert (tmp_path / "main.csv").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tables", "--only", "moons"], "--only moons: not among the tables"),
        (["figures", "--only", "acc"], "--only acc: not among the figures"),
        (["tables", "--runs", "0"], "--runs must be at least 1"),
        (["tables", "--datasets", "iris"], "invalid choice: 'iris'"),
        (["nothing"], "invalid choice: 'nothing'"),
        (["run", "wine", "DOGC", "--set", "alpha"], "--set alpha: write name=value"),
        (["run", "wine", "DOGC", "--set", "alpa=1"], "Invalid parameter 'alpa'"),
        (["run", "wine", "DOGC", "--set", "alpha=-1"], "alpha must be"),
        (["run", "wine", "DOGC", "--seeds", "0"], "--seeds must be at least 1"),
        (["run", "wine", "KM", "--seeds", "2", "--splits", "2"], "do not go together"),
        (["run", "wine", "KM", "--seeds", "2", "--set", "random_state=1"], "leave it out of --set"),
        (["run", "wine", "DOGC", "--set", "alpha=1", "alpha=2"], "alpha is there twice"),
        (["run", "wine", "DOGC", "--set", "alpha={1,2}"], "alpha must be"),
        (["run", "iris", "DOGC"], "invalid choice: 'iris'"),
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
    assert "run it again to continue" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tables", "--only", "ablation", "--datasets", "lenses"], "name one of them"),
        (["figures", "--datasets", "wine"], "leave it out for figures"),
        (["figures", "--methods", "KM"], "leave it out for figures"),
        (["tables", "--jobs", "0"], "--jobs must be a number of processes"),
        (["tables", "--out", __file__], "is a file, not a folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 2
    assert sentence in capsys.readouterr().err


def test_two_commands_on_one_folder_keep_each_others_rows(tmp_path):
    path = tmp_path / "departures.csv"
    some = [departures.Row(name, "DOGC", f"line {i}", 1, *[0.5] * 9, "full", "1")
            for name in ("wine", "iris") for i in range(20)]  # fmt: skip
    threads = [
        threading.Thread(target=lambda rows=rows: [table_files.add_rows(path, [r]) for r in rows])
        for rows in (some[:20], some[20:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(table_files.read_rows(path, departures.Row)) == sorted(some)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_disk_is_said_in_one_sentence(tmp_path, capsys, monkeypatch):
    def fill(cache, *arguments):
        cache.path.symlink_to("/dev/full")
        run = runs.make_run("KM", "wine", {"random_state": 0}, "z-score")
        cache.add(run, {"acc": 1.0})

    monkeypatch.setattr(command, "main_table", fill)
    with pytest.raises(SystemExit) as ended:
        command.main(["tables", "--out", str(tmp_path)])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert f"cannot write '{tmp_path / 'runs.jsonl'}': the disk is full; free some space" in said

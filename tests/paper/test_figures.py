"""The figures: what is drawn, and that the page says what the committed files say."""

import csv
import pathlib
import re

import numpy as np
import pytest

from dogc.paper import command, figures, protocol
from dogc.paper.figures import FIGURES, largest_rise, settling_iteration

ROOT = pathlib.Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "reproduction"
PAGE = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8").split("## The figures\n")[1]


def rows_of(folder, name):
    with open(folder / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(name, **where):
    """Rows of a committed file."""
    return [row for row in rows_of(RESULTS, name) if where.items() <= row.items()]


def numbers(name, column, **where):
    return [float(row[column]) for row in table(name, **where)]


# ------------------------------------------------------------------------ what is drawn


def test_the_command_draws_figures(tmp_path):
    options = ["figures", "--only", "gaussians", "moons", "--quiet", "--out", str(tmp_path)]
    command.main([*options, "--runs", "2", "--jobs", "1"])
    for name in ("gaussians", "moons"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "figures.html").read_text(encoding="utf-8")
    assert text.count("data:image/png;base64") == 2
    assert {row["draws"] for row in rows_of(tmp_path, "gaussians")} == {"2"}
    assert {row["runs"] for row in rows_of(tmp_path, "moons")} == {"2"}


def test_36_clusters_have_36_colours_and_panels_say_their_noise():
    names, setting = ("KM", "DOGC-OS"), {"n_neighbors": 15, "max_iter": 5}
    drawn = figures._clusters_and_graph(names, "clusters36", 0.05, setting, np.eye(3))
    figure, _ = drawn
    assert "noise 0.05" in figure.get_suptitle()
    points = figure.axes[0].collections[0]
    assert len(np.unique(points.get_facecolors(), axis=0)) == 36


def test_curves_over_starts_are_written_beside_their_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "PAPER_RANGE", (1e-6, 1e4))
    options = ["figures", "--only", "alpha", "--quiet", "--out", str(tmp_path)]
    command.main([*options, "--runs", "2", "--jobs", "1"])
    rows = rows_of(tmp_path, "alpha")
    assert len(rows) == 2 * 3 * 2
    assert {row["starts"] for row in rows} == {"2"}
    for row in rows:
        assert row["acc_worst"] <= row["acc_median"] <= row["acc_best"]
    # From a random start labels move where alpha is small and stay where it is large.
    small, large = rows[:2]
    assert float(small["acc_worst"]) > 0.8 > 0.6 > float(large["acc_best"])


def test_the_figures_run_in_the_units_of_the_paper():
    setting = figures.base_setting("vote", "DOGC-OS")
    assert setting["penalties"] == "paper"
    assert setting["fit_intercept"] is False
    assert setting["n_neighbors"] == 44
    assert "fit_intercept" not in figures.base_setting("vote", "DOGC")


def test_directions_are_those_that_part_two_gaussians_while_they_are_far():
    X, _ = protocol.rows_and_classes("gaussians 4.0 0", "as drawn")
    lines = figures.directions(X)
    assert min(abs(line[1]) for line in lines.values()) > 0.95
    X, _ = protocol.rows_and_classes("gaussians 1.2 0", "as drawn")
    cosine = {name: abs(line[1]) for name, line in figures.directions(X).items()}
    assert max(cosine["PCA"], cosine["LPP"]) < 0.5 < 0.95 < min(cosine["DOGC"], cosine["DOGC-OS"])


def test_a_descent_has_settled_when_it_comes_near_its_end_for_good():
    there_and_away = np.array([9.0, 4.001, 5.0, 4.1, 4.0001, 4.0])
    counts = [settling_iteration(there_and_away, least) for least in (1e-3, 1e-1, 1e-9, 10.0)]
    assert counts == [5, 4, 6, 1]
    assert largest_rise(there_and_away) == pytest.approx(0.999 / 4.001)
    assert settling_iteration(np.array([3.0]), 1e-6) == 1
    assert largest_rise(np.array([3.0])) == largest_rise(np.array([3.0, 2.0, 2.0])) == 0.0


@pytest.mark.parametrize("method", ["DOGC", "DOGC-OS"])
def test_no_iteration_raises_the_objective_at_a_fixed_lambda(method):
    _, objective = figures.descent(method, "vote", "last", 0)
    assert len(objective) > 3
    assert largest_rise(objective) < 1e-12


# --------------------------------------------------------------- the page and its files


def cells(*values):
    return f"| {' | '.join(values)} |"


def spread_of(row, prefix=""):
    return " / ".join(f"{float(row[prefix + name]):.3f}" for name in ("worst", "median", "best"))


def by_columns(name, column, cell, **where):
    """Lines of a table: one for each value of ``column`` in the file, one cell for each row."""
    lines = {}
    for row in table(name, **where):
        lines.setdefault(row[column], []).append(cell(row))
    return lines


def gaussian_lines():
    of_data = ("acc_of_the_right_direction", "neighbours_in_the_other_cloud")
    for distance, found in by_columns("gaussians", "distance", spread_of).items():
        row = table("gaussians", distance=distance)[0]
        yield cells(distance, *found, *(f"{float(row[name]):.3f}" for name in of_data))


def cluster_lines():
    lines = by_columns("clusters36", "noise", lambda row: spread_of(row, "acc_"))
    return [cells(noise, *found) for noise, found in lines.items()]


def moon_lines():
    def right(row):
        return f"{row['right']} ({float(row['acc_median']):.3f})"

    lines = by_columns("moons", "noise", right)
    return [cells(noise, *found) for noise, found in lines.items()]


def medians(name, **where):
    return [f"{value:.3f}" for value in numbers(name, "acc_median", **where)]


def alpha_lines():
    for data in figures.FIXED:
        for line, own in figures.LINES.items():
            where = {name: str(value) for name, value in own.items()}
            yield cells(data, line, *medians("alpha", data=data, **where))


def power_lines():
    for data in figures.FIXED:
        for group in figures.GROUPS:
            where = {name: f"{value:g}" for name, value in group.items()}
            yield cells(data, ", ".join(where.values()), *medians("p", data=data, **where))


def sensitivity_lines():
    """Along one parameter, the two others at the paper's fixed values."""
    panels = {"alpha": "beta", "beta": "alpha", "gamma": "beta"}  # where that line lies
    for data, fixed in figures.FIXED.items():
        for name, panel in panels.items():
            where = {other: f"{value:g}" for other, value in fixed.items() if other != name}
            yield cells(data, name, *medians("sensitivity", data=data, panel=panel, **where))


def convergence_lines():
    def count(row):
        same = row["least"] == row["most"]
        return row["median"] if same else f"{row['median']} ({row['least']} to {row['most']})"

    for method in ("DOGC", "DOGC-OS"):
        for data in ("ecoli", "vote"):
            yield cells(method, data, *map(count, table("convergence", method=method, data=data)))


LINES = {
    "clusters36": cluster_lines,
    "moons": moon_lines,
    "gaussians": gaussian_lines,
    "alpha": alpha_lines,
    "p": power_lines,
    "sensitivity": sensitivity_lines,
    "convergence": convergence_lines,
}


def test_the_page_has_the_numbers_of_the_committed_files_and_no_others():
    assert LINES.keys() == FIGURES.keys()
    known = {line for lines in LINES.values() for line in lines()}
    for line in known:
        assert line in PAGE, line
    for line in PAGE.splitlines():
        if line not in known:
            assert not re.findall(r"\b[01]\.\d{3}\b", line), line


def test_the_committed_files_are_whole():
    sizes = {"clusters36": 27, "moons": 15, "gaussians": 16, "alpha": 36, "p": 48}
    sizes |= {"sensitivity": 2 * 3 * 36, "convergence": 16}
    many = {"clusters36": "100", "moons": "100", "gaussians": "30"}
    for name in FIGURES:
        rows = table(name)
        assert len(rows) == sizes[name]
        counts = {row.get("runs") or row.get("draws") or row.get("starts") for row in rows}
        assert counts == {many.get(name, "10")}


def gaussian(column, method, distance):
    (value,) = numbers("gaussians", column, method=method, distance=distance)
    return value


def test_two_gaussians_tell_the_story_of_the_paper_and_where_it_ends():
    for method in ("PCA", "LPP", "DOGC", "DOGC-OS"):
        assert gaussian("worst", method, "4.0") > 0.95
        assert gaussian("best", method, "0.5") < 0.5
    assert gaussian("best", "PCA", "1.8") < 0.55
    assert gaussian("worst", "LPP", "1.8") > 0.95
    for method in ("PCA", "LPP"):
        assert gaussian("best", method, "1.2") < 0.5
    for method in ("DOGC", "DOGC-OS"):
        assert gaussian("worst", method, "1.2") > 0.99
    assert gaussian("acc_of_the_right_direction", "PCA", "0.5") > 0.99  # they have not merged


def test_on_two_moons_the_learned_graph_finds_more_than_the_fixed_one():
    for noise in map(str, figures.MOON_NOISES):
        kmeans, fixed, learned = numbers("moons", "right", noise=noise)
        assert kmeans == 0
        assert learned > fixed
        _, fixed, learned = numbers("moons", "acc_worst", noise=noise)
        assert (learned < fixed) == (float(noise) >= 0.1)
        _, fixed, learned = numbers("moons", "acc_median", noise=noise)
        assert (learned < fixed) == (float(noise) == 0.16)


def test_on_36_clusters_both_of_ours_are_alike_and_above_kmeans():
    for noise in map(str, figures.NOISES):
        kmeans, relaxed, discrete = numbers("clusters36", "acc_median", noise=noise)
        assert discrete == relaxed >= kmeans
        best = numbers("clusters36", "acc_best", noise=noise)
        assert max(best) == min(best)  # of 100 runs even k-means has one as good


def test_the_objective_settles_as_the_page_says():
    assert max(numbers("convergence", "largest_rise")) < 1e-12
    last = {"lambda": "last"}
    assert max(numbers("convergence", "most", within="0.001", **last)) < 10
    assert min(numbers("convergence", "least", within="1e-06", **last)) == 12
    assert max(numbers("convergence", "most", within="1e-06", **last)) == 22
    assert max(numbers("convergence", "most", within="0.001", data="ecoli")) > 10


def test_parameters_matter_where_the_page_says():
    def found(**where):
        return numbers("sensitivity", "acc_median", **where)

    for data, enough in (("vote", 1e-2), ("ecoli", 1e-4)):
        fixed = {"panel": "beta", "data": data}
        for row in table("sensitivity", **fixed):
            if row["gamma"] in ("1e-06", "0.0001", "0.01", "1"):
                assert (float(row["acc_median"]) > 0.6) == (float(row["alpha"]) <= enough)
        for beta in ("1e-06", "0.0001", "0.01", "1", "100", "10000"):
            assert np.ptp(found(data=data, panel="alpha", beta=beta)[:4]) < 0.005  # gamma up to 1
    for power in (2, 4, 6):  # beta a hundred times alpha, and equal to it
        alpha = 10.0 ** (power - 2)
        where = {"data": "ecoli", "panel": "gamma", "alpha": f"{alpha:g}"}
        if alpha < 1e4:
            assert found(beta=f"{100 * alpha:g}", **where)[0] > 0.7
        assert found(beta=f"{alpha:g}", **where)[0] < 0.3
    for group in figures.GROUPS[:2]:
        where = {"data": "ecoli"} | {name: f"{value:g}" for name, value in group.items()}
        medians = numbers("p", "acc_median", **where)
        score = dict(zip(figures.POWERS, medians, strict=True))
        inside = [value for p, value in score.items() if 1 <= p <= 1.5]
        assert min(inside) >= max(value for p, value in score.items() if not 1 <= p <= 1.5)

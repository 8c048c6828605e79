"""How the defaults of DOGC were chosen: what else they could be, leaving one family out.

python benchmarks/choices.py [--rows 3000] [--only "init='spectral'"] [--out choices-output]

Every alternative differs from the defaults in one thing. For each family of data sets the
alternative that is best on the others is taken (the mean of their means), and its score there
is shown beside that of the defaults. The defaults were chosen with all families in sight: this
says whether any one family alone holds them up, not how they do on data never seen.

Needs the battery. choices.csv in `--out` has one row a set.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import battery_data
import highdim
import numpy as np
import real_data
from battery_data import Problem, write_csv
from tqdm.auto import tqdm

from dogc import DOGC
from dogc.fitting import few
from dogc.fitting.auto import geometry
from dogc.fitting.auto import n_neighbors as scales

DEFAULT = "the defaults"


def first_if_more(scores: Sequence[float]) -> int:
    """The start that agrees most, the first in a tie."""
    return int(np.argmax(scores))


class Constant(NamedTuple):
    """A number inside the package that is replaced during a run."""

    module: ModuleType
    name: str
    value: Any


ALTERNATIVES: dict[str, dict[str, Any] | Constant] = {
    DEFAULT: {},
    "init='spectral'": {"init": "spectral"},
    "init='modularity'": {"init": "modularity"},
    "spectral if it agrees at all": Constant(geometry, "better_start", first_if_more),
    "geometry='given'": {"geometry": "given"},
    "geometry='standard'": {"geometry": "standard"},
    "xi='row'": {"xi": "row"},
    "n_neighbors=10": {"n_neighbors": 10},
    "n_neighbors=20": {"n_neighbors": 20},
    "n_components=None": {"n_components": None},
    "alpha=0.1, always firm": {"alpha": 0.1},
    "scales 10, 20": Constant(scales, "SCALES", (10, 20)),
    "believed below 0.5": Constant(few, "FEWER", 0.5),
    "believed below 0.8": Constant(few, "FEWER", 0.8),
    "always believed": Constant(few, "FEWER", 1e9),
    "never believed": Constant(few, "FEWER", 0.0),
}


def score(problem: Problem, alternative: dict[str, Any] | Constant) -> float:
    """ARI of DOGC with one thing changed."""
    constant = isinstance(alternative, Constant)
    parameters = {} if constant else alternative
    changed = mock.patch.object(*alternative) if constant else contextlib.nullcontext()
    with changed:
        return battery_data.best_score(problem, lambda X, c: DOGC(c, **parameters).fit_predict(X))


def print_means(means: dict[str, np.ndarray], n_sets: dict[str, int]) -> None:
    """A row for each alternative: the mean of each family, and the mean of those."""
    width = {family: max(7, len(family)) for family in n_sets}
    print(f"\n{'mean ARI':<24}", *(f"{f:>{width[f]}}" for f in n_sets), "families", sep="  ")
    print(f"{'sets':<24}", *(f"{n:>{width[f]}}" for f, n in n_sets.items()), sep="  ")
    for name, row in means.items():
        cells = (f"{v:{width[f]}.4f}" for f, v in zip(n_sets, row, strict=True))
        print(f"{name:<24}", *cells, f"{row.mean():8.4f}", sep="  ")


def print_left_out(means: dict[str, np.ndarray], families: list[str]) -> None:
    """For each family: the best alternative on the others, and what it scores here.

    The two families of real data have the same rows, so they are left out together as well.
    """
    print(f"\n{'left out':<20}{'best on the others':<24}{'there':>8}{'defaults':>10}{'gain':>9}")
    single = {family: [family] for family in families}
    scores = [print_one(means, families, *item) for item in single.items()]
    there, default = np.mean(scores, axis=0)
    print(f"{'mean':<44}{there:8.4f}{default:10.4f}{there - default:+9.4f}")
    print_one(means, families, "both real", list(real_data.REAL))


def print_one(
    means: dict[str, np.ndarray], families: list[str], title: str, left_out: list[str]
) -> tuple[float, float]:
    """Print the scores of the defaults and of the best alternative on the other families."""
    out = np.isin(families, left_out)
    others = {name: row[~out].mean() for name, row in means.items()}
    best = max(others, key=others.__getitem__)  # the defaults come first, and win a tie
    there, default = float(means[best][out].mean()), float(means[DEFAULT][out].mean())
    print(f"{title:<20}{best:<24}{there:8.4f}{default:10.4f}{there - default:+9.4f}")
    return there, default


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=3000, help="leave larger sets out")
    parser.add_argument("--only", nargs="+", choices=ALTERNATIVES, default=list(ALTERNATIVES),
                        metavar="NAME")  # fmt: skip
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("choices-output"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    problems = list(battery_data.problems(most_rows=options.rows))
    if not problems:
        parser.error(f"no battery in {battery_data.BATTERY}")
    more = [*real_data.real_problems(), *highdim.highdim_problems()]
    problems += [p for p in more if len(p.X) <= options.rows]
    tried = {name: ALTERNATIVES[name] for name in dict.fromkeys((DEFAULT, *options.only))}
    table = [
        [score(problem, alternative) for alternative in tried.values()]
        for problem in tqdm(problems, desc="sets")
    ]
    kinds = [p.family for p in problems]
    families = [f for f in (*battery_data.FAMILIES, *real_data.REAL, highdim.FAMILY) if f in kinds]
    rows = {f: [row for row, kind in zip(table, kinds, strict=True) if kind == f] for f in families}
    columns = np.array([np.mean(rows[f], axis=0) for f in families]).T
    means = dict(zip(tried, columns, strict=True))
    print_means(means, {f: len(rows[f]) for f in families})
    print_left_out(means, families)
    cells = [
        (p.name, p.family, len(p.X), *(f"{value:.4f}" for value in row))
        for p, row in zip(problems, table, strict=True)
    ]
    path = write_csv(options.out / "choices.csv", ("set", "family", "n", *tried), cells)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()

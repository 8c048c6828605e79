"""The battery: clustering problems with several reference labellings, and their protocol."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

BATTERY = pathlib.Path(__file__).parents[2] / "shared" / "battery"

# The suite that came first, and a second one, in which most sets are planar.
FIRST = ("fcps", "graves", "sipu")
SECOND = ("deric planar", "deric more columns")
FAMILIES = (*FIRST, *SECOND)
SMALL = 3000  # rows; 26 sets of the first suite have no more

# Sets to which noise columns are added, to see whether a projection pays.
NOISY = (
    "hepta", "tetra", "lsun", "twodiamonds", "chainlink", "r15",
    "aggregation", "jain", "flame", "compound", "line", "a1",
)  # fmt: skip


class Problem(NamedTuple):
    """Rows, scaled as the protocol says, and what may count as right."""

    name: str
    X: np.ndarray
    references: list[np.ndarray]  # 1..c are clusters, 0 is noise and left out of the score
    family: str = ""

    @property
    def counts(self) -> list[int]:
        """The numbers of clusters that the references have."""
        return sorted({int(reference.max()) for reference in self.references})


def problems(folder: pathlib.Path = BATTERY, most_rows: int = 10**9) -> Iterator[Problem]:
    """All problems of at most so many rows, by name of set."""
    for path in sorted(folder.glob("*/*.data.gz")):
        X = np.loadtxt(path, ndmin=2)
        if len(X) > most_rows:
            continue
        X = X[:, X.std(axis=0) > 0]
        X = X - X.mean(axis=0)
        name = path.name.removesuffix(".data.gz")
        labels = sorted(path.parent.glob(f"{name}.labels*.gz"))
        references = [np.loadtxt(file).astype(int) for file in labels]
        yield Problem(name, X / X.std(), references, _family(path.parent.name, X.shape[1]))


def _family(folder: str, n_columns: int) -> str:
    """The folder; one that has sets of all kinds is split by their number of columns."""
    if folder != "deric":
        return folder
    return SECOND[0] if n_columns == 2 else SECOND[1]


def is_early(problem: Problem) -> bool:
    """Whether it is one of the 26 small sets of the first suite."""
    return problem.family in FIRST and len(problem.X) <= SMALL


def with_noise(problem: Problem) -> Problem:
    """Fifty more columns of Gaussian noise of standard deviation 0.3."""
    noise = np.random.default_rng(0).standard_normal((len(problem.X), 50))
    return problem._replace(X=np.hstack([problem.X, 0.3 * noise]))


def score(problem: Problem, labels: np.ndarray) -> float:
    """The largest adjusted Rand index over the references with as many clusters."""
    return max(
        adjusted_rand_score(reference[reference > 0], labels[reference > 0])
        for reference in problem.references
    )


def best_score(problem: Problem, cluster: Callable[[np.ndarray, int], np.ndarray]) -> float:
    """Cluster once for every count among the references; the best score counts."""
    scores = []
    for c in problem.counts:
        same = [r for r in problem.references if r.max() == c]
        scores.append(score(problem._replace(references=same), cluster(problem.X, c)))
    return max(scores)


def write_csv(path: pathlib.Path, header: Sequence[str], rows: Iterable[Sequence]) -> pathlib.Path:
    """Write a table as a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return path

"""The defaults on problems nobody here wrote."""

import pathlib
import sys

import numpy as np
import pytest

from dogc import DOGC, DOGCOS

# At the end: a benchmark there has the name of a package.
sys.path.append(str(pathlib.Path(__file__).parents[2] / "benchmarks"))
import battery_data

QUICK = ("hepta", "lsun", "jain", "spiral", "zigzag_outliers", "flame", "line", "dense", "compound")

pytestmark = pytest.mark.skipif(
    not battery_data.BATTERY.is_dir(),
    reason="needs the battery of clustering problems, which is not part of the package",
)


def mean_score(cls, problems, **parameters):
    def cluster(X, c):
        return cls(c, **parameters).fit_predict(X)

    return float(np.mean([battery_data.best_score(p, cluster) for p in problems]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("cls", [DOGC, DOGCOS], ids=lambda e: e.__name__)
def test_a_few_quick_sets_are_nearly_all_right(cls):
    problems = [p for p in battery_data.problems(most_rows=800) if p.name in QUICK]
    assert len(problems) == len(QUICK)
    assert mean_score(cls, problems) > 0.97


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_noise_columns_are_seen_through():
    problems = [p for p in battery_data.problems(most_rows=400) if p.name in battery_data.NOISY]
    noisy = [battery_data.with_noise(p) for p in problems]
    assert mean_score(DOGC, noisy) > mean_score(DOGC, noisy, n_components=None) + 0.05


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_counts_are_proposed_on_most_quick_sets():
    problems = [p for p in battery_data.problems(most_rows=800) if p.name in QUICK]
    hits = [DOGC("auto").fit(p.X).n_clusters_ in p.counts for p in problems]
    assert sum(hits) >= len(hits) - 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_sets_of_up_to_three_thousand_rows():
    problems = list(battery_data.problems(most_rows=3000))
    first = [p for p in problems if battery_data.is_early(p)]
    assert mean_score(DOGC, first) >= 0.955
    assert mean_score(DOGC, [p for p in problems if "deric" in p.family]) >= 0.76

"""Tables of numbers and categories: DOGC after MixedEncoder beside k-means after four encodings.

DOGC is deterministic. Each of the others has ten seeds, with ten starts each; the table has their
mean, and in brackets what the mean over the tables is for the worst and for the best seed.

python benchmarks/tables.py                  # customers, generated segments and the ten real tables
python benchmarks/tables.py --only real
"""

from __future__ import annotations

import argparse
import pathlib
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from real_data import CODES, TABLES
from sklearn.cluster import KMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from dogc import DOGC, MixedEncoder
from dogc.app.files.clustering import asked_of

Table = tuple[str, pd.DataFrame, np.ndarray]


def customers(seed: int, n: int = 5_000, noise: float = 1.0) -> Table:
    """Four segments of customers; region, mobile and phone say nothing of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    means = np.array([[25, 28, 300, 12], [42, 60, 900, 4], [55, 85, 400, 2], [35, 40, 150, 8]])
    values = rng.normal(means[y], np.array([6, 9, 90, 1.6]) * noise)
    frame = pd.DataFrame(values, columns=["age", "income", "spend", "visits"])
    plans = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7], [0.4, 0.5, 0.1]])
    letters = np.where(rng.random(n) < np.array([0.8, 0.4, 0.2, 0.6])[y], "yes", "no")
    frame["newsletter"] = letters
    frame["plan"] = [rng.choice(["basic", "plus", "pro"], p=plans[k]) for k in y]
    frame["mobile"] = rng.choice(["yes", "no"], n)
    frame["region"] = rng.choice(list("ABCDEF"), n)
    frame["phone"] = rng.choice(["android", "ios"], n)
    return f"customers {noise:g} ({seed})", frame, y


def segments(seed: int) -> Table:
    """Random segments: some columns carry them, others do not."""
    rng = np.random.default_rng(seed)
    c, n = int(rng.integers(3, 6)), int(rng.choice([400, 1000, 2000]))
    y = rng.choice(c, n, p=rng.dirichlet(np.full(c, 8.0)))
    apart, columns = rng.uniform(1.0, 3.0), {}
    for j in range(rng.integers(2, 6)):
        means = rng.normal(size=c) * apart if rng.random() < 0.8 else np.zeros(c)
        values = means[y] + rng.normal(size=n)
        columns[f"number{j}"] = np.exp(0.4 * values) if rng.random() < 0.3 else values
    for j in range(rng.integers(2, 9)):
        levels = int(rng.integers(2, 7))
        same = np.tile(rng.dirichlet(np.full(levels, 5.0)), (c, 1))
        shares = rng.dirichlet(np.ones(levels), c) if rng.random() < 0.6 else same
        columns[f"word{j}"] = np.array([f"w{rng.choice(levels, p=shares[k])}" for k in y])
    return f"segments {seed}", pd.DataFrame(columns), y


def real_tables() -> Iterator[Table]:
    """The tables that lie beside the repository, if they do."""
    for path in sorted(pathlib.Path(TABLES).glob("*.csv")):
        frame = pd.read_csv(path)
        y = np.unique(frame.iloc[:, -1].astype(str), return_inverse=True)[1]
        frame = frame.iloc[:, :-1].dropna(axis=1, how="all")
        codes = [name for name in CODES.get(path.stem, ()) if name in frame]
        frame[codes] = frame[codes].astype(str)
        yield path.stem, frame.loc[:, frame.nunique(dropna=False) > 1], y


def one_hot(frame: pd.DataFrame) -> np.ndarray:
    """Numbers standardised, categories as zeros and ones."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    words = OneHotEncoder(sparse_output=False)
    encoder = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )
    return np.asarray(encoder.fit_transform(frame))


def famd(frame: pd.DataFrame) -> np.ndarray:
    """Factor analysis of mixed data: five components, levels divided by the root of their share."""
    X = one_hot(frame)
    n_numbers = frame.select_dtypes("number").shape[1]
    X[:, n_numbers:] /= np.sqrt(X[:, n_numbers:].mean(axis=0))
    return PCA(min(5, *X.shape), random_state=0).fit_transform(X)


def prototypes(frame: pd.DataFrame) -> np.ndarray:
    """k-prototypes by k-means: half of the squared distance of zeros and ones counts mismatches."""
    X = one_hot(frame)
    n_numbers = frame.select_dtypes("number").shape[1]
    gamma = 0.5 * (X[:, :n_numbers].std(axis=0).mean() if n_numbers else 1.0)
    X[:, n_numbers:] *= np.sqrt(gamma / 2)
    return X


def dogc_scores(frame: pd.DataFrame, y: np.ndarray) -> list[float]:
    """As ``dogc cluster`` does it: wide neighbourhoods where columns of few values matter."""
    encoder = MixedEncoder()
    X = encoder.fit_transform(frame)
    asked = asked_of(encoder, {})
    model = DOGC(len(np.unique(y)), **{k: v for k, v in asked.items() if k != "rule"})
    return [adjusted_rand_score(y, model.fit(X).labels_)] * SEEDS


def k_means_scores(X: np.ndarray, y: np.ndarray) -> list[float]:
    """One score for each seed."""
    c = len(np.unique(y))
    fits = (KMeans(c, n_init=10, random_state=seed).fit(X) for seed in range(SEEDS))
    return [adjusted_rand_score(y, fit.labels_) for fit in fits]


SEEDS = 10
METHODS: dict[str, Callable[[pd.DataFrame, np.ndarray], list[float]]] = {
    "MixedEncoder, DOGC": dogc_scores,
    "MixedEncoder, k-means": lambda frame, y: k_means_scores(
        MixedEncoder().fit_transform(frame), y
    ),
    "one-hot, k-means": lambda frame, y: k_means_scores(one_hot(frame), y),
    "FAMD, k-means": lambda frame, y: k_means_scores(famd(frame), y),
    "k-prototypes": lambda frame, y: k_means_scores(prototypes(frame), y),
}


def main() -> None:
    """Print the table of adjusted Rand indices, and their means by family."""
    tool = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tool.add_argument("--seeds", type=int, default=15)
    tool.add_argument("--only", help="customers, segments or real")
    given = tool.parse_args()
    families = {
        "customers": (customers(s, noise=z) for s in range(2) for z in (1.0, 1.5)),
        "segments": (segments(s) for s in range(200, 200 + given.seeds)),
        "real": real_tables(),
    }
    print(f"{'':22}" + "".join(f"{name:>23}" for name in METHODS))
    for family, tables in families.items():
        if given.only not in (None, family):
            continue
        found = []  # tables x methods x seeds
        for name, frame, y in tables:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append([scores(frame, y) for scores in METHODS.values()])
            means = np.mean(found[-1], axis=1)
            print(f"{name:22}" + "".join(f"{score:23.3f}" for score in means), flush=True)
        if found:
            seeds = np.mean(found, axis=0)
            told = [f"{s.mean():.3f} ({s.min():.3f}-{s.max():.3f})" for s in seeds]
            print(f"{'mean of ' + family:22}" + "".join(f"{words:>23}" for words in told))


if __name__ == "__main__":
    main()

"""The numbers that the paper prints, and which of them cannot be right."""

from __future__ import annotations

import functools
import pathlib

import pandas as pd

from ..datasets import UCI_NAMES, load_uci

# Tables "ACC on Real Datasets" and "NMI on Real Datasets"; "Performance of DOGC-I, DOGC-II and
# DOGC-OS on five UCI datasets"; "ACC on training part" and "on testing part of five datasets".
PRINTED = pd.read_csv(pathlib.Path(__file__).with_name("printed.csv"), index_col=["table", "data"])


def table(name: str) -> dict[str, dict[str, float]]:
    """One table of the paper: data set -> method -> value."""
    return PRINTED.loc[name].dropna(axis="columns").T.to_dict()


ACC, NMI = table("acc"), table("nmi")
ABLATION_ACC, ABLATION_NMI = table("ablation acc"), table("ablation nmi")
TRAIN_ACC, TEST_ACC = table("train acc"), table("test acc")
OURS = ("DOGC", "DOGC-OS")
MAIN_METHODS = tuple(ACC["wine"])
ABLATIONS = tuple(ABLATION_ACC["wine"])
OUT_OF_SAMPLE_METHODS = tuple(TEST_ACC["wine"])
FIVE = tuple(TEST_ACC)

# The paper counts one row less of these than the files have.
PAPER_ROWS = {"solar": 322, "vote": 434}


def is_share_of(value: float, n: int) -> bool:
    """Whether a printed accuracy, rounded or cut, can be a number of right rows out of n.

    Examples
    --------
    >>> is_share_of(0.5, 24), is_share_of(0.7624, 24)
    (True, False)
    """
    return abs(round(value * n) / n - value) < 1e-4


@functools.cache
def doubts() -> dict[tuple[str, str], str]:
    """Entries of the ACC table that cannot be right as printed, with the reason."""
    found = {}
    for name in UCI_NAMES:
        n = len(load_uci(name).target)
        counts = {n, PAPER_ROWS.get(name, n)}
        for method, value in ACC[name].items():
            if not any(is_share_of(value, count) for count in counts):
                sizes = " or ".join(f"1/{count}" for count in sorted(counts))
                found[name, method] = f"no multiple of {sizes}"
            elif not is_share_of(value, n):
                found[name, method] = f"a multiple of 1/{PAPER_ROWS[name]}, not of 1/{n}"
    for method in ("KM", "R-cut", "N-cut", "NMF"):
        found["wine", method] = "ACC of unscaled data beside NMI of scaled data"
    return found

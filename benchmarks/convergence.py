"""How soon the objective settles at fixed lambda, on Vote and Ecoli.

python benchmarks/convergence.py [--data FOLDER]

The paper claims fewer than ten iterations. Lambda is fixed at three values around the one
at which the search would start; "settled" is the first iteration after which the objective
falls by less than a relative 1e-4 an iteration.
"""

from __future__ import annotations

import argparse
import pathlib
import warnings

import numpy as np
import uci_data

from dogc import DOGC, DOGCOS


def settles(values, tol):
    drops = -np.diff(values) / np.abs(values[1:])
    rising = bool((drops < -1e-10).any())
    late = np.flatnonzero(np.abs(drops) > tol)
    return (int(late[-1]) + 2 if late.size else 1), rising


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, default=uci_data.DEFAULT_FOLDER)
    options = parser.parse_args()
    if not options.data.is_dir():
        print("Vote and Ecoli: left out; name the folder of the UCI files with --data")
        return
    warnings.simplefilter("ignore")
    for name in ("vote", "ecoli"):
        X, truth = uci_data.load(name, options.data)
        c, k = truth.max() + 1, round(len(X) / 10)
        unit = DOGC(c, n_neighbors=k).fit(X).history_[0].lam
        for cls in (DOGC, DOGCOS):
            for factor in (0.25, 1.0, 4.0):
                for init in ("spectral", "random"):
                    model = cls(
                        c,
                        n_neighbors=k,
                        lam=factor * unit,
                        init=init,
                        random_state=0,
                        tol=0.0,
                        max_iter=40,
                    ).fit(X)
                    values = np.array([record.objective for record in model.history_])
                    at, rising = settles(values, 1e-4)
                    first = "  ".join(f"{value:.5f}" for value in values[:6])
                    print(
                        f"{name:<6}{cls.__name__:<8}lambda {factor:4.2f} x start  {init:<9}"
                        f"settled at {at:2d}  {'RISES' if rising else 'never rises'}   {first}"
                    )


if __name__ == "__main__":
    main()

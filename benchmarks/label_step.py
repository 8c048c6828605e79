"""Coordinate descent on the discrete N-cut of the learned graph, as a Y step beside the rotation.

python benchmarks/label_step.py [--rows 1500] [--part battery highdim] [--out label-step-output]

The rotation finds the labels nearest to F; coordinate descent (the idea of Fast-CD) goes on from
them and moves one row at a time to the cluster in which the normalised cut of the learned graph is
lower. The variant is DOGC with that step at the end of each iteration. ARI of both at the defaults.
"""

from __future__ import annotations

import argparse
import pathlib
import time
import warnings

import battery_data
import highdim
import numpy as np
import scipy.sparse as sp
from battery_data import write_csv

from dogc import DOGC, methods
from dogc.methods import Problem, State

SWEEPS = 20


def lower_cut(A: sp.csr_array, labels: np.ndarray, c: int) -> np.ndarray:
    """Move single rows while the normalised cut falls; no cluster is left empty."""
    labels, degree = labels.copy(), np.asarray(A.sum(axis=1)).ravel()
    volume = np.bincount(labels, degree, c)
    coo = A.tocoo()
    same = labels[coo.row] == labels[coo.col]
    inside = np.bincount(labels[coo.row[same]], coo.data[same], c)
    size = np.bincount(labels, minlength=c)
    for _ in range(SWEEPS):
        border = np.unique(coo.row[labels[coo.row] != labels[coo.col]])
        moved = 0
        for i in border:
            old = labels[i]
            if size[old] == 1:
                continue
            begin, end = A.indptr[i], A.indptr[i + 1]
            links = np.bincount(labels[A.indices[begin:end]], A.data[begin:end], c)
            without = (inside[old] - 2 * links[old]) / max(volume[old] - degree[i], 1e-300)
            loss = inside[old] / volume[old] - without
            gain = (inside + 2 * links) / (volume + degree[i]) - inside / volume
            gain[old] = loss
            new = int(gain.argmax())
            if gain[new] <= loss + 1e-12:
                continue
            inside[old] -= 2 * links[old]
            inside[new] += 2 * links[new]
            volume[old] -= degree[i]
            volume[new] += degree[i]
            size[old] -= 1
            size[new] += 1
            labels[i], moved = new, moved + 1
        if not moved:
            break
    return labels


def step_Y_cut(problem: Problem, state: State) -> State:
    """The labels of the rotation, and from there down the cut of the learned graph."""
    state = methods.steps.step_Y(problem, state)
    L = state.graph.L.tocoo()
    root = np.broadcast_to(problem.nodes.root, (problem.n, 1))[:, 0]
    weights = -L.data * root[L.row] * root[L.col]
    off = (L.row != L.col) & (weights > 0)
    shape = (problem.n, problem.n)
    A = sp.csr_array((weights[off], (L.row[off], L.col[off])), shape=shape)
    return state._replace(Y=lower_cut(A, state.Y, problem.c))


class CutDOGC(DOGC):
    """DOGC whose labels go down the cut of the learned graph."""

    method = methods.DOGC._replace(name="cut", steps=(*methods.DOGC.steps[:-1], step_Y_cut))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--part", nargs="+", default=["battery", "highdim"])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("label-step-output"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.out.mkdir(parents=True, exist_ok=True)
    for part in options.part:
        found = highdim.highdim_problems() if part == "highdim" else battery_data.problems()
        rows = []
        for problem in found:
            if len(problem.X) > options.rows:
                continue
            line: list = [problem.name]
            for cls in (DOGC, CutDOGC):
                began = time.process_time()
                ari = battery_data.best_score(problem, lambda X, c, cls=cls: cls(c).fit_predict(X))
                line += [round(ari, 4), round(time.process_time() - began, 2)]
            rows.append(line)
            print(part, *line, flush=True)
            header = ["data", "ari", "seconds", "cut_ari", "cut_seconds"]
            write_csv(options.out / f"label-step-{part}.csv", header, rows)
        table = np.array([line[1:] for line in rows])
        better, worse = np.sum(table[:, 2] > table[:, 0]), np.sum(table[:, 2] < table[:, 0])
        print(part, f"mean ARI {table[:, 0].mean():.4f}, with the cut {table[:, 2].mean():.4f};",
              f"better on {better}, worse on {worse} of {len(table)}")  # fmt: skip


if __name__ == "__main__":
    main()

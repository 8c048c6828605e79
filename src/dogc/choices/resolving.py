"""The choice of the number of representatives, and the solution with all rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..loop.watch import Watch
from ..numerics import discrete
from ..numerics.matrix import Matrix
from ..rows import links
from ..rows.representatives import (
    ManyRows,
    Nodes,
    Options,
    Representatives,
    Resolved,
    Solve,
    Solved,
    make_nodes,
    make_representatives,
    pass_over,
    row_votes,
)
from . import n_representatives as resolutions


class Trial(NamedTuple):
    """One number of representatives, tried on the sample."""

    fitted: Representatives
    nodes: Nodes
    rows: links.RowLinks  # the links of the sample
    solved: Solved | None = None
    labels: np.ndarray = np.empty(0)  # of the rows of the sample


def make_trial(many: ManyRows, p: int, options: Options) -> Trial:
    """The graph of p representatives and the rows of the sample alone, not solved yet."""
    fitted = make_representatives(many, p, options)
    rows, sums = pass_over(fitted, many.sample.X, many.sample.weight, options.n_jobs)
    return Trial(fitted, make_nodes(fitted, sums, many, options), rows)


def try_numbers(
    many: ManyRows,
    trials: dict[int, Trial],
    firmness: float,
    solve: Solve,
    options: Options,
    watch: Watch,
) -> resolutions.ResolutionChoice:
    """The number of representatives that another confirms; what came of each is in ``trials``."""
    halted = False

    def labels_at(p: int) -> np.ndarray | None:
        nonlocal halted
        if halted or (trials and watch.overdue):
            return None
        trial = trials.get(p) or make_trial(many, p, options)
        solved = solve(trial.nodes, watch.quiet(), "spectral", firmness)
        halted = solved.halted
        labels, _, _ = row_votes(trial.rows, solved.labels, options.n_jobs)
        trials[p] = trial._replace(solved=solved, labels=labels)
        return labels

    return resolutions.choose_resolution(labels_at, many.numbers, many.sample.weight)


def choose(
    many: ManyRows, solve: Solve, options: Options, watch: Watch
) -> tuple[resolutions.ResolutionChoice, Trial, float]:
    """The number of representatives, what came of it on the sample, and with which firmness.

    Where resolutions agree in part, because clusters overlap, they are asked once more with
    discrete labels that hold the graph more firmly; what agrees most is taken.
    """
    trials: dict[int, Trial] = {}
    choice = try_numbers(many, trials, 1.0, solve, options, watch)
    found = choice, trials[choice.chosen], 1.0
    ended = watch.overdue or any(trial.solved.halted for trial in trials.values() if trial.solved)
    partly = resolutions.NOTHING < choice.confirmed < resolutions.AGREED
    if options.firmer is not None and partly and not ended:
        firm = try_numbers(many, trials, options.firmer, solve, options, watch)
        if firm.confirmed > choice.confirmed:
            found = firm, trials[firm.chosen], options.firmer
    return found


def resolve(X: Matrix, many: ManyRows, solve: Solve, options: Options, watch: Watch) -> Resolved:
    """Choose the number of representatives on the sample, then solve with all rows.

    What all rows say is taken if it agrees with what the sample said as far as two resolutions
    did; the labels of the sample are at least confirmed.
    """
    trial, firmness = None, 1.0
    with watch.phase("choices"):
        if len(many.numbers) > 1:
            choice, trial, firmness = choose(many, solve, options, watch)
            fitted = trial.fitted
        else:
            choice = resolutions.only_resolution(many.numbers[0])
            fitted = make_representatives(many, choice.chosen, options)
    with watch.phase("links"):
        rows, sums = pass_over(fitted, X, many.weight, options.n_jobs, watch)
    nodes = make_nodes(fitted, sums, many, options)
    if trial is not None and trial.solved is not None and trial.solved.halted:
        return Resolved(fitted, nodes, trial.solved, rows, choice)
    init = first_labels(rows, options.init, many.c, len(fitted.R))
    solved = solve(nodes, watch, init, firmness)
    if trial is not None and isinstance(init, str) and not solved.halted:
        solved = confirmed(solved, trial, choice, many, options)
    return Resolved(fitted, nodes, solved, rows, choice)


def confirmed(
    solved: Solved,
    trial: Trial,
    choice: resolutions.ResolutionChoice,
    many: ManyRows,
    options: Options,
) -> Solved:
    """What all rows say, or what the sample said where the two disagree."""
    assert trial.solved is not None
    labels, _, _ = row_votes(trial.rows, solved.labels, options.n_jobs)
    agreement = discrete.adjusted_rand(labels, trial.labels, many.sample.weight)
    return trial.solved if agreement < min(resolutions.AGREED, choice.confirmed) else solved


def first_labels(rows: links.RowLinks, init: Any, c: int, p: int) -> Any:
    """Where to start from: labels of rows become labels of representatives, if all survive."""
    if isinstance(init, str):
        return init
    votes = np.zeros((p, c), dtype=np.int64)
    np.add.at(votes, (rows.idx, np.unique(init, return_inverse=True)[1][:, None]), rows.share)
    labels = votes.argmax(axis=1)
    return labels if len(np.unique(labels)) == c else "spectral"

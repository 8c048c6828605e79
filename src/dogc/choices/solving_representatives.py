"""From many rows to a solution on representatives: their number is chosen, then the loop runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..loop.watch import Watch
from ..numerics import discrete
from ..rows.representatives import (
    LinkedRows,
    ManyRows,
    NodeGraph,
    Options,
    Representatives,
    make_nodes,
    make_representatives,
)
from .n_representatives import (
    AGREED,
    NOTHING,
    ResolutionChoice,
    are_enough,
    only_resolution,
    weigh_resolutions,
)


class Solved(NamedTuple):
    """What became of a graph of representatives."""

    labels: np.ndarray  # (p,)
    halted: bool  # somebody wanted an end
    outcome: Any


# What solves a graph of representatives from a start, a word or labels, with alpha multiplied.
Solve = Callable[[NodeGraph, Watch, Any, float], Solved]


class Resolved(NamedTuple):
    """The labels of representatives, and how rows hang on them."""

    fitted: Representatives
    nodes: NodeGraph
    solved: Solved
    rows: LinkedRows
    choice: ResolutionChoice


class Trial(NamedTuple):
    """One number of representatives, tried on the sample."""

    fitted: Representatives
    nodes: NodeGraph
    rows: LinkedRows  # the rows of the sample
    each: float  # seconds that it took to compare one of them with one representative
    solved: Solved | None = None
    labels: np.ndarray = np.empty(0)  # of the rows of the sample


class TrialChoice(NamedTuple):
    """The number of representatives, what came of it on the sample, and with which firmness."""

    resolutions: ResolutionChoice
    trial: Trial
    firmness: float


def make_trial(many: ManyRows, p: int, options: Options, watch: Watch) -> Trial:
    """The graph of p representatives and the rows of the sample alone, not solved yet."""
    fitted = make_representatives(many, p, options, watch.end.is_near)
    began = watch.clock()
    rows, sums = many.rows.held(many.sample).link(fitted)
    each = (watch.clock() - began) / (len(many.sample.keys) * len(fitted.R))
    return Trial(fitted, make_nodes(fitted, sums, many, options), rows, each)


def solve_trial(trial: Trial, firmness: float, solve: Solve, watch: Watch) -> Trial:
    """The same, solved; the rows of the sample follow their representatives."""
    solved = solve(trial.nodes, watch.quiet(), "spectral", firmness)
    return trial._replace(solved=solved, labels=sample_labels(trial, solved))


def sample_labels(trial: Trial, solved: Solved) -> np.ndarray:
    """The labels of the rows of the sample where representatives have these."""
    _, n_votes = trial.rows.count(solved.labels)
    fitted = trial.fitted._replace(labels=solved.labels, n_votes=n_votes)
    return np.asarray(trial.rows.facts(fitted).labels)


def try_numbers(
    many: ManyRows,
    known: dict[int, Trial],
    firmness: float,
    solve: Solve,
    options: Options,
    watch: Watch,
) -> dict[int, Trial]:
    """Numbers of representatives in rising order until two in a row agree; graphs may be known."""
    tried: dict[int, Trial] = {}
    pairs: list[float] = []
    for p in many.numbers:
        last_trial = next(reversed((tried or known).values()), None)
        # There must be time left to link all rows.
        if last_trial and watch.end.is_near(last_trial.each * p * (many.rows.n or 0)):
            break
        watch.trying(f"{p:,} representatives")
        trial = known.get(p) or make_trial(many, p, options, watch)
        trial = solve_trial(trial, firmness, solve, watch)
        assert trial.solved is not None
        if tried and trial.solved.halted:
            break
        if tried:
            last = list(tried.values())[-1].labels
            pairs.append(discrete.adjusted_rand(trial.labels, last, many.sample.weight))
        tried[p] = trial
        if trial.solved.halted or are_enough(pairs):
            break
    return tried


def weighed(tried: dict[int, Trial], firmness: float, many: ManyRows) -> TrialChoice:
    """The number that another confirms."""
    labels = {p: trial.labels for p, trial in tried.items()}
    choice = weigh_resolutions(labels, many.sample.weight)
    return TrialChoice(choice, tried[choice.chosen], firmness)


def choose_number(many: ManyRows, solve: Solve, options: Options, watch: Watch) -> TrialChoice:
    """The number of representatives.

    Where resolutions agree in part, because clusters overlap, they are asked once more with
    discrete labels that hold the graph more firmly; what agrees most is taken.
    """
    tried = try_numbers(many, {}, 1.0, solve, options, watch)
    found = weighed(tried, 1.0, many)
    ended = watch.overdue or any(trial.solved.halted for trial in tried.values() if trial.solved)
    partly = NOTHING < found.resolutions.confirmed < AGREED
    if options.firmer is None or ended or not partly:
        return found
    again = try_numbers(many, tried, options.firmer, solve, options, watch)
    if not again:
        return found
    firm = weighed(again, options.firmer, many)
    return firm if firm.resolutions.confirmed > found.resolutions.confirmed else found


def resolve(many: ManyRows, solve: Solve, options: Options, watch: Watch) -> Resolved:
    """Choose the number of representatives on the sample, then solve with all rows.

    What all rows say is taken if it agrees with what the sample said as far as two resolutions
    did; the labels of the sample are at least confirmed.
    """
    chosen = None
    with watch.phase("choices"):
        if len(many.numbers) > 1:
            chosen = choose_number(many, solve, options, watch)
            fitted, choice = chosen.trial.fitted, chosen.resolutions
        else:
            choice = only_resolution(many.numbers[0])
            fitted = make_representatives(many, choice.chosen, options, watch.end.is_near)
    with watch.phase("links"):
        rows, sums = many.rows.link(fitted, watch.advance)
    nodes = make_nodes(fitted, sums, many, options)
    on_sample = None if chosen is None else chosen.trial.solved
    if on_sample is not None and (on_sample.halted or watch.overdue):
        return Resolved(fitted, nodes, on_sample, rows, choice)
    init = first_labels(rows, options.init, many.c)
    solved = solve(nodes, watch, init, 1.0 if chosen is None else chosen.firmness)
    if chosen is not None and isinstance(init, str) and not solved.halted:
        solved = confirmed(solved, chosen, many)
    return Resolved(fitted, nodes, solved, rows, choice)


def confirmed(solved: Solved, chosen: TrialChoice, many: ManyRows) -> Solved:
    """What all rows say, or what the sample said where the two disagree."""
    trial = chosen.trial
    assert trial.solved is not None
    labels = sample_labels(trial, solved)
    agreement = discrete.adjusted_rand(labels, trial.labels, many.sample.weight)
    return trial.solved if agreement < min(AGREED, chosen.resolutions.confirmed) else solved


def first_labels(rows: LinkedRows, init: Any, c: int) -> Any:
    """Where to start from: labels of rows become labels of representatives, if all survive."""
    if isinstance(init, str):
        return init
    votes = rows.first_votes(np.unique(init, return_inverse=True)[1], c)
    labels = votes.argmax(axis=1)
    return labels if len(np.unique(labels)) == c else "spectral"

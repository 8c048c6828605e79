"""From many rows to a solution on representatives: their number is chosen, then the loop runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..._limits import room
from ...loop.initial_states import spectral_start
from ...loop.watch import Watch
from ...numerics import discrete, fragments, graph, modularity, separation
from .. import links
from ..problems import node_graph
from ..representatives import (
    LinkedRows,
    ManyRows,
    NodeGraph,
    Options,
    Representatives,
    as_points,
    make_nodes,
    make_representatives,
)
from .n_neighbors import better_start
from .n_representatives import (
    AGREED,
    ALIKE,
    ResolutionChoice,
    are_enough,
    fewest_representatives,
    only_resolution,
    weigh_resolutions,
)
from .task import Labelling

# In the graph that is parted by modularity a row has so many times its links.
MORE_LINKS = 2
# Bytes for a pair of representatives where rows without structure link nearly all of them: 4,000
# took 1.9 GB.
PAIR_BYTES = 120
# The first start is taken if it cuts no more than this share of what the other does: gaps between
# clusters are so cheap to cut, fringes are not.
CHEAPER = 0.1


# What solves a graph of representatives from a start, a word or labels, with alpha multiplied.
Solve = Callable[[ManyRows, NodeGraph, Watch, Any, float], Labelling]


class Trial(NamedTuple):
    """A number of representatives: their graph, the rows linked with them, and their labels."""

    fitted: Representatives
    nodes: NodeGraph
    rows: LinkedRows  # those of the sample, until all rows are linked
    each: float = 0.0  # seconds that it took to compare one row with one representative
    solved: Labelling | None = None  # None too where only its modularity partition is known
    node_labels: np.ndarray = np.empty(0)  # (p,)
    labels: np.ndarray = np.empty(0)  # of the rows of the sample
    start: str = "spectral"
    choice: ResolutionChoice = only_resolution(0)  # among the numbers that this start tried


def make_trial(many: ManyRows, p: int, options: Options, watch: Watch) -> Trial:
    """The graph of p representatives and the rows of the sample alone, not solved yet."""
    fitted = make_representatives(many, p, options, watch.end.is_near)
    began = watch.clock()
    rows, sums = many.rows.sample_rows(many.sample).link(fitted)
    each = (watch.clock() - began) / (len(many.sample.keys) * len(fitted.R))
    return Trial(fitted, make_nodes(fitted, sums, many, options), rows, each)


def solve_trial(many: ManyRows, trial: Trial, start: str, solve: Solve, watch: Watch) -> Trial:
    """The same with labels; the rows of the sample follow their representatives.

    What begins at a modularity partition is held to it: the partition will do here.
    """
    if start == "modularity":
        solved, found = None, partition_of(many, trial.fitted, trial.nodes, watch)
    else:
        solved = solve(many, trial.nodes, watch.quiet(), start, 1.0)
        found = solved.labels
    labels = sample_labels(trial, found)
    return trial._replace(solved=solved, node_labels=found, labels=labels, start=start)


def partition_of(
    many: ManyRows, fitted: Representatives, nodes: NodeGraph, watch: Watch
) -> np.ndarray:
    """The labels of representatives by modularity.

    The rows of the sample hang on them by weights of `eq:24`, as in a graph of rows.
    """
    Z = as_points(fitted.frame, many.sample.X)
    # More links than a cluster has representatives would tie every cluster to another.
    k = max(1, min(MORE_LINKS * fitted.n_links, len(fitted.R) // many.c))
    A = links.simplex_graph(links.make_search(fitted.R, fitted.metric), Z, many.sample.weight, k)
    A = separation.without_links(A, nodes.stands)
    A, _ = fragments.tie_small(A, fitted.R, nodes.standing, nodes.min_size)
    labels = modularity.partition(
        A, many.c, modularity.from_the_middle(fitted.R), watch.end.is_near
    )
    if labels.max() + 1 < many.c:  # no resolution parts them
        return spectral_start(node_graph(nodes, many.c)).Y
    return labels


def sample_labels(trial: Trial, found: np.ndarray) -> np.ndarray:
    """The labels of the rows of the sample where representatives have these."""
    _, n_votes = trial.rows.count(found)
    fitted = trial.fitted._replace(labels=found, n_votes=n_votes)
    return np.asarray(trial.rows.facts(fitted).labels)


def try_numbers(
    many: ManyRows,
    known: dict[int, Trial],
    start: str,
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
        if tried and PAIR_BYTES * p * p > room()[0]:
            break
        watch.trying(f"{start} start, {p:,} representatives")
        if p not in known:
            known[p] = make_trial(many, p, options, watch)
        trial = solve_trial(many, known[p], start, solve, watch)
        halted = trial.solved is not None and trial.solved.halted
        if tried and halted:
            break
        if tried:
            last = list(tried.values())[-1].labels
            pairs.append(discrete.adjusted_rand(trial.labels, last, many.sample.weight))
        tried[p] = trial
        if halted or are_enough(pairs):
            break
    return tried


def best_trials(many: ManyRows, solve: Solve, options: Options, watch: Watch) -> list[Trial]:
    """The number of representatives of each start that was asked; the chosen start first.

    The second start is not asked where two numbers agree from the first.
    """
    known: dict[int, Trial] = {}
    found: list[Trial] = []
    for start in options.starts:
        if found and (watch.overdue or found[0].choice.confirmed >= AGREED):
            break
        tried = try_numbers(many, known, start, solve, options, watch)
        if tried:
            labels = {p: trial.labels for p, trial in tried.items()}
            choice = weigh_resolutions(labels, many.sample.weight)
            found.append(tried[choice.chosen]._replace(choice=choice))
    best = better_start([trial.choice.steadiness for trial in found], ALIKE, 0.0)
    cuts = [graph.normalised_cut(trial.nodes.A, trial.node_labels) for trial in found]
    if cuts[0] <= CHEAPER * cuts[best]:
        best = 0
    return [found[best], *found[:best], *found[best + 1 :]]


def resolve(
    many: ManyRows, solve: Solve, options: Options, watch: Watch
) -> tuple[Trial, Labelling, dict[str, ResolutionChoice]]:
    """Choose the number of representatives on the sample, then solve with all rows.

    What all rows say is taken if it agrees with what the sample said as far as two resolutions
    did; the labels of the sample are at least confirmed. Where the number is given, half of it
    says which start is the better one. The third result is what each start said that was tried.
    """
    (*_, last), best, starts = many.numbers, None, {}
    given, fewer = len(many.numbers) == 1, last // 2
    if given and len(options.starts) > 1 and fewer >= fewest_representatives(many.c):
        many = many._replace(numbers=[fewer, last])
    with watch.phase("choices"):
        if len(many.numbers) > 1:
            trials = best_trials(many, solve, options, watch)
            best, starts = trials[0], {trial.start: trial.choice for trial in reversed(trials)}
            fitted = best.fitted
        else:
            fitted = make_representatives(many, last, options, watch.end.is_near)
    with watch.phase("links"):
        rows, sums = many.rows.link(fitted, watch.advance)
    nodes = make_nodes(fitted, sums, many, options)
    start = options.starts[0] if best is None else best.start
    choice = only_resolution(last) if best is None or given else best.choice
    linked = Trial(fitted, nodes, rows, start=start, choice=choice)
    on_sample = None if best is None else best.solved
    if on_sample is not None and (on_sample.halted or watch.overdue):
        return linked, on_sample, starts
    init, firmness = first_labels(rows, options.init, many.c), 1.0
    if isinstance(init, str) and init != "random":
        init = start
        if start == "modularity":
            firmness = options.firmer or 1.0
            init = best.node_labels if best else partition_of(many, fitted, nodes, watch)
    solved = solve(many, nodes, watch, init, firmness)
    if best is not None and on_sample is not None and isinstance(init, str) and not solved.halted:
        labels = sample_labels(best, solved.labels)
        agreement = discrete.adjusted_rand(labels, best.labels, many.sample.weight)
        # What the sample said stays, where all rows say otherwise.
        solved = on_sample if agreement < min(AGREED, best.choice.confirmed) else solved
    return linked, solved, starts


def first_labels(rows: LinkedRows, init: Any, c: int) -> Any:
    """The start of a run: labels of rows as labels of representatives, if all survive."""
    if isinstance(init, str):
        return init
    votes = rows.first_votes(np.unique(init, return_inverse=True)[1], c)
    labels = votes.argmax(axis=1)
    return labels if len(np.unique(labels)) == c else "spectral"

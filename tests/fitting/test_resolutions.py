import numpy as np
import pytest

from dogc.fitting.auto.n_representatives import are_enough, candidate_resolutions, weigh_resolutions
from dogc.numerics import discrete

# ------------------------------------------------------------------------- the candidates


def test_a_few_known_cases():
    assert candidate_resolutions(550, 2) == []
    assert candidate_resolutions(600, 2) == [125]
    assert candidate_resolutions(700, 2) == [125]
    assert candidate_resolutions(1_250, 2) == [125]
    assert candidate_resolutions(4_990, 2) == [125, 250, 500]
    assert candidate_resolutions(10**7, 2) == [125, 250, 500, 1_000, 2_000, 4_000]
    assert candidate_resolutions(10**7, 1_000) == [8_000, 16_000, 32_000]


# ----------------------------------------------------------------------------- the choice


def labels_that_agree(pattern):
    """Labellings of 400 rows: equal letters agree, others in part; dots agree with nobody."""
    base = np.random.default_rng(0).integers(0, 3, 400)
    labels = {}
    for i, letter in enumerate(pattern):
        rng = np.random.default_rng(i + 200 if letter == "." else ord(letter))
        changed = rng.random(400) < (1.0 if letter == "." else 0.3)
        labels[2**i] = np.where(changed, rng.integers(0, 3, 400), base)
    return labels


def choose_resolution(labels_at, candidates, size):
    """Resolutions asked one by one until they are enough, then weighed."""
    found, pairs = {}, []
    for p in candidates:
        if (labels := labels_at(p)) is None:
            break
        if found:
            last = list(found.values())[-1]
            pairs.append(discrete.adjusted_rand(last, labels, size))
        found[p] = labels
        if are_enough(pairs):
            break
    return weigh_resolutions(found, size)


def choose(pattern, size=None):
    labels, asked = labels_that_agree(pattern), []

    def labels_at(p):
        asked.append(p)
        return labels[p]

    size = np.ones(400) if size is None else size
    return choose_resolution(labels_at, list(labels), size), asked


def test_the_search_ends_with_the_first_two_neighbours_that_agree():
    choice, asked = choose("abcca")
    assert asked == [1, 2, 4, 8]
    assert choice.n_representatives == (1, 2, 4, 8)
    assert choice.chosen == 8
    assert choice.confirmed == 1.0


def test_without_agreement_the_finer_of_the_best_pair_is_taken():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 3, 400)

    def changed(share):
        return np.where(rng.random(400) < share, rng.integers(0, 3, 400), base)

    labels = {1: changed(0.6), 2: changed(0.2), 4: changed(0.2), 8: changed(0.9)}
    choice = choose_resolution(labels.get, [1, 2, 4, 8], np.ones(400))
    assert choice.n_representatives == (1, 2, 4, 8)
    assert choice.chosen == 4
    assert choice.score[1] == choice.score[2] == choice.agreement[1, 2] == choice.confirmed
    assert choice.score[0] == choice.agreement[0, 1]
    assert choice.score[3] == choice.agreement[2, 3]


@pytest.mark.parametrize(
    ("pairs", "enough"),
    [([0.05, 0.09], True), ([0.05, 0.15], False), ([0.05], False), ([0.94], False), ([0.95], True)],
)
def test_when_resolutions_are_enough(pairs, enough):
    assert are_enough(pairs) == enough

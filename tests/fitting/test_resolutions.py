from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dogc.fitting.auto import n_representatives as resolutions
from dogc.fitting.auto.n_representatives import (
    are_enough,
    candidate_resolutions,
    only_resolution,
    weigh_resolutions,
)
from dogc.numerics import discrete

thorough = settings(deadline=None, max_examples=200)


# ------------------------------------------------------------------------- the candidates


@thorough
@given(st.integers(1, 10**9), st.integers(1, 2_000))
def test_candidates_rise_and_leave_room_for_rows_and_clusters(n, c):
    found = candidate_resolutions(n, c)
    first = max(125, 8 * c)
    assert all(isinstance(p, int) for p in found)
    assert found == sorted(set(found))
    assert all(p >= first for p in found)
    if len(found) > 1:
        assert found[-1] <= n // 10
    for p in found:  # where there is one alone, rows may be half as many for each
        assert p <= n // (10 if len(found) > 1 else 5)
    if found:
        assert found[0] == first or len(found) == 1
        assert found[-1] <= max(4_000, 4 * first)


@thorough
@given(st.integers(1, 10**9), st.integers(1, 2_000))
def test_each_candidate_is_about_twice_the_one_before(n, c):
    assert all(1.3 < b / a < 3 for a, b in pairwise(candidate_resolutions(n, c)))


@pytest.mark.parametrize("c", [1, 2, 15, 100])
def test_more_rows_never_ask_for_fewer_representatives(c):
    most = [max(candidate_resolutions(n, c), default=0) for n in range(100, 100_000, 371)]
    assert most == sorted(most)


def test_a_few_known_cases():
    assert candidate_resolutions(600, 2) == []
    assert candidate_resolutions(700, 2) == [125]
    assert candidate_resolutions(1_250, 2) == [125]
    assert candidate_resolutions(5_000, 2) == [125, 250, 500]
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


def test_labellings_that_agree_but_are_no_neighbours_do_not_end_it():
    choice, asked = choose("abab")
    assert asked == [1, 2, 4, 8]
    assert choice.agreement[0, 2] == 1.0
    assert choice.confirmed < resolutions.AGREED


@pytest.mark.parametrize(("pattern", "asked"), [("......", 3), ("abcab.", 5), ("ab.ab.", 5)])
def test_where_labellings_know_little_of_each_other_nobody_else_is_asked(pattern, asked):
    assert len(choose(pattern)[1]) == asked


def test_names_of_labels_do_not_matter():
    labels = np.random.default_rng(0).integers(0, 3, 400)
    choice = choose_resolution(
        lambda p: labels if p == 1 else np.array([2, 0, 1])[labels], [1, 2, 4], np.ones(400)
    )
    assert choice.n_representatives == (1, 2)


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


def test_agreement_is_the_adjusted_rand_index_of_every_two():
    choice, _ = choose("abcd")
    labels = list(labels_that_agree("abcd").values())
    for i, one in enumerate(labels):
        for j, other in enumerate(labels):
            wanted = discrete.adjusted_rand(one, other, np.ones(400))
            assert choice.agreement[i, j] == pytest.approx(wanted)


def test_rows_count_for_their_size():
    labels = {1: np.repeat([0, 1], 200), 2: np.repeat([0, 1], [100, 300])}
    size = np.where(np.arange(400) // 100 == 1, 1e-9, 1.0)  # where the two differ
    apart = choose_resolution(labels.get, [1, 2], np.ones(400)).confirmed
    assert apart < resolutions.AGREED < choose_resolution(labels.get, [1, 2], size).confirmed


@pytest.mark.parametrize(("pattern", "chosen"), [("a", 1), ("ab", 2), ("aab", 2)])
def test_the_search_ends_early_where_there_is_no_answer(pattern, chosen):
    labels = labels_that_agree(pattern)
    choice = choose_resolution(labels.get, [1, 2, 4, 8, 16], np.ones(400))
    assert choice.n_representatives == tuple(labels)[: len(choice.score)]
    assert choice.chosen == chosen
    assert choice.agreement.shape == (len(choice.score),) * 2


def test_one_candidate_is_taken_as_it_is():
    choice, asked = choose("a")
    assert asked == [1]
    assert choice.chosen == 1
    assert choice.n_representatives == only_resolution(1).n_representatives
    assert choice.score.tolist() == only_resolution(1).score.tolist() == [1.0]


@pytest.mark.parametrize(
    ("pairs", "enough"),
    [([0.05, 0.09], True), ([0.05, 0.15], False), ([0.05], False), ([0.94], False), ([0.95], True)],
)
def test_when_resolutions_are_enough(pairs, enough):
    assert are_enough(pairs) == enough

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from dogc import discrete, scales

labellings = st.lists(st.integers(0, 3), min_size=2, max_size=30).map(np.array)


@settings(deadline=None)
@given(labellings, st.integers(0, 2**32 - 1))
def test_the_rand_index_is_the_usual_one(a, seed):
    b = np.random.default_rng(seed).integers(0, 3, len(a))
    expected = adjusted_rand_score(a, b)
    assert discrete.adjusted_rand(a, b, np.ones(len(a))) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(labellings, st.integers(0, 2**32 - 1))
def test_a_row_of_size_s_counts_as_s_rows(a, seed):
    rng = np.random.default_rng(seed)
    b, size = rng.integers(0, 3, len(a)), rng.integers(1, 4, len(a))
    copied = discrete.adjusted_rand(a.repeat(size), b.repeat(size), np.ones(size.sum()))
    assert discrete.adjusted_rand(a, b, size.astype(float)) == pytest.approx(copied, abs=1e-12)


def asked_and_chosen(labels, candidates):
    asked = []

    def labels_at(k):
        asked.append(k)
        return np.array(labels[k])

    n = len(next(iter(labels.values())))
    return asked, scales.choose_scale(labels_at, candidates, np.ones(n))


HALVES, THIRDS, ODD = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]


def test_two_scales_that_agree_are_enough():
    asked, choice = asked_and_chosen(dict.fromkeys(scales.SCALES, HALVES), scales.SCALES)
    assert asked == [10, 15]
    assert choice.chosen == 10
    assert choice.n_neighbors == (10, 15)


def test_if_they_differ_the_labels_that_near_scales_confirm_win():
    labels = dict(zip(scales.SCALES, [ODD, THIRDS, HALVES, ODD, THIRDS, ODD, HALVES, HALVES],
                      strict=True))  # fmt: skip
    asked, choice = asked_and_chosen(labels, scales.SCALES)
    assert sorted(asked) == list(scales.SCALES)
    assert len(asked) == len(set(asked))
    assert choice.chosen == 70
    assert choice.score.argmax() == scales.SCALES.index(70)
    np.testing.assert_array_equal(choice.agreement, choice.agreement.T)


def test_near_scales_count_more_than_far_ones():
    labels = {5: ODD, 7: HALVES, 10: HALVES, 15: THIRDS, 20: THIRDS, 30: ODD, 45: ODD, 70: ODD}
    _, choice = asked_and_chosen(labels, scales.SCALES)
    assert labels[choice.chosen] == ODD  # confirmed by two near it, not by one
    labels[45], labels[70] = THIRDS, HALVES
    _, choice = asked_and_chosen(labels, scales.SCALES)
    assert labels[choice.chosen] in (HALVES, THIRDS)


def test_one_candidate_is_taken_and_few_are_all_asked():
    asked, choice = asked_and_chosen({3: HALVES}, [3])
    assert (asked, choice.chosen) == ([3], 3)
    asked, _ = asked_and_chosen({5: HALVES, 7: THIRDS, 10: THIRDS}, [5, 7, 10])
    assert asked == [5, 7, 10]

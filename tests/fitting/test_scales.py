import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dogc.fitting.auto import n_neighbors as scales

HALVES, THIRDS, ODD = ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1])


def chosen(*labels):
    found = dict(zip(scales.SCALES, map(np.array, labels), strict=False))
    return scales.weigh_scales(found, np.ones(6))


def test_the_scale_that_the_others_confirm_is_taken():
    choice = chosen(ODD, THIRDS, HALVES, HALVES)
    assert choice.chosen == 20
    assert choice.n_neighbors == scales.SCALES
    np.testing.assert_array_equal(choice.agreement, choice.agreement.T)
    others = np.array([adjusted_rand_score(HALVES, other) for other in (ODD, THIRDS, HALVES)])
    assert choice.score[2] == pytest.approx(others.mean())


def test_where_all_agree_the_usual_scale_is_taken():
    assert chosen(HALVES, HALVES, HALVES, HALVES).chosen == 10
    assert chosen(HALVES, THIRDS, HALVES, HALVES).chosen == 5  # log 2 away from 10, as 20 is


def test_one_scale_agrees_with_itself():
    choice = scales.weigh_scales({3: np.array(HALVES)}, np.ones(6))
    assert (choice.chosen, choice.score.tolist()) == (3, [1.0])
    assert scales.only_scale(7).chosen == 7


def test_sizes_weigh_the_agreement():
    found = {5: np.array([0, 0, 1, 1]), 10: np.array([0, 0, 1, 0])}
    alike = scales.weigh_scales(found, np.array([1.0, 1.0, 1.0, 1e-9]))
    assert alike.score.min() > 0.99 > scales.weigh_scales(found, np.ones(4)).score.max()


def test_of_scales_that_agree_one_that_holds_together_is_taken():
    found = {k: np.array(HALVES) for k in scales.SCALES}
    assert scales.weigh_scales(found, np.ones(6), {5, 10}).chosen == 20
    assert scales.weigh_scales(found, np.ones(6), set(scales.SCALES)).chosen == 10


def test_labels_that_are_nearly_the_same_count_as_the_same():
    # One row of 400 elsewhere, and ten: an agreement of 0.98 lies between.
    labels = np.repeat([0, 1], 200)
    for moved, expected in ((1, 10), (10, 5)):
        other = labels.copy()
        other[:moved] = 1
        found = {5: labels, 10: other, 20: labels, 45: labels}
        choice = scales.weigh_scales(found, np.ones(400))
        assert choice.score[0] < 1.0
        assert choice.chosen == expected


@pytest.mark.parametrize(
    ("largest", "sizes"), [(0, [1]), (1, [1]), (4, [4]), (5, [5]), (10, [5, 10]), (44, [5, 10, 20])]
)
def test_no_size_is_larger_than_a_row_can_have_neighbours(largest, sizes):
    assert scales.candidate_scales(largest) == sizes

import math

import numpy as np
import pytest

import reference
from conftest import problem_for
from dogc import CAN, DOGC, PCAN
from dogc.loop import lambda_search
from dogc.loop.initial_states import spectral_start


@pytest.fixture
def searching(three_blobs):
    X, _ = three_blobs
    problem = problem_for(X, DOGC(3, n_neighbors=10))
    return problem, lambda_search.begin_search(problem, spectral_start(problem))


def test_search_starts_where_the_two_distances_balance(searching):
    problem, state = searching
    between_clusters = 2.0 * problem.c / problem.n
    assert lambda_search.balanced_lambda(problem, state) * between_clusters == pytest.approx(
        state.dx.mean()
    )


def test_the_xi_of_all_rows_is_the_mean_of_theirs_without_the_few_that_lie_far_away():
    d = np.sort(np.random.default_rng(0).random((50, 6)), axis=1)
    own = [reference.neighbour_xi(row, 5) for row in d]
    np.testing.assert_allclose(lambda_search.mean_xi(d, 5), np.full(50, np.mean(own)))
    with_far = np.vstack([d, 1e9 * d[:1]])
    np.testing.assert_allclose(lambda_search.mean_xi(with_far, 5), np.full(51, np.mean(own)))


def with_components(state, count):
    """The state as if its graph had so many components."""
    return state._replace(graph=state.graph._replace(n_components=count))


def test_lambda_grows_until_there_are_too_many_components(searching):
    problem, state = searching
    few = lambda_search.search_lambda(problem, with_components(state, 2))
    assert few.lam == lambda_search.GROWTH * state.lam
    assert few.search.low == state.lam
    assert math.isinf(few.search.high)


def test_an_overshoot_goes_back_to_the_last_state_with_too_few(searching):
    problem, state = searching
    few = lambda_search.search_lambda(problem, with_components(state, 2))
    spoilt = with_components(few, 5)._replace(F=-few.F)
    back = lambda_search.search_lambda(problem, spoilt)
    assert back.F is state.F
    assert state.lam < back.lam < few.lam
    assert back.search.high == few.lam


def test_a_square_that_splits_two_ways_at_once_ends_with_a_reason():
    # Four equal groups on a square, asked for three: symmetry allows 1, 2 or 4.
    corner = np.random.default_rng(0).standard_normal((10, 2))
    corner = np.vstack([corner, -corner, corner[:, ::-1] * [1, -1], -corner[:, ::-1] * [1, -1]])
    X = np.vstack([corner + 8.0 * np.array(s) for s in ((1, 1), (1, -1), (-1, 1), (-1, -1))])
    model = CAN(3, n_neighbors=60).fit(X)
    assert model.stopping_reason_ == "no_exact_split"
    assert 3 not in {record.n_components for record in model.history_}
    assert np.bincount(model.labels_).tolist() == [80, 40, 40]


def test_more_components_than_clusters_are_merged_smallest_first():
    rng = np.random.default_rng(0)
    sizes, centres = (30, 30, 8), (0.0, 100.0, 110.0)
    X = np.concatenate([c + rng.standard_normal(n) for n, c in zip(sizes, centres, strict=True)])
    for cls, k in ((DOGC, 3), (CAN, 4), (PCAN, 6)):
        model = cls(2, n_neighbors=k).fit(X[:, None])
        assert model.stopping_reason_ == "fragmented_graph"
        assert not model.converged_
        np.testing.assert_array_equal(np.bincount(model.labels_), [38, 30])


def test_several_pieces_each_join_their_nearest():
    pieces = ((0, 30), (100, 60), (10, 20), (103, 22), (13, 25))
    X = np.concatenate([np.linspace(at, at + 1, n) for at, n in pieces])[:, None]
    for cls, k in ((DOGC, 3), (CAN, 5), (PCAN, 7)):
        labels = cls(2, n_neighbors=k).fit(X).labels_
        np.testing.assert_array_equal(labels == labels[30], X[:, 0] > 50)

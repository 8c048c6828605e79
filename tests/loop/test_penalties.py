"""The units of alpha, beta and gamma."""

import numpy as np
import pytest

from conftest import problem_for
from dogc import DOGCOS
from dogc.loop.initial_states import spectral_start
from dogc.loop.penalties import Penalties, Weights, paper_weights
from dogc.loop.running import FIRMER, firmer


@pytest.mark.parametrize("lam", [0.01, 3.0])
@pytest.mark.parametrize("constant", [0, 2])
def test_relative_penalties_are_in_units_of_F_and_of_the_scatter_of_a_column(
    three_blobs, lam, constant
):
    X = np.column_stack([5.0 * three_blobs[0], np.full((60, constant), 7.0)])
    problem = problem_for(X, DOGCOS(3, n_neighbors=7, alpha=0.3, beta=2.0, gamma=0.5))
    F = spectral_start(problem).F
    length = np.sqrt(np.mean(np.sum(F**2, axis=1)))  # of a row, in the quadratic mean
    scatter = np.sum((problem.regression.X - problem.regression.X.mean(axis=0)) ** 2, axis=0)
    alpha, beta, gamma = problem.weights(lam)
    assert alpha == pytest.approx(0.3 * lam * length)
    assert beta == pytest.approx(2.0 * alpha * length)
    assert gamma == pytest.approx(0.5 * scatter[scatter > 1e-12].mean())


def test_penalties_of_the_paper_are_as_printed_at_every_lambda():
    weights = paper_weights(0.3, 2.0, 0.5)
    assert weights(0.01) == weights(100.0) == (0.3, 2.0, 0.5)


def test_a_firmer_alpha_takes_beta_along_and_leaves_gamma(three_blobs):
    problem = problem_for(three_blobs[0], DOGCOS(3, n_neighbors=7))
    firm = firmer(problem._replace(weights=lambda lam: Weights(0.5 * lam, 2.0, 0.25)))
    assert firm.weights(3.0) == (1.5 * FIRMER, 2.0 * FIRMER, 0.25)


@pytest.mark.parametrize(
    ("relative", "alpha", "may"),
    [(True, 1e-3, True), (True, 0.5, True), (True, 0.0, False), (False, 0.5, False)],
)
def test_alpha_may_be_raised_where_there_is_one_and_its_unit_is_ours(relative, alpha, may):
    assert Penalties(alpha, 1.0, 1.0, relative).may_firm == may

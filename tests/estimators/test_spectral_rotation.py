import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score

from dogc import spectral_rotation

thorough = settings(deadline=None, max_examples=80)
seeds = st.integers(0, 2**32 - 1)
shapes = st.integers(1, 5).flatmap(lambda c: st.tuples(st.integers(c, 12), st.just(c)))
exponents = st.sampled_from([-300, -150, 0, 150, 300])


def planted(rng, n, c):
    """Labels in which every one of c occurs."""
    return rng.permutation(np.concatenate([np.arange(c), rng.integers(0, c, n - c)]))


def rotation(rng, c):
    return np.linalg.qr(rng.standard_normal((c, c)))[0]


def unit_rows(F):
    length = np.linalg.norm(F, axis=1, keepdims=True)
    return F / np.where(length > 0, length, 1.0)


def agreement(F, labels):
    """Tr(Q' F' Y) at the best rotation Q: the sum of the singular values of F' Y."""
    return np.linalg.svd(F.T @ np.eye(F.shape[1])[labels], compute_uv=False).sum()


@thorough
@given(shapes, seeds)
def test_rotated_indicators_give_back_their_labels(shape, seed):
    rng = np.random.default_rng(seed)
    truth = planted(rng, *shape)
    n, c = shape
    Y = np.eye(c)[truth]
    for F in (Y, Y / np.sqrt(Y.sum(axis=0)), Y * rng.uniform(0.1, 10.0, (n, 1))):
        F = F @ rotation(rng, c)
        labels, order = spectral_rotation(F), rng.permutation(n)
        assert adjusted_rand_score(labels, truth) == 1.0
        assert adjusted_rand_score(spectral_rotation(F[order]), truth[order]) == 1.0


@thorough
@given(shapes.flatmap(lambda s: arrays(float, s, elements=st.floats(-1, 1))), exponents)
@example(np.zeros((4, 2)), 0)
@example(np.ones((5, 3)), 300)
@example(np.ones((3, 3)), -300)
@example(np.outer([0.0, 1.0, -2.0, 0.5], [1.0, 2.0]), 150)
@example(np.array([[5e-324], [0.0]]), 0)
def test_any_finite_embedding_gives_labels_that_are_all_used(F, exponent):
    n, c = F.shape
    for normalize_rows in (True, False):
        labels = spectral_rotation(F * 10.0**exponent, normalize_rows=normalize_rows)
        assert labels.shape == (n,)
        assert set(labels.tolist()) == set(range(c))
        assert (np.diff(np.bincount(labels)) <= 0).all()


def test_noisy_rows_of_any_length_count_alike():
    rng = np.random.default_rng(0)
    truth = planted(rng, 60, 3)
    F = np.eye(3)[truth] @ rotation(rng, 3) * 10.0 ** rng.uniform(-200, 200, (60, 1))
    assert adjusted_rand_score(spectral_rotation(F), truth) == 1.0
    for _ in range(10):
        F = np.eye(4)[planted(rng, 60, 4)] + 0.3 * rng.standard_normal((60, 4))
        scaled = F * 2.0 ** rng.integers(-9, 10, (60, 1))
        np.testing.assert_array_equal(spectral_rotation(scaled), spectral_rotation(F))


def test_long_rows_count_for_more_without_normalisation():
    F = np.array([[9.0, 1.0], [9.0, 0.0], [0.1, 0.2], [0.3, 0.1], [0.0, 5.0]])
    scaled = F * np.array([[1.0], [1.0], [100.0], [100.0], [1.0]])
    kept = spectral_rotation(scaled, normalize_rows=True)
    np.testing.assert_array_equal(kept, spectral_rotation(F, normalize_rows=True))
    raw = spectral_rotation(F, normalize_rows=False)
    assert agreement(F, raw) >= agreement(F, kept) - 1e-12


@thorough
@given(shapes, seeds, st.booleans())
def test_more_starts_never_agree_less(shape, seed, normalize_rows):
    F = np.random.default_rng(seed).standard_normal(shape)
    once, often = (
        spectral_rotation(F, normalize_rows=normalize_rows, n_init=n, random_state=0)
        for n in (1, 5)
    )
    given_rows = unit_rows(F) if normalize_rows else F
    assert agreement(given_rows, often) >= agreement(given_rows, once) * (1 - 1e-9)


def test_starts_are_drawn_from_the_seed_alone_and_can_agree_more():
    gains = []
    for seed in range(10):
        F = unit_rows(np.random.default_rng(seed).standard_normal((40, 5)))
        copy = F.copy()
        once, often, again = (spectral_rotation(F, n_init=n, random_state=0) for n in (1, 10, 10))
        np.testing.assert_array_equal(often, again)
        np.testing.assert_array_equal(F, copy)
        U, _, Vt = np.linalg.svd(F.T @ np.eye(5)[once])
        np.testing.assert_array_equal((F @ U @ Vt).argmax(axis=1), once)  # a fixed point
        gains.append(agreement(F, often) - agreement(F, once))
    assert max(gains) > 0.1


def test_lists_and_float32_are_fine():
    F = np.eye(3)[[0, 1, 2, 2, 1, 2]]
    for rows in (F.tolist(), F.astype(np.float32)):
        np.testing.assert_array_equal(spectral_rotation(rows), [2, 1, 0, 0, 1, 0])


@pytest.mark.parametrize(
    ("F", "parameters", "says"),
    [
        ([[np.nan, 1.0], [0.0, 1.0]], {}, "F contains NaN"),
        ([[np.inf, 1.0], [0.0, 1.0]], {}, "F contains infinity"),
        ([[0.0, 1.0, 2.0]], {}, "F has 3 columns but only 1 rows.*pass fewer columns"),
        ([0.0, 1.0], {}, "2D array"),
        (np.eye(2), {"n_init": 0}, "n_init must be an integer of at least 1"),
        (np.eye(2), {"n_init": "auto"}, "n_init must be an integer of at least 1"),
        (np.eye(2), {"normalize_rows": 1}, "normalize_rows must be True or False"),
        (np.eye(2), {"random_state": "seed"}, "random_state"),
    ],
)
def test_bad_input_is_named(F, parameters, says):
    with pytest.raises(ValueError, match=says):
        spectral_rotation(F, **parameters)

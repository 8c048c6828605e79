import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from dogc.fitting import links
from dogc.fitting.sampling import weight_facts, whole_weights
from dogc.numerics import discrete
from dogc.numerics.exact import exact_bits

thorough = settings(deadline=None, max_examples=25)

TREE, BRUTE = 2, 12  # dimensions


def representatives(q, p=40, seed=0):
    return np.random.default_rng(seed).standard_normal((p, q))


# ------------------------------------------------------------------- nearest representatives


@pytest.mark.parametrize("q", [1, TREE, 5, BRUTE, 70])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_the_nearest_match_brute_force(q, scale, metric):
    R = scale * representatives(q)
    Z = scale * representatives(q, 60, seed=1)
    search = links.make_search(R, metric.replace("cityblock", "manhattan"))
    idx, d = links.nearest(search, Z, 7)
    wanted = cdist(Z / scale, R / scale, metric) ** 2
    found = np.take_along_axis(wanted, idx, axis=1)
    np.testing.assert_allclose(found, np.sort(wanted, axis=1)[:, :7], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(d / scale / scale, found, rtol=1e-4, atol=1e-6)
    assert (np.diff(d, axis=1) >= 0).all()
    assert all(len(set(row)) == 7 for row in idx.tolist())


def some_far(rng, q, reach):
    return rng.standard_normal((200, q)) * rng.choice([1.0, reach], (200, 1), p=[0.9, 0.1])


CLOUDS = {
    "plain": lambda rng, q: rng.standard_normal((200, q)),
    "a lattice full of ties": lambda rng, q: rng.integers(-1, 2, (200, q)) / 2.0,
    "outliers 1e6 away": lambda rng, q: some_far(rng, q, 1e6),
    "outliers 1e12 away": lambda rng, q: some_far(rng, q, 1e12),
    "tiny": lambda rng, q: 1e-150 * rng.standard_normal((200, q)),
    "huge": lambda rng, q: 1e30 * rng.standard_normal((200, q)),
    "float32": lambda rng, q: rng.standard_normal((200, q)).astype(np.float32),
    "offset": lambda rng, q: 1e8 + rng.standard_normal((200, q)),
}


@pytest.mark.parametrize("kind", ["tiny", "float32", "offset"])
def test_coordinates_that_are_multiplied_have_few_bits(kind):
    R = np.asarray(CLOUDS[kind](np.random.default_rng(0), BRUTE), dtype=np.float64)[:60]
    search = links.make_search(R)
    steps = search.R / (search.unit * 2.0**-search.bits)
    assert np.array_equal(steps, np.rint(steps))
    assert search.bits == exact_bits(BRUTE)
    np.testing.assert_allclose(search.R, R - search.origin, atol=search.unit * 2.0**-search.bits)


@pytest.mark.parametrize("q", [TREE, BRUTE])
@pytest.mark.parametrize("kind", CLOUDS)
def test_what_is_found_for_a_row_does_not_depend_on_the_others(q, kind):
    rng = np.random.default_rng(0)
    R, Z = (CLOUDS[kind](rng, q) for _ in range(2))
    R = np.asarray(R[:60], dtype=np.float64)
    search = links.make_search(R)
    width = links.common_width(links.nearest(search, Z, links.LINKS)[1], np.ones(len(Z)))
    together = links.link_rows(search, Z, links.LINKS, width)
    order = rng.permutation(len(Z))
    partitions = [
        [np.array([i]) for i in range(10)],
        np.split(order, [1, 3, 10, 77, 120]),
        [np.tile(order, 8)],  # beyond what scikit-learn shares out
    ]
    for parts in partitions:
        for rows in parts:
            alone = links.link_rows(search, Z[rows], links.LINKS, width)
            for field in ("idx", "strength", "share"):
                np.testing.assert_array_equal(
                    getattr(alone, field), getattr(together, field)[rows], err_msg=field
                )
            d = links.nearest(search, Z[rows], links.LINKS)[1]
            np.testing.assert_array_equal(d, links.nearest(search, Z, links.LINKS)[1][rows])


# --------------------------------------------------------------- rows well inside a cluster


def voted(search, labels, Z, k, width):
    found = links.link_rows(search, Z, k, width)
    c = int(labels.max()) + 1
    return discrete.label_shares(labels[found.idx], found.share, c)


@pytest.mark.parametrize("q", [1, TREE, BRUTE])
@pytest.mark.parametrize("kind", CLOUDS)
@pytest.mark.parametrize("k", [1, 4, links.LINKS])
def test_a_label_that_is_sure_is_that_of_all_links(q, kind, k):
    rng = np.random.default_rng(0)
    R, Z = (CLOUDS[kind](rng, q) for _ in range(2))
    R = np.asarray(R[:60], dtype=np.float64)
    labels = (R[:, 0] > np.median(R[:, 0])).astype(int) + (R[:, 0] > np.quantile(R[:, 0], 0.8))
    search = links.make_search(R)
    found, sure = links.sure_labels(search, labels, k)(Z)
    votes = voted(search, labels, Z, k, 0.5)
    np.testing.assert_array_equal(found[sure], votes[sure].argmax(axis=1))
    assert (np.count_nonzero(votes[sure], axis=1) == 1).all()


# ------------------------------------------------------------------------------- the links


def slow_links(R, Z, k, width):
    """The formulas of the module, one row and one representative at a time."""
    share, strength = np.zeros((2, len(Z), len(R)))
    for i, z in enumerate(Z):
        distance = [math.dist(z, r) for r in R]
        near = sorted(range(len(R)), key=distance.__getitem__)[:k]
        own = max(width, min(distance) / 2)
        b = {j: math.exp(-((distance[j] / own) ** 2)) for j in near}
        total = sum(b.values())
        smooth = {j: math.exp(-((distance[j] / (2 * own)) ** 2)) for j in near}
        for j in near:
            share[i, j] = smooth[j] / sum(smooth.values())
            strength[i, j] = b[j] / math.sqrt(total)
    return share, strength


def spread_out(found, p):
    share, strength = np.zeros((2, len(found.idx), p))
    np.put_along_axis(share, found.idx.astype(int), found.share / links.ONE, axis=1)
    np.put_along_axis(strength, found.idx.astype(int), found.strength / links.ONE, axis=1)
    return share, strength


@pytest.mark.parametrize("q", [1, TREE, BRUTE])
@pytest.mark.parametrize("width", [0.05, 0.5, 5.0])
def test_links_match_the_formula(q, width):
    R = representatives(q)
    Z = np.vstack([representatives(q, 40, seed=1), 30.0 * representatives(q, 5, seed=2)])
    found = links.link_rows(links.make_search(R), Z, 6, width)
    for got, wanted in zip(spread_out(found, len(R)), slow_links(R, Z, 6, width), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1.0 / links.ONE)


def test_common_width_is_half_the_weighted_mean_distance():
    d = np.array([[1.0, 9.0], [16.0, 4.0]])
    assert links.common_width(d, np.array([3, 1])) == pytest.approx(0.5 * (3 * 2.0 + 3.0) / 4)
    assert links.common_width(np.zeros((2, 3)), np.ones(2)) == 1.0
    copies = links.common_width(np.repeat(d, [3, 1], axis=0), np.ones(4))
    assert copies == pytest.approx(links.common_width(d, np.array([3, 1])), rel=1e-15)


# -------------------------------------------------------------------------------- the sums


def slow_sums(found, weight, p):
    """One row and one pair of its links at a time, in numbers without end."""
    A, mass = [[0] * p for _ in range(p)], [0] * p
    for idx, strength, share, count in zip(
        found.idx.tolist(), found.strength.tolist(), found.share.tolist(), weight, strict=True
    ):
        for j, b, part in zip(idx, strength, share, strict=True):
            mass[j] += int(count) * part
            for other, c in zip(idx, strength, strict=True):
                A[j][other] += int(count) * b * c
    return A, mass


@st.composite
def linked(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p, k = draw(st.integers(1, 40)), draw(st.integers(1, 12)), draw(st.integers(1, 5))
    found = links.link_rows(links.make_search(rng.random((p, 2))), rng.random((n, 2)), k, 0.2)
    return found, rng.integers(0, 2**20, n) if draw(st.booleans()) else rng.integers(0, 3, n), p


@thorough
@given(linked())
def test_sums_match_the_obvious_loop(case):
    found, weight, p = case
    sums = links.link_sums(found, weight, p)
    A, mass = slow_sums(found, weight, p)
    assert sums.A.dtype == sums.mass.dtype == np.int64
    assert sums.A.toarray().tolist() == A
    assert sums.mass.tolist() == mass


def test_sums_of_many_heavy_rows_do_not_overflow():
    # The largest weights that whole_weights makes, and rows that all say the same.
    rows = 90_000
    found = links.link_rows(
        links.make_search(np.array([[0.0], [1.0]])), np.full((rows, 1), 0.5), 2, 1.0
    )
    heavy = np.full(rows, 2.0**20)
    weight = whole_weights(heavy, weight_facts(heavy))
    A = links.link_sums(found, weight, 2).A
    wanted = float(weight.sum()) * float(found.strength[0, 0]) * float(found.strength[0, 1])
    assert A[0, 1] == pytest.approx(wanted)

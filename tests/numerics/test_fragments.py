import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import fragments, graph

thorough = settings(deadline=None, max_examples=30)

FAR_AWAY = np.array([1e9, -1e9])

# ---------------------------------------------------------------------- merge_components


def numbered_by_first_appearance(member):
    _, first, member = np.unique(member, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[member]


memberships = st.lists(st.integers(0, 5), min_size=1, max_size=16).map(
    lambda member: numbered_by_first_appearance(np.array(member))
)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, lambda Z: None])
@thorough
@given(member=memberships, n_groups=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_merging_matches_the_obvious_loop(make, member, n_groups, seed):
    Z = np.random.default_rng(seed).standard_normal((len(member), 2))
    kept = member.copy()
    merged = fragments.merge_components(make(Z), member, n_groups)
    Z = None if make(Z) is None else Z
    assert np.array_equal(merged, reference.merge_components(Z, member, n_groups))
    assert np.array_equal(member, kept)


def test_merging_keeps_its_digits_far_from_the_origin():
    Z = np.array([[0.0], [0.0], [10.0], [13.0], [13.0]])
    member = np.array([0, 0, 1, 2, 2])
    assert np.array_equal(fragments.merge_components(Z, member, 2), [0, 0, 1, 1, 1])
    assert np.array_equal(fragments.merge_components(Z + 1e9, member, 2), [0, 0, 1, 1, 1])
    wide = np.hstack([Z, np.zeros((5, 1))]) + FAR_AWAY
    assert np.array_equal(fragments.merge_components(wide, member, 2), [0, 0, 1, 1, 1])


# ---------------------------------------------------------------------------- join_small


@st.composite
def pieces(draw):
    """A graph in pieces: candidates, weights that leave some unused, distances, sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(4, 14))
    k = draw(st.integers(1, 3))
    idx = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)])
    S = rng.random((n, k)) * (rng.random((n, k)) < 0.5)
    S[S.sum(axis=1) == 0, 0] = 1.0
    S /= S.sum(axis=1, keepdims=True)
    d = rng.random((n, k))
    return idx, S, d, rng.integers(1, 4, n).astype(float), draw(st.integers(0, 12))


@thorough
@given(pieces())
def test_what_is_left_small_has_no_candidate_outside(given_pieces):
    idx, S, d, size, min_size = given_pieces
    before = S.copy()
    tied, A, found, n_components, _ = fragments.join_small(idx, S, d, size, min_size)
    assert np.array_equal(S, before)
    np.testing.assert_allclose(tied.sum(axis=1), 1.0, rtol=1e-12)
    assert np.array_equal(A.toarray(), graph.to_csr(idx, tied, len(S)).toarray())
    count, member = graph.components(A)
    assert count == n_components
    assert np.array_equal(member, found)
    totals = np.bincount(member, weights=size)
    outside = member[idx] != member[:, None]
    for group in np.flatnonzero(totals < min_size):
        assert not outside[member == group].any()
        assert not (outside & (member[idx] == group)).any()


@thorough
@given(pieces())
def test_joining_only_merges_and_names_the_rows_that_were_small(given_pieces):
    idx, S, d, size, min_size = given_pieces
    _, _, joined, _, stray = fragments.join_small(idx, S, d, size, min_size)
    _, member = graph.components(graph.to_csr(idx, S, len(S)))
    pairs = np.unique(np.column_stack([member, joined]), axis=0)
    assert len(np.unique(pairs[:, 0])) == len(pairs)
    small = (np.bincount(member, weights=size) < min_size)[member]
    # Those that are a cluster together, and nobody else with them, did not stray.
    company = np.bincount(joined, weights=~small) > 0
    large = np.bincount(joined, weights=size) >= min_size
    together = (large & ~company)[joined]
    assert np.array_equal(stray, small & ~together)


def test_a_stray_row_joins_by_its_shortest_pair_even_if_the_other_holds_it():
    idx = np.array([[1], [0], [3], [2], [1]])
    idx = np.hstack([idx, [[2], [4], [0], [0], [3]]])
    S = np.tile([1.0, 0.0], (5, 1))
    S[4] = 0.0  # row 4 has no weight at all
    d = np.array([[1.0, 9.0], [1.0, 0.5], [1.0, 9.0], [1.0, 9.0], [7.0, 2.0]])
    tied, _, member, _, _ = fragments.join_small(idx, S, d, np.ones(5), 2)
    assert np.array_equal(member, [0, 0, 1, 1, 0])
    np.testing.assert_allclose(tied[1], [2 / 3, 1 / 3])


# ----------------------------------------------------------------------------- tie_small


@st.composite
def scattered(draw):
    """A symmetric graph in pieces, coordinates without equal distances, sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 12))
    A = rng.random((n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.0, 0.05, 0.15, 0.5])))
    A = np.triu(A, 1)
    size = rng.permutation(n) + rng.integers(1, 4)  # no two equal
    return A + A.T, rng.random((n, 2)), size.astype(float), draw(st.integers(0, 30))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@thorough
@given(pieces=scattered())
def test_ties_are_those_of_the_obvious_loop(make, pieces):
    A, Z, size, min_size = pieces
    tied, small = fragments.tie_small(sp.csr_array(A), make(Z), size, min_size)
    assert np.array_equal(tied.toarray(), reference.tie_small(A, Z, size, min_size))
    count, member = reference.components(A)
    totals = np.bincount(member, weights=size)
    assert np.array_equal(small, (totals < min_size)[member] & (count > 1))


# -------------------------------------------------------------------------- bridge_small


@thorough
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(3, 6), min_size=2, max_size=4),
    min_size=st.integers(1, 8),
)
def test_after_bridging_every_small_group_has_a_way_out(seed, sizes, min_size):
    rng = np.random.default_rng(seed)
    where = np.repeat(np.arange(len(sizes)), sizes)
    Z = 100.0 * rng.permutation(len(sizes))[where][:, None] + rng.random((len(where), 2))
    apart = ((Z[:, None] - Z) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    k = 2
    idx = np.argsort(apart, axis=1)[:, : k + 1]
    d = np.take_along_axis(apart, idx, axis=1)
    size = rng.integers(1, 4, len(Z)).astype(float)
    kept = idx.copy(), d.copy()
    new, far = fragments.bridge_small(idx, d, k, Z, size, min_size)
    assert np.array_equal(idx, kept[0])
    assert np.array_equal(d, kept[1])
    edges = graph.to_csr(new[:, :k], np.ones((len(Z), k)), len(Z))
    _, member = graph.components(edges)
    assert np.bincount(member, size).min() >= min(min_size, size.sum())
    assert np.all(np.diff(far, axis=1) >= 0)
    changed = new != idx
    assert not np.delete(changed, k - 1, axis=1).any()
    for i in np.flatnonzero(changed[:, k - 1]):
        bridge = float(np.sum((Z[i] - Z[new[i, k - 1]]) ** 2))
        np.testing.assert_allclose(far[i, k - 1 :], np.maximum(d[i, k - 1 :], bridge))
    assert np.array_equal(far[~changed.any(axis=1)], d[~changed.any(axis=1)])
    _, before = graph.components(graph.to_csr(idx[:, :k], np.ones((len(Z), k)), len(Z)))
    if np.bincount(before, size).min() >= min_size:
        assert new is idx

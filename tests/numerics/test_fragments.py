import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import fragments, graph

thorough = settings(deadline=None, max_examples=60)

# ---------------------------------------------------------------------- merge_components


def numbered_by_first_appearance(member):
    _, first, member = np.unique(member, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[member]


memberships = st.lists(st.integers(0, 5), min_size=1, max_size=16).map(
    lambda member: numbered_by_first_appearance(np.array(member))
)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@thorough
@given(member=memberships, n_groups=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_merging_matches_the_obvious_loop(make, member, n_groups, seed):
    Z = np.random.default_rng(seed).standard_normal((len(member), 2))
    kept = member.copy()
    merged = fragments.merge_components(make(Z), member, n_groups)
    assert np.array_equal(merged, reference.merge_components(Z, member, n_groups))
    assert np.array_equal(member, kept)


@thorough
@given(memberships, st.integers(1, 5))
def test_merging_without_coordinates_matches_the_obvious_loop(member, n_groups):
    merged = fragments.merge_components(None, member, n_groups)
    assert np.array_equal(merged, reference.merge_components(None, member, n_groups))


@thorough
@given(memberships, st.integers(1, 6), st.booleans(), st.integers(0, 2**32 - 1))
def test_merging_leaves_the_groups_asked_for_and_splits_none(member, n_groups, blind, seed):
    # Coordinates on a coarse lattice: many distances tie.
    Z = np.random.default_rng(seed).integers(0, 3, (len(member), 2)).astype(float)
    merged = fragments.merge_components(None if blind else Z, member, n_groups)
    assert len(np.unique(merged)) == min(n_groups, len(np.unique(member)))
    assert len({*zip(member.tolist(), merged.tolist(), strict=True)}) == len(np.unique(member))
    assert np.array_equal(merged, numbered_by_first_appearance(merged))
    again = fragments.merge_components(None if blind else Z, member, n_groups)
    assert np.array_equal(again, merged)


def test_merging_in_small_chunks_changes_nothing(monkeypatch):
    rng = np.random.default_rng(7)
    Z = rng.standard_normal((60, 3))
    member = numbered_by_first_appearance(rng.integers(0, 9, 60))
    whole = fragments.merge_components(Z, member, 3)
    monkeypatch.setattr(graph, "CHUNK_ELEMENTS", 130)
    assert np.array_equal(fragments.merge_components(Z, member, 3), whole)


def test_the_nearest_pair_counts_and_not_the_nearest_centre():
    Z = np.array([[0.0], [10.0], [30.0], [11.0], [14.0]])
    member = np.array([0, 0, 0, 1, 2])
    # Row 3 is nearest to row 1; the centre of its component is further than row 4.
    merged = fragments.merge_components(Z, member, 2)
    assert np.array_equal(merged, [0, 0, 0, 0, 1])


def test_merging_keeps_its_digits_far_from_the_origin():
    Z = np.array([[0.0], [0.0], [10.0], [13.0], [13.0]])
    member = np.array([0, 0, 1, 2, 2])
    assert np.array_equal(fragments.merge_components(Z, member, 2), [0, 0, 1, 1, 1])
    assert np.array_equal(fragments.merge_components(Z + 1e9, member, 2), [0, 0, 1, 1, 1])


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
    joined = fragments.join_small(idx, S, d, size, min_size)
    assert np.array_equal(S, before)
    np.testing.assert_allclose(joined.S.sum(axis=1), 1.0, rtol=1e-12)
    count, member = graph.components(graph.to_csr(idx, joined.S, len(S)))
    assert count == joined.n_components
    assert np.array_equal(member, joined.member)
    totals = np.bincount(member, weights=size)
    outside = member[idx] != member[:, None]
    for group in np.flatnonzero(totals < min_size):
        assert not outside[member == group].any()
        assert not (outside & (member[idx] == group)).any()


@thorough
@given(pieces())
def test_components_that_are_large_enough_are_left_alone(given_pieces):
    idx, S, d, size, _ = given_pieces
    joined = fragments.join_small(idx, S, d, size, 0.0)
    assert joined.S is S
    assert not joined.stray.any()


@thorough
@given(pieces())
def test_joining_only_merges_and_names_the_rows_that_were_small(given_pieces):
    idx, S, d, size, min_size = given_pieces
    joined = fragments.join_small(idx, S, d, size, min_size)
    _, member = graph.components(graph.to_csr(idx, S, len(S)))
    pairs = np.unique(np.column_stack([member, joined.member]), axis=0)
    assert len(np.unique(pairs[:, 0])) == len(pairs)
    small = np.bincount(member, weights=size) < min_size
    assert np.array_equal(joined.stray, small[member])


def test_a_stray_row_joins_by_its_shortest_pair_even_if_the_other_holds_it():
    idx = np.array([[1], [0], [3], [2], [1]])
    idx = np.hstack([idx, [[2], [4], [0], [0], [3]]])
    S = np.tile([1.0, 0.0], (5, 1))
    S[4] = 0.0  # row 4 has no weight at all
    d = np.array([[1.0, 9.0], [1.0, 0.5], [1.0, 9.0], [1.0, 9.0], [7.0, 2.0]])
    joined = fragments.join_small(idx, S, d, np.ones(5), 2)
    assert np.array_equal(joined.member, [0, 0, 1, 1, 0])
    np.testing.assert_allclose(joined.S[1], [2 / 3, 1 / 3])


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
    size = np.ones(len(Z))
    new, far = fragments.bridge_small(idx, d, k, Z, size, min_size)
    edges = graph.to_csr(new[:, :k], np.ones((len(Z), k)), len(Z))
    _, member = graph.components(edges)
    assert np.bincount(member).min() >= min(min_size, len(Z))
    assert np.all(np.diff(far, axis=1) >= 0)
    _, before = graph.components(graph.to_csr(idx[:, :k], np.ones((len(Z), k)), len(Z)))
    if np.bincount(before).min() >= min_size:
        assert new is idx

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import fragments, graph

thorough = settings(deadline=None, max_examples=60)

FAR_AWAY = np.array([1e9, -1e9])

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


def test_in_small_chunks_too_the_first_of_equally_near_pairs_is_taken(monkeypatch):
    # Rows 0 and 4 of the first component are as near to row 2 as rows 1 and 5 are to row 3.
    Z = np.array([[0.0], [10.0], [-1.0], [11.0], [0.0], [10.0]])
    member, squares = np.array([0, 0, 1, 2, 0, 0]), Z[:, 0] ** 2
    for chunk in (6, 12, 1 << 18):
        monkeypatch.setattr(graph, "CHUNK_ELEMENTS", chunk)
        assert fragments._nearest_pair(Z, squares, member, 0) == (0, 2, 1.0)


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
    small = (np.bincount(member, weights=size) < min_size)[member]
    # Those that are a cluster together, and nobody else with them, did not stray.
    company = np.bincount(joined.member, weights=~small) > 0
    large = np.bincount(joined.member, weights=size) >= min_size
    together = (large & ~company)[joined.member]
    assert np.array_equal(joined.stray, small & ~together)


def test_a_stray_row_joins_by_its_shortest_pair_even_if_the_other_holds_it():
    idx = np.array([[1], [0], [3], [2], [1]])
    idx = np.hstack([idx, [[2], [4], [0], [0], [3]]])
    S = np.tile([1.0, 0.0], (5, 1))
    S[4] = 0.0  # row 4 has no weight at all
    d = np.array([[1.0, 9.0], [1.0, 0.5], [1.0, 9.0], [1.0, 9.0], [7.0, 2.0]])
    joined = fragments.join_small(idx, S, d, np.ones(5), 2)
    assert np.array_equal(joined.member, [0, 0, 1, 1, 0])
    np.testing.assert_allclose(joined.S[1], [2 / 3, 1 / 3])


@pytest.mark.parametrize("padded", [False, True])
def test_a_stray_row_can_join_the_first_row_and_the_first_component(padded):
    # Row 3 has no edge. Its only candidate is row 0, and nobody has it as one.
    idx = np.array([[1, 2], [0, 2], [0, 1], [0, -1 if padded else 1]])
    S = np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.0, 0.0]])
    d = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [4.0, np.inf]])
    joined = fragments.join_small(idx, S, d, np.ones(4), 2)
    assert joined.n_components == 1
    assert np.array_equal(joined.stray, [False, False, False, True])
    np.testing.assert_allclose(joined.S[3], [1 / 3, 0.0])


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


def test_the_tie_is_as_weak_as_the_weakest_edge():
    A = np.zeros((5, 5))
    A[0, 1] = A[1, 0] = 3.0
    A[1, 2] = A[2, 1] = 0.5
    A[3, 4] = A[4, 3] = 7.0
    Z = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    tied, small = fragments.tie_small(sp.csr_array(A), Z, np.ones(5), 3)
    assert tied.toarray()[2, 3] == tied.toarray()[3, 2] == 0.5
    assert tied.nnz == 8
    assert np.array_equal(small, [False, False, False, True, True])


def test_groups_that_are_large_enough_or_alone_stay_as_they_are():
    pair = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    for A, min_size in ((sp.block_diag([pair, pair]).tocsr(), 2), (pair, 9)):
        n = A.shape[0]
        tied, small = fragments.tie_small(A, np.arange(float(n))[:, None], np.ones(n), min_size)
        assert tied is A
        assert not small.any()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_ties_keep_their_digits_far_from_the_origin(order):
    # The last row, of size 1, lies between the two others, nearer to the second.
    Z, size = np.array([[0.0, 0.0], [1.5, 0.0], [1.0, 0.0]]), np.array([5.0, 6.0, 1.0])
    order, none = list(order), sp.csr_array((3, 3))
    for gap in (1.0, 3.0, 10.0):
        tied, _ = fragments.tie_small(none, (gap * Z + FAR_AWAY)[order], size[order], 2)
        assert {order[i] for i in np.argwhere(tied.toarray()).ravel()} == {1, 2}


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


LINE = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [9.0, 0.0], [10.0, 0.0], [12.0, 0.0]])


@pytest.mark.parametrize("Z", [LINE, sp.csr_array(LINE), LINE + FAR_AWAY, LINE - FAR_AWAY])
@pytest.mark.parametrize("backwards", [False, True])
def test_the_bridge_leaves_from_the_row_that_lies_nearest_to_the_rest(Z, backwards):
    idx = np.array([[1, 2, 3], [0, 2, 3], [1, 0, 3], [4, 5, 2], [3, 5, 2], [4, 3, 2]])
    d = np.array([[1.0, 4, 81], [1, 1, 64], [1, 4, 49], [1, 9, 49], [1, 4, 64], [4, 9, 100]])
    size = np.array([1.0, 1, 1, 2, 2, 2])  # the first three rows are too small a group
    order = np.arange(6)[::-1] if backwards else np.arange(6)
    new, far = fragments.bridge_small(order[idx][order], d[order], 2, Z[order], size[order], 5)
    new, far = order[new][order], far[order]
    assert np.argwhere(new != idx).tolist() == [[2, 1]]
    assert new[2].tolist() == [1, 3, 3]
    assert far[2].tolist() == [1.0, 49.0, 49.0]

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dogc import multigrid
from dogc.arrays import norm_bound
from dogc.products import RowParts
from graphs import blobs, clique, laplacian, neighbour_graph, ring

GRAPHS = {
    "blob": lambda: blobs(0, [300], gap=0.0),
    "three blobs": lambda: blobs(1, [150, 90, 60], gap=40.0),
    "ring": lambda: ring(300),
    "equal weights": lambda: (blobs(2, [300], gap=0.0) > 0).astype(float),
    "rows without edges": lambda: scipy.linalg.block_diag(np.zeros((20, 20)), ring(250)),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(multigrid, "COARSEST", 25)


def prolongation(group, count):
    P = np.zeros((len(group), count))
    P[np.arange(len(group)), group] = 1.0
    return P


@pytest.mark.parametrize("name", GRAPHS)
def test_each_version_is_the_last_one_summed_over_groups(name):
    L = laplacian(GRAPHS[name]())
    hierarchy = multigrid.coarsen(L)
    dense, whole = L.toarray() / norm_bound(L), np.eye(L.shape[0])
    assert hierarchy.levels
    for level in hierarchy.levels:
        P = prolongation(level.group, level.A.shape[0])
        dense, whole = P.T @ dense @ P, whole @ P
        np.testing.assert_allclose(level.A.toarray(), dense, rtol=0, atol=1e-13)
        np.testing.assert_allclose(level.gather.toarray(), P.T)
        np.testing.assert_allclose(level.size, whole.sum(axis=0))


@pytest.mark.parametrize("name", GRAPHS)
def test_groups_are_connected_and_none_is_very_large(name):
    L = laplacian(GRAPHS[name]())
    group = multigrid.coarsen(L).levels[0].group
    sizes = np.bincount(group)
    assert sizes.max() <= 40  # ties would make chains of hundreds
    for which in range(len(sizes)):
        rows = np.flatnonzero(group == which)
        inside = L[rows][:, rows].toarray()
        count, _ = sp.csgraph.connected_components(sp.csr_array(inside != 0))
        assert count == 1


def test_a_path_of_ever_stronger_edges_is_not_one_group():
    n = 400
    weights = 1.0 + np.arange(n - 1) * 1e-6
    L = laplacian(sp.diags_array([weights, weights], offsets=[-1, 1], shape=(n, n)))
    assert np.bincount(multigrid.coarsen(L).levels[0].group).max() <= 40


@pytest.mark.parametrize("shift", [1e-6, 1e-2])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_cycle_is_symmetric_positive_and_near_the_inverse(name, shift):
    L = laplacian(GRAPHS[name]())
    n, unit = L.shape[0], norm_bound(L)
    with RowParts(L) as parts:
        solve = multigrid.Preconditioner(parts, unit, multigrid.coarsen(L), shift)
        M = solve(np.eye(n))
        np.testing.assert_allclose(solve(np.eye(n)[:, 3]), M[:, 3], rtol=1e-9)
    np.testing.assert_allclose(M, M.T, rtol=0, atol=1e-9 * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > 0
    quality = scipy.linalg.eigvals(M @ (L.toarray() / unit + shift * np.eye(n))).real
    assert quality.max() < 2.0  # no direction is overdone
    assert quality.max() / quality.min() < 60  # the inverse itself would be 1, none at all 1/shift


def test_the_hierarchy_of_another_graph_still_makes_a_preconditioner():
    S = blobs(3, [300], gap=0.0)
    changed = S * np.random.default_rng(0).uniform(0.5, 1.0, S.shape)
    L = laplacian(np.triu(changed) + np.triu(changed).T)
    hierarchy = multigrid.coarsen(laplacian(S) * 1e5)  # its unit does not matter
    with RowParts(L) as parts:
        M = multigrid.Preconditioner(parts, norm_bound(L), hierarchy, 1e-4)(np.eye(300))
    quality = scipy.linalg.eigvals(M @ (L.toarray() / norm_bound(L) + 1e-4 * np.eye(300))).real
    assert quality.min() > 0
    assert quality.max() / quality.min() < 60


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000))
def test_no_group_reaches_over_two_components(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 60, 4)
    parts = [neighbour_graph(rng.standard_normal((n, 2)), min(4, n - 1)) for n in sizes]
    L = laplacian(sp.block_diag(parts))
    member = np.repeat(np.arange(4), sizes)
    for level in multigrid.coarsen(L).levels:
        least = np.full(level.A.shape[0], 9)
        most = np.full(level.A.shape[0], -1)
        np.minimum.at(least, level.group, member)
        np.maximum.at(most, level.group, member)
        assert np.array_equal(least, most)
        member = least


def test_what_cannot_be_made_smaller_is_taken_as_diagonal():
    L = laplacian(sp.block_diag([clique(2)] * 100))  # 100 pairs: one version, then no edge is left
    hierarchy = multigrid.coarsen(L)
    assert [level.A.shape[0] for level in hierarchy.levels] == [100]
    assert not len(hierarchy.values)
    with RowParts(L) as parts:
        M = multigrid.Preconditioner(parts, norm_bound(L), hierarchy, 0.1)(np.eye(200))
        assert np.linalg.eigvalsh(M).min() > 0
        assert multigrid.guess(parts, hierarchy, 3).shape == (200, 0)


def test_a_small_graph_is_its_own_smallest_version():
    L = laplacian(ring(12))
    hierarchy = multigrid.coarsen(L)
    assert not hierarchy.levels
    with RowParts(L) as parts:
        M = multigrid.Preconditioner(parts, norm_bound(L), hierarchy, 0.1)(np.eye(12))
    exact = np.linalg.inv(L.toarray() / norm_bound(L) + 0.1 * np.eye(12))
    np.testing.assert_allclose(M, exact, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["blob", "three blobs", "ring"])
def test_the_guess_is_near_the_bottom(name):
    L = laplacian(GRAPHS[name]())
    with RowParts(L) as parts:
        F, _ = np.linalg.qr(multigrid.guess(parts, multigrid.coarsen(L), 6))
    values = np.linalg.eigvalsh(L.toarray())
    assert np.trace(F.T @ L @ F) < 2.0 * values[:6].sum() + 1e-9

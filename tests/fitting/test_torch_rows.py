"""Torch finds the same as NumPy, on a processor or where DOGC_TEST_DEVICE=cuda says."""

import os

import numpy as np
import pytest

from dogc.fitting import links, outlier_scores, sampling
from dogc.fitting.in_memory import RowsInMemory
from dogc.fitting.representatives import Frame, Representatives, as_points, projected
from dogc.fitting.scaling import scale_rows

torch = pytest.importorskip("torch")

from dogc.fitting import torch_rows  # noqa: E402

DEVICE = torch.device(os.environ.get("DOGC_TEST_DEVICE", "cpu"))
N, P, DRAW = 3_000, 60, np.random.default_rng(0)
NORMAL = DRAW.standard_normal((N, 12))
TABLES = {
    "random": NORMAL,
    "plane": NORMAL[:, :2],
    "float32": NORMAL.astype(np.float32),
    "copies": NORMAL[DRAW.integers(0, N // 4, N)],
    "constant columns": np.where(np.arange(12) % 3 == 1, 0.1, NORMAL),
    "tiny": 1e-100 * NORMAL,
    "far away": NORMAL + 1e6,
    "some far": NORMAL * DRAW.choice([1.0, 1e3], (N, 1), p=[0.97, 0.03]),
}
WEIGHT = DRAW.integers(0, 4, N)


def on_device(X, weight=None):
    return torch_rows.TorchRows(torch.as_tensor(X, device=DEVICE), weight, DEVICE)


def made(X, q=None, metric="euclidean"):
    """Representatives of a table that have labels, among q directions."""
    frame = Frame(scale_rows(X), None)
    frame = projected(frame, DRAW.standard_normal((q, X.shape[1]))) if q else frame
    R = np.unique(as_points(frame, X), axis=0)[:: 700 // P][:P]
    _, d = links.nearest(links.make_search(R, metric), as_points(frame, X), links.LINKS)
    width, labels = links.common_width(d, np.ones(len(d))), np.arange(P) % 3
    reach = outlier_scores.representative_reach(R, links.LINKS, metric)
    more = {"reach": reach, "stray": labels * np.arange(P) > 100, "metric": metric}
    return Representatives(frame, R, links.LINKS, width, labels, **more)


@pytest.mark.parametrize("size", [7, 500, 5_000])
@pytest.mark.parametrize("table", TABLES)
def test_the_sample_is_the_same_to_the_last_bit_in_any_blocks(table, size, monkeypatch):
    X = TABLES[table] * np.where(np.arange(N) == 1, -0.0, 1.0).astype(TABLES[table].dtype)[:, None]
    monkeypatch.setattr(torch_rows, "ELEMENTS", 1)
    found, wanted = on_device(X, WEIGHT).draw(size), RowsInMemory(X, WEIGHT).draw(size)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_keys_of_odd_numbers_have_the_same_bits():
    X = DRAW.choice([0.0, -0.0, 1e300, 5e-324, np.inf, -1.0], (500, 3))[:, ::2]
    names = np.array([7, 1 << 60])
    keys = torch_rows.row_keys(*(torch.as_tensor(x, device=DEVICE) for x in (X, names)))
    np.testing.assert_array_equal(keys.cpu().numpy().view(np.uint64), sampling.row_keys(X, names))


@pytest.mark.parametrize(("q", "metric"), [(None, "euclidean"), (None, "manhattan"), (7, None)])
@pytest.mark.parametrize("table", TABLES)
def test_links_and_what_comes_of_them_are_the_same(table, q, metric):
    fitted = made(TABLES[table], q, metric or "euclidean")
    # New rows vary where the fitted ones did not.
    X, halves = NORMAL if table == "constant columns" else TABLES[table], np.arange(N) % 4
    (ours, sums), (theirs, wanted) = (
        rows.link(fitted) for rows in (on_device(X, WEIGHT), RowsInMemory(X, WEIGHT))
    )
    kept = np.concatenate([found.idx.cpu().numpy() for _, found in ours])
    assert (kept == theirs.rows.idx).mean() >= 0.9999
    A, other = links.link_graph(sums).toarray(), links.link_graph(wanted).toarray()
    np.testing.assert_allclose(A, other, atol=1e-3 * other.max())
    np.testing.assert_allclose(sums.mass, wanted.mass, rtol=1e-3)
    for one, many in zip(ours.count(fitted.labels)[0], theirs.count(fitted.labels)[0], strict=True):
        np.testing.assert_array_equal(one, many)
    for mark in (None, -1):
        for one, many in zip(ours.facts(fitted, mark), theirs.facts(fitted, mark), strict=True):
            assert str(one.dtype).removeprefix("torch.") == many.dtype
            assert np.isclose(one.cpu(), many, atol=2e-3).mean() >= 0.9999
    votes = theirs.first_votes(halves, 4)
    np.testing.assert_allclose(ours.first_votes(halves, 4), votes, atol=9)


def test_rows_in_the_middle_get_the_lowest_label_every_time():
    X = np.array([[-1.0], [1.0], [0.0]] * 400)
    fitted = made(X)._replace(R=X[:2], labels=np.array([1, 0]), reach=None, stray=None)
    for _ in range(2):
        linked, _ = on_device(X).link(fitted._replace(frame=Frame(scale_rows(X), None)))
        assert set(linked.facts(fitted).labels.tolist()[2::3]) == {0}


def test_the_nearest_mean_is_the_first_in_a_tie():
    Z = DRAW.integers(-4, 5, (N, 6)).astype(float)
    R = np.vstack([Z[:P], Z[:P]])
    found = on_device(Z).nearest_mean(Z, R)
    np.testing.assert_array_equal(found, RowsInMemory(Z).nearest_mean(Z, R))

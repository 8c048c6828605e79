"""What torch finds is what NumPy finds.

On a processor, or on the device that the environment names: DOGC_TEST_DEVICE=cuda.
"""

import functools
import os

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dogc import DOGC
from dogc.fitting import links, outlier_scores, representatives, sampling
from dogc.fitting.in_memory import RowsInMemory
from dogc.fitting.linked import linked_labels, linked_shares, row_votes
from dogc.fitting.representatives import Frame, Representatives
from dogc.fitting.scaling import scale_rows
from dogc.numerics import discrete, lloyd, outliers

torch = pytest.importorskip("torch")

from dogc.fitting import torch_labels, torch_links, torch_sampling  # noqa: E402

DEVICE = os.environ.get("DOGC_TEST_DEVICE", "cpu")
K = links.LINKS


@pytest.fixture(autouse=True)
def exact_roots(monkeypatch):
    """Square roots to the last bit; those that torch takes on a processor may be off by it."""
    if DEVICE == "cpu":
        monkeypatch.setattr(torch, "sqrt", lambda x: torch.from_numpy(np.sqrt(x.numpy())))


def on(x):
    return torch.tensor(np.asarray(x), device=DEVICE)


def host(x):
    return x.cpu().numpy()


def host_links(found, p):
    """The links as arrays, as links.link_rows gives them for p representatives."""
    kind = np.uint16 if p <= 1 << 16 else np.uint32
    strength, share = (host(part).astype(np.uint16) for part in (found.strength, found.share))
    return links.RowLinks(host(found.idx).astype(kind), strength, share, host(found.reach))


def assert_same(one, other):
    np.testing.assert_array_equal(one, other, strict=True)


def twice(function):
    """What a function gives, the same when it is asked again."""
    one, other = function(), function()
    for a, b in zip(one, other, strict=True):
        assert torch.equal(a, b)
    return one


# ------------------------------------------------------------------------------ tables

RNG = np.random.default_rng(0)


def table(name, n, d, seed=0):
    """Rows of a kind that has its own dangers."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return {
        "random": lambda: X,
        "grid": lambda: rng.integers(-2, 3, (n, d)).astype(float),
        "copies": lambda: X[rng.integers(0, max(n // 4, 1), n)],
        "constant": lambda: np.where(np.arange(d) % 3 == 1, 0.1, X),
        "huge": lambda: X * 1e30,
        "tiny": lambda: X * 1e-100,
        "far away": lambda: X + 1e6,
        "some far": lambda: X * rng.choice([1.0, 1e5], (n, 1), p=[0.9, 0.1]),
        "few far": lambda: X * rng.choice([1.0, 1e7], (n, 1), p=[0.97, 0.03]),
        "zeros": lambda: np.zeros((n, d)),
    }[name]()


TABLES = (
    *("random", "grid", "copies", "constant", "huge", "tiny"),
    *("far away", "some far", "few far", "zeros"),
)
every_table = pytest.mark.parametrize("name", TABLES)
numbers = pytest.mark.parametrize("dtype", [np.float64, np.float32])


# ------------------------------------------------------------------ keys and the sample


def assert_same_sample(found, wanted):
    for one, other in zip(torch_sampling.to_host(found), wanted, strict=True):
        assert_same(one, other)


@numbers
@pytest.mark.parametrize("d", [1, 2, 7, 40])
@pytest.mark.parametrize("name", ["random", "grid", "copies", "far away", "some far", "zeros"])
def test_keys_have_the_same_bits(name, d, dtype):
    X = table(name, 300, d).astype(dtype)
    keys = torch_sampling.row_keys(on(X))
    assert_same(host(keys).view(np.uint64), sampling.row_keys(X))


def test_keys_of_odd_numbers_have_the_same_bits():
    odd = np.array([0.0, -0.0, 1e300, 5e-324, -5e-324, np.inf, -np.inf, 1.0, -1.0])
    X = RNG.choice(odd, (500, 3))
    keys = torch_sampling.row_keys(on(X))
    assert_same(host(keys).view(np.uint64), sampling.row_keys(X))
    assert len(set(keys.tolist())) < 500
    zeros = torch_sampling.row_keys(on(np.array([[0.0, 1.0], [-0.0, 1.0]])))
    assert zeros[0] == zeros[1]


def test_keys_of_rows_that_lie_apart_in_memory_and_of_whole_numbers():
    X = RNG.standard_normal((40, 6))
    assert torch.equal(
        torch_sampling.row_keys(on(X)[:, ::2]), torch_sampling.row_keys(on(X[:, ::2]))
    )
    whole = RNG.integers(-3, 3, (50, 2))
    assert_same(host(torch_sampling.row_keys(on(whole))).view(np.uint64), sampling.row_keys(whole))


@numbers
@pytest.mark.parametrize("size", [1, 7, 60, 5_000])
@pytest.mark.parametrize("name", ["random", "grid", "copies", "zeros"])
def test_the_sample_is_the_same(name, size, dtype):
    X = table(name, 1_000, 3).astype(dtype)
    weight = RNG.choice([0, 1, 2, 1 << 30], 1_000)
    before = X.copy()
    found = twice(lambda: torch_sampling.smallest_keys(on(X), on(weight), size))
    assert_same_sample(found, sampling.smallest_keys(X, weight, size))
    assert_same(X, before)


def test_of_equal_rows_the_first_that_counts_is_kept():
    X = np.array([[-0.0], [0.0], [1.0]])
    for weight in ([1, 1, 1], [0, 1, 1], [1, 0, 1]):
        found = torch_sampling.smallest_keys(on(X), on(np.array(weight)), 5)
        wanted = sampling.smallest_keys(X, np.array(weight), 5)
        assert_same_sample(found, wanted)
        assert_same(np.signbit(host(found.X)), np.signbit(wanted.X))


def test_rows_that_do_not_count_leave_an_empty_sample():
    X, none = RNG.standard_normal((5, 2)), np.zeros(5, dtype=np.int64)
    empty = torch_sampling.smallest_keys(on(X), on(none), 3)
    assert_same_sample(empty, sampling.smallest_keys(X, none, 3))
    some = torch_sampling.smallest_keys(on(X), on(none + 1), 3)
    for both in (torch_sampling.merged(empty, some, 3), torch_sampling.merged(some, empty, 3)):
        assert_same_sample(both, torch_sampling.to_host(some))


@pytest.mark.parametrize("name", ["random", "grid", "copies"])
@pytest.mark.parametrize("size", [5, 100])
def test_merged_samples_are_those_of_numpy_in_any_blocks_and_order(name, size):
    X, weight = table(name, 900, 2), RNG.integers(0, 4, 900)
    wanted = sampling.smallest_keys(X, weight, size)
    for block in (100, 450, 899):
        order = RNG.permutation(900)
        drawn = None
        for start in range(0, 900, block):
            rows = order[start : start + block]
            part = torch_sampling.smallest_keys(on(X[rows]), on(weight[rows]), size)
            drawn = part if drawn is None else torch_sampling.merged(drawn, part, size)
        assert_same_sample(drawn, wanted)
    halves = [(X[:450], weight[:450]), (X[450:], weight[450:])]
    ours = torch_sampling.merged(
        *(torch_sampling.smallest_keys(on(x), on(w), size) for x, w in halves), size
    )
    assert_same_sample(
        ours, sampling.merged(*(sampling.smallest_keys(*h, size) for h in halves), size)
    )


# --------------------------------------------------------------------- rows as points


def made(R, frame=None, labels=None, n_links=K, metric="euclidean", **more):
    """Representatives in a frame that leaves rows as they are, unless another is given."""
    if frame is None:
        d = R.shape[1]
        as_they_are = scale_rows(R)._replace(origin=np.zeros(d), unit=1.0, scatter=1.0)
        frame = Frame(as_they_are._replace(centre=np.zeros(d), constant=None), None)
    labels = np.arange(len(R)) % 3 if labels is None else labels
    n_links = min(n_links, len(R))
    _, d = links.nearest(links.make_search(R, metric), R[:200], n_links)
    width = links.common_width(d, np.ones(len(d)))
    reach = outlier_scores.representative_reach(R, n_links, metric)
    return Representatives(
        frame, R, n_links, width, labels, reach=reach, metric=metric, stray=labels == 1
    )._replace(**more)


def framed(X, q=None, units=False):
    """The frame of a table, with q directions to look along."""
    frame = Frame(scale_rows(X), None)
    if units:
        frame = frame._replace(scaled=frame.scaled._replace(unit=np.linspace(0.3, 7.0, X.shape[1])))
    if q is None:
        return frame
    return representatives.projected(
        frame, np.random.default_rng(1).standard_normal((q, X.shape[1]))
    )


@numbers
@every_table
@pytest.mark.parametrize(("d", "q"), [(1, None), (2, None), (40, None), (3, 2), (12, 2), (40, 7)])
def test_points_are_the_same_to_the_last_bit(name, d, q, dtype):
    X = np.clip(table(name, 400, d), -1e38, 1e38).astype(dtype)
    frame = framed(X, q)
    fitted = torch_links.on_device(made(RNG.standard_normal((9, q or d)), frame), DEVICE)
    rows = on(X)
    Z = torch_links.as_points(fitted, rows)
    assert_same(host(Z), representatives.as_points(frame, X))
    assert_same(host(rows), X)


def test_columns_that_were_constant_say_nothing_of_new_rows():
    frame = framed(table("constant", 300, 5))
    fitted = torch_links.on_device(made(RNG.standard_normal((9, 5)), frame), DEVICE)
    X = table("random", 50, 5, seed=1)
    Z = host(torch_links.as_points(fitted, on(X)))
    assert_same(Z, representatives.as_points(frame, X))
    assert (Z == 0).all(axis=0).tolist() == [False, True, False, False, True]


@pytest.mark.parametrize("q", [None, 2])
def test_points_where_each_column_has_its_own_unit(q):
    X = table("random", 300, 6)
    frame = framed(X, q, units=True)
    fitted = torch_links.on_device(made(RNG.standard_normal((9, q or 6)), frame), DEVICE)
    assert_same(host(torch_links.as_points(fitted, on(X))), representatives.as_points(frame, X))


@every_table
@pytest.mark.parametrize("bits", [3, 22])
@pytest.mark.parametrize("unit", [1.0, 0.25, 2.0**-340, 2.0**330])
def test_rounding_is_the_same(name, bits, unit):
    Z = table(name, 300, 6)
    assert_same(host(torch_links.rounded(on(Z), on(unit), bits)), links.rounded(Z, unit, bits))


@pytest.mark.parametrize("power", [0, 1, 5, 300, 900])
def test_rounding_beyond_a_power_of_two_steps_up_at_once(power):
    at, small = 2.0 ** (power + 1), 2.0**power / 4
    Z = np.array([[at, small], [np.nextafter(at, np.inf), small]])
    found = torch_links.rounded(on(Z), on(1.0), 2)
    assert found.tolist() == [[at, small], [at, 0.0]]


def test_rows_beyond_all_numbers_are_no_error():
    R = np.random.default_rng(0).standard_normal((30, 8))
    for d in (2, 8):
        for metric in ("euclidean", "manhattan"):
            fitted = torch_links.on_device(made(R[:, :d], metric=metric), DEVICE)
            Z = np.full((4, d), 1e308) * [[1.0], [-1.0], [np.inf], [np.nan]]
            found = torch_links.link_rows(fitted, on(Z))
            assert found.idx.min() >= 0
            assert found.idx.max() < 30
            assert (found.strength == 0).all()
            assert (found.share == links.ONE // K).all()
            A, mass = sums_of(fitted, found, on(np.ones(4, dtype=np.int64)))
            assert A.sum() == 0
            assert mass.sum() == 4 * links.ONE
            assert set(torch_labels.labels(fitted, found).tolist()) <= {0, 1, 2}


# ------------------------------------------------------------- the nearest representatives


def by_brute_force(fitted, Z, k):
    """All distances of rows as the search sees them; the lower index in a tie."""
    search = links.make_search(fitted.R, fitted.metric)
    Z = links._rounded(search, Z - search.origin)
    apart = np.abs(Z[:, None, :] - search.R)
    if search.p == 2:
        apart *= apart
    distance = np.zeros(apart.shape[:2])
    for j in range(apart.shape[2]):  # a sum by NumPy has another order
        distance += apart[:, :, j]
    idx = np.argsort(distance, axis=1, kind="stable")[:, :k]
    d = np.take_along_axis(distance, idx, axis=1)
    return idx, np.square(np.sqrt(d) if search.p == 2 else d)


def untied(device, Z, k):
    """Which of the nearest are so near alone: NumPy has others in any order, or any of them."""
    d = host(torch_links.nearest(device, on(Z), k + 1)[1])
    apart = np.diff(d, axis=1, prepend=-1.0, append=np.inf) > 0
    return (apart[:, :-1] & apart[:, 1:])[:, :k]


metrics = pytest.mark.parametrize("metric", ["euclidean", "manhattan"])


@metrics
@every_table
@pytest.mark.parametrize("q", [1, 2, 4, 5, 6, 12, 40])
def test_the_nearest_are_those_of_numpy(name, q, metric):
    R = table(name, 90, q, seed=1)
    Z = np.vstack([table(name, 700, q, seed=2), R])
    fitted = made(R, metric=metric)
    device = torch_links.on_device(fitted, DEVICE)
    idx, d = map(host, twice(lambda: torch_links.nearest(device, on(Z), K)))
    theirs, distance = links.nearest(links.make_search(R, metric), Z, K)
    assert_same(d, distance)
    alone = untied(device, Z, K)
    assert_same(idx[alone], theirs[alone])
    assert alone.all() or name in ("grid", "copies", "zeros", "some far", "few far")


@metrics
@pytest.mark.parametrize("name", ["random", "grid", "copies", "constant", "zeros"])
@pytest.mark.parametrize("q", [1, 2, 5, 6, 12])
def test_the_lower_index_comes_first_in_a_tie(name, q, metric):
    R, Z = table(name, 300, q, seed=1), table(name, 200, q, seed=2)
    fitted = made(R, metric=metric)
    idx, d = torch_links.nearest(torch_links.on_device(fitted, DEVICE), on(Z), K)
    wanted, distance = by_brute_force(fitted, Z, K)
    assert_same(host(idx), wanted)
    assert_same(host(d), distance)


@metrics
@pytest.mark.parametrize("q", [2, 12])
@pytest.mark.parametrize("p", [1, 3])
def test_fewer_representatives_than_links(p, q, metric):
    fitted = made(table("random", p, q), metric=metric, labels=np.zeros(p, dtype=np.int64))
    device = torch_links.on_device(fitted, DEVICE)
    Z = table("random", 20, q, seed=3)
    idx, d = torch_links.nearest(device, on(Z), K)
    wanted, distance = by_brute_force(fitted, Z, K)
    assert_same(host(idx), wanted)
    assert_same(host(d), distance)
    assert_same_links(torch_links.link_rows(device, on(Z)), fitted, Z)


@pytest.mark.parametrize("q", [1, 7, 40])
@every_table
def test_the_nearest_mean_is_that_of_numpy(name, q):
    unit, bits = 4.0, links.exact_bits(q)
    Z = links.rounded(np.clip(table(name, 500, q), -4.0, 4.0), unit, bits)
    R = links.rounded(np.clip(table(name, 60, q, seed=1), -4.0, 4.0), unit, bits)
    R = np.vstack([R, R[::-1]])  # every one of them is tied
    cell = torch_links.nearest_mean(on(Z), on(R))
    assert_same(host(cell), lloyd.nearest_mean(Z, R))
    assert cell.max() < 60


# ---------------------------------------------------------------------- links and sums


def assert_same_links(found, fitted, Z):
    """As NumPy finds them, save a unit where the last bit of an exponential tips a rounding."""
    wanted = links.link_rows(
        links.make_search(fitted.R, fitted.metric), Z, fitted.n_links, fitted.width
    )
    found = host_links(found, len(fitted.R))
    alone = untied(torch_links.on_device(fitted, DEVICE), Z, fitted.n_links)
    assert_same(found.idx[alone], wanted.idx[alone])
    assert found.idx.dtype == wanted.idx.dtype
    assert_same(found.reach, wanted.reach)
    for one, other in ((found.strength, wanted.strength), (found.share, wanted.share)):
        assert one.dtype == other.dtype
        assert np.abs(one.astype(int) - other).max() <= 1
        assert (one != other).mean() <= 1e-3


@metrics
@pytest.mark.parametrize("name", ["random", "constant", "huge", "tiny", "far away", "some far"])
@pytest.mark.parametrize("n_links", [1, 5, 8, 13, 20])
@pytest.mark.parametrize("q", [2, 9])
def test_links_are_those_of_numpy(name, q, n_links, metric):
    fitted = made(table(name, 80, q, seed=1), n_links=n_links, metric=metric)
    Z = table(name, 600, q, seed=2)
    device = torch_links.on_device(fitted, DEVICE)
    found = twice(lambda: torch_links.link_rows(device, on(Z)))
    assert_same_links(found, fitted, Z)
    assert found.reach.dtype == torch.float32


@pytest.mark.parametrize("width", [1e-200, 1e-6, 1e6])
def test_links_of_any_width(width):
    fitted = made(table("random", 80, 3, seed=1), width=width)
    Z = np.vstack([table("random", 300, 3), fitted.R])
    found = torch_links.link_rows(torch_links.on_device(fitted, DEVICE), on(Z))
    assert_same_links(found, fitted, Z)


@pytest.mark.parametrize("p", [1 << 16, (1 << 16) + 1])
def test_links_with_the_last_of_many_representatives(p):
    idx, whole = on(np.array([[p - 1, 0]])), on(np.array([[links.ONE, 0]], dtype=np.int32))
    found = host_links(
        torch_links.DeviceLinks(idx, whole, whole, on(np.zeros(1, dtype=np.float32))), p
    )
    assert found.idx.tolist() == [[p - 1, 0]]
    assert found.share.tolist() == found.strength.tolist() == [[links.ONE, 0]]


@pytest.mark.parametrize("k", [1, 2, 7, 8, 9, 15, 16, 24, 31])
def test_sums_of_columns_have_the_order_of_numpy(k):
    x = np.exp(RNG.standard_normal((2_000, k)) * 9.0)
    assert_same(host(torch_links.row_sums(on(x))[:, 0]), x.sum(axis=1))


def sums_of(fitted, found, weight):
    p = len(fitted.labels)
    A = torch.zeros(p, p, dtype=torch.int64, device=DEVICE)
    mass = torch.zeros(p, dtype=torch.int64, device=DEVICE)
    torch_links.add_links(A, mass, found, weight)
    return A, mass


def off_diagonal(A):
    A = A.toarray()
    np.fill_diagonal(A, 0)
    return A


@pytest.mark.parametrize("n_links", [1, 2, 8])
@pytest.mark.parametrize("most", [1, 3, 1 << 24])
@pytest.mark.parametrize("name", ["random", "grid", "copies"])
def test_sums_are_those_of_numpy(name, most, n_links):
    fitted = made(table(name, 50, 2, seed=1), n_links=n_links)
    Z, weight = table(name, 800, 2, seed=2), RNG.integers(most > 1, most + 1, 800)
    weight[::7] = 0
    device = torch_links.on_device(fitted, DEVICE)
    found = torch_links.link_rows(device, on(Z))
    A, mass = twice(lambda: sums_of(device, found, on(weight)))
    ours = torch_links.link_sums(A, mass)
    theirs = links.link_sums(host_links(found, 50), weight, 50)
    assert ours.A.dtype == ours.mass.dtype == np.int64
    assert_same(ours.A.toarray(), off_diagonal(theirs.A))
    assert_same(ours.mass, theirs.mass)
    one, other = links.link_graph(ours), links.link_graph(theirs)
    assert_same(one.toarray(), other.toarray())
    assert_same(one.indices, other.indices)


@pytest.mark.parametrize("q", [2, 12])
def test_neither_blocks_nor_the_order_of_rows_change_anything(q):
    fitted = made(table("random", 60, q, seed=1))
    device = torch_links.on_device(fitted, DEVICE)
    Z, weight = on(table("random", 1_000, q)), on(RNG.integers(0, 9, 1_000))
    whole = torch_links.link_rows(device, Z)
    A, mass = sums_of(device, whole, weight)
    for size in (1, 37, 512):
        order = torch.tensor(RNG.permutation(1_000)[: 60 * size], device=DEVICE)
        again, total = torch.zeros_like(A), torch.zeros_like(mass)
        for rows in order.split(size):
            found = torch_links.link_rows(device, Z[rows])
            torch_links.add_links(again, total, found, weight[rows])
            for one, other in zip(found, whole, strict=True):
                assert torch.equal(one, other[rows])
        if len(order) == 1_000:
            assert torch.equal(again, A)
            assert torch.equal(total, mass)


# ------------------------------------------------------------------- labels and scores


@functools.cache
def fit(d, dtype, c):
    """A model of many rows, and those."""
    X = make_blobs(5_000, n_features=d, centers=3, cluster_std=2.0, random_state=0)[0] * 7.0 + 100.0
    X = X.astype(dtype)
    geometry = "given" if d == 9 else "auto"
    return DOGC(c, geometry=geometry).fit(X)._fitted_rows, X


# Nine columns are compared as they are, twelve along a few directions.
FITS = [
    *((2, np.float64, 3), (5, np.float32, 3), (9, np.float32, 3)),
    *((12, np.float64, 3), (2, np.float64, 1)),
]
fits = pytest.mark.parametrize(("d", "dtype", "c"), FITS)


def linked(fitted, X):
    device = torch_links.on_device(fitted, DEVICE)
    return device, torch_links.link_rows(device, torch_links.as_points(device, on(X)))


@fits
def test_rows_of_a_fit_get_their_labels_and_scores(d, dtype, c):
    fitted, X = fit(d, dtype, c)
    fitted = fitted._replace(stray=fitted.labels == c - 1)
    device, found = linked(fitted, X)
    rows = RowsInMemory(X).link(fitted)[0].rows
    assert_same(host_links(found, len(fitted.R)).idx, rows.idx)
    label, sure = row_votes(rows, fitted.labels)
    assert_same(host(torch_labels.labels(device, found)), label)
    assert_same(host(torch_labels.labels(device, found)), linked_labels(fitted, X, 1))
    np.testing.assert_allclose(host(torch_labels.sureness(device, found)), sure, atol=2e-4)
    wanted = linked_shares(fitted, X, 1)
    np.testing.assert_allclose(host(torch_labels.shares(device, found)), wanted, atol=2e-4)
    score = torch_labels.outlier_scores(device, found)
    assert_same(host(score), outlier_scores._linked_scores(fitted, X, 1))
    assert_same(
        host(torch_labels.fitted_scores(device, found)), outlier_scores.row_scores(fitted, rows, 1)
    )
    strange = outlier_scores.are_outliers(fitted, X, host(score), 1)
    assert_same(host(torch_labels.are_outliers(device, found, score)), strange)


@pytest.mark.parametrize("n_votes", [1, 2, 5, 8])
@pytest.mark.parametrize("c", [1, 2, 7])
@pytest.mark.parametrize("name", ["random", "grid", "copies"])
def test_votes_are_those_of_numpy(name, c, n_votes):
    fitted = made(table(name, 60, 2, seed=1), labels=RNG.integers(0, c, 60), n_votes=n_votes)
    fitted.labels[0] = c - 1
    device, found = linked(fitted, table(name, 500, 2))
    rows = host_links(found, 60)
    voted = discrete.label_shares(fitted.labels[rows.idx[:, :n_votes]], rows.share[:, :n_votes], c)
    assert_same(host(torch_labels.labels(device, found)), voted.argmax(axis=1))
    share = host(torch_labels.shares(device, found))
    assert_same(share, voted / voted.sum(axis=1, keepdims=True))
    assert_same(host(torch_labels.sureness(device, found)), share.max(axis=1))


def test_the_lowest_label_wins_a_tie():
    R = np.array([[-1.0], [1.0]])
    for labels in ([0, 1], [1, 0]):
        device, found = linked(made(R, labels=np.array(labels)), np.zeros((3, 1)))
        assert torch_labels.labels(device, found).tolist() == [0, 0, 0]
        assert torch_labels.sureness(device, found).tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("n_links", [1, 2, 3, 8])
@pytest.mark.parametrize("lost", [0.0, 0.3, 0.9, 1.0])
def test_scores_where_some_reaches_are_not_known(n_links, lost):
    fitted = made(table("random", 60, 2, seed=1), n_links=n_links)
    reach = np.where(RNG.random(60) < lost, np.inf, RNG.random(60))
    fitted = fitted._replace(reach=reach)
    X = np.vstack([table("random", 500, 2), 1e9 * np.ones((1, 2))])
    device, found = linked(fitted, X)
    score = torch_labels.outlier_scores(device, found)
    assert_same(host(score), outlier_scores._linked_scores(fitted, X, 1))
    assert score.max() <= outliers.MOST


def test_scores_where_all_reaches_are_zero():
    fitted = made(np.repeat(table("random", 3, 2), 20, axis=0))
    fitted = fitted._replace(reach=np.zeros(60))
    X = np.vstack([fitted.R, table("random", 50, 2, seed=4)])
    device, found = linked(fitted, X)
    wanted = outlier_scores._linked_scores(fitted, X, 1)
    assert_same(host(torch_labels.outlier_scores(device, found)), wanted)
    assert set(wanted.tolist()) == {1.0, outliers.MOST}


def test_a_model_without_scores_has_labels():
    fitted = made(table("random", 30, 2), reach=None, stray=None)
    device, found = linked(fitted, table("random", 40, 2))
    assert len(torch_labels.labels(device, found)) == 40
    far = torch_labels.are_outliers(device, found, on(np.linspace(0.0, 6.0, 40)))
    assert far.sum() == 20

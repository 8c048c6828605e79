import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dogc.fitting import sampling
from dogc.fitting.in_memory import RowsInMemory

thorough = settings(deadline=None, max_examples=30)

# ------------------------------------------------------------------------------ the keys


@st.composite
def tables(draw, most_rows=40):
    """Rows with many copies, zeros and signs; some numbers huge, some tiny."""
    n, d = draw(st.integers(1, most_rows)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 1e300, 5e-324, 3.25])
    return rng.choice(values[: draw(st.integers(1, 8))], size=(n, d))


def as_bytes(row):
    return (row + 0.0).tobytes()  # -0.0 is 0.0


@thorough
@given(tables())
def test_rows_have_equal_keys_where_they_are_equal_and_others_elsewhere(X):
    keys = sampling.row_keys(X)
    assert keys.dtype == np.uint64
    same = {}
    for row, key in zip(X, keys, strict=True):
        same.setdefault(as_bytes(row), set()).add(int(key))
    assert all(len(found) == 1 for found in same.values())
    assert len({int(key) for key in keys}) == len(same)


# ------------------------------------------------------------------------------ the sample


def slow_sample(X, weight, size):
    """A dictionary from rows to what they count for, the smallest keys first."""
    total, keys = {}, {}
    for row, count, key in zip(X, weight, sampling.row_keys(X), strict=True):
        if count > 0:
            total[as_bytes(row)] = total.get(as_bytes(row), 0) + int(count)
            keys[as_bytes(row)] = int(key)
    chosen = sorted(total, key=keys.get)[:size]
    return [keys[row] for row in chosen], chosen, [total[row] for row in chosen]


def assert_same_sample(found, wanted):
    keys, rows, weight = wanted
    X = found.X.toarray() if sp.issparse(found.X) else found.X
    assert found.keys.tolist() == keys
    assert [as_bytes(row) for row in X] == rows
    assert found.weight.tolist() == weight
    assert found.weight.dtype == np.int64


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
@thorough
@given(tables(120), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_a_sample_matches_the_obvious_loop(make, X, size, seed):
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[0] = 1
    assert_same_sample(sampling.smallest_keys(make(X), weight, size), slow_sample(X, weight, size))


@thorough
@given(tables(60), st.integers(1, 12), st.data())
def test_the_sample_of_the_whole_comes_from_samples_of_parts_in_any_order(X, size, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    weight = rng.integers(0, 4, len(X))
    cuts = np.sort(rng.integers(0, len(X) + 1, data.draw(st.integers(0, 4))))
    order = rng.permutation(len(X))
    parts = [sampling.smallest_keys(X[i], weight[i], size) for i in np.split(order, cuts)]
    while len(parts) > 1:  # any two, in any order
        one = parts.pop(rng.integers(len(parts)))
        other = parts.pop(rng.integers(len(parts)))
        parts.append(sampling.merged(one, other, size))
    assert_same_sample(parts[0], slow_sample(X, weight, size))


# ------------------------------------------------------------------------------ whole weights


def whole(weight):
    facts = sampling.weight_facts(weight)
    return sampling.whole_weights(weight, facts), facts.unit


@thorough
@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20).filter(lambda w: max(w) > 0),
    st.sampled_from([1e-300, 1e-3, 1.0, 3.0, 1e12, 1e300]),
)
def test_other_weights_become_whole_with_twenty_bits_and_none_vanishes(shares, scale):
    given_weights = np.array(shares) * scale
    if given_weights.max() < 1e-290 or sampling.weight_facts(given_weights).scale is None:
        return
    weight, unit = whole(given_weights)
    assert weight.dtype == np.int64
    assert weight.max() <= 2**20
    np.testing.assert_array_equal(weight > 0, given_weights > 0)
    # Half a unit is rounded away; what is smaller counts for a whole one.
    assert (np.abs(weight * unit - given_weights) <= unit * (1 + 1e-9)).all()


# ------------------------------------------------------------- changes of X that mean nothing


def sparse(X, weight):
    return RowsInMemory(sp.csr_array(X), weight)


def in_dask(X, weight):
    da = pytest.importorskip("dask.array")
    weight = None if weight is None else da.from_array(weight, chunks=70)
    return pytest.importorskip("dogc.fitting.dask_rows").DaskRows(
        da.from_array(X, chunks=(70, -1)), weight, False, 1
    )


def in_torch(X, weight):
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("dogc.fitting.torch_rows")
    return module.TorchRows(np.ascontiguousarray(X), weight, torch.device("cpu"))


@pytest.mark.parametrize("rows", [RowsInMemory, sparse, in_dask, in_torch])
@pytest.mark.parametrize("scale", [1.0, 1e-120])
def test_a_sample_does_not_hang_on_units_order_constant_columns_or_copies(rows, scale):
    rng = np.random.default_rng(0)
    ties = rng.permuted(np.arange(600) % 4, axis=0)  # equal values, elsewhere
    noise = rng.standard_normal((600, 3)) * (rng.random((600, 3)) < 0.7)
    X = np.column_stack([noise, ties, rng.permutation(ties), ties == 2, rng.permutation(ties) == 2])
    X, weight = X * scale, rng.integers(0, 3, 600)
    order, places = rng.permutation(600), rng.permutation(X.shape[1])
    seven = np.where(weight > 0, 7.0 * scale, 9.0)  # elsewhere where nobody counts
    same = {  # the rows as they are changed, what they weigh, and the change undone
        "order of rows": (X[order], weight[order], lambda Z: Z),
        "order of columns": (X[:, places], weight, lambda Z: Z[:, np.argsort(places)]),
        "times 1024": (1024.0 * X, weight, lambda Z: Z / 1024.0),
        "constant column": (np.insert(X, 2, seven, axis=1), weight, lambda Z: np.delete(Z, 2, 1)),
        "copies": (np.repeat(X, weight, axis=0), None, lambda Z: Z),
        "weights of a quarter": (X, weight / 4, lambda Z: Z),
    }
    wanted = RowsInMemory(X, weight).draw(90)
    for name, (changed, counts, undone) in same.items():
        found = rows(changed, counts).draw(90)
        Z = found.X.toarray() if sp.issparse(found.X) else found.X
        np.testing.assert_array_equal(undone(Z), wanted.X, err_msg=name)
        np.testing.assert_array_equal(found.keys, wanted.keys)


def test_distinct_rows_behind_many_copies_are_counted():
    X = np.repeat([[1.0, 0.0], [-0.0, 2.0], [0.0, 2.0]], 400, axis=0)
    for rows in (X, sp.csr_array(X)):
        assert [RowsInMemory(rows).count_distinct(enough) for enough in (1, 2, 9)] == [1, 2, 2]

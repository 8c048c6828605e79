"""Rows on the library's own scale: the same to the last bit whatever unit they came in."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dogc.fitting import column_maps, scaling
from dogc.fitting.auto.n_components import geometry_of
from dogc.fitting.many import frame_in
from dogc.fitting.representatives import as_points

whole = arrays(np.float64, (12, 3), elements=st.integers(-40, 40).map(float))


@given(whole, st.floats(1e-3, 1e3), st.sampled_from([0.0, 1.0, -7.0]))
def test_whole_numbers_scale_alike_in_every_unit(X, factor, shift):
    assert np.array_equal(
        scaling.scale_rows(X).X, scaling.scale_rows(X * factor + shift * factor).X
    )


@given(whole, st.floats(1e-3, 1e3))
def test_sparse_whole_numbers_too(X, factor):
    one, other = (scaling.scale_rows(sp.csr_array(A)).X for A in (X, X * factor))
    assert np.array_equal(one.toarray(), other.toarray())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scaling_is_a_shift_and_one_division(dtype):
    X = np.random.default_rng(0).normal(5.0, 2.0, (50, 4)).astype(dtype)
    scaled = scaling.scale_rows(X)
    assert scaled.X.dtype == dtype
    expected = (X - scaled.shift) / scaled.scale
    np.testing.assert_allclose(scaled.X, expected, atol=1e-10 if dtype == np.float64 else 1e-6)
    assert (scaled.X**2).sum() == pytest.approx(1.0, rel=1e-5)
    assert np.array_equal(scaling.apply_scale(scaled, X), scaled.X)


def test_detail_beside_a_far_row_is_kept():
    X = np.random.default_rng(0).normal(size=(50, 2))
    far = np.vstack([X, [[1e10, -1e10]]])
    scaled = scaling.scale_rows(far)
    kept = scaled.X[:50] * scaled.scale
    np.testing.assert_allclose(kept - kept[0], X - X[0], atol=1e-4)


def test_a_constant_column_is_not_blown_up():
    X = np.column_stack([np.full(9, 0.1) + 1e-17 * np.arange(9), np.zeros(9)])
    assert not scaling.scale_rows(X).X.any()
    new = scaling.apply_scale(scaling.scale_rows(np.eye(3)), np.full((1, 3), 1e300))
    assert np.isfinite(new).all()


def test_a_constant_column_changes_no_bit_of_whitened_points():
    rng = np.random.default_rng(0)
    X, labels, ones = rng.normal(size=(60, 4)), np.repeat([0, 1], 30), np.ones(60)
    found = []
    for table in (X, np.insert(X, 2, 7.0, axis=1)):
        Z = scaling.scale_rows(table).X
        columns = column_maps.within_columns(column_maps.GIVEN, Z, labels, ones)
        frame = frame_in(table, columns, geometry_of(table, None, columns))
        found.append(as_points(frame, table))
    assert np.array_equal(*found)

"""Coordinates of few bits: their products have no rounding in them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dogc.numerics.exact import exact_bits, power_of_two, rounded


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 60), st.floats(1e-6, 1e6), st.integers(0, 2**32 - 1))
def test_products_of_rounded_rows_are_exact_in_any_order(q, scale, seed):
    rng = np.random.default_rng(seed)
    Z = scale * rng.standard_normal((2, q))
    unit = power_of_two(float(np.abs(Z).max()))
    a, b = rounded(Z, unit, exact_bits(q))
    exact = sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))
    for _ in range(3):
        order = rng.permutation(q)
        total = 0.0
        for x, y in zip(a[order], b[order], strict=True):
            total += float(x) * float(y)
        assert Fraction(total) == exact
    assert Fraction(float(a @ b)) == exact


@pytest.mark.parametrize("far", [1.0, 3.0, 1e6])
def test_a_row_beyond_the_unit_keeps_as_many_bits_of_its_own(far):
    Z = np.vstack([np.linspace(-1.0, 1.0, 7), far * np.linspace(-1.0, 1.0, 7)])
    found = rounded(Z, 1.0, 10)
    size = np.maximum(np.abs(Z).max(axis=1, keepdims=True), 1.0)
    assert (np.abs(found - Z) <= 2.0**-10 * size).all()
    assert np.array_equal(rounded(Z[:1], 1.0, 10), found[:1])  # whatever rows come with it

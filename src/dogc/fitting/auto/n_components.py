"""The choice of n_components: how many directions of the data hold more than noise."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...numerics import trace_ratio
from ...numerics.matrix import Matrix
from .. import scaling
from ..column_maps import GIVEN, Columns
from ..problems import Geometry

# A direction counts as signal from this multiple of the noise edge on.
MARGIN = 1.1
# Fewer directions of noise than this are too few to be told from structure.
FEWEST_NOISY = 8


def signal_dimension(variances: np.ndarray, n: int) -> int | None:
    r"""Principal directions above the noise, or None where the rest does not look like noise.

    Variances of n rows of independent noise of variance :math:`\sigma^2` in d columns lie
    between :math:`\sigma^2 (1 \pm \sqrt{d/n})^2` (Marchenko and Pastur). With
    :math:`\sigma^2` from the median, directions above the upper edge are signal. If any
    other lies below the lower edge, or if they are fewer than eight or than twice the
    signal, the rest is no pure noise and nothing is said: dropping it might drop structure.

    Parameters
    ----------
    variances : array of shape (d,)
        Variances along the principal directions, in any order.
    n : number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> signal_dimension(np.array([5.0, 3.0, *np.linspace(0.9, 1.1, 10)]), n=1000)
    2
    >>> signal_dimension(0.8 ** np.arange(12), n=1000) is None
    True
    """
    variances = np.sort(variances)[::-1]
    d = len(variances)
    if n <= d or d < FEWEST_NOISY:
        return None
    level = float(np.median(variances))
    reach = np.sqrt(d / n)
    m = int(np.count_nonzero(variances > MARGIN * level * (1.0 + reach) ** 2))
    floor = level * (1.0 - reach) ** 2 / MARGIN
    if m == 0 or d - m < max(2 * m, FEWEST_NOISY) or variances[-1] < floor:
        return None
    return m


def lookup_dimension(m: int) -> int:
    """Principal directions to look neighbours up in: room for W to choose m from."""
    return 2 * m + 2


def geometry_of(X: Matrix, n_components: int | str | None, columns: Columns = GIVEN) -> Geometry:
    """Rows on a scale of their own, and the subspace to look them up in."""
    scaled = scaling.scale_rows(X, columns)
    if isinstance(n_components, str):
        # Columns that are whitened within clusters have no common level of noise.
        return _denoised(X, scaled) if columns.T is None else _plain(X, scaled)
    space = None
    if n_components is not None and n_components < X.shape[1]:
        space = _row_space(scaled)
    return Geometry(scaled, space, None, n_components, X.dtype)


def _plain(X: Matrix, scaled: scaling.Scaled) -> Geometry:
    """All directions alike."""
    return Geometry(scaled, None, None, None, X.dtype)


def _denoised(X: Matrix, scaled: scaling.Scaled) -> Geometry:
    """The directions above the noise and as many again, where the rest is noise; else all."""
    n, d = X.shape
    if not sp.issparse(X) and d < n:
        space = trace_ratio.row_space(scaled.X, scaled.mean)
        m = signal_dimension(np.einsum("ij,ij->j", space.R, space.R), n)
        if m is not None:
            q = lookup_dimension(m)
            space = trace_ratio.RowSpace(np.ascontiguousarray(space.R[:, :q]), space.V[:, :q])
            return Geometry(scaled, space, space.V.astype(X.dtype), m, X.dtype)
    return _plain(X, scaled)


def _row_space(scaled: scaling.Scaled) -> trace_ratio.RowSpace | None:
    """Coordinates in the span of the rows; None where constant rows span nothing."""
    space = trace_ratio.row_space(scaled.X, scaled.mean)
    return space if space.R.shape[1] else None

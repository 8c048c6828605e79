"""Names for the kinds of arrays that functions take, and the one bound that all can use."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

# A NumPy array or a SciPy sparse array or matrix, rows first. SciPy's two sparse families
# share no base class, so this cannot be said more exactly.
Matrix: TypeAlias = Any


def norm_bound(A: Matrix) -> float:
    """Largest absolute row sum: no eigenvalue of the symmetric A is larger.

    Examples
    --------
    >>> import numpy as np
    >>> norm_bound(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    2.0
    """
    if sp.issparse(A) and A.format == "csr":  # without a copy of where the entries are
        A = sp.csr_array((np.abs(A.data), A.indices, A.indptr), A.shape)
        return float(A.sum(axis=1).max())
    return float(abs(A).sum(axis=1).max())

"""Names for the kinds of arrays that functions take."""

from __future__ import annotations

from typing import Any, TypeAlias

# A NumPy array or a SciPy sparse array or matrix, rows first. SciPy's two sparse families
# share no base class, so this cannot be said more exactly.
Matrix: TypeAlias = Any

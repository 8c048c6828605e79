"""Where rows are: in this process, with Dask, or in a tensor. Nothing is imported to find out."""

from __future__ import annotations

import sys
from typing import Any


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask's."""
    return hasattr(X, "__dask_graph__")


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor of torch's."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)

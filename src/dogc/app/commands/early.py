"""A first word before the packages that take long to import."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ..._words import shown


def say_reading(options: Mapping[str, Any]) -> None:
    """Say which file is read, where somebody watches."""
    file, silent = options.get("file"), options.get("quiet") or options.get("json")
    if file not in (None, "-") and not silent and sys.stderr.isatty():
        print(f"reading {shown(file, 200)}", file=sys.stderr, flush=True)

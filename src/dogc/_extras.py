"""Packages that only some of the library needs."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

# The extra of ours that brings a package.
EXTRAS = {"openpyxl": "excel", "matplotlib": "plots", "pynndescent": "ann", "torch": "gpu"}
EXTRAS |= dict.fromkeys(("typer", "rich", "pandas", "pyarrow", "skops"), "cli")
EXTRAS |= {"dask": "dask", "distributed": "dask", "onnx": "onnx", "skl2onnx": "onnx"}


def missing(package: str, what: str) -> str:
    """The sentence that names a package and how to get it.

    Examples
    --------
    >>> print(missing("pandas", "to_frame"))
    to_frame needs pandas, which is not installed; pip install "dogc[cli]".
    """
    return f'{what} needs {package}, which is not installed; pip install "dogc[{EXTRAS[package]}]".'


def needed(name: str, what: str) -> ModuleType:
    """Import a module of such a package for something; where it is missing, say how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(missing(name.split(".")[0], what)) from error

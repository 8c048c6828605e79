"""Packages that only some of the library needs."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

# Which of our extras brings a package.
EXTRAS = {
    "typer": "cli",
    "rich": "cli",
    "pandas": "cli",
    "pyarrow": "cli",
    "skops": "cli",
    "openpyxl": "excel",
    "matplotlib": "plots",
    "pynndescent": "ann",
    "dask": "dask",
    "distributed": "dask",
    "onnx": "onnx",
    "skl2onnx": "onnx",
    "torch": "gpu",
}


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

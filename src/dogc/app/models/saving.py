"""Models as files: what was fitted, how its data were prepared, and its results.

A model file is a `skops <https://skops.readthedocs.io>`_ archive, so nothing in it is ever run:
it holds arrays, plain containers and the names of types, and only classes of ours under the names
in :data:`~dogc.app.models.packing.STORED`, or types on the lists below, are made from it. An entry
``dogc.json`` holds the rest, and the archive's comment a checksum over the whole file.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pathlib
import re
import sys
import textwrap
import warnings
import zipfile
from collections.abc import Iterator
from importlib import metadata
from typing import Any, NamedTuple

from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..._atomic import WriteError, write_whole
from ..._extras import needed
from ...encoding import MixedEncoder
from .packing import OURS, Misfit, pack, unpack

FORMAT_VERSION = 2
HEADER = "dogc.json"

# Kinds of nodes in a skops archive of which none calls a function when it is made.
LOADERS = {"DictNode", "ListNode", "TupleNode", "SetNode", "ObjectNode", "DTypeNode",
           "RandomStateNode", "RandomGeneratorNode", "DefaultDictNode", "NdArrayNode", "JsonNode",
           "SliceNode", "TypeNode", "FunctionNode"}  # fmt: skip
# Objects that these make: parts of scikit-learn that work on whole arrays, or look at bounds. A
# forged decision tree, say, could crash the process.
MODULES = tuple(f"sklearn.{name}." for name in (
    "compose", "covariance", "cross_decomposition", "decomposition", "discriminant_analysis",
    "feature_extraction", "feature_selection", "impute", "kernel_approximation", "linear_model",
    "manifold", "pipeline", "preprocessing", "random_projection", "cluster._kmeans",
    "neighbors._graph", "neighbors._unsupervised"))  # fmt: skip
# What skops does not trust by itself: it is in scikit-learn's imputers.
TRUSTED_TYPES = ["numpy.dtype"]

# The archive's comment. Its digest is of all bytes before it, the format's number among them.
_MARK = f"dogc model, format {FORMAT_VERSION}, sha256 ".encode()
_MARK_READ = re.compile(rb"dogc model, format (\d{1,9}), sha256 ([0-9a-f]{64})\Z")
_DIGITS = 64
_BEGINNING = b"PK\x03\x04"  # of a zip archive
# Indices shrink at the fastest level, and real numbers hardly at any.
_COMPRESSED: dict[str, Any] = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 1}


class ModelFileError(ValueError):
    """A model that cannot be written to a file, or a file that cannot be read as one."""


class Bundle(NamedTuple):
    """Everything that a model file holds."""

    model: Any
    preparation: Any | None
    summary: dict[str, Any] | None
    settings: dict[str, Any] | None
    format_version: int
    library_version: str


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    preparation: Any = None,
    summary: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
) -> pathlib.Path:
    """Write a fitted model to a file, whole or not at all.

    Search trees are not written but built again by :func:`load`; a ``callback`` is left out.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library, or a scikit-learn ``Pipeline`` that ends in one.
    path : path-like
        Where to write; ``.skops`` is the usual ending. A file there is replaced.
    preparation : MixedEncoder, default=None
        What turns a table into the rows that the model was fitted on.
    summary, settings : dict, default=None
        What came of the fit and how it was made, as far as JSON can hold it.

    Returns
    -------
    path : pathlib.Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile, dogc
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = dogc.DOGCOS(n_clusters=3).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = dogc.load(dogc.save(model, pathlib.Path(folder) / "iris.skops"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    content = packed(model, preparation, summary, settings)
    try:
        return write_whole(pathlib.Path(path), content)
    except WriteError as error:
        raise ModelFileError(str(error)) from error


def packed(
    model: Any,
    preparation: Any = None,
    summary: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
) -> bytes:
    """The content of the file that :func:`save` writes."""
    skops = _skops()
    try:
        _check(model, preparation)
    except Misfit as error:
        raise ModelFileError(
            f"{error}; pass a fitted estimator of dogc, or a pipeline that ends in one."
        ) from None
    header = {
        "format_version": FORMAT_VERSION,
        "library_version": metadata.version("dogc"),
        "settings": settings,
        "summary": summary,
    }
    try:
        text = json.dumps(header)
        content = {"model": pack(model), "preparation": pack(preparation)}
        data = skops.dumps(content, **_COMPRESSED)
    except Exception as error:  # skops lets through whatever an object's own methods raise
        raise ModelFileError(
            f"the model, summary or settings cannot be saved ({_words(error)})."
        ) from error
    if foreign := _foreign_types(data):
        raise ModelFileError(
            f"this model holds types that are not loaded from files: {foreign}; "
            "leave them out of it."
        )
    return sealed(data, text)


def sealed(data: bytes, header: str) -> bytes:
    """An archive with the header, and the digest of both in its comment."""
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(HEADER, header, zipfile.ZIP_DEFLATED, 1)
        archive.comment = _MARK + b"0" * _DIGITS
    body = buffer.getvalue()[:-_DIGITS]
    return body + hashlib.sha256(body).hexdigest().encode()


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save` wrote.

    It labels and transforms rows exactly as the one that was saved. Nothing in the file is run,
    and a file with types other than those of this library and of scikit-learn is refused.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    model : estimator
        The fitted model.
    """
    return load_bundle(path).model


def load_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Read a model with all that was saved along with it.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    bundle : Bundle
        ``(model, preparation, summary, settings, format_version, library_version)``.
    """
    path = pathlib.Path(path)
    skops = _skops()  # where it is missing, that is not the file's fault
    data = _checked(path)
    try:
        if foreign := _foreign_types(data):
            raise Misfit(f"it holds types that dogc does not trust: {foreign}")
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            header = json.loads(archive.read(HEADER))
        with warnings.catch_warnings():  # a part of scikit-learn may be of another release
            warnings.simplefilter("ignore")
            held = unpack(skops.loads(data, trusted=TRUSTED_TYPES))
            model, preparation = held["model"], held["preparation"]
            _check(model, preparation)
        told = (header["summary"], header["settings"], FORMAT_VERSION, header["library_version"])
        return Bundle(model, preparation, *told)
    except Exception as error:  # what a forged or foreign file can raise knows no bounds
        raise ModelFileError(
            f"'{path}' cannot be read as a model ({_words(error)}); save the model again, "
            "or install the versions of dogc, skops and scikit-learn that wrote it."
        ) from error


def _check(model: Any, preparation: Any) -> None:
    """Refuse what is no fitted model of this library, or k-means beside which it stands."""
    last = model
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    if not isinstance(last, (*OURS, KMeans)):
        raise Misfit(f"{type(last).__name__} is not a model of dogc")
    if not isinstance(preparation, MixedEncoder | None):
        raise Misfit(f"{type(preparation).__name__} is not a preparation by MixedEncoder")
    check_is_fitted(last)
    if isinstance(last, KMeans):  # scikit-learn would read beyond narrower centres
        centres = last.cluster_centers_
        if centres.shape != (last.n_clusters, last.n_features_in_):
            raise Misfit("its centres do not fit its features")


def _foreign_types(data: bytes) -> str:
    """The first few types in an archive that nothing is made of, by their names."""
    found: set[str] = set()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        values = [json.loads(archive.read("schema.json"))]
    while values:
        value = values.pop()
        if isinstance(value, list):
            values += value
        elif isinstance(value, dict):
            values += value.values()
            if isinstance(loader := value.get("__loader__"), str):
                module, name = f"{value['__module__']}.", value["__class__"]
                strange = loader == "ObjectNode" and not module.startswith(MODULES)
                if strange or loader not in LOADERS:
                    found.add(f"{module}{name}")
    # skops looks at the rest: at numbers, functions and arrays.
    found = found or set(_skops().get_untrusted_types(data=data)) - set(TRUSTED_TYPES)
    return ", ".join(sorted(found)[:5]) + (", ..." if len(found) > 5 else "")


def _words(error: Exception) -> str:
    """An error on one line, with its kind where the message is not ours."""
    kind = "" if isinstance(error, Misfit) else f"{type(error).__name__}: "
    return textwrap.shorten(f"{kind}{error}", 300, placeholder="...").rstrip(":. ")


@contextlib.contextmanager
def _not_imported(*names: str) -> Iterator[None]:
    """Packages that nothing imports inside the block, unless somebody has.

    To list its classes, skops imports all of scikit-learn, and with it whatever library of arrays
    is installed: seconds, and hundreds of megabytes.
    """
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


def _skops() -> Any:
    with _not_imported("torch", "dask", "jax", "cupy"):
        return needed("skops.io", "a model file")


def _checked(path: pathlib.Path) -> bytes:
    """The bytes of a model file; refuses other files, other formats and changed ones."""
    try:
        with open(path, "rb") as file:
            data = file.read(len(_BEGINNING))
            if data == _BEGINNING:  # a file of another kind is not read to its end
                data += file.read()
    except OSError as error:
        raise ModelFileError(f"cannot read '{path}': {error.strerror or error}.") from error
    mark = _MARK_READ.search(data[-len(_MARK) - _DIGITS - 8 :])
    if not data.startswith(_BEGINNING) or mark is None:
        raise ModelFileError(
            f"'{path}' is not a model file written by dogc.save, or was cut short; copy it again, "
            "or save the model again."
        )
    version = int(mark[1])
    if version != FORMAT_VERSION:
        remedy = "upgrade it with pip install --upgrade dogc"
        raise ModelFileError(
            f"'{path}' has model format {version}, and this dogc reads format {FORMAT_VERSION}; "
            f"{remedy if version > FORMAT_VERSION else 'fit and save the model again'}."
        )
    if hashlib.sha256(memoryview(data)[:-_DIGITS]).hexdigest() != mark[2].decode():
        raise ModelFileError(
            f"'{path}' was changed or damaged after it was saved: its checksum does not match; "
            "copy it again, or save the model again."
        )
    return data

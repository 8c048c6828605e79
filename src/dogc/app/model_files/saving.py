"""Models as files: what was fitted, how its data were prepared, what came of it.

A model file is a `skops <https://skops.readthedocs.io>`_ archive, so nothing in it is ever run:
it holds arrays, plain containers and the names of types, and only classes of ours under the names
in :data:`~dogc.app.model_files.packing.STORED`, or types that skops trusts by itself, are made
from it. An entry ``dogc.json`` holds the rest, and the archive's comment a checksum over the whole
file.
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
import zipfile
import zlib
from collections.abc import Iterator
from importlib import metadata
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..._atomic import WriteError, write_whole
from . import format_one, packing

FORMAT_VERSION = 2
# What skops does not trust by itself: it is in scikit-learn's imputers.
TRUSTED_TYPES = ("numpy.dtype",)

HEADER = "dogc.json"
# The archive's comment. Its digest is of all bytes before it, the format's number among them.
_MARK = f"dogc model, format {FORMAT_VERSION}, sha256 ".encode()
_DIGITS = 64
_MARK_READ = re.compile(rb"dogc model, format ([1-9]\d{0,8}), sha256 ([0-9a-f]{64})")
# What shrinks, such as indices, shrinks at the fastest level; real numbers hardly do. An entry
# whose first bytes become no smaller than this share is stored as it is.
_LEVEL, _FIRST_BYTES, _WORTH = 1, 1 << 16, 0.8


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
        A fitted estimator of this library, or a scikit-learn ``Pipeline`` with one.
    path : path-like
        Where to write; ``.skops`` is the usual ending. A file there is replaced.
    preparation : Preparation, default=None
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
    """What :func:`save` writes."""
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"only fitted estimators can be saved, not {type(model).__name__}; pass the model."
        )
    check_is_fitted(model)
    header = _header(model, preparation, summary, settings)
    archive = _dump({"model": packing.pack(model), "preparation": packing.pack(preparation)})
    return _seal(archive, header)


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
    _skops()  # where it is missing, that is not the file's fault
    data = _read(path)
    version = _check_seal(path, data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            header = json.loads(archive.read(HEADER))
        stored = _construct(path, format_one.rewritten(data) if version == 1 else data)
        model, preparation = packing.unpack(stored["model"]), packing.unpack(stored["preparation"])
        check_is_fitted(model)
        return Bundle(
            model,
            preparation,
            header["summary"],
            header["settings"],
            version,
            header["library_version"],
        )
    except ModelFileError:
        raise
    except packing.UnknownContentError as error:
        raise ModelFileError(
            f"'{path}' holds {error}, which this dogc does not know; upgrade it with "
            "pip install --upgrade dogc, or save the model again."
        ) from None
    except Exception as error:  # what a forged or foreign file can raise knows no bounds
        raise ModelFileError(
            f"'{path}' cannot be read as a model ({_words(error)}); save the model again, "
            "or install the versions of dogc, skops and scikit-learn that wrote it."
        ) from error


def _words(error: Exception) -> str:
    """What others said, on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")


def _header(model: Any, preparation: Any, summary: Any, settings: Any) -> bytes:
    schema = preparation.schema() if hasattr(preparation, "schema") else None
    header = {
        "format_version": FORMAT_VERSION,
        "library_version": metadata.version("dogc"),
        "model": type(model).__name__,
        "schema": schema,
        "settings": settings,
        "summary": summary,
    }
    try:
        return json.dumps(header).encode()
    except (TypeError, ValueError) as error:
        raise ModelFileError(
            f"settings and summary must fit into JSON ({_words(error)})."
        ) from error


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
    try:
        with _not_imported("torch", "dask", "jax", "cupy"):
            import skops.io
            import skops.io.exceptions
    except ImportError:
        raise ImportError("model files need skops; pip install 'dogc[cli]'.") from None
    return skops.io


def _dump(packed: dict[str, Any]) -> bytes:
    """A skops archive, if all that is in it can be loaded again."""
    skops = _skops()
    try:
        archive = skops.dumps(packed)
    except Exception as error:  # skops lets through whatever an object's own methods raise
        raise ModelFileError(
            f"this model holds something that no file can hold ({_words(error)})."
        ) from error
    foreign = sorted(set(skops.get_untrusted_types(data=archive)) - set(TRUSTED_TYPES))
    if foreign:
        raise ModelFileError(
            f"this model holds types that are not loaded from files: {', '.join(foreign)}; leave "
            "them out of it."
        )
    return archive


def _seal(archive: bytes, header: bytes) -> bytes:
    """The archive compressed, with the header, and marked with the digest of both."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as source,
        zipfile.ZipFile(buffer, "w", compresslevel=_LEVEL) as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content, _compression(content))
        target.writestr(HEADER, header, zipfile.ZIP_DEFLATED)
        target.comment = _MARK + b"0" * _DIGITS
    body = buffer.getbuffer()[:-_DIGITS]
    return b"".join([body, hashlib.sha256(body).hexdigest().encode()])


def _compression(content: bytes) -> int:
    first = content[:_FIRST_BYTES]
    shrinks = len(zlib.compress(first, _LEVEL)) < _WORTH * len(first)
    return zipfile.ZIP_DEFLATED if shrinks else zipfile.ZIP_STORED


def _read(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file '{path}'.") from None
    except OSError as error:
        raise ModelFileError(f"cannot read '{path}': {error.strerror or error}.") from error


def _check_seal(path: pathlib.Path, data: bytes) -> int:
    """The file's format; refuses no model files, those of later releases and changed ones."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            comment, names = archive.comment, archive.namelist()
    except Exception as error:
        cut = data.startswith(b"PK\x03\x04")
        what = "is cut short or damaged" if cut else "is not a model file written by dogc.save"
        raise ModelFileError(f"'{path}' {what}.") from error
    mark = _MARK_READ.fullmatch(comment)
    if mark is None and HEADER not in names:
        raise ModelFileError(
            f"'{path}' is not a model file written by dogc.save; it holds {_contents(data, names)}."
        )
    if mark is not None and int(mark[1]) > FORMAT_VERSION:
        raise ModelFileError(
            f"'{path}' has model format {int(mark[1])} and this dogc reads up to {FORMAT_VERSION}; "
            "upgrade it with pip install --upgrade dogc."
        )
    body = memoryview(data)[:-_DIGITS]
    if mark is None or hashlib.sha256(body).hexdigest() != mark[2].decode():
        raise ModelFileError(
            f"'{path}' was changed or damaged after it was saved: its checksum does not match."
        )
    return int(mark[1])


def _contents(data: bytes, names: list[str]) -> str:
    """What a zip file without our mark holds: types if it is from skops, else its entries."""
    if "schema.json" not in names:
        return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") or "nothing"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            root = json.loads(archive.read("schema.json"))
        types = {f"{root['__module__']}.{root['__class__']}"}
        types.update(_skops().get_untrusted_types(data=data))
    except Exception:  # whatever is wrong with it, it is not ours
        return "something that skops cannot read"
    return ", ".join(sorted(types))


def _construct(path: pathlib.Path, data: bytes) -> Any:
    """Make the stored objects, all of trusted types."""
    skops = _skops()
    try:
        return skops.loads(data, trusted=list(TRUSTED_TYPES))
    except skops.exceptions.UntrustedTypesFoundException:
        foreign = sorted(set(skops.get_untrusted_types(data=data)) - set(TRUSTED_TYPES))
        raise ModelFileError(
            f"'{path}' was not loaded because it holds types that dogc does not trust: "
            f"{', '.join(foreign)}."
        ) from None

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
import textwrap
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..._atomic import WriteError, write_whole
from ..._extras import missing
from ..._limits import free_bytes
from . import archive, checking, format_one, packing, schema

FORMAT_VERSION = 2
# What skops does not trust by itself: it is in scikit-learn's imputers.
TRUSTED_TYPES = ("numpy.dtype",)

_HEADER_KINDS = {
    "format_version": int,
    "library_version": str,
    "summary": dict | None,
    "settings": dict | None,
}
# The archive's comment. Its digest is of all bytes before it, the format's number among them.
_MARK = f"dogc model, format {FORMAT_VERSION}, sha256 ".encode()
_DIGITS = 64
_BEGINNING = b"PK\x03\x04"  # of a zip archive
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
    """What :func:`save` writes."""
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(
            f"only fitted estimators can be saved, not {type(model).__name__}; pass the model."
        )
    check_is_fitted(model)
    header = _header(model, preparation, summary, settings)
    dumped = _dump({"model": packing.pack(model), "preparation": packing.pack(preparation)})
    try:
        checking.check_model(model)
        checking.check_preparation(preparation)
    except ValueError as error:
        raise ModelFileError(
            f"this model cannot be saved ({_short(error)}); fit it again."
        ) from error
    return _seal(dumped, header)


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
        return _opened(data, version)
    except schema.ForeignTypesError as error:
        raise ModelFileError(
            f"'{path}' was not loaded because it holds types that dogc does not trust: {error}."
        ) from None
    except packing.UnknownContentError as error:
        raise ModelFileError(
            f"'{path}' holds {_short(error)}, which this dogc does not know; upgrade it with "
            "pip install --upgrade dogc, or save the model again."
        ) from None
    except Exception as error:  # what a forged or foreign file can raise knows no bounds
        raise ModelFileError(
            f"'{path}' cannot be read as a model ({_words(error)}); save the model again, "
            "or install the versions of dogc, skops and scikit-learn that wrote it."
        ) from error


def _opened(data: bytes, version: int) -> Bundle:
    """What a file holds, looked at from outside to inside before anything is made of it."""
    entries = archive.read_entries(data)
    header = _checked_header(archive.parse(entries.pop(archive.HEADER)), version)
    tree = archive.parse(entries.pop(archive.SCHEMA))
    tree = schema.checked(format_one.renewed(tree) if version == 1 else tree, entries)
    with warnings.catch_warnings():  # a part of scikit-learn may be of another release
        warnings.simplefilter("ignore")
        held = _construct(archive.stored(schema.as_entry(tree, entries)))
        model, preparation = packing.unpack(held["model"]), packing.unpack(held["preparation"])
        check_is_fitted(model)
        checking.check_model(model)
        checking.check_preparation(preparation)
        packing.searchable(model)
    return Bundle(
        model,
        preparation,
        header["summary"],
        header["settings"],
        version,
        header["library_version"],
    )


def _checked_header(header: Any, version: int) -> dict[str, Any]:
    """The file's own record of itself."""
    if not isinstance(header, dict) or not all(
        key in header and isinstance(header[key], kinds) for key, kinds in _HEADER_KINDS.items()
    ):
        raise archive.Misfit(f"{archive.HEADER} is not what dogc.save writes")
    if type(header["format_version"]) is not int or header["format_version"] != version:
        raise archive.Misfit("it names two versions of its format")
    json.dumps(header, ensure_ascii=False).encode()  # halves of letters could not be shown
    return header


def _short(error: Exception) -> str:
    """What others said, on one line."""
    return textwrap.shorten(str(error), 300, placeholder="...").rstrip(".")


def _words(error: Exception) -> str:
    """The same, with who said it where that was not us."""
    ours = isinstance(error, archive.Misfit)
    return _short(error) if ours else f"{type(error).__name__}: {_short(error)}".rstrip(": ")


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
        raise ImportError(missing("skops", "a model file")) from None
    return skops.io


def _dump(packed: dict[str, Any]) -> dict[str, bytes]:
    """The entries of a skops archive, if all that is in it can be loaded again."""
    skops = _skops()
    try:
        data = skops.dumps(packed)
    except Exception as error:  # skops lets through whatever an object's own methods raise
        raise ModelFileError(
            f"this model contains something that cannot be saved ({_words(error)})."
        ) from error
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as source:
            entries = {name: source.read(name) for name in source.namelist()}
        foreign = set(skops.get_untrusted_types(data=data)) - set(TRUSTED_TYPES)
        if foreign:
            raise schema.ForeignTypesError(foreign)
        schema.checked(json.loads(entries[archive.SCHEMA]), entries)
    except schema.ForeignTypesError as error:
        raise ModelFileError(
            f"this model holds types that are not loaded from files: {error}; leave them out of it."
        ) from None
    return entries


def _seal(entries: dict[str, bytes], header: bytes) -> bytes:
    """An archive of the entries and the header, marked with the digest of both.

    It is compressed, unless that would make so little of it that it could not be told from a
    forged one.
    """
    entries = entries | {archive.HEADER: header}
    sealed = _sealed(entries, _compression)
    if sum(map(len, entries.values())) > archive.may_unpack(len(sealed)):
        sealed = _sealed(entries, lambda content: zipfile.ZIP_STORED)
    return sealed


def _sealed(entries: dict[str, bytes], compression: Callable[[bytes], int]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compresslevel=_LEVEL) as target:
        for name, content in entries.items():
            target.writestr(name, content, compression(content))
        target.comment = _MARK + b"0" * _DIGITS
    body = buffer.getbuffer()[:-_DIGITS]
    return b"".join([body, hashlib.sha256(body).hexdigest().encode()])


def _compression(content: bytes) -> int:
    first = content[:_FIRST_BYTES]
    shrinks = len(zlib.compress(first, _LEVEL)) < _WORTH * len(first)
    return zipfile.ZIP_DEFLATED if shrinks else zipfile.ZIP_STORED


def _read(path: pathlib.Path) -> bytes:
    """The bytes of a file, or the first few if these show that it is no model file."""
    try:
        with open(path, "rb") as file:
            head = file.read(len(_BEGINNING))
            if os.fstat(file.fileno()).st_size > free_bytes():
                raise MemoryError
            return head + file.read() if head == _BEGINNING else head
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file '{path}'.") from None
    except MemoryError:
        raise ModelFileError(f"'{path}' is larger than the memory that is free.") from None
    except OSError as error:
        raise ModelFileError(f"cannot read '{path}': {error.strerror or error}.") from error


def _check_seal(path: pathlib.Path, data: bytes) -> int:
    """The file's format; refuses no model files, those of later releases and changed ones."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as found:
            comment, names = found.comment, found.namelist()
    except Exception as error:
        cut = data.startswith(_BEGINNING)
        what = "is cut short or damaged" if cut else "is not a model file written by dogc.save"
        raise ModelFileError(f"'{path}' {what}.") from error
    mark = _MARK_READ.fullmatch(comment)
    if mark is None and archive.HEADER not in names:
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
    if archive.SCHEMA not in names:
        listed = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        return textwrap.shorten(listed, 300, placeholder="...") or "nothing"
    try:
        types = schema.types_in(archive.parse(archive.read_entries(data)[archive.SCHEMA]))
        return str(schema.ForeignTypesError(types))
    except Exception:  # whatever is wrong with it, it is not ours
        return "something that skops cannot read"


def _construct(data: bytes) -> Any:
    """Make the stored objects, all of trusted types."""
    skops = _skops()
    foreign = set(skops.get_untrusted_types(data=data)) - set(TRUSTED_TYPES)
    if foreign:
        raise schema.ForeignTypesError(foreign)
    return skops.loads(data, trusted=list(TRUSTED_TYPES))

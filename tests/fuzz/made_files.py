"""Files of all kinds: plain ones, of which it is known what must be read, and odd ones."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

from fuzz.odd_rows import pick

WORDS = ("red", "blue", "a, b", 'say "no"', "two\nlines", "ä€𝄞", "5' x", "x;y|z", " left ", "007",
         "<5", "[1]")  # fmt: skip
NUMBERS = ("1.5", "-2", "0", "1e3", "3.25e-4", "12345.678", "42", "-0.5", "1e300", "7")
ODD = (
    "1e999", "-1e999", "1_000", "0x1F", "nan", "Infinity", "-inf", "٣٤", "١٢٣", "1,5", "1,234.5",
    "0001", "+1", "-",
    "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "9999-99-99",
    "2262-04-12",
    "0001-01-01", "20000-01-01", "2020-02-30", "31/12/2020", "1.2.3", "1/2/3 4", "TRUE", "no", "",
    " ", "?", "None",
    "=1+1", "\x1b[31m", "\u2028", "\u0085", "\ufeff", "\r", "a\rb", "'", '"', "\\", "%", "{", "<",
    "\x0b", "\U0010ffff",
    "2020-01-01T00:00:00+99:00", "2020-01-01 25:00", "1970-01-01", "e", ".", "+", "1e", "--5",
    "1.", ".5", "0.0", "-0",
)  # fmt: skip
NAMES = (
    "x", "y", "size", "self", "class", "index", "", " pad ", "a\nb", "c1", "x" * 3000, "\x1b[1m",
    "cluster", "membership",
    "id", "name", "=cmd()", "__index_level_0__", "1", "2.5", "ä", "data", "frame", "nan", "a=b",
    "dtype", "None", "'q'", '"',
)  # fmt: skip


class Made(NamedTuple):
    """A file, and what must come out of it."""

    kind: str
    content: bytes
    cells: list[list[Any]] | None = None  # as they were written, if the file is honest
    names: list[str] | None = None


def _cells(rng: np.random.Generator) -> tuple[list[list[str]], list[str], bool]:
    """Cells of text, their names, and whether nothing about them is odd."""
    rows, columns = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    plain = bool(rng.random() < 0.6)
    kinds = [NUMBERS, *(pick(rng, [NUMBERS, WORDS, (*NUMBERS, "", "NA")]) for _ in range(columns))]
    cells = [[pick(rng, kind) for kind in kinds] for _ in range(rows)]
    names = [f"col{place}" for place in range(columns + 1)]
    if not plain:
        for _ in range(rng.integers(1, 6)):
            cells[rng.integers(rows)][rng.integers(columns + 1)] = pick(rng, ODD)
        if rng.random() < 0.4:
            names = [pick(rng, NAMES) for _ in names]
    return cells, names, plain


def _text(rng: np.random.Generator) -> Made:
    cells, names, plain = _cells(rng)
    target = io.StringIO(newline="")
    mark = pick(rng, [",", ";", "\t", "|"])
    end = pick(rng, ["\n", "\r\n", "\r"])
    quoting = csv.QUOTE_MINIMAL if plain or rng.random() < 0.5 else csv.QUOTE_NONE
    escape = "\\" if quoting else None
    writer = csv.writer(
        target, delimiter=mark, lineterminator=end, quoting=quoting, escapechar=escape
    )
    with contextlib.suppress(csv.Error):
        writer.writerows([names, *cells])
    content = target.getvalue()
    if rng.random() < 0.1:
        content = "\ufeff" + content
    if rng.random() < 0.1:
        content = content.rstrip("\r\n")
    if end == "\r" and any("\n" in cell for row in cells for cell in row):
        plain = False  # which of the two ends rows is anybody's guess
    return Made("csv", content.encode(), cells if plain else None, names)


TYPES = (
    pa.float64(), pa.float32(), pa.float16(), pa.int64(), pa.uint64(), pa.int8(), pa.string(),
    pa.large_string(), pa.string_view(),
    pa.bool_(), pa.binary(), pa.date32(), pa.date64(), pa.timestamp("ns"), pa.timestamp("s"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ms", "+25:99"), pa.timestamp("us", "No/Where"), pa.time32("s"), pa.time64("ns"),
    pa.duration("ms"),
    pa.decimal128(30, 3), pa.decimal256(50, 3), pa.list_(pa.int64()), pa.struct([("a",
    pa.int64())]), pa.map_(pa.string(), pa.int64()),
    pa.null(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.float64()),
    pa.binary(3), pa.list_(pa.float32(), 2),
)  # fmt: skip
SIMPLE = (pa.float64(), pa.int64(), pa.string(), pa.bool_(), pa.float32(), pa.int8())


def _column(rng: np.random.Generator, kind: Any, rows: int) -> Any:
    """Random values of a type of Arrow's: plain ones, or whatever bits say."""
    gaps = rng.random(rows) < pick(rng, [0.0, 0.3])
    if pa.types.is_dictionary(kind):
        return _column(rng, kind.value_type, rows).dictionary_encode().cast(kind)
    if pa.types.is_string(kind) or kind in (pa.large_string(), pa.string_view()):
        words = [pick(rng, (*WORDS, *ODD)) for _ in range(rows)]
        return pa.array(words, pa.string(), mask=gaps).cast(kind)
    if pa.types.is_boolean(kind) or pa.types.is_floating(kind) or pa.types.is_integer(kind):
        numbers = rng.integers(0, 100, rows)
        return pa.array(numbers, mask=gaps).cast(pa.int8()).cast(kind)
    if pa.types.is_null(kind):
        return pa.nulls(rows)
    if pa.types.is_nested(kind):
        value = {"list": [1], "struct": {"a": 1}, "map": [("k", 1)]}.get(
            str(kind).split("<")[0], [1.0, 2.0]
        )
        return pa.array([None if gap else value for gap in gaps], kind)
    if kind == pa.binary() or pa.types.is_fixed_size_binary(kind):
        return pa.array([None if gap else rng.bytes(3) for gap in gaps], kind)
    if pa.types.is_decimal(kind):
        return pa.array(rng.integers(0, 10**9, rows), mask=gaps).cast(kind)
    width = kind.bit_width // 8
    far = int(rng.choice([10**4, 10**9, 2**31 - 1 if width == 4 else 2**62]))
    values = rng.integers(-far, far, rows).astype(f"<i{width}")
    if kind == pa.date64():
        values = values // 86_400_000 * 86_400_000
    if pa.types.is_time(kind):
        values = np.abs(values) % 86_400
    return pa.array(values, mask=gaps).view(kind)


def _table(rng: np.random.Generator) -> tuple[Any, bool]:
    rows, columns = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    plain = bool(rng.random() < 0.5)
    types = [pick(rng, SIMPLE if plain else TYPES) for _ in range(columns)]
    names = [f"col{place}" for place in range(columns)]
    if not plain and rng.random() < 0.3:
        names = [pick(rng, NAMES) for _ in names]
    return pa.table([_column(rng, kind, rows) for kind in types], names=names), plain


def _arrow(
    kind: str, write: Callable[[Any, Any, np.random.Generator], None]
) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        target = io.BytesIO()
        while True:
            table, plain = _table(rng)
            with contextlib.suppress(pa.ArrowException, TypeError):  # types that a format lacks
                write(table, target, rng)
                break
            target = io.BytesIO()
        cells = [list(row.values()) for row in table.to_pylist()] if plain else None
        return Made(kind, target.getvalue(), cells, table.column_names)

    return make


def _write_parquet(table: Any, target: Any, rng: np.random.Generator) -> None:
    packing = str(rng.choice(["snappy", "zstd", "none", "gzip"]))
    parquet.write_table(table, target, compression=packing, row_group_size=int(rng.integers(1, 40)),
                        data_page_version=str(rng.choice(["1.0", "2.0"])),
                        use_dictionary=bool(rng.integers(2)),
                        store_schema=bool(rng.integers(2)))  # fmt: skip


def _write_feather(table: Any, target: Any, rng: np.random.Generator) -> None:
    packing = str(rng.choice(["zstd", "lz4", "uncompressed"]))
    feather.write_feather(table, target, compression=packing, chunksize=int(rng.integers(5, 40)))


def _array(rng: np.random.Generator) -> tuple[np.ndarray, bool]:
    shape = (int(rng.integers(1, 30)), int(rng.integers(1, 6)))
    kind = pick(rng, ["<f8", ">f8", "<f4", ">i4", "<i8", "u1", "?", "<U4", ">U4", "S3", "f2",
    "g", "M8[D]", ">M8[us]",
                       "M8[Y]", "m8[s]", "c16", "V3", "M8", "fields"])  # fmt: skip
    whole = rng.integers(0, 100, shape)
    if kind == "fields":
        fields = np.dtype(
            [("a", ">i4"), ("b", "<f8"), ("c", pick(rng, ["U3", "S2", ("f4", 2), "M8[s]"]))]
        )
        array = np.zeros(shape[0], dtype=fields)
        array["b"] = rng.normal(size=shape[0])
        return array, False
    if kind == "V3":
        return np.zeros(shape, dtype=kind), False
    if kind[:3] in ("M8", "M8[", ">M8", "m8["):
        return whole.astype("<i8").view(kind.replace(">", "")).astype(kind), False
    array = whole.astype(kind)
    array = np.asfortranarray(array) if rng.random() < 0.3 else array
    return array, kind not in ("c16", "?", "S3", "g")


def _numpy(kind: str) -> Callable[..., Made]:
    def make(rng: np.random.Generator) -> Made:
        array, plain = _array(rng)
        target = io.BytesIO()
        if kind == "npy":
            np.save(target, array)
        else:
            (np.savez if rng.random() < 0.5 else np.savez_compressed)(target, data=array)
        names = [f"c{place + 1}" for place in range(array.shape[1])] if plain else None
        return Made(kind, target.getvalue(), array.tolist() if plain else None, names)

    return make


MAKERS = (_text, _text, _arrow("parquet", _write_parquet), _arrow("feather", _write_feather),
          _numpy("npy"), _numpy("npz"))  # fmt: skip

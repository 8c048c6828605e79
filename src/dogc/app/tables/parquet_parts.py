"""Parts of Parquet files: row groups, or pieces of large ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .binary import frame_name, frame_of_arrow, sound, valid
from .limits import check_columns
from .opening import Origin, check_unchanged, stamp_of
from .packed_sizes import arrow_path, parquet_file, spelled_out
from .table import TableError, listed, needed

if TYPE_CHECKING:
    import pandas

PART_BYTES = 1 << 26  # of numbers in memory
_EXACT = 2**53


class ParquetPart(NamedTuple):
    """Some rows of a row group."""

    path: str
    origin: Origin
    schema: Any  # of the frame: all parts have the same
    group: int
    start: int  # in the group
    rows: int
    stamp: tuple[int, int]  # of the file when it was cut
    first_row: int = 0

    @property
    def names(self) -> list[str]:
        """Of all columns."""
        return [frame_name(name) for name in self.schema.names]

    def read(self, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        """The rows, numbered through; all columns, or some."""
        check_unchanged(self.path, self.stamp, self.origin.source)
        wanted = set(self.names if columns is None else columns)
        names = [name for name in self.schema.names if frame_name(name) in wanted]
        table = _read(self.path, self.origin, self.group, self.start, self.rows, names)
        kinds = [self.schema.field(name) for name in names]
        arrow = needed("pyarrow")
        try:
            table = table.cast(arrow.schema(kinds))
        except arrow.ArrowInvalid as error:
            raise TableError(
                f"the numbers of {self.origin.source} do not fit the type of the other files "
                f"({' '.join(str(error).split())}); write them in the same type."
            ) from error
        frame = frame_of_arrow(table, self.origin)
        return frame.set_axis(range(self.first_row, self.first_row + len(frame)), axis=0)


def _read(
    path: str, origin: Origin, group: int, start: int, rows: int, names: Sequence[str]
) -> Any:
    """An Arrow table of some rows of a row group; those before them are passed over."""
    kept, here = [], 0
    with sound(origin, "Parquet"):
        file, coded = parquet_file(
            path, origin.source, group, pre_buffer=False, buffer_size=1 << 20
        )
        with file:
            size = max(1, min(rows, 1 << 16))
            for batch in file.iter_batches(size, row_groups=[group], columns=list(names)):
                first, last = max(start - here, 0), min(start + rows - here, batch.num_rows)
                if first < last:
                    kept.append(batch.slice(first, last - first))
                here += batch.num_rows
                if here >= start + rows:
                    break
        table = valid(needed("pyarrow").Table.from_batches(kept)).select(list(names))
    return spelled_out(table, coded, origin.source)


def cut(path: str, origin: Origin, schema: Any) -> Iterator[ParquetPart]:
    """The parts of a file, in order."""
    metadata, stamp = _metadata(path, origin), stamp_of(path)
    for group in range(metadata.num_row_groups):
        facts = metadata.row_group(group)
        # A value that comes again and again takes next to nothing in the file.
        size = max(facts.total_byte_size, 8 * facts.num_rows * facts.num_columns)
        pieces = max(1, -(-size // PART_BYTES))
        size = max(1, -(-facts.num_rows // pieces))
        for start in range(0, facts.num_rows, size):
            rows = min(size, facts.num_rows - start)
            yield ParquetPart(path, origin, schema, group, start, rows, stamp)


def common_schema(files: Sequence[tuple[str, Origin]]) -> Any:
    """The types of all columns, in which the frames of all parts are alike.

    Whole numbers with a gap anywhere are float64 everywhere, or text where that would lose some.
    """
    arrow = needed("pyarrow")
    schemas = [_schema(*file) for file in files]
    check_columns(len(schemas[0].names), files[0][1].source)
    for (_, origin), schema in zip(files, schemas, strict=True):
        check_names(schemas[0].names, schema.names, files[0][1], origin)
    try:
        schema = arrow.unify_schemas(schemas, promote_options="permissive")
    except arrow.ArrowException as error:
        raise TableError(
            f"the columns of the files do not have the same types ({' '.join(str(error).split())});"
            " give them the same types."
        ) from error
    whole = [field.name for field in schema if arrow.types.is_integer(field.type)]
    for file in files:
        _check_groups(*file, whole)
    fields = [
        field if not arrow.types.is_integer(field.type) else _with_gaps(field, files)
        for field in schema
    ]
    return arrow.schema(fields)


def _check_groups(path: str, origin: Origin, names: Sequence[str]) -> None:
    """Read a row of each group: in damaged files, asking for statistics aborts the process."""
    with sound(origin, "Parquet"):
        file, _ = parquet_file(path, origin.source, pre_buffer=False, buffer_size=1 << 20)
        with file:
            for group in range(file.metadata.num_row_groups if names else 0):
                next(file.iter_batches(1, row_groups=[group], columns=list(names)), None)


def _with_gaps(field: Any, files: Sequence[tuple[str, Origin]]) -> Any:
    """The type of a column of whole numbers in all frames."""
    arrow = needed("pyarrow")
    gaps = 0
    low: int | None = None
    high: int | None = None
    for path, origin in files:
        for missing, least, most in _spans(path, origin, field.name):
            gaps += missing
            low = least if low is None or (least is not None and least < low) else low
            high = most if high is None or (most is not None and most > high) else high
    if not gaps or low is None or high is None:
        return field
    inexact = max(abs(low), abs(high)) > _EXACT
    return arrow.field(field.name, arrow.string() if inexact else arrow.float64())


def _spans(path: str, origin: Origin, name: str) -> Iterator[tuple[int, int | None, int | None]]:
    """Gaps, smallest and largest value of a column in each row group."""
    compute = needed("pyarrow.compute")
    metadata = _metadata(path, origin)
    with sound(origin, "Parquet"):
        columns = [metadata.schema.column(j).path for j in range(metadata.num_columns)]
        place = columns.index(name)
    for group in range(metadata.num_row_groups):
        facts = metadata.row_group(group)
        found = facts.column(place).statistics
        if found is not None and found.has_null_count and found.has_min_max:
            yield found.null_count, int(found.min), int(found.max)
            continue
        column = _read(path, origin, group, 0, facts.num_rows, [name])[name]
        span = compute.min_max(column).as_py()
        yield column.null_count, span["min"], span["max"]


def check_names(
    expected: Sequence[str], found: Sequence[str], first: Origin, other: Origin
) -> None:
    """Refuse a file that does not have the columns of the first one."""
    lacking = [name for name in expected if name not in set(found)]
    more = [name for name in found if name not in set(expected)]
    if lacking or more:
        faults = [f"lacks {listed(lacking, 5)}"] * bool(lacking)
        faults += [f"has {listed(more, 5)} too"] * bool(more)
        raise TableError(
            f"{other.source} does not have the columns of {first.source}: it "
            f"{' and '.join(faults)}; give files with the same columns."
        )


def _schema(path: str, origin: Origin) -> Any:
    with sound(origin, "Parquet"):
        schema = _metadata(path, origin).schema.to_arrow_schema().remove_metadata()
        _ = schema.names  # which may be no text
    return schema


def _metadata(path: str, origin: Origin) -> Any:
    with sound(origin, "Parquet"):
        return needed("pyarrow.parquet").read_metadata(arrow_path(path))

"""Tables: files of many formats read as frames, and frames made into numbers."""

from .preparing import MixedEncoder
from .reading import Table, TableError, read_chunks, read_table

__all__ = ["MixedEncoder", "Table", "TableError", "read_chunks", "read_table"]

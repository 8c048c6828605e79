"""Tables: files of many formats read as frames, and frames made into numbers."""

from .preparing import Preparation
from .reading import Table, TableError, read_chunks, read_table

__all__ = ["Preparation", "Table", "TableError", "read_chunks", "read_table"]

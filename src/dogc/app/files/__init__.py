"""Files of many formats read as tables, and tables clustered."""

from ...encoding.errors import TableError
from .reading import Table, open_table, read_table

__all__ = ["Table", "TableError", "open_table", "read_table"]

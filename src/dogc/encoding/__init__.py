"""Encoding: tables of numbers, dates, words and gaps become tables of numbers."""

from .encoder import MixedEncoder
from .errors import TableError

__all__ = ["MixedEncoder", "TableError"]

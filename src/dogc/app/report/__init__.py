"""A clustering as one HTML page that needs nothing but a browser."""

from .page import COMPARE, EXPLORE, is_summary, page, render
from .summary import count_rows, describe_resolution, method_name, sample_words, summarise

__all__ = [
    "COMPARE",
    "EXPLORE",
    "count_rows",
    "describe_resolution",
    "is_summary",
    "method_name",
    "page",
    "render",
    "sample_words",
    "summarise",
]

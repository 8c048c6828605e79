"""A clustering as one HTML page that needs nothing but a browser."""

from .features import deciding_note
from .page import COMPARE, EXPLORE, is_summary, page, render
from .summary import describe_verdict, method_name, sample_words, summarise

__all__ = ["COMPARE", "EXPLORE", "deciding_note", "describe_verdict", "is_summary", "method_name",
           "page", "render", "sample_words", "summarise"]  # fmt: skip

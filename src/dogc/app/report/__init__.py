"""A clustering as one HTML page that needs nothing but a browser."""

from .page import is_summary, render
from .summary import GEOMETRY, describe_resolution, sample_words, summarise

__all__ = ["GEOMETRY", "describe_resolution", "is_summary", "render", "sample_words", "summarise"]

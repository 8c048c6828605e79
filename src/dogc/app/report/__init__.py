"""A clustering as one HTML page that needs nothing but a browser."""

from .page import render
from .summary import GEOMETRY, describe_resolution, sample_words, summarise

__all__ = ["GEOMETRY", "describe_resolution", "render", "sample_words", "summarise"]

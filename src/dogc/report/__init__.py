"""A clustering as one HTML page that needs nothing but a browser."""

from .page import render
from .summary import describe_resolution, summarise

__all__ = ["describe_resolution", "render", "summarise"]

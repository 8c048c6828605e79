"""A clustering as one HTML page that needs nothing but a browser."""

from .page import render
from .summary import summarise

__all__ = ["render", "summarise"]

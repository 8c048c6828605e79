"""One line for a number that must not be missed."""

from __future__ import annotations


def floor_line(text: str, value: float, sign: str, needed: float, digits: int = 3) -> str:
    """The number, what it is held to, and whether that is met; a missing number is not."""
    met = value >= needed if sign == ">=" else value <= needed
    held = f"{value:8.{digits}f} {sign} {needed:.{digits}f}"
    return f"{text:<52}{held}  {'met' if met else 'not met'}"

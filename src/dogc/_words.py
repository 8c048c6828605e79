"""Text of others as it can stand in a sentence, and tables as text."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_NAME, LONGEST_SENTENCE = 60, 1000


def shown(name: object, most: int = LONGEST_NAME) -> str:
    r"""A name as it can stand in a sentence: no control characters, and not too long.

    Examples
    --------
    >>> print(shown("two\nlines"), shown("a" * 100, 10))
    two\nlines aaaa...aaa
    """
    text = str(name)
    if len(text) > 2 * most:  # so that little is looked at letter by letter
        text = text[:most] + text[-most:]
    text = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )
    half = most // 2 - 1
    return text if len(text) <= most else f"{text[:half]}...{text[len(text) - most + half + 3 :]}"


def aligned(lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table as text; the first columns to the left, the others to the right.

    Examples
    --------
    >>> print(aligned([["name", "n"], ["a", "10"]]))
    name   n
    a     10
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )

"""Text of others as it can stand in a sentence."""

from __future__ import annotations

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

"""Text that is no table but JSON, HTML or XML."""

from __future__ import annotations

import json
import re

_JSON_NAMES = {".json", ".jsonl", ".ndjson", ".geojson"}
_PAGE = re.compile(r"<(!--|(!doctype|\?xml|html|head|body|script|svg)\b)", re.I)
_TAG = re.compile(r"</?[a-z!?][^<>]*>", re.I)


def is_markup(head: str, suffix: str) -> bool:
    """Whether text begins as JSON, HTML or XML do; a cell of a table may begin with the same mark.

    Examples
    --------
    >>> is_markup('[{"a": 1}]', ".txt"), is_markup("[id],[name]", ".csv")
    (True, False)
    >>> is_markup("<html>", ".csv"), is_markup("<5,yes", ".csv")
    (True, False)
    """
    text = head.lstrip("\ufeff \r\n\t")
    if text.startswith("<"):
        return _is_page(text)
    return text.startswith(("{", "[")) and (suffix in _JSON_NAMES or _is_json(text))


def _is_page(text: str) -> bool:
    """Whether it is a page, or its first two lines are tags."""
    lines = [line.strip() for line in text[: 1 << 12].split("\n", 3)[:3]]
    tags = [line for line in lines[:2] if line]
    if _PAGE.match(text):
        return True
    return bool(_TAG.fullmatch(tags[0])) and all(map(_TAG.match, tags))


def _is_json(text: str) -> bool:
    """Whether one value of JSON fills the first lines, or more than the text."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        # A value that is merely cut is wrong at its end, or in a string that has none.
        end = len(text) - (8 if len(text) > 1000 else 1)
        return error.msg.startswith("Unterminated") or error.pos >= end
    except RecursionError:
        return True
    return not text[end:].split("\n", 1)[0].strip()

"""The rights of a page that dogc writes, in a browser."""

from __future__ import annotations

import base64
import hashlib


def policy(style: str, script: str | None = None) -> str:
    """A content security policy: this style, this script if there is one, pictures in the page.

    Nothing is loaded and nothing else is run, so that nothing in the data can do harm even if it
    should be taken for code.

    Examples
    --------
    >>> policy("p { color: red }").split("; ")[0]
    "default-src 'none'"
    """
    run = "" if script is None else f"script-src '{_digest(script)}'; "
    return (
        f"default-src 'none'; {run}style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

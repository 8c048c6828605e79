"""Formulas as MathML: no script and no network; the font comes with the site."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

# What the converter does not know under this name.
SPELLINGS = {r"\Big(": r"\left(", r"\Big)": r"\right)", r"\dots": r"\ldots"}


def converted(node: nodes.Node, *, block: bool) -> str:
    """The formula as MathML; one that cannot be converted is a warning, and so an error."""
    formula = node.astext().strip()
    for ours, theirs in SPELLINGS.items():
        formula = formula.replace(ours, theirs)
    try:
        return tex2mathml(formula, as_block=block)
    except MathError as error:
        logger.warning("cannot convert formula %r: %s", node.astext(), error, location=node)
        return f"<code>{node.astext()}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    self.body.append(converted(node, block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own; a long one scrolls by itself on a narrow screen."""
    self.body.append(f'<div class="formula" tabindex="0">{converted(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer and make it the one that is used."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}

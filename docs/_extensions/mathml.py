"""Formulas as MathML: no script and no network; the font comes with the site."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

# What the converter does not know under this name.
SPELLINGS = {r"\Big(": r"\left(", r"\Big)": r"\right)", r"\dots": r"\ldots"}
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ACCENTS = {"\u02c9", "~", "\u02c6"}  # bar, tilde, hat
ET.register_namespace("", NAMESPACE)


def tag(name: str) -> str:
    """The name of a MathML element in ElementTree."""
    return f"{{{NAMESPACE}}}{name}"


# What may hold any number of elements; a fraction or an index may not.
ROWS = {tag(name) for name in ("math", "mrow", "mtd")}


def converted(node: nodes.Node, *, block: bool) -> str:
    """The formula as MathML; one that cannot be converted is a warning, and so an error."""
    formula = node.astext().strip()
    for ours, theirs in SPELLINGS.items():
        formula = formula.replace(ours, theirs)
    try:
        return tidied(tex2mathml(formula, as_block=block))
    except MathError as error:
        logger.warning("cannot convert formula %r: %s", node.astext(), error, location=node)
        return f"<code>{node.astext()}</code>"


def tidied(text: str) -> str:
    """MathML that browsers draw as TeX does: norms, accents with an index, space before signs."""
    root = ET.fromstring(text.replace("&ApplyFunction;", "\u2061"))
    for element in list(root.iter()):
        if element.tag == tag("mo") and element.text == "‖":
            # Each bar is an operator of its own; a browser would stretch one and not the other.
            element.attrib.update(stretchy="false", lspace="0", rspace="0")
        if element.tag == tag("munderover") and element[2].text in ACCENTS:
            index_below_accent(element)
        if element.tag in ROWS:
            space_before_names(element)
    return ET.tostring(root, encoding="unicode")


def index_below_accent(element: ET.Element) -> None:
    """Make the index of an accented letter a subscript; the converter puts it under the letter."""
    letter, index, accent = element
    accented = ET.Element(tag("mover"), accent="true")
    accented.extend([letter, accent])
    element.tag = tag("msub")
    element[:] = [accented, index]


def space_before_names(row: ET.Element) -> None:
    """Keep a named operator, such as Tr, apart from the letter before it."""
    for before, child in list(itertools.pairwise(row)):
        named = child.tag == tag("mi") and len(child.text or "") > 1
        if named and before.tag not in (tag("mo"), tag("mspace")):
            row.insert(list(row).index(child), ET.Element(tag("mspace"), width="0.1667em"))


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

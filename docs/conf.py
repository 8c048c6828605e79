"""How the site is built: ``sphinx-build -W --keep-going -b html docs docs/_build``."""

from __future__ import annotations

import inspect
import pathlib
import re
import sys
from typing import Any

import dogc

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "dogc"
author = "The dogc developers"
copyright = "the dogc developers, BSD 3-Clause"
version = release = dogc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_static_path = ["_static"]

html_theme = "furo"
html_title = f"dogc {release}"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f99", "color-brand-content": "#1f5f99"},
    "dark_css_variables": {"color-brand-primary": "#7db8ec", "color-brand-content": "#7db8ec"},
}

# Prompts of doctests, and what they print, are not copied.
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div:not(.highlight-text):not(.sphx-glr-script-out) > div.highlight > pre"

# A name that leads nowhere is a warning, and so an error; other projects are not looked up.
nitpicky = True
nitpick_ignore = [("py:class", "sklearn.pipeline.Pipeline"), ("py:class", "sklearn.utils.Bunch")]

# `eq:10` in a docstring is a label of the paper, shown as code.
default_role = "code"
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "monokai"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"/(?!plot_)[^/]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("dogc",),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": False,
    "image_srcset": ["2x"],
}

# Methods of scikit-learn's own that belong on a class page; the rest of its plumbing does not.
INHERITED = {"fit_predict", "fit_transform", "get_params", "set_params"}


def skip_member(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn adds to every estimator, and aliases of tuple fields."""
    module = getattr(thing, "__module__", None) or ""
    foreign = not module.startswith("dogc") and not isinstance(thing, property)
    return skip or (foreign and name not in INHERITED)


def prepare_docstring(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Describe the fields of a named tuple, and keep names that end in _ from being links."""
    lines[:] = [line.replace("(n_features_in_,)", "(``n_features_in_``,)") for line in lines]
    if what == "class" and hasattr(thing, "_fields"):
        field = re.compile(r"^    (\w+): ([^#\n]+?)(?:  # (.*))?$", flags=re.M)
        lines += ["", "Attributes", "----------"]
        for label, kind, comment in field.findall(inspect.getsource(thing)):
            lines += [f"{label} : {kind}", *([f"    {comment}"] if comment else [])]


def link_files(app: Any, docname: str, source: list[str]) -> None:
    """Link to the files that a page names instead of to a folder of the repository."""
    if docname != "reproduction":
        return
    text = source[0].replace("[reproduction/](reproduction)", "these files")
    for file in (HERE / "reproduction").glob("*.csv"):
        text = text.replace(f"`{file.name}`", f"[{file.name}](reproduction/{file.name})", 1)
    source[0] = text


def write_demo(app: Any, failure: Exception | None) -> None:
    """Put a report beside the page that tells about reports."""
    if failure is None and app.builder.name == "html":
        from dogc.app.commands.command_line import run

        code = run(["demo", "--out", str(pathlib.Path(app.outdir) / "demo"), "--force", "--quiet"])
        if code:
            raise RuntimeError(f"dogc demo ended with exit code {code}")


def setup(app: Any) -> None:
    """Connect them."""
    app.connect("autodoc-process-docstring", prepare_docstring, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", skip_member)
    app.connect("source-read", link_files)
    app.connect("build-finished", write_demo)

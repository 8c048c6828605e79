"""The tables of the documentation are those of docs/reproduction.

python tools/reproduction.py            # says which pages are not up to date
python tools/reproduction.py --write    # writes them
"""

from __future__ import annotations

import argparse
import pathlib

from dogc.paper.reproduction_page import filled

DOCS = pathlib.Path(__file__).parents[1] / "docs"


def out_of_date() -> dict[pathlib.Path, str]:
    """Pages whose tables are not those of the files, with what they should be."""
    wanted = {}
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = filled(text, DOCS / "reproduction")
        if new != text:
            wanted[page] = new
    return wanted


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    write = options.parse_args().write
    for path, text in out_of_date().items():
        print(f"{path.name}: {'written' if write else 'not up to date'}")
        if write:
            path.write_text(text, encoding="utf-8")

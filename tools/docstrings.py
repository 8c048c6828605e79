"""Keep shared paragraphs of docstrings equal: ``python tools/docstrings.py [--write] [FOLDER]``.

Each estimator follows another one: parameters and attributes that both describe must read the
same, unless a table below says otherwise. To change such a paragraph, change it in the first class
that has it and run this with ``--write``. Without it what differs is listed, and the exit status
is 1 if anything does. FOLDER holds the classes and is ``src/dogc/estimators`` unless named.
"""

from __future__ import annotations

import argparse
import ast
import pathlib
import re
import sys
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parents[1] / "src" / "dogc" / "estimators"

# The class whose paragraphs a class repeats; for a name that it lacks, the one that it follows
# itself. Leaders stand before followers.
FOLLOWS = {
    "DOGC": "",
    "DOGCOS": "DOGC",
    "DOGCRelaxed": "DOGCOS",
    "DOGCFixedGraph": "DOGCOS",
    "CAN": "DOGC",
    "PCAN": "CAN",
    "RatioCut": "DOGC",
    "NormalizedCut": "RatioCut",
    "NMFClustering": "RatioCut",
    "CLR": "RatioCut",
    "SEC": "RatioCut",
    "CLGR": "SEC",
    "LocalLearningClustering": "CLGR",
    "DiscriminativeKMeans": "RatioCut",
    "LPP": "SEC",
    "LSC": "SEC",
    "USPEC": "LSC",
}
# Names that a class describes in words of its own. Its followers repeat these.
OWN = {
    "DOGCOS": "metric",
    "DOGCRelaxed": "init n_init random_state",
    "DOGCFixedGraph": "lam",
    "CAN": "init init_ random_state components_",
    "RatioCut": "n_clusters n_neighbors n_init random_state affinity_matrix_ embedding_",
    "NMFClustering": "affinity assign_labels n_init max_iter tol embedding_ n_iter_",
    "CLR": "similarity_matrix_ affinity_matrix_",
    "SEC": "n_neighbors bandwidth affinity affinity_matrix_ embedding_",
    "CLGR": "lam n_neighbors affinity",
    "LocalLearningClustering": "ridge n_neighbors bandwidth assign_labels embedding_",
    "DiscriminativeKMeans": "lam n_init max_iter random_state n_iter_",
    "LPP": "n_components components_",
    "LSC": "n_neighbors bandwidth n_init random_state",
    "USPEC": "n_landmarks",
}
# Single names for which a class follows another one than usual.
ELSEWHERE = {("PCAN", "components_"): "DOGC"}

Key = tuple[str, str]  # class and name


class Paragraph(NamedTuple):
    """The text of a docstring about one name, and its first line in the file, from zero."""

    path: pathlib.Path
    start: int
    lines: list[str]


def entries(lines: list[str], first: int, last: int) -> list[tuple[str, int, int]]:
    """Names under Parameters and Attributes between two lines, each with where it starts, stops."""
    found, section = [], ""
    for i in range(first, last):
        if re.fullmatch(r"    -{3,}\n", lines[i + 1]):
            section = lines[i].strip()
        entry = re.match(r"    (\w+) : ", lines[i])
        if entry and section in ("Parameters", "Other Parameters", "Attributes"):
            stop = i + 1
            while re.match(r"\n? {8}", "".join(lines[stop : stop + 2])):
                stop += 1
            found.append((entry[1], i, stop))
    return found


def paragraphs(folder: pathlib.Path) -> dict[Key, Paragraph]:
    """All paragraphs of the classes of the table, leaders before followers."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines(keepends=True)
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef) and node.name in FOLLOWS and ast.get_docstring(node):
                first, last = node.body[0].lineno - 1, (node.body[0].end_lineno or 0) - 1
                for name, start, stop in entries(lines, first, last):
                    found[node.name, name] = Paragraph(path, start, lines[start:stop])
    return dict(sorted(found.items(), key=lambda item: list(FOLLOWS).index(item[0][0])))


def leader(key: Key, known: dict[Key, Paragraph]) -> str:
    """The class that describes the name and that this class follows; empty if there is none."""
    other = ELSEWHERE.get(key, FOLLOWS[key[0]])
    while other and (other, key[1]) not in known:
        other = FOLLOWS[other]
    return other


def compare(known: dict[Key, Paragraph]) -> tuple[dict[Key, list[str]], list[str]]:
    """Compare each paragraph with the one that it repeats; the differences in words."""
    own = {(cls, name) for cls, names in OWN.items() for name in names.split()}
    said = [f"{cls} has no paragraph" for cls in FOLLOWS if cls not in {key[0] for key in known}]
    said += [f"{cls} does not describe {name}" for cls, name in sorted(own - known.keys())]
    wanted: dict[Key, list[str]] = {}
    for key, paragraph in known.items():
        other = leader(key, known)
        model = wanted[other, key[1]] if other else None
        wanted[key] = paragraph.lines if model is None or key in own else model
        place = f"{paragraph.path.name}:{paragraph.start + 1}: {'.'.join(key)}"
        if paragraph.lines != wanted[key]:
            said.append(f"{place} differs from {other}")
        if key in own and (model is None or paragraph.lines == model):
            said.append(f"{place} need not be in the table of words of its own")
    return wanted, said


def rewrite(known: dict[Key, Paragraph], wanted: dict[Key, list[str]]) -> None:
    """Put every paragraph that differs right, the last of a file first."""
    for key in sorted(known, key=lambda key: -known[key].start):
        path, start, lines = known[key]
        if lines != wanted[key]:
            text = path.read_text(encoding="utf-8").splitlines(keepends=True)
            text[start : start + len(lines)] = wanted[key]
            path.write_text("".join(text), encoding="utf-8")


def main() -> int:
    """List what differs, or put it right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="rewrite what differs")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=HERE)
    given = parser.parse_args()
    if given.write:
        rewrite(known := paragraphs(given.folder), compare(known)[0])
    _, said = compare(known := paragraphs(given.folder))
    print("\n".join(said) or f"{len(known)} paragraphs, all as they should be")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())

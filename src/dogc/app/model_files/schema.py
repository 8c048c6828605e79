"""The tree of nodes in a model file, before skops makes anything of it.

skops knows many kinds of nodes and trusts all estimators of scikit-learn. Models need few of both.
Here the rest is refused by name: what would call functions when it is made, and what is later read
without looking at its bounds (the arrays of a decision tree, say), with which a forged file could
crash the process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from .archive import SCHEMA, Misfit

# What the content of each kind of node is made of.
CONTENT = {
    "DictNode": "nodes by name",
    "ListNode": "nodes",
    "TupleNode": "nodes",
    "SetNode": "nodes",
    "ObjectNode": "node",
    "DTypeNode": "node",
    "RandomStateNode": "node",
    "RandomGeneratorNode": "nodes by name",
    "DefaultDictNode": "nodes by name",
    "NdArrayNode": "nodes",
    "JsonNode": "text",
    "SliceNode": "numbers by name",
    "TypeNode": "nothing",
    "FunctionNode": "nothing",
}
# Parts of scikit-learn that work on whole arrays, or look at bounds.
MODULES = (
    "compose",
    "covariance",
    "cross_decomposition",
    "decomposition",
    "discriminant_analysis",
    "feature_extraction",
    "feature_selection",
    "impute",
    "kernel_approximation",
    "linear_model",
    "manifold",
    "pipeline",
    "preprocessing",
    "random_projection",
)
CLASSES = (
    "sklearn.cluster._kmeans.KMeans",
    "sklearn.neighbors._graph.KNeighborsTransformer",
    "sklearn.neighbors._graph.RadiusNeighborsTransformer",
    "sklearn.neighbors._unsupervised.NearestNeighbors",
)
_WORD = re.compile(r"[\w.<>]{1,120}")
_ARRAYS = re.compile(r"ndarray|bool_?|str_|(u?int|float|complex|datetime|timedelta)\d+")


class ForeignTypesError(ValueError):
    """Types in a file that nothing is made of, by their names."""

    def __init__(self, names: set[str]):
        """Name a few of them."""
        super().__init__(", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else ""))


def checked(root: Any, entries: dict[str, bytes]) -> dict[str, Any]:
    """The same tree without references of one node to another, but for arrays held once.

    skops looks nodes up by numbers that the file gives; by them a few bytes could stand for a tree
    without end. Each array keeps a number, that of its entry.
    """
    places = {name: place for place, name in enumerate(entries, start=1)}
    foreign: set[str] = set()
    tree = _node(root, places, foreign)
    if foreign:
        raise ForeignTypesError(foreign)
    return tree | {"protocol": root.get("protocol"), "_skops_version": root.get("_skops_version")}


def types_in(root: Any) -> set[str]:
    """The names of what a tree holds, beyond plain Python."""
    found: set[str] = set()
    level = [root]
    while level:
        for node in level:
            if isinstance(node, dict) and isinstance(node.get("__module__"), str):
                found.add(f"{node['__module__']}.{node.get('__class__')}")
        level = [
            item
            for above in level
            if isinstance(above, dict | list)
            for item in (above.values() if isinstance(above, dict) else above)
        ]
    return {name for name in found if not name.startswith("builtins.") and _WORD.fullmatch(name)}


def as_entry(tree: dict[str, Any], entries: dict[str, bytes]) -> dict[str, bytes]:
    """The entries with this tree."""
    return entries | {SCHEMA: json.dumps(tree).encode()}


def _node(node: Any, places: dict[str, int], foreign: set[str]) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise Misfit("its tree of parts is broken")
    words: list[Any] = [node.get(f"__{key}__") for key in ("module", "class", "loader")]
    if not all(isinstance(word, str) and _WORD.fullmatch(word) for word in words):
        raise Misfit("its tree of parts is broken")
    module, name, loader = words
    if loader not in CONTENT or not _is_known(loader, module, name):
        foreign.add(f"{module}.{name}")
        return {}

    def inside(item: Any) -> dict[str, Any]:
        return _node(item, places, foreign)

    plain: dict[str, Any] = {"__class__": name, "__module__": module, "__loader__": loader}
    for key in ("key_types", "shape"):
        if key in node:
            plain[key] = inside(node[key])
    if loader == "NdArrayNode" and node.get("type") == "numpy":
        file = node.get("file")
        if not isinstance(file, str) or file not in places or not file.endswith(".npy"):
            raise Misfit("it names an array that it does not hold")
        # A number beside an array of the same entry is another object.
        number = places[file] if name == "ndarray" else -places[file]
        return plain | {"type": "numpy", "file": file, "__id__": number}
    if "content" in node:
        plain["content"] = _content(node["content"], CONTENT[loader], inside)
    return plain | {key: node[key] for key in ("type", "is_json") if key in node}


def _is_known(loader: str, module: str, name: str) -> bool:
    if loader == "NdArrayNode":
        return module == "numpy" and _ARRAYS.fullmatch(name) is not None
    if loader != "ObjectNode":
        return True  # skops looks at these
    package, _, rest = module.partition(".")
    public = rest.partition(".")[0]
    return package == "sklearn" and (public in MODULES or f"{module}.{name}" in CLASSES)


def _content(content: Any, kind: str, inside: Callable[[Any], dict[str, Any]]) -> Any:
    if kind == "text" and isinstance(content, str):
        return content
    if kind == "node":
        return inside(content)
    if kind == "nodes" and isinstance(content, list):
        return [inside(item) for item in content]
    if kind == "nodes by name" and isinstance(content, dict):
        return {name: inside(item) for name, item in content.items()}
    if kind == "numbers by name" and isinstance(content, dict) and _all_whole(content):
        return content
    raise Misfit("its tree of parts is broken")


def _all_whole(numbers: dict[str, Any]) -> bool:
    return all(number is None or type(number) is int for number in numbers.values())

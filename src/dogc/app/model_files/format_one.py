"""Model files of format 1, rewritten as the present format would have them.

That format kept the module of every class, and the fields of named tuples by their place. A file
holds a tree of nodes, ``schema.json``, beside its arrays; what is ours in it becomes
``{"dogc": name, "state": {field: value}}``, and is then read and checked like any other file.
"""

from __future__ import annotations

import json
from typing import Any

from .packing import STATE, TAG

# The fields of each named tuple in the order in which they were stored.
FIELDS = {
    "CountEvidence": "n_clusters score votes n_scales firmness jump",
    "DiscriminantSpace": "scaled kernel_map shift components",
    "FittedRows": "search Z scaled lookup components labels k xi copies reach stray",
    "Frame": "scaled directions unit middle",
    "GraphSettings": "kind n_neighbors bandwidth n_jobs",
    "Index": "kind search n metric",
    "Record": "iteration objective terms lam n_components labels_changed",
    "Representatives": "frame R n_links width labels n_votes reach stray metric",
    "ResolutionChoice": "n_representatives agreement score chosen",
    "ScaleChoice": "n_neighbors agreement score chosen",
    "Scaled": "X origin unit centre scatter mean n_varying constant T",
    "StoredRepeats": "values place",
    "StoredSparse": "kind data indices indptr shape",
    "Voters": "search scaled sigma settings",
}
RENAMED = {"StoredRepeats": "repeats", "StoredSparse": "sparse"}

_TEXT = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}


def renewed(node: Any) -> Any:
    """A node and all below it, with tags in place of classes of ours."""
    if isinstance(node, list):
        return [renewed(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: renewed(item) for key, item in node.items()}
    module, name, loader = (node.get(f"__{key}__") for key in ("module", "class", "loader"))
    if loader == "DictNode" and TAG in node["content"]:
        return _tagged("dict", node, node)
    if not str(module).startswith("dogc."):
        return node
    if loader == "ObjectNode":
        return _tagged(str(name), node["content"], node)
    if loader == "TupleNode" and name in FIELDS:
        # Of tuples that have grown since, files hold the first fields.
        fields = zip(FIELDS[name].split(), node["content"], strict=False)
        return _tagged(RENAMED.get(name, name), _mapping(dict(fields)), node)
    return node  # to be refused by name


def _tagged(name: str, state: Any, was: dict[str, Any]) -> dict[str, Any]:
    """A node of a tagged state, in the place of another."""
    text = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(name),
        "is_json": True,
    }
    tagged = _mapping({TAG: text, STATE: {k: v for k, v in state.items() if k != "__id__"}})
    return tagged | ({"__id__": was["__id__"]} if "__id__" in was else {})


def _mapping(content: dict[str, Any]) -> dict[str, Any]:
    """A node of a plain dict with text for keys."""
    types = {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": [_TEXT] * len(content),
    }
    return {
        "__class__": "dict",
        "__module__": "builtins",
        "__loader__": "DictNode",
        "content": content,
        "key_types": types,
    }

"""Attempts on model files: what somebody writes who knows the format and means no good.

A forger recomputes checksums, so most attempts do too. Whatever loads must be a model of this
library that does what its methods say, on the rows that it takes.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import json
import os
import pathlib
import re
import struct
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import scipy.sparse as sp
from dogc.app.model_files import saving
from dogc.app.model_files.checking import OURS
from dogc.app.model_files.saving import Bundle, ModelFileError
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dogc
from dogc import MixedEncoder
from dogc.app.commands.command_line import run

from .harness import Broken

OLD = pathlib.Path(__file__).parents[1] / "app" / "old_models"
X = make_blobs(36, n_features=3, centers=3, random_state=0, cluster_std=0.8)[0]
X -= X.min() - 0.1
NEAR = KNeighborsTransformer(n_neighbors=12).fit(X)
MIXED = pandas.DataFrame(
    {"a": X[:, 0], "b": X[:, 1], "kind": ["x", "y", "z"] * 12, "ok": ["yes", "no"] * 18}
)
METHODS = (
    "predict",
    "transform",
    "predict_membership",
    "score_outliers",
    "decision_function",
)


def affinities() -> sp.csr_array:
    """A precomputed graph of affinities."""
    D = sp.csr_array(NEAR.transform(X))
    A = D + D.T
    A.data = np.exp(-A.data)
    return A


# What is fitted, on which rows; each loads and labels in milliseconds.
MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "DOGC": lambda: (dogc.DOGC(3, n_neighbors=8), X),
    "DOGC, wide": lambda: (dogc.DOGC(3, n_neighbors="wide"), X),
    "DOGC, marks": lambda: (dogc.DOGC(3, outlier_label=-1, n_components=2), X),
    "DOGC, representatives": lambda: (dogc.DOGC(3, n_representatives=12), X),
    "DOGC, float32": lambda: (dogc.DOGC(3), X.astype(np.float32)),
    "DOGC, sparse": lambda: (dogc.DOGC(3), sp.csr_array(X)),
    "DOGC, given": lambda: (dogc.DOGC(3, n_neighbors=8, metric="precomputed"), NEAR.transform(X)),
    "DOGC, own search": lambda: (
        dogc.DOGC(3, n_neighbors=8, neighbors_algorithm=KNeighborsTransformer()),
        X,
    ),
    "DOGCOS": lambda: (dogc.DOGCOS(3, geometry="standard"), X),
    "DOGCOS, paper": lambda: (dogc.DOGCOS(3, rule="paper", n_representatives=12), X),
    "PCAN": lambda: (dogc.PCAN(3, n_components=2, metric="cosine"), X),
    "NormalizedCut": lambda: (dogc.NormalizedCut(3), X),
    "NormalizedCut, given": lambda: (dogc.NormalizedCut(3, affinity="precomputed"), affinities()),
    "CLR": lambda: (dogc.CLR(3, n_representatives=12), X),
    "SEC": lambda: (dogc.SEC(3), X),
    "DiscriminativeKMeans": lambda: (dogc.DiscriminativeKMeans(3, kernel="rbf"), X),
    "LSC": lambda: (dogc.LSC(3, n_landmarks=10), X),
    "USENC": lambda: (dogc.USENC(3, n_estimators=3, n_landmarks=8), X),
    "KMultipleMeans": lambda: (dogc.KMultipleMeans(3, n_prototypes=9), X),
    "LPP": lambda: (dogc.LPP(2), X),
    "KMeans": lambda: (KMeans(3, n_init=1, random_state=0), X),
    "pipeline": lambda: (make_pipeline(StandardScaler(), dogc.DOGCOS(3)), X),
    "table": lambda: (dogc.DOGCOS(3), MIXED),
}
OLD_MODELS = tuple(f"old {name}" for name in ("dogcos", "sparse", "table", "pipeline", "auto"))


@functools.cache
def original(name: str) -> bytes:
    """The file of a model, the same in every process."""
    if name in OLD_MODELS:
        return (OLD / f"{name.removeprefix('old ')}.skops").read_bytes()
    model, rows = MODELS[name]()
    more: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "table":
            preparation = MixedEncoder().fit(rows)
            rows = preparation.transform(rows)
            bundle = saving.load_bundle(OLD / "table.skops")
            more = {"preparation": preparation, "summary": bundle.summary}
            more["settings"] = bundle.settings
        model.fit(rows)
    if hasattr(model, "timings_"):
        model.timings_ = {}
    path = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"dogc-fuzz-{os.getpid()}.skops"
    try:
        return settled(saving.save(model, path, **more).read_bytes())
    finally:
        path.unlink(missing_ok=True)


def opened(data: bytes) -> dict[str, bytes]:
    """The entries of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def settled(data: bytes) -> bytes:
    """The same file without what is another in every process: numbers of objects, and times."""
    entries, numbers = opened(data), {}
    text = entries.pop("schema.json").decode()
    for number in dict.fromkeys(re.findall(r'"__id__": (\d+)|"(\d+)\.npy"', text)):
        numbers.setdefault("".join(number), str(len(numbers) + 1))
    text = re.sub(r"\d{6,}", lambda found: numbers.get(found[0], found[0]), text)
    renamed = [(numbers.get(name[:-4], name[:-4]) + name[-4:], a) for name, a in entries.items()]
    return sealed([("schema.json", text.encode()), *renamed], mark_of(data))


def sealed(entries: list[tuple[str, bytes]], mark: bytes | None = None) -> bytes:
    """The file of a forger: everything that dogc.save computes is computed again."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        warnings.simplefilter("ignore")  # two entries of one name
        for name, content in entries:
            target.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # of no day
        target.comment = (mark or saving._MARK) + b"0" * 64
    return resealed(buffer.getvalue())


def resealed(data: bytes) -> bytes:
    """The same bytes with the checksum that they have."""
    return data[:-64] + saving.hashlib.sha256(data[:-64]).hexdigest().encode()


def mark_of(data: bytes) -> bytes:
    """The comment of a file, without its checksum."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.comment[:-64]


# --- what is done to a file -------------------------------------------------------------------


def flip_bits(rng: np.random.Generator, data: bytes) -> bytes:
    """A few bits of the file, with its checksum or without."""
    changed = bytearray(data)
    for place in rng.integers(len(data) - 64, size=rng.integers(1, 4)):
        changed[place] ^= 1 << int(rng.integers(8))
    return resealed(bytes(changed)) if rng.random() < 0.7 else bytes(changed)


def cut_short(rng: np.random.Generator, data: bytes) -> bytes:
    """The beginning of it, or its end."""
    place = int(rng.integers(len(data)))
    return data[:place] if rng.random() < 0.7 else data[place:]


def flip_in_entry(rng: np.random.Generator, data: bytes) -> bytes:
    """Bits of an entry, with all checksums."""
    entries = opened(data)
    name = str(rng.choice(list(entries)))
    content = bytearray(entries[name])
    for place in rng.integers(len(content), size=rng.integers(1, 4)):
        content[place] ^= 1 << int(rng.integers(8))
    return sealed([*(entries | {name: bytes(content)}).items()], mark_of(data))


def move_entries(rng: np.random.Generator, data: bytes) -> bytes:
    """Entries that are missing, doubled, renamed or exchanged."""
    entries = list(opened(data).items())
    i, j = rng.integers(len(entries), size=2)
    names = [
        "../../a.npy",
        "/etc/passwd",
        "a/b.npy",
        "a\\b.npy",
        "",
        "é.npy",
        "x" * 300,
        "dogc.json",
    ]
    what = rng.integers(5)
    if what == 0:
        del entries[i]
    elif what == 1:
        entries.append((entries[i][0], entries[j][1]))
    elif what == 2:
        entries[i] = (str(rng.choice(names)), entries[i][1])
    elif what == 3:
        entries.append((str(rng.choice(names)), entries[i][1]))
    else:
        entries[i], entries[j] = (
            (entries[i][0], entries[j][1]),
            (entries[j][0], entries[i][1]),
        )
    return sealed(entries, mark_of(data))


def lie_in_directory(rng: np.random.Generator, data: bytes) -> bytes:
    """Sizes, offsets, flags and names in the zip's own tables that are not so."""
    changed = bytearray(data)
    heads = [b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"]
    head = heads[rng.integers(3)]
    places = [i for i in range(len(data)) if data.startswith(head, i)]
    start = int(rng.choice(places)) if places else 0
    field = start + int(rng.integers(4, 46, endpoint=True))
    value = int(rng.choice([0, 1, 2, 8, 99, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF, 1 << 20]))
    changed[field : field + 4] = struct.pack("<I", value)
    return resealed(bytes(changed[: len(data)]))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key, item in inside:
            deeper = (*path, key)
            found += _places(item, deeper) if isinstance(item, dict | list) else [deeper]
    return found


def _change(rng: np.random.Generator, root: Any) -> Any:
    """One place in a JSON value changed; a text that is meant to be put in may be raw JSON."""
    ways = _places(root)
    way = ways[rng.integers(len(ways))]
    owner = root
    for key in way[:-1]:
        owner = owner[key]
    other: Any = root
    for key in ways[rng.integers(len(ways))]:
        other = other[key]
    values: list[Any] = [
        None, True, False, 0, -1, 1, 3, 10**6, 2**63, 10**30, -0.5, 1e308, 1e999, float("nan"), "",
        "NaN", "1e999", "-1", "0", '"auto"', "[]", "{}", "null", "true", "[[[]]]", "9" * 5000,
        '"\\ud800"', "os", "system", "builtins", "numpy", "DOGC", "KMeans", "DictNode",
        "ObjectNode", "FunctionNode", "MethodNode", "ReduceNode", "TreeNode", "CachedNode",
        "BytesNode", "x" * 5000, [], {}, [[[[]]]], {"__loader__": "JsonNode", "content": "1"},
        copy.deepcopy(other),
    ]  # fmt: skip
    what = rng.integers(6)
    if what < 4:
        value = values[rng.integers(len(values))]
        # Numbers become what their kind is next to, so that most of the tree stays as it was.
        owner[way[-1]] = value
    elif what == 4:
        del owner[way[-1]]
    elif isinstance(owner, dict):
        owner[str(rng.choice(["__id__", "content", "fit", "labels_", "dogc", "type"]))] = (
            copy.deepcopy(other)
        )
    else:
        owner.append(copy.deepcopy(other))
    return root


def change_tree(rng: np.random.Generator, data: bytes) -> bytes:
    """The tree of nodes, in a place or two."""
    return _with_json(rng, data, "schema.json")


def change_header(rng: np.random.Generator, data: bytes) -> bytes:
    """The header, its summary and settings."""
    return _with_json(rng, data, "dogc.json")


def _with_json(rng: np.random.Generator, data: bytes, name: str) -> bytes:
    entries = opened(data)
    root = json.loads(entries[name])
    for _ in range(rng.integers(1, 3)):
        if isinstance(root, dict | list) and len(root):
            try:
                root = _change(rng, root)
            except (KeyError, IndexError, TypeError):
                break
    try:
        text = json.dumps(root)
    except (ValueError, RecursionError):  # it holds itself
        text = "[" * 10_000
    what = rng.random()
    if what < 0.03:
        text = text[:-1] + "," + text[1:]  # every key twice
    elif what < 0.05:
        text = "[" * 100_000 + text
    elif what < 0.06:
        text += " " * 70_000_000
    return sealed([*(entries | {name: text.encode()}).items()], mark_of(data))


def change_value(rng: np.random.Generator, data: bytes) -> bytes:
    """A number, word or flag that is stored as text in a node."""
    entries = opened(data)
    root = json.loads(entries["schema.json"])
    ways = [way for way in _places(root) if way[-1] == "content" and _is_text(root, way)]
    way = ways[rng.integers(len(ways))]
    owner = root
    for key in way[:-1]:
        owner = owner[key]
    values = ["null", "true", "0", "-1", "1", "2", "7", "1000000", "1" + "0" * 400, "0.5", "-0.5",
              "1e308", "1e-320", "NaN", "Infinity", '""', '"auto"', '"precomputed"', '"neighbors"',
              '"cosine"', '"cuda"', '"exact"', '"transformer"', '"pynndescent"', "[]", "[1, 2]",
              "{}", '{"a": 1}', '"given"', '"KMeans"', '"DOGC"', '"SEC"',
              '"Representatives"', '"sparse"', '"dict"', '"repeats"', "1" * 5000,
              "[" * 5000]  # fmt: skip
    owner["content"] = values[rng.integers(len(values))]
    text = json.dumps(root).encode()
    return sealed([*(entries | {"schema.json": text}).items()], mark_of(data))


def _is_text(root: Any, way: tuple[Any, ...]) -> bool:
    for key in way:
        root = root[key]
    return isinstance(root, str)


def forgeries(rng: np.random.Generator, a: np.ndarray) -> dict[str, np.ndarray]:
    """What may stand in the place of an array."""
    rows = a.shape[0] if a.ndim else 1
    some = rng.integers(max(a.size, 1))
    changed = {}
    for name, value in {"huge": 1e300, "NaN": np.nan, "infinite": np.inf, "negative": -7}.items():
        if a.dtype.kind == "f" or name == "negative":
            b = a.copy() if a.dtype.kind != "b" else a.astype(np.int8)
            if b.size:
                with np.errstate(all="ignore"):
                    b.flat[some] = np.array(value).astype(b.dtype)
            changed[name] = b
    if a.dtype.kind in "iu":
        b = a.copy()
        b.flat[some : some + 1] = np.iinfo(b.dtype).max
        changed["out of range"] = b
        b = a.copy()
        b.flat[some : some + 1] += 1
        changed["one more"] = b
    return changed | {
        "longer": np.concatenate([a, a[:1]]) if a.ndim else np.array([a, a]),
        "shorter": a[:-1] if a.ndim else a,
        "empty": np.empty((0, *a.shape[1:]), a.dtype),
        "wider": np.concatenate([a, a[..., :1]], axis=-1) if a.ndim else a,
        "narrower": a[..., :-1] if a.ndim else a,
        "deeper": a[None],
        "flat": a.ravel()[:rows],
        "scalar": np.array(1.5),
        "float16": a.astype(np.float16) if a.dtype.kind in "biuf" else a,
        "other kind": a.astype(np.float32 if a.dtype.kind in "biu" else np.int32),
        "complex": a.astype(np.complex128),
        "text": a.astype("U3"),
        "big-endian": a.astype(a.dtype.newbyteorder(">")),
        "zeros": np.zeros_like(a),
        "transposed": a.T,
        "no rows": np.empty((10**12, 0), a.dtype),
    }


def saved_array(a: np.ndarray) -> bytes:
    """An array as NumPy writes it."""
    buffer = io.BytesIO()
    np.save(buffer, a, allow_pickle=True)
    return buffer.getvalue()


def change_array(rng: np.random.Generator, data: bytes) -> bytes:
    """An array of another shape, type or with other values."""
    entries = opened(data)
    names = [name for name in entries if name.endswith(".npy")]
    name = str(rng.choice(names))
    content = entries[name]
    if rng.random() < 0.1:
        heads = [
            b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
            b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
            b"{'descr': '|V8', 'fortran_order': False, 'shape': (3,), }",
            b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3), }",
            b"{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000,), }",
            b"{" * 30_000,
        ]
        head = heads[rng.integers(len(heads))]
        forged = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + content[-64:]
    elif rng.random() < 0.05:
        forged = saved_array(np.array([{"a": 1}, print], dtype=object))
    else:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            others = list(forgeries(rng, np.load(io.BytesIO(content))).values())
        forged = saved_array(others[rng.integers(len(others))])
    return sealed([*(entries | {name: forged}).items()], mark_of(data))


def change_mark(rng: np.random.Generator, data: bytes) -> bytes:
    """The version of the format, here and there."""
    entries = opened(data)
    versions = [b"0", b"-1", b"3", b"1", b"2", b"2.0", b"two", b"9" * 5000, b"", b"02", b"True"]
    version = versions[rng.integers(len(versions))]
    header = json.loads(entries["dogc.json"])
    if rng.random() < 0.5:
        others = [0, -1, 3, 2.0, True, "2", None, [2], 10**400, version.decode()]
        header["format_version"] = others[rng.integers(len(others))]
        version = b"2"
    entries["dogc.json"] = json.dumps(header).encode()
    return sealed([*entries.items()], b"dogc model, format " + version + b", sha256 ")


ATTACKS: dict[str, tuple[Callable[[np.random.Generator, bytes], bytes], float]] = {
    "bits of the file": (flip_bits, 0.1),
    "cut short": (cut_short, 0.03),
    "bits of an entry": (flip_in_entry, 0.1),
    "entries": (move_entries, 0.06),
    "zip tables": (lie_in_directory, 0.06),
    "tree": (change_tree, 0.2),
    "header": (change_header, 0.08),
    "values": (change_value, 0.15),
    "arrays": (change_array, 0.18),
    "versions": (change_mark, 0.04),
}


# --- what must be true of whatever loads --------------------------------------------------------


def rows_for(model: Any) -> list[Any]:
    """New rows as the model takes them."""
    d = getattr(model, "n_features_in_", None)
    if d is None or not 1 <= d <= 1000:
        return []
    new = np.random.default_rng(1).random((7, d)) * 5.0
    if getattr(model, "metric", None) == "precomputed" or d == len(X):
        return [sp.csr_array(np.abs(new) + 0.1)]
    return [new, sp.csr_array(new), new * 1e6]


def one_sentence(error: Exception) -> None:
    """Whether an error is said in one sentence."""
    if "\n" in str(error) or len(str(error)) > 1000:
        raise Broken(f"{type(error).__name__} in more than one sentence: {str(error)[:300]}")


def check_results(model: Any, rows: Any) -> None:
    """Call everything; results are finite, of the right shape, and labels are of clusters."""
    c = clusters_of(model)
    for method in METHODS:
        if not hasattr(model, method):
            continue
        try:
            found = getattr(model, method)(rows)
        except ValueError as error:
            one_sentence(error)
            continue
        found = found.toarray() if sp.issparse(found) else np.asarray(found)
        if len(found) != rows.shape[0]:
            raise Broken(f"{method} gave {found.shape} for {rows.shape}")
        if not np.isfinite(found).all():
            raise Broken(f"{method} gave numbers that are not finite")
        if method == "predict" and not ((found < c).all() and (found >= -1).all()):
            raise Broken(f"predict gave {found.min()} to {found.max()} of {c} clusters")
        if method in ("predict_membership", "decision_function") and found.shape[1] != c:
            raise Broken(f"{method} gave {found.shape[1]} columns for {c} clusters")


def clusters_of(model: Any) -> int:
    """The number of clusters that a model says it has."""
    model = getattr(model, "steps", [(None, model)])[-1][1]
    if hasattr(model, "n_clusters_"):
        return int(model.n_clusters_)
    labels = getattr(model, "labels_", np.zeros(1))
    if not len(labels):  # of lazy rows; what labels new ones has its own
        labels = model._voters.labels
    centres = getattr(model, "cluster_centers_", ())
    return max(int(labels.max(initial=0)) + 1, len(centres))


def check_bundle(bundle: Bundle, path: pathlib.Path, commands: bool) -> None:
    """What loaded is a model, and it works."""
    model = bundle.model
    last = getattr(model, "steps", [(None, model)])[-1][1]
    if not isinstance(last, (*OURS, KMeans)):
        raise Broken(f"loaded {type(model).__name__}")
    for rows in rows_for(model):
        check_results(model, rows)
    if bundle.preparation is not None:
        try:
            table = bundle.preparation.transform(MIXED.head(5))
            if not np.isfinite(table).all():
                raise Broken("the preparation gave numbers that are not finite")
        except ValueError as error:
            one_sentence(error)
    if commands:
        check_commands(path)


def check_commands(path: pathlib.Path) -> None:
    """``info`` and ``report`` end well or with a sentence."""

    for given in (["info"], ["info", "--json"], ["report", "--out", f"{path}.html", "--force"]):
        said, complaint = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint):
            code = run([given[0], str(path), *given[1:]], debug=False)
        text = complaint.getvalue().strip()
        if code not in (0, 2) or (code == 2) != bool(text) or "\n" in text:
            raise Broken(f"dogc {given[0]} gave {code}: {text[:300]}")


def attempt(rng: np.random.Generator, folder: pathlib.Path) -> str:
    """Change a model file and load it."""
    names = [*MODELS, *OLD_MODELS]
    name = names[rng.integers(len(names))]
    data = original(name)
    kinds, chances = list(ATTACKS), np.array([chance for _, chance in ATTACKS.values()])
    kind = kinds[rng.choice(len(kinds), p=chances / chances.sum())]
    path = folder / "model.skops"
    path.write_bytes(ATTACKS[kind][0](rng, data))
    commands = rng.random() < 0.05
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            bundle = saving.load_bundle(path)
        except ModelFileError as error:
            one_sentence(error)
            if not str(error).endswith("."):
                raise Broken(f"no sentence: {str(error)[-300:]}") from error
            if commands:
                check_commands(path)
            return f"{kind}: refused"
        check_bundle(bundle, path, commands)
    return f"{kind}: harmless"

"""Attempts on model files: damage, and what somebody writes who knows the format.

Damage is refused by the digest. A forger computes that again; whatever then loads must not have
run anything, and its methods work or raise an ordinary exception.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import pathlib
import struct
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_blobs, make_moons
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import dogc
from dogc.app.models import saving

from .damage import DAMAGE
from .harness import Broken

X = make_blobs(36, n_features=3, centers=3, random_state=0, cluster_std=0.8)[0]
X -= X.min() - 0.1
NEAR = KNeighborsTransformer(n_neighbors=12).fit(X)
WIDE = np.random.default_rng(0).normal(size=(60, 400)) + 0.9 * np.outer(
    np.arange(60) < 30, np.arange(400) < 60
)
MIXED = pandas.DataFrame(
    {"a": X[:, 0], "dogc": X[:, 1], "kind": ["x", "y", None] * 12, "ok": ["yes", "no"] * 18}
)
METHODS = ("predict", "transform", "predict_membership", "score_outliers", "decision_function")


def affinities() -> sp.csr_array:
    """A precomputed graph of affinities."""
    D = sp.csr_array(NEAR.transform(X))
    A = D + D.T
    A.data = np.exp(-A.data)
    return A


# Models and the rows that they are fitted on; each is fitted in milliseconds.
MODELS: dict[str, tuple[Any, Any]] = {
    "DOGC": (dogc.DOGC(3, n_neighbors=8, max_time=60.0), X),
    "DOGC, auto": (dogc.DOGC("auto", n_components=2, random_state=np.random.default_rng(7)), X),
    "DOGC, wide": (dogc.DOGC(3, n_neighbors="wide", random_state=np.random.RandomState(7)), X),
    "DOGC, marks": (dogc.DOGC(3, outlier_label=-1, metric="cosine"), X),
    "DOGC, representatives": (dogc.DOGC(3, n_representatives=12), X),
    "DOGC, many copies": (dogc.DOGC(3), np.resize(X, (10_080, 3))),
    "DOGC, principal": (dogc.DOGC(2), WIDE),
    "DOGC, float32": (dogc.DOGC(3, init=np.arange(36) % 3), X.astype(np.float32)),
    "DOGC, sparse": (dogc.DOGC(3), sp.csr_array(X)),
    "DOGC, given": (dogc.DOGC(3, n_neighbors=8, metric="precomputed"), NEAR.transform(X)),
    "DOGC, own search": (
        dogc.DOGC(3, n_neighbors=8, neighbors_algorithm=KNeighborsTransformer()), X),
    "DOGCOS": (dogc.DOGCOS(3, geometry="standard", rule="logistic"), X),
    "DOGCOS, neighbors": (dogc.DOGCOS(2, rule="auto"), make_moons(80, random_state=0)[0]),
    "DOGCOS, paper": (dogc.DOGCOS(3, rule="paper", n_representatives=12), X),
    "CAN": (dogc.CAN(3), X),
    "PCAN": (dogc.PCAN(3, n_components=2, metric="cosine"), X),
    "DOGCRelaxed": (dogc.DOGCRelaxed(3), X),
    "DOGCFixedGraph": (dogc.DOGCFixedGraph(3), X),
    "RatioCut": (dogc.RatioCut(3), sp.csr_matrix(X)),
    "NormalizedCut": (dogc.NormalizedCut(3), X),
    "NormalizedCut, representatives": (dogc.NormalizedCut(3, n_representatives=12), X),
    "NormalizedCut, given": (dogc.NormalizedCut(3, affinity="precomputed"), affinities()),
    "NMFClustering": (dogc.NMFClustering(3), X),
    "CLR": (dogc.CLR(3, n_representatives=12), X),
    "SEC": (dogc.SEC(3), X),
    "DiscriminativeKMeans": (dogc.DiscriminativeKMeans(3), X),
    "DiscriminativeKMeans, rbf": (dogc.DiscriminativeKMeans(3, kernel="rbf"), X),
    "LocalLearningClustering": (dogc.LocalLearningClustering(3), X),
    "CLGR": (dogc.CLGR(3), X),
    "LSC": (dogc.LSC(3, n_landmarks=10), X),
    "USPEC": (dogc.USPEC(3, n_landmarks=10), X),
    "LPP": (dogc.LPP(2), X),
    "KMeans": (KMeans(3, n_init=1, random_state=0), X),
    "pipeline": (make_pipeline(StandardScaler(), SimpleImputer(), dogc.DOGCOS(3)), X),
    "pipeline, search": (
        make_pipeline(
            KNeighborsTransformer(n_neighbors=12),
            dogc.DOGC(3, n_neighbors=8, metric="precomputed"),
        ), pandas.DataFrame(X, columns=list("abc"))),
    "pipeline, columns": (
        make_pipeline(
            make_column_transformer((FunctionTransformer(np.log1p), [0]), (dogc.LPP(1), [1, 2])),
            dogc.DOGC(3),
        ), X),
    "names": (dogc.DOGCOS(3), pandas.DataFrame(X, columns=list("abc"))),
    "table": (dogc.DOGCOS(3), MIXED),
}  # fmt: skip


@functools.cache
def fitted(name: str) -> tuple[Any, Any, Any]:
    """A model, its preparation if it has one, and rows for its methods."""
    model, rows = MODELS[name]
    preparation = dogc.MixedEncoder().fit(rows) if name == "table" else None
    rows = rows if preparation is None else preparation.transform(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows), preparation, rows


@functools.cache
def original(name: str) -> bytes:
    """The file of a model."""
    model, preparation, _ = fitted(name)
    return saving.packed(model, preparation, {"points": [1, 2]}, {"method": "dogc"})


def opened(data: bytes) -> dict[str, bytes]:
    """The entries of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sealed(entries: dict[str, bytes], version: int = saving.FORMAT_VERSION) -> bytes:
    """The file of a forger: everything that dogc.save computes is computed again."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, content in entries.items():
            target.writestr(name, content)
        target.comment = b"dogc model, format %d, sha256 " % version + b"0" * 64
    return resealed(buffer.getvalue())


def resealed(data: bytes) -> bytes:
    """The same bytes with the digest that they have."""
    return data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode()


# --- what a forger does -------------------------------------------------------------------------


def forge_bytes(rng: np.random.Generator, data: bytes) -> bytes:
    """Bits of the archive, its tables and its compressed entries."""
    changed = bytearray(data)
    for place in rng.integers(len(data) - 64, size=rng.integers(1, 4)):
        changed[place] ^= 1 << int(rng.integers(8))
    return resealed(bytes(changed))


def forge_entry(rng: np.random.Generator, data: bytes) -> bytes:
    """Damage in one entry, or two of them exchanged."""
    entries = opened(data)
    one, other = rng.choice(list(entries), 2)
    damage = list(DAMAGE.values())[rng.integers(len(DAMAGE))]
    if rng.random() < 0.2:
        return sealed(entries | {one: entries[other], other: entries[one]})
    return sealed(entries | {one: damage(rng, entries[one])})


def _nodes(value: Any) -> list[Any]:
    """All lists and mappings inside a JSON value that are not empty."""
    inside = value.values() if isinstance(value, dict) else value
    below = [item for item in inside if isinstance(item, dict | list) and item]
    return below + [node for item in below for node in _nodes(item)]


VALUES = (
    None, True, 0, -1, 3, 10**6, -0.5, 1e308, "", "null", "0", "-1", "7", "1000000", "1e308", "NaN",
    '"auto"', '"cosine"', '"precomputed"', '"cuda"', '"dict"', '"DOGC"', '"SEC"', '"Index"', [], {},
    "os", "system", "builtins", "exec", "eval", "numpy", "subprocess", "Popen", "FunctionNode",
    "MethodNode", "ReduceNode", "PartialNode", "OperatorFuncNode", "ObjectNode", "CachedNode",
    "ConstructorFromReduceNode", "TypeNode", "sklearn.cluster._kmeans", "KMeans",
)  # fmt: skip


def forge_tree(rng: np.random.Generator, data: bytes) -> bytes:
    """The tree of nodes or the header, in a place or two."""
    entries = opened(data)
    name = "dogc.json" if rng.random() < 0.1 else "schema.json"
    root = json.loads(entries[name])
    for _ in range(rng.integers(1, 3)):
        nodes = _nodes(root)
        node = nodes[rng.integers(len(nodes))]
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = keys[rng.integers(len(keys))]
        if rng.random() < 0.2:
            del node[key]
        elif rng.random() < 0.2:
            node[key] = json.loads(json.dumps(nodes[rng.integers(len(nodes))]))
        else:
            node[key] = VALUES[rng.integers(len(VALUES))]
    return sealed(entries | {name: json.dumps(root).encode()})


def forge_array(rng: np.random.Generator, data: bytes) -> bytes:
    """An array of another shape, type or with other values."""
    entries = opened(data)
    name = str(rng.choice([name for name in entries if name.endswith(".npy")]))
    a = np.atleast_1d(np.load(io.BytesIO(entries[name])))
    other = a.copy()
    values = [-7, 127] if a.dtype.kind in "iub" else [np.nan, np.inf, 1e300, -1.0, 0.0]
    with np.errstate(all="ignore"):
        other.flat[rng.integers(max(a.size, 1)) :][:1] = np.array(rng.choice(values)).astype(
            a.dtype
        )
        others = [
            other, a[:-1], np.concatenate([a, a]), a[None], a[..., :-1], a.ravel(), a[:0], a[0],
            np.zeros_like(a), np.array(1.5), np.empty((10**12, 0)), a.astype(np.int32),
            a.astype("U3"), a.astype(np.complex128), a.astype(a.dtype.newbyteorder(">")),
            np.array([{"a": 1}, print], dtype=object),
        ]  # fmt: skip
    buffer = io.BytesIO()
    np.save(buffer, others[rng.integers(len(others))], allow_pickle=True)
    content = buffer.getvalue()
    if rng.random() < 0.1:
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
        content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + content[-64:]
    return sealed(entries | {name: content})


FORGERIES: tuple[Callable[[np.random.Generator, bytes], bytes], ...] = (
    forge_bytes, forge_entry, forge_tree, forge_tree, forge_array, forge_array,
)  # fmt: skip


# --- what must be true of every file ------------------------------------------------------------

_HOSTILE = ("os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.fork", "os.remove", "os.kill",
            "os.rename", "subprocess.", "pickle.", "socket.", "ctypes.", "exec",
            "shutil.", "marshal.", "tempfile.")  # fmt: skip
_seen: list[str] | None = None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _seen is None:
        return
    written = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_ACCMODE
    if written or event.startswith(_HOSTILE):
        _seen.append(f"{event}{arguments}"[:200])


@contextlib.contextmanager
def nothing_runs() -> Iterator[None]:
    """Raise if anything inside the block runs code, starts a process or writes a file."""
    global _seen
    if not hasattr(sys, "_dogc_watched"):
        sys._dogc_watched = True  # type: ignore[attr-defined]
        sys.addaudithook(_watch)  # stays as long as the process
    seen = _seen = []
    try:
        yield
    finally:
        _seen = None
        if seen:
            raise Broken(f"a file ran {seen[0]}")


def load(path: pathlib.Path) -> Any:
    """The content of a file, None if it is refused in one sentence; nothing runs meanwhile."""
    with warnings.catch_warnings(), nothing_runs():
        warnings.simplefilter("ignore")
        try:
            return saving.load_bundle(path)
        except saving.ModelFileError as error:
            said = str(error)
            if "\n" in said or not said.endswith(".") or str(path) not in said or len(said) > 1000:
                raise Broken(f"no sentence: {said[:300]}") from error
            return None


def attempt(rng: np.random.Generator, folder: pathlib.Path) -> str:
    """Change a model file, load it, and call the methods of what loads."""
    names = list(MODELS)
    name = names[rng.integers(len(names))]
    data, path = original(name), folder / "model.skops"
    path.write_bytes(data)
    load(path)  # what is imported on the way is imported now
    if rng.random() < 0.4:
        kind = str(rng.choice(list(DAMAGE)))
        changed = DAMAGE[kind](rng, data)
        path.write_bytes(changed)
        if changed != data and load(path) is not None:
            raise Broken(f"{kind} and not refused")
        return "damaged"
    path.write_bytes(FORGERIES[rng.integers(len(FORGERIES))](rng, data))
    bundle = load(path)
    if bundle is None:
        return "forged: refused"
    rows = fitted(name)[2][:20]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in METHODS:
            if hasattr(bundle.model, method):
                try:
                    getattr(bundle.model, method)(rows)
                except Exception:  # an ordinary one; whatever else ends the process
                    return "forged: fails"
    return "forged: loads"

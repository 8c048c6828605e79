"""The data and the models of speed.py, by name of case and method."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import uci_data
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs
from sklearn.feature_extraction.text import TfidfTransformer

from dogc import CAN, DOGC, DOGCOS

CLASSES = {"DOGC": DOGC, "DOGCOS": DOGCOS, "CAN": CAN}
Data = tuple[Any, np.ndarray | None]  # rows and classes, where there are any


class Case(NamedTuple):
    """Data, what our methods are told about them, and what the peer is told."""

    make: Callable[[], Data]
    ours: dict[str, Any]
    peer: dict[str, Any]


def blobs(std: float) -> Data:
    return make_blobs(10_000, n_features=16, centers=10, cluster_std=std, random_state=0)


def cube() -> Data:
    return np.random.default_rng(0).random((8_000, 20)), None


def normal() -> Data:
    return np.random.default_rng(0).standard_normal((50_000, 16)), None


def topics() -> Data:
    """Documents of four topics as weighted counts of words; few words belong to a topic."""
    n, n_words, n_topics, own = 1_815, 8_000, 4, 400
    rng = np.random.default_rng(0)
    common = 1.0 / np.arange(1, n_words + 1)  # Zipf's law
    shares = np.tile(common / common.sum(), (n_topics, 1))
    places = rng.permutation(np.arange(200, n_words))[: n_topics * own].reshape(n_topics, own)
    for share, words in zip(shares, places, strict=True):
        share[words] += 0.15 * rng.dirichlet(np.full(own, 0.5))
    shares /= shares.sum(axis=1, keepdims=True)
    topic = rng.integers(n_topics, size=n)
    lengths = rng.integers(60, 240, size=n)
    counts = [
        sp.csr_array(rng.multinomial(m, shares[t])[None, :])
        for m, t in zip(lengths, topic, strict=True)
    ]
    return sp.csr_array(TfidfTransformer().fit_transform(sp.vstack(counts))), topic


def vehicle(folder: pathlib.Path) -> Data:
    return uci_data.load("vehicle", folder)


_QR = {"n_clusters": 10, "n_neighbors": 15, "assign_labels": "cluster_qr"}
_AMG = {"n_clusters": 8, "eigen_solver": "amg"}
CASES = {
    "blobs3.0": Case(lambda: blobs(3.0), {"n_clusters": 10, "n_neighbors": 15}, _QR),
    "blobs5.0": Case(lambda: blobs(5.0), {"n_clusters": 10, "n_neighbors": 15}, _QR),
    "digits": Case(lambda: load_digits(return_X_y=True), {"n_clusters": 10}, {"n_clusters": 10}),
    "cube": Case(cube, {"n_clusters": 8}, _AMG),
    "normal": Case(normal, {"n_clusters": 8}, _AMG),
    "topics": Case(topics, {"n_clusters": 4}, {"n_clusters": 4}),
}


def load(case: str, folder: pathlib.Path) -> Data:
    return vehicle(folder) if case == "vehicle" else CASES[case].make()


def model(case: str, method: str) -> Any:
    """The estimator of a case, not fitted yet; "sklearn" is the peer."""
    if case == "vehicle":
        return CLASSES[method](4, n_neighbors=85, init="random", random_state=0)
    if method != "sklearn":
        return CLASSES[method](**CASES[case].ours)
    told = CASES[case].peer
    if told.get("eigen_solver") == "amg":
        import pyamg  # noqa: F401  its import is not to be timed
    return SpectralClustering(affinity="nearest_neighbors", random_state=0, **told)

"""Text by its words: metric="cosine" beside scikit-learn.

python benchmarks/text.py [--files 300]

The corpus is at hand wherever this runs: source files of installed Python packages, up to so many
of each, as TF-IDF of their words. The package that a file comes from is its class.
"""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from dogc import DOGC, DOGCOS

PACKAGES = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "rich", "joblib", "hypothesis")


def corpus(most: int) -> tuple[list[str], list[str]]:
    """Source files of some length, and the package of each."""
    texts, classes = [], []
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue
        folder = pathlib.Path(found.origin).parent
        files = sorted(p for p in folder.rglob("*.py") if "tests" not in p.parts)
        files = [p for p in files if p.stat().st_size > 2000]
        step = max(1, len(files) // most)
        for path in files[::step][:most]:
            texts.append(path.read_text(encoding="utf-8", errors="ignore"))
            classes.append(name)
    return texts, classes


def spectral(X: sp.csr_matrix, c: int) -> np.ndarray:
    """SpectralClustering on a graph of cosines: 10 neighbours, symmetric."""
    near = kneighbors_graph(X, 10, metric="cosine", mode="connectivity", include_self=True)
    model = SpectralClustering(c, affinity="precomputed", assign_labels="cluster_qr")
    return model.fit_predict(0.5 * (near + near.T))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=300, help="most files of a package")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    texts, classes = corpus(options.files)
    X = TfidfVectorizer(max_features=8000, sublinear_tf=True, min_df=3).fit_transform(texts)
    c = len(set(classes))
    print(f"{X.shape[0]:,} files of {c} packages, {X.shape[1]:,} words\n")
    methods = {
        "DOGC, cosine": lambda: DOGC(c, metric="cosine").fit_predict(X),
        "DOGC-OS, cosine": lambda: DOGCOS(c, metric="cosine").fit_predict(X),
        "DOGC, euclidean": lambda: DOGC(c).fit_predict(X),
        "SpectralClustering, cosine graph": lambda: spectral(X, c),
        # Rows of TF-IDF have length one, so Euclidean k-means goes by the angle.
        "spherical k-means": lambda: KMeans(c, n_init=10, random_state=0).fit_predict(X),
    }
    print(f"{'':<34}   ARI  seconds")
    for name, run in methods.items():
        began = time.process_time()
        labels = run()
        seconds = time.process_time() - began
        print(f"{name:<34}{adjusted_rand_score(classes, labels):6.3f}{seconds:9.2f}", flush=True)


if __name__ == "__main__":
    main()

"""The cases of benchmarks/scale.py: its data, its methods, and one case of both.

Classes are 0, 1, ...; -1 marks rows that no score counts. The look-alikes imitate the pictures
of the synthetic sets of U-SPEC (Huang et al., TKDE 2020), whose generators are not public.
"""

from __future__ import annotations

import pathlib
import resource
import time
import warnings

import battery_data
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

SEED = 0
PART = 5_000  # so many rows are given to methods that cannot take them all
TRAINING = 100_000  # rows on which a model is fitted before it predicts
QUICK = 2.0  # a fit of fewer seconds is timed three times


def make(name, rows):
    """Rows (float64) and classes (int16) of a set: a maker's name and a detail of it."""
    kind, _, detail = name.partition(" ")
    X, y = MAKERS[kind](rows, detail)
    return np.ascontiguousarray(X, dtype=float), y.astype(np.int16)


def n_clusters(y):
    """As many as there are classes; ten where there are none."""
    return int(y.max()) + 1 or 10


def part(rows):
    """The fixed rows, at most PART of them, on which all methods can be compared."""
    chosen = np.random.default_rng(SEED).choice(rows, min(rows, PART), replace=False)
    return np.sort(chosen)


def moons(n, noise):
    return make_moons(n, noise=float(noise), random_state=SEED)


def blobs(n, std, centers=10):
    found = make_blobs(n, n_features=16, centers=centers, cluster_std=float(std), random_state=SEED)
    return found[:2]


def rings(n, _):
    """Ten concentric rings in a random plane of 16 dimensions, with noise in all of them."""
    rng = np.random.default_rng(SEED)
    y = np.arange(n) % 10
    flat = (y + 1)[:, None] * _on_circle(rng.uniform(0, 2 * np.pi, n))
    plane, _ = np.linalg.qr(rng.normal(size=(16, 2)))
    return flat @ plane.T + rng.normal(0, 0.1, (n, 16)), y


def bridged(n, _):
    """Eight blobs in the plane; one row in eleven is uniform noise, of class -1."""
    rng = np.random.default_rng(SEED)
    centres = np.array([[0, 0], [4, 1], [8, 0], [1, 5], [5, 5], [9, 5], [2, 9], [7, 9]], float)
    spread = np.array([0.5, 0.8, 0.6, 0.9, 0.6, 0.8, 0.7, 0.9])
    noise = n // 11
    y = rng.integers(0, 8, n - noise)
    X = centres[y] + spread[y, None] * rng.normal(size=(n - noise, 2))
    X = np.vstack([X, rng.uniform(-2, 11, (noise, 2))])
    order = rng.permutation(n)
    return X[order], np.concatenate([y, np.full(noise, -1)])[order]


def uniform(n, _):
    return np.random.default_rng(SEED).uniform(size=(n, 16)), np.full(n, -1)


def normal(n, _):
    return np.random.default_rng(SEED).normal(size=(n, 16)), np.full(n, -1)


def resampled(n, name):
    """Rows from a Gaussian for each class of a battery set, in the classes' proportions."""
    problem = next(p for p in battery_data.problems() if p.name == name)
    reference = problem.references[0]
    classes, sizes = np.unique(reference[reference > 0], return_counts=True)
    rng = np.random.default_rng(SEED)
    y = rng.choice(len(classes), n, p=sizes / sizes.sum())
    X = np.empty((n, problem.X.shape[1]))
    for k, label in enumerate(classes):
        own, at = problem.X[reference == label], np.flatnonzero(y == k)
        X[at] = rng.multivariate_normal(own.mean(axis=0), np.cov(own.T), len(at))
    return X, y


def _on_circle(angle):
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _arc(rng, n, centre, radius, begin, end, noise):
    """Rows along an arc, its angles in degrees, with noise in both directions."""
    flat = radius * _on_circle(np.deg2rad(rng.uniform(begin, end, n)))
    return np.asarray(centre) + flat + rng.normal(0, noise, (n, 2))


def _annulus(rng, n, inner, outer, noise):
    """Rows spread evenly over an annulus (a disc if inner is 0), its edges blurred."""
    radius = np.sqrt(rng.uniform(inner**2, outer**2, n))
    flat = radius[:, None] * _on_circle(rng.uniform(0, 2 * np.pi, n))
    return flat + rng.normal(0, noise, (n, 2))


def _stem(rng, n, angle, begin, end, noise):
    """Rows along a ray from the origin, its angle in degrees."""
    along = np.column_stack([rng.uniform(begin, end, n), rng.normal(0, noise, n)])
    cos, sin = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    return along @ np.array([[cos, sin], [-sin, cos]])


def _mixed(n, parts):
    """One class for each (share, maker) of the parts, in a shuffled order."""
    rng = np.random.default_rng(SEED)
    shares = np.array([share for share, _ in parts], dtype=float)
    ends = np.rint(np.cumsum(shares) / shares.sum() * n).astype(int)
    sizes = np.diff(ends, prepend=0)
    X = np.vstack([make(rng, m) for m, (_, make) in zip(sizes, parts, strict=True)])
    order = rng.permutation(n)
    return X[order], np.repeat(np.arange(len(parts)), sizes)[order]


def like_tb(n):
    """Two bananas that reach into each other: thick in the middle, thin at the tips."""

    def banana(sign, centre):
        def rows(rng, m):
            angle = rng.uniform(0, np.pi, m)
            noise = rng.normal(size=(m, 2)) * (0.05 + 0.06 * np.sin(angle))[:, None]
            return np.asarray(centre) + sign * (_on_circle(angle) + noise)

        return rows

    return _mixed(n, [(3, banana(1, (0, 0))), (2, banana(-1, (1, 0.4)))])


def like_sf(n):
    """A smiling face: two arches, a U, and a blob between them."""
    return _mixed(n, [
        (2, lambda rng, m: _arc(rng, m, (-0.95, 0.75), 0.65, 0, 180, 0.08)),
        (2, lambda rng, m: _arc(rng, m, (0.95, 0.75), 0.65, 0, 180, 0.08)),
        (5, lambda rng, m: _arc(rng, m, (0, 0.5), 2.2, 175, 365, 0.13)),
        (2, lambda rng, m: rng.normal((0, -0.4), (0.25, 0.35), (m, 2))),
    ])  # fmt: skip


def like_cc(n):
    """Three concentric annuli, the outer ones thinner in rows."""
    return _mixed(n, [
        (3, lambda rng, m: _annulus(rng, m, 0.3, 1.0, 0.06)),
        (4, lambda rng, m: _annulus(rng, m, 1.4, 2.1, 0.08)),
        (4, lambda rng, m: _annulus(rng, m, 2.6, 3.2, 0.1)),
    ])  # fmt: skip


def like_cg(n):
    """A centre, two rings around it, and eight blobs around these."""
    parts = [
        (2, lambda rng, m: rng.normal(0, 0.2, (m, 2))),
        (6, lambda rng, m: _arc(rng, m, (0, 0), 1.15, 0, 360, 0.11)),
        (8, lambda rng, m: _arc(rng, m, (0, 0), 2.0, 0, 360, 0.13)),
    ]

    def blob(k):
        centre = (3.1 + 0.2 * (k % 2)) * _on_circle(np.array([k * np.pi / 4]))
        spread = 0.2 + 0.03 * (k % 3)
        return lambda rng, m: centre + rng.normal(0, spread, (m, 2))

    return _mixed(n, parts + [(1 + 0.5 * (k % 3), blob(k)) for k in range(8)])


def like_flower(n):
    """Six petals (open rings), a stem that reaches into each of them, and a centre."""

    def petal(degrees):
        centre = 3.0 * _on_circle(np.deg2rad([degrees]))
        begin, end = degrees - 130, degrees + 130
        return lambda rng, m: _arc(rng, m, centre, 1.2, begin, end, 0.11)

    def stem(degrees):
        return lambda rng, m: _stem(rng, m, degrees, 1.2, 3.3, 0.12)

    petals = [(3 + k % 2, petal(60 * k)) for k in range(6)]
    stems = [(1 + 0.5 * (k % 2), stem(60 * k)) for k in range(6)]
    return _mixed(n, [*petals, *stems, (3, lambda rng, m: _annulus(rng, m, 0, 0.7, 0.06))])


LOOKALIKES = {"TB": like_tb, "SF": like_sf, "CC": like_cc, "CG": like_cg, "Flower": like_flower}
MAKERS = {
    "moons": moons, "blobs": blobs, "rings": rings, "resampled": resampled,
    "bridged": bridged, "uniform": uniform, "normal": normal,
    "100-blobs": lambda n, std: blobs(n, std, centers=100),
    "look-alike": lambda n, detail: LOOKALIKES[detail.removeprefix("of ")](n),
}  # fmt: skip
# The battery sets above 3,000 rows, and their rows.
BATTERY = {
    "a2": 5250, "a3": 7500, "d31": 3100, "engytime": 4096, "s1": 5000, "s2": 5000,
    "s3": 5000, "s4": 5000, "unbalance": 6500,
}  # fmt: skip


class NystroemKMeans:
    """k-means on 200 Nystroem features, kept in single precision: 0.8 GB for a million rows."""

    def __init__(self, n_clusters):  # noqa: D107
        self.kmeans = KMeans(n_clusters, n_init=3, random_state=SEED, copy_x=False)
        self.features = Nystroem(n_components=200, random_state=SEED)

    def fit(self, X):
        """Labels for all rows; the kernel's width is the median distance in a sample."""
        sample = np.random.default_rng(SEED).choice(X, min(len(X), 2_000), replace=False)
        self.features.set_params(gamma=0.5 / np.median(pdist(sample)) ** 2).fit(X)
        Z = np.empty((len(X), self.features.components_.shape[0]), dtype=np.float32)
        for at in range(0, len(X), 50_000):
            Z[at : at + 50_000] = self.features.transform(X[at : at + 50_000])
        self.labels_ = self.kmeans.fit_predict(Z)
        return self


def estimator(method, c, p=None):
    """A method by its name in the tables; p is for the cut on as many representatives as DOGC."""
    from dogc import DOGC, LSC, USPEC, NormalizedCut

    def spectral(k, solver):
        return SpectralClustering(
            c, affinity="nearest_neighbors", n_neighbors=k, assign_labels="cluster_qr",
            eigen_solver=solver, n_jobs=-1, random_state=SEED,
        )  # fmt: skip

    makers = {
        "dogc": lambda: DOGC(c, n_jobs=-1),
        "dogc-all": lambda: DOGC(c, n_representatives=None, n_jobs=-1),
        "cut": lambda: NormalizedCut(c, n_representatives=p, n_jobs=-1, random_state=SEED),
        "lsc": lambda: LSC(c, n_jobs=-1),
        "uspec": lambda: USPEC(c, n_jobs=-1),
        "kmeans": lambda: KMeans(c, n_init=10, random_state=SEED),
        "nystroem": lambda: NystroemKMeans(c),
        "amg": lambda: spectral(15, "amg"),
        "spectral-10": lambda: spectral(10, "arpack"),
        "spectral-15": lambda: spectral(15, "arpack"),
    }
    return makers[method]()


def timed_fit(make_model, X):
    """A fitted model and its seconds; the best of three where one fit is quick."""
    seconds = []
    while not seconds or (seconds[0] < QUICK and len(seconds) < 3):
        model = None  # its memory is free before the next is fitted
        model = make_model()
        began = time.perf_counter()
        model.fit(X)
        seconds.append(time.perf_counter() - began)
    return model, min(seconds)


def peak_mb():
    """The most memory of this process so far, in millions of bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def memory(before):
    """The peak now, beside the peak before a fit (data and imports)."""
    return {"peak_mb": peak_mb(), "before_mb": before, "above_mb": peak_mb() - before}


def scores(y, labels, prefix=""):
    """ARI and NMI over the rows that have a class; nothing if there are none."""
    y, labels = y[y >= 0], labels[y >= 0]
    measures = {"ari": adjusted_rand_score, "nmi": normalized_mutual_info_score}
    return {prefix + n: float(f(y, labels)) if len(y) else None for n, f in measures.items()}


def about(model):
    """Statements of a fitted DOGC about itself."""
    agreement = getattr(getattr(model, "resolutions_", None), "confirmed", None)
    return {
        "representatives": model.n_representatives_,
        "agreement": None if agreement is None else float(agreement),
        "reason": model.stopping_reason_,
        "largest": float(np.bincount(model.labels_).max() / len(model.labels_)),
    } | {f"{phase}_s": seconds for phase, seconds in model.timings_.items()}


def prepare(sets, folder):
    """Write sets to files, so that no case pays the memory of making its data."""
    for data, rows in sets:
        for name, array in zip("Xy", make(data, rows), strict=True):
            np.save(pathlib.Path(folder) / f"{data} {rows} {name}.npy", array)
    return {}


def run_fit(data, rows, method, folder, p=None):
    """One method on one set: what it took and what came of it."""
    X, y = (np.load(pathlib.Path(folder) / f"{data} {rows} {name}.npy") for name in "Xy")
    if method.startswith("spectral"):
        X, y = X[part(rows)], y[part(rows)]
    c = n_clusters(y)
    estimator(method, c, p)  # everything is imported before memory is read
    before = peak_mb()
    model, seconds = timed_fit(lambda: estimator(method, c, p), X)
    found = {"seconds": seconds} | memory(before) | scores(y, model.labels_)
    if method == "dogc":
        found |= about(model) | scores(y[part(rows)], model.labels_[part(rows)], "part_")
    return found | ({"representatives": p} if method == "cut" else {})


def run_battery(name, method):
    """One battery set by the battery's protocol."""
    problem = next(p for p in battery_data.problems() if p.name == name)
    before, fits = peak_mb(), []

    def cluster(X, c):
        fits.append(timed_fit(lambda: estimator(method, c), X))
        return fits[-1][0].labels_

    ari = battery_data.best_score(problem, cluster)
    found = {"seconds": sum(seconds for _, seconds in fits), "ari": ari} | memory(before)
    return found | about(fits[-1][0])


def run_predict(data, rows):
    """Labels for new rows: DOGC beside KMeans with the representatives for centres."""
    X, y = make(data, rows + TRAINING)
    old, new = X[:TRAINING], X[TRAINING:]
    before = peak_mb()
    model = estimator("dogc", n_clusters(y)).fit(old)
    centres = model.representatives_
    kmeans = KMeans(len(centres), init=centres, n_init=1, max_iter=1).fit(old)
    seconds = {}
    for name, fitted in {"seconds": model, "kmeans_s": kmeans}.items():
        times = []
        for _ in range(3):
            began = time.perf_counter()
            labels = fitted.predict(new)
            times.append(time.perf_counter() - began)
        seconds[name] = min(times)
        if fitted is model:
            seconds |= scores(y[TRAINING:], labels)
    return about(model) | memory(before) | seconds


def run_case(data, rows, method, folder, p=None):
    """The case of these names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "predict":
            return run_predict(data, rows)
        if data.startswith("battery "):
            return run_battery(data.partition(" ")[2], method)
        return run_fit(data, rows, method, folder, p)

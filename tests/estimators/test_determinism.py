"""Same data, same random_state, same labels: bit for bit."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_info, threadpool_limits

from conftest import BASELINES, CLUSTERERS, ESTIMATORS
from dogc import DOGC, DOGCOS, PCAN, DiscriminativeKMeans

each = pytest.mark.parametrize("cls", CLUSTERERS, ids=lambda e: e.__name__)

PROGRAM = """
import hashlib, warnings
import numpy as np
from sklearn.datasets import make_blobs
import dogc
warnings.simplefilter("ignore")
digest = hashlib.sha256()
for n in ({sizes}):
    for std in (0.5, 4.0):  # disconnected, connected
        for d in (3, 20):   # tree search, brute force
            X, _ = make_blobs(n, n_features=d, centers=5, cluster_std=std, random_state=0)
            X = X.round(1)  # ties
            for name in ({names}):
                cls = getattr(dogc, name)
                wanted = dict(init="random", random_state=3, n_jobs={jobs}, n_init={starts})
                if "n_init" not in cls().get_params():
                    del wanted["init"]
                model = cls(5, **{{k: v for k, v in wanted.items() if k in cls().get_params()}})
                model.fit(X)
                digest.update(model.labels_.tobytes())
                digest.update(model.predict(X[:50]).tobytes())
print(digest.hexdigest())
"""


def digest_in_new_process(threads, sizes, names, n_init=1):
    program = PROGRAM.format(
        sizes=", ".join(map(str, sizes)) + ",",
        names=", ".join(map(repr, names)) + ",",
        jobs=threads,
        starts=repr(n_init),
    )
    environment = {**os.environ}
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[variable] = str(threads)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("classes", [(DOGC, DOGCOS, PCAN), BASELINES], ids=["learning", "others"])
def test_two_processes_with_one_and_two_threads_agree(classes):
    names = [cls.__name__ for cls in classes]
    assert digest_in_new_process(1, [300], names, 2) == digest_in_new_process(2, [300], names, 2)


@pytest.mark.slow
def test_two_processes_agree_on_more_sizes_and_on_twenty_thousand_rows():
    names = [cls.__name__ for cls in ESTIMATORS]
    sizes = [50, 1500]
    assert digest_in_new_process(1, sizes, names) == digest_in_new_process(2, sizes, names)
    names = ["DOGC", "DOGCOS", "CAN"]
    assert digest_in_new_process(1, [20000], names) == digest_in_new_process(2, [20000], names)


@each
def test_neither_chance_nor_threads_nor_order_nor_unit_change_the_labels(cls):
    X, _ = make_blobs(150, n_features=8, centers=3, cluster_std=3.0, random_state=2)
    np.random.seed(0)  # noqa: NPY002
    first = cls(3).fit(X)
    untouched = np.random.random(3)  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    np.testing.assert_array_equal(np.random.random(3), untouched)  # noqa: NPY002
    with threadpool_limits(2):
        second = cls(3).fit(X)
    for name in vars(first):
        if isinstance(getattr(first, name), np.ndarray):
            assert np.array_equal(getattr(first, name), getattr(second, name)), name
    objectives = [[r.objective for r in getattr(m, "history_", [])] for m in (first, second)]
    assert objectives[0] == objectives[1]
    for factor, shift in ((1e-6, 5.0), (1e6, 5.0), (1e-100, 0.0), (1e100, 0.0)):
        labels = cls(3).fit(factor * (X + shift)).labels_
        np.testing.assert_array_equal(labels, first.labels_)
    if cls is not DiscriminativeKMeans:  # its starts are drawn from the rows by number
        order = np.random.default_rng(0).permutation(len(X))
        np.testing.assert_array_equal(first.labels_[order], cls(3).fit(X[order]).labels_)


def test_overlapping_fits_leave_the_threads_of_blas_as_they_were():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    def fit(n):
        DOGC(3).fit(make_blobs(n, 4, centers=3, random_state=0)[0])

    before = threads()
    for _ in range(5):
        fits = [threading.Thread(target=fit, args=(n,)) for n in (100, 1000, 300)]
        for thread in fits:
            thread.start()
        for thread in fits:
            thread.join()
    assert threads() == before


def test_names_of_starting_labels_do_not_matter_and_the_seed_draws_random_ones():
    X, truth = make_blobs(150, n_features=4, centers=3, cluster_std=4.0, random_state=2)
    names = np.array([0, 1, 2]), np.array(["b", "c", "a"])
    labels = [DOGC(3, init=name[truth]).fit(X).labels_ for name in names]
    np.testing.assert_array_equal(*labels)
    X, _ = make_blobs(60, n_features=2, centers=6, cluster_std=4.0, random_state=1)
    fits = [DOGC(6, init="random", random_state=seed).fit(X) for seed in range(5)]
    assert len({fit.history_[0].labels_changed for fit in fits}) > 1

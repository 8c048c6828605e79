"""Two moons hidden among 40 features of noise: what the projection finds."""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from dogc import DOGC

X, truth = make_moons(300, noise=0.05, random_state=0)
noise = 0.2 * np.random.default_rng(0).standard_normal((300, 40))
X = np.hstack([X, noise])

for n_components in (None, "auto"):
    model = DOGC(n_clusters=2, n_components=n_components).fit(X)
    print(f"n_components={n_components!s:<5} ARI {adjusted_rand_score(truth, model.labels_):.3f}")

W = model.components_
weight = np.square(W).sum(axis=0) / len(W)
print(f"share of the projection on the 2 real features: {weight[:2].sum():.2f}")

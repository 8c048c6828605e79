"""Four clusters in 5 features, hidden among 45 features of noise: what the projection finds."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from dogc import DOGC

X, truth = make_blobs(400, n_features=5, centers=4, cluster_std=1.5, random_state=1)
noise = np.random.default_rng(0).standard_normal((400, 45))
X = scale(np.hstack([X, noise]))

for n_components in (None, "auto"):
    model = DOGC(n_clusters=4, n_components=n_components).fit(X)
    print(f"n_components={n_components!s:<5} ARI {adjusted_rand_score(truth, model.labels_):.3f}")

W = model.components_
weight = np.square(W).sum(axis=0) / len(W)
print(f"share of the projection on the 5 real features: {weight[:5].sum():.2f}")

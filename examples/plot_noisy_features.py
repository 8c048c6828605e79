"""
Noisy features
==============

Two moons hidden among forty features of noise. Distances in all features are mostly noise. The
projection that DOGC learns together with the graph finds the plane of the moons, without being told
its dimension.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from dogc import DOGC
from dogc.metrics import clustering_accuracy
from dogc.plotting import PALETTE, ClusterDisplay

X, moon = make_moons(300, noise=0.05, random_state=0)
noise = 0.2 * np.random.default_rng(0).standard_normal((300, 40))
X = np.hstack([X, noise])

# %%
# Without a projection the picture shows the two main directions of the data, with it those
# of the learned subspace.
models = {
    "no projection": DOGC(n_clusters=2, n_components=None).fit(X),
    "learned projection, the default": DOGC(n_clusters=2).fit(X),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ClusterDisplay.from_estimator(model, X, ax=ax)
    accuracy = clustering_accuracy(moon, model.labels_)
    print(f"{name}: ACC {accuracy:.3f}")
    ax.set_title(f"{name}: ACC {accuracy:.3f}")

# %%
# The weight of each feature in ``components_``: the first two are the moons.
weight = np.square(model.components_).sum(axis=0)
figure, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
bars = ax.bar(range(42), weight, color=PALETTE[0])
for bar in bars[:2]:
    bar.set_color(PALETTE[1])
ax.set(xlabel="feature", ylabel="weight in the projection")
ax.spines[["top", "right"]].set_visible(False)
print(f"{len(model.components_)} directions, {weight[:2].sum() / weight.sum():.0%} on the moons")
plt.show()

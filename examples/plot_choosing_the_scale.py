"""
Choosing the scale
==================

How many neighbours should a row have? Too few break a cluster, too many bridge two. By default
DOGC tries several numbers and takes the one whose clusters agree most with those of the numbers
near it. No ground truth is used. The number of representatives, which stand for many rows, is
chosen in the same way.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from dogc import DOGC
from dogc.plotting import ClusterDisplay, ScaleDisplay

X, _ = make_moons(300, noise=0.08, random_state=0)
model = DOGC(n_clusters=2).fit(X)

# %%
# The table shows how well the clusters of each pair of scales agree (adjusted Rand index). Small
# numbers of neighbours agree with each other, and so do large ones, but the two groups disagree.
# The large ones agree better.
ScaleDisplay.from_estimator(model)
print(f"tried {model.scales_.n_neighbors}, took {model.n_neighbors_}")

# %%
# The clusters of the two groups of scales.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for ax, k in zip(axes, (7, model.n_neighbors_), strict=True):
    ClusterDisplay.from_estimator(DOGC(n_clusters=2, n_neighbors=k).fit(X), X, ax=ax)
    ax.set_title(f"{k} neighbours")
    ax.set_axis_off()
plt.show()

"""
How many clusters?
==================

``n_clusters="auto"`` prefers numbers whose clusters are easy to separate from the rest of the
neighbour graph and hard to split in two. ``cluster_counts_`` lists the evidence for each number;
the first is the choice. Here six groups form three pairs. The choice is six; three has a lower
score, because each pair is easy to split.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from dogc import DOGC
from dogc.plotting import ClusterDisplay, CountDisplay

centres = [(0, 0), (3, 3), (10, 0), (13, 3), (5, 10), (8, 13)]
X, _ = make_blobs(300, centers=centres, cluster_std=0.6, random_state=0)
model = DOGC(n_clusters="auto").fit(X)

# %%
# The evidence for each number. The number with the highest score is chosen.
CountDisplay.from_estimator(model)
for row in sorted(model.cluster_counts_)[:7]:
    print(f"{row.n_clusters}: score {row.score:5.2f}, firm at {row.votes} of {row.n_scales} scales")

# %%
# The chosen clusters, and those for three.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, fitted in zip(axes, (model, DOGC(n_clusters=3).fit(X)), strict=True):
    ClusterDisplay.from_estimator(fitted, X, ax=ax)
    ax.set_title(f"{fitted.n_clusters_} clusters")
    ax.set_axis_off()
plt.show()

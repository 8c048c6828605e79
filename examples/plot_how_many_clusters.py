"""
How many clusters?
==================

``n_clusters="auto"`` asks of each number whether its clusters were easier to cut out of the
data's own neighbour graphs than they are to cut in two. ``cluster_counts_`` lists what speaks for
each number, the best first. The runner-up is worth a look: here six groups come as three pairs.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from dogc import DOGC
from dogc.plotting import ClusterDisplay, CountDisplay

centres = [(0, 0), (2, 2), (8, 0), (10, 2), (3, 8), (5, 10)]
X, _ = make_blobs(300, centers=centres, cluster_std=0.6, random_state=0)
model = DOGC(n_clusters="auto").fit(X)

# %%
# The evidence for each number. The highest was taken, though nobody said how many there are.
best, second = model.cluster_counts_[:2]
CountDisplay.from_estimator(model)
print(f"best {best.n_clusters}, then {second.n_clusters}")

# %%
# The clusters, beside those of the runner-up.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
other = DOGC(n_clusters=second.n_clusters).fit(X)
for ax, fitted in zip(axes, (model, other), strict=True):
    ClusterDisplay.from_estimator(fitted, X, ax=ax)
    ax.set_title(f"{fitted.n_clusters_} clusters")
    ax.set_axis_off()
plt.show()

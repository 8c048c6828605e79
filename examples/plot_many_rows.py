"""
Many rows
=========

Twenty thousand rows here, to be quick; the page on scaling has what was measured up to a million.
Memory grows with rows times neighbours: the graph never becomes a square array. ``verbose=1``
shows a progress bar, ``n_jobs=-1`` uses all cores and changes no label, and a fixed number of
neighbours saves the choice of scale, which fits samples first.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from dogc import DOGC
from dogc.metrics import clustering_accuracy
from dogc.plotting import PALETTE, ClusterDisplay, GraphDisplay

X, truth = make_blobs(20_000, centers=10, n_features=16, cluster_std=3.0, random_state=0)
model = DOGC(n_clusters=10, n_neighbors=15, n_jobs=-1, verbose=1).fit(X)
print(f"{model.stopping_reason_}, ACC {clustering_accuracy(truth, model.labels_):.4f}")

# %%
# Displays draw samples and bins of what is large, and say so.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
ClusterDisplay.from_estimator(model, X, ax=left, max_points=5_000)
GraphDisplay.from_estimator(model, ax=right)

# %%
# Where the time went.
figure, ax = plt.subplots(figsize=(5.6, 1.8), layout="constrained")
ax.barh(list(model.timings_), list(model.timings_.values()), color=PALETTE[0])
ax.invert_yaxis()
ax.set_xlabel("seconds")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

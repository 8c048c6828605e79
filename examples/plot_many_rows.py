"""
Many rows
=========

Above 3,000 distinct rows DOGC does not join the rows themselves. It makes representatives, learns
their graph, and each row gets its label from the representatives that it is linked to. The model
keeps them, not the rows. This example has 20,000 rows, to be quick; the page on scaling has larger
ones. ``verbose=1`` shows a progress bar, ``n_jobs=-1`` uses all cores and changes
no label.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from dogc import DOGC
from dogc.metrics import clustering_accuracy
from dogc.plotting import PALETTE, ClusterDisplay, GraphDisplay, ScaleDisplay

X, truth = make_moons(20_000, noise=0.1, random_state=0)
model = DOGC(n_clusters=2).fit(X)
print(f"{model.n_representatives_} representatives stand for {len(X):,} rows")
print(f"{model.stopping_reason_}, ACC {clustering_accuracy(truth, model.labels_):.4f}")

# %%
# The rows by cluster, and the graph of representatives. The larger a dot, the more rows it stands
# for.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharex=True)
ClusterDisplay.from_estimator(model, X, ax=left)
GraphDisplay.from_estimator(model, kind="edges", ax=right)
left.set_title(f"{len(X):,} rows", fontsize="medium")
right.set_title(f"the graph of {model.n_representatives_} representatives", fontsize="medium")
for ax in (left, right):
    ax.set_axis_off()

# %%
# How many representatives? As many as it takes for the clusters not to change with their number.
# If they do change, there is a warning: the clusters overlap, or there are more or fewer of them.
ScaleDisplay.from_estimator(model)
choice = model.resolutions_
print(f"tried {choice.n_representatives}, took {choice.chosen}, agreement {choice.confirmed:.2f}")

# %%
# The time of each phase.
figure, ax = plt.subplots(figsize=(5.6, 1.8), layout="constrained")
ax.barh(list(model.timings_), list(model.timings_.values()), color=PALETTE[0])
ax.invert_yaxis()
ax.set_xlabel("seconds")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

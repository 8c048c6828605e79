"""
Outliers
========

A few stray rows can become a component of the graph. So a component counts as a cluster only if it
has at least ``min_cluster_size`` rows, by default a tenth of an average cluster. Smaller components
are joined to their nearest neighbour. ``outliers_`` marks their rows, and ``outlier_label`` gives
them a separate label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from dogc import DOGC
from dogc.plotting import ClusterDisplay

X, _ = make_blobs(300, centers=[(0, 0), (5, 0), (2.5, 4)], cluster_std=0.8, random_state=0)
stray = [(12, 9), (12.1, 9.2), (12.3, 9), (12.2, 8.8), (12.4, 9.1), (12.1, 8.9), (12.3, 9.2)]
X = np.vstack([X, stray])

# %%
# Seven rows far away from three clusters of a hundred. With ``min_cluster_size=1``, as in the
# paper, they are one of the three. The neighbourhood is small, so that they have only
# each other for neighbours; with the default they would be joined to the nearest cluster.
settings = {"min_cluster_size=1": {"min_cluster_size": 1}, 'min_cluster_size="auto"': {}}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, (title, options) in zip(axes, settings.items(), strict=True):
    model = DOGC(n_clusters=3, n_neighbors=5, outlier_label=-1, **options).fit(X)
    ClusterDisplay.from_estimator(model, X, ax=ax, legend=True)
    ax.set_title(title)
    ax.set_axis_off()
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    print(f"{title}: clusters of {sizes}, {model.outliers_.sum()} outliers")
plt.show()

"""
The methods side by side
========================

Nine of the methods on five shapes, each with its defaults and the number of clusters. k-means
expects round clusters of one size. Graph methods do not, and a learned graph separates clusters
more cleanly where they nearly touch. These are easy draws; "Moons and rings" has harder ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine, make_blobs, make_circles, make_moons
from sklearn.preprocessing import StandardScaler

from dogc import compare
from dogc.plotting import ClusterDisplay

blobs = make_blobs(240, centers=3, random_state=8)
stretched = make_blobs(240, centers=3, random_state=170)
shapes = {
    "moons": make_moons(240, noise=0.08, random_state=0),
    "rings": make_circles(240, factor=0.5, noise=0.06, random_state=0),
    "blobs": blobs,
    "stretched": (stretched[0] @ np.array([[0.6, -0.6], [-0.4, 0.8]]), stretched[1]),
    "uneven": make_blobs(240, centers=3, cluster_std=[1.0, 2.5, 0.5], random_state=170),
}
methods = ["KM", "N-cut", "SEC", "LL", "CLR1", "CAN", "PCAN", "DOGC", "DOGC-OS"]

# %%
# The number in each corner is ACC.
figure, axes = plt.subplots(len(shapes), len(methods), figsize=(13, 7.4), layout="constrained")
for line, (shape, (X, y)) in zip(axes, shapes.items(), strict=True):
    table = compare(X, len(np.unique(y)), methods, y, progress=False)
    for ax, row in zip(line, table, strict=True):
        ClusterDisplay.from_predictions(X, row.labels, ax=ax, size=6)
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
        ax.spines[:].set_visible(False)
        ax.set_title(row.method if shape == "moons" else "")
        ax.text(0.98, 0.02, f"{row.scores['acc']:.2f}", transform=ax.transAxes, ha="right")
    line[0].set_ylabel(shape)

# %%
# :func:`dogc.compare` runs all of them on your data. Without known labels it says how well the
# methods agree, which is useful too.
wine, cultivar = load_wine(return_X_y=True)
print(compare(StandardScaler().fit_transform(wine), 3, y=cultivar, progress=False))
plt.show()

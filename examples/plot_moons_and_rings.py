"""
Moons and rings
===============

Two shapes without a centre. k-means looks for centres, so it fails. Spectral clustering
fixes a graph of neighbours, embeds it and runs k-means there. DOGC learns the graph until it
falls into two pieces. The number of clusters is given to all three. Otherwise DOGC
has its defaults, k-means ten starts, and spectral clustering its neighbour graph instead of its
default kernel, which does worse on both. One draw says little, so the titles show the mean
of three; the plots show the first. With less noise spectral clustering does nearly as well; with
more, or fewer rows, DOGC fails too.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_circles, make_moons

from dogc import DOGC
from dogc.metrics import clustering_accuracy
from dogc.plotting import ClusterDisplay

shapes = {
    "moons": lambda seed: make_moons(400, noise=0.1, random_state=seed),
    "rings": lambda seed: make_circles(400, factor=0.55, noise=0.07, random_state=seed),
}
methods = {
    "k-means": KMeans(2, n_init=10, random_state=0),
    "spectral clustering": SpectralClustering(2, affinity="nearest_neighbors", random_state=0),
    "DOGC": DOGC(2),
}
# What spectral clustering says of a graph that comes in pieces.
warnings.filterwarnings("ignore", message="Graph is not fully connected")

# %%
# Each panel shows the clusters and the share of correct rows (ACC).
figure, axes = plt.subplots(2, 3, figsize=(9, 5.6), layout="constrained")
for row, (shape, draw) in zip(axes, shapes.items(), strict=True):
    draws = [draw(seed) for seed in range(3)]
    for ax, (name, method) in zip(row, methods.items(), strict=True):
        found = [method.fit_predict(X) for X, _ in draws]
        scores = [
            clustering_accuracy(y, labels) for (_, y), labels in zip(draws, found, strict=True)
        ]
        print(f"{shape}, {name}: mean ACC {np.mean(scores):.3f}, worst {min(scores):.3f}")
        ClusterDisplay.from_predictions(draws[0][0], found[0], ax=ax)
        ax.set_title(f"{name}\nACC {scores[0]:.3f}, mean of three {np.mean(scores):.3f}")
        ax.set_axis_off()
plt.show()

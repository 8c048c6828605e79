"""Cluster half of two moons, label the other half, and see where k-means stands."""

from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

from dogc import DOGC
from dogc.metrics import clustering_accuracy

X, moon = make_moons(600, noise=0.06, random_state=0)
fitted, new = slice(0, None, 2), slice(1, None, 2)

model = DOGC(n_clusters=2).fit(X[fitted])
print(f"{model.stopping_reason_} after {model.n_iter_} iterations")
print(f"DOGC, clustered rows  {clustering_accuracy(moon[fitted], model.labels_):.3f}")
print(f"DOGC, new rows        {clustering_accuracy(moon[new], model.predict(X[new])):.3f}")

means = KMeans(2, n_init=10, random_state=0).fit(X[fitted])
print(f"k-means, new rows     {clustering_accuracy(moon[new], means.predict(X[new])):.3f}")

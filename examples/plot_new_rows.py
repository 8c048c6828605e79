"""
Labels for new rows
===================

A fitted DOGC labels a new row by its neighbours among the fitted rows. DOGCOS labels it with
one matrix product, which is much faster and always linear. On moons the product cannot follow
the border, although the labels of the fitted rows do. Kernel features in front of it solve this:
a linear border in many such features is a curved one in the plane.
"""

import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from dogc import DOGC, DOGCOS
from dogc.metrics import clustering_accuracy
from dogc.plotting import PALETTE, ClusterDisplay

X, moon = make_moons(600, noise=0.08, random_state=0)
X_new, moon_new = X[1::2], moon[1::2]
X, moon = X[::2], moon[::2]

# %%
# Kernel width and number of kernel features are those of the guide, not tuned for this plot.
models = {
    "DOGC": DOGC(n_clusters=2),
    "DOGCOS": DOGCOS(n_clusters=2),
    "DOGCOS on kernel features": make_pipeline(
        Nystroem(gamma=2.0, random_state=0), DOGCOS(n_clusters=2)
    ),
}

# %%
# Dots are the fitted rows with their labels; areas show the labels of ``predict`` for new rows.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    labels = model.fit_predict(X)
    areas = {"cmap": ListedColormap(PALETTE[:2]), "alpha": 0.25, "eps": 0.4}
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", plot_method="pcolormesh", ax=ax, **areas
    )
    ClusterDisplay.from_predictions(X, labels, ax=ax)
    seen = clustering_accuracy(moon, labels)
    new = clustering_accuracy(moon_new, model.predict(X_new))
    print(f"{name}: ACC {seen:.3f} of the fitted rows, {new:.3f} of the new ones")
    ax.set(title=f"{name}\nACC of new rows {new:.3f}", aspect="auto")
    ax.set_axis_off()
plt.show()

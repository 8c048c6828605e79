"""
Wine, and which chemistry characterises a cluster
=================================================

DOGCOS clusters half of the Wine data and labels the other half with its linear rule. The cultivars
are used only at the end, to check whether the clusters mean something.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dogc import DOGCOS
from dogc.plotting import ClusterDisplay, ConfusionDisplay

wine = load_wine()
order = np.random.default_rng(0).permutation(len(wine.data))
fitted, new = order[::2], order[1::2]
model = make_pipeline(StandardScaler(), DOGCOS(n_clusters=3)).fit(wine.data[fitted])

# %%
# The fitted half in the learned subspace, and the new half beside the cultivars.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
ClusterDisplay.from_estimator(model, wine.data[fitted], ax=left)
display = ConfusionDisplay.from_estimator(model, wine.data[new], wine.target[new], ax=right)
left.set_title(f"{len(fitted)} clustered rows")
right.set_title(f"{len(new)} new rows: ACC {display.accuracy_:.3f}")
print(right.get_title())

# %%
# The regression's coefficients, one column for each cluster: positive values favour it. Features
# were scaled, so they can be compared.
coef = model[-1].coef_.T
figure, ax = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
most = np.abs(coef).max()
image = ax.imshow(coef, cmap="PuOr_r", vmin=-most, vmax=most, aspect="auto")
ax.set_xticks(range(3))
ax.set_xlabel("cluster")
ax.set_yticks(range(len(coef)), [name.replace("_", " ") for name in wine.feature_names])
figure.colorbar(image, label="coefficient")
plt.show()

"""
Suspicious rows in a table
==========================

A shop has orders of two kinds, small and large. A few orders fit neither. They should not become
a cluster, and they should not move the clusters of the others. ``outlier_scores_`` sorts the rows
by how far they are from their neighbours; ``outlier_label`` marks the outliers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

from dogc import DOGC
from dogc.plotting import ClusterDisplay

rng = np.random.default_rng(0)
small = np.column_stack([rng.normal(30, 6, 250), rng.normal(2, 0.4, 250)])
large = np.column_stack([rng.normal(90, 12, 120), rng.normal(6, 0.8, 120)])
odd = np.array([[160, 1.0], [20, 9.0], [150, 11.0], [5, 6.5]])
orders = np.vstack([small, large, odd])  # euros, kilograms

# %%
# A ``RobustScaler`` is not affected by the outliers.
scaler = RobustScaler()
model = make_pipeline(scaler, DOGC(n_clusters=2, outlier_label=-1)).fit(orders)
clusterer = model[-1]
worst = np.argsort(-clusterer.outlier_scores_, kind="stable")[:6]
for row in worst:
    score = clusterer.outlier_scores_[row]
    print(
        f"row {row:3d}: {orders[row, 0]:6.1f} euros, {orders[row, 1]:4.1f} kg, score {score:4.1f}"
    )

# %%
# ``predict`` marks outliers among new rows as well.
print("labels of new orders:", model.predict([[31, 2.1], [88, 6.2], [200, 0.5]]))
display = ClusterDisplay.from_predictions(orders, clusterer.labels_, legend=True)
display.ax_.set(xlabel="euros", ylabel="kilograms")
plt.show()

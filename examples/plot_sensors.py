"""
Sensors: operating states of a machine
======================================

A machine logs temperature, vibration, current and pressure once a minute. It idles, runs at full
load, or runs with a worn bearing. The states are not labelled. We find them, and read from the
cluster means what each state is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dogc import DOGC
from dogc.plotting import ClusterDisplay

rng = np.random.default_rng(0)
names = ["temperature", "vibration", "current", "pressure"]
idle = rng.normal([35, 0.3, 4, 1.0], [2.0, 0.05, 0.5, 0.05], (200, 4))
load = rng.normal([70, 1.0, 21, 3.1], [4.0, 0.15, 2.0, 0.20], (300, 4))
worn = rng.normal([82, 2.4, 23, 3.0], [4.0, 0.30, 2.0, 0.20], (80, 4))
log = np.vstack([idle, load, worn])

# %%
# The columns have different units, so a ``StandardScaler`` comes first.
model = make_pipeline(StandardScaler(), DOGC(n_clusters=3)).fit(log)
labels = model[-1].labels_
print(f"{'state':<8}{'minutes':>8}", *(f"{name:>12}" for name in names))
for state in range(3):
    means = log[labels == state].mean(axis=0)
    print(f"{state:<8}{(labels == state).sum():>8}", *(f"{mean:12.1f}" for mean in means))

# %%
# Cluster 2 has the vibration of a worn bearing. New minutes get a state as they arrive.
print("a new minute is in state", model.predict([[80, 2.2, 22, 3.0]])[0])
display = ClusterDisplay.from_predictions(log[:, :2], labels, legend=True)
display.ax_.set(xlabel="temperature (°C)", ylabel="vibration (mm/s)")
plt.show()

"""
Saving and loading a model
==========================

``dogc.save`` writes a fitted model to one file, ``dogc.load`` reads it. The file is not a
pickle: loading it runs no code, and a file that contains anything but a model is refused. The
loaded model labels new rows like the saved one.
"""

import pathlib
import tempfile

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import dogc
from dogc.plotting import ClusterDisplay

X, _ = make_moons(800, noise=0.08, random_state=0)
fitted, new = X[::2], X[1::2]
model = dogc.DOGC(n_clusters=2).fit(fitted)

# %%
# Save and load.
with tempfile.TemporaryDirectory() as folder:
    path = dogc.save(model, pathlib.Path(folder) / "moons.skops")
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")
    loaded = dogc.load(path)

# %%
# The fitted rows of the first model, and new rows with the labels of the second.
labels = loaded.predict(new)
print(f"labels as before: {(labels == model.predict(new)).all()}")
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
ClusterDisplay.from_estimator(model, fitted, ax=axes[0])
ClusterDisplay.from_predictions(new, labels, ax=axes[1])
axes[0].set_title("fitted, then saved")
axes[1].set_title("loaded, then asked")
plt.show()

"""
Images: handwritten digits
==========================

Each row is an image of 8 x 8 pixels, from scikit-learn. We cluster the digits 0 to 4 without
their labels, show the mean image of each cluster, and the images with the lowest membership.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from dogc import DOGC
from dogc.metrics import clustering_accuracy

X, digit = load_digits(n_class=5, return_X_y=True)
X, digit = X[::2], digit[::2]

# %%
# All pixels matter, so no projection is learned: ``n_components=None``.
model = DOGC(n_clusters=5, n_components=None).fit(X)
print(f"accuracy {clustering_accuracy(digit, model.labels_):.3f}")

# %%
# First row: the mean image of each cluster. Second row: the five images with the lowest
# membership.
doubtful = np.argsort(model.membership_, kind="stable")[:5]
print("digits with the lowest membership:", digit[doubtful])
figure, axes = plt.subplots(2, 5, figsize=(7, 3.2), layout="constrained")
for label, ax in enumerate(axes[0]):
    ax.imshow(X[model.labels_ == label].mean(axis=0).reshape(8, 8), cmap="gray_r")
    ax.set_title(f"cluster {label}")
for row, ax in zip(doubtful, axes[1], strict=True):
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"membership {model.membership_[row]:.2f}", fontsize=9)
for ax in axes.flat:
    ax.set_axis_off()
plt.show()

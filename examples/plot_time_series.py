"""
Time series: cluster features, not samples
==========================================

Two series of the same kind can be shifted in time, so their samples differ at every moment.
Features that do not depend on the shift compare them: here the mean, the spread, the strongest
frequency and the correlation of neighbouring samples.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dogc import DOGC
from dogc.metrics import clustering_accuracy

rng = np.random.default_rng(0)
t = np.arange(200)


def series(kind):
    """One noisy series with a random shift: slow waves, fast waves, or a random walk."""
    noise, shift = rng.normal(0, 0.4, len(t)), rng.uniform(0, 100)
    if kind == 2:
        return 0.3 * np.cumsum(rng.normal(size=len(t))) + noise
    return np.sin(2 * np.pi * (t + shift) / (40, 9)[kind]) + noise


kind = np.repeat([0, 1, 2], 60)
recorded = np.array([series(k) for k in kind])

# %%
# Four features for each series.
centred = recorded - recorded.mean(axis=1, keepdims=True)
power = np.abs(np.fft.rfft(centred, axis=1)) ** 2
neighbouring = (centred[:, 1:] * centred[:, :-1]).mean(axis=1) / centred.var(axis=1)
features = np.column_stack(
    [recorded.mean(axis=1), recorded.std(axis=1), power.argmax(axis=1), neighbouring]
)
on_features = make_pipeline(StandardScaler(), DOGC(n_clusters=3)).fit_predict(features)
on_samples = DOGC(n_clusters=3).fit_predict(recorded)
print(f"accuracy on features {clustering_accuracy(kind, on_features):.3f}")
print(f"accuracy on samples  {clustering_accuracy(kind, on_samples):.3f}")

# %%
# Three series of each cluster that was found on the features.
figure, axes = plt.subplots(3, 1, figsize=(7, 5), sharex=True, layout="constrained")
for label, ax in enumerate(axes):
    ax.plot(t, recorded[on_features == label][:3].T, linewidth=0.9)
    ax.set_title(f"cluster {label}: {(on_features == label).sum()} series", loc="left", fontsize=9)
plt.show()

"""
How the graph separates
=======================

DOGC starts from a graph in which rows of different clusters are still joined. The embedding
shows which edges cross a border; these lose their weight, and lambda is increased until the
graph has exactly as many components as there are clusters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from dogc import DOGC
from dogc.plotting import ConvergenceDisplay, GraphDisplay

X, _ = make_moons(200, noise=0.08, random_state=0)

# %%
# A callback that returns True ends a run: here after the first iteration. It gets the number of
# neighbours that the whole run chose.
done = DOGC(n_clusters=2).fit(X)
begun = DOGC(n_clusters=2, n_neighbors=done.n_neighbors_, callback=lambda record: True).fit(X)

# %%
# The graph after one iteration and at the end. Black edges join different clusters.
figure, axes = plt.subplots(2, 2, figsize=(8, 7.6), layout="constrained")
for (left, right), model in zip(axes, (begun, done), strict=True):
    GraphDisplay.from_estimator(model, X, kind="edges", ax=left)
    GraphDisplay.from_estimator(model, ax=right)
    left.set_title(f"iteration {model.n_iter_}, components: {model.history_[-1].n_components}")
    left.set_axis_off()

# %%
# The run. Values of the objective can be compared between dotted lines, where lambda
# stays the same.
ConvergenceDisplay.from_estimator(done)
print(f"{done.stopping_reason_} after {done.n_iter_} iterations")
plt.show()

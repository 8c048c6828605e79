"""
Customers: segments of a mixed table
====================================

A shop knows the age, income, spending and visits of its customers, their plan, region and phone,
and whether they read the newsletter. We look for four segments, see how much each column counts,
read from the averages what the segments are, and label new customers. Needs pandas.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from dogc import DOGC, MixedEncoder


def customers(n, rng):
    """Four kinds of customers; region and phone say nothing about them."""
    kind = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    means = np.array([[27, 30, 250, 12], [44, 62, 900, 4], [63, 48, 400, 2], [36, 110, 1500, 9]])
    table = pd.DataFrame(
        rng.normal(means[kind], [7, 12, 150, 2]), columns=["age", "income", "spending", "visits"]
    )
    shares = np.array([[0.8, 0.2, 0.0], [0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.0, 0.1, 0.9]])
    plan = [rng.choice(["basic", "plus", "pro"], p=shares[k]) for k in kind]
    reads = rng.random(n) < np.array([0.2, 0.6, 0.9, 0.4])[kind]
    region, phone = rng.choice(["north", "south", "west"], n), rng.choice(["android", "ios"], n)
    words = {"plan": plan, "newsletter": np.where(reads, "yes", "no"), "region": region}
    return table.clip(lower=0).round(1).assign(**words, phone=phone), kind


table, kind = customers(800, np.random.default_rng(0))
print(table.head(3).to_string())

# %%
# ``MixedEncoder`` turns the table into numbers. Region and phone have nothing in common with the
# other columns, so they get small weights. A graph of few neighbours would fall apart between
# categories; ``n_neighbors="wide"`` reaches across. ``geometry="given"`` keeps the weights.
model = make_pipeline(MixedEncoder(), DOGC(4, n_neighbors="wide", geometry="given")).fit(table)
weights = pd.Series(model[0].weights_).sort_values()
labels = model[-1].labels_
print(pd.crosstab(labels, kind, rownames=["segment"], colnames=["kind"]))

# %%
# The profile: colours show how far a segment is from the average customer, in standard deviations.
numbers = pd.get_dummies(table.drop(columns=["region", "phone"]), dtype=float)
numbers = numbers.drop(columns="newsletter_no").rename(columns=lambda name: name.replace("_", " "))
means = numbers.groupby(labels).mean()
far = (means - numbers.mean()) / numbers.std()
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 4), width_ratios=[1, 2.4], layout="constrained"
)
left.barh(weights.index, weights, color="tab:blue")
left.set_title("weight of each column")
image = right.imshow(far.T, cmap="PuOr_r", vmin=-2, vmax=2, aspect="auto")
for (segment, column), mean in np.ndenumerate(means):
    text = f"{mean:.0f}" if means.iloc[:, column].max() > 1 else f"{mean:.0%}"
    colour = "white" if abs(far.iloc[segment, column]) > 1.4 else "black"
    right.text(segment, column, text, ha="center", va="center", color=colour)
right.set_xticks(range(4), [f"segment {i}\n{(labels == i).sum()} rows" for i in range(4)])
right.set_yticks(range(means.shape[1]), means.columns)
right.set_title("the four segments")
figure.colorbar(image, label="standard deviations")
plt.show()

# %%
# New customers get a segment from the same columns.
new, _ = customers(6, np.random.default_rng(6))
print(new.assign(segment=model.predict(new)).to_string())

"""
Text: sentences by topic
========================

Text is compared by direction, not by length: a long and a short sentence on one topic point the
same way. ``metric="cosine"`` does that. The rows here are sentences made from the words of three
topics; TF-IDF turns them into sparse vectors.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from dogc import DOGC
from dogc.metrics import clustering_accuracy
from dogc.plotting import GraphDisplay

topics = {
    "kitchen": "oven flour butter sugar dough bake salt pepper pan recipe stir boil",
    "space": "orbit rocket planet star moon launch probe comet lander gravity solar dust",
    "garden": "soil seed leaf prune water rose tomato hedge lawn compost bulb shade",
}
common = "the a of and with we it then for from very often new small"
rng = np.random.default_rng(0)
texts, truth = [], []
for topic, words in topics.items():
    for _ in range(60):
        length = rng.integers(5, 15)
        chosen = [*rng.choice(words.split(), length), *rng.choice(common.split(), length)]
        texts.append(" ".join(rng.permutation(chosen)))
        truth.append(topic)

# %%
# A pipeline from raw text to labels. It labels new text too.
model = make_pipeline(TfidfVectorizer(), DOGC(n_clusters=3, metric="cosine")).fit(texts)
print(f"accuracy {clustering_accuracy(truth, model[-1].labels_):.3f}")
print("new text:", model.predict(["stir the dough and bake", "the probe left its orbit"]))

# %%
# The learned graph, sorted by cluster. It has three separate blocks.
GraphDisplay.from_estimator(model)
plt.show()

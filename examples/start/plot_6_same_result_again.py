"""
Saving, loading, and the same result again
==========================================

The same seed gives the same result, bit for bit, with any number of threads. This does not tell how much the topics
depend on the data. To find out, fit two halves of a corpus and see which topics appear in both.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.pairwise import cosine_similarity

from topicfold import LDA, load
from topicfold.datasets import load_demo

# %%
# Two fits with the same seed, one of them with two threads.

corpus = load_demo()
model = LDA(n_topics=20, random_state=0).fit(corpus)
again = LDA(n_topics=20, random_state=0, n_jobs=2).fit(corpus)
print("same bits in two threads:", np.array_equal(model.topic_word_, again.topic_word_))

# %%
# A model is saved to one file. Loading it runs no code, and the loaded model gives the same topics as before.

with TemporaryDirectory() as folder:
    model.save(Path(folder) / "debian.safetensors")
    loaded = load(Path(folder) / "debian.safetensors")
print("same topics after loading:", np.array_equal(loaded.transform(corpus), model.doc_topic_))

# %%
# The topics of two halves of the corpus, matched one to one by the cosine similarity of their words, the best match
# first. Pale squares at the end of the diagonal are topics that only one half has.

halves = [LDA(n_topics=20, random_state=0).fit(corpus.subset(slice(half, None, 2))) for half in (0, 1)]
trees = [half.topic_tree() for half in halves]
likeness = cosine_similarity(*(half.topic_word_ for half in halves))
rows, columns = linear_sum_assignment(-likeness)
order = np.argsort(-likeness[rows, columns])
rows, columns = rows[order], columns[order]
figure, axes = plt.subplots(figsize=(7.5, 6), layout="constrained")
image = axes.imshow(likeness[np.ix_(rows, columns)], vmin=0, vmax=1, cmap="Blues")
axes.set_yticks(range(20), [trees[0].name(row) for row in rows], fontsize=8)
axes.set_xticks(range(20), [trees[1].name(column) for column in columns], fontsize=8, rotation=90)
figure.colorbar(image, label="cosine of P(word | topic)")
print(f"mean cosine of matched topics: {likeness[rows, columns].mean():.2f}")

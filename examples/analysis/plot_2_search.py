"""
Search by words and topics
==========================

``search`` first finds the documents that contain all words of a query, then those that contain some of them or are
about the same topics. A document need not share a word with the query to be found.
"""

import matplotlib.pyplot as plt
import numpy as np

from topicfold import LDA, document_positions, search
from topicfold.datasets import load_demo

# %%
# Each hit has a score and the words of the query that it contains. A score above 0.75 means that it contains all of
# them.

corpus = load_demo()
model = LDA(n_topics=20, random_state=0).fit(corpus)
for hit in search(model, corpus, "chess server", n=8):
    print(f"{hit.score:.2f}  {', '.join(hit.words):16} {hit.title}")

# %%
# Where are the hits on a map of all packages?

positions = document_positions(model.doc_topic_, random_state=0)

# %%
# The hits of each query are where the packages on its subject are. Crosses are hits without any word of the query.
# Words can mislead: some green dots are among the mail programs, which filter spam by Bayesian methods.

queries = ("chess board", "spam mailbox", "regression bayesian")
figure, axes = plt.subplots(figsize=(8, 7), layout="constrained")
axes.scatter(*positions.T, s=3, color="0.85", linewidths=0)
for colour, query in zip(("tab:blue", "tab:orange", "tab:green"), queries):
    hits = search(model, corpus, query, n=80)
    rows, held = np.array([hit.row for hit in hits]), np.array([len(hit.words) > 0 for hit in hits])
    axes.scatter(*positions[rows[held]].T, s=18, color=colour, label=f"{query}: {held.sum()} by words")
    axes.scatter(*positions[rows[~held]].T, s=24, color=colour, marker="x", label=f"{(~held).sum()} by topic alone")
axes.set_axis_off()
axes.set_aspect("equal")
figure.legend(loc="outside lower center", ncols=3, fontsize=9, frameon=False)

"""
Links between documents
=======================

Documents often come with links: citations, hyperlinks or, here, dependencies between packages. LTM draws linked
documents to similar topics. ``graph_weight`` says how strongly; by default it is chosen on held-out documents.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from topicfold import LDA, LTM, link_graph
from topicfold.datasets import load_demo

# %%
# A graph is a symmetric sparse matrix of documents x documents. Graphs can be added:
# ``link_graph(...) + knn_graph(corpus)`` would combine dependencies and neighbours by words.

corpus = load_demo()
graph = link_graph(corpus.links, len(corpus))
print(f"{graph.nnz // 2:,} links; {np.mean(np.diff(graph.indptr) > 0):.0%} of the packages have one")

# %%
# Fit without links, and with links of increasing weight. The weights are fixed here to save time; without
# ``graph_weight``, the model chooses the weight itself.

models = {"LDA, no links": LDA(20, random_state=0).fit(corpus)}
for weight in (0.3, 1, 3):
    models[f"LTM, weight {weight}"] = LTM(20, graph_weight=weight, random_state=0).fit(corpus, graph=graph)

# %%
# The figure shows how similar the topics of two linked packages are. The dashed line is for pairs drawn at random. A
# stronger graph makes linked packages more similar, but this does not prove that the model is better. So the legend
# shows an independent measure: how well topics agree with the sections of the packages, which no model has seen.

figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
left, right = graph.nonzero()
shuffled = np.random.default_rng(0).permutation(right)
for name, model in models.items():
    topics = normalize(model.doc_topic_)
    alike = (topics[left] * topics[right]).sum(axis=1)
    nmi = normalized_mutual_info_score(corpus.label_array(), model.doc_topic_.argmax(axis=1))
    axes.ecdf(alike, complementary=True, label=f"{name} (NMI {nmi:.2f})")
    print(f"{name:16} mean cosine {alike.mean():.2f}   NMI with sections {nmi:.3f}")
topics = normalize(models["LDA, no links"].doc_topic_)
by_chance = (topics[left] * topics[shuffled]).sum(axis=1)
axes.ecdf(by_chance, complementary=True, color="0.5", linestyle="--", label="LDA, random pairs")
axes.set(xlabel="cosine of the topics of two linked packages", ylabel="share of links with at least this cosine")
axes.legend(frameon=False)

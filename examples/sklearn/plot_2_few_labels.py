"""
A classifier from a handful of labels
=====================================

Labels are expensive, texts are not. ``TopicClassifier`` learns topics from all documents and classes from the few that
have a label. How many labels are needed?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from topicfold import DTM, LDA, TopicClassifier, knn_graph, link_graph
from topicfold.datasets import load_demo

# %%
# Twelve sections of packages, and a graph that connects packages with similar words or with a dependency.

corpus = load_demo()
names = ("fonts", "games", "mail", "gnu-r", "python", "ruby", "sound", "lisp", "net", "x11", "java", "graphics")
corpus = corpus.subset([labels[0] in names for labels in corpus.labels])
sections = corpus.label_array()
graph = knn_graph(corpus, 5) + link_graph(corpus.links, len(corpus))

# %%
# Words alone, topics, and topics on the graph, each with 1 to 30 labels per section. Labels are drawn three times.

methods = {
    "DTM topics on a graph": lambda: (TopicClassifier(DTM(24, max_iter=20, random_state=0)), {"graph": graph}),
    "LDA topics": lambda: (TopicClassifier(LDA(24, random_state=0)), {}),
    "words, TF-IDF": lambda: (TopicClassifier(TfidfTransformer()), {}),
}
sizes = (1, 3, 10, 30)
accuracy = {name: np.zeros((len(sizes), 3)) for name in methods}
for place, draw in np.ndindex(len(sizes), 3):
    rng = np.random.default_rng(draw)
    known = [rng.choice(np.flatnonzero(sections == name), sizes[place], replace=False) for name in names]
    labels = np.full(len(corpus), "", dtype=object)
    labels[np.concatenate(known)] = sections[np.concatenate(known)]
    hidden = labels == ""
    for name, make in methods.items():
        classifier, more = make()
        classifier.fit(corpus.counts, labels, **more)
        accuracy[name][place, draw] = np.mean(classifier.transduction_[hidden] == sections[hidden])

# %%
# Accuracy on the packages without a label: mean and range over the three draws.

figure, axes = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for name, values in accuracy.items():
    print(f"{name:22}", *(f"{value:.2f}" for value in values.mean(axis=1)))
    axes.plot(sizes, values.mean(axis=1), "o-", label=name)
    axes.fill_between(sizes, values.min(axis=1), values.max(axis=1), alpha=0.15, linewidth=0)
axes.set(xscale="log", xlabel="labels per section", ylabel="accuracy on unlabelled packages", ylim=(0, 1))
axes.set_xticks(sizes, sizes)
axes.minorticks_off()
axes.legend(frameon=False, loc="lower right")

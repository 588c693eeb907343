"""
A classifier from a handful of labels
=====================================

Sections of packages from five labels each: topics, with and without a graph, against words and propagation.
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from topicfold import DTM, LTM, PLSA
from topicfold.analysis.classify import TopicClassifier
from topicfold.baselines.propagation import LabelPropagation
from topicfold.datasets import load_demo
from topicfold.graph.build import knn_graph, link_graph

corpus = load_demo()
sections = corpus.label_array()
names, sizes = np.unique(sections, return_counts=True)
rng = np.random.default_rng(0)
known = np.concatenate([rng.choice(np.flatnonzero(sections == name), 5, replace=False) for name in names])
labels = np.full(len(corpus), None, dtype=object)
labels[known] = sections[known]

words = knn_graph(corpus)
dependencies = link_graph(corpus.links, len(corpus))
both = words + dependencies
topics = {"n_topics": 40, "max_iter": 50, "random_state": 0}
methods = {
    "PLSA": (TopicClassifier(PLSA(**topics)), None),
    "LTM, words graph": (TopicClassifier(LTM(**topics)), words),
    "LTM, dependencies": (TopicClassifier(LTM(**topics)), dependencies),
    "LTM, both graphs": (TopicClassifier(LTM(**topics)), both),
    "DTM, both graphs": (TopicClassifier(DTM(**topics)), both),
    "propagation, both": (LabelPropagation(), both),
    "tf-idf words": (TopicClassifier(TfidfTransformer()), None),
}
rest = np.delete(np.arange(len(corpus)), known)
print(f"{len(known)} labels in {len(names)} sections; accuracy on the other {len(rest):,} packages")
for name, (method, graph) in methods.items():
    method.fit(corpus.counts, labels, **({} if graph is None else {"graph": graph}))
    print(f"{name:18} {np.mean(method.transduction_[rest] == sections[rest]):.3f}")
print(f"{'majority':18} {(sizes.max() - 5) / len(rest):.3f}")

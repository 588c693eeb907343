"""
Classify documents in a scikit-learn pipeline
=============================================

Guess a package's section from its topics, in a scikit-learn pipeline, against words and the majority.
"""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from topicfold import PLSA
from topicfold.datasets import load_demo

corpus = load_demo()
order = np.random.default_rng(0).permutation(len(corpus))
train, test = corpus.subset(order[:3000]), corpus.subset(order[3000:])
pipelines = {
    "majority": (DummyClassifier(), train.counts, test.counts),
    "topics": (make_pipeline(PLSA(60, smoothing=0.1, random_state=0), LogisticRegression(max_iter=2000)), train, test),
    "words": (make_pipeline(TfidfTransformer(), LogisticRegression(max_iter=2000)), train.counts, test.counts),
}
for name, (pipeline, seen, unseen) in pipelines.items():
    accuracy = pipeline.fit(seen, train.label_array()).score(unseen, test.label_array())
    print(f"{name:10} {accuracy:.3f}")

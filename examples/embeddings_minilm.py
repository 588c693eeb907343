"""
Topics of short texts with sentence embeddings
==============================================

Topics from words and sentence embeddings together: the embeddings say which descriptions are neighbours.

Any sentence model does: LTM takes an array with a row per document. This one runs all-MiniLM-L6-v2 on the CPU and keeps
its vectors in the user's cache folder.
"""

import sys

import numpy as np

from experiments.embeddings.minilm import embed
from topicfold import LTM, topic_tree
from topicfold.datasets import load_demo

corpus = load_demo()
corpus = corpus.subset(np.random.default_rng(0).permutation(len(corpus))[:200])
new = "A small program that shows the weather of the coming days on the desktop"
try:
    embeddings, embedding_of_new = embed(corpus.texts), embed([new])
except ImportError as problem:
    print(f"Nothing to show: {problem}")
    sys.exit()

model = LTM(n_topics=10, random_state=0).fit(corpus, embeddings=embeddings)
print(topic_tree(model, corpus))
shares = model.transform(corpus.vectorize([new]), embeddings=embedding_of_new)[0]
print(f"{new!r}: topic {shares.argmax()}, {shares.max():.0%}")

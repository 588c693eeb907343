"""
Documents made of paragraphs
============================

A long document is often about several things, one after another. LDCC gives every paragraph a topic, and describes a
document by the topics of its paragraphs. This example makes up documents for which the right answer is known: digests
whose paragraphs are descriptions of packages from different sections.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

from topicfold import LDCC, Corpus, plots
from topicfold.datasets import load_demo

# %%
# Three hundred digests of four paragraphs, each digest from two of five sections.

packages = load_demo()
sections = ("games", "mail", "fonts", "sound", "gnu-r")
texts = {name: [text for text, own in zip(packages.texts, packages.labels) if own[0] == name] for name in sections}
rng = np.random.default_rng(0)
truth = np.array([rng.choice(rng.choice(5, 2, replace=False), 4) for _ in range(300)])
digests = [[" ".join(rng.choice(texts[sections[k]]).split()) for k in row] for row in truth]
corpus = Corpus.from_texts(digests, segments="given", vocabulary=packages.vocabulary)
print(corpus)

# %%
# Document-topics (left) mix word-topics (right). A word-topic can belong to several document-topics.

model = LDCC(n_document_topics=5, n_word_topics=12, n_sweeps=150, burn_in=100, random_state=0).fit(corpus)
plots.hierarchy(model.topic_tree(corpus), n_words=4)

# %%
# The document-topic of each paragraph in fifteen digests, next to the section it was taken from. A topic has the colour
# of the section with which it shares most paragraphs.

cluster = model.segment_cluster_.argmax(axis=1).reshape(truth.shape)
together = np.array([[np.sum((cluster == c) & (truth == k)) for k in range(5)] for c in range(5)])
named = together.argmax(axis=1)[cluster]
print(f"{np.mean(named == truth):.0%} of the paragraphs are in a topic of their section")
figure, panels = plt.subplots(1, 2, figsize=(8, 4.5), layout="constrained", sharey=True)
for axes, values, title in zip(panels, (truth, named), ("section it came from", "topic that LDCC found")):
    image = axes.imshow(values[:15], cmap=plt.get_cmap("tab10", 10), vmin=-0.5, vmax=9.5, aspect="auto")
    axes.set(title=title, xlabel="paragraph", xticks=range(4), xticklabels=range(1, 5))
panels[0].set_ylabel("digest")
handles = [plt.Rectangle((0, 0), 1, 1, color=image.cmap(image.norm(k))) for k in range(5)]
figure.legend(handles, sections, loc="outside right center", frameon=False)

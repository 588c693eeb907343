"""
Themes over topics
==================

TTMM has two levels. A document has one theme, and a theme is a mix of topics. Themes can be found in the data, or they
can be the classes of labelled documents: the model then shows what each class is about, and classifies new documents.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage

from topicfold import TTMM, plots
from topicfold.datasets import load_demo

# %%
# Themes that are found: each is shown with the topics it mixes.

corpus = load_demo()
model = TTMM(n_themes=20, n_topics=10, random_state=0).fit(corpus)
plots.hierarchy(model.topic_tree(corpus), n_words=4)

# %%
# Themes that are given: the sections of the packages. There are fewer topics than sections, so that sections have to
# share them. For the best classifier, use more topics.

classifier = TTMM(n_themes="labels", n_topics=16, random_state=0).fit(corpus, corpus.label_array())
for text in ("A synthesizer with MIDI input", "Draw phylogenetic trees of species"):
    print(f"{text!r} belongs in {classifier.predict([text])[0]}")

# %%
# What sections are about: P(topic | section), with similar sections next to each other.

tree = classifier.topic_tree(corpus).select_levels([1])
mix = classifier.theme_topic_
rows, columns = (leaves_list(linkage(np.sqrt(side), "ward")) for side in (mix, mix.T))
figure, axes = plt.subplots(figsize=(8.5, 8.5), layout="constrained")
image = axes.imshow(mix[np.ix_(rows, columns)], cmap="Blues", aspect="auto", vmin=0, vmax=1)
axes.set_yticks(range(len(rows)), classifier.classes_[rows], fontsize=8)
axes.set_xticks(range(len(columns)), [tree.name(int(topic)) for topic in columns], fontsize=8, rotation=90)
figure.colorbar(image, label="P(topic | section)", shrink=0.6)

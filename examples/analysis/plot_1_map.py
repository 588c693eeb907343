"""
A map of documents
==================

On a map, documents about the same things stand close together. It is a picture for exploring: distances between far
groups mean little, and neither do the axes.
"""

from topicfold import LDA, document_positions, plots
from topicfold.datasets import load_demo

# %%
# Positions are made from the topics of documents. The same seed gives the same map.

corpus = load_demo()
model = LDA(n_topics=20, random_state=0).fit(corpus)
positions = document_positions(model.doc_topic_, random_state=0)
print(positions.shape, positions.min(axis=0), positions.max(axis=0))

# %%
# Documents coloured by their largest topic: the seven largest topics have a colour each.

tree = model.topic_tree(corpus)
plots.document_map(positions, tree)

# %%
# The same map coloured by something the model has not seen, here some sections of the packages. Where colours gather,
# topics and sections agree. Python packages are spread over the map: they are written in one language, but are about
# many things.

shown = ("fonts", "games", "mail", "gnu-r", "python", "database", "hamradio")
labels = [section if section in shown else None for section in corpus.label_array()]
plots.document_map(positions, tree, labels)

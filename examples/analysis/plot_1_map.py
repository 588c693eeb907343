"""
A map of documents
==================

On a map, documents about the same things are close together. It is a picture for exploring: distances between groups
that are far apart mean little, and the axes mean nothing.
"""

from topicfold import LDA, document_positions, plots
from topicfold.datasets import load_demo

# %%
# Positions are computed from the topics of documents. The same seed gives the same map.

corpus = load_demo()
model = LDA(n_topics=20, random_state=0).fit(corpus)
positions = document_positions(model.doc_topic_, random_state=0)
print(positions.shape, positions.min(axis=0), positions.max(axis=0))

# %%
# Documents coloured by their largest topic. Each of the seven largest topics has a colour.

tree = model.topic_tree(corpus)
plots.document_map(positions, tree)

# %%
# The same map coloured by something that the model has not seen, here some sections of the packages. Where a colour is
# concentrated, topics and sections agree. Python packages are spread over the map: they are written in one language,
# but are about many things.

shown = ("fonts", "games", "mail", "gnu-r", "python", "database", "hamradio")
labels = [section if section in shown else None for section in corpus.label_array()]
plots.document_map(positions, tree, labels)

"""
How groups speak of the same topic
==================================

Two groups may speak of the same things in different words. ``contrast`` ranks words by how surely one group uses them
more often than the other, overall or within a topic.
"""

from topicfold import LDA, contrast, plots
from topicfold.datasets import load_demo

# %%
# Groups come from labels or from a column of the metadata. Here: packages in the sections gnome and kde, two desktops.

corpus = load_demo()
tree = LDA(n_topics=20, random_state=0).fit(corpus).topic_tree(corpus)
found = contrast(tree, corpus, "labels", groups=("gnome", "kde"))
print({group: [word.word for word in found.words(group=group, n=6)] for group in found.groups})

# %%
# All words, whatever their topic: the higher, the more surely a word is of gnome, the lower, of kde. Words in the grey
# band may differ by chance.

plots.contrast_words(found)

# %%
# The same within one topic, the one that both sections are most about. Only the tokens of that topic count.

desktop = next(int(topic) for topic in tree.ids if "desktop" in tree.name(int(topic)))
plots.contrast_words(found, topic=desktop, n_words=8)

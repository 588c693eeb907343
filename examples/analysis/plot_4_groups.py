"""
How groups write about the same topic
=====================================

Two groups may write about the same things in different words. ``contrast`` ranks words by how certain it is that one
group uses them more often than the other, overall or within a topic.
"""

from topicfold import LDA, contrast, plots
from topicfold.datasets import load_demo

# %%
# Groups are given by labels or by a column of the metadata. Here they are the sections gnome and kde, two desktops.

corpus = load_demo()
tree = LDA(n_topics=20, random_state=0).fit(corpus).topic_tree(corpus)
by_desktop = contrast(tree, corpus, "labels", groups=("gnome", "kde"))
print({group: [word.word for word in by_desktop.words(group=group, n=6)] for group in by_desktop.groups})

# %%
# All words, whatever their topic. The higher a word, the more certain it is that gnome uses it more often; the lower,
# the more certain for kde. The differences of words in the grey band may be due to chance.

plots.contrast_words(by_desktop)

# %%
# The same within one topic, the main topic of both sections. Only the tokens of that topic count.

desktop = next(int(topic) for topic in tree.ids if "desktop" in tree.name(int(topic)))
plots.contrast_words(by_desktop, topic=desktop, n_words=8)

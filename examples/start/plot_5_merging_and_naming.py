"""
Merging, grouping and naming topics
===================================

What a model finds is a draft. Topics can be merged, grouped, dropped and renamed afterwards. The model does not change:
each step returns a new tree, which can be saved, explored and used to assign topics to new documents.
"""

import matplotlib.pyplot as plt
from scipy.cluster.hierarchy import dendrogram

from topicfold import LDA, plots
from topicfold.datasets import load_demo

# %%
# Start with more topics than you want to keep.

corpus = load_demo()
tree = LDA(n_topics=24, random_state=0).fit(corpus).topic_tree(corpus)

# %%
# Topics are similar if they share words and documents. The dendrogram shows the order in which the most similar topics
# would be merged.

figure, axes = plt.subplots(figsize=(7.5, 5.5), layout="constrained")
names = [tree.name(topic) for topic in tree.ids.tolist()]
dendrogram(tree.linkage(), labels=names, orientation="left", color_threshold=0, above_threshold_color="0.4", ax=axes)
axes.tick_params(axis="y", labelsize=9)
axes.set(xlim=(1, 0.75), xlabel="distance at which topics are merged")

# %%
# ``reduce`` merges topics until a given number is left; ``group`` keeps all topics and adds groups above them. Ids
# never change, so you can always tell what became of a topic.

fewer = tree.reduce(16)
print({old: new for old, new in fewer.mapping.items() if old != new})

# %%
# Any function can name topics: it may ask a person, a program or a language model. This one looks up the section of
# most of the topic's best packages.

section_of = dict(zip(corpus.ids, corpus.label_array()))


def by_section(topic):
    sections = [section_of[package] for package, _ in fewer.documents(topic.topic, 50)]
    most = max(sorted(set(sections)), key=sections.count)
    return f"{most} ({', '.join(topic.words[:3])})"


plots.hierarchy(fewer.name_topics(by_section, corpus=corpus).group([6]))

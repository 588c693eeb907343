"""
A hierarchy of topics
=====================

HLTA builds a tree: words that occur together form small topics, and these form larger ones, up to a few broad fields at
the top. The numbers of topics and levels are not given; both come from the data. A document can be in any number of
topics, so memberships do not sum to one.
"""

from topicfold import HLTA, plots
from topicfold.datasets import load_demo

# %%
# Very rare words say little about other words, and words that are everywhere would end up at the top: leave out both.

corpus = load_demo(min_df=15, max_df=0.05)
model = HLTA(max_words=600, top_size=12, random_state=0).fit(corpus)
tree = model.topic_tree(corpus)
print({int(level): int((tree.level == level).sum()) for level in sorted(set(tree.level.tolist()))}, "topics per level")

# %%
# The two upper levels. The size of a dot shows the share of documents in a topic.

plots.hierarchy(tree.select_levels([2, 3]), n_words=5)

# %%
# One branch down to the lowest level.

top = tree.children()[0]
print(tree.name(top))
for topic in tree.children(top):
    print("   ", tree.name(topic))
    for below in tree.children(topic)[:5]:
        print("       ", tree.name(below))

# %%
# The topics of a document, each with its own probability.

print("chocolate-doom:", *(f"{tree.name(topic)} ({share:.0%})" for topic, share in tree.topics_of("chocolate-doom", 4)))

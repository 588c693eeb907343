"""
Guided topics by seed words
===========================

If you know some topics in advance, say so with a few words each. Seed words pull a topic to where you want it; the
other topics find themselves.
"""

from topicfold import LDA, plots
from topicfold.datasets import load_demo

# %%
# Four topics are given seed words, twenty-one are left free.

corpus = load_demo()
seeds = {
    0: ["chess", "puzzle", "arcade"],
    1: ["spam", "mailbox"],
    2: ["amateur", "morse", "transceiver"],
    3: ["encryption", "password", "keys"],
}
model = LDA(n_topics=25, seed_words=seeds, random_state=0).fit(corpus)
tree = model.topic_tree(corpus).rename({0: "games", 1: "mail", 2: "amateur radio", 3: "security"})
print(tree.to_text(n_words=7))

# %%
# A guided topic goes beyond its seeds: it takes in all words that keep their company. Seeds that are rare in the corpus
# need not be among the best words.

plots.topic_words(tree, [0, 1, 2, 3], n_words=10)

# %%
# How strongly seeds pull is set by ``seed_strength``, a share of the tokens of an average topic. Look at the documents
# to see whether a topic is what you meant.

for topic in (0, 1, 2, 3):
    print(f"{tree.name(topic):14}", ", ".join(name for name, _ in tree.documents(topic, 6)))

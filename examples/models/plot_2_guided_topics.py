"""
Guided topics by seed words
===========================

If you know some topics in advance, give a few seed words for each. Seed words pull a topic towards a subject of your
choice; the other topics are found as usual.
"""

from topicfold import LDA, plots
from topicfold.datasets import load_demo

# %%
# Four topics have seed words, the other twenty-one are free.

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
# A guided topic goes beyond its seed words: it includes other words that occur together with them. Seed words that are
# rare in the corpus need not be among the best words.

plots.topic_words(tree, [0, 1, 2, 3], n_words=10)

# %%
# ``seed_strength`` sets how strongly seed words pull, as a share of the tokens of an average topic. Read some documents
# to see whether a topic is what you meant.

for topic in (0, 1, 2, 3):
    print(f"{tree.name(topic):14}", ", ".join(name for name, _ in tree.documents(topic, 6)))

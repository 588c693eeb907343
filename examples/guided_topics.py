"""
Guide topics with seed words
============================

Pull two topics to where you want them with seed words, and let the others find themselves.
"""

from topicfold import PLSA, topic_tree
from topicfold.datasets import load_demo

corpus = load_demo()
seeds = {0: ["chess", "puzzle", "arcade"], 1: ["spam", "mailbox"]}
model = PLSA(n_topics=15, seed_words=seeds, smoothing=0.01, random_state=0, n_jobs=-1).fit(corpus)
tree = topic_tree(model, corpus).rename({0: "games", 1: "mail"})
print(tree)
print("Most in games:", ", ".join(name for name, _ in tree.documents(0, 8)))

"""
Which words describe a topic?
=============================

The most probable words of a topic are often words that are frequent everywhere. topicfold therefore ranks words by
*keyness*: how much more often a word is in the documents of the topic than in all documents. This example shows both
rankings.
"""

import matplotlib.pyplot as plt
import numpy as np

from topicfold import LDA, Corpus
from topicfold.datasets import load_demo

# %%
# If all words are kept, even very frequent ones, the difference is easy to see.

texts, sections = load_demo().texts, load_demo().label_array()
corpus = Corpus.from_texts(texts, min_df=5)
tree = LDA(n_topics=20, random_state=0).fit(corpus).topic_tree(corpus)

# %%
# ``words`` ranks by keyness; ``by="probability"`` ranks by P(word | topic).

topics = [tree.topics_of(int(np.flatnonzero(sections == name)[0]))[0][0] for name in ("games", "mail", "fonts")]
for topic in topics:
    print(f"topic {topic}")
    print("   probability:", *(word.word for word in tree.words(topic, 8, by="probability")))
    print("   keyness:    ", *(word.word for word in tree.words(topic, 8)))

# %%
# Words that are among the first ten in only one of the two rankings are coloured. By probability (top) they are mostly
# words about packages in general, by keyness (bottom) words of the subject.

figure, panels = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for column, topic in enumerate(topics):
    ranked = {by: tree.words(topic, 10, by=by) for by in ("probability", "score")}
    common = set.intersection(*({word.word for word in words} for words in ranked.values()))
    for axes, (by, words) in zip(panels[:, column], ranked.items()):
        values = [word.probability if by == "probability" else word.score for word in words]
        colours = ["0.75" if word.word in common else "tab:orange" for word in words]
        axes.barh([word.word for word in words], values, color=colours)
        axes.invert_yaxis()
        axes.set_xlabel("P(word | topic)" if by == "probability" else "keyness")
    panels[0, column].set_title(tree.name(topic))

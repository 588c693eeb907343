"""
Choosing the number of topics
=============================

``select`` fits models of several sizes to one part of the documents and scores them on the rest. It recommends a size
that predicts nearly as well as the best and finds the same topics again on other documents.
"""

from topicfold import LDA, plots, select
from topicfold.datasets import load_demo

# %%
# A quarter of the corpus is enough to see how it works. Every size is fitted to two thirds of the documents and
# scored on the other third, three times.

corpus = load_demo().subset(slice(0, None, 4))
result = select(LDA(random_state=0), corpus, {"n_topics": [5, 10, 20, 40, 80]}, n_splits=3, n_seeds=1)
print(result)

# %%
# The figure shows what the recommendation is based on. Held-out scores mostly keep rising with more topics, so the
# score alone does not decide. Coherence is shown, but it is not used.

plots.selection(result)

# %%
# Fit a model of the recommended size to all your documents. If you know how detailed your topics should be, trust that
# more than any rule: the recommendation is a starting point. The guide :doc:`/guides/choosing-the-number-of-topics`
# says how often it was right.

model = LDA(**result.best, random_state=0).fit(corpus)
print(result.reason)
print(model.topic_tree(corpus).to_text(n_words=5))

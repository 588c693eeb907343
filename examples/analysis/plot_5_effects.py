"""
Effects of metadata on topics
=============================

Does the share of a topic depend on what else is known of documents? ``effects`` is a regression of topic shares on
metadata, with intervals that allow for shares being estimated from words. (``pip install 'topicfold[effects]'``)
"""

from topicfold import LDA, effects, plots
from topicfold.datasets import load_demo

# %%
# The demo corpus has the role of a package (program, shared library, ...) and the number of packages it depends on.
# Two roles are frequent enough to compare, and few packages have more than eight dependencies.

corpus = load_demo()
model = LDA(n_topics=20, random_state=0).fit(corpus)
role, dependencies = corpus.metadata["role"], corpus.metadata["dependencies"]
some = corpus.subset(((role == "program") | (role == "shared-lib")) & (dependencies <= 8))
found = effects(model, some, "~ role * log(dependencies + 1)")
print(found)

# %%
# The difference between the two roles in the share of each topic, at the mean number of dependencies. Intervals that
# hold zero are grey. With 20 topics, one is expected to leave out zero by chance.

difference = found.contrast("role", "program", "shared-lib")
plots.effect_sizes(difference)

# %%
# Predicted shares along the number of dependencies, by role. Bands are 95 % intervals; they are wide for libraries with
# many dependencies, of which there are few. A line may fall below zero, as this is linear regression.

plots.effect_curves(found.predict("dependencies", by="role"), n_topics=6)

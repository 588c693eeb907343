"""
Effects of metadata on topics
=============================

Does the share of a topic depend on other properties of the documents? ``effects`` is a regression of topic shares on
metadata. Its intervals take into account that shares are estimated from words. (Needs
``pip install 'topicfold[effects]'``.)
"""

from topicfold import LDA, effects, plots
from topicfold.datasets import load_demo

# %%
# The metadata of the demo corpus include the role of a package (program, shared library, ...) and the number of
# packages it depends on. Two roles are frequent enough to compare, and few packages have more than eight dependencies.

corpus = load_demo()
model = LDA(n_topics=20, random_state=0).fit(corpus)
role, dependencies = corpus.metadata["role"], corpus.metadata["dependencies"]
some = corpus.subset(((role == "program") | (role == "shared-lib")) & (dependencies <= 8))
estimates = effects(model, some, "~ role * log(dependencies + 1)")
print(estimates)

# %%
# The difference between the two roles in the share of each topic, at the mean number of dependencies. Intervals that
# contain zero are grey. With 20 topics, one interval is expected to exclude zero by chance.

difference = estimates.contrast("role", "program", "shared-lib")
plots.effect_sizes(difference)

# %%
# Predicted shares by number of dependencies, for each role. Bands are 95 % intervals; they are wide for libraries with
# many dependencies, of which there are few. A line may fall below zero, because this is linear regression.

plots.effect_curves(estimates.predict("dependencies", by="role"), n_topics=6)

"""
Topics over time
================

If documents have dates, ``topics_over_time`` shows the share of each topic in each period, and ``drift`` tests whether
two periods differ. The packages have no dates, so this example makes some up: the later the year, the more packages
about the web and the fewer about mail.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from topicfold import LDA, drift, topics_over_time
from topicfold.datasets import load_demo

# %%
# Dates from 2010 to 2019: late for web packages, early for mail, any time for the others.

corpus = load_demo()
rng = np.random.default_rng(0)
sections = corpus.label_array()
late, early = np.isin(sections, ["javascript", "web", "httpd"]), np.isin(sections, ["mail", "comm"])
years = 2010 + np.floor(10 * rng.beta(1 + 2 * late, 1 + 2 * early)).astype(int)
corpus = replace(corpus, timestamps=years.astype(str).astype("datetime64[s]"))

# %%
# The shares of the topics that changed most. For your texts, ``Corpus.read(..., timestamp="date")`` reads the dates.

model = LDA(n_topics=20, random_state=0).fit(corpus)
table = topics_over_time(model, corpus, by="year")
table.plot(n_topics=6)

# %%
# Do the first and the last three years differ by more than chance? The p-value comes from a permutation test, and the
# topics are sorted by their part of the divergence.

change = drift(model, corpus.subset(years <= 2012), corpus.subset(years >= 2017))
print(change)

# %%
# Which topics grew and which shrank?

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
moved = sorted(change.moved[:10], key=lambda topic: topic.after - topic.before)
points = [100 * (topic.after - topic.before) for topic in moved]
colours = ["tab:blue" if value > 0 else "tab:orange" for value in points]
axes.barh([table.names[topic.topic] for topic in moved], points, color=colours)
axes.axvline(0, color="0.4", linewidth=1)
axes.set_xlabel("change of share, 2010-12 to 2017-19 (percentage points)")

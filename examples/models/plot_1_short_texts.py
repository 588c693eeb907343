"""
Short texts
===========

A text of five words says little about its topics, and a model without priors soon becomes certain of things that are
not there. This example shortens the descriptions of packages to their first words. It measures how well models predict
one half of a new text from the other half.
"""

import matplotlib.pyplot as plt

from topicfold import LDA, PLSA, TTMM, Corpus
from topicfold.datasets import load_demo
from topicfold.metrics import perplexity

# %%
# Four models with 20 topics. The last one is the original PLSA, fitted by maximum likelihood.

packages = load_demo()
models = {
    "LDA": LDA(20, random_state=0),
    "PLSA": PLSA(20, random_state=0),
    "TTMM": TTMM(n_themes=30, n_topics=20, random_state=0),
    "PLSA without priors": PLSA(20, alpha=0, beta=0, random_state=0),
}

# %%
# Fit one half of the texts and score the other. Texts of different lengths are not equally hard to predict, so each
# perplexity is divided by that of a model with a single topic: below 1, topics help.

lengths, gains = [], {name: [] for name in models}
for n_words in (5, 10, 20, 40, 80):
    texts = [" ".join(text.split()[:n_words]) for text in packages.texts]
    corpus = Corpus.from_texts(texts, vocabulary=packages.vocabulary)
    even, odd = corpus.subset(slice(0, None, 2)), corpus.subset(slice(1, None, 2))
    one_topic = perplexity(LDA(1, random_state=0).fit(even).score(odd))
    lengths.append(corpus.counts.sum() / len(corpus))
    for name, model in models.items():
        gains[name].append(perplexity(model.fit(even).score(odd)) / one_topic)
    print(f"{lengths[-1]:4.1f} words:", *(f"{name} {values[-1]:.2f} " for name, values in gains.items()))

# %%
# With priors, topics help at any length. Without them, the shorter the texts, the worse the predictions. The right
# panel leaves out the original PLSA.

figure, panels = plt.subplots(1, 2, figsize=(8.5, 3.8), layout="constrained")
for name, values in gains.items():
    for axes in panels[: 1 if "without" in name else 2]:
        axes.plot(lengths, values, "o-", label=name)
for axes in panels:
    axes.axhline(1, color="0.4", linestyle="--", label="one topic")
    axes.set(xscale="log", xlabel="words per text, without stop words")
    axes.set_xticks(lengths, [f"{length:.0f}" for length in lengths])
    axes.minorticks_off()
panels[0].set(yscale="log", ylabel="perplexity, relative to one topic")
panels[1].set(ylim=(0.5, 1.05))
panels[0].legend(frameon=False)

"""
Comparing models on held-out documents
======================================

How well does a model predict text that it has not seen? It reads one half of each held-out document and predicts the
other half. Perplexity is roughly the number of words the model hesitates between: lower is better. The baseline is the
unigram, which predicts every document from the overall word frequencies, without topics.
"""

import matplotlib.pyplot as plt

from topicfold import LDA, PLSA, TTMM, select
from topicfold.datasets import load_demo

# %%
# ``select`` compares several models on the same folds. Each has its own grid. PLSA without its priors is the
# original model of 1999, fitted by maximum likelihood.

corpus = load_demo().subset(slice(0, None, 2))
sizes = {"n_topics": [10, 20, 40]}
models = {
    "LDA": (LDA(random_state=0), sizes),
    "PLSA": (PLSA(random_state=0), sizes),
    "PLSA without priors": (PLSA(alpha=0, beta=0, random_state=0), sizes),
    "TTMM, 60 themes": (TTMM(n_themes=60, random_state=0), sizes),
}
result = select(models, corpus, n_splits=2, n_seeds=1)

# %%
# Compare the models with the baseline: a model that does not beat the unigram has found nothing.

unigram = next(row for row in result.baselines if row.model == "unigram")
print(f"{'unigram':22} {unigram.perplexity:7.0f}")
for row in result.rows:
    print(f"{row.model:22} {row.perplexity:7.0f}   {row.params['n_topics']} topics")

# %%
# Without priors, more topics make predictions worse: the model fits its training documents too closely. No model is
# best everywhere; :doc:`/which-model` has the same comparison on six other corpora.

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name in models:
    rows = [row for row in result.rows if row.model == name]
    axes.plot([row.params["n_topics"] for row in rows], [row.perplexity for row in rows], "o-", label=name)
axes.axhline(unigram.perplexity, color="0.4", linestyle="--", label="unigram (no topics)")
axes.set(xlabel="number of topics", ylabel="held-out perplexity", ylim=(0, 3600), xticks=sizes["n_topics"])
figure.legend(loc="outside right center", frameon=False)

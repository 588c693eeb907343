"""
Streams of documents
====================

``partial_fit`` learns from one batch after another and keeps none of them, so a stream may have any length. How close
does it come to a model that sees all documents at once?
"""

import matplotlib.pyplot as plt
import numpy as np

from topicfold import LDA
from topicfold.datasets import load_demo
from topicfold.metrics import perplexity

# %%
# A quarter of the packages is held out; the others come in random order and in batches of 256. To read batches from
# files, use ``Corpus.batches("reviews-*.jsonl", 20_000, text="body")``.

corpus = load_demo()
order = np.random.default_rng(0).permutation(len(corpus))
held_out, rest = corpus.subset(order[:1024]), order[1024:]
batches = [corpus.subset(rest[first : first + 256]) for first in range(0, len(rest), 256)]

# %%
# Learn from each batch once. After each batch, measure how well the held-out packages are predicted.

model = LDA(n_topics=20, random_state=0)
n_documents, perplexities = [], []
for batch in batches:
    model.partial_fit(batch)
    n_documents.append(n_documents[-1] + len(batch) if n_documents else len(batch))
    perplexities.append(perplexity(model.score(held_out)))

# %%
# For comparison, a full fit, which passes over all documents many times.

whole = perplexity(LDA(n_topics=20, random_state=0).fit(corpus.subset(rest)).score(held_out))
one_topic = perplexity(LDA(n_topics=1, random_state=0).fit(corpus.subset(rest)).score(held_out))
print(f"stream {perplexities[-1]:.0f}, full fit {whole:.0f}, one topic {one_topic:.0f}")
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
axes.plot(n_documents, perplexities, "o-", label="partial_fit, one pass")
axes.axhline(whole, color="tab:orange", linestyle="--", label="fit, all documents at once")
axes.axhline(one_topic, color="0.5", linestyle=":", label="one topic")
axes.set(xlabel="documents seen", ylabel="held-out perplexity", xlim=(0, None))
axes.legend(frameon=False)

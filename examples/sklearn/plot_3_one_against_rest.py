"""
One category against the rest
=============================

A common task is to find the few texts that belong to one category. This example finds games among packages with a
linear SVM, trained on words or on topics, and compares the results by precision and recall.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.metrics import precision_recall_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import LinearSVC

from topicfold import TTMM
from topicfold.datasets import load_demo
from topicfold.metrics import break_even

# %%
# Three in a hundred packages are games. 3,000 packages are used for training, the others for testing.

corpus = load_demo()
texts = np.array(corpus.texts)
is_game = (corpus.label_array() == "games").astype(int)
order = np.random.default_rng(0).permutation(len(texts))
train, test = order[:3000], order[3000:]
print(f"{is_game.mean():.1%} are games")

# %%
# With ``features="log"``, made for linear classifiers, TTMM gives the log-likelihood of a text under each topic.

counter = CountVectorizer(stop_words="english", min_df=5)
topics = TTMM(n_themes=150, n_topics=40, features="log", random_state=0)
pipelines = {
    "all words": make_pipeline(counter, Normalizer(), LinearSVC(random_state=0)),
    "40 words by chi-square": make_pipeline(counter, SelectKBest(chi2, k=40), Normalizer(), LinearSVC(random_state=0)),
    "40 topics": make_pipeline(counter, topics, StandardScaler(), LinearSVC(C=0.1, dual=False, random_state=0)),
}

# %%
# A curve further up and to the right is better. Dots are the break-even points, where precision equals recall. Forty
# topics do nearly as well as the forty best words; all words together do better.

figure, axes = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
for name, pipeline in pipelines.items():
    scores = pipeline.fit(texts[train], is_game[train]).decision_function(texts[test])
    precision, recall, _ = precision_recall_curve(is_game[test], scores)
    point = break_even(is_game[test], scores)
    line = axes.plot(recall, precision, drawstyle="steps-post", label=f"{name}: {point:.2f}")[0]
    axes.plot(point, point, "o", color=line.get_color())
    print(f"{name:24} break-even {point:.3f}")
axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02))
axes.legend(title="break-even", frameon=False, loc="lower left")

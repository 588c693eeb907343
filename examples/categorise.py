"""
Text categorisation with topics as features
===========================================

Text to categories: one section of packages against the rest, by chosen words or by topics, and a linear SVM.
"""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2, mutual_info_classif
from sklearn.metrics import precision_recall_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import LinearSVC

from topicfold import TTMM
from topicfold.datasets import load_demo
from topicfold.metrics.clustering import break_even

corpus = load_demo()
texts = np.array(corpus.texts)
is_game = (corpus.label_array() == "games").astype(int)
order = np.random.default_rng(0).permutation(len(texts))
train, test = order[:3000], order[3000:]


def information_gain(X, y):
    """Mutual information of a word being there and the class, on a part of the documents: it is slow."""
    return mutual_info_classif(X[:800] > 0, y[:800], discrete_features=True)


def words(*choice):
    steps = [CountVectorizer(stop_words="english", min_df=5), *choice, Normalizer(), LinearSVC(random_state=0)]
    return make_pipeline(*steps)


topics = TTMM(n_themes=150, n_topics=40, features="log", random_state=0, n_jobs=-1)
machine = LinearSVC(C=0.1, dual=False, random_state=0)
pipelines = {
    "all words": words(),
    "200 words by chi-square": words(SelectKBest(chi2, k=200)),
    "200 words by information gain": words(SelectKBest(information_gain, k=200)),
    "40 topics": make_pipeline(CountVectorizer(stop_words="english", min_df=5), topics, StandardScaler(), machine),
}
print("games against the rest: break-even, and precision at a recall of 0.5 and 0.8")
for name, pipeline in pipelines.items():
    scores = pipeline.fit(texts[train], is_game[train]).decision_function(texts[test])
    precision, recall, _ = precision_recall_curve(is_game[test], scores)
    at = [precision[recall >= level].max() for level in (0.5, 0.8)]
    print(f"{name:30} {break_even(is_game[test], scores):.3f}   {at[0]:.3f}  {at[1]:.3f}")

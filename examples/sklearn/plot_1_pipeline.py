"""
In a scikit-learn pipeline
==========================

Topic models are scikit-learn transformers. Put one before a classifier, and let ``GridSearchCV`` choose the number of
topics by the accuracy of the classifier.
"""

import matplotlib.pyplot as plt
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from topicfold import LDA
from topicfold.datasets import load_demo

# %%
# The task is to predict the section of a package, one of twelve. Cross-validation splits matrices, so pass the counts.

corpus = load_demo()
names = ("fonts", "games", "mail", "gnu-r", "python", "ruby", "sound", "lisp", "net", "x11", "java", "graphics")
corpus = corpus.subset([labels[0] in names for labels in corpus.labels])
sections = corpus.label_array()
topics = make_pipeline(LDA(random_state=0), LinearSVC(random_state=0))
search = GridSearchCV(topics, {"lda__n_topics": [5, 10, 20, 40, 80]}, cv=3).fit(corpus.counts, sections)
print(search.best_params_, f"accuracy {search.best_score_:.3f}")

# %%
# Two baselines. A few dozen topics contain much of the information in thousands of words, but not all of it: for
# classification alone, words are hard to beat when there are many labels.

words = make_pipeline(TfidfTransformer(), LinearSVC(random_state=0))
by_words = cross_val_score(words, corpus.counts, sections, cv=3).mean()
majority = cross_val_score(DummyClassifier(), corpus.counts, sections, cv=3).mean()
print(f"words {by_words:.3f}, majority {majority:.3f}")

# %%
# Accuracy by number of topics. The bars show the standard deviation over folds.

figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
results = search.cv_results_
sizes = [parameters["lda__n_topics"] for parameters in results["params"]]
axes.errorbar(sizes, results["mean_test_score"], results["std_test_score"], fmt="o-", capsize=3, label="LDA topics")
axes.axhline(by_words, color="tab:orange", linestyle="--", label=f"{corpus.counts.shape[1]:,} words, TF-IDF")
axes.axhline(majority, color="0.5", linestyle=":", label="majority")
axes.set(xscale="log", xlabel="number of topics", ylabel="accuracy in cross-validation", ylim=(0, 1))
axes.set_xticks(sizes, sizes)
axes.minorticks_off()
axes.legend(frameon=False, loc="center right")

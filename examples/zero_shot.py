"""Sections of packages from their descriptions alone: by words, against tf-idf similarity to the description."""

import numpy as np

from topicfold import ZeroShotClassifier
from topicfold.corpus.weighting import inverse_document_frequency, tfidf
from topicfold.datasets import load_demo

corpus = load_demo()
sections = corpus.label_array()
labels = {
    "games": "games to play: puzzle, arcade, board games",
    "mail": "mail, mailboxes, spam",
    "fonts": "fonts and typefaces",
    "sound": "audio and music players, recorders, synthesizers",
    "hamradio": "amateur radio",
    "database": "database servers and SQL clients",
    "vcs": "version control systems",
    "tex": "typesetting with TeX and LaTeX",
}
known = corpus.subset(np.flatnonzero(np.isin(sections, list(labels))))
truth = known.label_array()

idf = inverse_document_frequency(known.counts)
similarity = tfidf(known.counts, idf) @ tfidf(known.vectorize(list(labels.values())), idf).T
print(f"tf-idf similarity   {np.mean(np.array(list(labels))[similarity.toarray().argmax(axis=1)] == truth):.3f}")
clf = ZeroShotClassifier(labels).fit(known)
print(f"ZeroShotClassifier  {np.mean(clf.transduction_ == truth):.3f}")

clf = ZeroShotClassifier(labels, n_free_topics=20, random_state=0).fit(corpus)
none = clf.transduction_ == ""
inside = np.isin(sections, list(labels))
print(f"none of these: {none[~inside].mean():.0%} of the other sections, {none[inside].mean():.0%} of these")
print(clf.topic_tree(corpus).to_text(6))

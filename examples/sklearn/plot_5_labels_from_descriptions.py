"""
Labels from descriptions alone
==============================

:class:`~topicfold.ZeroShotClassifier` labels documents when all you have is a description of each label. Here six
sections of Debian are described in a few words, and the classifier sees no labelled document.
"""

# %%
# The packages of the six sections, and descriptions as a person might write them.
import matplotlib.pyplot as plt
import numpy as np

from topicfold import ZeroShotClassifier
from topicfold.corpus.weighting import inverse_document_frequency, tfidf
from topicfold.datasets import load_demo

corpus = load_demo()
labels = {
    "games": "games to play: puzzle, arcade, board games",
    "mail": "mail, mailboxes, spam",
    "fonts": "fonts and typefaces",
    "sound": "audio and music players, recorders, synthesizers",
    "database": "database servers and SQL clients",
    "vcs": "version control systems",
}
sections = corpus.label_array()
known = corpus.subset(np.flatnonzero(np.isin(sections, list(labels))))
truth = known.label_array()

# %%
# The baseline is the tf-idf similarity between each package and the descriptions. The classifier starts from it, and
# then learns more words for each label from the packages themselves.
idf = inverse_document_frequency(known.counts)
similarity = tfidf(known.counts, idf) @ tfidf(known.vectorize(list(labels.values())), idf).T
by_similarity = np.array(list(labels))[similarity.toarray().argmax(axis=1)]
classifier = ZeroShotClassifier(labels).fit(known)
predictions = {"tf-idf similarity": by_similarity, "ZeroShotClassifier": classifier.transduction_}
print({name: round(float(np.mean(predicted == truth)), 2) for name, predicted in predictions.items()})

# %%
# Section by section:
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for shift, (name, predicted) in zip((-0.2, 0.2), predictions.items()):
    right = [np.mean(predicted[truth == label] == label) for label in labels]
    axes.barh(np.arange(len(labels)) + shift, right, height=0.38, label=name)
axes.set(yticks=range(len(labels)), yticklabels=list(labels), xlim=(0, 1), xlabel="share labelled right")
axes.invert_yaxis()
axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2, frameon=False)
plt.show()

# %%
# With free topics, a document that no label describes becomes "none of these". Its label is then an empty string.
classifier = ZeroShotClassifier(labels, n_free_topics=20, random_state=0).fit(corpus)
none, inside = classifier.transduction_ == "", np.isin(sections, list(labels))
print(f"none of these: {none[~inside].mean():.0%} of the other sections, {none[inside].mean():.0%} of these six")

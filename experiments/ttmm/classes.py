"""TTMM as a Bayes classifier: themes are the classes, and documents without a label help to find their topics.

The report (Keller and Bengio 2003, section 4.2) proposes it without numbers. It is compared with multinomial naive
Bayes, which is TTMM with one topic per class, and with a linear support vector machine on tf-idf words; both see only
labelled documents.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold.corpus.weighting import inverse_document_frequency, tfidf

from .. import Experiment, Measure, Method
from ..dot_plots import Dots
from ..flat import FOLDER, Data, prepare

__all__ = ["EXPERIMENTS"]

_UNLABELLED = "with the unlabelled documents"


def measure(
    data: Data, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Test accuracy from a few labels per class, drawn by the seed."""
    rng = np.random.default_rng(seed)
    groups = np.unique(data.train_labels)
    picked = [rng.permutation(np.flatnonzero(data.train_labels == group))[: setting["labels"]] for group in groups]
    labelled = np.concatenate(picked)
    started = time.process_time()
    predicted = _predict(method, data, labelled, seed, protocol)
    cpu = time.process_time() - started
    return {"accuracy": float(np.mean(predicted == data.test_labels)), "cpu": cpu}


def _predict(
    method: Method, data: Data, labelled: np.ndarray, seed: int, protocol: Mapping[str, Any]
) -> np.ndarray | str:
    counts, labels = data.train.counts, data.train_labels[labelled]
    if method.name == "majority":
        groups, sizes = np.unique(data.train_labels, return_counts=True)
        return groups[sizes.argmax()]
    if method.name.startswith("TTMM"):
        from topicfold.models.ttmm.ttmm import TTMM

        model = TTMM("labels", protocol["topics"], random_state=seed, verbose=False)
        if _UNLABELLED in method.name:
            known = np.full(counts.shape[0], None, dtype=object)
            known[labelled] = labels
            return model.fit(counts, known).predict(data.test)
        most = min(protocol["topics"], len(labelled))
        return model.set_params(n_topics=most).fit(counts[labelled], labels).predict(data.test)
    if method.name == "naive Bayes":
        from sklearn.naive_bayes import MultinomialNB

        return MultinomialNB(alpha=0.1).fit(counts[labelled], labels).predict(data.test)
    idf = inverse_document_frequency(counts)
    return _svm(tfidf(counts[labelled], idf), labels, tfidf(data.test, idf), protocol)


def _svm(train: sp.csr_array, labels: np.ndarray, test: sp.csr_array, protocol: Mapping[str, Any]) -> np.ndarray:
    """A linear SVM; C is chosen on the labelled documents if each class has enough of them, otherwise it is 1."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import LinearSVC

    machine: Any = LinearSVC(random_state=0)
    if np.unique(labels, return_counts=True)[1].min() >= protocol["svm folds"]:
        folds = StratifiedKFold(protocol["svm folds"], shuffle=True, random_state=0)
        machine = GridSearchCV(machine, {"C": protocol["svm C"]}, cv=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(train, labels).predict(test)


ABOUT = """\
Can TTMM, with its themes used as classes, classify documents when only a few have a label? The posts of 20 Newsgroups \
are classified into their 20 groups, with 1, 5, 10 or 50 labelled posts per group ("labels" in the headings). The \
table shows the accuracy on the test part (higher is better) and the CPU time; "majority" always predicts the most \
common group."""
NOTES = """\
Labels are drawn from the by-date training part, with the same draw for every method; accuracy is on the whole test \
part. 100 topics, smoothing 0.1 and alpha 0.1 were fixed before any result was seen; the start of TTMM's topics, \
which is that of LDA, is a default that had been chosen on samples of ten corpora, this one among them.
The SVM uses the idf of all training documents, which needs no labels.
TTMM with the labelled documents alone has at most as many topics as there are labelled documents.
"""


EXPERIMENTS = (
    Experiment(
        name="ttmm-classes",
        title="TTMM with themes as classes, from few labels, on 20 Newsgroups",
        source="Keller and Bengio 2003, section 4.2, which gives no numbers",
        about=ABOUT,
        data=(FOLDER,),
        methods=(
            Method(f"TTMM {_UNLABELLED}"),
            Method("TTMM, labelled documents alone"),
            Method("naive Bayes"),
            Method("SVM on tf-idf words"),
            Method("majority"),
        ),
        settings=tuple({"labels": labels} for labels in (1, 5, 10, 50)),
        measures={"accuracy": Measure("test accuracy"), "cpu": Measure("CPU s", 1)},
        protocol={
            "seeds": 5,
            "text": "headers, signatures and quotes taken off; lower case; English stop words; the by-date split",
            "documents": None,
            "min_df": 10,
            "max_df": 0.3,
            "least tokens": 5,
            "topics": 100,
            "svm C": [0.1, 1, 10, 100],
            "svm folds": 3,
        },
        quick={"seeds": 2, "documents": 1500, "min_df": 5, "topics": 20},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"accuracy": "test accuracy"}),
    ),
)

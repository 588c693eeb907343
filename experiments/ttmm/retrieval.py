"""Retrieval: titles of stories as queries, ranked by cosine in words, LSI, PLSA and TTMM space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import WITHOUT_PRIORS, Experiment, Measure, Method
from ..corpora import count_words
from ..dot_plots import Dots
from .features import TEXT, Data, fitted
from .reuters import CORPUS, FOLDER, SOURCE, read_stories

__all__ = ["EXPERIMENTS"]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> Data:
    """Training stories as documents; titles of test stories as queries, if they have a known word and label."""
    train = read_stories(folder, "train", protocol["documents"], min_df=protocol["min_df"])
    train = train.subset(np.flatnonzero(train.counts.sum(axis=1) > 0))
    test = read_stories(folder, "test")
    counts = count_words(train, test.titles or ())
    labels, names = train.label_matrix()
    column = {name: number for number, name in enumerate(names)}
    relevant = np.zeros((len(test), len(names)), bool)
    for row, story_labels in enumerate(test.labels or ()):
        relevant[row, [column[label] for label in story_labels if label in column]] = True
    good = np.flatnonzero((counts.sum(axis=1) > 0) & relevant.any(axis=1))
    return Data(train.counts, labels.toarray() > 0, counts[good], relevant[good])


def measure(
    data: Data, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Mean average precision over the queries of this seed; documents that share a label with a query are relevant."""
    from sklearn.metrics import average_precision_score

    assert data.test is not None
    chosen = np.sort(np.random.default_rng(seed).permutation(data.test.shape[0])[: protocol["queries"]])
    relevant = data.test_labels[chosen].astype(int) @ data.train_labels.T.astype(int) > 0
    if method.name == "any order":
        return {"map": float(relevant.mean()), "p10": float(relevant.mean())}
    similarity = _similarity(data, method, seed, protocol, data.test[chosen])
    each = [average_precision_score(truth, scores) for truth, scores in zip(relevant, similarity)]
    best = np.argsort(-similarity, axis=1, kind="stable")[:, :10]
    return {"map": float(np.mean(each)), "p10": float(np.take_along_axis(relevant, best, axis=1).mean())}


def _similarity(
    data: Data, method: Method, seed: int, protocol: Mapping[str, Any], queries: sp.csr_array
) -> np.ndarray:
    """Cosine similarities, queries x documents."""
    from sklearn.metrics.pairwise import cosine_similarity

    from topicfold.corpus.weighting import inverse_document_frequency, tfidf

    if method.estimator is None:
        idf = inverse_document_frequency(data.train)
        return cosine_similarity(tfidf(queries, idf), tfidf(data.train, idf))
    model = fitted(data, method, seed, protocol)
    rows = [np.asarray(model.transform(counts), dtype=np.float64) for counts in (queries, data.train)]
    return cosine_similarity(*rows)


# ---- the declaration ------------------------------------------------------------------------------------------------

ABOUT = """\
Are topics useful for search? The titles of Reuters test stories are the queries, and the training stories are ranked \
by cosine similarity in the space of words, LSI, PLSA and TTMM. Mean average precision judges the whole ranking, \
precision at 10 the first ten stories; higher is better for both, and "any order" is what a random ranking reaches."""
NOTES = """\
Topic spaces rank the whole list better than words, TTMM best; the first ten documents are best with LSI.
Documents are the bodies of training stories. Queries are only the titles of test stories that have a body, a known \
word, and a label that some document has. Each run draws its own 100 queries, the same for all rows, and a seed of the \
model.
A document is relevant if it shares a label with the story of the query, so a query of EARN has thousands of relevant \
documents.
Average precision as in scikit-learn; equal similarities count as one step. "any order" is the share of relevant \
documents, which a random ranking reaches on average.
All models have 50 topics; TTMM has 300 themes and its default start. A title has few words, so its P(t|d) is a rough \
estimate.
"""

EXPERIMENTS = (
    Experiment(
        name="ttmm-retrieval",
        title="Retrieval by title in words, LSI, PLSA and TTMM space",
        source=f"{SOURCE}, section 2 (an application it mentions; the measurement is ours)",
        about=ABOUT,
        data=(FOLDER,),
        methods=(
            Method("any order"),
            Method("words tf-idf"),
            Method("LSI", "LSI"),
            Method("PLSA", "PLSA", WITHOUT_PRIORS),
            Method("TTMM themes", "TTMM", {"features": "themes"}),
            Method("TTMM tokens", "TTMM", {"features": "tokens"}),
        ),
        settings=(CORPUS,),
        measures={"map": Measure("mean average precision"), "p10": Measure("precision at 10")},
        protocol={
            "seeds": 3,
            "text": TEXT,
            "documents": None,
            "min_df": 2,
            "topics": 50,
            "themes": 300,
            "queries": 100,
        },
        quick={"seeds": 2, "documents": 1500, "themes": 60, "topics": 20, "queries": 50},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"map": "mean average precision", "p10": "precision at 10"}),
    ),
)

"""Retrieval: titles of stories as queries, ranked by cosine in words, LSI, PLSA and TTMM space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import Experiment, Measure, Method
from ..dot_plots import Dots
from .features import TEXT, Data, fitted
from .reuters import CORPUS, FOLDER, SOURCE, read_stories

__all__ = ["EXPERIMENTS"]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> Data:
    """Training stories as documents; titles of test stories as queries, where a word and a label are known."""
    train = read_stories(folder, "train", protocol["documents"], min_df=protocol["min_df"])
    train = train.subset(np.flatnonzero(train.counts.sum(axis=1) > 0))
    test = read_stories(folder, "test")
    counts = train.vectorize(test.titles or ())
    labels, names = train.label_matrix()
    column = {name: number for number, name in enumerate(names)}
    wanted = np.zeros((len(test), len(names)), bool)
    for row, story_labels in enumerate(test.labels or ()):
        wanted[row, [column[label] for label in story_labels if label in column]] = True
    good = np.flatnonzero((counts.sum(axis=1) > 0) & wanted.any(axis=1))
    return Data(train.counts, labels.toarray() > 0, counts[good], wanted[good])


def measure(
    data: Data, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Mean average precision over the queries of this seed; a document that shares a label with one is relevant."""
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
    """Cosines of queries x documents."""
    from sklearn.metrics.pairwise import cosine_similarity

    from topicfold.corpus.weighting import inverse_document_frequency, tfidf

    if method.estimator is None:
        idf = inverse_document_frequency(data.train)
        return cosine_similarity(tfidf(queries, idf), tfidf(data.train, idf))
    model = fitted(data, method, seed, protocol)
    rows = [np.asarray(model.transform(counts), dtype=np.float64) for counts in (queries, data.train)]
    return cosine_similarity(*rows)


# ---- the declaration ------------------------------------------------------------------------------------------------

NOTES = """\
Topic spaces rank the whole list better than words, TTMM best; the first ten documents are best with LSI.
Documents are the bodies of training stories; queries are the titles alone of test stories that have a body, a label \
that some document has, and a known word. A run draws 100 queries of its own, the same for all rows, and a model seed.
A document is relevant if it shares a label with the story of the query, so a query of EARN has thousands of them.
Average precision as in scikit-learn; equal similarities count as one step. "any order" is the share of relevant \
documents, which a random ranking has on average.
All models have 50 topics, and TTMM 300 themes, by its default start. A title has few words: its P(t|d) is rough.
"""

EXPERIMENTS = (
    Experiment(
        name="ttmm-retrieval",
        title="Retrieval by title in words, LSI, PLSA and TTMM space",
        source=f"{SOURCE}, section 2 (a use it names; the measurement is ours)",
        data=(FOLDER,),
        methods=(
            Method("any order"),
            Method("words tf-idf"),
            Method("LSI", "LSI"),
            Method("PLSA", "PLSA"),
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

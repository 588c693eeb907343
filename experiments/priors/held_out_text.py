"""Do topics describe unseen documents well? Every model at its defaults, on long and on very short texts.

This is our own comparison; there are no published numbers. Four fifths of the documents, drawn at random, are for
training; the vocabulary comes from them; perplexity is measured by document completion on the rest.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold.metrics.completion import completion_log_likelihood, perplexity, split_tokens

from .. import Experiment, Measure, Method, make_estimator
from ..corpora import load_benchmark
from ..dot_plots import Dots

__all__ = ["EXPERIMENTS", "Part", "cut", "nmi", "read"]

CORPORA = {
    "short_searchsnippets": {"min_df": 5},
    "short_stackoverflow": {"min_df": 5},
    "short_googlenews": {"min_df": 5},
    "20newsgroups_bow": {"min_df": 5, "max_df": 0.1},
    "reuters21578_cai": {"min_df": 5},
    "nips12": {"min_df": 5, "max_df": 0.5},
}
WITH_CLASSES = ("short_searchsnippets", "short_stackoverflow", "short_googlenews", "20newsgroups_bow")
UNIGRAM = "unigram"
SEARCHED, LONG = ("LTM", "LapPLSI"), "20newsgroups_bow"  # to save time, fitted with at most 20 topics


@dataclass(frozen=True)
class Texts:
    """Counts of all documents, and the class of each where there is one."""

    counts: sp.csr_array
    labels: np.ndarray | None


@dataclass(frozen=True)
class Part:
    """Training and test documents of one draw."""

    train: sp.csr_array
    test: sp.csr_array
    train_labels: np.ndarray | None
    test_labels: np.ndarray | None


def read(name: str, folder: Path, documents: int | None) -> Texts:
    """The counts and classes of a corpus, or of its first documents."""
    texts = name.startswith("short")
    corpus = load_benchmark(name, folder, **({"stop_words": "english"} if texts else {}))
    if documents is not None:
        corpus = corpus.subset(slice(documents))
    labels = corpus.label_array() if name in WITH_CLASSES else None
    return Texts(corpus.counts, labels)


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Texts]:
    """All corpora."""
    return {name: read(name, folder, protocol["documents"]) for name in CORPORA}


def cut(texts: Texts, name: str, seed: int, share: float) -> Part:
    """A random training part and the rest, over the words that are neither rare nor too common in training."""
    order = np.random.RandomState(seed).permutation(texts.counts.shape[0])
    n_train = round(share * len(order))
    train, test = np.sort(order[:n_train]), np.sort(order[n_train:])
    frequency = np.bincount(texts.counts[train].indices, minlength=texts.counts.shape[1])
    most = CORPORA[name].get("max_df", 1.0) * n_train
    words = np.flatnonzero((frequency >= CORPORA[name]["min_df"]) & (frequency <= most))
    counts = texts.counts[:, words]
    labels = texts.labels
    return Part(
        counts[train], counts[test], None if labels is None else labels[train], None if labels is None else labels[test]
    )


def nmi(labels: np.ndarray, doc_topic: np.ndarray) -> float:
    """Normalised mutual information of the classes and the largest topic of each document."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(labels, doc_topic.argmax(axis=1)))


def measure(
    data: Mapping[str, Texts], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Perplexity of the test documents, clusters of the training documents, CPU time of the fit."""
    if method.estimator in SEARCHED and setting["corpus"] == LONG and setting["n_topics"] > 20:
        return {}
    part = cut(data[setting["corpus"]], setting["corpus"], seed, protocol["training share"])
    if method.name == UNIGRAM:
        frequency = np.asarray(part.train.sum(axis=0), dtype=np.float64)
        ones, words = np.ones((part.test.shape[0], 1)), (frequency / frequency.sum())[None]
        value = completion_log_likelihood(split_tokens(part.test)[1], ones, words, frequency)
        return {"perplexity": perplexity(value)}
    _warm_up(method)
    model = make_estimator(method, setting["n_topics"], seed)
    started = time.process_time()
    model.fit(part.train)
    measures = {"cpu": time.process_time() - started, "perplexity": perplexity(model.score(part.test))}
    if part.train_labels is not None and part.test_labels is not None:
        measures["nmi"] = nmi(part.train_labels, model.doc_topic_)
        measures["test nmi"] = nmi(part.test_labels, np.asarray(model.transform(part.test)))
    share = np.bincount(model.doc_topic_.argmax(axis=1)).max() / len(model.doc_topic_)
    return {**measures, "largest": float(share)}


_warm: set[str] = set()


def _warm_up(method: Method) -> None:
    """Run a tiny fit first, so that compiling the kernels is not part of the CPU time."""
    if method.name not in _warm:
        make_estimator(method, 2, 0).fit(np.random.default_rng(0).integers(1, 4, (60, 20)))
        _warm.add(method.name)


ABOUT = """\
How well do the models of the package, at their defaults, describe documents they have not seen? Short texts: \
short_searchsnippets (search result snippets), short_stackoverflow (titles of questions) and short_googlenews (titles \
of news stories); longer texts: 20newsgroups_bow (posts of 20 Newsgroups), reuters21578_cai (Reuters news stories) and \
nips12 (NIPS papers). Test perplexity measures how well half of an unseen document is predicted from the other half; \
lower is better. NMI compares the largest topic of each document with its class, for training and for test documents; \
higher is better."""
NOTES = """Every model is at the defaults of the package, LTM and LapPLSI with graph_weight='auto' on a graph of \
words. PLSA by maximum likelihood was the default of version 0.1.0. "No main topic" is plain LDA, focus=0.
LTM and LapPLSI, which search for their weight, are fitted to 20 Newsgroups only with 20 topics, to save time.
The unigram predicts every document from the word frequencies of the training part.
Not blind: the defaults of LDA (alpha 1, beta 0.03, focus 3), PLSA (alpha 2, beta 0.05) and the graph models \
(alpha 1, beta 0.03, focus 3), the way a weight is chosen, and the choice of the start were decided on these \
corpora, on test documents of other draws (seeds 100 to 105) with the classes visible. They have to be judged on \
corpora that were not used for these choices.
NMI: the largest topic of each document against its class.
Largest topic: the share of the training documents whose largest topic is the most common one."""

EXPERIMENTS = (
    Experiment(
        name="priors",
        title="Topics on unseen text: priors on long and short documents",
        source="none; our own comparison",
        about=ABOUT,
        data=tuple(CORPORA),
        methods=(
            Method(UNIGRAM),
            Method("LDA", "LDA"),
            Method("LDA, automatic priors", "LDA", {"alpha": "auto", "beta": "auto"}),
            Method("LDA, no main topic", "LDA", {"focus": 0.0}),
            Method("LDA by Gibbs sampling (tomotopy, 1,000 sweeps)", "GibbsLDA", {"max_iter": 1000}),
            Method("PLSA", "PLSA"),
            Method("PLSA, maximum likelihood", "PLSA", {"alpha": 0.0, "beta": 0.0}),
            Method("TTMM", "TTMM"),
            Method("LTM", "LTM"),
            Method("LapPLSI", "LapPLSI"),
            Method("DTM", "DTM"),
        ),
        settings=(
            {"corpus": "short_searchsnippets", "n_topics": 8},
            {"corpus": "short_searchsnippets", "n_topics": 40},
            {"corpus": "short_stackoverflow", "n_topics": 20},
            {"corpus": "short_googlenews", "n_topics": 150},
            {"corpus": "20newsgroups_bow", "n_topics": 20},
            {"corpus": "20newsgroups_bow", "n_topics": 50},
            {"corpus": "20newsgroups_bow", "n_topics": 100},
            {"corpus": "reuters21578_cai", "n_topics": 30},
            {"corpus": "nips12", "n_topics": 50},
        ),
        measures={
            "perplexity": Measure("test perplexity", 0),
            "nmi": Measure("NMI"),
            "test nmi": Measure("NMI, test"),
            "largest": Measure("largest topic", 2),
            "cpu": Measure("fit, CPU s", 1),
        },
        protocol={"seeds": 5, "documents": None, "training share": 0.8},
        quick={"seeds": 1, "documents": 600},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"perplexity": "test perplexity", "nmi": "NMI"}, log=("perplexity",)),
    ),
)

"""Shared by the experiments on LDCC: texts in segments, the paper's filters, splits, and fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from topicfold.corpus.corpus import Corpus, Segments

from .. import Method, make_estimator
from ..corpora import load_benchmark
from ..few_labels import remembered

__all__ = ["Part", "Texts", "by_document", "cut", "fitted", "paper_filters", "read", "segments_of"]

NIPS, WIKIPEDIA = "nips12_raw", "wikipedia_schools2007"
SOURCE = "Shafiei and Milios 2006, Latent Dirichlet co-clustering"
TOKENS = r"\b(?:[a-z]{3,}|em|ml)\b"
OPTIONS: dict[str, dict[str, Any]] = {NIPS: {}, WIKIPEDIA: {"subset": "ldcc"}}
FILTERS = {"least documents a word": 5, "least words a paragraph": 5, "least segments a document": 3}
MERGED, FIRST = 150, 18  # tokens to which blocks of NIPS are merged; paragraphs of a Wikipedia article
SWEEPS = {"sweeps": 300, "burn-in": 200, "lag": 10}


@dataclass(frozen=True)
class Texts:
    """A corpus with segments; parts made from it are kept in `cache`."""

    corpus: Corpus
    cache: dict[Any, Any] = field(default_factory=dict)


class Part(NamedTuple):
    """Training and test documents, over words chosen on the training part."""

    train: Corpus
    test: Corpus


# ---- the data -------------------------------------------------------------------------------------------------------


def read(name: str, folder: Path, protocol: Mapping[str, Any]) -> Corpus:
    """NIPS papers with merged blocks, or the first paragraphs of Wikipedia articles, filtered as in the paper."""
    options = {"token_pattern": TOKENS, "stop_words": "english", **OPTIONS[name]}
    corpus = load_benchmark(name, folder, segments="paragraphs", **options)
    if name == WIKIPEDIA:
        return paper_filters(corpus, protocol, first=protocol["first paragraphs"])
    return paper_filters(corpus, protocol, merged=protocol["tokens a segment"])


def segments_of(corpus: Corpus) -> Segments:
    """The segments of a corpus that has them."""
    assert corpus.segments is not None
    return corpus.segments


def paper_filters(
    corpus: Corpus, protocol: Mapping[str, Any], *, first: int | None = None, merged: int | None = None
) -> Corpus:
    """Leave out words in few documents, paragraphs of few words and documents of few paragraphs.

    With `first`, only that many paragraphs of a document are kept; with `merged`, neighbouring paragraphs are merged to
    about that many tokens.
    """
    least = protocol["least words a paragraph"]
    parts = segments_of(corpus)
    rows = _long_enough(parts.counts, least)
    if first is not None:
        documents = parts.documents[rows]
        begins = np.searchsorted(documents, documents)
        rows = rows[np.arange(len(rows)) - begins < first]
    corpus = _of_segments(corpus, parts.counts[rows], parts.documents[rows])
    corpus = _with_words(corpus, _frequent(corpus.counts, protocol["least documents a word"]))
    parts = segments_of(corpus)
    rows = _long_enough(parts.counts, least)
    counts, documents = parts.counts[rows], parts.documents[rows]
    if merged is not None:
        group = _merged(counts.sum(axis=1), documents, merged)
        counts, documents = _summed(counts, group), documents[np.unique(group, return_index=True)[1]]
    corpus = _of_segments(corpus, counts, documents)
    n_segments = np.bincount(documents, minlength=len(corpus))
    return corpus.subset(n_segments >= protocol["least segments a document"])


def _long_enough(counts: sp.csr_array, least: int) -> np.ndarray:
    return np.flatnonzero(counts.sum(axis=1) >= least)


def _frequent(counts: sp.csr_array, least: int) -> np.ndarray:
    """Columns of the words in at least `least` documents."""
    return np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= least)


def _of_segments(corpus: Corpus, counts: sp.csr_array, documents: np.ndarray) -> Corpus:
    """The corpus that consists of these segments."""
    summed = _summed(counts, documents, len(corpus))
    return replace(corpus, counts=summed, segments=Segments(counts, documents))


def _summed(counts: sp.csr_array, group: np.ndarray, n_groups: int | None = None) -> sp.csr_array:
    """The sum of the rows of each group."""
    shape = (n_groups or int(group.max()) + 1, len(group))
    member = sp.csr_array((np.ones(len(group), counts.dtype), (group, np.arange(len(group)))), shape)
    sums = sp.csr_array(member @ counts)
    sums.sort_indices()
    # the product has wide indices, which scikit-learn's k-means refuses
    return sp.csr_array((sums.data, sums.indices.astype(np.int32), sums.indptr.astype(np.int32)), sums.shape)


def _merged(sizes: np.ndarray, documents: np.ndarray, goal: int) -> np.ndarray:
    """Groups of neighbours in a document, each near `wanted` tokens; a last group below half joins the one before."""
    group = np.zeros(len(sizes), np.int64)
    now, tokens = -1, 0
    for row, (size, document) in enumerate(zip(sizes, documents)):
        if row == 0 or document != documents[row - 1] or tokens + size / 2 > goal:
            now, tokens = now + 1, 0
        tokens += size
        group[row] = now
    total = np.bincount(group, weights=sizes)
    owner = documents[np.unique(group, return_index=True)[1]]
    last = np.append(owner[1:] != owner[:-1], True)
    joins = np.append(False, owner[1:] == owner[:-1]) & last & (total < goal / 2)
    return (np.cumsum(~joins) - 1)[group]


def _with_words(corpus: Corpus, columns: np.ndarray) -> Corpus:
    """The corpus with only some of its words."""
    parts = segments_of(corpus)
    words = corpus.vocabulary or ()
    return replace(
        corpus,
        counts=corpus.counts[:, columns],
        vocabulary=tuple(words[column] for column in columns),
        segments=Segments(parts.counts[:, columns], parts.documents),
    )


def by_document(segments: sp.csr_array, corpus: Corpus) -> sp.csr_array:
    """Sums over the segments of each document."""
    return _summed(segments, segments_of(corpus).documents, len(corpus))


def cut(texts: Texts, seed: int, share: float, smallest: float, protocol: Mapping[str, Any]) -> Part:
    """A draw of documents: a fifth for test, and a share of the draw for training; larger shares contain smaller ones.

    Words are those in enough documents of the `smallest` share: for every share the same tokens are scored, and no
    model meets a word that it has not seen.
    """

    def make() -> Part:
        corpus = texts.corpus
        rows = np.random.default_rng(seed).permutation(len(corpus))[: protocol["documents"]]
        test, train = np.split(rows, [round(protocol["test share"] * len(rows))])
        columns = _frequent(corpus.counts[train[: round(smallest * len(rows))]], protocol["least documents a word"])
        train = train[: round(share * len(rows))]
        chosen = _with_words(corpus, columns)
        return Part(chosen.subset(np.sort(train)), chosen.subset(np.sort(test)))

    return remembered(texts.cache, (seed, share, smallest), make)


# ---- fits -----------------------------------------------------------------------------------------------------------


def fitted(method: Method, documents: Any, n_topics: int, seed: int, protocol: Mapping[str, Any]) -> Any:
    """The estimator of the method, fitted on one thread; LDCC and LDA have the same number of sweeps."""
    if method.estimator == "LDCC":
        from topicfold.models.ldcc.ldcc import LDCC

        sizes = {"n_document_topics": protocol["document topics"], "n_word_topics": n_topics, **method.parameters}
        sweeps = {"n_sweeps": protocol["sweeps"], "burn_in": protocol["burn-in"], "lag": protocol["lag"]}
        return LDCC(**sizes, **sweeps, random_state=seed, n_jobs=1, verbose=False).fit(documents)
    model = make_estimator(method, n_topics, seed)
    if method.estimator == "GibbsLDA":
        model.set_params(max_iter=protocol["sweeps"], n_jobs=1)
    return model.fit(documents)

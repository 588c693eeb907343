"""Shared by the experiments on HLTA: corpora, folds, the choice of words, and fits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from topicfold.corpus.corpus import Corpus
from topicfold.corpus.counting import choose_words
from topicfold.engine.blocks import single_threaded_libraries

from .. import Method, make_estimator
from ..corpora import load_benchmark
from ..few_labels import remembered
from ..grids import paired_lines
from ..results_page import setting_text

__all__ = [
    "Part",
    "Texts",
    "as_seen",
    "chosen_columns",
    "corpus_counts",
    "cut",
    "differences",
    "fitted",
    "prepare",
    "presence",
    "whole",
    "word_frequency",
]

JACM, NIPS, NEWSGROUPS = "jacm", "nips12", "20newsgroups_raw"
SOURCE = "Liu, Zhang and Chen 2014, Hierarchical latent tree analysis for topic detection"
OPTIONS: dict[str, dict[str, Any]] = {NEWSGROUPS: {"headers": "strip", "stop_words": "english"}}
CORPORA = ({"corpus": JACM}, {"corpus": NIPS}, {"corpus": NEWSGROUPS})  # settings
WORDS = {JACM: None, NIPS: 1000, NEWSGROUPS: 1000}
MIN_DF = {JACM: 1, NIPS: 10, NEWSGROUPS: 10}
FITS = {"min_df": MIN_DF, "folds": 5, "groups": 10}
INDEPENDENT, COUNTS, LDA_COUNTS = "independent words", "HLTA-3, counts", "LDA-C-100"
ON_COUNTS = (COUNTS, LDA_COUNTS, "counts")
BI = {"method": "bi"}
HLDA_PARAMETERS = {"gamma": 5.0}


# ---- the data -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Texts:
    """A corpus over all its words; parts made from it are kept in `cache`."""

    counts: sp.csr_array
    words: tuple[str, ...]
    cache: dict[Any, Any] = field(default_factory=dict)


class Part(NamedTuple):
    """Counts of training and test documents, over words chosen on the training part."""

    train: sp.csr_array
    test: sp.csr_array
    words: tuple[str, ...]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Texts]:
    """The corpora by name, or the number of documents of each given in the protocol."""
    corpora = {}
    for name in protocol["words"]:
        corpus = corpus_counts(name, folder)
        n_documents = corpus.counts.shape[0]
        rows = np.sort(np.random.default_rng(0).permutation(n_documents)[: protocol["documents"]])
        corpora[name] = Texts(corpus.counts[rows], tuple(corpus.vocabulary or ()))
    return corpora


def corpus_counts(name: str, folder: Path) -> Corpus:
    """One of the corpora; posts without headers, quotes, signatures and stop words."""
    return load_benchmark(name, folder, **OPTIONS.get(name, {}))


def chosen_columns(
    counts: sp.csr_array, words: Sequence[str], n_words: int | None, min_df: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The words with the highest mean tf-idf, in the order of their columns."""
    _, chosen_words = choose_words(counts.copy(), words, min_df=min_df, max_words=n_words, rank_by="tfidf")
    chosen = set(chosen_words)
    columns = np.array([column for column, word in enumerate(words) if word in chosen])
    return columns, tuple(words[column] for column in columns)


def presence(counts: sp.csr_array) -> sp.csr_array:
    """1 where a document has the word."""
    return sp.csr_array((np.ones_like(counts.data), counts.indices, counts.indptr), counts.shape)


def word_frequency(train: sp.csr_array) -> np.ndarray:
    """Share of the documents that have each word, with half a document added on either side."""
    return (presence(train).sum(axis=0) + 0.5) / (train.shape[0] + 1)


def cut(texts: Texts, name: str, fold: int, n_words: int | None, protocol: Mapping[str, Any]) -> Part:
    """One fold for test, the others for training; fold 0 is the last fifth of the permutation."""

    def make() -> Part:
        order = np.random.default_rng(0).permutation(texts.counts.shape[0])
        folds = np.array_split(order, protocol["folds"])[::-1]
        test = folds.pop(fold)
        train = texts.counts[np.concatenate(folds)]
        columns, words = chosen_columns(train, texts.words, n_words, protocol["min_df"][name])
        return Part(train[:, columns], texts.counts[test][:, columns], words)

    return remembered(texts.cache, (fold, n_words), make)


def whole(texts: Texts, name: str, protocol: Mapping[str, Any]) -> Corpus:
    """All documents, over words chosen on all of them."""

    def make() -> Corpus:
        columns, words = chosen_columns(texts.counts, texts.words, protocol["words"][name], protocol["min_df"][name])
        return Corpus.from_counts(texts.counts[:, columns], words)

    return remembered(texts.cache, "whole", make)


# ---- fits -----------------------------------------------------------------------------------------------------------


def fitted(method: Method, counts: Any, n_topics: int, seed: int, protocol: Mapping[str, Any]) -> Any:
    """The estimator of the method, fitted on one thread, with its number of sweeps in the protocol."""
    from sklearn.exceptions import ConvergenceWarning

    model = make_estimator(method, n_topics, seed)
    if method.estimator == "HLTA":
        model.set_params(n_jobs=1, verbose=False)
    else:
        model.set_params(max_iter=protocol["HLDA sweeps" if method.estimator == "HLDA" else "LDA sweeps"])
    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(counts)


def as_seen(method: Method, counts: sp.csr_array) -> sp.csr_array:
    """Presence of words, or counts for the methods that use counts."""
    return counts if method.name in ON_COUNTS else presence(counts)


# ---- pages ----------------------------------------------------------------------------------------------------------


def differences(results: Mapping[str, Any], pairs: Sequence[tuple[str, str]], titles: Mapping[str, str]) -> list[str]:
    """Paired differences of the methods, one section per setting."""
    lines = []
    for setting in {setting_text(row["setting"]): row["setting"] for row in results["results"]}.values():
        lines += ["", f"## Paired differences, {setting_text(setting)}", ""]
        lines += paired_lines(results, pairs, titles, settings=[setting])
    return lines[1:]

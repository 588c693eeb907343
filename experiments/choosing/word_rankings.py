"""In which order should a topic show its words? One fit, many rankings, judged by coherence and diversity.

This is our own comparison; there are no published numbers. All rankings use the same LDA; NMF has its own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from topicfold.datasets import load_demo
from topicfold.metrics.coherence import coherence
from topicfold.metrics.stability import diversity
from topicfold.models.word_ranking import presence_of_words
from topicfold.topics.ranking import keyness, relevance, top_word_columns

from .. import Experiment, Measure, Method, make_estimator
from ..corpora import load_benchmark
from ..dot_plots import DotsOverCorpora
from ..results_page import in_cell, means_by_corpus
from .reference import REFERENCE, reference_tokens

__all__ = ["EXPERIMENTS"]

SETTLED_ON = {"20newsgroups_raw": 20, "short_searchsnippets": 8, "nips12_raw": 20}
OTHERS = {"reuters21578_raw": 30, "short_stackoverflow": 20, "short_googlenews": 80, "demo": 20, "cora_text": 7}
OPTIONS: dict[str, dict[str, Any]] = {"20newsgroups_raw": {"headers": "strip"}}
NMF, DEFAULT = "NMF, its own words", "keyness (the default)"
DIFFERENCE = "share of the topic's documents minus share of all"


class Texts(NamedTuple):
    """Counts, and the position of each word in the list of the reference."""

    counts: sp.csr_array
    places: np.ndarray


class Data(NamedTuple):
    """All corpora, and the reference as a stream of their words."""

    corpora: dict[str, Texts]
    tokens: tuple[np.ndarray, np.ndarray]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> Data:
    """All corpora, without rare words and words in more than half of the documents."""
    corpora, place = {}, {}
    for name in (*SETTLED_ON, *OTHERS):
        if name == "demo":
            corpus = load_demo()
        elif name == "cora_text":
            corpus = load_benchmark(name, folder)
        else:
            corpus = load_benchmark(name, folder, stop_words="english", **OPTIONS.get(name, {}))
        rows = np.sort(np.random.RandomState(0).permutation(len(corpus))[: protocol["documents"]])
        counts = sp.csr_array(corpus.counts)[rows]
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        least = 3 if name.startswith("short") else 5
        columns = np.flatnonzero((frequency >= least) & (frequency <= 0.5 * len(rows)))
        words = [(corpus.vocabulary or ())[column] for column in columns]
        corpora[name] = Texts(counts[:, columns], np.array([place.setdefault(word, len(place)) for word in words]))
    return Data(corpora, reference_tokens(folder, list(place)))


_last: list[Any] = []  # the fit shared by all rankings of a corpus and a seed


def _fitted(estimator: str, texts: Texts, n_topics: int, seed: int) -> Any:
    key = (estimator, id(texts), n_topics, seed)
    if not _last or _last[0] != key:
        _last[:] = [key, make_estimator(Method(estimator, estimator), n_topics, seed)]
        _last[1].fit(texts.counts)
    return _last[1]


def measure(
    data: Data, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Coherence of the ten best words in the reference and in the corpus, and their diversity."""
    texts = data.corpora[setting["corpus"]]
    estimator = str(method.parameters.get("model", "LDA"))
    model = _fitted(estimator, texts, setting["n_topics"], seed)
    scores = np.asarray(model.topic_word_, np.float64) if method.name == NMF else RANKINGS[_kind(method)](model, texts)
    best = [top_word_columns(row, 10) for row in scores]
    best = [columns[row[columns] > -np.inf] for columns, row in zip(best, scores)]
    outside = [texts.places[columns] for columns in best]
    return {
        "c_v": _mean(coherence(outside, tokens=data.tokens, measure="c_v", skip_unseen=True)),
        "c_npmi": _mean(coherence(outside, tokens=data.tokens, measure="c_npmi")),
        "inside": _mean(coherence(best, counts=texts.counts, measure="c_npmi")),
        "diversity": diversity(map(tuple, best)),
    }


def _mean(values: np.ndarray) -> float:
    return float(np.nanmean(values))


def _kind(method: Method) -> str:
    return method.name.removesuffix(", TTMM")


# ---- rankings -------------------------------------------------------------------------------------------------------


def _weighted(model: Any, texts: Texts) -> np.ndarray:
    """Counts of words, weighted by P(z|d), as shares within each topic."""
    sums = (texts.counts.T @ np.asarray(model.doc_topic_, np.float64)).T
    return sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-300)


def _document_frequency(texts: Texts) -> np.ndarray:
    return np.bincount(texts.counts.indices, minlength=texts.counts.shape[1])


def _tf_idf(model: Any, texts: Texts) -> np.ndarray:
    return model.topic_word_ * np.log(texts.counts.shape[0] / np.maximum(_document_frequency(texts), 1))


def _class_tf_idf(model: Any, texts: Texts) -> np.ndarray:
    """c-TF-IDF of BERTopic; the class of a document is its largest topic."""
    topics = np.eye(len(model.topic_word_))[model.doc_topic_.argmax(axis=1)]
    counts = (texts.counts.T @ topics).T
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return share * np.log(1 + counts.sum() / len(counts) / np.maximum(counts.sum(axis=0), 1))


def _frex(model: Any, texts: Texts) -> np.ndarray:
    """The harmonic mean of the ranks by frequency and by exclusivity."""
    topics = np.asarray(model.topic_word_, np.float64)
    only = topics / np.maximum(topics.sum(axis=0), 1e-300)
    ranks = [(values.argsort(axis=1).argsort(axis=1) + 1) / values.shape[1] for values in (only, topics)]
    return 2 / (1 / ranks[0] + 1 / ranks[1])


def _frequency(texts: Texts) -> np.ndarray:
    return np.asarray(texts.counts.sum(axis=0), np.float64)


def _keyness(model: Any, texts: Texts) -> np.ndarray:
    presence = presence_of_words(model)
    assert presence is not None
    overall = _frequency(texts) / texts.counts.sum()
    return np.where(model.topic_word_ < 0.5 * overall, -np.inf, keyness(*presence))  # as the tree does


def _difference(model: Any, texts: Texts) -> np.ndarray:
    presence = presence_of_words(model)
    assert presence is not None
    return presence[0] - presence[1]


RANKINGS: dict[str, Any] = {
    "P(w|z)": lambda model, texts: np.asarray(model.topic_word_, np.float64),
    "relevance 0.8": lambda model, texts: relevance(model.topic_word_, _frequency(texts), 0.8),
    "relevance 0.6 (the default before)": lambda model, texts: relevance(model.topic_word_, _frequency(texts), 0.6),
    "relevance 0.4": lambda model, texts: relevance(model.topic_word_, _frequency(texts), 0.4),
    "tf-idf": _tf_idf,
    "counts weighted by P(z|d)": _weighted,
    "counts weighted by P(z|d), relevance 0.6": lambda model, texts: relevance(
        _weighted(model, texts), _frequency(texts), 0.6
    ),
    "FREX": _frex,
    "c-TF-IDF": _class_tf_idf,
    DEFAULT: _keyness,
    DIFFERENCE: _difference,
}


# ---- the page -------------------------------------------------------------------------------------------------------


def comparison(results: Mapping[str, Any]) -> list[str]:
    """Means over the corpora used to choose the ranking and over the others, and the default compared with NMF."""
    mean = means_by_corpus(results)
    lines = []
    for title, corpora in (
        ("Corpora on which the ranking was chosen", SETTLED_ON),
        ("Other corpora", OTHERS),
    ):
        lines += [
            "",
            f"## {title}: {', '.join(corpora)}",
            "",
            "| ranking | c_v | c_npmi | c_npmi within the corpus | diversity | c_v x diversity |",
        ]
        lines += ["|---|---|---|---|---|---|"]
        for method in dict.fromkeys(method for method, _ in mean):
            means = [mean[method, corpus] for corpus in corpora if mean.get((method, corpus))]
            if means:
                figures = [np.mean([one[name] for one in means]) for name in ("c_v", "c_npmi", "inside", "diversity")]
                figures.append(np.mean([one["c_v"] * one["diversity"] for one in means]))
                lines.append(f"| {in_cell(method)} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")
    rows = (DEFAULT, DIFFERENCE, NMF)
    both = [corpus for corpus in (*SETTLED_ON, *OTHERS) if all(mean.get((row, corpus)) for row in rows)]
    for ours, name in ((DEFAULT, "c_npmi"), (DEFAULT, "c_v"), (DIFFERENCE, "c_npmi"), (DIFFERENCE, "c_v")):
        ahead = [corpus for corpus in both if mean[ours, corpus][name] >= mean[NMF, corpus][name] - 0.005]
        diverse = sum(mean[ours, corpus]["diversity"] >= mean[NMF, corpus]["diversity"] - 0.01 for corpus in both)
        said = f"With {ours}, {name} is level with that of NMF or above on {len(ahead)} of {len(both)} corpora"
        lines += ["", f"{said} ({', '.join(ahead)}), and diversity on {diverse}."]
    return lines[1:]


ABOUT = """\
A topic has a probability for every word; which ten words should be shown, and in which order? Several rankings of the \
same fitted LDA are compared, next to the words of NMF, on eight corpora: 20newsgroups_raw (posts), \
short_searchsnippets (search result snippets), nips12_raw and cora_text (scientific papers), reuters21578_raw (news \
stories), short_stackoverflow (titles of questions), short_googlenews (titles of news) and demo (descriptions of \
Debian packages). c_v and c_npmi measure whether the words occur together in an external reference, "c_npmi within the \
corpus" in the corpus itself; diversity is the share of words that are distinct across topics. Higher is better for \
all."""
NOTES = f"""c_v and c_npmi are counted in {REFERENCE}, in windows of 110 and 10 tokens; c_v leaves out words that the \
reference does not have. "Within the corpus" is c_npmi in the corpus itself, with documents as windows. Ten words per \
topic.
LDA and NMF are fitted once per corpus and seed, LDA at its defaults; TTMM where the row says so. NMF is that of the \
package, on tf-idf. At most 5,000 documents, drawn once.
The ranking was chosen on {", ".join(SETTLED_ON)} (seed 0, also with other numbers of topics); no results on the other \
corpora were seen before.
Distinct words cost coherence: an external reference favours words that are frequent everywhere. The difference of \
shares is a milder form of keyness, added after the first run, to compare with NMF at a diversity nearer to NMF's own. \
Level means at most 0.005 behind (for diversity, 0.01).
Keyness counts a document once for each of its words, so words that only a few documents repeat often do not come \
first."""

EXPERIMENTS = (
    Experiment(
        name="word-rankings",
        title="In which order to show the words of a topic",
        source="none; our own comparison",
        about=ABOUT,
        data=(*SETTLED_ON, *(name for name in OTHERS if name != "demo"), REFERENCE),
        methods=(
            *(Method(name) for name in RANKINGS),
            Method("relevance 0.6 (the default before), TTMM", None, {"model": "TTMM"}),
            Method(f"{DEFAULT}, TTMM", None, {"model": "TTMM"}),
            Method(NMF, None, {"model": "NMF"}),
        ),
        settings=tuple({"corpus": name, "n_topics": size} for name, size in (SETTLED_ON | OTHERS).items()),
        measures={
            "c_v": Measure("c_v"),
            "c_npmi": Measure("c_npmi"),
            "inside": Measure("c_npmi within the corpus"),
            "diversity": Measure("diversity"),
        },
        protocol={"seeds": 3, "documents": 5000},
        quick={"seeds": 1, "documents": 300},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        extra=comparison,
        figure=DotsOverCorpora(
            {"c_v": "c_v", "c_npmi": "c_npmi", "inside": "c_npmi within the corpus", "diversity": "diversity"}
        ),
    ),
)

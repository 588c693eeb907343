"""HLTA: whole fits and their quality, the cost of a pass of EM, and 100,000 documents with 10,000 words."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any

from .common import (
    ALL_WORDS,
    PLAIN_TEXTS,
    SEED,
    Row,
    Setting,
    alternating,
    at_most,
    can_measure_memory,
    cpu,
    fresh,
    megabytes,
    resident,
    seconds,
)

_NIPS = "nips12"
_WORDS, _MIN_DF = 1_000, 10
_FIRST_WORDS = 4  # on which coherence is measured
_GROWN_WORDS = (500, 1_000, 2_000, 4_000)
_LARGE = (100_000, 10_000)
_QUICK_LARGE = (5_000, 1_000)
_MOST_MEMORY = 8e9
_ROOM = 1.25


@dataclass(frozen=True)
class _Goal:
    """The goals for CPU seconds, log-likelihood per document and coherence, and the numbers of the peer."""

    cpu: float
    log_likelihood: float
    coherence: float
    peer: tuple[str, str, str]


_GOALS = {
    "NIPS": _Goal(5, -430, -6.2, ("257 s", "-432.7", "-6.40")),
    "20 Newsgroups": _Goal(12, -117.5, -12.6, ("315 s", "-119.1", "-12.69")),
}


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    nips = None if setting.file is None else setting.file.parents[1] / _NIPS
    if nips is None or not nips.is_dir():
        yield Row("HLTA on NIPS", "", remark=f"needs {_NIPS} in the data folder")
    else:
        from experiments.corpora import load_benchmark

        yield from _fits("NIPS", load_benchmark(_NIPS, nips.parent), setting)
    from topicfold import Corpus

    corpus = Corpus.from_texts(setting.texts, **PLAIN_TEXTS, **ALL_WORDS)
    yield from _fits("20 Newsgroups" if setting.file else "demo corpus", corpus, setting)
    yield from _passes(corpus, setting)
    yield _large(setting)


# ---- whole fits -----------------------------------------------------------------------------------------------------


def _model(seed: int = SEED, **parameters: Any) -> Any:
    from topicfold import HLTA

    return HLTA(random_state=seed, n_jobs=1, verbose=False, **parameters)


def _split(corpus: Any, n_words: int) -> tuple[Any, Any, Any]:
    """Presence of words in all, training and test documents (the last fifth); words by mean tf-idf in training."""
    import numpy as np

    from experiments.hlta.presence_data import chosen_columns, presence

    order = np.random.default_rng(0).permutation(len(corpus))
    n_train = len(order) - round(0.2 * len(order))
    columns, _ = chosen_columns(corpus.counts[order[:n_train]], corpus.vocabulary, n_words, _MIN_DF)
    chosen = presence(corpus.counts[order][:, columns])
    return chosen, chosen[:n_train], chosen[n_train:]


def _fits(name: str, corpus: Any, setting: Setting) -> Iterator[Row]:
    import numpy as np

    from experiments.hlta.hierarchies import average_coherence, hlta_topics

    every, train, test = _split(corpus, _WORDS)
    _model().fit(every[:200, :60])  # compiles
    n_seeds = setting.repeats(5, 1)
    taken, reached = [], []
    means: list[dict[str, float]] = []
    effective: list[dict[str, float]] = []
    for seed in range(n_seeds):
        taken.append(cpu(partial(_model(seed).fit, every)))
        model = _model(seed).fit(train)
        reached.append(float(model.score(test)))
        means.append(average_coherence([words for _, words in hlta_topics(model)], train, _FIRST_WORDS))
        topics = [words for _, words in hlta_topics(model, effective=True)]
        effective.append(average_coherence(topics, train, _FIRST_WORDS))
    frequency = (train.sum(axis=0) + 0.5) / (train.shape[0] + 1)
    absent = np.log1p(-frequency)
    independent = float((test @ (np.log(frequency) - absent)).mean() + absent.sum())
    detail = (
        f"HLTA on {name}: {train.shape[0]:,} training and {test.shape[0]:,} test documents, {train.shape[1]:,} words "
        f"by mean tf-idf of the training part; independent words have log-likelihood {independent:.1f} per document. "
        f"The timed fit is to all {every.shape[0]:,} documents. Coherence is over topics of all levels, counted in the "
        f"training documents: "
        f"{_mean(means, 'topics'):.0f} topics, {_mean(means, 'left out'):.0f} with fewer than {_FIRST_WORDS} words "
        f"left out. With only the effective words it is {_mean(effective, 'coherence'):.2f}, with "
        f"{_mean(effective, 'topics'):.0f} topics and {_mean(effective, 'left out'):.0f} left out."
    )
    if name in _GOALS:
        detail += (
            " The peer is the Java program of the authors, measured earlier, not in this run; its words may differ."
        )
    goal = None if setting.quick else _GOALS.get(name)
    took = fmean(taken)
    what = f"HLTA, {name}"
    runs = f"({n_seeds} seeds)"
    yield _judged(f"{what}, a fit, {every.shape[0]:,} documents {runs}", took, seconds(took), goal, 0, detail)
    value = fmean(reached)
    yield _judged(f"{what}, held-out log-likelihood per document {runs}", value, f"{value:.2f}", goal, 1)
    value = _mean(means, "coherence")
    yield _judged(f"{what}, coherence of the first {_FIRST_WORDS} words {runs}", value, f"{value:.2f}", goal, 2)


def _mean(averages: list[dict[str, float]], name: str) -> float:
    return fmean(average[name] for average in averages)


def _judged(name: str, value: float, text: str, goal: _Goal | None, number: int, detail: str = "") -> Row:
    """A row with its goal: at most so many seconds, or at least such a likelihood or coherence."""
    if goal is None:
        return Row(name, text, detail=detail)
    target = (goal.cpu, goal.log_likelihood, goal.coherence)[number]
    met, sign = (value <= target, "<=") if number == 0 else (value >= target, ">=")
    unit = " s" if number == 0 else ""
    return Row(name, text, goal.peer[number], goal=f"{sign} {target:g}{unit}", met=met, detail=detail)


# ---- a pass of EM ---------------------------------------------------------------------------------------------------


def _passes(corpus: Any, setting: Setting) -> Iterator[Row]:
    """The cost of a pass grows in proportion to the documents and, with more words, to the active latents."""
    repeats = setting.repeats(9)
    sizes = _GROWN_WORDS[:2] if setting.quick else _GROWN_WORDS
    passes = {n_words: _Pass(corpus, n_words) for n_words in sizes}
    first = passes[_WORDS]
    n_few = first.documents.shape[0] // 4
    ours, peer = alternating(first.taken, lambda: first.taken(n_few), repeats=repeats)
    name = f"HLTA, a pass of EM over {first.documents.shape[0]:,} documents against {n_few:,}, {_WORDS:,} words"
    yield at_most(f"{name} ({repeats} runs)", ours, peer, 4 * _ROOM, seconds)
    base = passes[sizes[0]]
    for n_words in sizes[1:]:
        more = passes[n_words]
        ours, peer = alternating(more.taken, base.taken, repeats=repeats)
        growth = more.n_active / base.n_active
        row = at_most(
            f"HLTA, a pass of EM with {n_words:,} words against {sizes[0]:,} ({repeats} runs)",
            ours,
            peer,
            round(growth * _ROOM, 2),
            seconds,
        )
        detail = (
            f"HLTA with {n_words:,} words against {sizes[0]:,}: {more.size} against {base.size}; {growth:.2f} times"
        )
        yield replace(row, detail=f"{detail} as many active.")


class _Pass:
    """Passes of EM over the training documents, with the tree of a fit."""

    def __init__(self, corpus: Any, n_words: int) -> None:
        import numpy as np
        import scipy.sparse as sp

        from topicfold.models.hlta.latent_tree import Inference, LatentTree

        self.documents = _split(corpus, n_words)[1].astype(np.float64)
        model = _model(max_iter=5).fit(self.documents)
        self.documents = self.documents[:, model.word_columns_]
        names = ("word_parent_", "latent_parent_", "latent_level_", "n_states_", "word_table_", "latent_table_")
        tree = LatentTree(*(getattr(model, name) for name in names))
        self.inference = Inference(tree)
        above = sp.lil_array((tree.n_words, tree.n_latents))
        for word, latent in enumerate(tree.word_parent):
            while latent >= 0:
                above[word, latent] = 1
                latent = tree.parent[latent]
        self.n_active = sp.csr_array(self.documents @ above.tocsr()).nnz / self.documents.shape[0]
        self.size = f"{self.n_active:.1f} active latents per document out of {tree.n_latents:,}"
        self.taken()  # compiles

    def taken(self, n_documents: int | None = None) -> float:
        """CPU seconds of a pass over the first documents."""
        documents = self.documents[:n_documents]
        return cpu(lambda: self.inference.sums(documents, 1))


# ---- many documents and words ---------------------------------------------------------------------------------------


def _large(setting: Setting) -> Row:
    n_documents, n_words = _QUICK_LARGE if setting.quick else _LARGE
    name = f"HLTA, a fit to {n_documents:,} generated documents, {n_words:,} words, peak memory"
    if not can_measure_memory():
        return Row(name, "", remark="needs Linux")
    figures = fresh(fit_large, n_documents, n_words)
    detail = (
        f"HLTA on {n_documents:,} documents drawn from a tree of {n_words:,} words, {figures['words']:.0f} different "
        f"words each: {seconds(figures['cpu'])} of CPU time, {figures['wall']:.0f} s of wall time, latents by level "
        f"{figures['levels']}; the documents alone take {megabytes(figures['corpus'])} of the peak."
    )
    met = figures["peak"] < _MOST_MEMORY
    return Row(name, megabytes(figures["peak"]), goal=f"< {megabytes(_MOST_MEMORY)}", met=met, detail=detail)


def fit_large(n_documents: int, n_words: int) -> dict[str, Any]:
    """A fit to generated documents, in its own process: CPU seconds, and peak bytes of the process."""
    import numpy as np

    documents = generated(n_documents, n_words)
    _model().fit(documents[:200, :60])  # compiles
    started = time.monotonic()
    model = _model()
    took = cpu(lambda: model.fit(documents))
    return {
        "cpu": took,
        "wall": time.monotonic() - started,
        "peak": resident("VmHWM"),
        "corpus": documents.data.nbytes + documents.indices.nbytes + documents.indptr.nbytes,
        "words": documents.nnz / n_documents,
        "levels": np.bincount(model.latent_level_)[1:].tolist(),
    }


def generated(n_documents: int, n_words: int) -> Any:
    """Presence of words drawn from a tree: fields over groups of 20 words of uneven frequency, and Zipf noise.

    A document is in a field with probability 0.08, and then in each of its 20 groups with 0.3, otherwise with 0.01.
    """
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(SEED)
    n_groups = n_words // 20
    field = np.arange(n_groups) // 20
    in_field = rng.random((n_documents, field[-1] + 1)) < 0.08
    share = 0.6 / np.arange(1, 21) ** 0.7
    words = rng.permutation(n_words)
    rows, columns = [], []
    for group in range(n_groups):
        chance = np.where(in_field[:, field[group]], 0.3, 0.01)
        member = np.flatnonzero(rng.random(n_documents) < chance)
        document, place = np.nonzero(rng.random((len(member), 20)) < share)
        rows.append(member[document])
        columns.append(words[20 * group + place])
    zipf = 1 / np.arange(1, n_words + 1)
    n_drawn = rng.binomial(n_documents, np.minimum(30 * zipf / zipf.sum(), 0.3))
    rows.append(rng.integers(n_documents, size=n_drawn.sum()))
    columns.append(np.repeat(np.arange(n_words), n_drawn))
    cells = (np.concatenate(rows), np.concatenate(columns))
    documents = sp.csr_array((np.ones(len(cells[0]), np.int32), cells), (n_documents, n_words))
    documents.sum_duplicates()
    documents.data[:] = 1
    return documents

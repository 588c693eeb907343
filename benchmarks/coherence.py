"""Coherence of 100 topics x 10 words against gensim, both from the same lists of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import PLAIN_TEXTS, SEED, Row, Setting, alternating, at_least, cpu, installed, missing, seconds, top_words

_GOALS = {"c_v": 40, "c_npmi": 25, "u_mass": 4}


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    from topicfold import PLSA, Preprocessing

    if not installed("gensim"):
        for measure in _GOALS:
            yield missing(f"Coherence {measure}", "gensim")
        return
    from gensim.corpora import Dictionary
    from gensim.models.coherencemodel import CoherenceModel

    corpus = setting.corpus
    words = Preprocessing(**PLAIN_TEXTS).words
    tokens = [words(text) for text in setting.texts]
    model = PLSA(100, init="random", max_iter=10, tol=0, random_state=SEED, verbose=False).fit(corpus)
    columns = top_words(model.topic_word_, 10)
    topics = [[corpus.vocabulary[column] for column in topic] for topic in columns]
    dictionary = Dictionary(tokens)

    def peer(measure: str) -> Any:
        options = {"topics": topics, "texts": tokens, "dictionary": dictionary, "coherence": measure}
        return CoherenceModel(**options, topn=10, processes=1).get_coherence_per_topic()

    for measure, goal in _GOALS.items():
        repeats = setting.repeats(7 if measure == "u_mass" else 3)  # gensim takes 20 s for c_v
        ours(measure, columns, tokens, corpus.vocabulary)
        mine, theirs = alternating(
            lambda: cpu(lambda: ours(measure, columns, tokens, corpus.vocabulary)),  # noqa: B023 - called at once
            lambda: cpu(lambda: peer(measure)),  # noqa: B023
            repeats=repeats,
        )
        yield at_least(
            f"Coherence {measure}, from tokens, against gensim ({repeats} runs)", mine, theirs, goal, seconds
        )


def ours(measure: str, topics: Any, tokens: list[list[str]], vocabulary: tuple[str, ...]) -> np.ndarray:
    """From lists of tokens to one value per topic."""
    from topicfold.corpus.counting import WordCounter, token_stream
    from topicfold.corpus.preprocessing import Preprocessing
    from topicfold.metrics.coherence import coherence

    plain = Preprocessing(tokenizer=_same, lowercase=False, stop_words=None, clean=False)
    if measure == "u_mass":
        counter = WordCounter(plain, vocabulary)
        for document in tokens:
            counter.add(document)  # type: ignore[arg-type]
        return coherence(topics, counts=counter.finish()[0], measure="u_mass_gensim")
    return coherence(topics, tokens=token_stream(tokens, vocabulary, plain), measure=measure)  # type: ignore[arg-type]


def _same(tokens: Any) -> Any:
    return tokens

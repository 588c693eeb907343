"""Texts in scripts without spaces: characters and pairs of them, dictionaries, and phrases as tokens.

This is our own comparison; there are no published numbers. The dictionaries need `pip install rjieba sudachipy
sudachidict_core kiwipiepy fugashi unidic-lite`; the translations are made by debian_translations.py.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topicfold.corpus.corpus import Corpus
from topicfold.corpus.tokenizers import units

from .. import Experiment, Measure, Method
from ..corpora import read_records
from ..dot_plots import Dots
from .debian_translations import FOLDER, read_translations
from .one_call import BEFORE, agreement, counted, largest_topics

__all__ = ["EXPERIMENTS"]

CHINESE, JAPANESE, KOREAN = "thucnews_zh", "Debian, Japanese", "Debian, Korean"
DICTIONARY, SECOND = "dictionary", "second dictionary"
PAIRS, WITHOUT_PARTICLES = "pairs and words", "without particles"
_TRANSLATIONS = {JAPANESE: "ja", KOREAN: "ko"}


class Texts(NamedTuple):
    """Texts with their classes."""

    texts: list[str]
    labels: np.ndarray


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Texts]:
    """The texts and classes of each corpus."""
    rows = read_records(CHINESE, folder)
    corpora = {CHINESE: Texts([row["text"] for row in rows], np.array([row["labels"][0] for row in rows]))}
    for name, language in _TRANSLATIONS.items():
        texts, sections = read_translations(folder, language)
        corpora[name] = Texts(texts, np.array(sections))
    return corpora


def measure(
    data: Mapping[str, Texts], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Fit LDA at its defaults with as many topics as classes to a draw, and compare topics with classes."""
    name = setting["corpus"]
    options = dict(method.parameters)
    if "tokenizer" in options:
        tokenizer = _tokenizer(options["tokenizer"], name)
        if tokenizer is None:
            return {}
        options["tokenizer"] = tokenizer
    everything = data[name]
    rows = _confirmation_half(len(everything.texts))
    number = min(round(protocol["share"] * len(rows)), protocol["documents"])
    rows = np.sort(np.random.default_rng(seed).permutation(rows)[:number])
    labels = everything.labels[rows]
    started = time.process_time()
    corpus = counted([everything.texts[row] for row in rows], options)
    reading = time.process_time() - started
    n_topics = len(set(labels.tolist()))
    topics, words = largest_topics(corpus, n_topics, seed)
    best = [word for topic in words for word in topic]
    return {
        **agreement(labels, topics, n_topics),
        "characters": float(np.mean([len(word) == 1 for word in best])),
        "empty": _share_without_words(corpus),
        "words": float(corpus.counts.shape[1]),
        "reading": reading,
    }


def _confirmation_half(n_documents: int) -> np.ndarray:
    """The documents that nothing was chosen on."""
    return np.random.default_rng(99).permutation(n_documents)[n_documents // 2 :]


def _tokenizer(name: str, corpus: str) -> str | Callable[[str], list[str]] | None:
    """The tokenizer of a method, which may not exist for a corpus."""
    known: Mapping[str, Mapping[str, Any]] = {
        DICTIONARY: {CHINESE: _chinese_words, JAPANESE: "sudachi", KOREAN: "kiwi"},
        SECOND: {JAPANESE: "fugashi"},
        PAIRS: {CHINESE: _pairs_and_words, JAPANESE: _pairs_and_words},
        WITHOUT_PARTICLES: {KOREAN: _without_particles},
        "characters": {CHINESE: "characters", JAPANESE: "characters"},
    }
    return known[name].get(corpus)


def _pairs_and_words(text: str) -> list[str]:
    """The default tokens without single characters."""
    return [token for token in units(text, pairs=True) if len(token) > 1]


# what is written together with a noun, or makes it a verb; the longest first
_PARTICLES = """
은 는 이 가 을 를 의 에 에서 로 으로 와 과 도 만 까지 부터 들 들을 들이 들의 에게 이나 나 이며 으로써 로서 이라는 라는
하는 하고 하며 할 한 하기 하여 해서 된 되는 됩니다 합니다 했습니다 입니다 있습니다
"""
_LONGEST_FIRST = sorted(_PARTICLES.split(), key=len, reverse=True)
_TOKEN = re.compile(r"[\uac00-\ud7a3]+|[^\W\d_\uac00-\ud7a3]\w+")


def _without_particles(text: str) -> list[str]:
    """Korean words without the longest particle they end with, if two syllables are left."""
    words = []
    for word in _TOKEN.findall(text):
        if "\uac00" <= word[0] <= "\ud7a3":
            ending = next((end for end in _LONGEST_FIRST if word.endswith(end) and len(word) - len(end) >= 2), "")
            word = word.removesuffix(ending)
        words.append(word)
    return [word for word in words if len(word) > 1]


def _chinese_words(text: str) -> list[str]:
    """Words of two characters and more: those of one are mostly particles."""
    from rjieba import cut

    return [word for word in cut(text) if len(word) > 1 and word[0].isalpha()]


def _share_without_words(corpus: Corpus) -> float:
    return float(np.mean(corpus.counts.sum(axis=1) == 0))


# ---- the declaration ------------------------------------------------------------------------------------------------

ABOUT = """\
What are the words of a text whose script has no spaces between them? Three files: thucnews_zh (10,000 Chinese news \
titles, 10 classes), and descriptions of Debian packages in Japanese and Korean (with their sections as classes). \
Korean has spaces, but its particles are written together with nouns. By default, texts in scripts without spaces \
become characters and pairs of adjacent characters, those in Japanese pairs alone; Korean is split at spaces. The \
topics are those of LDA at its defaults, with as many topics as classes."""
NOTES = """\
The documents of each corpus are divided into two halves; all numbers are of the second one, and what is said below to \
be chosen was chosen on the first. A draw has four fifths of this half. NMI and accuracy (best one-to-one matching) \
compare the largest topic of each document with its class.
Pairs and words: pairs of adjacent characters, and words in other scripts (also katakana), without single characters. \
It was found to be better for Japanese than single characters and pairs (NMI .348 on the second half), on the first \
half, together with a dozen other ways (runs of characters as words, single characters outside runs, other limits of \
document frequency), and is the default for texts with hiragana since.
The dictionaries: rjieba 0.2.2 for Chinese (words of two characters and more), sudachi for Japanese, kiwi for Korean; \
the second one is fugashi (MeCab with UniDic), for Japanese. spaCy's Chinese without a model splits texts into \
characters.
Particles removed: Korean words without the particle or ending they end with, from a list of 44 that was written once, \
if two syllables are left. It was chosen among five ways on the first half.
Phrases: the tokens of 0.2.0.dev0, with its other defaults.
One character: the share of single characters among the ten best words of all topics; a reader of Chinese can do \
little with most of them.
The classes of packages are sections of the archive; some of them (utils, admin, devel) have no common subject."""

EXPERIMENTS = (
    Experiment(
        name="scripts",
        title="Scripts without spaces: characters and pairs, dictionaries, phrases",
        source="none; our own comparison",
        about=ABOUT,
        data=(CHINESE, FOLDER),
        methods=(
            Method("default", "Corpus.from_texts"),
            Method("characters", "Corpus.from_texts", {"tokenizer": "characters"}),
            Method("pairs and words", "Corpus.from_texts", {"tokenizer": PAIRS}),
            Method("dictionary", "Corpus.from_texts", {"tokenizer": DICTIONARY}),
            Method("dictionary, every word", "Corpus.from_texts", {"tokenizer": DICTIONARY, "min_df": 1}),
            Method("second dictionary", "Corpus.from_texts", {"tokenizer": SECOND}),
            Method("particles removed", "Corpus.from_texts", {"tokenizer": WITHOUT_PARTICLES}),
            # the pattern is that of 0.2.0.dev0; a comment makes it another one than today's, which means more
            Method(
                "phrases, as in 0.2.0.dev0", "Corpus.from_texts", {**BEFORE, "token_pattern": r"\b[^\W\d_]\w+\b(?#)"}
            ),
        ),
        settings=tuple({"corpus": name} for name in (CHINESE, JAPANESE, KOREAN)),
        measures={
            "nmi": Measure("NMI"),
            "accuracy": Measure("accuracy"),
            "characters": Measure("one character, share", 2),
            "empty": Measure("without a word, share"),
            "words": Measure("words", 0),
            "reading": Measure("reading, CPU s", 2),
        },
        protocol={"seeds": 5, "documents": 8000, "share": 0.8},
        quick={"seeds": 1, "documents": 400},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"nmi": "NMI"}),
    ),
)

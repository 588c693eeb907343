"""What one call makes of a dirty file: topics and classes, topics led by markup, copies.

This is our own comparison; there are no published numbers.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topicfold import LDA
from topicfold.corpus.corpus import Corpus
from topicfold.metrics.clustering import clustering_accuracy

from .. import Experiment, Measure, Method
from ..dot_plots import Dots
from .dirty_files import DIRTY_FILES, MARKUP, File, led_by_markup, read_files

__all__ = ["BEFORE", "EXPERIMENTS", "agreement", "counted", "largest_topics"]

# the defaults of 0.2.0.dev0
BEFORE: Mapping[str, Any] = {"clean": False, "stop_words": "english", "min_df": 1, "max_df": 1.0}
COPIES = " with copies"  # of a fifth of the documents


class Draw(NamedTuple):
    """Texts of a draw, their classes, and which of them are copies of another."""

    texts: list[str]
    labels: np.ndarray | None
    is_copy: np.ndarray


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, File]:
    """The texts that the files are made from."""
    return read_files(folder, DIRTY_FILES)


def drawn(file: File, name: str, seed: int, protocol: Mapping[str, Any]) -> Draw:
    """Texts drawn without replacement, and made dirty; with copies, if the setting says so."""
    draw = np.random.default_rng(seed)
    number = min(round(protocol["share"] * len(file.texts)), protocol["documents"])
    rows = np.sort(draw.permutation(len(file.texts))[:number])
    texts = DIRTY_FILES[name.removesuffix(COPIES)].rules([file.texts[row] for row in rows], draw)
    labels = None if file.labels is None else file.labels[rows]
    is_copy = np.zeros(len(texts), bool)
    if name.endswith(COPIES):
        # few stories make up the copies, each copied ten times; half of the copies have another beginning
        n_copies = round(protocol["copies"] * len(texts))
        copied = np.repeat(draw.permutation(len(texts))[: max(1, n_copies // 10)], 10)
        texts += [f"{'UPDATE: ' if number % 2 else ''}{texts[row]}" for number, row in enumerate(copied)]
        labels = None if labels is None else np.concatenate([labels, labels[copied]])
        is_copy = np.concatenate([is_copy, np.ones(len(copied), bool)])
    return Draw(texts, labels, is_copy)


def measure(
    data: Mapping[str, File], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Fit LDA at its defaults to a draw, read in one way, and compare topics with classes and with MARKUP."""
    name = setting["file"]
    draw = drawn(data[name.removesuffix(COPIES)], name, seed, protocol)
    started = time.process_time()
    corpus = counted(draw.texts, method.parameters)
    reading = time.process_time() - started
    topics, words = largest_topics(corpus, setting["n_topics"], seed)
    markup = [sum(word in MARKUP for word in topic) for topic in words]
    measures = {
        "led": float(sum(map(led_by_markup, words))),
        "markup": float(np.mean(markup)),
        "documents": float(len(corpus)),
        "words": float(corpus.counts.shape[1]),
        "reading": reading,
    }
    if draw.labels is None:
        return measures
    rows = np.array(list(map(int, corpus.ids)))
    is_original = ~draw.is_copy[rows]
    labels, topics = draw.labels[rows][is_original], topics[is_original]
    return measures | agreement(labels, topics, setting["n_topics"])


def counted(texts: Sequence[str], options: Mapping[str, Any]) -> Corpus:
    """The corpus of the texts; that some are empty or copies is no news here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(texts are empty|are copies).*")
        return Corpus.from_texts(texts, **options)


def largest_topics(corpus: Corpus, n_topics: int, seed: int) -> tuple[np.ndarray, list[list[str]]]:
    """The largest topic of each document, and the ten best words of each topic as tables show them."""
    model = LDA(n_topics, random_state=seed, n_jobs=1, verbose=False).fit(corpus)
    tree = model.topic_tree(corpus)
    words = [[word.word for word in tree.words(topic, 10)] for topic in range(n_topics)]
    return model.doc_topic_.argmax(axis=1), words


def agreement(labels: np.ndarray, topics: np.ndarray, n_topics: int) -> dict[str, float]:
    """NMI, and accuracy if there are as many topics as classes."""
    from sklearn.metrics import normalized_mutual_info_score

    measures = {"nmi": float(normalized_mutual_info_score(labels, topics))}
    if n_topics == len(set(labels.tolist())):
        measures["accuracy"] = clustering_accuracy(labels, topics)
    return measures


# ---- the declaration ------------------------------------------------------------------------------------------------

ABOUT = """\
What does one call, `Corpus.from_texts(texts)`, make of a file that nobody prepared? Two files are as they were \
published: agnews (news with entities and links) and noticias_es (Spanish news with lists and boilerplate). \
20newsgroups_raw has its headers, quotations and signatures. Two are made from clean texts by rules: "web site" \
(Reuters stories of eight classes, as HTML pages escaped once or twice, with tracking links and boilerplate) and \
"tweets" (news titles with handles, hashtags and short links). The topics are those of LDA at its defaults. "Led by \
markup" counts topics whose first word is markup or a part of an address (lt, href, com), or that have at least three \
such words, or words of headers, among their ten best (the list is in experiments/front_door/dirty_files.py)."""
NOTES = """\
As in 0.2.0.dev0: texts as they are, English stop words, every word counted. Not cleaned: today's defaults except for \
cleaning, so stop words are those of the language, and words in fewer than 5 documents or in more than half of them \
are left out.
NMI and accuracy (best one-to-one matching; only where there are as many topics as classes) compare the largest topic \
of each document with its class. The sections of noticias_es say little about its topics, so they are not compared. \
In 20newsgroups_raw the header names the group and the sender, so NMI without cleaning is that of a file with its \
answers.
A draw has four fifths of the documents, at most 4,000, and its own dirt.
With copies: a fiftieth of the documents is copied ten times, half of the copies with another first word. NMI is \
measured on the documents that are no copies.
The topics of 20newsgroups_raw that are still led by markup begin with "edu", which is in names of hosts in the posts \
(export.lcs.mit.edu). Of the web site, "repeated" also drops lines that are part of short stories ("Pay April 15").
The rules that make files dirty and the list of markup words were written before the first run. Each was changed once \
after it: handles begin with a letter, and a first word that can also be a word of a text (bit, fax, div for dividend) \
no longer counts alone."""

EXPERIMENTS = (
    Experiment(
        name="front-door",
        title="What one call makes of a dirty file",
        source="none; our own comparison",
        about=ABOUT,
        data=tuple(dict.fromkeys(file.corpus for file in DIRTY_FILES.values())),
        methods=(
            Method("as in 0.2.0.dev0", "Corpus.from_texts", BEFORE),
            Method("not cleaned", "Corpus.from_texts", {"clean": False}),
            Method("default", "Corpus.from_texts"),
            Method("default, without repeated lines", "Corpus.from_texts", {"drop_lines": "repeated"}),
            Method("default, without copies", "Corpus.from_texts", {"unique": True}),
        ),
        settings=(
            {"file": "agnews", "n_topics": 4},
            {"file": "agnews" + COPIES, "n_topics": 4},
            {"file": "agnews", "n_topics": 20},
            {"file": "noticias_es", "n_topics": 20},
            {"file": "20newsgroups_raw", "n_topics": 20},
            {"file": "web site", "n_topics": 8},
            {"file": "web site", "n_topics": 20},
            {"file": "tweets", "n_topics": 20},
        ),
        measures={
            "nmi": Measure("NMI"),
            "accuracy": Measure("accuracy"),
            "led": Measure("topics led by markup", 1),
            "markup": Measure("markup among ten words", 2),
            "documents": Measure("documents", 0),
            "words": Measure("words", 0),
            "reading": Measure("reading, CPU s", 2),
        },
        protocol={"seeds": 5, "documents": 4000, "share": 0.8, "copies": 0.2},
        quick={"seeds": 1, "documents": 400},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"led": "topics led by markup", "nmi": "NMI"}),
    ),
)

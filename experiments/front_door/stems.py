"""Words, stems or lemmas: what serves topics and what serves reading, by language.

This is our own comparison; there are no published numbers. Lemmas need `pip install simplemma`; the translations are
made by debian_translations.py.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from topicfold import LDA
from topicfold.corpus.corpus import Corpus
from topicfold.corpus.preprocessing import Preprocessing

from .. import Experiment, Measure, Method
from ..corpora import count_words, read_records, strip_post
from .debian_translations import FOLDER, read_translations
from .one_call import agreement, counted

__all__ = ["EXPERIMENTS", "decision", "draw_differences"]

WORDS, STEMS, LEMMAS = "words", "stems", "lemmas"
FEW = 550  # documents of a half: about as many as there are in Russian, Polish and Spanish
PARTS = ("validation", "confirmation")  # halves of the documents of each corpus


class Source(NamedTuple):
    """Where a corpus is, its language by name and code, and how many documents of a half are used at most."""

    folder: str
    language: str
    code: str
    most: int | None = None


CORPORA: Mapping[str, Source] = {
    "German, Debian": Source(FOLDER, "german", "de"),
    "French, Debian": Source(FOLDER, "french", "fr"),
    "Italian, Debian": Source(FOLDER, "italian", "it"),
    "Portuguese, Debian": Source(FOLDER, "portuguese", "pt_BR"),
    "Russian, Debian": Source(FOLDER, "russian", "ru"),
    "Polish, Debian": Source(FOLDER, "polish", "pl"),
    "Spanish, Debian": Source(FOLDER, "spanish", "es"),
    "Spanish, noticias_es": Source("noticias_es", "spanish", "es"),
    "English, Debian": Source(FOLDER, "english", "en"),
    "English, agnews": Source("agnews", "english", "en"),
    "English, 20newsgroups_raw": Source("20newsgroups_raw", "english", "en"),
    "German, Debian, few": Source(FOLDER, "german", "de", FEW),
    "French, Debian, few": Source(FOLDER, "french", "fr", FEW),
    "Italian, Debian, few": Source(FOLDER, "italian", "it", FEW),
    "Portuguese, Debian, few": Source(FOLDER, "portuguese", "pt_BR", FEW),
    "English, Debian, few": Source(FOLDER, "english", "en", FEW),
}


class Texts(NamedTuple):
    """Texts with their classes, None if these say little about topics."""

    texts: list[str]
    labels: np.ndarray | None


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[tuple[str, str], Texts]:
    """The two halves of each corpus, divided with a fixed seed."""
    halves = {}
    for name, source in CORPORA.items():
        texts, labels = _read(folder, source)
        order = np.random.default_rng(0).permutation(len(texts))
        for part, rows in zip(PARTS, np.array_split(order, 2)):
            most = source.most or math.ceil(protocol["documents"] / protocol["share"])
            rows = np.sort(rows[:most])
            classes = None if labels is None else np.array(labels)[rows]
            halves[name, part] = Texts([texts[row] for row in rows], classes)
    return halves


def _read(folder: Path, source: Source) -> tuple[list[str], list[str] | None]:
    if source.folder == FOLDER:
        return read_translations(folder, source.code)
    rows = read_records(source.folder, folder)
    texts = [strip_post(row["text"]) if source.folder == "20newsgroups_raw" else row["text"] for row in rows]
    labels = None if source.folder == "noticias_es" else [row["labels"][0] for row in rows]
    kept = [number for number, text in enumerate(texts) if text.strip()]
    return [texts[number] for number in kept], None if labels is None else [labels[number] for number in kept]


# ---- measures -------------------------------------------------------------------------------------------------------


def measure(
    data: Mapping[tuple[str, str], Texts],
    method: Method,
    setting: Mapping[str, Any],
    seed: int,
    protocol: Mapping[str, Any],
) -> dict[str, float]:
    """Fit LDA at its defaults to a draw, with as many topics as classes and with 20, and average their measures.

    The documents that are not drawn are cut into two halves, whose topics should agree.
    """
    name, part = setting["corpus"], setting["part"]
    everything, source = data[name, part], CORPORA[name]
    order = np.random.default_rng(seed).permutation(len(everything.texts))
    number = round(protocol["share"] * len(order))
    rows, others = np.sort(order[:number]), np.sort(order[number:])
    texts = [everything.texts[row] for row in rows]
    options = way_options(method.name, source)
    started = time.process_time()
    corpus = counted(texts, options)
    reading = time.process_time() - started
    halves = [count_words(corpus, half) for half in zip(*(_halves(everything.texts[row]) for row in others))]
    labels = None if everything.labels is None else everything.labels[rows]
    seen = _words_seen(texts)
    twin_of = Preprocessing(stemmer=source.language, stop_words=None, clean=False)
    each = [
        _measured(corpus, labels, halves, n_topics, seed, seen, twin_of)
        for n_topics in ([] if labels is None else [len(set(labels.tolist()))]) + [protocol["topics"]]
    ]
    means = {key: float(np.mean([found[key] for found in each if key in found])) for found in each for key in found}
    return {**means, "words": float(corpus.counts.shape[1]), "reading": reading}


def way_options(way: str, source: Source) -> dict[str, Any]:
    """The options of `Corpus.from_texts` for words, stems or lemmas in a language."""
    options: dict[str, Any] = {"stop_words": source.language, "stemmer": None}
    if way == STEMS:
        options["stemmer"] = source.language
    if way == LEMMAS:
        options |= {"tokenizer": _lemmatizer(source), "lowercase": False}
    return options


def _lemmatizer(source: Source) -> Callable[[str], list[str]]:
    """A tokenizer whose tokens are the default ones without stop words, as lemmas in lower case."""
    from simplemma import lemmatize

    code = source.code[:2]
    words = Preprocessing(stop_words=None, lowercase=False, clean=False).words
    left_out = Preprocessing(stop_words=source.language)._stop_set
    lemma_of: dict[str, str] = {}

    def tokens(text: str) -> list[str]:
        found = []
        for word in words(text):
            if word.lower() in left_out:
                continue
            lemma = lemma_of.get(word)
            if lemma is None:
                lemma = lemma_of[word] = lemmatize(word, lang=code).lower()
            found.append(lemma)
        return found

    return tokens


def _halves(text: str) -> tuple[str, str]:
    """The first and the second half of the words of a text: they share a subject rather than phrases."""
    words = text.split()
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


def _words_seen(texts: Sequence[str]) -> frozenset[str]:
    words = Preprocessing(stop_words=None).words
    return frozenset(word for text in texts for word in words(text))


def _measured(
    corpus: Corpus,
    labels: np.ndarray | None,
    halves: Sequence[Any],
    n_topics: int,
    seed: int,
    seen: frozenset[str],
    twin_of: Preprocessing,
) -> dict[str, float]:
    from sklearn.metrics import adjusted_mutual_info_score

    model = LDA(n_topics, random_state=seed, n_jobs=1, verbose=False).fit(corpus)
    first, second = (model.transform(half).argmax(axis=1) for half in halves)
    with_words = np.logical_and(*(half.sum(axis=1) > 0 for half in halves))
    tree = replace(model.topic_tree(corpus), wording=None)  # as ranked: lists would show one form of each word
    topics = [[word.word for word in tree.words(topic, 10)] for topic in range(n_topics)]
    measures = {
        "halves": float(adjusted_mutual_info_score(first[with_words], second[with_words])),
        "real": float(np.mean([word in seen for topic in topics for word in topic])),
        "twins": fmean(_share_of_twins(topic, twin_of) for topic in topics if topic),
    }
    if labels is not None:
        measures["nmi"] = agreement(labels, model.doc_topic_.argmax(axis=1), n_topics)["nmi"]
    return measures


def _share_of_twins(words: Sequence[str], stemmed: Preprocessing) -> float:
    """The share of words that have the stem of another one."""
    numbers = Counter(" ".join(stemmed.words(word)) or word for word in words)
    return 1 - len(numbers) / len(words)


# ---- what follows ---------------------------------------------------------------------------------------------------

LEAST_GAIN = 0.01
_WITH_FEW = f"""\
At most {FEW} documents of each half. These corpora were added after the results above had been seen, because the \
languages that gained most were those with the fewest documents."""
_DIFFERENCES = """\
Mean difference of a way from words on the same draws (of all corpora of a language), ± standard error over draws; for \
all corpora, over the corpora. A dagger marks the validation halves, by which the rule decides."""


def decision(results: Mapping[str, Any]) -> list[str]:
    """A table by language of the mean differences from words, on both halves, and what the rule says."""
    cells = _by_key(results)
    lines = ["## Differences from words", "", _DIFFERENCES, "", *_differences_table(cells, False)]
    chosen = {language: way for language in _languages(few=False) if (way := _chosen_way(cells, language))}
    said = ", ".join(f"{way} for {language.capitalize()}" for language, way in chosen.items()) or "words for all"
    lines += ["", f"By the rule, confirmed by the other halves: {said}; otherwise words."]
    return [*lines, "", "### With few documents", "", _WITH_FEW, "", *_differences_table(cells, True)]


def draw_differences(results: Mapping[str, Any], path: Path) -> None:
    """Mean differences from words by language: one dot per half, with all documents."""
    from topicfold.plots.style import new_figure, tidy

    cells, by_language = _by_key(results), _languages(few=False)
    figure = new_figure(9, 0.35 * len(by_language) + 1.4)
    for axes, (key, title) in zip(figure.subplots(1, 2), (("nmi", "NMI"), ("halves", "halves agree, AMI"))):
        axes.axvline(0, color="#9a9a9a", linewidth=0.8)
        for place, names in enumerate(by_language.values()):
            for way, color, shift in ((STEMS, "#0072B2", -0.12), (LEMMAS, "#D55E00", 0.12)):
                for part in PARTS:
                    gains = _by_draw([_differences(cells, way, name, part, key) for name in names])
                    filled = "full" if part == PARTS[0] else "none"
                    if gains:
                        axes.plot([fmean(gains)], [place + shift], "o", color=color, fillstyle=filled, markersize=6)
        axes.set_yticks(range(len(by_language)), [language.capitalize() for language in by_language], fontsize=8)
        axes.set_ylim(len(by_language) - 0.5, -0.5)
        axes.set_title(f"{title}: difference from words", loc="left", fontsize=9)
        axes.tick_params(axis="x", labelsize=8)
        tidy(axes)
    figure.supxlabel(
        "blue: stems; red: lemmas; full: validation halves; open: confirmation halves", fontsize=9, color="#444444"
    )
    figure.savefig(path, dpi=110)


def _by_key(results: Mapping[str, Any]) -> dict[tuple[str, str, str, int], Mapping[str, float]]:
    return {
        (row["method"], row["setting"]["corpus"], row["setting"]["part"], row["seed"]): row["measures"]
        for row in results["cells"]
        if row["error"] is None
    }


def _languages(few: bool) -> dict[str, list[str]]:
    """The corpora of each language, of which `few` documents are used, or all."""
    corpora: dict[str, list[str]] = {}
    for name, source in CORPORA.items():
        if (source.most is not None) == few:
            corpora.setdefault(source.language, []).append(name)
    return corpora


def _chosen_way(cells: Mapping[Any, Any], language: str) -> str | None:
    """Stems or lemmas if the rule chooses them on both halves; None for words."""
    names = _languages(few=False)[language]
    gains: dict[str, float] = {}
    for way in (STEMS, LEMMAS):
        found = [
            [_by_draw([_differences(cells, way, name, part, key) for name in names]) for key in ("nmi", "halves")]
            for part in PARTS
        ]
        if all(_is_better(nmi, halves) for nmi, halves in found):
            gains[way] = fmean(found[0][0])
    if len(gains) < 2:
        return next(iter(gains), None)
    real = {
        way: fmean(one["real"] for (method, name, _, _), one in cells.items() if method == way and name in names)
        for way in gains
    }
    reads_better = max(real, key=real.__getitem__)
    other = next(way for way in gains if way != reads_better)
    return other if gains[other] >= gains[reads_better] + LEAST_GAIN else reads_better


def _differences_table(cells: Mapping[Any, Any], few: bool) -> list[str]:
    """The rows of the languages, and of all corpora, for corpora of which `few` documents are used, or all."""
    lines = ["| language | way | NMI † | halves † | NMI | halves | rule † | confirmed |", "|---" * 8 + "|"]
    by_language = _languages(few)
    for language in [*by_language, None]:
        names = by_language[language] if language else [name for each in by_language.values() for name in each]
        pooled = _by_corpus if language is None else _by_draw
        for way in (STEMS, LEMMAS):
            found = {
                (part, key): pooled([_differences(cells, way, name, part, key) for name in names])
                for part in PARTS
                for key in ("nmi", "halves")
            }
            shown = [_shown(found[part, key]) for part in PARTS for key in ("nmi", "halves")]
            verdicts = [_is_better(found[part, "nmi"], found[part, "halves"]) for part in PARTS]
            said = ["yes" if verdict else "no" for verdict in verdicts]
            title = "all corpora" if language is None else language.capitalize()
            lines.append(f"| {title} | {way} | {' | '.join([*shown, *said])} |")
    return lines


def _by_corpus(each: Sequence[Sequence[float]]) -> list[float]:
    return [fmean(values) for values in each if values]


def _by_draw(each: Sequence[Sequence[float]]) -> list[float]:
    """The mean over the corpora of a language that have this measure."""
    return [fmean(values) for values in zip(*filter(None, each))]


def _differences(cells: Mapping[Any, Mapping[str, float]], way: str, corpus: str, part: str, key: str) -> list[float]:
    return [
        measures[key] - cells[WORDS, corpus, part, seed][key]
        for (method, name, half, seed), measures in cells.items()
        if (method, name, half) == (way, corpus, part)
        and key in measures
        and key in cells.get((WORDS, corpus, part, seed), {})
    ]


def _error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def _is_better(nmi: Sequence[float], halves: Sequence[float]) -> bool:
    """The rule: NMI higher by LEAST_GAIN and twice the standard error, and agreement of halves not lower by either."""
    if not nmi:
        return False
    gains = fmean(nmi) >= max(LEAST_GAIN, 2 * _error(nmi))
    return gains and fmean(halves) > -max(LEAST_GAIN, 2 * _error(halves))


def _shown(values: Sequence[float]) -> str:
    return f"{fmean(values):+.3f} ± {_error(values):.3f}" if values else "-"


# ---- the declaration ------------------------------------------------------------------------------------------------

ABOUT = """\
Should words be reduced to stems (Snowball) or lemmas (simplemma) before they are counted? Descriptions of Debian \
packages in eight languages (their sections are the classes), English news and posts, and Spanish news. The topics are \
those of LDA at its defaults. NMI compares the largest topic of each document with its class. "Halves agree" needs no \
classes: the documents that are left out of a fit are cut in two, and the adjusted mutual information of the largest \
topics of the two halves is measured. The likelihoods of different vocabularies cannot be compared, so they are not \
given. For reading: "real words" is the share of the ten best words of the topics that occur in the texts, and "twins" \
the share of the ten that have the stem of another one."""
NOTES = f"""\
The documents of each corpus are divided into a validation and a confirmation half. A draw has four fifths of a half, \
at most 2,500 documents. All measures are means over two fits, with as many topics as classes and with 20; without \
classes, of the second alone.
The rule, written before any run of this experiment: a language gets stems (or lemmas) by default if, on the \
validation halves of its corpora, NMI is higher than with words by at least {LEAST_GAIN} and by twice the standard \
error, and the halves do not agree less by more than {LEAST_GAIN} and twice the standard error. If both do, the one \
with more real words is taken, unless the other's NMI is higher by {LEAST_GAIN}. A choice counts if the confirmation \
halves agree. Draws overlap, so the standard errors are too small; those of a corpus say nothing about other corpora.
Stop words are those of the language, and are left out before words are reduced. Words are kept as by default: in at \
least 5 documents (2 if there are fewer than 1,000), and in at most half of them.
Lemmas: simplemma 2.0.0, a dictionary, of words with their own case; a word that it does not know stays as it is.
A stem such as "commerci" is no word, so each is shown as its most frequent full form. When this was first run, stems \
were shown as they are, and .35 to .85 of the words of topics were real.
What follows: stems by default for Russian and Polish, in which both halves gain, and words for the others. For \
Spanish the rule says stems, too, but on too little text to rely on.
The sections of noticias_es say little about its topics, so it has no NMI; the decision for Spanish rests on one \
corpus of 794 packages. French, Italian and Portuguese, its relatives, gain nothing, even with as few documents.
The classes of packages are sections of the archive; some of them (utils, admin, devel) have no common subject, and \
those of programming languages are recognised by the name of the language."""

EXPERIMENTS = (
    Experiment(
        name="stems",
        title="Words, stems or lemmas, by language",
        source="none; our own comparison",
        about=ABOUT,
        data=tuple(dict.fromkeys(source.folder for source in CORPORA.values())),
        methods=(
            Method(WORDS, "Corpus.from_texts", {"stemmer": None}),
            Method(STEMS, "Corpus.from_texts", {"stemmer": "LANGUAGE"}),
            Method(LEMMAS, "Corpus.from_texts", {"tokenizer": "simplemma", "stemmer": None}),
        ),
        settings=tuple({"corpus": name, "part": part} for name in CORPORA for part in PARTS),
        measures={
            "nmi": Measure("NMI"),
            "halves": Measure("halves agree, AMI"),
            "real": Measure("real words", 2),
            "twins": Measure("twins", 2),
            "words": Measure("words", 0),
            "reading": Measure("reading, CPU s", 2),
        },
        protocol={"seeds": 5, "documents": 2500, "share": 0.8, "topics": 20},
        quick={"seeds": 1, "documents": 160, "topics": 5},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        extra=decision,
        figure=draw_differences,
    ),
)

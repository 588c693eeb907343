"""LDCC (Shafiei and Milios 2006): perplexity of held-out text compared with LDA (Figures 5 and 6)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from topicfold.corpus.corpus import Corpus
from topicfold.metrics.completion import completion_log_likelihood, perplexity, split_tokens

from .. import Experiment, Measure, Method
from ..grids import draw_curves, interval, looks, paired, points
from ..results_page import setting_text
from .left_to_right import harmonic_means, left_to_right_log_likelihood, segment_model
from .segmented_data import FILTERS, MERGED, NIPS, SOURCE, SWEEPS, Texts, by_document, cut, fitted, read, segments_of

__all__ = ["EXPERIMENTS", "completion", "measure", "prepare"]

LDCC, LDA = "LDCC", "LDA"
LDA_OURS, LDA_SEGMENTS = "LDA, by LDCC's sampler", "LDA, segments as documents"
LENGTH, SIZE = "word topics", "training %"
WORD_TOPICS = (20, 40, 50, 60, 80, 100)
TRAINING = (10, 20, 40, 80)
EXPECTED = {50: 3.0, 100: 1.0}  # per cent by which LDCC was expected to be below LDA, fixed before the first run


def prepare(folder: Path, protocol: Mapping[str, Any]) -> Texts:
    """NIPS papers, divided into segments."""
    return Texts(read(NIPS, folder, protocol))


def measure(
    data: Texts, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Perplexities of the test part of a draw, and their logarithms, for differences."""
    n_topics = setting.get(LENGTH, protocol["word topics"])
    if method.name in (LDA_OURS, LDA_SEGMENTS) and n_topics not in protocol["controls at"]:
        return {}
    most = round(100 * (1 - protocol["test share"]))
    smallest = min(TRAINING) if SIZE in setting else most
    part = cut(data, seed, setting.get(SIZE, most) / 100, smallest / 100, protocol)
    started = time.process_time()
    model = fitted(method, _as_seen(method, part.train), n_topics, seed, protocol)
    measures = {"cpu": time.process_time() - started}
    logs = {"completion": completion(method, model, part.test)}
    if method.name != LDA_SEGMENTS:  # it does not know documents
        shown = part.test.subset(slice(protocol["sampled documents"]))
        fixed = segment_model(model)
        logs["left to right"] = left_to_right_log_likelihood(fixed, shown, seed, protocol)
        logs["eq. 6"], logs["fixed topics"] = harmonic_means(fixed, shown, model.beta, seed, protocol)
    for name, value in logs.items():
        measures |= {name: perplexity(value), f"log {name}": value}
    return measures


def _as_seen(method: Method, corpus: Corpus) -> Any:
    """The data for a method: documents in segments, documents, or segments as if they were documents."""
    if method.name == LDA_SEGMENTS:
        return segments_of(corpus).counts
    return corpus if method.name == LDCC else replace(corpus, segments=None)


def completion(method: Method, model: Any, test: Corpus) -> float:
    """Nats per token of the held-out half of each segment, the same tokens for every method.

    LDA estimates the topic mixture of a document from the observed halves of all its segments.
    """
    if method.name == LDCC:
        return model.score(test)
    observed, held_out = split_tokens(segments_of(test).counts)
    if method.name != LDA_SEGMENTS:
        observed, held_out = by_document(observed, test), by_document(held_out, test)
    return completion_log_likelihood(held_out, model.transform(observed), model.topic_word_, model.word_frequency_)


# ---- pages ----------------------------------------------------------------------------------------------------------


def extra(results: Mapping[str, Any]) -> list[str]:
    """By how many per cent the perplexity of LDCC is lower or higher, paired by draw; and what was expected."""
    settings = list({setting_text(row["setting"]): row["setting"] for row in results["results"]}.values())
    names = [*MEASURES][:4]
    lines = ["## Perplexity of LDCC relative to the others", ""]
    lines += ["Difference in per cent (95 % interval), paired by draw; negative means that LDCC is better.", ""]
    lines += [f"| | | draws | {' | '.join(MEASURES[name].title for name in names)} |", "|---" * 7 + "|"]
    for other in (LDA, LDA_OURS, LDA_SEGMENTS):
        for setting in settings:
            cells = [_per_cent(results, other, name, setting) for name in names]
            n_draws = max(n for _, n in cells)
            if n_draws:
                text = " | ".join(text for text, _ in cells)
                lines.append(f"| against {other} | {setting_text(setting)} | {n_draws} | {text} |")
    verdicts = [
        _verdict(results, setting, EXPECTED[setting[LENGTH]]) for setting in settings if setting.get(LENGTH) in EXPECTED
    ]
    return lines + ([""] + verdicts if verdicts else [])


def _relative(results: Mapping[str, Any], other: str, name: str, setting: Mapping[str, Any]) -> list[float]:
    differences = paired(results, LDCC, other, f"log {name}", by_setting=False, settings=[setting])
    return [100 * float(np.expm1(-difference)) for difference in differences]


def _per_cent(results: Mapping[str, Any], other: str, name: str, setting: Mapping[str, Any]) -> tuple[str, int]:
    differences = _relative(results, other, name, setting)
    if not differences:
        return "-", 0
    low, high = interval(differences)
    spread = f" ({low:+.1f} to {high:+.1f})" if len(differences) > 1 else ""
    return f"{fmean(differences):+.1f}{spread}", len(differences)


def _verdict(results: Mapping[str, Any], setting: Mapping[str, Any], expected: float) -> str:
    differences = _relative(results, LDA, "completion", setting)
    if not differences:
        return f"- Expected with {setting_text(setting)}: LDCC at least {expected:g} % below LDA. Not measured."
    reached = -fmean(differences)
    answer = "as expected" if reached >= expected else "not as expected"
    return (
        f"- Expected with {setting_text(setting)}: LDCC's completion perplexity at least {expected:g} % below LDA's, "
        f"on average over the draws. It is {reached:.1f} % below: {answer}."
    )


def figure(results: Mapping[str, Any], path: Path) -> None:
    """One panel for each estimate: the two reliable ones above, the two unreliable ones below."""
    key = LENGTH if LENGTH in results["results"][0]["setting"] else SIZE
    x_title = "number of word-topics" if key == LENGTH else "documents for training, per cent"
    look = looks([row["method"] for row in results["results"]])
    panels = []
    for name in [*MEASURES][:4]:
        curves: list[Mapping[str, Any]] = [
            {**points(results, method, key, name), **look[method]}
            for method in look
            if method in (LDA, LDCC) or key == LENGTH
        ]
        panels.append((MEASURES[name].title, x_title, [curve for curve in curves if curve["x"]]))
    draw_curves(path, panels, "perplexity")


# ---- the declarations -----------------------------------------------------------------------------------------------

MEASURES = {
    "completion": Measure("completion", 0),
    "left to right": Measure("left to right", 0),
    "fixed topics": Measure("harmonic mean, fixed topics (unreliable)", 0),
    "eq. 6": Measure("harmonic mean, eq. 6 (unreliable)", 0),
    "cpu": Measure("fit, CPU s", 1),
}
_QUESTION = """\
Does LDCC, which knows how a document is divided into segments, predict held-out text better than LDA? The documents \
are NIPS papers, in segments of about 150 tokens. The tables give the perplexity of test documents by four estimates, \
and the CPU time; lower is better. Read the column "completion"; "left to right" is a second opinion, and the harmonic \
means, which the paper uses, are unreliable."""
ABOUT_FIGURE5 = f"{_QUESTION} The settings are numbers of word-topics."
ABOUT_FIGURE6 = f"{_QUESTION} The settings are shares of the documents that are used for training, in per cent."
NOTES = """\
Perplexity by completion is the number to read: half of the tokens of each segment of the test documents are held out, \
the same for every method. LDCC predicts them from the observed half of the segment and of the document's other \
segments, LDA from the observed halves of all segments of the document. The word frequencies of the training part are \
mixed into every prediction with a weight of a thousandth.
Left to right is a second opinion: P of whole test documents by a particle filter, with topics and priors fixed. In \
LDCC the document-topic of the current segment is summed out, and those of earlier segments are in the particles. The \
same code measures both methods (LDA is LDCC with one document-topic and one segment per document).
The harmonic mean of P(w|z), the paper's estimate, is unreliable: its variance is infinite in principle, the smallest \
of few samples decides it, P(w|z) leaves out the cost of z itself, and the order of LDA and LDCC may change with the \
interpretation of eq. 6. It is shown twice: with eq. 6 of the test documents alone, and with the topics as learned. Do \
not rank methods by it.
Left to right and the harmonic mean are measured only on the first test documents of a draw; "sampled documents" in \
the protocol is their number.
The text is nips12_raw, the OCR text of 1,740 papers; the paper has 1,803 with marked paragraphs. Blank lines are \
inferred, so neighbouring blocks are merged to about 150 tokens, the size of the paper's segments. Left out are \
English stop words, words of fewer than three letters other than EM and ML, all words with digits or letters beyond \
ASCII, words in fewer than five documents (of all, and then of the training part), blocks with fewer than five words, \
and documents with fewer than three segments.
A seed draws the documents, divides them, and starts the fits; differences are paired by seed.
To save time, a draw does not contain all documents, and fits have fewer sweeps than in the paper (500 of burn-in and \
250 for samples in each of 5 chains). LDA has as many sweeps as LDCC.
That 300 sweeps are enough was checked on one more draw: 1,000 sweeps lowered the completion perplexity of either \
method by less than one per cent, or not at all.
LDA is tomotopy's, with one alpha per topic fitted to the data; its topics are those of its last state. LDCC averages \
its samples, and starts from NMF. The effect of that is shown by "LDA, by LDCC's sampler", which is LDCC with one \
document-topic and one segment per document. "LDA, segments as documents" does use segments, but does not know which \
belong together.
"""
NOTES_FIGURE6 = (
    NOTES
    + """\
The paper says here "word-topics and document-topics are fixed and equal to 20 and 100 respectively"; elsewhere it has \
20 document-topics, so we assume that 100 word-topics are meant.
Words are those in at least five documents of the smallest training part (10 %), so that all sizes are scored on the \
same tokens. Larger training parts contain the smaller ones; the test part, a fifth, is always the same.
"""
)
ESTIMATES = {
    "sampled documents": 20,
    "particles": 10,
    "moves": 10,
    "harmonic samples": 25,
    "harmonic burn-in": 50,
    "harmonic lag": 5,
}
PROTOCOL: dict[str, Any] = {
    "seeds": 5,
    "documents": 300,
    "test share": 0.2,
    "tokens a segment": MERGED,
    **FILTERS,
    **SWEEPS,
    "document topics": 20,
    "word topics": 100,
    "controls at": [50, 100],
    **ESTIMATES,
}
QUICK: dict[str, Any] = {
    "seeds": 2,
    "documents": 150,
    "sweeps": 60,
    "burn-in": 40,
    "sampled documents": 3,
    "particles": 5,
    "harmonic samples": 5,
}


def _experiment(
    name: str,
    title: str,
    about: str,
    methods: Sequence[Method],
    settings: Sequence[Mapping[str, Any]],
    protocol: Mapping[str, Any],
    notes: str,
    quick: Mapping[str, Any],
) -> Experiment:
    return Experiment(
        name=name,
        title=title,
        source=SOURCE,
        about=about,
        data=(NIPS,),
        methods=tuple(methods),
        settings=tuple(settings),
        measures=MEASURES,
        protocol=protocol,
        quick=quick,
        prepare=prepare,
        measure=measure,
        notes=notes,
        figure=figure,
        extra=extra,
    )


METHODS = (Method(LDCC, "LDCC"), Method(LDA, "GibbsLDA"))
CONTROLS = (Method(LDA_OURS, "LDCC", {"n_document_topics": 1}), Method(LDA_SEGMENTS, "GibbsLDA"))

EXPERIMENTS = (
    _experiment(
        "ldcc-figure5",
        "LDCC and LDA: perplexity by the number of word-topics",
        ABOUT_FIGURE5,
        METHODS + CONTROLS,
        tuple({LENGTH: n_topics} for n_topics in WORD_TOPICS),
        PROTOCOL,
        NOTES,
        QUICK,
    ),
    _experiment(
        "ldcc-figure6",
        "LDCC and LDA: perplexity by the size of the training part",
        ABOUT_FIGURE6,
        METHODS,
        tuple({SIZE: share} for share in TRAINING),
        {**PROTOCOL, "documents": 1000},
        NOTES_FIGURE6,
        {**QUICK, "documents": 300, "word topics": 20},
    ),
)

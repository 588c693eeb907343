"""LDCC (Shafiei and Milios 2006): word-topics (Figures 2 and 3), and the document-topics that link them (Figure 4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topicfold.corpus.corpus import Corpus
from topicfold.metrics.coherence import coherence
from topicfold.metrics.stability import diversity
from topicfold.topics.ranking import top_word_columns

from .. import Experiment, Measure, Method
from .segmented_data import FILTERS, FIRST, MERGED, NIPS, SOURCE, SWEEPS, WIKIPEDIA, fitted, read

__all__ = ["EXPERIMENTS", "extra", "figure", "prepare"]

WORD_TOPIC, DOCUMENT_TOPIC = "word-topic ", "document-topic "
N_WORDS, N_LISTED = 10, 10  # words of a word-topic, and word-topics of a document-topic, as in the paper
DRAWN, LINKS, BOX_WORDS = 12, 4, 6  # document-topics in the picture, word-topics of each, words of these


class Topics(NamedTuple):
    """Words and share of each word-topic; word-topics with their alphas, and the share, of each document-topic."""

    words: dict[int, tuple[list[str], float]]
    links: dict[int, tuple[list[tuple[int, float]], float]]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Corpus]:
    """Both corpora, or the number of documents of each given in the protocol."""
    corpora = {name: read(name, folder, protocol) for name in (NIPS, WIKIPEDIA)}
    return {name: corpus.subset(slice(protocol["documents"])) for name, corpus in corpora.items()}


def measure(
    data: Mapping[str, Corpus], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """A few measures of a fit to all documents. The topics are stored as names of further numbers, their shares."""
    corpus = data[setting["corpus"]]
    model = fitted(method, corpus, protocol["word topics"], seed, protocol)
    columns = [top_word_columns(row, N_WORDS).tolist() for row in model.topic_word_]
    words = corpus.vocabulary or ()
    measures = {
        "npmi": float(coherence(columns, counts=corpus.counts, measure="c_npmi").mean()),
        "diversity": diversity(columns),
        "used": float((model.cluster_weight_ >= 0.01).sum()),
        "joint": float(model.history_[-1]),
    }
    for topic, (best, weight) in enumerate(zip(columns, model.topic_weight_)):
        measures[WORD_TOPIC + json.dumps([topic, [words[column] for column in best]])] = float(weight)
    for cluster, (row, weight) in enumerate(zip(model.alpha_, model.cluster_weight_)):
        linked = [[int(topic), round(float(row[topic]), 4)] for topic in np.argsort(-row, kind="stable")[:N_LISTED]]
        measures[DOCUMENT_TOPIC + json.dumps([cluster, linked])] = float(weight)
    return measures


# ---- pages ----------------------------------------------------------------------------------------------------------


def topics_of(results: Mapping[str, Any], corpus: str) -> Topics:
    """The topics of the first fit to a corpus, as stored by `measure`."""
    cells = [cell["measures"] for cell in results["cells"] if cell["setting"].get("corpus") == corpus]
    words, links = {}, {}
    for name, share in (cells[0] if cells else {}).items():
        if name.startswith(WORD_TOPIC):
            topic, best = json.loads(name[len(WORD_TOPIC) :])
            words[topic] = best, share
        if name.startswith(DOCUMENT_TOPIC):
            cluster, linked = json.loads(name[len(DOCUMENT_TOPIC) :])
            links[cluster] = [(topic, alpha) for topic, alpha in linked], share
    return Topics(words, links)


def extra(results: Mapping[str, Any]) -> list[str]:
    """Our word-topics compared with the paper's, all of our word-topics, and the document-topics."""
    lines: list[str] = []
    for corpus, (where, published) in PUBLISHED.items():
        topics = topics_of(results, corpus)
        lines += [f"## {corpus}: compared with {where}", "", "| the paper | our most similar word-topic |", "|---|---|"]
        lines += [f"| {row} | {_most_alike(row.split(), topics)} |" for row in published.splitlines()]
        lines += ["", f"## {corpus}: word-topics", "", "| topic | share of tokens | words |", "|---|---|---|"]
        for topic, (words, share) in sorted(topics.words.items(), key=lambda item: -item[1][1]):
            lines.append(f"| {topic} | {share:.1%} | {' '.join(words)} |")
        lines += [
            "",
            f"## {corpus}: document-topics",
            "",
            "Each with its first word-topics, ordered by alpha (number of the word-topic in parentheses):",
            "",
        ]
        for cluster, (linked, share) in _by_share(topics):
            lines.append(f"- {DOCUMENT_TOPIC}{cluster} ({share:.0%} of the segments)")
            for topic, alpha in linked:
                lines.append(f"  - {alpha:.2f} ({topic}) {' '.join(topics.words[topic][0][:BOX_WORDS])}")
        lines.append("")
    return lines[:-1]


def _by_share(topics: Topics) -> list[tuple[int, tuple[list[tuple[int, float]], float]]]:
    return sorted(topics.links.items(), key=lambda item: -item[1][1])


def _most_alike(published: Sequence[str], topics: Topics) -> str:
    """The word-topic that has most words in common."""
    common = {topic: len({*published} & {*words}) for topic, (words, _) in topics.words.items()}
    best = max(common, key=common.__getitem__, default=None)
    if best is None or common[best] == 0:
        return "none has any of these words"
    return f"({best}, {common[best]} of {len(published)}) {' '.join(topics.words[best][0])}"


def figure(results: Mapping[str, Any], path: Path) -> None:
    """The largest document-topics of NIPS as circles, with lines to their first word-topics; wider for larger alpha."""
    from topicfold.plots.style import COLOURS, GREY, new_figure

    topics = topics_of(results, NIPS)
    shown = {cluster: linked[:LINKS] for cluster, (linked, _) in _by_share(topics)[:DRAWN]}
    left, right = _untangled(shown)
    height = max(len(right), 2)
    picture = new_figure(9, 0.3 * height + 0.8)
    axes = picture.subplots()
    step = (height - 1) / max(len(left) - 1, 1)
    largest = max((alpha for linked in shown.values() for _, alpha in linked), default=1.0)
    for number, cluster in enumerate(left):
        y, colour = number * step, COLOURS[number % len(COLOURS)]
        for topic, alpha in shown[cluster]:
            width = 0.5 + 5 * alpha / largest
            axes.plot([0, 1], [y, right.index(topic)], color=colour, linewidth=width, alpha=0.6, zorder=1)
        share = topics.links[cluster][1]
        axes.scatter([0], [y], s=500, color="white", edgecolors=colour, linewidths=2, zorder=2)
        axes.text(0, y, str(cluster), ha="center", va="center", fontsize=9, zorder=3)
        axes.text(-0.06, y, f"{share:.0%}", ha="right", va="center", fontsize=8, color=GREY)
    box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": GREY}
    for number, topic in enumerate(right):
        words = " ".join(topics.words[topic][0][:BOX_WORDS])
        axes.text(1.01, number, words, ha="left", va="center", fontsize=8, bbox=box, zorder=3)
    axes.set_title("document-topics (share of segments) and their word-topics", loc="left", fontsize=11)
    axes.set_xlim(-0.25, 2.2)
    axes.set_ylim(height, -1)
    axes.axis("off")
    picture.savefig(path, dpi=160)


def _untangled(shown: Mapping[int, Sequence[tuple[int, float]]]) -> tuple[list[int], list[int]]:
    """Both sides in an order with few crossings of lines, by correspondence analysis."""
    left, right = np.array(sorted(shown)), np.unique([topic for linked in shown.values() for topic, _ in linked])
    table = np.array([np.isin(right, [topic for topic, _ in shown[cluster]]) for cluster in left], dtype=np.float64)
    root = np.sqrt(table.sum(axis=1)), np.sqrt(table.sum(axis=0))
    first, _, second = np.linalg.svd(table / np.outer(*root), full_matrices=False)
    place = min(1, len(second) - 1)  # the first pair is the same for all
    orders = np.argsort(first[:, place] / root[0]), np.argsort(second[place] / root[1])
    return left[orders[0]].tolist(), right[orders[1]].tolist()


# ---- the declaration ------------------------------------------------------------------------------------------------

FIGURE2 = """\
error generalization learning training optimal order large average small examples
neuron neurons synaptic firing spike time activity rate synapses potential
image images object recognition face objects hand pixel system view
analog circuit current figure chip voltage vlsi circuits digital implementation
data clustering principal cluster pca set algorithm points approach clusters
control model motor forward inverse dynamics controller feedback system position
function functions basis linear regression kernel space gaussian approximation rbf
rule rules set step form fuzzy problem relative extraction expert
distribution probability gaussian data parameters model bayesian mixture density likelihood
"""
FIGURE3 = """\
language english greek languages word russell century theory words modern
game player cards players games play card hand round played
church god christian jesus christ orthodox baptism life catholic roman
house parliament members commons lords bill act power chopin speaker
air aircraft world force military ship gun war ships navy
league football team world club home season won game major
war german army soviet battle germany world forces french union
apollo earth moon lunar time program module jpg crew mission
party government president political national minister states united election state
system computer game games apple atari commodore home software video
"""
PUBLISHED = {NIPS: ("Figure 2", FIGURE2), WIKIPEDIA: ("Figure 3", FIGURE3)}
ABOUT = """\
What do the topics of LDCC look like? LDCC has word-topics, which are distributions over words, and document-topics, \
which are mixtures of word-topics that segments of documents have in common. This page lists all of them for NIPS \
papers (nips12_raw) and Wikipedia articles (wikipedia_schools2007), next to the examples in the paper. For NPMI and \
diversity, in the tables at the end, higher is better."""
NOTES = f"""\
One fit (seed 0) to all documents of a corpus. Words are ranked by P(w | word-topic), and the word-topics of a \
document-topic by alpha, as in the paper; none is selected by hand.
The picture, like the paper's Figure 4, shows the {DRAWN} document-topics of NIPS with most segments, as circles, and \
their first {LINKS} word-topics by alpha; the wider a line, the larger alpha.
The text of NIPS is nips12_raw, 1,740 papers of the paper's 1,803, in blocks merged to about 150 tokens; Wikipedia is \
a substitute, 975 articles of the 2007 Wikipedia Selection for Schools. The columns of the paper's figures run into \
each other in the copy that we read, and were separated by their words.
The paper does not say how many word-topics its examples come from; here there are as many as in its Table 2.
NPMI is that of the first ten words, with documents as windows; diversity is the share of these words that are \
distinct.
"""

EXPERIMENTS = (
    Experiment(
        name="ldcc-topics",
        title="Word-topics and document-topics that LDCC finds",
        source=SOURCE,
        about=ABOUT,
        data=(NIPS, WIKIPEDIA),
        methods=(Method("LDCC", "LDCC"),),
        settings=({"corpus": NIPS}, {"corpus": WIKIPEDIA}),
        measures={
            "npmi": Measure("NPMI"),
            "diversity": Measure("diversity"),
            "used": Measure("document-topics with at least 1 % of the segments", 0),
            "joint": Measure("joint log-likelihood per token", 3),
        },
        protocol={
            "seeds": 1,
            "documents": None,
            "tokens a segment": MERGED,
            "first paragraphs": FIRST,
            **FILTERS,
            **SWEEPS,
            "document topics": 20,
            "word topics": 50,
        },
        quick={"documents": 150, "sweeps": 60, "burn-in": 40, "word topics": 20},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=figure,
        extra=extra,
    ),
)

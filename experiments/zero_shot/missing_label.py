"""A label that was left out: is it found, and at what cost? And do probabilities say how often a label is right?

Three corpora of short texts; each class is left out in turn. This is our own comparison, without published numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from topicfold.analysis.zero_shot import NONE, ZeroShotClassifier
from topicfold.corpus.corpus import Corpus

from .. import Experiment, Measure, Method
from ..corpora import count_words, read_records
from ..embeddings.minilm import embed
from .descriptions import AGNEWS, SEARCH_SNIPPETS, STACK_OVERFLOW
from .labels_alone import Part, calibration_error, counted

__all__ = ["EXPERIMENTS", "Described", "measure_missing", "reliability"]

CORPORA = {
    "agnews": ("agnews", AGNEWS),
    "search snippets": ("short_searchsnippets", SEARCH_SNIPPETS),
    "StackOverflow": ("short_stackoverflow", STACK_OVERFLOW),
}
BANDS = tuple(pairwise((0.0, 0.2, 0.4, 0.6, 0.8, 1.0)))  # of probability
LEAST_IN_BAND = 20  # documents; the share that is right says little in a smaller band


@dataclass(frozen=True)
class Described:
    """Documents, and the descriptions of their classes with the embeddings of these."""

    part: Part
    descriptions: Mapping[str, str]
    vectors: Mapping[str, np.ndarray]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Described]:
    """The documents of each corpus, drawn with a fixed seed, with embeddings."""
    prepared = {}
    for name, (source, descriptions) in CORPORA.items():
        records = read_records(source, folder)
        rows = np.sort(np.random.default_rng(0).permutation(len(records))[: protocol["documents"]])
        texts = [records[row]["text"] for row in rows]
        labels = np.array([records[row]["labels"][0] for row in rows])
        vectors = dict(zip(descriptions, embed(list(descriptions.values()))))
        prepared[name] = Described(Part(texts, labels, embed(texts)), descriptions, vectors)
    return prepared


def measure(
    data: Mapping[str, Described], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Means over the classes left out, for a draw of the documents, the same for every method."""
    corpus = data[setting["corpus"]]
    order = np.random.default_rng(seed).permutation(len(corpus.part.labels))
    drawn = corpus.part.rows(np.sort(order[: round(protocol["share"] * len(order))]))
    return measure_missing(
        Described(drawn, corpus.descriptions, corpus.vectors), method, seed, protocol["classes left out"]
    )


def measure_missing(data: Described, method: Method, seed: int, most_left_out: int) -> dict[str, float]:
    """How well documents of a missing label are found, and what the others lose by it; then with a complete list."""
    counts, names = counted(data.part.texts), list(data.descriptions)
    if not method.parameters["vectors"]:  # a label is of no use if the corpus has no word of its description
        names = [name for name in names if count_words(counts, [data.descriptions[name]]).nnz]
    left_out = np.random.default_rng((seed, 1)).permutation(names)[:most_left_out].tolist()
    rows = [_measured(data, counts, names, missing, method, seed) for missing in left_out]
    measures = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    model, known = _fitted(data, counts, names, method, seed), np.isin(data.part.labels, names)
    measures["complete"] = float((model.transduction_ == NONE)[known].mean())
    probability = model.doc_class_[known, : len(names)]
    right = np.array(names)[probability.argmax(axis=1)] == data.part.labels[known]
    measures["calibration"] = calibration_error(probability.max(axis=1), right)
    return measures | reliability(probability.max(axis=1), right)


def _fitted(data: Described, counts: Corpus, names: list[str], method: Method, seed: int) -> ZeroShotClassifier:
    descriptions = {name: data.descriptions[name] for name in names}
    model = ZeroShotClassifier(descriptions, n_free_topics=method.parameters["free"], random_state=seed)
    if not method.parameters["vectors"]:
        return model.fit(counts)
    described = np.stack([data.vectors[name] for name in names])
    return model.fit(counts, embeddings=data.part.vectors, label_embeddings=described)


def _measured(
    data: Described, counts: Corpus, names: list[str], missing: str, method: Method, seed: int
) -> dict[str, float]:
    from sklearn.metrics import roc_auc_score

    others = [name for name in names if name != missing]
    model = _fitted(data, counts, others, method, seed)
    forgotten, known = data.part.labels == missing, np.isin(data.part.labels, others)
    probability, none = model.doc_class_, model.transduction_ == NONE
    undescribed = probability[:, -1] if method.parameters["free"] else -probability.max(axis=1)
    label = np.array(others)[probability[:, : len(others)].argmax(axis=1)]
    return {
        "auc": float(roc_auc_score(forgotten[forgotten | known], undescribed[forgotten | known])),
        "found": float(none[forgotten].mean()),
        "wrongly": float(none[known].mean()),
        "accuracy": float((label == data.part.labels)[known].mean()),
    }


def reliability(probability: np.ndarray, right: np.ndarray) -> dict[str, float]:
    """The share of right labels by bands of their probability."""
    shares = {}
    for low, high in BANDS:
        band = (probability >= low) & ((probability < high) | (high == 1))
        if band.sum() >= LEAST_IN_BAND:
            shares[_band(low, high)] = float(right[band].mean())
    return shares


def _band(low: float, high: float) -> str:
    return f"right at {low:g}-{high:g}"


def figure(results: Mapping[str, Any], path: Path) -> None:
    """Reliability diagrams: the share of right labels against their probability, in a panel per corpus."""
    from topicfold.plots.style import COLOURS, GREY, MARKERS

    from ..grids import draw_curves

    panels = []
    for name in CORPORA:
        curves: list[dict[str, Any]] = [
            {"label": "calibrated", "color": GREY, "linestyle": "--", "x": [0, 1], "y": [0, 1]}
        ]
        for number, method in enumerate(method for method in METHODS if method.parameters["free"] == 0):
            means = {
                key: value["mean"]
                for row in results["results"]
                if (row["method"], row["setting"]["corpus"]) == (method.name, name)
                for key, value in row["measures"].items()
                if value["n"]
            }
            points = [((low + high) / 2, means.get(_band(low, high))) for low, high in BANDS]
            known = [(x, y) for x, y in points if y is not None]
            if known:
                look = {"label": method.name, "color": COLOURS[number], "marker": MARKERS[number]}
                curves.append({**look, "x": [x for x, _ in known], "y": [y for _, y in known]})
        panels.append((name, "probability of the label", curves))
    draw_curves(path, panels, "share of right labels")


METHODS = tuple(
    Method(f"{kind}, {free} free topic{'s' * (free != 1)}", None, {"vectors": kind != "words", "free": free})
    for kind in ("words", "words and embeddings")
    for free in (0, 1, 5)
)

ABOUT = """\
Somebody lists labels and forgets one. Does `ZeroShotClassifier` find the documents of the forgotten label, and how \
many documents of the others does it give up for that? Classes of three corpora of short texts are left out in turn. \
"None found" is the share of the forgotten documents that get no label, "none wrongly" the share of the others; "none, \
complete list" is the share without a label if nothing was forgotten. Accuracy is that of the likeliest label. The \
columns "right at" show the share of right labels by bands of probability; with calibrated probabilities it would lie \
within the band."""
NOTES = """\
No method sees a label. Documents: agnews, search snippets and StackOverflow titles, 1,000 of each, drawn with a fixed \
seed; each run draws four fifths of them. Descriptions are the names of the classes. Up to four classes are left out, \
one at a time, drawn by the seed.
The rule by which free topics start was settled on search snippets and on 20 Newsgroups with static embeddings; that \
more free topics leave more documents without a label was settled on the demo corpus. Its limit for one free topic was \
set after results with MiniLM on StackOverflow and with static embeddings on 20 Newsgroups had been seen. \
agnews with MiniLM was not looked at before.
None found and none wrongly are those of the documents of the fit. AUC: how well documents of the missing label are \
ranked, by the probability of none or, without free topics, by how low the largest probability is.
Calibration error: the mean difference between the probability of the label and the share of right labels, in ten \
bins, with a complete list. A band with fewer than 20 documents is left out.
Embeddings: all-MiniLM-L6-v2. Words: those in at least 5 documents and in at most 30 % of them. With words alone, a \
label without a known word in its description is left out with its documents.
"""

EXPERIMENTS = (
    Experiment(
        name="zero-shot-missing",
        title="A label that was left out",
        source="none; our own comparison",
        about=ABOUT,
        data=tuple(source for source, _ in CORPORA.values()),
        methods=METHODS,
        settings=tuple({"corpus": name} for name in CORPORA),
        measures={
            "auc": Measure("none: AUC"),
            "found": Measure("none found"),
            "wrongly": Measure("none wrongly"),
            "complete": Measure("none, complete list"),
            "accuracy": Measure("accuracy"),
            "calibration": Measure("calibration error"),
            **{_band(low, high): Measure(_band(low, high), 2) for low, high in BANDS},
        },
        protocol={"seeds": 3, "documents": 1000, "share": 0.8, "classes left out": 4},
        quick={"seeds": 1, "documents": 200, "classes left out": 2},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=figure,
    ),
)

"""DTM (Huh and Fienberg 2010): few labels on 20 Newsgroups (Fig. 1) and Yahoo! News (Fig. 2), r and gamma (Fig. 3).

Topics are learned on all documents of a draw, a linear SVM on the few that have a label; the others are the test part.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import WITH_PRIORS, WITHOUT_PRIORS, Experiment, Measure, Method
from ..corpora import load_benchmark
from ..few_labels import (
    LABEL_PROPAGATION,
    RAW_WORDS,
    SVM,
    TFIDF_WORDS,
    Documents,
    check_size,
    few_labels,
    on_graph,
    remembered,
)
from ..grids import draw_curves, looks, paired_lines, points

__all__ = ["EXPERIMENTS"]

NEWSGROUPS, YAHOO = "20newsgroups_raw", "yahoo_kseries"
SOURCE = "Huh and Fienberg 2010, Discriminative topic modeling based on manifold learning"


# ---- the three experiments ------------------------------------------------------------------------------------------


def prepare_newsgroups(folder: Path, protocol: Mapping[str, Any]) -> Documents:
    """The training part, over its most frequent words."""
    posts = load_benchmark(NEWSGROUPS, folder, split="train", stop_words="english", stemmer="porter")
    frequency = np.bincount(posts.counts.indices, minlength=posts.counts.shape[1])
    columns = np.sort(np.argsort(-frequency, kind="stable")[: protocol["words"]])
    documents = Documents(posts.counts[:, columns], np.unique(posts.label_array(), return_inverse=True)[1])
    return check_size(documents, protocol)


def prepare_yahoo(folder: Path, protocol: Mapping[str, Any]) -> Documents:
    """The documents in Entertainment with its sub-classes, over the words that enough of these documents use."""
    whole = load_benchmark(YAHOO, folder, labels="k1b")
    entertainment = np.flatnonzero(whole.label_array() == "2")
    news = load_benchmark(YAHOO, folder, labels="k1a").subset(entertainment)
    columns = np.flatnonzero(np.bincount(news.counts.indices, minlength=news.counts.shape[1]) >= protocol["min_df"])
    return check_size(
        Documents(news.counts[:, columns], np.unique(news.label_array(), return_inverse=True)[1]), protocol
    )


def measure_few(
    data: Documents, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Accuracy by the number of labels per class. Methods with a graph get the labels in it, as in the paper."""
    drawn = remembered(data.cache, ("draw", seed), lambda: _draw(data, seed, protocol["documents a class"]))

    def accuracies() -> dict[int, float]:
        labelled, label_edges = protocol["labelled"], on_graph(method)
        return few_labels(
            method, drawn, setting["n_topics"], seed, protocol, labelled=labelled, label_edges=label_edges
        )

    # words and the majority are the same for any number of topics
    by_labels = remembered(drawn.cache, method.name, accuracies) if method.estimator is None else accuracies()
    return {_labels_text(n_labelled): accuracy for n_labelled, accuracy in by_labels.items()}


def _draw(data: Documents, seed: int, a_class: int | None) -> Documents:
    """`a_class` documents of each class, drawn by the seed; None takes all of them."""
    if a_class is None:
        return Documents(data.counts, data.labels)
    order = np.random.default_rng([seed, 0]).permutation(len(data.labels))
    rows = [order[data.labels[order] == label][:a_class] for label in np.unique(data.labels)]
    return data.part(np.sort(np.concatenate(rows)))


def _labels_text(n_labelled: int) -> str:
    return f"{n_labelled} label{'s' * (n_labelled > 1)}"


# ---- figures and what is computed from the results ------------------------------------------------------------------


def figure_few(results: Mapping[str, Any], path: Path) -> None:
    """Accuracy against the number of topics, with one panel for each number of labels."""
    shown = looks(SHOWN)
    panels = []
    for n_labelled in results["protocol"]["labelled"]:
        name = _labels_text(n_labelled)
        curves = [{**look, **points(results, method, "n_topics", name)} for method, look in shown.items()]
        panels.append((f"{name} per class", "number of topics", curves))
    draw_curves(path, panels, "accuracy")


def figure_parameters(results: Mapping[str, Any], path: Path) -> None:
    """Accuracy of DTM against r and gamma."""
    from topicfold.plots.style import COLOURS

    means = {row["method"]: row["measures"]["5 labels"]["mean"] for row in results["results"] if row["measures"]}
    panels = []
    for title, key, values in (("neighbours", "r", NEIGHBOURS), ("step", "gamma", STEPS)):
        tried = [value for value in values if _parameters_text(**{key: value}) in means]
        curve = {"label": "DTM", "color": COLOURS[0], "marker": "o", "x": tried}
        curve["y"] = [means[_parameters_text(**{key: value})] for value in tried]
        others = [
            {
                "label": name,
                "color": COLOURS[number],
                "linestyle": "--",
                "x": [min(tried), max(tried)],
                "y": [means[name]] * 2,
            }
            for number, name in ((1, "LTM"), (2, "LapPLSI"))
            if name in means and tried
        ]
        panels.append((f"{title}, {key}", key, [curve, *others]))
    draw_curves(path, panels, "accuracy")


def _parameters_text(r: float = 10, gamma: float = 0.1) -> str:
    return f"DTM, r={r}, gamma={gamma:g}"


def extra_few(results: Mapping[str, Any]) -> list[str]:
    """Paired differences by the number of labels: over all numbers of topics, and over 50 topics or more."""
    measures = {_labels_text(n): _labels_text(n) for n in results["protocol"]["labelled"]}
    lines = ["## Paired differences, mean over the numbers of topics", ""]
    lines += paired_lines(results, CLAIMS, measures, claim="the order in the paper")
    many = [row["setting"] for row in results["results"] if row["setting"]["n_topics"] >= 50]
    if many:
        lines += ["", "## Paired differences, from 50 topics on", ""]
        lines += paired_lines(results, CLAIMS, measures, claim="the order in the paper", settings=many)
    lines += ["", "## Further paired differences, not in the paper, mean over the numbers of topics", ""]
    return lines + paired_lines(results, OTHER_PAIRS, measures)


def extra_parameters(results: Mapping[str, Any]) -> list[str]:
    """The best and the worst values of r and gamma, and the differences from the defaults in the same draws."""
    default = _parameters_text()
    rows = [row for row in results["results"] if row["method"].startswith("DTM, r=") and row["measures"]]
    means = {row["method"]: row["measures"]["5 labels"]["mean"] for row in rows}
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    lines = [f"The best setting is {best} ({means[best]:.3f}), the worst {worst} ({means[worst]:.3f}).", ""]
    others = [row["method"] for row in results["results"] if row["method"] not in (default, "majority")]
    return lines + paired_lines(results, [(name, default) for name in others], {"5 labels": "5 labels"})


# ---- the declarations -----------------------------------------------------------------------------------------------

NMF_START = {"init": "nmf", **WITHOUT_PRIORS}
METHODS = (
    Method("pLSA", "PLSA", {"init": "random", **WITHOUT_PRIORS}),
    Method("pLSA (NMF start)", "PLSA", NMF_START),
    Method("LDA", "GibbsLDA"),
    Method("LapPLSI", "LapPLSI", {"graph_weight": 100.0, "n_neighbors": 10, **NMF_START}),
    Method("LTM", "LTM", {"graph_weight": 10.0, "n_neighbors": 10, **NMF_START}),
    Method("DTM", "DTM", {"n_neighbors": 10, **NMF_START}),
    Method("PCA", "PCA", {"n_init": 1}),
    Method("NMF", "NMF"),
    Method(LABEL_PROPAGATION),
    Method(RAW_WORDS),
    Method(TFIDF_WORDS),
    Method("majority"),
)
OURS = (Method("LTM with priors", "LTM", WITH_PRIORS), Method("LDA with a main topic", "LDA"))
SHOWN = ("DTM", "LTM", "LapPLSI", "LDA", "pLSA", "PCA", "NMF", RAW_WORDS, TFIDF_WORDS)
CLAIMS = (
    *(("DTM", other) for other in ("LTM", "LapPLSI", "LDA", "pLSA", "PCA", "NMF", RAW_WORDS)),
    *((first, second) for first in ("LTM", "LapPLSI") for second in ("LDA", "pLSA")),
)
OTHER_PAIRS = (
    ("LTM with priors", "LTM"),
    ("LTM with priors", "DTM"),
    ("LDA with a main topic", "LDA"),
    ("DTM", TFIDF_WORDS),
    ("DTM", LABEL_PROPAGATION),
    ("DTM", "pLSA (NMF start)"),
    ("pLSA (NMF start)", "pLSA"),
    ("LapPLSI", "LTM"),
)
LABELLED = [1, 3, 5, 10]
NEIGHBOURS, STEPS = (3, 5, 10, 15, 20, 30), (0.05, 0.1, 0.2, 0.3, 0.5)

_QUESTION = """\
How well do topics work as features when only a few documents of each class have a label? A linear SVM is trained on \
the topic shares P(z|d) of the labelled documents and classifies all others, with 20, 50 and 100 topics ("n_topics" in \
the headings). The columns give the accuracy with 1, 3, 5 or 10 labels per class; higher is better. LapPLSI, LTM and \
DTM also use a graph of similar documents; "majority" always predicts the most common class."""
ABOUT_NEWSGROUPS = f"{_QUESTION} The documents are posts of 20 Newsgroups, 100 per group in each draw."
ABOUT_YAHOO = f"{_QUESTION} The documents are Yahoo! News stories on entertainment, in its sub-classes."
ABOUT_PARAMETERS = """\
How sensitive is DTM to its two parameters, the number of neighbours in the graph (r) and the step (gamma)? The column \
gives the accuracy of a linear SVM on the topics of 20 Newsgroups with 5 labels per class; higher is better. LTM, \
LapPLSI and "majority" (always the most common class) are there for comparison."""
NOTES = """\
The paper prints curves and no numbers, so there are none to compare with ours; what it says about the order of the \
methods is compared above.
All documents of a draw are seen without labels; a few of each class get one, the same for every method, and accuracy \
is over all others. Documents and labels are drawn by the seed, and smaller sets of labels are part of the larger \
ones.
LapPLSI, LTM and DTM share one binary graph, 10 nearest by cosine of tf-idf, to which the labels are added as in the \
paper: edges within a class, none between classes. So they are fitted once for each number of labels. The paper uses \
the intersection of histograms for the graph, and says that another distance works as well.
Weights were fixed beforehand, LTM 10 and LapPLSI 100 (the paper took the best of 1 to 1000 by the accuracy it \
reports); gamma is 0.1 as in the paper.
LapPLSI, LTM and DTM start from NMF on tf-idf, as is their default. The row pLSA starts at random, as the paper's pLSA \
presumably did; pLSA (NMF start) shows how much of the difference is due to the start.
SVM: rows are scaled to length one, except for raw counts, which are not scaled; C is chosen by cross-validation on \
the labelled documents alone, and is 1 where each class has a single label. Where labels are in the graph, they have \
already drawn these documents together before the cross-validation, which then says little; so LapPLSI, LTM and DTM \
may have a worse C than others.
Not blind to 20 Newsgroups: that the graph takes the logarithm of counts in its tf-idf was chosen by the share of \
neighbours in the same class on three corpora, including this one; that all documents start with the same topic shares \
in DTM was chosen by accuracy on a draw of its training part. So LapPLSI, LTM and DTM are a little optimistic there.
There are fewer numbers of topics, and fewer draws than the paper's 20, to save time; more seeds can be added to the \
same run.
The draws of a table overlap in their documents, so the intervals hold for this corpus and say little about others.
"""
NOTES_NEWSGROUPS = (
    NOTES
    + """\
The paper's preprocessed version (8,156 words) is not available. Here we use the posts of the by-date training part \
with their headers, without English stop words, with Porter's stems, and the 8,156 words that occur in most posts. \
With headers kept, tf-idf words are as good as in an earlier trial; without them all methods would lose much.
"""
)
NOTES_YAHOO = (
    NOTES
    + """\
The documents and classes are those of the paper; its words (8,104) are not available, so we use the words in 3 or \
more of the documents.
The smallest class has 9 documents. Where as many labels are asked for as a class has documents, one document is kept \
for the test: it then gets 8 of the 10 labels.
The documents are the same in every draw; only labels and starts differ.
"""
)
NOTES_PARAMETERS = """\
100 topics, 5 labels per class; draws, graph (except for r), labels and SVM are as in dtm-figure1, using its first \
draws.
The paper says that DTM is insensitive to both parameters. The differences above are from the defaults in the same \
draws.
LTM and LapPLSI, with weights as in dtm-figure1 and r = 10, are there for comparison.
"""

PROTOCOL_NEWSGROUPS = {
    "seeds": 10,
    "documents": 11314,
    "words": 8156,
    "documents a class": 100,
    "labelled": LABELLED,
    "LDA sweeps": 200,
    **SVM,
}

EXPERIMENTS = (
    Experiment(
        name="dtm-figure1",
        title="Topic models with few labels on 20 Newsgroups",
        source=f"{SOURCE}, Fig. 1",
        about=ABOUT_NEWSGROUPS,
        data=(NEWSGROUPS,),
        methods=METHODS + OURS,
        settings=tuple({"n_topics": n_topics} for n_topics in (20, 50, 100)),
        measures={_labels_text(n_labelled): Measure(_labels_text(n_labelled)) for n_labelled in LABELLED},
        protocol=PROTOCOL_NEWSGROUPS,
        quick={"seeds": 1, "labelled": [1, 5], "LDA sweeps": 50},
        prepare=prepare_newsgroups,
        measure=measure_few,
        notes=NOTES_NEWSGROUPS,
        figure=figure_few,
        extra=extra_few,
    ),
    Experiment(
        name="dtm-figure2",
        title="Topic models with few labels on Yahoo! News (Entertainment)",
        source=f"{SOURCE}, Fig. 2",
        about=ABOUT_YAHOO,
        data=(YAHOO,),
        methods=METHODS,
        settings=tuple({"n_topics": n_topics} for n_topics in (20, 50, 100)),
        measures={_labels_text(n_labelled): Measure(_labels_text(n_labelled)) for n_labelled in LABELLED},
        protocol={
            "seeds": 5,
            "documents": 1389,
            "words": 8182,
            "min_df": 3,
            "documents a class": None,
            "labelled": LABELLED,
            "LDA sweeps": 200,
            **SVM,
        },
        quick={"seeds": 1, "labelled": [1, 5], "LDA sweeps": 50},
        prepare=prepare_yahoo,
        measure=measure_few,
        notes=NOTES_YAHOO,
        figure=figure_few,
        extra=extra_few,
    ),
    Experiment(
        name="dtm-figure3",
        title="DTM's two parameters: neighbours and step, on 20 Newsgroups",
        source=f"{SOURCE}, Fig. 3",
        about=ABOUT_PARAMETERS,
        data=(NEWSGROUPS,),
        methods=(
            *(Method(_parameters_text(r=r), "DTM", {"n_neighbors": r, **NMF_START}) for r in NEIGHBOURS),
            *(
                Method(_parameters_text(gamma=gamma), "DTM", {"n_neighbors": 10, "gamma": gamma, **NMF_START})
                for gamma in STEPS
                if gamma != 0.1
            ),
            Method("DTM, exact update", "DTM", {"n_neighbors": 10, "update": "exact", **NMF_START}),
            *(method for method in METHODS if method.name in ("LTM", "LapPLSI", "majority")),
        ),
        settings=({"n_topics": 100},),
        measures={"5 labels": Measure("5 labels")},
        protocol={**PROTOCOL_NEWSGROUPS, "seeds": 5, "labelled": [5]},
        quick={"seeds": 1},
        prepare=prepare_newsgroups,
        measure=measure_few,
        notes=NOTES_PARAMETERS,
        figure=figure_parameters,
        extra=extra_parameters,
    ),
)

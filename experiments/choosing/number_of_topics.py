"""Does `select` recommend a good number of topics for corpora with known classes? Compared with other rules.

This is our own comparison; there are no published numbers. `select` does not see the classes; they are only used to
judge its recommendation.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from topicfold.analysis.recommendation import SelectionRow
from topicfold.analysis.selection import select
from topicfold.corpus.corpus import Corpus
from topicfold.datasets import load_demo
from topicfold.models.em.number_of_topics import choose_number

from .. import Experiment, Measure, Method, make_estimator
from ..corpora import load_benchmark, read_records
from ..dot_plots import Dots
from ..embeddings.embedding_graphs import make_bertopic
from ..embeddings.minilm import embed
from ..priors.held_out_text import nmi
from ..results_page import means_by_corpus

__all__ = ["EXPERIMENTS", "Texts", "read_texts"]

DEVELOPED_ON = ("short_searchsnippets", "short_stackoverflow", "20newsgroups_bow", "reuters21578_cai", "agnews")
DEVELOPED_ON += ("short_googlenews", "tdt2_cai", "thucnews_zh", "cora", "citeseer")
DEVELOPED_ON += ("demo", "yahoo_kseries", "yahoo_wap", "noticias_es")
UNSEEN = ("wikipedia_schools2007", "nips12", "nips_2001_2002_labelled")
# with so many of the classes of a corpus, drawn with the seed; chosen before any of them was tried
PARTS = {
    "20newsgroups_bow, 12 classes": ("20newsgroups_bow", 12),
    "tdt2_cai, 8 classes": ("tdt2_cai", 8),
    "short_stackoverflow, 14 classes": ("short_stackoverflow", 14),
    "short_googlenews, 70 classes": ("short_googlenews", 70),
    "short_searchsnippets, 4 classes": ("short_searchsnippets", 4),
    "thucnews_zh, 4 classes": ("thucnews_zh", 4),
    "reuters21578_cai, 25 classes": ("reuters21578_cai", 25),
    "demo, 15 classes": ("demo", 15),
    "yahoo_kseries, 10 classes": ("yahoo_kseries", 10),
    "agnews, 3 classes": ("agnews", 3),
}
WHOLE = (*DEVELOPED_ON, *UNSEEN)
CORPORA = (*WHOLE, *PARTS)
_LEAST_IN_CLASS = 20  # documents of a class that is drawn
RAW_TEXTS = (
    "agnews",
    "thucnews_zh",
    "noticias_es",
    "wikipedia_schools2007",
)  # cleaned and split into words as by default
CONSTANTS = (5, 10, 20, 40, 80)
WITH_TEXTS = ("short_searchsnippets", "short_stackoverflow", "short_googlenews", "demo")
MODELS: dict[str, dict[str, Any]] = {
    "LDA": {},
    "PLSA": {},
    "TTMM": {"n_themes": 50},
    "LTM": {},
}  # otherwise at their defaults
CLOSE = 0.03  # of NMI
_RULES = {"": "recommended", "auto": "n_topics='auto'", "earlier": "the first rule", "likeliest": "best likelihood"}
_RULES |= {"stablest": "most stable", **{f"always {size}": f"always {size}" for size in CONSTANTS}}
_ENOUGH, _UP_TO = 0.75, 2.5  # of the rule before: a share of the best gain, and times the smallest size that has it


class Texts(NamedTuple):
    """Documents with one class each, and their texts if available."""

    counts: sp.csr_array
    labels: np.ndarray
    texts: tuple[str, ...] | None
    least: int  # number of documents a word must be in


def read_texts(name: str, folder: Path) -> Texts:
    """The documents of a corpus that have exactly one class."""
    if name == "demo":
        corpus = load_demo()
    elif name in RAW_TEXTS:
        records = read_records(name, folder)
        labels = [record["labels"] for record in records]
        corpus = Corpus.from_texts([record["text"] for record in records], labels=labels, keep_texts=True)
    else:
        corpus = load_benchmark(
            name, folder, **({"stop_words": "english", "keep_texts": True} if name.startswith("short") else {})
        )
    corpus = corpus.subset([len(labels) == 1 for labels in corpus.labels or ()])
    texts = None if corpus.texts is None else tuple(corpus.texts)
    return Texts(sp.csr_array(corpus.counts), corpus.label_array(), texts, 3 if name.startswith("short") else 5)


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Texts]:
    """All corpora."""
    return {name: read_texts(name, folder) for name in WHOLE}


def some_classes(whole: Texts, n_classes: int, seed: int) -> Texts:
    """The documents of some of the classes that are not small."""
    classes, sizes = np.unique(whole.labels, return_counts=True)
    chosen = np.random.RandomState(seed).permutation(classes[sizes >= _LEAST_IN_CLASS])[:n_classes]
    rows = np.flatnonzero(np.isin(whole.labels, chosen))
    texts = None if whole.texts is None else tuple(whole.texts[row] for row in rows)
    return Texts(whole.counts[rows], whole.labels[rows], texts, whole.least)


def draw(whole: Texts, seed: int, n_documents: int) -> Texts:
    """Some documents of a corpus, over the words that are neither rare nor in more than 30 % of them."""
    rows = np.sort(np.random.RandomState(seed).permutation(whole.counts.shape[0])[:n_documents])
    counts = whole.counts[rows]
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    counts = counts[:, np.flatnonzero((frequency >= whole.least) & (frequency <= 0.3 * len(rows)))]
    long_enough = np.flatnonzero(np.asarray(counts.sum(axis=1)).ravel() >= 2)
    texts = None if whole.texts is None else tuple(whole.texts[row] for row in rows[long_enough])
    return Texts(counts[long_enough], whole.labels[rows[long_enough]], texts, whole.least)


def measure(
    data: Mapping[str, Texts], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """The recommended number of topics, and the NMI with the classes for it and for other rules."""
    if method.name == "BERTopic" and setting["corpus"] not in WITH_TEXTS:
        return {}
    if method.estimator not in (None, "LDA") and (setting["corpus"] in (*UNSEEN, *PARTS) or seed > 0):
        return {}  # to save time
    base, n_chosen = PARTS.get(setting["corpus"], (setting["corpus"], 0))
    whole = some_classes(data[base], n_chosen, seed) if n_chosen else data[base]
    texts = draw(whole, seed, protocol["documents"])
    n_classes = len(np.unique(texts.labels))
    if method.name == "BERTopic":
        return {"classes": n_classes, **_bertopic(texts, seed)}
    make_estimator(method, 2, 0).fit(np.random.default_rng(0).integers(1, 4, (60, 20)))  # compiles
    started = time.process_time()
    chosen = select(make_estimator(method, 2, seed), texts.counts, random_state=seed)
    cpu = time.process_time() - started
    rows = [row for row in chosen.rows if row.failed is None]
    untried = sorted({*CONSTANTS} - {row.params["n_topics"] for row in chosen.rows})
    if untried:  # for the other rules, on the same folds
        model = make_estimator(method, 2, seed)
        rest = select(model, texts.counts, {"n_topics": untried}, random_state=seed)
        rows += [row for row in rest.rows if row.failed is None]
    rows.sort(key=lambda row: row.topics)
    started = time.process_time()
    automatic = choose_number(texts.counts, None, None)  # what n_topics="auto" chooses
    auto_cpu = time.process_time() - started
    reached, fit_cpu = {}, {}
    for size in sorted({automatic, *(row.params["n_topics"] for row in rows)}):
        started = time.process_time()
        model = make_estimator(method, size, seed).fit(texts.counts)
        fit_cpu[size] = time.process_time() - started
        reached[size] = nmi(texts.labels, model.doc_topic_)
    best = max(reached.values())
    size = chosen.best["n_topics"]
    likeliest = max(rows, key=lambda row: row.score)
    stablest = max(rows, key=lambda row: row.stability)
    measures = {
        "classes": n_classes,
        "topics": size,
        "nmi": reached[size],
        "best nmi": best,
        "useful": useful(size, n_classes, reached[size], best),
        "edge": bool(chosen.at_edge),
        "cpu": cpu,
        "auto cpu": auto_cpu,
        "one fit": fit_cpu[size],
        "grid": sum(fit_cpu[row.params["n_topics"]] for row in chosen.rows if row.failed is None),
        "score": likeliest.score,
        "one topic": max(row.score for row in chosen.baselines),
    }
    others = {
        "auto": automatic,
        "earlier": _earlier_rule(rows, max(row.score for row in chosen.baselines)),
        "likeliest": likeliest.params["n_topics"],
        "stablest": stablest.params["n_topics"],
        **{f"always {size}": size for size in CONSTANTS if size in reached},
    }
    for rule, other in others.items():
        measures |= {
            f"{rule} topics": other,
            f"{rule} nmi": reached[other],
            f"{rule} useful": useful(other, n_classes, reached[other], best),
        }
    return measures


def _earlier_rule(rows: Sequence[SelectionRow], floor: float) -> int:
    """The most stable of the sizes from the smallest with three quarters of the best gain to 2.5 times as many."""
    best = max(row.score for row in rows) - floor
    enough = [row for row in rows if row.score - floor >= _ENOUGH * best]
    close = [row for row in enough if row.topics <= _UP_TO * enough[0].topics]
    size: int = max(close, key=lambda row: (round(row.stability, 2), row.score)).params["n_topics"]
    return size


def useful(size: int, n_classes: int, reached: float, best: float) -> bool:
    """Whether a size is within a factor of 2 of the number of classes, or its NMI is near the best of the grid."""
    return n_classes / 2 <= size <= 2 * n_classes or reached >= best - CLOSE


def _bertopic(texts: Texts, seed: int) -> dict[str, float]:
    """The number of topics that BERTopic finds itself; outliers are one cluster for NMI, but not a topic."""
    from sklearn.metrics import normalized_mutual_info_score

    assert texts.texts is not None
    vectors = embed(texts.texts)
    with warnings.catch_warnings():  # importing it changes the filters
        warnings.simplefilter("ignore")
        make_bertopic(seed).fit_transform(list(texts.texts[:500]), vectors[:500])  # compiles
        started = time.process_time()
        clusters = np.asarray(make_bertopic(seed).fit_transform(list(texts.texts), vectors)[0])
        cpu = time.process_time() - started
    return {
        "topics": len(np.unique(clusters[clusters >= 0])),
        "nmi": float(normalized_mutual_info_score(texts.labels, clusters)),
        "outliers": float((clusters < 0).mean()),
        "cpu": cpu,
    }


# ---- the page -------------------------------------------------------------------------------------------------------


def comparison(results: Mapping[str, Any]) -> list[str]:
    """The rules compared; and the model with the best held-out score, on each corpus and on the other corpora."""
    mean = means_by_corpus(results)
    lines = []
    for model in MODELS:
        cells = [row for row in results["cells"] if row["method"] == f"select, {model}" and row["error"] is None]
        if cells:
            lines += ["", f"## Recommendations for {model}", "", *_rules(model, mean, cells)]
    return [*lines[1:], "", "## Which model", "", *_models(mean)]


def _rules(model: str, mean: Mapping[tuple[str, str], Mapping[str, float]], cells: Sequence[Any]) -> list[str]:
    shown = ("auto", "earlier", "likeliest", "stablest")
    head = ["corpus", "classes", "recommended: topics, NMI", "best NMI of the grid"]
    head += [f"{_RULES[rule]}: topics, NMI" for rule in shown]
    head += ["10 topics: NMI", "20 topics: NMI", "BERTopic: topics, NMI", "at an edge"]
    head += ["CPU s: select, 'auto', one fit, BERTopic"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for corpus in CORPORA:
        figures = mean.get((f"select, {model}", corpus))
        if not figures:
            continue
        peer = mean.get(("BERTopic", corpus)) or {}
        pairs = [f"{figures[f'{rule} topics']:.0f}, {figures[f'{rule} nmi']:.3f}" for rule in shown]
        theirs = f"{peer['topics']:.0f}, {peer['nmi']:.3f}" if peer else "-"
        seconds = f"{figures['cpu']:.0f}, {figures['auto cpu']:.1f}, {figures['one fit']:.1f}, " + (
            f"{peer['cpu']:.0f}" if peer else "-"
        )
        row = [corpus, f"{figures['classes']:.0f}", f"{figures['topics']:.0f}, {figures['nmi']:.3f}"]
        row += [
            f"{figures['best nmi']:.3f}",
            *pairs,
            f"{figures['always 10 nmi']:.3f}",
            f"{figures['always 20 nmi']:.3f}",
            theirs,
            f"{figures['edge']:.0%}",
            seconds,
        ]
        lines.append(f"| {' | '.join(row)} |")
    for title, names in (
        ("corpora that the rule was settled on", DEVELOPED_ON),
        ("corpora that it was not settled on", UNSEEN),
        ("corpora with some of the classes, drawn afterwards", tuple(PARTS)),
    ):
        some = [cell["measures"] for cell in cells if cell["setting"]["corpus"] in names and cell["measures"]]
        if some:
            lines += [
                "",
                f"Out of {len(some)} runs on the {title}:",
                "",
                "| rule | useful runs | NMI below the best: mean, worst |",
            ]
            lines.append("|---|---|---|")
            for rule, said in _RULES.items():
                lost = [one["best nmi"] - one[f"{rule} nmi".strip()] for one in some]
                n_useful = sum(one[f"{rule} useful".strip()] for one in some)
                lines.append(f"| {said} | {n_useful:.0f} | {np.mean(lost):.3f}, {max(lost):.3f} |")
    return lines


def _models(mean: Mapping[tuple[str, str], Mapping[str, float]]) -> list[str]:
    models = [model for model in MODELS if any((f"select, {model}", corpus) in mean for corpus in CORPORA)]
    lines = [
        "Gain over the unigram model in nats per held-out token, and NMI, at the recommended number of topics.",
        "`select` compares models by this score. The last column is the model that wins on most of the other corpora.",
        "",
    ]
    lines += [
        f"| corpus | {' | '.join(models)} | `select` chooses | best on the others |",
        "|---" * (len(models) + 3) + "|",
    ]
    by_corpus = {
        corpus: {model: mean[f"select, {model}", corpus] for model in models if mean.get((f"select, {model}", corpus))}
        for corpus in CORPORA
    }
    complete = {corpus: figures for corpus, figures in by_corpus.items() if len(figures) == len(models)}
    winner = {corpus: max(figures, key=lambda model: figures[model]["score"]) for corpus, figures in complete.items()}
    agree, given_up = 0, []
    for corpus, figures in complete.items():
        elsewhere = Counter(model for other, model in winner.items() if other != corpus).most_common(1)
        general = elsewhere[0][0] if elsewhere else winner[corpus]
        agree += general == winner[corpus]
        given_up.append(figures[winner[corpus]]["nmi"] - figures[general]["nmi"])
        cells = [f"{one['score'] - one['one topic']:.3f}, {one['nmi']:.3f}" for one in figures.values()]
        lines.append(f"| {corpus} | {' | '.join(cells)} | {winner[corpus]} | {general} |")
    if given_up:
        said = f"The model chosen on the other corpora is that of this one on {agree} of {len(complete)}; choosing on"
        lines += ["", f"{said} this corpus instead changes the NMI by {np.mean(given_up):+.3f} on average."]
    return lines


ABOUT = """\
Does `select` recommend a sensible number of topics? It is run on corpora whose documents have known classes, which it \
does not see: short texts (short_searchsnippets: search result snippets, short_stackoverflow: titles of questions, \
short_googlenews and thucnews_zh: titles of news), agnews and noticias_es (news items), demo (descriptions of Debian \
packages), 20newsgroups_bow (posts), reuters21578_cai, tdt2_cai, yahoo_kseries and yahoo_wap (news stories), cora and \
citeseer (scientific papers), nips12 and nips_2001_2002_labelled (papers of NIPS, in its sections), \
wikipedia_schools2007 (articles with one subject); and on corpora with some of the classes of these, drawn at random. \
The first tables compare its recommendation with other rules: `n_topics="auto"`, which applies the same rule to a \
sample with LDA; the rule that `select` had first; the number of topics with the best held-out likelihood; the most \
stable number; the same number always; and what BERTopic finds. NMI compares the topics with the classes; higher is \
better. "Best NMI of the grid" is the best that any of the sizes tried could reach, and "at an edge" the share of runs \
that end at the smallest or largest size."""
NOTES = f"""`select` runs at its defaults: 5, 10, 20 and 40 topics, more if 40 are best, 3 folds, 1 seed, on at most \
3,000 documents drawn with the seed. Then every size that was tried, and 80 topics, is fitted to all of them, and the \
largest topic of each document is compared with its class.
Useful: within a factor of 2 of the number of classes, or an NMI within {CLOSE} of the best of the grid. At an edge: \
the share of runs that still end at an edge; the reason that `select` gives then says so.
The first rule: the most stable size from the smallest that reaches {_ENOUGH:g} of the best gain over the unigram \
model to {_UP_TO} times this size. It measured stability by adjusted mutual information; here it is the Rand index.
Not blind: the two weights, the numbers tried and the middle were settled among some 1,400 combinations, with LDA, on \
three other draws of {", ".join(DEVELOPED_ON)}, and of parts of these with other numbers of classes. The classes drawn \
afterwards are of the same corpora, so their documents overlap with those; only the corpora it was not \
settled on are new.
A rule without the pull to the middle of the grid, settled on fewer \
draws before, chose 80 topics for most samples of search snippets.
PLSA, TTMM and LTM are run on one draw of the corpora that the rule was settled on, to save time.
BERTopic is given embeddings by all-MiniLM-L6-v2, which are not included in its CPU time; it finds its number of \
topics by HDBSCAN. Its outliers count as one cluster.
The CPU time of `select` is that of all its fits: 3 folds x sizes."""

EXPERIMENTS = (
    Experiment(
        name="choosing",
        title="The number of topics that `select` recommends, and known classes",
        source="none; our own comparison",
        about=ABOUT,
        data=tuple(name for name in WHOLE if name != "demo"),
        methods=(*(Method(f"select, {model}", model, more) for model, more in MODELS.items()), Method("BERTopic")),
        settings=tuple({"corpus": name} for name in CORPORA),
        measures={
            "classes": Measure("classes", 0),
            "topics": Measure("topics", 0),
            "nmi": Measure("NMI"),
            "best nmi": Measure("best NMI of the grid"),
            "useful": Measure("useful runs, share", 2),
            "likeliest topics": Measure("topics, best likelihood", 0),
            "likeliest nmi": Measure("its NMI"),
            "stablest topics": Measure("topics, most stable", 0),
            "stablest nmi": Measure("its NMI"),
            "earlier topics": Measure("topics, first rule", 0),
            "earlier nmi": Measure("its NMI"),
            "auto topics": Measure("topics, 'auto'", 0),
            "auto nmi": Measure("its NMI"),
            **{f"always {size} nmi": Measure(f"NMI of {size} topics") for size in CONSTANTS},
            "edge": Measure("at an edge", 2),
            "score": Measure("best held-out score"),
            "one topic": Measure("score of the unigram model"),
            "outliers": Measure("outliers", 2),
            "cpu": Measure("CPU s", 0),
            "auto cpu": Measure("'auto', CPU s", 1),
            "one fit": Measure("one fit, CPU s", 1),
            "grid": Measure("one fit of each size, CPU s", 1),
        },
        protocol={"seeds": 2, "documents": 3000},
        quick={"seeds": 1, "documents": 300},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        extra=comparison,
        figure=Dots({"nmi": "NMI"}),
    ),
)

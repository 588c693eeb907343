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

from topicfold.analysis.selection import select
from topicfold.datasets import load_demo

from .. import Experiment, Measure, Method, make_estimator
from ..corpora import load_benchmark
from ..dot_plots import Dots
from ..embeddings.embedding_graphs import make_bertopic
from ..embeddings.minilm import embed
from ..priors.held_out_text import nmi
from ..results_page import means_by_corpus

__all__ = ["EXPERIMENTS", "Texts", "read_texts"]

DEVELOPED_ON = ("short_searchsnippets", "short_stackoverflow", "20newsgroups_bow", "reuters21578_cai")
OTHERS = ("short_googlenews", "demo", "tdt2_cai", "yahoo_kseries", "cora", "citeseer")
CORPORA = (*DEVELOPED_ON, *OTHERS)
WITH_TEXTS = ("short_searchsnippets", "short_stackoverflow", "short_googlenews", "demo")
MODELS: dict[str, dict[str, Any]] = {
    "LDA": {},
    "PLSA": {},
    "TTMM": {"n_themes": 50},
    "LTM": {},
}  # otherwise at their defaults
CLOSE = 0.03  # of NMI
_RULES = {"": "recommended", "likeliest": "best likelihood", "stablest": "most stable", "twenty": "always 20"}


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
    else:
        corpus = load_benchmark(
            name, folder, **({"stop_words": "english", "keep_texts": True} if name.startswith("short") else {})
        )
    corpus = corpus.subset([len(labels) == 1 for labels in corpus.labels or ()])
    texts = None if corpus.texts is None else tuple(corpus.texts)
    return Texts(sp.csr_array(corpus.counts), corpus.label_array(), texts, 3 if name.startswith("short") else 5)


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Texts]:
    """All corpora."""
    return {name: read_texts(name, folder) for name in CORPORA}


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
    texts = draw(data[setting["corpus"]], seed, protocol["documents"])
    n_classes = len(np.unique(texts.labels))
    if method.name == "BERTopic":
        return {"classes": n_classes, **_bertopic(texts, seed)}
    make_estimator(method, 2, 0, published=False).fit(np.random.default_rng(0).integers(1, 4, (60, 20)))  # compiles
    started = time.process_time()
    chosen = select(make_estimator(method, 2, seed, published=False), texts.counts, extend=True, random_state=seed)
    cpu = time.process_time() - started
    reached, fit_cpu = {}, {}
    for row in (row for row in chosen.rows if row.failed is None):
        size = row.params["n_topics"]
        started = time.process_time()
        model = make_estimator(method, size, seed, published=False).fit(texts.counts)
        fit_cpu[size] = time.process_time() - started
        reached[size] = nmi(texts.labels, model.doc_topic_)
    fitted = [row for row in chosen.rows if row.failed is None]
    best = max(reached.values())
    size = chosen.best["n_topics"]
    likeliest = max(fitted, key=lambda row: row.score)
    stablest = max(fitted, key=lambda row: row.stability)
    measures = {
        "classes": n_classes,
        "topics": size,
        "nmi": reached[size],
        "best nmi": best,
        "useful": useful(size, n_classes, reached[size], best),
        "edge": bool(chosen.at_edge),
        "cpu": cpu,
        "one fit": fit_cpu[size],
        "grid": sum(fit_cpu.values()),
        "score": likeliest.score,
        "one topic": max(row.score for row in chosen.baselines),
    }
    for rule, other in (
        ("likeliest", likeliest.params["n_topics"]),
        ("stablest", stablest.params["n_topics"]),
        ("twenty", 20),
    ):
        measures |= {
            f"{rule} topics": other,
            f"{rule} nmi": reached[other],
            f"{rule} useful": useful(other, n_classes, reached[other], best),
        }
    return measures


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
    head = ["corpus", "classes", "recommended: topics, NMI", "best NMI of the grid", "best likelihood: topics, NMI"]
    head += ["most stable: topics, NMI", "20 topics: NMI", "BERTopic: topics, NMI", "at an edge"]
    head += ["CPU s: select, one fit, BERTopic"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for corpus in CORPORA:
        figures = mean.get((f"select, {model}", corpus))
        if not figures:
            continue
        peer = mean.get(("BERTopic", corpus)) or {}
        pairs = [f"{figures[f'{rule} topics']:.0f}, {figures[f'{rule} nmi']:.3f}" for rule in ("likeliest", "stablest")]
        theirs = f"{peer['topics']:.0f}, {peer['nmi']:.3f}" if peer else "-"
        seconds = f"{figures['cpu']:.0f}, {figures['one fit']:.1f}, " + (f"{peer['cpu']:.0f}" if peer else "-")
        row = [corpus, f"{figures['classes']:.0f}", f"{figures['topics']:.0f}, {figures['nmi']:.3f}"]
        row += [
            f"{figures['best nmi']:.3f}",
            *pairs,
            f"{figures['twenty nmi']:.3f}",
            theirs,
            f"{figures['edge']:.0%}",
            seconds,
        ]
        lines.append(f"| {' | '.join(row)} |")
    for title, names in (("corpora the rule was developed on", DEVELOPED_ON), ("other corpora", OTHERS)):
        some = [cell["measures"] for cell in cells if cell["setting"]["corpus"] in names]
        if some:
            said = [
                f"{_RULES[rule]} {sum(one[f'{rule} useful'.strip()] for one in some):.0f}"
                f" (NMI {np.mean([one['best nmi'] - one[f'{rule} nmi'.strip()] for one in some]):.3f} below the best)"
                for rule in _RULES
            ]
            lines += ["", f"Useful runs, out of {len(some)}, on the {title}: {'; '.join(said)}."]
    return lines


def _models(mean: Mapping[tuple[str, str], Mapping[str, float]]) -> list[str]:
    models = [model for model in MODELS if any((f"select, {model}", corpus) in mean for corpus in CORPORA)]
    lines = [
        "Gain over one topic in nats per held-out token, and NMI, at the recommended number of topics. `select`",
        "compares models by this score. The last column is the model that wins on most of the other corpora.",
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
Does `select` recommend a sensible number of topics? It is run on ten corpora whose documents have known classes, \
which it does not see: short texts (short_searchsnippets: search result snippets, short_stackoverflow: titles of \
questions, short_googlenews: titles of news), demo (descriptions of Debian packages), 20newsgroups_bow (posts), \
reuters21578_cai, tdt2_cai and yahoo_kseries (news stories), cora and citeseer (scientific papers). The first tables \
compare its recommendation with other rules: the number of topics with the best held-out likelihood, the most stable \
number, always 20, and what BERTopic finds. NMI compares the topics with the classes; higher is better. "Best NMI of \
the grid" is the best that any of the sizes tried could reach, and "at an edge" the share of runs that end at the \
smallest or largest size."""
NOTES = f"""`select` runs at its defaults: 5, 10, 20, 40 and 80 topics, 3 folds, 2 seeds, extended if it recommends an \
edge (`extend=True`), on at most 3,000 documents drawn with the seed. Then every size that was tried is fitted to all \
of them, and the largest topic of each document is compared with its class.
Useful: within a factor of 2 of the number of classes, or an NMI within {CLOSE} of the best of the grid. At an edge: \
the share of runs that still end at an edge; the reason that `select` gives then says so.
Not blind: the two numbers of the rule (three quarters, two and a half times) were chosen on {", ".join(DEVELOPED_ON)} \
with LDA. Of the others, results on demo, tdt2_cai, short_googlenews and yahoo_kseries had been seen once before this \
run, without any change to the rule; those on cora and citeseer had not.
BERTopic is given embeddings by all-MiniLM-L6-v2, which are not included in its CPU time; it finds its number of \
topics by HDBSCAN. Its outliers count as one cluster.
The CPU time of `select` is that of all its fits: 3 folds x 2 seeds x sizes, and the one-topic baseline."""

EXPERIMENTS = (
    Experiment(
        name="choosing",
        title="The number of topics that `select` recommends, and known classes",
        source="none; our own comparison",
        about=ABOUT,
        data=tuple(name for name in CORPORA if name != "demo"),
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
            "twenty nmi": Measure("NMI of 20 topics"),
            "edge": Measure("at an edge", 2),
            "score": Measure("best held-out score"),
            "one topic": Measure("score of one topic"),
            "outliers": Measure("outliers", 2),
            "cpu": Measure("CPU s", 0),
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

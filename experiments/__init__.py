"""Experiments: what is compared, on which data, how, and the published numbers beside ours. One file per paper.

An experiment is a declaration; `runner.run` goes over its cells. A module lists its experiments in EXPERIMENTS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = [
    "EXPERIMENTS",
    "WITHOUT_PRIORS",
    "WITH_PRIORS",
    "Experiment",
    "Measure",
    "Method",
    "load_experiment",
    "make_estimator",
]


@dataclass(frozen=True)
class Method:
    """A row of the table: an estimator from MODELS or BASELINES with parameters, or one the experiment knows by name.

    It is run for every setting and seed, or just `once` where neither changes anything.
    """

    name: str
    estimator: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    once: bool = False
    graph: Mapping[str, Any] = field(default_factory=dict)  # how its graph differs from that of the others


@dataclass(frozen=True)
class Measure:
    """A column of the table."""

    title: str
    digits: int = 3


@dataclass(frozen=True)
class Experiment:
    """What to run, and how. Cells are methods x settings x seeds; `protocol["seeds"]` is their number.

    `prepare(folder, protocol)` reads the data once; it must be picklable. `measure(data, method, setting, seed,
    protocol)` runs a cell and returns numbers by the names in `measures`; what a method does not have is left out.
    """

    name: str
    title: str
    source: str  # the paper
    data: tuple[str, ...]  # sub-folders of the data folder
    methods: tuple[Method, ...]
    settings: tuple[Mapping[str, Any], ...]
    measures: Mapping[str, Measure]
    protocol: Mapping[str, Any]
    prepare: Callable[[Path, Mapping[str, Any]], Any]
    measure: Callable[[Any, Method, Mapping[str, Any], int, Mapping[str, Any]], Mapping[str, float]]
    quick: Mapping[str, Any] = field(default_factory=dict)  # what `--quick` changes in the protocol
    published: Mapping[tuple[str, str, str], float] = field(default_factory=dict)  # (method, setting, measure): number
    about: str = ""  # a short paragraph at the head of the page: what is asked, and how to read the tables
    notes: str = ""  # one per line
    figure: Callable[[Mapping[str, Any], Path], None] | None = None  # draws the summary into a PNG; needs matplotlib
    extra: Callable[[Mapping[str, Any]], list[str]] | None = None  # lines of Markdown computed from the summary


EXPERIMENTS: dict[str, str] = {
    "flat-20newsgroups": "flat",
    "embeddings": "embeddings.embedding_graphs",
    "embeddings-short": "embeddings.short_texts",
    "embedding-ways": "embeddings.ways",
    "ttmm-figure3": "ttmm.tuning",
    "ttmm-figure4": "ttmm.features",
    "ttmm-unlabelled": "ttmm.features",
    "ttmm-retrieval": "ttmm.retrieval",
    "ttmm-classes": "ttmm.classes",
    "ltm-table1": "ltm.clusters",
    "ltm-figure1": "ltm.clusters",
    "ltm-table2": "ltm.clusters",
    "ltm-figure2": "ltm.clusters",
    "dtm-figure1": "dtm.few_label_curves",
    "dtm-figure2": "dtm.few_label_curves",
    "dtm-figure3": "dtm.few_label_curves",
    "links": "links",
    "label-start": "label_start",
    "ldcc-figure5": "ldcc.co_clustering",
    "ldcc-figure6": "ldcc.co_clustering",
    "ldcc-table2": "ldcc.overlapping_clusters",
    "ldcc-topics": "ldcc.topic_lists",
    "hlta-table7": "hlta.hierarchies",
    "hlta-table8": "hlta.presence_likelihood",
    "hlta-tables": "hlta.hierarchies",
    "hlta-bi": "hlta.variants",
    "hlta-emission": "hlta.variants",
    "priors": "priors.held_out_text",
    "manifold-lda": "priors.manifold_lda",
    "starts": "choosing.starts",
    "choosing": "choosing.number_of_topics",
    "graph-weight": "choosing.graph_weight",
    "word-rankings": "choosing.word_rankings",
    "topic-ratings": "choosing.topic_ratings",
    "effects-coverage": "effects.coverage",
    "effects-poliblog": "effects.poliblog",
    "zero-shot": "zero_shot.labels_alone",
    "zero-shot-missing": "zero_shot.missing_label",
    "effects-prevalence": "effects.prevalence",
    "front-door": "front_door.one_call",
    "scripts": "front_door.scripts",
    "stems": "front_door.stems",
}


def load_experiment(name: str) -> Experiment:
    """The experiment of that name; its module is imported now."""
    if name not in EXPERIMENTS:
        raise ValueError(f"no experiment {name!r}; there are: {', '.join(EXPERIMENTS)}")
    module = import_module(f"{__name__}.{EXPERIMENTS[name]}")
    return next(experiment for experiment in module.EXPERIMENTS if experiment.name == name)


# The defaults of LTM and LapPLSI in the package, for rows beside the models of the papers.
WITH_PRIORS: Mapping[str, Any] = {"alpha": 1.0, "beta": 0.03, "graph_weight": "auto"}

# The models of the papers.
WITHOUT_PRIORS: Mapping[str, Any] = {"alpha": 0.0, "beta": 0.0}


def make_estimator(method: Method, n_topics: int, seed: int) -> Any:
    """The estimator of a method with this number of topics; what the method does not say is as in the package."""
    from topicfold.baselines import BASELINES
    from topicfold.models import MODELS

    table: Mapping[str, Any] = MODELS if method.estimator in MODELS else BASELINES
    return table[str(method.estimator)].make(n_topics, random_state=seed, **method.parameters)

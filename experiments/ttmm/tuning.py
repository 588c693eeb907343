"""TTMM, the report's Fig. 3: likelihood against the numbers of topics and themes and against iterations.

In the report the likelihood does not improve for many iterations ("a curious sill"). Its tables start nearly uniform,
and uniform tables are a saddle point of the likelihood; a start made from the data avoids it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import Experiment, Measure, Method
from .reuters import CORPUS, FOLDER, SOURCE, read_stories

__all__ = ["EXPERIMENTS"]

SIZES = (10, 50, 100, 200, 300, 500, 900)
FIXED = 50
ITERATIONS = (1, 2, 5, 10, 20, 50, 75, 100, 150, 200)
STARTS = ("random", "data")
UNIGRAM = "J=1, K=1 (unigram)"
EVEN = 5.0  # pseudo-counts of a word over all topics, as with 50 topics and 0.1 each
SMOOTH_UNIGRAM = f"{UNIGRAM}, smoothing {EVEN:g}"


@dataclass(frozen=True)
class Data:
    """Counts of the training and the validation part, over the words of both parts."""

    train: sp.csr_array
    validation: sp.csr_array


def prepare(folder: Path, protocol: Mapping[str, Any]) -> Data:
    """Draw the stories and split them in two; the draw and the split are the same for all seeds."""
    stories = read_stories(folder, "train", protocol["documents"], stemmer="english")
    counts = stories.counts[np.flatnonzero(stories.counts.sum(axis=1) > 0)]
    counts = counts[:, np.flatnonzero(counts.sum(axis=0) > 0)]
    order = np.random.default_rng(1).permutation(counts.shape[0])
    n_train = round(protocol["training share"] * len(order))
    return Data(counts[order[:n_train]], counts[order[n_train:]])


def measure(
    data: Data, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Negative log-likelihood per token of both parts; empty with more themes or topics than documents."""
    from sklearn.exceptions import ConvergenceWarning

    from topicfold.models.ttmm.ttmm import TTMM

    sizes = (method.parameters["n_themes"], method.parameters["n_topics"])
    if max(sizes) > min(data.train.shape):
        return {}
    parameters = {"beta": protocol["smoothing"], **method.parameters}
    model = TTMM(**parameters, random_state=seed, n_jobs=1, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.train)
    return {
        "train": _nll(model, data.train),
        "validation": _nll(model, data.validation),
        "themes": model.n_themes_used_,
        "iterations": model.n_iter_,
    }


def _nll(model: Any, counts: sp.csr_array) -> float:
    return -float(model.log_likelihood(counts).sum()) / float(counts.sum())


# ---- the figure -----------------------------------------------------------------------------------------------------


def figure(results: Mapping[str, Any], path: Path) -> None:
    """Four panels as in the report: A and C on the training part, B and D on the validation part."""
    from topicfold.plots.style import COLOURS, new_figure, tidy

    measures = {row["method"]: row["measures"] for row in results["results"]}
    picture = new_figure(8.6, 6.4)
    panels = picture.subplots(2, 2)
    lines = [
        (0, f"topics K, with J={FIXED} themes", [(size, _size_name(FIXED, size)) for size in SIZES], COLOURS[0], "o"),
        (0, f"themes J, with K={FIXED} topics", [(size, _size_name(size, FIXED)) for size in SIZES], COLOURS[1], "s"),
        (0, f"topics K, smoothing {EVEN:g}/K", [(size, _even_name(size)) for size in SIZES], COLOURS[2], "D"),
        (1, "random start", [(step, _step_name("random", step)) for step in ITERATIONS], COLOURS[1], "s"),
        (1, "data start", [(step, _step_name("data", step)) for step in ITERATIONS], COLOURS[0], "o"),
    ]
    for row, label, points, colour, marker in lines:
        for axes, part in zip(panels[row], ("train", "validation")):
            _line(axes, measures, points, part, label=label, color=colour, marker=marker)
    for axes, letter, part in zip(panels.T.flat, "ACBD", ("training", "training", "validation", "validation")):
        axes.set_title(f"{letter}  {part} part", loc="left", fontsize=11, fontweight="bold")
        axes.set_xscale("log")
        tidy(axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("NLL (nats per token)")
    for axes in panels[0]:
        _number_axis(axes, SIZES, "number of topics, or of themes")
    for axes in panels[1]:
        _unigram(axes, measures, "train" if axes is panels[1, 0] else "validation")
        _number_axis(axes, [1, 5, 20, 50, 100, 200], f"iterations (J=K={FIXED})")
    panels[0, 0].legend(frameon=False, fontsize=9)
    panels[1, 0].legend(frameon=False, fontsize=9)
    picture.savefig(path, dpi=160)


def _line(axes: Any, measures: Mapping[str, Any], points: Sequence[tuple[int, str]], part: str, **look: Any) -> None:
    points_measured = [(size, measures[name][part]) for size, name in points if part in measures.get(name, {})]
    axes.errorbar(
        [size for size, _ in points_measured],
        [value["mean"] for _, value in points_measured],
        [value["sd"] or 0.0 for _, value in points_measured],
        linewidth=1.8,
        markersize=5,
        capsize=3,
        **look,
    )


def _unigram(axes: Any, measures: Mapping[str, Any], part: str) -> None:
    if part in measures.get(SMOOTH_UNIGRAM, {}):
        axes.axhline(
            measures[SMOOTH_UNIGRAM][part]["mean"], color="#6e6e6e", linestyle=":", linewidth=1.4, label="unigram"
        )


def _number_axis(axes: Any, values: Sequence[int], title: str) -> None:
    axes.set_xticks(list(values), [str(value) for value in values])
    axes.minorticks_off()
    axes.set_xlabel(title)


# ---- the declaration ------------------------------------------------------------------------------------------------


def _size_name(n_themes: int, n_topics: int) -> str:
    return f"J={n_themes}, K={n_topics}"


def _even_name(n_topics: int) -> str:
    # the point that the lines share is fitted once
    return _size_name(FIXED, n_topics) + ("" if n_topics == FIXED else f", smoothing {EVEN:g}/K")


def _step_name(init: str, steps: int) -> str:
    return f"{init} start, {steps} iteration" + ("s" if steps > 1 else "")


def _methods() -> tuple[Method, ...]:
    pairs = [(FIXED, size) for size in SIZES] + [(size, FIXED) for size in SIZES if size != FIXED]
    sizes = [Method(_size_name(*pair), parameters={"n_themes": pair[0], "n_topics": pair[1]}) for pair in pairs]
    even = [
        Method(_even_name(size), parameters={"n_themes": FIXED, "n_topics": size, "beta": EVEN / size})
        for size in SIZES
        if size != FIXED
    ]
    fixed = {"n_themes": FIXED, "n_topics": FIXED, "tol": 0.0}
    steps = [
        Method(_step_name(init, n_steps), parameters={**fixed, "init": init, "max_iter": n_steps})
        for init in STARTS
        for n_steps in ITERATIONS
    ]
    one = {"n_themes": 1, "n_topics": 1}
    unigrams = [Method(UNIGRAM, parameters=one), Method(SMOOTH_UNIGRAM, parameters={**one, "beta": EVEN})]
    return (*unigrams, *sizes, *even, *steps)


ABOUT = """\
How does the likelihood of TTMM depend on the number of themes (J), the number of topics (K), the number of iterations \
and the start? The data are Reuters news stories, divided into a training and a validation part. NLL is the negative \
log-likelihood in nats per token; lower is better. "Themes in use" counts the themes with at least half a document."""
NOTES = """\
What it shows: with the nearly uniform random start, the flat stretch of the report appears. Until about 20 iterations \
the likelihood is that of a unigram model, and in the end only some 20 of the 50 themes are in use. With the data \
start there is no flat stretch.
Different from the report: with J=50, topics beyond 50 (100 with less smoothing) do not lower the training NLL. \
Without smoothing, for 50 themes 50 topics can do all that more topics can, so what remains is the effect of smoothing \
and of the course of EM; we did not separate the two. Fits with 500 and 900 topics and smoothing 5/K were stopped at \
100 iterations. More themes do help, also on the validation part. From the data start the validation NLL rises a \
little with the iterations.
The likelihood is exact, log P(d) of whole documents in nats per token. The words are those of both parts, as in the \
report, and a word that only validation documents have gets its probability from smoothing.
J themes, K topics. Neither can exceed the number of training documents here. The report goes on to 1,000, 1,500 and \
2,000 with fewer training documents than that; we stop at 900.
The first rows are fits from the default data start, until the objective per token rises by less than 1e-4 or for 100 \
iterations. The rows by iteration are fits with J=K=50 stopped at that iteration, from the same start for the same \
seed.
Smoothing adds 0.1 to every word in every topic, so more topics mean more smoothing in total. In the rows "smoothing \
5/K" the sum over topics is the same for every K; they were added after the other rows had been seen. The random start \
is nearly uniform, so it amounts to a unigram model with all of that smoothing.
The report's draw of documents is not known, so ours is another one, with 7,040 stems where the report has 6,269. The \
draw and the split are fixed; seeds change only the fits, so the spread says nothing about other draws.
The report prints a figure and no numbers, so there is nothing to compare our numbers with.
"""

EXPERIMENTS = (
    Experiment(
        name="ttmm-figure3",
        title="TTMM: likelihood against topics, themes and iterations",
        source=f"{SOURCE}, section 3.2.1 and Fig. 3",
        about=ABOUT,
        data=(FOLDER,),
        methods=_methods(),
        settings=(CORPUS,),
        measures={
            "train": Measure("training NLL"),
            "validation": Measure("validation NLL"),
            "themes": Measure("themes in use", 1),
            "iterations": Measure("iterations", 1),
        },
        protocol={
            "seeds": 3,
            "text": "bodies of ModApte training stories; lower case; English stop words; Snowball English stems",
            "documents": 1246,
            "training share": 0.8,
            "smoothing": 0.1,
        },
        quick={"seeds": 2, "documents": 300},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=figure,
    ),
)

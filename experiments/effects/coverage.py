"""Do 95 % intervals of effects contain the true value in 95 % of cases? Tested on generated documents.

The shares of topics depend on a factor and a number, but not on a third column. Topics are estimated by LDA and
matched to the true ones. The truth is E[theta | x], projected onto the design by least squares.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from topicfold import LDA, Corpus, effects
from topicfold.analysis.regression import Regression, regress

from .. import Experiment, Measure, Method
from ..dot_plots import Dots

__all__ = ["EXPERIMENTS", "Drawn", "draw", "true_coefficients"]

FORMULA = "~ group + dose + null"
OURS = "effects"
SHARES = "shares of the model, as if known"
DRAWS = "draws from the model's posterior"
KNOWN = "true shares of each document"
OVERLAP = {"distinct": 0.05, "alike": 0.2}  # Dirichlet prior of P(w|z): the larger, the more words topics share
_FIT = "fit"


class Drawn(NamedTuple):
    """A generated corpus with its metadata, E[theta | x], theta, and P(w|z)."""

    corpus: Corpus
    expected: np.ndarray
    doc_topic: np.ndarray
    topic_word: np.ndarray


def draw(rng: np.random.Generator, n_tokens: int, overlap: float, protocol: Mapping[str, Any]) -> Drawn:
    """Documents whose topic shares have a Dirichlet distribution with a mean that depends on their metadata."""
    n, k, n_words = protocol["documents"], protocol["topics"], protocol["words"]
    topic_word = rng.dirichlet(np.full(n_words, overlap), size=k)
    group, dose, null = rng.integers(0, 2, n), rng.uniform(-1, 1, n), rng.normal(size=n)
    logits = rng.normal(0, 0.5, (3, k))
    weights = np.exp(logits[0] + group[:, None] * logits[1] + dose[:, None] * logits[2])
    expected = weights / weights.sum(axis=1, keepdims=True)
    gamma = np.maximum(rng.standard_gamma(protocol["concentration"] * expected), 1e-300)
    doc_topic = gamma / gamma.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(n_tokens, p / p.sum()) for p in doc_topic @ topic_word])
    words = [f"w{column}" for column in range(n_words)]
    columns = {"group": np.where(group, "b", "a").astype(object), "dose": dose, "null": null}
    return Drawn(Corpus.from_counts(sp.csr_array(counts), words, metadata=columns), expected, doc_topic, topic_word)


def true_coefficients(design: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Coefficients of the least-squares regression of E[theta | x] on the design, terms x topics."""
    return np.linalg.lstsq(design, expected, rcond=None)[0]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Any]:
    """An empty dictionary for the last fit, which the methods share."""
    return {}


def measure(
    data: dict[str, Any], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Coverage of the effects and of the level, false positives, and how far the effects are shrunk."""
    key = (setting["tokens"], setting["topics"], seed)
    if data.get(_FIT, (None,))[0] != key:
        drawn = draw(np.random.default_rng([2008, *_numbers(key)]), key[0], OVERLAP[key[1]], protocol)
        data[_FIT] = (key, drawn, LDA(protocol["topics"], random_state=seed, verbose=False).fit(drawn.corpus))
    _, drawn, model = data[_FIT]
    estimates = effects(model, drawn.corpus, FORMULA)
    place = _matched(model.topic_word_, drawn.topic_word)
    design = estimates.design.matrix
    truth = true_coefficients(design, drawn.expected)[:, place]
    if method.name != OURS:
        estimates = _other(method.name, model, drawn, design, place, seed, protocol)
    return _measures(estimates, truth, estimates.df)


def _numbers(key: tuple[int, str, int]) -> tuple[int, int, int]:
    return key[0], list(OVERLAP).index(key[1]), key[2]


def _matched(topic_word: np.ndarray, true_topic_word: np.ndarray) -> np.ndarray:
    """The true topic for each estimated one: the assignment with the largest sum of Bhattacharyya coefficients."""
    from scipy.optimize import linear_sum_assignment

    likeness = np.sqrt(topic_word.astype(np.float64)) @ np.sqrt(true_topic_word).T
    return linear_sum_assignment(-likeness)[1]


def _other(
    name: str, model: LDA, drawn: Drawn, design: np.ndarray, place: np.ndarray, seed: int, protocol: Mapping[str, Any]
) -> Regression:
    known = drawn.doc_topic[:, place] if name == KNOWN else model.doc_topic_.astype(np.float64)
    if name != DRAWS:
        return regress(design, known, np.zeros_like(known))
    parameters = model.document_posterior(drawn.corpus).astype(np.float64)
    rng = np.random.default_rng(seed)
    fits = []
    for _ in range(protocol["draws"]):
        gamma = rng.standard_gamma(parameters)
        share = gamma / gamma.sum(axis=1, keepdims=True)
        fits.append(regress(design, share, np.zeros_like(share)))
    coefficients = np.array([fit.coefficients for fit in fits])
    within = np.mean([fit.covariances for fit in fits], axis=0)
    between = coefficients.var(axis=0, ddof=1) * (1 + 1 / len(fits))
    covariances = within + np.array([np.diag(values) for values in between.T])
    return Regression(coefficients.mean(axis=0), covariances, fits[0].df)


def _measures(estimates: Any, truth: np.ndarray, df: float) -> dict[str, float]:
    from scipy.stats import t

    reach = t.ppf(0.975, df) * np.sqrt(np.diagonal(estimates.covariances, axis1=1, axis2=2).T)
    covered = np.abs(estimates.coefficients - truth) <= reach
    real = slice(1, 3)
    return {
        "covered": covered[1:].mean(),
        "covered real": covered[real].mean(),
        "level covered": covered[0].mean(),
        "null": (np.abs(estimates.coefficients[3]) > reach[3]).mean(),
        "left": (estimates.coefficients[real] * truth[real]).sum() / (truth[real] ** 2).sum(),
        "width": 200 * reach[real].mean(),
    }


ABOUT = """\
`effects` estimates how the share of a topic changes with metadata, with a 95 % interval for each coefficient. Do \
these intervals contain the true coefficient in 95 % of cases? The documents are generated, so the truth is known: \
topic shares depend on a factor (group) and a number (dose), and not on a third column (null). Coverage should be near \
0.95, "null significant" near 0.05 and the slope of the effects near 1; narrower intervals are better if their \
coverage is right. "topics=distinct" and "topics=alike" are topics that share few or many words; "tokens" is the \
length of a document."""
NOTES = """Topics: P(w|z) is drawn from a Dirichlet with .05 (distinct) or .2 (alike) per word. E[theta | x] is the \
softmax of a base, a group and a dose, all normal with standard deviation .5 for each topic; theta | x is Dirichlet \
around it. LDA has its defaults.
Coverage: of the 95 % intervals of group, dose and null over all topics, the share that contain the true coefficient. \
The first row has only the noise of sampling documents; the last ignores that shares are estimated.
The level is the share of a topic in group a at dose 0. It depends on whether the estimated topic is the true one, \
which no interval here accounts for.
Slope of the effects: the slope of the estimated coefficients on the true ones; below 1 they are shrunk towards zero. \
Width: the mean length of the intervals of group and dose, in percentage points of the topic share.
How `effects` works (expected tokens without the prior, and both variance terms of the method of composition) was \
chosen on draws with other seeds. The alternatives were the model's posterior, moments of the words, maximum \
likelihood, and a prior that depends on x."""

EXPERIMENTS = (
    Experiment(
        name="effects-coverage",
        title="Intervals of effects: how often they contain the true value",
        source="generated data; the estimator follows estimateEffect of stm (Roberts, Stewart and Tingley 2019)",
        about=ABOUT,
        data=(),
        methods=(Method(KNOWN), Method(OURS), Method(DRAWS), Method(SHARES)),
        settings=(
            *({"tokens": n_tokens, "topics": "distinct"} for n_tokens in (20, 100, 500)),
            *({"tokens": n_tokens, "topics": "alike"} for n_tokens in (20, 100)),
        ),
        measures={
            "covered": Measure("coverage"),
            "covered real": Measure("coverage, group and dose"),
            "null": Measure("null significant"),
            "left": Measure("slope of the effects"),
            "width": Measure("width, percentage points", 2),
            "level covered": Measure("coverage of the level"),
        },
        protocol={"seeds": 200, "documents": 1000, "topics": 10, "words": 1000, "concentration": 3.0, "draws": 25},
        quick={"seeds": 2, "documents": 200, "words": 200, "draws": 5},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots(
            {"covered": "intervals that contain the truth", "null": "null effects called significant"},
            target={"covered": 0.95, "null": 0.05},
        ),
    ),
)

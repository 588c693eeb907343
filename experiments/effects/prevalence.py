"""Does LDA predict held-out text better when its document prior depends on metadata, in the fit or afterwards?

This is our own comparison; there are no published numbers. Each document is held out in one of five splits; the model
with metadata knows the metadata of the held-out documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from topicfold.engine.loop import State
from topicfold.metrics.completion import completion_log_likelihood_by_document, split_tokens
from topicfold.models.em.best_start import StartPriors
from topicfold.models.em.leave_one_out import state_from
from topicfold.models.em.starts import start
from topicfold.models.lda.lda import LDA

from .. import Experiment, Measure, Method
from ..dot_plots import Dots
from .metadata_corpora import READERS, WithMetadata, design_of
from .prevalence_lda import BETA, FOCUS, Prior, fit_coefficients, fold_in, shares_of, steps, topics_of
from .prevalence_page import AFTER, DEFAULT, IN_FIT, OBSERVED, PLAIN, STRENGTH, UNIGRAM, conclusion

__all__ = ["EXPERIMENTS"]


@dataclass
class Data:
    """The corpora, and the last split: the methods of a split share starts and the fit without metadata."""

    corpora: dict[str, WithMetadata]
    last: dict[tuple[Any, ...], Trial] = field(default_factory=dict)


class HeldOut(NamedTuple):
    """The tokens of some documents to be predicted, and the tokens that may be observed for it."""

    rows: np.ndarray  # in the corpus
    observed: dict[str, sp.csr_array]
    predicted: sp.csr_array


class Scores(NamedTuple):
    """Log-likelihood of each document's predicted tokens, by how much is observed, and the number of these tokens."""

    sums: dict[str, np.ndarray]
    tokens: np.ndarray


def prepare(folder: Path, protocol: Mapping[str, Any]) -> Data:
    """All corpora, or a random draw of documents from each."""
    corpora = {}
    for name, read in READERS.items():
        whole = read(folder)
        rows = np.random.RandomState(0).permutation(whole.counts.shape[0])[: protocol["documents"]]
        rows.sort()
        columns = {key: [values[row] for row in rows] for key, values in whole.columns.items()}
        corpora[name] = WithMetadata(whole.counts[rows], columns, whole.groups[rows], whole.designs)
    return Data(corpora)


def part_of(groups: np.ndarray, seed: int, n_parts: int) -> np.ndarray:
    """The part of each document, out of `n_parts`; a group is never divided."""
    names, number = np.unique(groups, return_inverse=True)
    return (np.random.RandomState(seed).permutation(len(names)) % n_parts)[number]


def held_out(counts: sp.csr_array, rows: np.ndarray, seed: int) -> HeldOut:
    """Half of the tokens of each document are predicted; the other half, or a few tokens of it, are observed."""
    half, predicted = split_tokens(counts[rows])
    rng = np.random.default_rng(seed)
    observed = {}
    for name, most in OBSERVED.items():
        few = half.copy()
        for begin, end in zip(half.indptr, half.indptr[1:]):
            counts_of_row = half.data[begin:end].astype(np.int64)
            if most is not None and counts_of_row.sum() > most:
                few.data[begin:end] = rng.multivariate_hypergeometric(counts_of_row, most)
        few.eliminate_zeros()
        observed[name] = sp.csr_array(few).astype(np.float32)
    return HeldOut(rows, observed, sp.csr_array(predicted))


class Trial:
    """One split of a corpus with a number of topics: what all methods share.

    `rows` and `test` are training and test documents; `inner` and `valid` divide `rows` again, to choose the priors.
    """

    def __init__(self, corpus: WithMetadata, n_topics: int, seed: int, protocol: Mapping[str, Any]) -> None:
        self.corpus, self.n_topics, self.seed, self.protocol = corpus, n_topics, seed, protocol
        part = part_of(corpus.groups, 0, protocol["parts"])
        self.rows, test = np.flatnonzero(part != seed), np.flatnonzero(part == seed)
        inner_part = part_of(corpus.groups[self.rows], seed, protocol["inner parts"])
        self.inner, valid = self.rows[inner_part != 0], self.rows[inner_part == 0]
        frequency = np.bincount(corpus.counts[self.rows].indices, minlength=corpus.counts.shape[1])
        known = (frequency >= protocol["min_df"]) & (frequency <= protocol["max_df"] * len(self.rows))
        self.counts = sp.csr_array(corpus.counts[:, np.flatnonzero(known)]).astype(np.float32)
        self.counts.sort_indices()
        self.train, self.inner_train = self.counts[self.rows], self.counts[self.inner]
        self.test, self.valid = (held_out(self.counts, rows, seed) for rows in (test, valid))
        self.start, self.inner_start = self._start(self.train), self._start(self.inner_train)
        self.inner_start = steps(self.inner_train, self.inner_start, protocol["first steps"], Prior(1.0))
        self._plain: tuple[Prior, State] | None = None
        self._after: dict[str, tuple[Prior, Scores]] = {}

    def _start(self, counts: sp.csr_array) -> State:
        priors = StartPriors(1.0, BETA, FOCUS)
        return state_from(
            counts, *start(counts, self.n_topics, "auto", np.random.RandomState(self.seed), {}, priors=priors)
        )

    def design(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Metadata of some documents, scaled on the training part; if shuffled, that of other documents."""
        train = self.rows
        if name == "shuffled":
            other = np.random.RandomState(self.seed).permutation(len(self.corpus.groups))
            name, train, rows = "plain", other[train], other[rows]
        return design_of(self.corpus, name, train, rows)

    def score(self, state: State, prior: Prior, shares: np.ndarray, part: HeldOut, *names: str) -> Scores:
        """Log-likelihood of the predicted tokens, where each document has its own prior."""
        inner = part is self.valid
        frequency = np.asarray((self.inner_train if inner else self.train).sum(axis=0), dtype=np.float64)
        sums, topics = {}, topics_of(state)
        for name in names or OBSERVED:
            doc_topic = fold_in(part.observed[name], state, prior.strength, shares)
            sums[name], tokens = completion_log_likelihood_by_document(part.predicted, doc_topic, topics, frequency)
        return Scores(sums, tokens)

    def best(self, tried: Mapping[Prior, tuple[State, np.ndarray]]) -> Prior:
        """The prior that predicts the validation documents best from half of their tokens."""

        def value(prior: Prior) -> float:
            state, shares = tried[prior]
            return float(self.score(state, prior, shares, self.valid, "half").sums["half"].sum())

        return max(tried, key=value)

    def plain(self) -> tuple[Prior, State]:
        """LDA, its strength chosen on validation documents."""
        if self._plain is None:
            tried = {}
            for strength in self.protocol["strengths"]:
                state = steps(self.inner_train, self.inner_start, self.protocol["tried steps"], Prior(strength))
                tried[Prior(strength)] = state, self.same(state, self.valid)
            prior = self.best(tried)
            self._plain = prior, steps(self.train, self.start, self.protocol["steps"], prior)
        return self._plain

    def same(self, state: State, part: HeldOut) -> np.ndarray:
        """The topic shares of the corpus as the prior of every document."""
        return np.tile(state["topic_share"], (len(part.rows), 1))

    def without_metadata(self, prior: Prior | None = None) -> tuple[Prior, Scores]:
        """LDA; test documents may have a prior of another strength."""
        fitted_prior, state = self.plain()
        prior = prior or fitted_prior
        return prior, self.score(state, prior, self.same(state, self.test), self.test)

    def in_the_fit(self, design: str) -> tuple[Prior, Scores]:
        """Metadata in the fit, and in the prior of test documents."""
        inner, valid = self.design(design, self.inner), self.design(design, self.valid.rows)
        tried = {}
        for prior in starmap(Prior, product(self.protocol["strengths"], self.protocol["ridges"])):
            state = steps(self.inner_train, self.inner_start, self.protocol["tried steps"], prior, inner)
            tried[prior] = state, shares_of(state["coefficients"], valid)
        prior = self.best(tried)
        state = steps(self.train, self.start, self.protocol["steps"], prior, self.design(design, self.rows))
        return prior, self.score(state, prior, self._shares(state["coefficients"], design), self.test)

    def afterwards(self, design: str) -> tuple[Prior, Scores]:
        """LDA without metadata in the fit, and metadata only in the prior of test documents."""
        if design in self._after:
            return self._after[design]
        strength = self.plain()[0].strength
        inner = steps(self.inner_train, self.inner_start, self.protocol["tried steps"], Prior(strength))
        tried: dict[Prior, tuple[State, np.ndarray]] = {}
        for ridge in self.protocol["ridges"]:
            coefficients = fit_coefficients(self._expected(inner), self.design(design, self.inner), ridge)
            shares = shares_of(coefficients, self.design(design, self.valid.rows))
            tried |= {Prior(strength_tried, ridge): (inner, shares) for strength_tried in self.protocol["strengths"]}
        prior, state = self.best(tried), self.plain()[1]
        assert prior.ridge is not None
        coefficients = fit_coefficients(self._expected(state), self.design(design, self.rows), prior.ridge)
        self._after[design] = prior, self.score(state, prior, self._shares(coefficients, design), self.test)
        return self._after[design]

    def _expected(self, state: State) -> np.ndarray:
        return state["doc_count"][:, : self.n_topics].astype(np.float64)

    def _shares(self, coefficients: np.ndarray, design: str) -> np.ndarray:
        return shares_of(coefficients, self.design(design, self.test.rows))


def measure(
    data: Data, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Log-likelihood per predicted token, and with metadata the gain over LDA and over metadata afterwards."""
    key = (setting["corpus"], setting["n_topics"], seed)
    if key not in data.last:
        data.last.clear()
        data.last[key] = Trial(data.corpora[setting["corpus"]], setting["n_topics"], seed, protocol)
    trial = data.last[key]
    if method.name == UNIGRAM:
        return _values(_unigram(trial))
    if method.name == DEFAULT:
        model = LDA(trial.n_topics, random_state=seed, n_jobs=1, verbose=False).fit(trial.train)
        state = {"word_topic": model.topic_word_.T, "topic_share": model.topic_weight_.astype(np.float64)}
        return _values(trial.score(state, Prior(1.0), trial.same(state, trial.test), trial.test))
    prior, plain = trial.without_metadata()
    if method.name == PLAIN:
        return _values(plain) | {"strength": prior.strength}
    design = next(iter(method.parameters), "plain")
    afterwards = trial.afterwards(design)
    if method.name in STRENGTH:
        return {"strength": afterwards[0].strength, **_against(trial, trial.without_metadata(afterwards[0])[1], plain)}
    prior, scores = afterwards if method.name in AFTER else trial.in_the_fit(design)
    assert prior.ridge is not None
    measures = {"strength": prior.strength, "ridge": prior.ridge, **_against(trial, scores, plain)}
    return measures | (_gain("beyond", scores, afterwards[1], trial) if method.name in IN_FIT else {})


def _unigram(trial: Trial) -> Scores:
    frequency = np.asarray(trial.train.sum(axis=0), dtype=np.float64)
    ones = np.ones((len(trial.test.rows), 1))
    words = (frequency / frequency.sum())[None]
    sums, tokens = completion_log_likelihood_by_document(trial.test.predicted, ones, words, frequency)
    return Scores(dict.fromkeys(OBSERVED, sums), tokens)


def _values(scores: Scores) -> dict[str, float]:
    return {name: float(sums.sum() / scores.tokens.sum()) for name, sums in scores.sums.items()}


def _against(trial: Trial, scores: Scores, plain: Scores) -> dict[str, float]:
    return _values(scores) | _gain("gain", scores, plain, trial)


def _gain(title: str, ours: Scores, theirs: Scores, trial: Trial) -> dict[str, float]:
    """The difference per token, and its standard error by a bootstrap over documents (over groups of them)."""
    _, group = np.unique(trial.corpus.groups[trial.test.rows], return_inverse=True)
    tokens = np.bincount(group, ours.tokens)
    drawn = np.random.default_rng(0).multinomial(
        len(tokens), np.full(len(tokens), 1 / len(tokens)), trial.protocol["resamples"]
    )
    gains = {}
    for name in OBSERVED:
        difference = np.bincount(group, ours.sums[name] - theirs.sums[name])
        gains[f"{title} {name}"] = float(difference.sum() / tokens.sum())
        gains[f"{title} {name} se"] = float(np.std((drawn @ difference) / (drawn @ tokens), ddof=1))
    return gains


ABOUT = """\
Does LDA predict held-out text better when the prior of a document depends on its metadata? Three corpora: poliblog5k \
(political blog posts of 2008), sotu (State of the Union addresses, in pieces of about 200 words) and reuters21578_raw \
(news stories), with 20 and with 50 topics. Half of the tokens of each test document are predicted from the other \
half, from 20 or 5 tokens of it, or from nothing. The columns "... observed" are the mean log-likelihood per predicted \
token, in nats; higher is better. A is the strength of the document prior in tokens, and the ridge is the penalty on \
the coefficients of the metadata; both are chosen in each split."""
NOTES = """The document prior is alpha_d = A softmax(b + x_d B), in training and for test documents; x_d is the \
document's metadata. b and B are fitted every five steps of EM by a multinomial regression of the expected topic \
counts with a ridge on B; without B the model is LDA. Everything else is as in LDA (beta 0.03, focus 3, the start, the \
number of steps), and is the same in all rows except "LDA, defaults", the estimator of the package at its defaults.
Metadata afterwards: LDA is fitted without metadata, then b and B are fitted to its topic counts. Only the prior of \
test documents changes. Strength as for metadata: the same with the A chosen there, but without the metadata; A is \
chosen with half of the tokens observed, and a larger one may predict better from a few tokens.
poliblog5k: rating and a spline of the day; finer: blog and day. sotu: speeches in pieces of about 200 words, party \
and a spline of the year; finer: president and year. reuters21578_raw: places and a spline of the day; finer: also the \
topic codes that indexers assigned. Splines are cubic with six knots; a level of a factor with fewer than 20 training \
documents has no column. Shuffled: the first design, in which each document has the metadata of another; a control \
that should gain nothing.
Reuters was chosen as the third corpus before any result was seen: news stories come with metadata such as place and \
date, and short texts are where a prior should help most. Subjects of Wikipedia articles and sections of NIPS are \
themselves topics, and NIPS papers are so long that a prior hardly matters.
Five splits, with each document in one test part. Whole speeches are held out, as pieces of one speech are not \
independent, and the bootstrap draws speeches.
Half of the tokens of a test document are predicted, always the same ones; observed is the other half, or 20 or 5 \
tokens of it, or nothing. The word frequencies of the corpus are mixed into each prediction with a weight of a \
thousandth.
A (also that of LDA) and the ridge are chosen in each split, with half of the tokens observed, on an eighth of the \
training documents.
Not quite blind: the values of A and the ridge to try were chosen on the validation documents of the first split with \
20 topics, which are test documents in other splits; gains on them were seen before the run. The rows "shuffled" and \
"strength as for", and the comparison with another fit of LDA, were added after the first results.
All rows have 60 steps, except LDA at its defaults, which takes up to 100; EM may not have converged by then."""

EXPERIMENTS = (
    Experiment(
        name="effects-prevalence",
        title="Metadata in the fit: LDA whose document prior depends on covariates",
        source="none; our own comparison. The model follows Roberts, Stewart and Tingley (2019) and Mimno and "
        "McCallum (2008)",
        about=ABOUT,
        data=tuple(READERS),
        methods=(
            Method(UNIGRAM),
            Method(DEFAULT, "LDA"),
            Method(PLAIN),
            Method(STRENGTH[0]),
            Method(AFTER[0]),
            Method(IN_FIT[0]),
            Method(STRENGTH[1], parameters={"finer": True}),
            Method(AFTER[1], parameters={"finer": True}),
            Method(IN_FIT[1], parameters={"finer": True}),
            Method(IN_FIT[2], parameters={"shuffled": True}),
        ),
        settings=tuple({"corpus": name, "n_topics": size} for name in READERS for size in (20, 50)),
        measures={
            **{name: Measure(f"{name} observed", 4) for name in OBSERVED},
            "strength": Measure("strength A", 1),
            "ridge": Measure("ridge", 0),
        },
        protocol={
            "seeds": 5,
            "parts": 5,
            "inner parts": 8,
            "documents": 10_000,
            "min_df": 10,
            "max_df": 0.5,
            "steps": 60,
            "first steps": 30,
            "tried steps": 10,
            "strengths": (0.3, 1.0, 3.0, 10.0),
            "ridges": (300.0, 3000.0, 30000.0),
            "resamples": 1000,
        },
        quick={"seeds": 1, "documents": 600, "steps": 20, "first steps": 10},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        extra=conclusion,
        figure=Dots({"half": "log-likelihood per token, half observed"}, left_out=("unigram",)),
    ),
)

"""PLSA: probabilistic latent semantic analysis (Hofmann 1999), the core of the graph models.

P(w|d) = sum_z P(z|d) P(w|z), fitted by EM. The E-step is never stored: for each cell n(d,w) the kernel takes
p = P(w|d), adds n/p P(w|z) to the document and n/p P(z|d) to the word, and goes on; memory is that of the parameters.

Tempered EM (Hofmann's TEM) raises P(z|d) P(w|z) to a power below one in the E-step, lowered step by step as long as
that helps on tokens held out of the training documents. Powers can be taken beforehand, so it runs on the same kernel.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..blocks import map_blocks, row_blocks
from ..counts import (
    as_counts,
    check_whole_numbers,
    count_tags,
    csr_parts,
    remember_documents,
    seen_words,
    vocabulary_of,
)
from ..fitting import BATCH_STEPS, Checkpoint, Run, State, fingerprint, hold_interrupts, iterate, step_size
from ..jit import njit_fast
from ..metrics import completion_log_likelihood, split_tokens
from .starts import seed_columns, start

__all__ = ["PLSA"]

SMALLEST = 1e-18  # smaller probabilities become 0: subnormal numbers make late iterations four times slower
_ROWS_A_SUM = 1 << 14
_NEW_WORDS = 1e-3
_LANES = 8  # rows are padded to whole vector registers
_VALUES_A_BLOCK = 1 << 16  # cells between two looks at the clock of Python; their P(w|d) fit in the cache
# A group of rows has its own sums over words, as large as P(w|z). A few pay soon, many only for large corpora.
_FEW_GROUPS, _VALUES_A_FEW = 4, 8  # values a word
_MOST_GROUPS, _VALUES_A_MOST = 16, 64
FOLD_IN_ITER = 100
FOLD_IN_TOL = 1e-4
_TEMPER = 0.9  # what the exponent is multiplied by when the held-out tokens stop gaining
_TEMPER_PATIENCE = 3  # lowerings without a gain
_TEMPER_HELD_OUT = 0.1  # of the tokens


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit_fast
def em_rows(indptr, indices, data, first, last, doc_topic, word_topic, word_sum, probability):
    """One EM step for documents first..last; P(z|d) is renewed in place.

    P = doc_topic @ word_topic.T;  R = n / P
    word_sum += R.T @ doc_topic;  doc_topic' = doc_topic * (R @ word_topic), rows summing to one
    probability holds P of each cell in order; a cell with P = 0 is left out, counted, and shown as 1.
    """
    n_topics = doc_topic.shape[1]
    zero = doc_topic.dtype.type(0)
    smallest = doc_topic.dtype.type(SMALLEST)
    gain = np.empty(n_topics, doc_topic.dtype)
    offset = indptr[first]
    left_out = 0
    for d in range(first, last):
        gain[:] = zero
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            p = zero
            for k in range(n_topics):
                p += doc_topic[d, k] * word_topic[w, k]
            if p > smallest * smallest:
                ratio = data[cell] / p
                for k in range(n_topics):
                    gain[k] += ratio * word_topic[w, k]
                    word_sum[w, k] += ratio * doc_topic[d, k]
                probability[cell - offset] = p
            else:
                probability[cell - offset] = 1
                left_out += 1
        total = zero
        for k in range(n_topics):
            gain[k] *= doc_topic[d, k]
            total += gain[k]
        if total > 0:  # else no usable word: the row stays
            for k in range(n_topics):
                value = gain[k] / total
                doc_topic[d, k] = value if value > smallest else zero
    return left_out


@njit_fast
def renew_words(word_topic, word_sum, prior, smoothing, n_topics):
    """P(w|z) = word_topic * word_sum + smoothing + prior, columns summing to one; in place.

    `prior` holds (word, topic, pseudo-count) of seed words. A topic without any mass keeps the words it has.
    """
    n_words = word_topic.shape[0]
    totals = np.zeros(n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            word_sum[w, k] = word_topic[w, k] * word_sum[w, k] + smoothing
    for i in range(len(prior[0])):
        word_sum[prior[0][i], prior[1][i]] += prior[2][i]
    for w in range(n_words):
        for k in range(n_topics):
            totals[k] += word_sum[w, k]
    smallest = word_topic.dtype.type(SMALLEST)
    for k in range(n_topics):
        totals[k] = 1 / totals[k] if totals[k] > 0 else 0
    for w in range(n_words):
        for k in range(n_topics):
            if totals[k] > 0:
                value = word_sum[w, k] * totals[k]
                word_topic[w, k] = value if value > smallest else 0
            word_sum[w, k] = 0


@njit_fast
def fold_in_rows(indptr, indices, data, first, last, word_topic, doc_topic, n_topics, exponent, max_iter, tol):
    """P(z|d) of documents first..last with P(w|z) fixed, each from an even start until it moves less than `tol`.

    Repeat: doc_topic = doc_topic * (n / P) @ word_topic, the row summing to one; concave, so the start does not matter.
    With an exponent below one word_topic comes as a power already. A row without a usable word is left at -1.

    All in one kernel: whether numba inlines another depends on what is in its cache, and with it the last bits.
    """
    width = word_topic.shape[1]
    zero = word_topic.dtype.type(0)
    now = np.empty(width, word_topic.dtype)
    gain = np.empty(width, word_topic.dtype)
    for d in range(first, last):
        now[:] = zero
        now[:n_topics] = 1 / n_topics
        for _ in range(max_iter):
            gain[:] = zero
            for cell in range(indptr[d], indptr[d + 1]):
                w = indices[cell]
                p = zero
                for k in range(width):
                    p += now[k] * word_topic[w, k]
                if p > 0:
                    ratio = data[cell] / p
                    for k in range(width):
                        gain[k] += ratio * word_topic[w, k]
            total = 0.0
            for k in range(n_topics):
                gain[k] *= now[k]
                total += gain[k]
            if not total > 0:
                doc_topic[d, :n_topics] = -1
                break
            change = 0.0
            for k in range(n_topics):
                value = gain[k] / total
                change += abs(value - doc_topic[d, k])
                doc_topic[d, k] = value if value > SMALLEST else 0
                now[k] = doc_topic[d, k] if exponent == 1 else doc_topic[d, k] ** exponent
            if change < tol:
                break


# ---- functions on whole matrices, shared with the models built on PLSA ----------------------------------------------


class EMStep:
    """One EM step over all documents in fixed groups of rows, each with its own sums over words.

    Called with (doc_topic, word_topic), both padded; renews them in place and returns the log-likelihood before the
    step. Which group a document is in depends on the counts alone, and sums are added in the order of the groups.
    """

    def __init__(
        self, counts: sp.csr_array, n_topics: int, n_jobs: int | None, smoothing: float, prior: tuple[Any, ...]
    ) -> None:
        self.indptr, self.indices, self.data = csr_parts(counts)
        self.n_topics, self.n_jobs, self.smoothing, self.prior = n_topics, n_jobs, smoothing, prior
        values_a_word = counts.nnz // counts.shape[1]
        few, most = values_a_word // _VALUES_A_FEW, values_a_word // _VALUES_A_MOST
        self.groups = row_blocks(self.indptr, max(1, min(few, _FEW_GROUPS), min(most, _MOST_GROUPS)))
        self.word_sums = [aligned(counts.shape[1], n_topics, counts.dtype) for _ in self.groups]
        self.left_out = 0

    def __call__(self, doc_topic: np.ndarray, word_topic: np.ndarray) -> float:
        def group(number: int) -> tuple[float, int]:
            return self._group(*self.groups[number], doc_topic, word_topic, self.word_sums[number])

        sums = map_blocks(group, range(len(self.groups)), self.n_jobs)
        log_likelihood = sum(log for log, _ in sums)
        self.left_out = sum(left_out for _, left_out in sums)
        total = self.word_sums[0]
        for more in self.word_sums[1:]:
            total += more
            more[:] = 0
        renew_words(word_topic, total, self.prior, self.smoothing, self.n_topics)
        return log_likelihood

    def _group(
        self, first: int, last: int, doc_topic: np.ndarray, word_topic: np.ndarray, word_sum: np.ndarray
    ) -> tuple[float, int]:
        indptr = self.indptr
        n_blocks = -(-int(indptr[last] - indptr[first]) // _VALUES_A_BLOCK)
        blocks = row_blocks(indptr, max(n_blocks, 1), first, last)
        most = max(int(indptr[stop] - indptr[begin]) for begin, stop in blocks)
        probability = np.empty(most, doc_topic.dtype)
        log_likelihood, left_out = 0.0, 0
        for begin, stop in blocks:
            left_out += em_rows(
                indptr, self.indices, self.data, begin, stop, doc_topic, word_topic, word_sum, probability
            )
            here = slice(indptr[begin], indptr[stop])
            logs = np.log(probability[: here.stop - here.start])  # NumPy's log is ten times faster than a kernel's
            log_likelihood += float(np.add.reduce(logs * self.data[here], dtype=np.float64))
        return log_likelihood, left_out


def aligned(n_rows: int, n_topics: int, dtype: Any) -> np.ndarray:
    """Zeros of n_rows x n_topics, columns padded to whole vector registers, starting at a 64-byte boundary."""
    width = -(-n_topics // _LANES) * _LANES
    size = n_rows * width * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    offset = -raw.ctypes.data % 64
    return raw[offset : offset + size].view(dtype).reshape(n_rows, width)


def padded(values: np.ndarray, dtype: Any) -> np.ndarray:
    """A copy in an aligned, padded array."""
    result = aligned(values.shape[0], values.shape[1], dtype)
    result[:, : values.shape[1]] = values
    return result


def fold_in(
    counts: sp.csr_array,
    topic_word: np.ndarray,
    topic_weight: np.ndarray,
    *,
    exponent: float = 1.0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """P(z|d) of documents the model has not seen, P(w|z) fixed; `topic_weight` where no word is known."""
    n_topics = len(topic_word)
    word_topic = padded(topic_word.T if exponent == 1 else topic_word.T**exponent, topic_word.dtype)
    doc_topic = np.zeros((counts.shape[0], n_topics), topic_word.dtype)
    parts = csr_parts(counts)

    def block(rows: tuple[int, int]) -> None:
        fold_in_rows(*parts, *rows, word_topic, doc_topic, n_topics, exponent, FOLD_IN_ITER, FOLD_IN_TOL)

    map_blocks(block, row_blocks(parts[0], max(1, counts.nnz // _VALUES_A_BLOCK)), n_jobs)
    doc_topic[doc_topic[:, 0] < 0] = topic_weight
    return doc_topic


# ---- the model ------------------------------------------------------------------------------------------------------


class PLSA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Probabilistic latent semantic analysis.

    Parameters
    ----------
    n_topics : number of topics.
    init : 'nmf' or 'kmeans' (on tf-idf), 'random', an array of topics x words, or 'auto': 'nmf' up to 100 topics,
        'kmeans' above.
    n_init : number of starts; the fit with the highest likelihood is kept.
    max_iter, tol : EM stops after max_iter steps, or when the log-likelihood a token rises by less than tol.
    tempered : lower the exponent of the E-step as long as that helps on a tenth of the tokens, held out (TEM).
    smoothing : pseudo-count of every word in every topic; 0 is maximum likelihood.
    seed_words : words that guide topics, {topic: [words]} or a list of lists; strings where X has words (a Corpus or
        a data frame), else columns.
    seed_strength : how strong the guide is: its pseudo-counts, as a share of an average topic's tokens.
    dtype : 'float32' or 'float64'.
    random_state, n_jobs : as in scikit-learn; the result does not depend on n_jobs.
    verbose : True shows progress, False does not, None does on a terminal.
    checkpoint : a file that a killed fit resumes from.

    Attributes
    ----------
    topic_word_ : P(w|z), topics x words; also as components_.
    doc_topic_ : P(z|d) of the training documents, the same as transform gives for them.
    topic_weight_ : P(z), the corpus's own mix of topics.
    word_frequency_ : tokens of each word in training.
    history_ : log-likelihood a token (with a prior: the objective a token) before each step; held-out when tempered.
    n_iter_, converged_, interrupted_ : steps taken; whether tol was reached; whether Ctrl-C ended it.
    exponent_ : exponent of the E-step, 1 unless tempered.
    left_out_ : counts with P(w|d) = 0, which EM cannot use; 0 unless init has zeros.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> model = PLSA(n_topics=2, random_state=0).fit(corpus)
    >>> model.transform(["cat and dog", "sun and star"]).round(2).argmax(axis=1).tolist() in ([0, 1], [1, 0])
    True
    """

    topic_word_: np.ndarray
    doc_topic_: np.ndarray
    topic_weight_: np.ndarray
    word_frequency_: np.ndarray
    history_: np.ndarray

    def __init__(
        self,
        n_topics: int = 20,
        *,
        init: Any = "auto",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        tempered: bool = False,
        smoothing: float = 0.0,
        seed_words: Mapping[int, Sequence[Any]] | Sequence[Sequence[Any]] | None = None,
        seed_strength: float = 0.1,
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.tempered = tempered
        self.smoothing = smoothing
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None) -> PLSA:
        """Fit topics to documents x words: a Corpus, a sparse or dense matrix, or a data frame."""
        dtype = check_parameters(self)
        counts = as_counts(self, X, reset=True, dtype=dtype)
        check_size(counts, self.n_topics)
        seeds = seed_columns(self.seed_words, self.n_topics, vocabulary_of(self), counts.shape[1])
        prior = _seed_prior(seeds, float(counts.sum(dtype=np.float64)) / self.n_topics * self.seed_strength, dtype)
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint, fingerprint(self, counts))
        best, run = self._best_of_starts(counts, seeds, prior, checkpoint)
        if "best_score" in best:  # tempered: max_iter or Ctrl-C can end the search off its best point
            best = _take(best, "best_")
        with hold_interrupts():
            self._keep(counts, best, run)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> PLSA:
        """Learn from one more batch of a stream of documents, by stepwise EM; batches are not kept.

        The first batch is fitted as by `fit`; each further one moves the topics a little less. `doc_topic_` is that of
        the last batch, `history_` the log-likelihood a token of each batch before it was learned from. All batches
        must have the same words. `tempered` is not for streams.
        """
        if self.tempered:
            raise ValueError("tempered=True needs all documents at once: use fit")
        if not hasattr(self, "topic_word_"):
            self.fit(X)
            self.n_batches_ = 1
            self.history_ = self.history_[-1:]
            return self
        counts = as_counts(self, X, reset=False, dtype=self.topic_word_.dtype)
        if counts.nnz:
            self._learn_batch(counts)
        remember_documents(self, X)
        self.doc_topic_ = fold_in(counts, self.topic_word_, self.topic_weight_, n_jobs=self.n_jobs)
        return self

    def _learn_batch(self, counts: sp.csr_array) -> None:
        n_topics, lengths = self.n_topics, counts.sum(axis=1, dtype=np.float64)
        n_tokens, n_before = float(lengths.sum()), getattr(self, "n_batches_", 1)
        share = step_size(n_before)
        frequency = counts.sum(axis=0, dtype=np.float64) + self.word_frequency_
        # A little of the corpus in each topic: a word that no topic has had yet would be left out for ever.
        corpus = _NEW_WORDS * frequency / frequency.sum()
        weight = self.topic_weight_.astype(np.float64)
        before = (1 - share) * weight[:, None] * self.topic_word_ + share * self.smoothing / max(frequency.sum(), 1)
        step = EMStep(counts, n_topics, self.n_jobs, 0.0, _seed_prior({}, 0.0, counts.dtype))
        doc = padded(fold_in(counts, self.topic_word_, self.topic_weight_, n_jobs=self.n_jobs), counts.dtype)
        topic_word, values = self.topic_word_, []
        for _ in range(BATCH_STEPS):
            word = padded(((1 - _NEW_WORDS) * topic_word + corpus).T, counts.dtype)
            values.append(step(doc, word) / n_tokens)
            # P(z, w) of the stream so far, moved towards that of the batch
            joint = before + share * (lengths @ doc[:, :n_topics] / n_tokens)[:, None] * word[:, :n_topics].T
            topic_word = _normalised(joint)
        self.topic_word_ = np.ascontiguousarray(topic_word.astype(counts.dtype))
        self.topic_weight_ = (joint.sum(axis=1) / joint.sum()).astype(counts.dtype)
        self.word_frequency_ = frequency
        self.n_batches_ = n_before + 1
        self.history_ = np.append(self.history_, values[0])
        self.n_iter_ = len(self.history_)

    def transform(self, X: Any) -> np.ndarray:
        """P(z|d) of new documents, one row each, whatever else is in the batch; raw texts where words are known."""
        check_is_fitted(self)
        counts = as_counts(self, X, reset=False, dtype=self.topic_word_.dtype)
        counts = seen_words(counts, self.word_frequency_)
        return fold_in(counts, self.topic_word_, self.topic_weight_, exponent=self.exponent_, n_jobs=self.n_jobs)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return P(z|d) of the training documents."""
        return self.fit(X, y).doc_topic_

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood a token by document completion: half of each document is seen, the rest is scored."""
        check_is_fitted(self)
        counts = as_counts(self, X, reset=False, dtype=self.topic_word_.dtype)
        check_whole_numbers(counts, "score (document completion)")
        seen, held_out = split_tokens(counts)
        seen = seen_words(seen, self.word_frequency_)
        doc_topic = fold_in(seen, self.topic_word_, self.topic_weight_, exponent=self.exponent_, n_jobs=self.n_jobs)
        return completion_log_likelihood(held_out, doc_topic, self.topic_word_, self.word_frequency_)

    @property
    def components_(self) -> np.ndarray:
        """P(w|z), by scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def __sklearn_tags__(self) -> Any:
        return count_tags(super().__sklearn_tags__())

    def _best_of_starts(
        self, counts: sp.csr_array, seeds: dict[int, np.ndarray], prior: Any, checkpoint: Checkpoint | None
    ) -> tuple[State, Run]:
        """Run EM from each start and keep the best; a checkpoint holds the run under way and the best before it."""
        resumed = None if checkpoint is None else checkpoint.read()
        best: tuple[State, Run] | None = None
        start_seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_init)
        for number, seed in enumerate(start_seeds):
            history: list[float] = []
            if resumed is not None and number < resumed[1]["start"]:
                continue
            if resumed is not None:
                state, notes = resumed
                history, resumed = notes["history"], None
                if number > 0:
                    best = (_take(state, "best."), Run(notes["best_history"], notes["best_converged"], True))
            else:
                state = self._start(counts, seeds, np.random.RandomState(seed))
            if best is not None:
                state.update({f"best.{name}": value for name, value in best[0].items()})
            notes = {"start": number}
            if best is not None:
                notes |= {"best_history": best[1].history, "best_converged": best[1].converged}
            run = iterate(
                self._step(counts, prior),
                state,
                max_iter=self.max_iter,
                tol=self.tol,
                title=f"PLSA, start {number + 1} of {self.n_init}" if self.n_init > 1 else "PLSA",
                verbose=self.verbose,
                checkpoint=checkpoint,
                notes=notes,
                history=history,
            )
            _take(state, "best.")
            if best is None or max(run.history, default=-np.inf) > max(best[1].history):
                best = (state, run)
            if not run.finished:
                best = (best[0], run._replace(history=best[1].history))
                break
        assert best is not None
        return best

    def _start(self, counts: sp.csr_array, seeds: dict[int, np.ndarray], rng: np.random.RandomState) -> State:
        doc_topic, topic_word = start(counts, self.n_topics, self.init, rng, seeds)
        return {"doc_topic": padded(doc_topic, counts.dtype), "word_topic": padded(topic_word.T, counts.dtype)}

    def _step(self, counts: sp.csr_array, prior: tuple[Any, ...]) -> Callable[[State], Any]:
        if self.tempered:
            return _tempered_step(counts, self.n_topics, self.n_jobs, self.smoothing, prior, self.tol)
        step = EMStep(counts, self.n_topics, self.n_jobs, self.smoothing, prior)
        n_tokens = max(float(counts.sum(dtype=np.float64)), 1e-300)

        def plain(state: State) -> float:
            word_topic = state["word_topic"]
            penalty = _log_prior(word_topic[:, : self.n_topics], self.smoothing, prior)
            objective = (step(state["doc_topic"], word_topic) + penalty) / n_tokens
            state["left_out"] = np.array(step.left_out)
            return objective

        return plain

    def _keep(self, counts: sp.csr_array, state: State, run: Run) -> None:
        n_topics, doc_topic = self.n_topics, state["doc_topic"]
        self.topic_word_ = np.ascontiguousarray(_normalised(state["word_topic"][:, :n_topics].T))
        lengths = counts.sum(axis=1, dtype=np.float64)
        rows = [slice(first, first + _ROWS_A_SUM) for first in range(0, len(doc_topic), _ROWS_A_SUM)]
        weight = np.sum([lengths[here] @ doc_topic[here, :n_topics] for here in rows], axis=0)
        self.topic_weight_ = (weight / weight.sum()).astype(counts.dtype)
        self.word_frequency_ = counts.sum(axis=0, dtype=np.float64)
        self.exponent_ = float(state["exponent"]) if "exponent" in state else 1.0
        # Folded in like any document: EM's own P(z|d) lags behind when it stops early, and a classifier trained on it
        # would meet other features in new documents.
        self.doc_topic_ = fold_in(
            counts, self.topic_word_, self.topic_weight_, exponent=self.exponent_, n_jobs=self.n_jobs
        )
        self.history_ = np.array(run.history)
        self.n_iter_ = len(run.history)
        self.converged_ = run.converged
        self.interrupted_ = not run.finished
        self.left_out_ = int(state.get("left_out", 0))
        if self.left_out_:
            warnings.warn(
                f"{self.left_out_:,} counts of words that the start gave no probability are left out of the likelihood",
                stacklevel=3,
            )


def check_parameters(model: Any) -> np.dtype:
    """Raise on parameters no PLSA-like model can use; the dtype."""
    parameters = model.get_params(deep=False)
    for name, least in (("n_topics", 1), ("n_init", 1), ("max_iter", 1)):
        value = parameters.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name}={value!r}: expected a whole number, at least {least}")
    for name in ("tol", "smoothing", "seed_strength"):
        value = parameters.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
            raise ValueError(f"{name}={value!r}: expected a number, zero or more")
    dtype = np.dtype(model.dtype)
    if dtype not in (np.dtype("float32"), np.dtype("float64")):
        raise ValueError(f"dtype={model.dtype!r}: expected 'float32' or 'float64'")
    return dtype


def check_size(counts: sp.csr_array, n_topics: int) -> None:
    """Raise when there are more topics than documents or words: some would have nothing to be made of."""
    n_documents, n_words = counts.shape
    if n_topics > min(n_documents, n_words):
        raise ValueError(
            f"n_topics={n_topics} is more than there are documents or words "
            f"(n_samples={n_documents}, n_features={n_words}): choose at most {min(n_documents, n_words)}"
        )
    if counts.nnz == 0:
        raise ValueError(f"all {n_documents} documents are empty: there is not one word to fit")


def _tempered_step(
    counts: sp.csr_array, n_topics: int, n_jobs: int | None, smoothing: float, prior: tuple[Any, ...], tol: float
) -> Callable[[State], tuple[float, bool]]:
    """Steps of tempered EM: (held-out log-likelihood a token, done).

    While the held-out tokens gain, go on; when they do not, go back to the best parameters and lower the exponent;
    when three lower exponents in a row bring nothing, stop there.
    """
    check_whole_numbers(counts, "tempered=True")
    seen, held_out = split_tokens(counts, observed=1 - _TEMPER_HELD_OUT)
    if held_out.nnz == 0:
        raise ValueError("tempered=True holds out a tenth of each document's tokens, and no document has ten")
    step = EMStep(seen, n_topics, n_jobs, smoothing, prior)
    word_frequency = seen.sum(axis=0, dtype=np.float64)

    def tempered(state: State) -> tuple[float, bool]:
        doc_topic, word_topic = state["doc_topic"], state["word_topic"]
        if "best_score" not in state:
            state |= {"exponent": np.array(1.0), "best_exponent": np.array(1.0), "fruitless": np.array(0)}
            state |= {"best_score": np.array(-np.inf)}
            state |= {"best_doc_topic": doc_topic.copy(), "best_word_topic": word_topic.copy()}
        if state["exponent"] != 1:
            doc_topic **= state["exponent"]
            word_topic **= state["exponent"]
        step(doc_topic, word_topic)
        doc_topic[:], word_topic[:] = _normalised(doc_topic), _normalised(word_topic.T).T  # rows no token touched
        topics = np.ascontiguousarray(word_topic[:, :n_topics].T)
        score = completion_log_likelihood(held_out, doc_topic[:, :n_topics], topics, word_frequency)
        if score > state["best_score"] + tol:
            state |= {"best_score": np.array(score), "fruitless": np.array(0)}
            state["best_exponent"] = state["exponent"].copy()
            state["best_doc_topic"][:], state["best_word_topic"][:] = doc_topic, word_topic
            return score, False
        doc_topic[:], word_topic[:] = state["best_doc_topic"], state["best_word_topic"]
        if state["fruitless"] == _TEMPER_PATIENCE:
            state["exponent"] = state["best_exponent"]
            return float(state["best_score"]), True
        state |= {"exponent": state["exponent"] * _TEMPER, "fruitless": state["fruitless"] + 1}
        return float(state["best_score"]), False

    return tempered


def _seed_prior(seeds: dict[int, np.ndarray], strength: float, dtype: Any) -> tuple[Any, ...]:
    """Seed words as (words, topics, pseudo-counts); a topic's strength is shared out among its words."""
    words = [columns for _, columns in sorted(seeds.items())]
    topics = [np.full(len(columns), topic) for topic, columns in sorted(seeds.items())]
    weights = [np.full(len(columns), strength / len(columns)) for columns in words]

    def joined(parts: list[np.ndarray], kind: Any) -> np.ndarray:
        return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)

    return joined(words, np.int64), joined(topics, np.int64), joined(weights, dtype)


def _log_prior(word_topic: np.ndarray, smoothing: float, prior: tuple[Any, ...]) -> float:
    """Log-density of P(w|z) under the pseudo-counts, up to a constant; EM climbs the likelihood plus this."""
    words, topics, weights = prior
    total = 0.0
    if len(words):
        total += float((weights * np.log(np.maximum(word_topic[words, topics], SMALLEST))).sum(dtype=np.float64))
    if smoothing > 0:
        total += smoothing * float(np.log(np.maximum(word_topic, SMALLEST)).sum(dtype=np.float64))
    return total


def _normalised(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(rows.sum(axis=1, keepdims=True), np.finfo(rows.dtype).tiny)


def _take(state: State, prefix: str) -> State:
    """Remove the entries under a prefix and return them without it."""
    return {name.removeprefix(prefix): state.pop(name) for name in list(state) if name.startswith(prefix)}

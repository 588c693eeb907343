"""The number of topics, chosen by fits to parts of a sample of the documents: n_topics="auto".

Four numbers are tried with LDA, whatever the model, and twice the largest for as long as it is the best. Each is fitted
three times, with a third of the sample left out in turn. The number with the best balance of two figures is chosen: how
well the fits agree on which documents belong together, and how much better than word frequencies they predict the
documents left out. With more topics, the first usually falls and the second rises; where neither is clear, a number in
the middle of those tried is a better guess than one at an end. `select` uses the same rule on all documents, and shows
the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from ...engine.blocks import map_blocks
from ...engine.checks import has_whole_numbers
from ...engine.mapped import release
from ...engine.progress import progress
from ...metrics.completion import completion_log_likelihood, split_tokens

__all__ = [
    "LEAST_DOCUMENTS",
    "SIZES",
    "balances",
    "choose_number",
    "mean_rand_index",
    "unigram_log_likelihood",
    "untried_number",
]

SIZES = (5, 10, 20, 40)
_GAIN_WEIGHT = 0.3  # of the share of the best gain, beside an agreement of up to 1
_DISTANCE_WEIGHT = 0.04  # of the squared distance from the middle of the numbers tried, in doublings
_FOLDS = 3
_MOST_DOCUMENTS, _MOST_CELLS = 2_500, 200_000  # of the sample: the choice must not take longer than a fit and a page
LEAST_DOCUMENTS = 60  # fewer say nothing about the number
_DOCUMENTS_PER_TOPIC = 4  # at least, in each fit
_MOST_STEPS = 30
_FEW = 5  # documents per topic, if none is tried


def balances(agreement: Sequence[float], gain: Sequence[float], n_topics: Sequence[float]) -> np.ndarray:
    """What the chosen number has most of: agreement + 0.3 gain / best gain - 0.04 log2(n_topics / middle)^2.

    The gain is that in prediction over word frequencies; the middle is the geometric one of the numbers tried.
    """
    share = np.asarray(gain) / max(gain) if max(gain) > 0 else np.zeros(len(gain))
    doublings = np.log2(np.asarray(n_topics, np.float64) / np.sqrt(min(n_topics) * max(n_topics)))
    return np.asarray(agreement) + _GAIN_WEIGHT * share - _DISTANCE_WEIGHT * doublings**2


def mean_rand_index(clusterings: Sequence[np.ndarray]) -> float:
    """The mean adjusted Rand index over all pairs of clusterings; a single cluster agrees with none."""
    from sklearn.metrics import adjusted_rand_score

    values = [
        adjusted_rand_score(one, other) if min(len(np.unique(one)), len(np.unique(other))) > 1 else 0.0
        for one, other in combinations(clusterings, 2)
    ]
    return float(np.mean(values)) if values else 0.0


def unigram_log_likelihood(training: sp.csr_array, hidden: sp.csr_array) -> float:
    """Log-likelihood per token of held-out tokens, by the word frequencies of the training documents."""
    frequency = np.asarray(training.sum(axis=0), dtype=np.float64)
    share = frequency / max(frequency.sum(), 1)
    return completion_log_likelihood(hidden, np.ones((hidden.shape[0], 1)), share[None], frequency)


def untried_number(n_documents: int, n_words: int) -> int:
    """A number of topics if none can be tried: 10, or at least five documents per topic, but two if possible."""
    return max(1, min(SIZES[1], max(2, n_documents // _FEW), n_documents, n_words))


def choose_number(counts: sp.csr_array, n_jobs: int | None, verbose: bool | None) -> int:
    """The number of topics for these documents. It does not depend on any seed."""
    rng = np.random.RandomState(0)
    rows = np.flatnonzero(np.diff(counts.indptr))
    if len(rows) < LEAST_DOCUMENTS or not has_whole_numbers(counts):
        return untried_number(len(rows), counts.shape[1])
    rows = rng.permutation(rows)[:_MOST_DOCUMENTS]
    n_cells = np.cumsum(np.diff(counts.indptr)[rows])
    rows = rows[: max(LEAST_DOCUMENTS, int(np.searchsorted(n_cells, _MOST_CELLS, side="right")))]
    sample = sp.csr_array(counts[np.sort(rows)])
    release(counts.indices)
    release(counts.data)
    fold_of = rng.permutation(len(rows)) % _FOLDS
    most = min(int((fold_of > 0).sum()) // _DOCUMENTS_PER_TOPIC, counts.shape[1])
    sizes = [size for size in SIZES if size <= most]
    if len(sizes) < 2:
        return untried_number(len(rows), counts.shape[1])
    return _best_balanced(sample, fold_of, sizes, most, n_jobs, verbose)


def _best_balanced(
    sample: sp.csr_array, fold_of: np.ndarray, sizes: Sequence[int], most: int, n_jobs: int | None, verbose: bool | None
) -> int:
    """The number with the best balance; twice the largest of `sizes` is tried, up to `most`, as long as it is best."""
    agreement: dict[int, float] = {}
    gain: dict[int, float] = {}
    untried = list(sizes)
    while True:
        fits = _fits(sample, fold_of, untried, n_jobs, verbose)
        for size in untried:
            clusters, gains = zip(*(fits[size, fold] for fold in range(_FOLDS)))
            agreement[size], gain[size] = mean_rand_index(clusters), float(np.mean(gains))
        values = balances(list(agreement.values()), list(gain.values()), list(gain))
        best = list(gain)[int(np.argmax(values))]
        if best < max(gain) or 2 * best > most:
            return best
        untried = [2 * best]


def _fits(
    sample: sp.csr_array, fold_of: np.ndarray, sizes: Sequence[int], n_jobs: int | None, verbose: bool | None
) -> dict[tuple[int, int], tuple[np.ndarray, float]]:
    """The result of `_fit_and_predict` by size and fold."""
    cells = [(size, fold) for size in sizes for fold in range(_FOLDS)]
    fits: dict[tuple[int, int], tuple[np.ndarray, float]] = {}
    with progress("choosing n_topics", len(cells), unit="fits", verbose=verbose) as move:

        def run(cell: tuple[int, int]) -> None:
            fits[cell] = _fit_and_predict(sample, fold_of == cell[1], cell[0])
            move(len(fits))

        map_blocks(run, cells, n_jobs)
    return fits


def _fit_and_predict(sample: sp.csr_array, held_out: np.ndarray, n_topics: int) -> tuple[np.ndarray, float]:
    """The largest topic of each document, and the gain over word frequencies on held-out ones, per token."""
    from .. import DEFAULT_MODEL, MODELS

    training, others = sample[np.flatnonzero(~held_out)], sample[np.flatnonzero(held_out)]
    model = MODELS[DEFAULT_MODEL].make(n_topics, max_iter=_MOST_STEPS, random_state=0, n_jobs=1, verbose=False)
    model.fit(training)
    if model.interrupted_:
        raise KeyboardInterrupt
    largest = np.empty(len(held_out), np.int32)
    largest[~held_out] = model.doc_topic_.argmax(axis=1)
    largest[held_out] = model.transform(others).argmax(axis=1)
    return largest, model.score(others) - unigram_log_likelihood(training, split_tokens(others)[1])

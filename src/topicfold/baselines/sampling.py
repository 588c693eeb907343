"""What GibbsLDA and HLDA share: tomotopy's Gibbs sampler, with counts as input and columns as words.

With one worker and one seed, tomotopy gives the same result every time.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..engine.checks import check_number, check_whole_numbers
from ..engine.extras import import_extra
from ..errors import InputError
from ..models.base import TopicModel
from ..models.inputs import CountsLike, RandomStateLike

__all__ = [
    "add_documents",
    "alpha_per_part",
    "check_priors",
    "node_words",
    "sample",
    "sampler_seed",
    "tomotopy_for",
    "whole_counts",
]

_ALPHA_PER_PART = 0.1  # tomotopy's default
_STEPS_PER_CALL = 20  # tomotopy does not react to Ctrl-C within a call


def tomotopy_for(name: str) -> Any:
    """The tomotopy module, or an error that says how to install it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its loader warns about its own binaries
        return import_extra("tomotopy", "lda", name)


def whole_counts(model: TopicModel, X: CountsLike, *, reset: bool) -> sp.csr_array:
    """X as a matrix of whole counts: a sampler gives each token a topic."""
    counts = model._fit_counts(X, np.float64) if reset else model.word_counts(X, np.float64)
    check_whole_numbers(counts, type(model).__name__)
    if reset and counts.nnz == 0:
        raise InputError(f"all {counts.shape[0]} documents are empty: there are no words to fit")
    return counts


def check_priors(alpha: float | None, beta: float) -> None:
    """Raise unless both priors are above zero: otherwise tomotopy ends the process."""
    if alpha is not None:
        check_number("alpha", alpha, above=True, or_else=", or None")
    check_number("beta", beta, above=True)


def alpha_per_part(alpha: float | None, n_parts: int) -> float:
    """tomotopy's alpha, which counts the tokens of each part (topic or level) of a document, not those of all parts."""
    return _ALPHA_PER_PART if alpha is None else alpha / n_parts


def sampler_seed(random_state: RandomStateLike) -> int:
    """A whole number drawn from a random state of scikit-learn."""
    return int(check_random_state(random_state).randint(1, np.iinfo(np.int32).max))


def add_documents(sampler: Any, counts: sp.csr_array) -> np.ndarray:
    """Add the documents, with columns as words; returns the rows that have words, in the sampler's order."""
    filled = np.flatnonzero(np.diff(counts.indptr))
    for row in filled:
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        columns = np.repeat(counts.indices[cells], counts.data[cells].astype(np.int64))
        sampler.add_doc([str(column) for column in columns])
    return filled


def sample(sampler: Any, n_steps: int) -> None:
    """Run the sampler for a number of sweeps over the tokens."""
    for start in range(0, n_steps, _STEPS_PER_CALL):
        sampler.train(min(_STEPS_PER_CALL, n_steps - start), workers=1)


def node_words(sampler: Any, nodes: Any, n_words: int) -> np.ndarray:
    """P(w|node) of some of the sampler's topics, by columns of X; a word that no document has gets 0."""
    columns = np.array([int(word) for word in sampler.used_vocabs])
    result = np.zeros((len(nodes), n_words))
    for row, node in enumerate(nodes):
        result[row, columns] = sampler.get_topic_word_dist(int(node))
    return result / result.sum(axis=1, keepdims=True)

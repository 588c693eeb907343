"""Results of a fitted TTMM for documents: themes, topics and the features of the report; and classes as themes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import normalise_rows
from ...engine.blocks import single_threaded_libraries
from ...engine.mapped import is_mapped, row_table
from ...errors import InputError
from ...graph.check import label_codes
from ..em.passes import Cells, CountRows
from ..em.plsa_kernels import SMALLEST
from ..em.unigram_mixture import even_blocks, posterior
from .theme_em import log_word_theme, token_topics

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["one_topic_features", "theme_codes", "themes_of", "token_shares"]

_LEAST_THEME = 1e-4  # themes below it do not change a document's topics in the fourth decimal


def themes_of(
    counts: sp.csr_array,
    theme_weight: np.ndarray,
    theme_topic: np.ndarray,
    topic_word: np.ndarray,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """P(h|d) and log P(d)."""
    n_words, n_themes = topic_word.shape[1], len(theme_weight)
    word_theme = np.empty((n_words, n_themes), topic_word.dtype)
    state = {"word_topic": topic_word.T, "theme_topic": theme_topic}
    with single_threaded_libraries():
        log_word_theme(state, even_blocks(n_words, n_themes), word_theme, n_jobs)
        return posterior(counts, word_theme, theme_weight, n_jobs=n_jobs)


def one_topic_features(
    counts: sp.csr_array, theme_weight: np.ndarray, theme_topic: np.ndarray, topic_word: np.ndarray, *, logs: bool
) -> np.ndarray:
    """Eq. 8 of the report, one topic for all words: P(t=k, d) = prod_w P(w|t=k)^n(d,w) sum_j P(h=j) P(t=k|h=j).

    Rows sum to one, or are logarithms per token.
    """
    log_features = counts @ np.log(np.maximum(topic_word.T, SMALLEST))
    log_features += np.log(np.maximum(theme_weight @ theme_topic, SMALLEST))
    if logs:
        return np.asarray(log_features / np.maximum(counts.sum(axis=1), 1)[:, None])
    return normalise_rows(np.exp(log_features - log_features.max(axis=1, keepdims=True)))


def token_shares(
    counts: sp.csr_array,
    doc_theme: np.ndarray,
    theme_topic: np.ndarray,
    topic_word: np.ndarray,
    topic_weight: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """The share of each document's tokens that each topic generated; `topic_weight` if it has no tokens."""
    dtype = topic_word.dtype
    shares = row_table(counts.shape[0], len(topic_word), dtype, on_disk=is_mapped(counts.data))
    word_topic = np.ascontiguousarray(topic_word.T)

    inputs = _SharesInput(theme_topic, word_topic, topic_weight)
    CountRows(counts, dtype).for_each_block(_shares_block, inputs, n_jobs, reads=(doc_theme,), writes=(shares,))
    return shares


class _SharesInput(NamedTuple):
    theme_topic: np.ndarray
    word_topic: np.ndarray
    topic_weight: np.ndarray


def _shares_block(inputs: _SharesInput, cells: Cells, doc_theme: np.ndarray, shares: np.ndarray) -> None:
    least = shares.dtype.type(_LEAST_THEME)
    token_topics(*cells, 0, len(shares), doc_theme, least, inputs.theme_topic, inputs.word_topic, shares)
    shares[shares.sum(axis=1) <= 0] = inputs.topic_weight
    normalise_rows(shares, out=shares)


def theme_codes(y: ArrayLike | None, n_documents: int, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The classes and the class of each document by number, -1 if it has no label.

    `classes` are those of an earlier batch; later batches cannot add classes.
    """
    if y is None:
        raise InputError("n_themes='labels' needs labels: call fit(X, y), with -1, None or '' for unlabelled documents")
    labelled = label_codes(y, n_documents) >= 0
    labels = np.array(np.asarray(y, dtype=object)[labelled].tolist())
    if classes is None:
        if len(labels) == 0:
            raise InputError("no document has a label")
        classes = np.unique(labels)
    known = np.full(n_documents, -1)
    if len(labels):
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        if (classes[codes] != labels).any():
            other = labels[classes[codes] != labels][0]
            raise InputError(f"label {other.item()!r} was not in the first batch, which determines the classes")
        known[labelled] = codes
    return classes, known

"""hLDA: topics in a tree of fixed depth, grown by the nested Chinese restaurant process (Blei et al. 2003).

A document takes one path from the root to a leaf, and each of its tokens a level of that path. tomotopy's sampler finds
the tree; a path is then a topic of the flat kind: the words of its nodes, mixed as its documents use them.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from ..engine.checks import check_whole
from ..engine.loop import Run
from ..models.base import FlatTopicModel
from ..models.inputs import CountsLike, RandomStateLike
from .sampling import add_documents, node_words, sample, sampler_seed, tomotopy_for, whole_counts

__all__ = ["HLDA"]


class HLDA(FlatTopicModel):
    """Hierarchical latent Dirichlet allocation by Gibbs sampling. It finds its own number of topics.

    Parameters
    ----------
    depth : levels of the tree, the root included; at least 2.
    alpha, eta : priors of the levels of a document and of P(w|node).
    gamma : how readily a document starts a new branch.
    max_iter : sweeps over all documents.
    random_state : as in scikit-learn.

    Attributes
    ----------
    topic_word_ : P(w|path), one row per leaf: its nodes mixed as the path's documents use them.
    doc_topic_, labels_ : the path of each training document, as a row with a single one and as a number. A document
        without words has the share of each path instead, and the label of the largest.
    node_word_, parent_, level_ : P(w|node) of all nodes, the node above (-1: root), and the level (0: root).
    leaf_ : the node at the end of each path.
    word_frequency_, document_ids_ : tokens of each word, and ids, in training.
    """

    _endings = ("sampling finished", "sampling finished")

    def __init__(
        self,
        *,
        depth: int = 3,
        alpha: float = 0.1,
        eta: float = 0.01,
        gamma: float = 0.1,
        max_iter: int = 500,
        random_state: RandomStateLike = None,
    ) -> None:
        self.depth = depth
        self.alpha = alpha
        self.eta = eta
        self.gamma = gamma
        self.max_iter = max_iter
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a ValueError that names a parameter which the model cannot use."""
        check_whole("depth", self.depth, 2)  # tomotopy would end the process

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Grow the tree from whole counts, documents x words, or a Corpus."""
        tomotopy = tomotopy_for("HLDA")
        counts = whole_counts(self, X, reset=True)
        self.check_parameters()
        sampler = tomotopy.HLDAModel(
            depth=self.depth,
            alpha=self.alpha,
            eta=self.eta,
            gamma=self.gamma,
            seed=sampler_seed(self.random_state),
        )
        filled = add_documents(sampler, counts)
        sample(sampler, self.max_iter)
        nodes = [node for node in range(sampler.k) if sampler.is_live_topic(node)]
        row_of = {node: row for row, node in enumerate(nodes)}
        self.node_word_ = node_words(sampler, nodes, counts.shape[1])
        self.parent_ = np.array([row_of.get(sampler.parent_topic(node), -1) for node in nodes])
        self.parent_[0] = -1  # tomotopy calls the root its own parent in some versions
        self.level_ = np.array([sampler.level(node) for node in nodes])
        self._keep_paths(sampler, row_of, filled, counts.shape[0])
        self.word_frequency_ = counts.sum(axis=0)
        self.topic_weight_ = self.doc_topic_.mean(axis=0)
        self._keep_run(Run([], True, True))
        self.n_iter_ = self.max_iter
        return self

    def _keep_paths(self, sampler: Any, row_of: dict[int, int], filled: np.ndarray, n_documents: int) -> None:
        """Paths of the documents, and the words of a path: sum over its nodes of their share of its tokens."""
        leaves = np.array([row_of[int(_path(document)[-1])] for document in sampler.docs])
        self.leaf_, path = np.unique(leaves, return_inverse=True)
        node_share = np.zeros((len(self.leaf_), len(row_of)))
        for document, number in zip(sampler.docs, path):
            nodes = np.array([row_of[int(node)] for node in document.topics])
            node_share[number] += np.bincount(nodes, minlength=len(row_of))
        node_share /= node_share.sum(axis=1, keepdims=True)
        self.topic_word_ = node_share @ self.node_word_
        self.path_share_ = np.bincount(path) / len(path)
        self.doc_topic_ = np.tile(self.path_share_, (n_documents, 1))
        self.doc_topic_[filled] = np.eye(len(self.leaf_))[path]
        self.labels_ = self.doc_topic_.argmax(axis=1)

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return the paths of the training documents."""
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """P(path|d) of new documents: proportional to the path's share times the likelihood of its words.

        The levels are mixed as in the path's training documents. A document's answer depends on its words alone.
        """
        check_is_fitted(self)
        return self._paths_of(whole_counts(self, X, reset=False))

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Mean log-likelihood per token by document completion: half of each document is seen, the rest is scored."""
        check_is_fitted(self)
        return self._completion(X, self._paths_of)

    def _paths_of(self, counts: sp.csr_array) -> np.ndarray:
        known = self.topic_word_.sum(axis=0) > 0
        logs = np.log(np.where(known, self.topic_word_, 1.0))
        return softmax(counts @ logs.T + np.log(self.path_share_), axis=1)

    def _prepare(self) -> None:
        """Nothing to prepare."""


def _path(document: Any) -> Any:
    """The nodes of a document from the root down: `path` in tomotopy 0.13; the `paths` of 0.14 cannot be read."""
    return document.path if hasattr(type(document), "path") else document._path

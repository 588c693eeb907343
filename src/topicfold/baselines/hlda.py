"""hLDA: topics in a tree of fixed depth, grown by the nested Chinese restaurant process (Blei et al. 2003).

A document takes one path from the root to a leaf, and each of its tokens a level of that path. tomotopy's sampler finds
the tree; a path is then treated as a flat topic: the words of its nodes, mixed as its documents use them.
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
from .sampling import (
    add_documents,
    alpha_per_part,
    check_priors,
    node_words,
    sample,
    sampler_seed,
    tomotopy_for,
    whole_counts,
)

__all__ = ["HLDA"]


class HLDA(FlatTopicModel):
    """Hierarchical latent Dirichlet allocation by Gibbs sampling (the extra topicfold[lda]).

    It finds the number of topics itself: each document follows one path from the root of a tree to a leaf.

    Parameters
    ----------
    depth : int, default=3
        Number of levels of the tree, including the root; at least 2.
    alpha : float or None, default=None
        Strength of the prior of P(level|d), in tokens per document; the levels share it equally. None is 0.1 tokens per
        level.
    beta : float, default=0.01
        Prior of P(w|node): pseudo-count of every word in every node.
    gamma : float, default=0.1
        How readily a document starts a new branch.
    max_iter : int, default=500
        Number of sweeps over all documents.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_paths, n_words)
        P(w|path): the nodes of the path, mixed as its documents use them. Also available as `components_`.
    doc_topic_ : ndarray of shape (n_documents, n_paths)
        The path of each training document, as a row with a single 1. A document without words has `path_share_`.
    labels_ : ndarray of int of shape (n_documents,)
        The path of each training document.
    path_share_ : ndarray of shape (n_paths,)
        Share of the documents on each path.
    node_word_ : ndarray of shape (n_nodes, n_words)
        P(w|node).
    parent_ : ndarray of int of shape (n_nodes,)
        The node above; -1 at the root.
    level_ : ndarray of int of shape (n_nodes,)
        Level of each node; 0 is the root.
    leaf_ : ndarray of int of shape (n_paths,)
        The node at the end of each path.
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.
    document_ids_ : sequence of str or None
        Ids of the training documents, if X was a Corpus or texts.

    See Also
    --------
    topicfold.HLTA : A hierarchy of topics in which a document can be in several.
    topicfold.baselines.GibbsLDA : Flat topics by Gibbs sampling.

    References
    ----------
    Blei, D. M., Griffiths, T. L. and Jordan, M. I. (2010). The nested Chinese restaurant process and Bayesian
    nonparametric inference of topic hierarchies. Journal of the ACM 57(2). https://doi.org/10.1145/1667053.1667056

    Examples
    --------
    >>> from topicfold.baselines import HLDA
    >>> model = HLDA(depth=2, max_iter=50, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> model.labels_.shape
    (4,)
    """

    _endings = ("sampling finished", "sampling finished")

    def __init__(
        self,
        *,
        depth: int = 3,
        alpha: float | None = None,
        beta: float = 0.01,
        gamma: float = 0.1,
        max_iter: int = 500,
        random_state: RandomStateLike = None,
    ) -> None:
        self.depth = depth
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.max_iter = max_iter
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Check the parameters of the model; `fit` does so first.

        Raises
        ------
        InputError
            If the model cannot use a parameter. The message names it and what was expected.
        """
        check_whole("depth", self.depth, 2)  # otherwise tomotopy ends the process
        check_priors(self.alpha, self.beta)

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Fit the model to documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        ImportError
            If tomotopy is not installed.
        """
        tomotopy = tomotopy_for("HLDA")
        counts = whole_counts(self, X, reset=True)
        self.check_parameters()
        sampler = tomotopy.HLDAModel(
            depth=self.depth,
            alpha=alpha_per_part(self.alpha, self.depth),
            eta=self.beta,
            gamma=self.gamma,
            seed=sampler_seed(self.random_state),
        )
        filled = add_documents(sampler, counts)
        sample(sampler, self.max_iter)
        nodes = [node for node in range(sampler.k) if sampler.is_live_topic(node)]
        row_of = {node: row for row, node in enumerate(nodes)}
        self.node_word_ = node_words(sampler, nodes, counts.shape[1])
        self.parent_ = np.array([row_of.get(sampler.parent_topic(node), -1) for node in nodes])
        self.parent_[0] = -1  # in some versions of tomotopy the root is its own parent
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
        """Fit the model and return the paths of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        ndarray of shape (n_documents, n_paths)
            One row per document, with a 1 at its path.
        """
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """Infer P(path|d) of new documents.

        It is proportional to the share of the path times the likelihood of the words, with the levels mixed as in the
        training documents of the path.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_paths)
            The probability of each path, one row per document. A row does not depend on the other documents.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._paths_of(whole_counts(self, X, reset=False))

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Compute the mean log-likelihood per token by document completion.

        The topics of each document are inferred from half of its tokens, drawn at random; the other half is scored.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        float
            The mean in nats per token; higher is better.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
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

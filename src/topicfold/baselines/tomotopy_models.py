"""GibbsLDA (Blei, Ng and Jordan 2003) and HLDA (Blei et al. 2010), by tomotopy's collapsed Gibbs sampler.

GibbsLDA: the sampler provides the topics and the prior alpha. P(z|d), of training and new documents alike, is then
found with the topics fixed, as the mode of log P(d|theta) + sum_z alpha_z log theta_z. This is concave, so it needs no
random numbers and the result for a document depends only on its words; a state of the sampler would be one noisy draw.

HLDA: topics in a tree of fixed depth, grown by the nested Chinese restaurant process. A document takes one path from
the root to a leaf, and each of its tokens a level of that path. The sampler finds the tree; a path is then treated as a
flat topic: the words of its nodes, mixed as its documents use them.

With one worker and one seed, tomotopy gives the same result every time.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.utils import check_random_state

from ..engine.checks import check_number, check_whole, check_whole_numbers
from ..engine.extras import import_extra
from ..engine.machine import machine_memory
from ..errors import InputError
from ..models.em.fold_in import fold_in
from ..models.em.plsa_kernels import check_size
from ..models.inputs import RandomStateLike
from .baseline_model import BaselineModel, Ending

__all__ = ["HLDA", "GibbsLDA", "add_documents", "fold_in_with_prior"]

_ALPHA_PER_PART = 0.1  # tomotopy's default
_BYTES_PER_TOKEN = 200  # as a string in a list, and inside tomotopy
_STEPS_PER_CALL = 20  # tomotopy does not react to Ctrl-C within a call


def tomotopy_for(name: str) -> Any:
    """The tomotopy module, or an error that says how to install it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its loader warns about its own binaries
        return import_extra("tomotopy", "lda", name)


def check_tokens(counts: sp.csr_array, name: str) -> None:
    """Raise unless counts are whole and there are tokens, but not more than memory: each is an object in a list."""
    check_whole_numbers(counts, name)
    if counts.nnz == 0:
        raise InputError(f"all {counts.shape[0]} documents are empty: there are no words to fit")
    most = machine_memory() // _BYTES_PER_TOKEN
    if (n_tokens := int(counts.sum())) > most:
        raise InputError(f"X has {n_tokens:,} tokens: {name} keeps each of them, expected at most {most:,}")


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


def fold_in_with_prior(
    counts: sp.csr_array, topic_word: np.ndarray, alpha: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """P(z|d) with theta_z proportional to alpha_z plus the tokens of topic z, P(w|z) fixed.

    The prior is expressed as words: topic z has a word of its own, which every document contains alpha_z times.
    """
    n_documents, n_topics = counts.shape[0], len(alpha)
    cells = (np.tile(alpha, n_documents), np.tile(np.arange(n_topics), n_documents))
    prior_words = sp.csr_array((*cells, np.arange(n_documents + 1) * n_topics), (n_documents, n_topics))
    with_prior = sp.csr_array(sp.hstack([counts, prior_words], format="csr"))
    return fold_in(with_prior, np.hstack([topic_word, np.eye(n_topics)]), alpha / alpha.sum(), n_jobs=n_jobs)


class GibbsLDA(BaselineModel):
    """Latent Dirichlet allocation by the Gibbs sampler of tomotopy (the extra topicfold[lda]).

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    alpha : float or None, default=None
        Strength of the prior of P(z|d), in tokens per document; the topics share it equally. None is 0.1 tokens per
        topic. With `optimize_alpha`, the value to start from.
    beta : float, default=0.01
        Prior of P(w|z): pseudo-count of every word in every topic.
    max_iter : int, default=1000
        Number of sweeps over all tokens.
    optimize_alpha : bool, default=True
        Whether to fit one alpha per topic to the data, every ten sweeps.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.
    n_jobs : int or None, default=None
        Number of threads for new documents. None means 1, and -1 uses all cores. The sampler itself runs on one thread.

    Attributes
    ----------
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(z|d) of the training documents.
    labels_ : ndarray of int of shape (n_documents,)
        The largest topic of each training document.
    alpha_ : ndarray of shape (n_topics,)
        Prior of P(z|d): the tokens that each topic has in advance in each document.
    topic_weight_ : ndarray of shape (n_topics,)
        Mean of `doc_topic_`.

    See Also
    --------
    topicfold.TopicModel : The attributes and methods that all models have.
    topicfold.LDA : The same model by leave-one-out EM.
    topicfold.baselines.HLDA : A tree of topics by Gibbs sampling.

    References
    ----------
    Griffiths, T. L. and Steyvers, M. (2004). Finding scientific topics. PNAS 101, 5228-5235.
    https://doi.org/10.1073/pnas.0307752101

    Examples
    --------
    >>> from topicfold.baselines import GibbsLDA
    >>> model = GibbsLDA(2, max_iter=50, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> model.topic_word_.shape
    (2, 4)
    """

    _endings = ("sampling finished", "sampling finished")

    def __init__(
        self,
        n_topics: int = 20,
        *,
        alpha: float | None = None,
        beta: float = 0.01,
        max_iter: int = 1000,
        optimize_alpha: bool = True,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.max_iter = max_iter
        self.optimize_alpha = optimize_alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        # otherwise tomotopy ends the process
        check_whole("n_topics", self.n_topics)
        check_priors(self.alpha, self.beta)

    def _learn(self, counts: sp.csr_array) -> Ending:
        tomotopy = tomotopy_for("GibbsLDA")
        check_tokens(counts, "GibbsLDA")
        check_size(counts, self.n_topics)
        alpha = alpha_per_part(self.alpha, self.n_topics)
        seed = sampler_seed(self.random_state)
        sampler = tomotopy.LDAModel(k=self.n_topics, alpha=alpha, eta=self.beta, seed=seed)
        sampler.optim_interval = 10 if self.optimize_alpha else 0
        add_documents(sampler, counts)
        sample(sampler, self.max_iter)
        self.alpha_ = np.broadcast_to(np.asarray(sampler.alpha, dtype=np.float64), (self.n_topics,)).copy()
        self.topic_word_ = node_words(sampler, range(self.n_topics), counts.shape[1])
        self.doc_topic_ = self._fold_in(counts)
        self.topic_weight_ = self.doc_topic_.mean(axis=0)
        return Ending(self.max_iter, converged=True)

    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        check_whole_numbers(counts, "GibbsLDA")
        return fold_in_with_prior(counts, self.topic_word_, self.alpha_, self.n_jobs)


class HLDA(BaselineModel):
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

    See Also
    --------
    topicfold.TopicModel : The attributes and methods that all models have.
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
        # otherwise tomotopy ends the process
        check_whole("depth", self.depth, 2)
        check_priors(self.alpha, self.beta)

    def _learn(self, counts: sp.csr_array) -> Ending:
        tomotopy = tomotopy_for("HLDA")
        check_tokens(counts, "HLDA")
        if np.count_nonzero(np.diff(counts.indptr)) < 2:  # which would end the process inside tomotopy
            raise InputError("X has one document with words: HLDA needs at least two to make a tree")
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
        self.topic_weight_ = self.doc_topic_.mean(axis=0)
        return Ending(self.max_iter, converged=True)

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

    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        """P(path|d): the share of the path times the likelihood of the words, by P(w|path)."""
        check_whole_numbers(counts, "HLDA")
        occurs = self.topic_word_.sum(axis=0) > 0
        logs = np.log(np.where(occurs, self.topic_word_, 1.0))
        return softmax(counts @ logs.T + np.log(self.path_share_), axis=1)


def _path(document: Any) -> Any:
    """The nodes of a document from the root down: `path` in tomotopy 0.13; the `paths` of 0.14 cannot be read."""
    return document.path if hasattr(type(document), "path") else document._path

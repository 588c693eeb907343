"""TopicModel, the abstract base class of all models: the public methods, each once; and below it FlatTopicModel.

A model adds its parameters, `_fit` (see fit_loop.py) and how the topics of documents are inferred. Only a model whose
`fit` takes more than documents declares `fit` and `transform` again, so that their signatures say what they take.
Classes are abstract or final.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..corpus.corpus import Corpus, check_corpus
from ..corpus.phrases import Phrases, forms_of_words
from ..engine.arrays import column_sums
from ..engine.blocks import row_blocks
from ..engine.checks import check_whole_numbers
from ..engine.loop import Run
from ..engine.mapped import release
from ..engine.stored import MAX_PROBABILITY, Stored, distributions
from ..errors import InputError
from ..graph.partial_labels import without_label
from ..metrics.completion import completion_log_likelihood_by_document, mean_by_token, split_tokens
from ..topics.fit_summary import FitSummary
from ..topics.ranking import keyness
from ..topics.tree import TopicTree
from ..topics.typical import typicality
from ..topics.wording import Wording
from ..topics.wordless import mean_membership
from .inputs import CountsLike, CountsMixin, RandomStateLike, TopicNamesMixin, as_texts, seen_words
from .junk import topic_marks
from .resampling import COMES_BACK, best_matches
from .word_ranking import presence_of_words, word_documents, wordless_rows

__all__ = ["Dtype", "FlatTopicModel", "StreamedTopicModel", "TopicModel", "check_model", "tree_of"]

Dtype: TypeAlias = Literal["float32", "float64"] | type[np.float32] | type[np.float64] | np.dtype

_NOT_IN_SUMMARY = ("n_jobs", "verbose", "checkpoint")  # they do not affect results, and a path would reveal folders
_LONGEST_SETTING = 200
_CELLS_PER_SCORE = 1 << 22  # of documents that are scored together


def _has_a_main_topic(model: TopicModel) -> bool:
    if model.overlapping:
        raise AttributeError(f"a document of {type(model).__name__} is in several topics: use memberships")
    return True


def _is_overlapping(model: TopicModel) -> bool:
    if not model.overlapping:
        raise AttributeError(f"a document of {type(model).__name__} has one main topic: use predict")
    return True


class TopicModel(CountsMixin, TopicNamesMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class of all topic models.

    Models are scikit-learn estimators: they have `fit`, `transform`, `score`, `get_params` and so on. This class is
    abstract; use one of the models listed under See Also.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        P(w|z), the probability of each word in each topic. Also available as `components_`.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(z|d), the share of each topic in each training document.
    topic_weight_ : ndarray of shape (n_topics,)
        P(z), the share of each topic in the corpus.
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.
    word_documents_ : ndarray of shape (n_topics, n_words)
        Expected number of documents of each topic that contain each word; the words of a topic are ranked by it.
    topic_documents_ : ndarray of shape (n_topics,)
        Expected number of documents of each topic: the sum of P(z|d) over the training documents.
    topic_marks_ : tuple of str of length n_topics
        A mark for a topic that may not be about a subject, with its reason; '' for most topics.
    typicality_ : ndarray of shape (n_documents,)
        How near each training document is to the centres of its topics; see `TopicTree`. HLTA does not have it.
    wording_ : Wording or None
        Which words are forms of one word, how the texts write them, and their phrases; the latter two only if the
        corpus of the fit had its texts.
    topic_stability_ : ndarray of shape (n_topics,)
        How well each topic is found again on half of the documents. Defined only after `measure_stability`.
    topic_returns_ : ndarray of shape (n_topics,)
        Share of the refits in which each topic comes back. Defined only after `measure_stability`.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_words,)
        Column names. Defined only if X was a data frame.
    vocabulary_ : tuple of str or None
        The words, if X was a Corpus or texts.
    preprocessing_ : Preprocessing or None
        How texts are turned into words, if that is known.
    source_columns_ : mapping or None
        The columns of the file or frame that X was read from, by what they are used for. Commands read the same ones.
    document_ids_ : sequence of str or None
        Ids of the training documents, if X was a Corpus or texts.
    document_titles_ : sequence of str or None
        Titles of the training documents, if X was a Corpus with titles.
    corpus_hash_ : str or None
        Hash of the training counts. It tells whether a corpus is the one that the model was fitted on.
    history_ : ndarray of shape (n_iter,)
        The objective at each step.
    n_iter_ : int
        Number of steps.
    converged_ : bool
        Whether `tol` was reached within the maximum number of steps; for samplers, whether all sweeps were made.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.
    wordless_ : ndarray of int of shape (n_wordless,)
        Rows of the training documents without a known word.
    score_unit : str
        The unit of `score`, such as 'nats per token'. Scores in different units cannot be compared.

    See Also
    --------
    LDA : Flat topics with priors; the default model.
    LTM : Topics that use a graph or embeddings of the documents.
    HLTA : A hierarchy of topics.

    Examples
    --------
    >>> from topicfold import HLTA, LDA, TopicModel
    >>> issubclass(LDA, TopicModel), issubclass(HLTA, TopicModel)
    (True, True)
    """

    # What a fitted model keeps, in addition to what its base classes declare: a file with anything else is rejected.
    _stored: ClassVar[Mapping[str, Stored]] = {
        "topic_word_": distributions("topics", "words"),
        "doc_topic_": distributions("documents", "topics"),
        "topic_weight_": distributions("topics"),
        "word_frequency_": Stored(("words",), low=0),
        "word_documents_": Stored(("topics", "words"), low=0, may_be_missing=True),
        "topic_documents_": Stored(("topics",), low=0, may_be_missing=True),
        "topic_marks_": Stored(("topics",), "strings", may_be_missing=True),
        "typicality_": Stored(("documents",), low=0, high=MAX_PROBABILITY, may_be_missing=True),
        "wording_": Stored(kind="object", optional=True, may_be_missing=True),
        "topic_stability_": Stored(("topics",), low=0, high=MAX_PROBABILITY, may_be_missing=True),
        "topic_returns_": Stored(("topics",), low=0, high=MAX_PROBABILITY, may_be_missing=True),
        "history_": Stored(("steps",)),
        "n_iter_": Stored(kind="int", low=0),
        "converged_": Stored(kind="bool"),
        "interrupted_": Stored(kind="bool"),
        "n_features_in_": Stored(kind="int", low=1),
        "vocabulary_": Stored(("words",), "strings", optional=True),
        "feature_names_in_": Stored(("words",), "strings", may_be_missing=True),
        "document_ids_": Stored(("documents",), "strings", optional=True),
        "document_titles_": Stored(("documents",), "strings", optional=True),
        "preprocessing_": Stored(kind="object", optional=True),
        "source_columns_": Stored(kind="mapping", optional=True),
        "corpus_hash_": Stored(kind="string", optional=True),
        "wordless_": Stored(("wordless",), "int", low=0),
    }
    score_unit: ClassVar[str] = "nats per token"
    _uses_absent_words: ClassVar[bool] = False  # whether the absence of words tells the topics of a document
    overlapping: ClassVar[bool] = False  # documents are in several topics: `memberships` takes the place of `predict`
    membership_threshold: ClassVar[float] = 0.5
    _endings: ClassVar[tuple[str, str]] = ("stopped at max_iter", "converged")  # by whether it converged

    random_state: RandomStateLike
    n_jobs: int | None
    verbose: bool | None
    checkpoint: str | Path | None

    topic_word_: np.ndarray
    doc_topic_: np.ndarray
    topic_weight_: np.ndarray
    word_frequency_: np.ndarray
    word_documents_: np.ndarray
    topic_documents_: np.ndarray
    topic_marks_: Sequence[str]
    typicality_: np.ndarray
    wording_: Wording | None
    _mined: Phrases  # between the start of a fit and its end
    topic_stability_: np.ndarray
    topic_returns_: np.ndarray
    history_: np.ndarray
    n_iter_: int
    converged_: bool
    interrupted_: bool
    classes_: np.ndarray  # in models that learn classes
    graph_: sp.csr_array | None = None  # of the training documents, in models that are fitted on one

    # ---- what differs between the models ----------------------------------------------------------------------------

    @abstractmethod
    def check_parameters(self) -> None:
        """Check the parameters of the model; `fit` does so first.

        Raises
        ------
        InputError
            If the model cannot use a parameter. The message names it and what was expected.
        """

    @abstractmethod
    def _fit(self, X: CountsLike, y: Any) -> None:
        """Fit the model, whose parameters have been checked; see `run_fit`."""

    @abstractmethod
    def _document_topics(self, X: CountsLike) -> np.ndarray:
        """Memberships of new documents, with the columns of `doc_topic_`."""

    @abstractmethod
    def _score(self, X: CountsLike) -> float:
        """The mean log-likelihood of documents, in `score_unit`."""

    @abstractmethod
    def topic_tree(self, corpus: Corpus | None = None) -> TopicTree:
        """Return the topics as a TopicTree: plain arrays to print, change, save and explore.

        Parameters
        ----------
        corpus : Corpus, default=None
            The documents of the tree. None, or the corpus of the fit, gives the training documents; another corpus is
            assigned to the topics first.

        Returns
        -------
        TopicTree
            The topics with their words and documents.
        """

    def _check_learned(self) -> None:
        """Raise if learned values, each valid by itself, are inconsistent; called before a loaded model is used."""

    def _prepare(self) -> None:
        """Compute from the learned arrays what is used repeatedly; called after a fit and after loading."""

    def _n_outputs(self) -> int:
        """Number of columns that `transform` returns."""
        return len(self.topic_word_)

    def _training_output(self, X: CountsLike) -> np.ndarray:
        """What `transform` returns, of the training documents, which X are."""
        return self.doc_topic_

    def _main_shares(self, X: CountsLike | None, **inputs: Any) -> np.ndarray:
        """The shares of which `predict` takes the largest, of new documents or (None) of those of the fit."""
        return self.doc_topic_ if X is None else self.document_topics(X, **inputs)

    # ---- for users --------------------------------------------------------------------------------------------------

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Fit the model to documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored, except by models that learn from labels (-1, None, NaN or '' means unknown); every model accepts
            it, as scikit-learn's pipelines require.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If X or a parameter cannot be used, for example if there are more topics than documents or words.
        """
        self.check_parameters()
        self._fit(X, y)
        return self

    def transform(self, X: CountsLike) -> np.ndarray:
        """Infer the topics of new documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            One row per document. A row does not depend on the other documents.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        return self.document_topics(X)

    def fit_transform(self, X: CountsLike, y: Any = None, **inputs: Any) -> np.ndarray:
        """Fit the model and return the topics of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Labels, for models that learn from them.
        **inputs : object
            Further arguments of `fit`, such as `graph`.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            One row per document.
        """
        self.fit(X, y, **inputs)
        return self._training_output(X)

    def document_topics(self, X: CountsLike, **inputs: Any) -> np.ndarray:
        """Infer the memberships of documents in the topics, with the columns of `doc_topic_`.

        This equals `transform`, except in models where `transform` can return other features (TTMM).

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        **inputs : object
            Further arguments of `transform`, such as `graph`.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Memberships, one row per document.
        """
        check_is_fitted(self)
        return self._document_topics(X, **inputs)

    @available_if(_has_a_main_topic)
    def predict(self, X: CountsLike, **inputs: Any) -> np.ndarray:
        """Predict the largest topic of each document, or its class if the model has learned classes (TTMM).

        Models in which a document is in several topics (HLTA, LDCC) have `memberships` instead.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        **inputs : object
            Further arguments of `transform`, such as `graph`.

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`, or the class. A document of which nothing is known has -1, or the class
            '' if classes are strings; see `rows_without_topics`.
        """
        check_is_fitted(self)
        if not isinstance(X, Corpus) and as_texts(X) is not None:
            X = self.word_counts(X)  # counted once
        return self._labels(self._main_shares(X, **inputs), self.rows_without_topics(X, **inputs))

    @available_if(_has_a_main_topic)
    def fit_predict(self, X: CountsLike, y: Any = None, **inputs: Any) -> np.ndarray:
        """Fit the model and return the largest topic, or the class, of each training document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Labels, for models that learn from them.
        **inputs : object
            Further arguments of `fit`, such as `graph`.

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`, or the class; -1, or the class '', as in `predict`.
        """
        shares = self.fit(X, y, **inputs)._main_shares(None)
        return self._labels(shares, self._wordless(None, len(shares)))

    @available_if(_is_overlapping)
    def memberships(self, X: CountsLike, threshold: float | None = None, **inputs: Any) -> np.ndarray:
        """Assign documents to topics: a document is in every topic of which its share is at least the threshold.

        Models in which a document has one main topic have `predict` instead.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        threshold : float, default=None
            Minimum share. None is the model's own: 0.5 (more likely than not) for HLTA, 0.1 for LDCC, whose columns
            are the document-topics.
        **inputs : object
            Further arguments of `transform`, such as `documents`.

        Returns
        -------
        ndarray of bool of shape (n_documents, n_topics)
            True where the document is in the topic. A document can be in no topic.
        """
        return self._main_shares(X, **inputs) >= (self.membership_threshold if threshold is None else threshold)

    def score(self, X: CountsLike, y: Any = None, **inputs: Any) -> float:
        """Compute the mean log-likelihood of documents.

        It is per token, by document completion: the topics of each document are inferred from half of its tokens, drawn
        at random, and the other half is scored. For HLTA it is the exact log-likelihood per document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.
        **inputs : object
            Further arguments of `transform`, such as `graph`. They must not be made from the tokens to be predicted:
            make them from the first half that `metrics.split_tokens` returns.

        Returns
        -------
        float
            The mean in `score_unit`; higher is better.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._score(X, **inputs)

    def measure_stability(
        self,
        X: CountsLike,
        y: Any = None,
        *,
        n_refits: int = 5,
        random_state: RandomStateLike = 0,
        n_jobs: int | None = None,
        **inputs: Any,
    ) -> Self:
        """Measure how often each topic comes back if the model is fitted to half of the documents.

        Copies of the model, with the same parameters but other seeds, are fitted to random halves of the documents. A
        topic is compared with every topic of a copy: the match is the share of documents that both have, of those that
        either has (weighted by the memberships, on the half). The best match is kept, and the topic *comes back* if it
        is above one third; two topics of equal size then have more than half of their documents in common. This costs
        about `n_refits` / 2 times as much as the fit.

        The results are kept in `topic_stability_` and `topic_returns_`, in model files, and in trees, tables and pages.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            The training documents.
        y : array-like of shape (n_documents,), default=None
            Labels, if the fit used them.
        n_refits : int, default=5
            Number of fits.
        random_state : int, RandomState instance or None, default=0
            Seed of the halves and of the fits.
        n_jobs : int or None, default=None
            Number of fits in parallel. The result does not depend on it.
        **inputs : object
            Further arguments of `fit`: `embeddings`, and `graph`, by default the graph of the fit. Copies get the edges
            within their half.

        Returns
        -------
        object
            The model itself.

        Raises
        ------
        InputError
            If X is not the training documents, or half of them are too few for a fit.

        Examples
        --------
        >>> from topicfold import Corpus, LDA
        >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat cow", "sun moon", "moon star sun"] * 10)
        >>> LDA(2, random_state=0).fit(corpus).measure_stability(corpus).topic_returns_.tolist()
        [1.0, 1.0]
        """
        check_is_fitted(self)
        matches = best_matches(self, X, y, inputs, n_refits, random_state, n_jobs, self.verbose)
        self.topic_stability_, self.topic_returns_ = matches.mean(axis=0), (matches > COMES_BACK).mean(axis=0)
        return self

    @classmethod
    def stored(cls) -> dict[str, Stored]:
        """Return the declarations of all learned attributes, which model files are checked against.

        Returns
        -------
        dict of str to Stored
            Shape, type and range of each attribute, by its name.
        """
        declared: dict[str, Stored] = {}
        for base in reversed(cls.__mro__):
            declared |= vars(base).get("_stored", {})
        return declared

    @property
    def components_(self) -> np.ndarray:
        """P(w|z) as an array of shape (n_topics, n_words): `topic_word_` under the name that scikit-learn uses."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return self._n_outputs()

    def summary(self) -> FitSummary:
        """Summarise how the fit went.

        Returns
        -------
        FitSummary
            Name, settings, history, unit of the score and how the fit ended.
        """
        check_is_fitted(self)
        settings = {
            name: _short(value)
            for name, value in sorted(self.get_params(deep=False).items())
            if name not in _NOT_IN_SUMMARY
        }
        ending = "interrupted" if self.interrupted_ else self._endings[self.converged_]
        return FitSummary(
            name=type(self).__name__,
            settings=settings,
            history=np.asarray(self.history_, np.float64),
            unit=self.score_unit,
            n_iter=int(self.n_iter_),
            ending=ending,
            n_documents=len(self.doc_topic_),
        )

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one .safetensors file: its class, parameters and everything it learned.

        Parameters
        ----------
        path : str or Path
            The file to write; `topicfold.load` reads it. If writing fails, an earlier file stays unchanged.

        Raises
        ------
        InputError
            If the model is not fitted, or is not one of topicfold's models.
        FileError
            If the file cannot be written.
        """
        from .model_file import write_model

        write_model(self, path)

    def _remember_documents(self, X: CountsLike, counts: sp.csr_array) -> None:
        """Keep what is known of the training documents, and how their texts write words."""
        super()._remember_documents(X, counts)
        self.__dict__.pop("_mined", None)
        self.wording_ = None
        if isinstance(X, Corpus) and X.vocabulary is not None:
            mined = X._phrases
            self.wording_ = Wording.of_words(forms_of_words(X.vocabulary, X.preprocessing), mined, X.vocabulary)
            if mined is not None and not self._uses_absent_words:  # HLTA keeps no documents of topics
                self._mined = mined

    def _keep_documents(self, counts: sp.csr_array, doc_topic: np.ndarray, *, add: bool = False) -> None:
        """Keep how many documents of each topic have each word, `add`ed to earlier batches, and what else is shown.

        This is which documents are typical, and marks.
        """
        words, topics = word_documents(counts, doc_topic, self.n_jobs), column_sums(doc_topic)
        if add:
            words, topics = self.word_documents_ + words, self.topic_documents_ + topics
        self.word_documents_, self.topic_documents_ = words, topics
        self.typicality_ = typicality(counts, doc_topic, self.n_jobs)
        mined = self.__dict__.pop("_mined", None)
        if mined is not None and self.wording_ is not None and len(doc_topic) == mined.n_documents and not add:
            scores = keyness(*known) if (known := presence_of_words(self)) is not None else self.topic_word_
            self.wording_ = self.wording_.with_phrases(mined, counts, doc_topic, scores)
        # a batch has too few documents to judge a topic
        self.topic_marks_ = ("",) * len(topics) if add else tuple(topic_marks(self, counts, doc_topic))

    def _labels(self, shares: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        """The column of the largest share of each row, or its class; without a label where nothing is known."""
        columns = shares.argmax(axis=1)
        return without_label(self.classes_[columns] if hasattr(self, "classes_") else columns, unknown)

    def _keep_run(self, run: Run) -> None:
        self.history_ = np.array(run.history)
        self.n_iter_ = len(run.history)
        self.converged_ = run.converged
        self.interrupted_ = not run.finished

    def _completion(
        self, X: CountsLike, fold_in: Callable[[sp.csr_array], np.ndarray], *, in_blocks: bool = True
    ) -> float:
        """Mean log-likelihood per token of one half of each document, with its topics inferred from the other half.

        `in_blocks` processes some rows at a time, to save memory.
        """
        counts = self.word_counts(X, self.topic_word_.dtype)
        frequency, sums, tokens = self.word_frequency_, [], []
        n_blocks = -(-counts.nnz // _CELLS_PER_SCORE) if in_blocks else 1
        for first, last in row_blocks(counts.indptr, n_blocks):
            part = counts if last - first == counts.shape[0] else counts[first:last]
            check_whole_numbers(part, "score (document completion)")
            seen, held_out = split_tokens(part)
            doc_topic = fold_in(seen_words(seen, frequency))
            scores = completion_log_likelihood_by_document(held_out, doc_topic, self.topic_word_, frequency)
            sums.append(scores[0])
            tokens.append(scores[1])
            release(counts.indices)
            release(counts.data)
        return mean_by_token(np.concatenate(sums), np.concatenate(tokens))

    def wordless_of(self, counts: sp.csr_array) -> np.ndarray:
        """Find the documents of which the model knows nothing.

        Parameters
        ----------
        counts : sparse array of shape (n_documents, n_words)
            Counts over the words of the fit.

        Returns
        -------
        ndarray of int of shape (n_wordless,)
            Rows without a word that was in the training documents; none for HLTA, which learns from absent words too.
        """
        return np.zeros(0, np.int64) if self._uses_absent_words else wordless_rows(counts, self.word_frequency_)

    def rows_without_topics(self, X: CountsLike, **inputs: Any) -> np.ndarray:
        """Find the documents of which nothing is known, so that their topics are only those of the whole corpus.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        **inputs : object
            Further arguments of `transform`, such as `graph`: embeddings and edges tell the topics of a document, too.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            Rows without a known word, and without embeddings or edges.
        """
        if inputs.get("embeddings") is not None:
            return np.zeros(0, np.int64)
        rows = self.wordless_of(self.word_counts(X))
        graph = inputs.get("graph")
        return rows if graph is None else rows[np.diff(sp.csr_array(graph).indptr)[rows] == 0]

    def _wordless(self, corpus: Corpus | None, n_documents: int) -> np.ndarray:
        """The rows of the documents without a known word, of a corpus or of the fit.

        In a fit on a graph, neighbours tell the topics of such a document, if it has any.
        """
        if corpus is not None:
            return self.wordless_of(corpus.counts_over(self.words()))
        rows = self.wordless_[self.wordless_ < (0 if self._uses_absent_words else n_documents)]
        return rows if self.graph_ is None else rows[np.diff(self.graph_.indptr)[rows] == 0]

    def _one_level(self, doc_topic: np.ndarray, corpus: Corpus | None) -> TopicTree:
        """The topics as a tree of one level, with these memberships of the documents of the corpus, or of the fit."""
        n_topics, n_words = self.topic_word_.shape
        ids = np.arange(n_topics)
        document_ids = self.document_ids_ if corpus is None else corpus.ids
        known = corpus is None or self._is_fitted_on(corpus)
        words: Sequence[str] | None = self.words()
        if words is None and corpus is not None:
            words = corpus.vocabulary
        presence = presence_of_words(self)
        wordless = self._wordless(corpus if not known else None, len(doc_topic))
        typical = getattr(self, "typicality_", None)
        if typical is not None and not known:
            typical = typicality(self.word_counts(corpus), doc_topic, self.n_jobs)
        return TopicTree(
            ids=ids,
            parent=np.full(n_topics, -1),
            level=np.ones(n_topics, int),
            size=mean_membership(doc_topic, wordless),
            topic_word=self.topic_word_,
            doc_topic=doc_topic,
            word_frequency=self.word_frequency_,
            vocabulary=tuple(words or [f"word {column}" for column in range(n_words)]),
            document_ids=document_ids or tuple(map(str, range(len(doc_topic)))),
            word_presence=None if presence is None else presence[0],
            corpus_presence=None if presence is None else presence[1],
            wording=getattr(self, "wording_", None),
            titles=self.document_titles_ if corpus is None else corpus.titles,
            graph=self.graph_ if known else None,
            stability=dict(enumerate(getattr(self, "topic_stability_", np.zeros(0)).tolist())),
            returns=dict(enumerate(getattr(self, "topic_returns_", np.zeros(0)).tolist())),
            marks={int(topic): mark for topic, mark in enumerate(getattr(self, "topic_marks_", ())) if mark},
            wordless=wordless,
            typicality=typical,
            summary=self.summary(),
            mapping={int(topic): int(topic) for topic in ids},
        )


class FlatTopicModel(TopicModel):
    """Base class of models with one level of topics: P(w|d) = sum_z P(z|d) P(w|z)."""

    @abstractmethod
    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        """P(z|d) of documents with the topics fixed, each by itself."""

    def topic_tree(self, corpus: Corpus | None = None) -> TopicTree:
        check_is_fitted(self)
        known = corpus is None or self._is_fitted_on(corpus)
        return self._one_level(self.doc_topic_ if known else self.document_topics(corpus), corpus)

    def _document_topics(self, X: CountsLike, **inputs: Any) -> np.ndarray:
        return self._fold_in(seen_words(self.word_counts(X, self.topic_word_.dtype), self.word_frequency_), **inputs)

    def _score(self, X: CountsLike, **inputs: Any) -> float:
        in_blocks = all(value is None for value in inputs.values())  # further inputs are those of all documents
        return self._completion(X, lambda seen: self._fold_in(seen, **inputs), in_blocks=in_blocks)


class StreamedTopicModel(TopicModel):
    """Base class of models that learn from batches of documents.

    Attributes
    ----------
    n_batches_ : int
        Number of batches that `partial_fit` has learned from. Defined only after `partial_fit`.
    """

    _stored: ClassVar[Mapping[str, Stored]] = {"n_batches_": Stored(kind="int", low=1, may_be_missing=True)}

    n_batches_: int

    @abstractmethod
    def _check_stream(self) -> None:
        """Raise if a parameter needs all documents at once."""

    @abstractmethod
    def _learn_batch(self, counts: sp.csr_array, y: Any) -> None:
        """Move the topics towards those of a batch, and keep the memberships of its documents."""

    def partial_fit(self, X: CountsLike, y: Any = None) -> Self:
        """Learn from one more batch of a stream of documents, by stepwise EM.

        The first batch is fitted as by `fit`; each further batch moves the topics a little less. Batches are not kept:
        `doc_topic_` belongs to the last batch, and `history_` has the log-likelihood of each batch before the model
        learned from it. All batches must have the same words.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Labels, for models that learn from them; the first batch determines the classes.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If X or a parameter cannot be used.
        """
        self._check_stream()
        if not hasattr(self, "topic_word_"):
            self.fit(X, y)
            self.n_batches_ = 1
            self.history_ = self.history_[-1:]
            return self
        counts = self.word_counts(X, self.topic_word_.dtype)
        self._learn_batch(counts, y)
        self._remember_documents(X, counts)
        self.__dict__.pop("_mined", None)  # phrases are those of a whole fit
        return self


def check_model(model: Any) -> None:
    """Raise if something else was passed where a model is needed, such as its tree."""
    if not isinstance(model, TopicModel):
        raise InputError(f"model is of type {type(model).__name__}: expected a fitted model")


def tree_of(topics: TopicModel | TopicTree, corpus: Corpus) -> TopicTree:
    """The tree of a model over the documents of a corpus; a tree is returned unchanged if it has these documents."""
    if isinstance(topics, Corpus):
        raise InputError("the first argument is a Corpus: expected the model or tree first, then the corpus")
    check_corpus(corpus)
    if not isinstance(topics, TopicTree):
        check_model(topics)
        return topics.topic_tree(corpus)
    if len(topics.doc_topic) != len(corpus):
        raise InputError(f"the tree has {len(topics.doc_topic):,} documents and the corpus {len(corpus):,}")
    if topics.document_ids != corpus.ids:
        raise InputError("the corpus and the tree have different documents: expected the same ids in the same order")
    n_segments = None if corpus.segments is None else len(corpus.segments.documents)
    if topics.segment_topic is not None and n_segments is not None and len(topics.segment_topic) != n_segments:
        raise InputError(f"the tree has {len(topics.segment_topic):,} segments and the corpus {n_segments:,}")
    return topics


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    text = str(value)
    return text if len(text) <= _LONGEST_SETTING else text[: _LONGEST_SETTING - 1] + "…"

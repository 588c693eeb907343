"""Labels of documents from only the descriptions of the labels, and topics for documents that no label describes.

Documents and descriptions are vectors of length one: tf-idf of their words and, if given, embeddings. A label starts
at its description and moves towards its documents, by EM for a mixture of von Mises-Fisher distributions:

    P(z|d) ~ P(z) exp(2 s(d,z)),  s the sum of the cosines of d and the centres of z, by words and by embeddings;
    centre of z ~ weight * description of z + mean direction of the documents of z, weighted by their number.

Cosines of words are much smaller than those of embeddings, so each is divided by its spread over documents and labels,
and so is their sum. EM takes only two steps by default: with more steps, labels drift away from their descriptions.
Free topics have no description: they start at clusters of documents for which no label stands out, and are added after
the first step. No label stands out if the best one scores less than second-best labels do: that is how the documents of
a label would look if it were left out.

The vectors are not centred: if most documents have the same label, their mean is the centre of that label. If it were
subtracted, these documents would be distributed over the other labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..baselines.kmeans import kmeans_on_rows
from ..corpus.corpus import Corpus
from ..corpus.counting import count_known_words
from ..corpus.languages import guess_languages
from ..corpus.preprocessing import Preprocessing
from ..corpus.weighting import inverse_document_frequency, tfidf
from ..engine.arrays import normalise_rows, summed
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..errors import InputError
from ..graph.build import knn_graph
from ..graph.partial_labels import accuracy_of_known, without_label
from ..models.graph.graph_data import check_embeddings
from ..models.inputs import CountsLike, CountsMixin, RandomStateLike, as_texts
from ..models.word_ranking import presence_of_words, word_documents
from ..topics.tree import TopicTree
from ..topics.wordless import mean_membership

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["NONE", "ZeroShotClassifier", "described_labels"]

NONE = ""  # the label of documents that no label describes
Labels: TypeAlias = Mapping[str, str] | Sequence[str]

_SHARPNESS = 2.0  # factor of the scores in P(z|d), per standard deviation
_WEIGHT = 0.3  # weight of a description, as a share of the number of documents of an average label
_PRIOR = 0.1  # added to the size of each topic, as a share of the average size
_LANGUAGE_TEXTS = 2_000  # by which the language of the corpus is told
_NEIGHBORS, _AVERAGED = 5, 4  # nearest documents, and how many times cosines are averaged over them
_KMEANS_STARTS, _KMEANS_ITER = 3, 50  # k-means for the start of the free topics


def described_labels(labels: Any) -> dict[str, str]:
    """Labels with their descriptions, checked; a label from a list describes itself.

    >>> described_labels(["sport", "politics"])
    {'sport': 'sport', 'politics': 'politics'}
    """
    if isinstance(labels, str) or not isinstance(labels, Mapping | Iterable):
        raise InputError(f"labels={labels!r:.60}: expected a dict of descriptions by label, or a list of labels")
    pairs = list(labels.items()) if isinstance(labels, Mapping) else [(label, label) for label in labels]
    if len(pairs) < 2:
        raise InputError(f"labels has {len(pairs)} entries: expected at least two labels")
    label_of: dict[str, str] = {}
    described: dict[str, str] = {}
    for label, description in pairs:
        if not isinstance(label, str) or not label.strip():
            raise InputError(f"label {label!r:.60}: expected a name")
        if label in described:
            raise InputError(f"label {label!r:.60} occurs twice: expected each label only once")
        if not isinstance(description, str) or not description.strip():
            raise InputError(f"label {label!r:.60} is described by {description!r:.60}: expected words")
        same = label_of.setdefault(" ".join(description.casefold().split()), label)
        if same != label:
            raise InputError(f"labels {same!r:.60} and {label!r:.60} have the same description: {description!r:.60}")
        described[label] = description
    return described


class ZeroShotClassifier(CountsMixin, ClassifierMixin, BaseEstimator):
    """Classifier that learns from descriptions of the labels, without labelled documents.

    Parameters
    ----------
    labels : dict of str to str, or list of str
        What each label is about, such as {"sport": "football, tennis and other sports"}. The labels of a list describe
        themselves.
    n_free_topics : int, default=0
        Number of topics for documents that no label describes. With 0, every document gets one of the labels; otherwise
        a document may get '', which means none of them. 1 is right if a label may be missing; the more there are, the
        more documents are expected to have no label.
    max_iter : int, default=2
        Number of EM steps. With many steps, labels drift away from their descriptions.
    random_state : int, RandomState instance or None, default=None
        Seed of the start of the free topics. Without free topics, a fit has no randomness.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, and '' if there are free topics.
    topic_word_ : ndarray of shape (n_labels + n_free_topics, n_words)
        P(w|z): the words of the documents of each label, then those of the free topics.
    doc_topic_ : ndarray of shape (n_documents, n_labels + n_free_topics)
        P(z|d) of the training documents; `transform` returns the same for them.
    doc_class_ : ndarray of shape (n_documents, n_classes)
        Probability of each of `classes_` for the training documents.
    transduction_ : ndarray of shape (n_documents,)
        The label of each training document, '' for none.
    language_ : str or None
        The language of the descriptions, if it is clear, and otherwise of most texts; None without texts.

    See Also
    --------
    TopicClassifier : A classifier that learns from a few labelled documents.
    LDA : Topics guided by `seed_words`.

    Examples
    --------
    >>> from topicfold import ZeroShotClassifier
    >>> texts = ["dog barks at cat", "cat and dog and mouse", "mouse barks", "sun and moon", "moon star sun", "a star"]
    >>> clf = ZeroShotClassifier({"pets": "a cat or a dog", "sky": "the moon"}).fit(texts)
    >>> clf.transduction_.tolist()
    ['pets', 'pets', 'pets', 'sky', 'sky', 'sky']
    >>> clf.predict(["star and sun"]).tolist()
    ['sky']
    """

    def __init__(
        self,
        labels: Labels,
        *,
        n_free_topics: int = 0,
        max_iter: int = 2,
        random_state: RandomStateLike = None,
    ) -> None:
        self.labels = labels
        self.n_free_topics = n_free_topics
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self,
        X: CountsLike,
        y: Any = None,
        *,
        embeddings: ArrayLike | None = None,
        label_embeddings: ArrayLike | None = None,
    ) -> Self:
        """Learn what the documents of each label are like.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, such as those of `topicfold.embed`.
        label_embeddings : array-like of shape (n_labels, n_features), default=None
            Vectors of the descriptions in the order of the labels, from the same model as those of the documents.

        Returns
        -------
        object
            The classifier itself, fitted.

        Raises
        ------
        InputError
            If the labels, X or the embeddings cannot be used.
        """
        labels = described_labels(self.labels)
        for name, least in (("n_free_topics", 0), ("max_iter", 1)):
            check_whole(name, getattr(self, name), least)
        counts = self._fit_counts(X, np.float64)
        n_documents = counts.shape[0]
        self.language_ = _language_of(labels, _texts_of(X))
        if n_documents < max(2, self.n_free_topics):
            raise InputError(f"{n_documents} documents: expected at least {max(2, self.n_free_topics)}")
        self.idf_ = inverse_document_frequency(counts)
        rows: list[Any] = [tfidf(counts, self.idf_)]
        anchors = [self._words_of(labels)]
        self.n_embedding_features_ = None
        if embeddings is None and label_embeddings is None:
            _check_known_words(labels, anchors[0])
        else:
            vectors, described = _checked_pair(embeddings, label_embeddings, n_documents, len(labels))
            self.n_embedding_features_ = vectors.shape[1]
            rows.append(vectors)
            anchors.append(described)
        self.wordless_ = self._rows_without_label(X)
        with single_threaded_libraries():
            self._learn(rows, anchors)
            self.classes_ = np.array([*labels, NONE] if self.n_free_topics else [*labels])
            self._keep_topics(counts)
        self.transduction_ = without_label(self.classes_[self.doc_class_.argmax(axis=1)], self.wordless_)
        return self

    def transform(self, X: CountsLike, *, embeddings: ArrayLike | None = None) -> np.ndarray:
        """Infer P(z|d) of documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents; required if the classifier was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents, n_labels + n_free_topics)
            The labels in their order, then the free topics, one row per document.

        Raises
        ------
        InputError
            If X does not match the classifier, or embeddings are missing or not expected.
        """
        check_is_fitted(self)
        counts = self.word_counts(X, np.float64)
        rows: list[Any] = [tfidf(counts, self.idf_)]
        if (embeddings is None) != (self.n_embedding_features_ is None):
            fitted_how = (
                "with embeddings: pass those of" if embeddings is None else "without embeddings: leave them out for"
            )
            raise InputError(f"embeddings: the classifier was fitted {fitted_how} new documents too")
        if embeddings is not None:
            rows.append(_unit(check_embeddings(embeddings, counts.shape[0], self.n_embedding_features_)))
        with single_threaded_libraries():
            return _posterior(_scores(rows, self._centres, self._scales), self._log_prior)

    def predict_proba(self, X: CountsLike, *, embeddings: ArrayLike | None = None) -> np.ndarray:
        """Predict the probability of each of `classes_`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents; required if the classifier was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents, n_classes)
            One row per document. The probability of '' is the sum over the free topics.
        """
        return self._of_classes(self.transform(X, embeddings=embeddings))

    def predict(self, X: CountsLike, *, embeddings: ArrayLike | None = None) -> np.ndarray:
        """Predict the most probable label of each document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents; required if the classifier was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents,)
            The labels; '' for a document that belongs to none of them, and without embeddings also for one without a
            known word, or with a text in another language than the descriptions.
        """
        classes = self.classes_[self.predict_proba(X, embeddings=embeddings).argmax(axis=1)]
        return without_label(classes, self._rows_without_label(X))

    def score(self, X: CountsLike, y: ArrayLike, *, embeddings: ArrayLike | None = None) -> float:
        """Compute the share of labelled documents whose label is predicted correctly.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,)
            Labels; documents without a label are left out.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents; required if the classifier was fitted on embeddings.

        Returns
        -------
        float
            The accuracy.
        """
        return accuracy_of_known(self.predict(X, embeddings=embeddings), y)

    def topic_tree(self, corpus: Corpus | None = None, *, embeddings: ArrayLike | None = None) -> TopicTree:
        """Return the labels and the free topics as a TopicTree, with the labels as names.

        Parameters
        ----------
        corpus : Corpus, default=None
            The documents of the tree. None, or the corpus of the fit, gives the training documents.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents of another corpus, if the classifier was fitted on embeddings.

        Returns
        -------
        TopicTree
            The labels and topics with their words and documents.
        """
        check_is_fitted(self)
        is_training_corpus = corpus is None or self._is_fitted_on(corpus)
        doc_topic = self.doc_topic_ if is_training_corpus else self.transform(corpus, embeddings=embeddings)
        n_topics, n_words = self.topic_word_.shape
        presence = presence_of_words(self)
        assert presence is not None
        ids = self.document_ids_ if corpus is None else corpus.ids
        wordless = self.wordless_ if corpus is None else self._rows_without_label(corpus)
        return TopicTree(
            ids=np.arange(n_topics),
            parent=np.full(n_topics, -1),
            level=np.ones(n_topics, int),
            size=mean_membership(doc_topic, wordless),
            topic_word=self.topic_word_,
            doc_topic=doc_topic,
            word_frequency=self.word_frequency_,
            vocabulary=tuple(self.words() or [f"word {column}" for column in range(n_words)]),
            document_ids=ids or tuple(map(str, range(len(doc_topic)))),
            word_presence=presence[0],
            corpus_presence=presence[1],
            titles=self.document_titles_ if corpus is None else corpus.titles,
            wordless=wordless,
            names=dict(enumerate(self._label_names())),
            mapping={topic: topic for topic in range(n_topics)},
        )

    def _rows_without_label(self, X: CountsLike) -> np.ndarray:
        """The documents without a known word, or in another language; none with embeddings, which tell what it is."""
        if self.n_embedding_features_ is not None:
            return np.zeros(0, np.int64)
        unlabelled = np.diff(self.word_counts(X).indptr) == 0
        texts = None if self.language_ is None else _texts_of(X)
        if texts is not None:
            unlabelled |= np.array([language not in (None, self.language_) for language in guess_languages(texts)])
        return np.flatnonzero(unlabelled)

    def _label_names(self) -> list[str]:
        return [name for name in self.classes_.tolist() if name != NONE]

    def _of_classes(self, doc_topic: np.ndarray) -> np.ndarray:
        """The probabilities of `classes_`: those of the labels, and the sum over the free topics, if there are any."""
        n_labels = doc_topic.shape[1] - self.n_free_topics
        if n_labels == doc_topic.shape[1]:
            return doc_topic
        return np.column_stack([doc_topic[:, :n_labels], doc_topic[:, n_labels:].sum(axis=1)])

    def _words_of(self, labels: Mapping[str, str]) -> np.ndarray:
        """tf-idf of the descriptions; rows of zeros if the words of X are not known."""
        words = self.words()
        if words is None:
            return np.zeros((len(labels), self.n_features_in_))
        preprocessing = self.preprocessing_ or Preprocessing()
        return tfidf(count_known_words(labels.values(), preprocessing, words, as_fitted=False), self.idf_).toarray()

    def _learn(self, rows: list[Any], anchors: list[np.ndarray]) -> None:
        """EM on the vectors of the documents, of each kind; `anchors` are the vectors of the descriptions."""
        n_documents, n_labels = rows[0].shape[0], len(anchors[0])
        free = self._undescribed(rows, anchors)
        centres, log_prior = anchors, np.zeros(n_labels)
        for step in range(self.max_iter):
            scales = _scales(rows, centres, n_labels)
            doc_topic = self._teaching(_posterior(_scores(rows, centres, scales), log_prior))
            sizes = doc_topic.sum(axis=0)
            centres = [
                _unit(_WEIGHT * n_documents / n_labels * anchor + sizes[:, None] * _unit((part.T @ doc_topic).T))
                for part, anchor in zip(rows, anchors)
            ]
            log_prior = np.log(sizes + _PRIOR * n_documents / len(sizes))
            if step == 0:  # not earlier: documents are nearer to a mean of documents than to any description
                clusters = [_unit((part.T @ free).T) for part in rows]
                centres = [np.vstack(pair) for pair in zip(centres, clusters)]
                anchors = [np.vstack(pair) for pair in zip(anchors, clusters)]
                log_prior = np.append(log_prior, np.log(free.sum(axis=0) + _PRIOR * n_documents / n_labels))
        self._centres, self._log_prior, self._scales = centres, log_prior, _scales(rows, centres, n_labels)
        self.doc_topic_ = _posterior(_scores(rows, centres, self._scales), log_prior)

    def _undescribed(self, rows: list[Any], anchors: list[np.ndarray]) -> np.ndarray:
        """The free topic in which each document starts, if in any: clusters of documents without a clear label."""
        n_free, vectors = self.n_free_topics, rows[-1]
        member = np.zeros((rows[0].shape[0], n_free))
        if n_free == 0:
            return member
        share = n_free / (n_free + len(anchors[-1]))
        undescribed = _without_clear_label(_averaged_cosines(vectors, anchors[-1]), share)
        undescribed[self.wordless_] = False
        documents = np.flatnonzero(undescribed)
        if len(documents):
            n_clusters, rng = min(n_free, len(documents)), check_random_state(self.random_state)
            clusters = kmeans_on_rows(vectors[documents], n_clusters, _KMEANS_STARTS, _KMEANS_ITER, rng).labels_
            member[documents] = clusters[:, None] == np.arange(n_free) % n_clusters
        return member

    def _teaching(self, doc_topic: np.ndarray) -> np.ndarray:
        """The memberships, but zeros for documents that get no label: they say nothing about the labels."""
        if len(self.wordless_):
            doc_topic = doc_topic.copy()
            doc_topic[self.wordless_] = 0
        return doc_topic

    def _keep_topics(self, counts: sp.csr_array) -> None:
        self.word_frequency_ = summed(counts, 0)
        doc_topic = self._teaching(self.doc_topic_)
        self.topic_word_ = normalise_rows((counts.T @ doc_topic).T)
        self.word_documents_ = word_documents(counts, doc_topic)
        self.topic_documents_ = doc_topic.sum(axis=0)
        self.doc_class_ = self._of_classes(self.doc_topic_)


def _texts_of(X: CountsLike) -> Sequence[str] | None:
    return X.texts if isinstance(X, Corpus) else as_texts(X)


def _language_of(labels: Mapping[str, str], texts: Sequence[str] | None) -> str | None:
    """The language of the descriptions if some texts are in it, otherwise that of most texts."""
    if texts is None:
        return None
    (described,) = guess_languages([". ".join(labels.values())])
    languages = Counter(guess_languages(texts[:_LANGUAGE_TEXTS]))
    languages.pop(None, None)
    if described in languages or not languages:  # a few words of a description are easily mistaken
        return described
    return languages.most_common(1)[0][0]


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to length one, in double precision; a row of zeros stays."""
    rows = np.asarray(rows, np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def _scales(rows: list[Any], centres: list[np.ndarray], n_labels: int) -> list[float]:
    """Spreads of the cosines with the labels, of each kind, and of the sum of the scaled cosines."""
    cosines = [part @ places[:n_labels].T for part, places in zip(rows, centres)]
    spreads = [max(float(values.std()), 1e-9) for values in cosines]
    total = np.sum([values / spread for values, spread in zip(cosines, spreads)], axis=0)
    return [*spreads, max(float(total.std()), 1e-9)]


def _scores(rows: list[Any], centres: list[np.ndarray], scales: list[float]) -> np.ndarray:
    """Sum over all kinds of the cosines of documents and centres, divided by their spreads."""
    parts = [part @ places.T / scale for part, places, scale in zip(rows, centres, scales)]
    return np.sum(parts, axis=0) / scales[-1]


def _averaged_cosines(vectors: Any, anchors: np.ndarray) -> np.ndarray:
    """Cosines with the descriptions, averaged four times over the nearest documents, and standardised for each label.

    A document may lack the words of its description, but some documents near it have them. And some descriptions are
    similar to everything.
    """
    graph = knn_graph(vectors, _NEIGHBORS, weighting=None)
    mean = sp.csr_array(sp.diags_array(1 / (1 + graph.sum(axis=1))) @ (graph + sp.eye_array(graph.shape[0])))
    cosines = np.asarray(vectors @ anchors.T)
    for _ in range(_AVERAGED):
        cosines = mean @ cosines
    return (cosines - cosines.mean(axis=0)) / np.maximum(cosines.std(axis=0), 1e-9)


def _without_clear_label(scores: np.ndarray, most: float) -> np.ndarray:
    """Which documents have a best label that scores less than the second-best labels of half of the documents or more.

    If a label were left out, its documents would have to take their second-best one: so about half of them are found.
    If the share `most` of the documents may have no label, the half becomes (1 + most) / 2, and no more are found.

    >>> _without_clear_label(np.array([[5, 1], [0, 4], [6, 2], [2, 1.5]]), 0.2).tolist()
    [False, False, False, False]
    >>> _without_clear_label(np.array([[5, 1], [0, 4], [6, 2], [0.4, 0.2]]), 0.2).tolist()
    [False, False, False, True]
    """
    second, best = np.sort(scores, axis=1)[:, -2:].T
    return best < min(np.quantile(second, (1 + most) / 2), np.quantile(best, most))


def _posterior(scores: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    values = _SHARPNESS * scores + log_prior
    return normalise_rows(np.exp(values - values.max(axis=1, keepdims=True)))


def _check_known_words(labels: Mapping[str, str], rows: np.ndarray) -> None:
    """Raise a ValueError if the words of the descriptions are not enough to distinguish the labels."""
    label_of: dict[bytes, str] = {}
    for (label, description), row in zip(labels.items(), rows):
        if not row.any():
            raise InputError(
                f"label {label!r}: the corpus has no word of its description {description!r:.60}; "
                "use other words, or pass embeddings"
            )
        same = label_of.setdefault(row.tobytes(), label)
        if same != label:
            raise InputError(f"labels {same!r:.60} and {label!r:.60} have the same description in words of the corpus")


def _checked_pair(
    embeddings: ArrayLike | None, label_embeddings: ArrayLike | None, n_documents: int, n_labels: int
) -> tuple[np.ndarray, np.ndarray]:
    if embeddings is None or label_embeddings is None:
        missing = "embeddings" if embeddings is None else "label_embeddings"
        raise InputError(f"{missing} are missing: expected those of documents and of labels, from the same model")
    vectors = check_embeddings(embeddings, n_documents)
    described = np.asarray(label_embeddings, np.float64)
    if described.shape != (n_labels, vectors.shape[1]):
        raise InputError(
            f"label_embeddings have shape {described.shape}: expected one row per label and as many columns as the "
            f"embeddings of the documents, {(n_labels, vectors.shape[1])}"
        )
    check_embeddings(described, n_labels)
    if not described.any(axis=1).all():
        raise InputError(f"label_embeddings: row {int(np.argmin(described.any(axis=1)))} is all zeros")
    return _unit(vectors), _unit(described)

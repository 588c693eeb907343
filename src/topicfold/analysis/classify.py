"""Classes of documents from few labels: topics of all documents, and a classifier on the labelled ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils import Tags, TransformerTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..engine.blocks import single_threaded_libraries
from ..errors import InputError
from ..graph.check import GraphLike
from ..graph.partial_labels import accuracy_of_known, class_codes, without_label
from ..models import MODELS, info_of
from ..models.estimator import TopicModel
from ..models.inputs import CountsLike

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["TopicClassifier"]


def _classifier_has(name: str) -> Callable[[TopicClassifier], bool]:
    def check(self: TopicClassifier) -> bool:
        classifier = LinearSVC() if self.classifier is None else self.classifier
        getattr(getattr(self, "classifier_", classifier), name)  # raises an AttributeError that says what is missing
        return True

    return check


class TopicClassifier(ClassifierMixin, BaseEstimator):
    """Semi-supervised classifier: topics are learned from all documents, classes from the labelled ones.

    Parameters
    ----------
    model : estimator
        A topic model, or any estimator with `fit_transform` and `transform`. It is fitted on all documents and also
        gets the classes as numbers, -1 for unknown: LTM, LapPLSI and DTM connect documents of one class in their graph,
        TTMM(n_themes='labels') uses the classes as themes, and the others ignore them.
    classifier : estimator or None, default=None
        Classifier that learns the classes from the topics of the labelled documents, scaled to length one. None uses a
        linear support vector machine with C=1.

    Attributes
    ----------
    model_ : estimator
        The fitted model.
    classifier_ : estimator
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    transduction_ : ndarray of shape (n_documents,)
        The class predicted for each training document, labelled or not; none ('' or -1) without a known word.

    See Also
    --------
    TTMM : A topic model that is itself a classifier.
    LTM : A topic model that uses labels in its graph.

    Notes
    -----
    Labels are names or numbers; None, '', NaN and -1 mean no label.

    GridSearchCV and cross_val_score sort the labels to make folds, which fails if there are None or NaN among them: use
    '' with names and -1 with numbers. Leave their `scoring` unset, because `score` uses only labelled documents. They
    also split X into folds, so pass counts rather than a Corpus. A graph of all documents cannot be split: let the
    model build its own graph, from X or from `embeddings`. Embeddings are passed to `score` only with scikit-learn's
    metadata routing (set_fit_request, set_score_request).

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, TopicClassifier
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "cat dog dog", "sun moon", "moon star sun", "star moon"])
    >>> clf = TopicClassifier(PLSA(2, random_state=0)).fit(corpus, ["pet", None, None, "sky", None, None])
    >>> clf.transduction_.tolist()
    ['pet', 'pet', 'pet', 'sky', 'sky', 'sky']
    >>> clf.predict(["star sun", "dog"]).tolist()
    ['sky', 'pet']
    """

    def __init__(self, model: BaseEstimator, classifier: BaseEstimator | None = None) -> None:
        self.model = model
        self.classifier = classifier

    def fit(
        self, X: CountsLike, y: ArrayLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> Self:
        """Learn topics from all documents and classes from the labelled ones.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,)
            Labels; None, '', NaN or -1 for a document without a label.
        graph : array or sparse matrix of shape (n_documents, n_documents), default=None
            Graph of the documents, for a graph model.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, for a graph model.

        Returns
        -------
        object
            The classifier itself, fitted.

        Raises
        ------
        InputError
            If there are fewer than two classes, or the model cannot use X, the graph or the embeddings.
        """
        extra = self._extra(graph, embeddings)
        self.classes_, codes = class_codes(y, _num_samples(X))
        labelled = codes >= 0
        self.model_ = clone(self.model)
        features = normalize(self.model_.fit_transform(X, codes, **extra))
        with single_threaded_libraries():
            self.classifier_ = self._fitted_classifier(features[labelled], self.classes_[codes[labelled]])
            self.transduction_ = self._abstaining(self.classifier_.predict(features), X, extra)
        return self

    def predict(
        self, X: CountsLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
        """Predict the class of each document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edge weights between these documents and the training documents, for a graph model.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, for a graph model that was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents,)
            The classes; no class ('', or -1 among numbers) for a text of which the model knows too little.
        """
        return self._abstaining(self._apply("predict", X, graph, embeddings), X, self._extra(graph, embeddings))

    @available_if(_classifier_has("predict_proba"))
    def predict_proba(
        self, X: CountsLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
        """Predict the probability of each class, if the classifier has `predict_proba`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edge weights between these documents and the training documents, for a graph model.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, for a graph model that was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents, n_classes)
            P(class|d), with the columns in the order of `classes_`.
        """
        return self._apply("predict_proba", X, graph, embeddings)

    @available_if(_classifier_has("decision_function"))
    def decision_function(
        self, X: CountsLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
        """Compute the decision values of the classifier, if it has `decision_function`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edge weights between these documents and the training documents, for a graph model.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, for a graph model that was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents,) or (n_documents, n_classes)
            The decision values.
        """
        return self._apply("decision_function", X, graph, embeddings)

    def transform(
        self, X: CountsLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
        """Infer the topics of documents, scaled to length one, which are the input of the classifier.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edge weights between these documents and the training documents, for a graph model.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, for a graph model that was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            One row per document.
        """
        check_is_fitted(self)
        return normalize(self.model_.transform(X, **self._extra(graph, embeddings)))

    def score(
        self, X: CountsLike, y: ArrayLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> float:
        """Compute the share of labelled documents whose class is predicted correctly.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,)
            Labels; documents without a label are left out.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edge weights between these documents and the training documents, for a graph model.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, for a graph model that was fitted on embeddings.

        Returns
        -------
        float
            The accuracy.
        """
        return accuracy_of_known(self.predict(X, graph=graph, embeddings=embeddings), y)

    @property
    def n_features_in_(self) -> int:
        """Number of words that the model was fitted on."""
        return self.model_.n_features_in_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.model).input_tags
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags

    def _abstaining(self, classes: np.ndarray, X: CountsLike, extra: dict[str, Any]) -> np.ndarray:
        """The classes, but none for documents of which the model knows nothing."""
        if not isinstance(self.model_, TopicModel):
            return classes
        return without_label(classes, self.model_.rows_without_topics(X, **extra))

    def _apply(self, method: str, X: CountsLike, graph: GraphLike | None, embeddings: ArrayLike | None) -> np.ndarray:
        features = self.transform(X, graph=graph, embeddings=embeddings)
        with single_threaded_libraries():
            return getattr(self.classifier_, method)(features)

    def _extra(self, graph: GraphLike | None, embeddings: ArrayLike | None) -> dict[str, Any]:
        """The arguments that were passed, or a ValueError if the model does not accept one."""
        extra = {name: value for name, value in (("graph", graph), ("embeddings", embeddings)) if value is not None}
        if extra and not info_of(self.model).takes_graph:
            takers = ", ".join(name for name, info in MODELS.items() if info.takes_graph)
            raise InputError(f"{type(self.model).__name__} takes no {next(iter(extra))}: {takers} do")
        return extra

    def _fitted_classifier(self, features: np.ndarray, labels: np.ndarray) -> BaseEstimator:
        # Not a C chosen by cross-validation: labels in the graph have already drawn the documents of a class together.
        classifier = LinearSVC(dual=False) if self.classifier is None else clone(self.classifier)
        return classifier.fit(features, labels)

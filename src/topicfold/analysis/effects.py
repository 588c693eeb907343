"""Effects of metadata on topics: a regression of the shares of topics on a design given by a formula.

It follows estimateEffect of the R package stm (Roberts, Stewart and Tingley 2019) and the method of composition (Treier
and Jackman 2008): the shares of topics in a document are not known exactly, so their posterior enters the standard
errors.

The posterior of a mixture is a Dirichlet distribution whose parameters are the expected numbers of tokens of each topic
in the document, sum_w x_dw P(z|d,w). The prior of the model is left out: it would draw short documents to the mean of
the corpus, and so every effect towards zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.checks import check_number, check_whole
from ..engine.extras import import_extra
from ..engine.warn import warn_user
from ..errors import InputError
from ..models.estimator import TopicModel, tree_of
from ..topics.tree import TopicTree
from .design import Design, column_values, make_design
from .regression import Regression, regress
from .topic_tokens import TopicTokens, counts_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Effects", "effects"]

_FEW_CLUSTERS = 20
_MOST_LEVELS = 100  # maximum number of levels of a factor along which shares are predicted


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of metadata on the shares of topics; made by `effects`.

    Attributes
    ----------
    formula : str
        The formula.
    terms : tuple of str
        Names of the columns of the design matrix.
    topics : tuple of int
        Ids of the topics.
    names : tuple of str
        Names of the topics.
    coefficients : ndarray of shape (n_terms, n_topics)
        Coefficients of the regression of each topic.
    covariances : ndarray of shape (n_topics, n_terms, n_terms)
        Covariance of the coefficients of each topic.
    df : float
        Degrees of freedom of the intervals: documents minus terms, or clusters minus one.
    posterior : str
        Description of the posterior of the shares of topics in a document.
    n_documents : int
        Number of documents used.
    n_missing : int
        Number of documents left out because a value is missing.
    n_empty : int
        Number of documents left out because they have no word of the model.
    cluster : str or None
        The column of the clusters.
    n_clusters : int or None
        Number of clusters.
    design : Design
        The design matrix, and the means to compute its rows for other values.

    See Also
    --------
    effects : Makes one.
    topicfold.plots.effect_sizes : Draws an effect on each topic.
    topicfold.plots.effect_curves : Draws predicted shares.

    Examples
    --------
    >>> from topicfold import Corpus, LDA, effects
    >>> texts = ["cat dog cow", "dog cow cat", "sun moon star", "moon star sun"] * 10
    >>> corpus = Corpus.from_texts(texts, metadata={"place": ["farm", "farm", "sky", "sky"] * 10})
    >>> result = effects(LDA(2, random_state=0).fit(corpus), corpus, "~ place")
    >>> result.terms, result.n_documents
    (('Intercept', 'place[T.sky]'), 40)
    """

    formula: str
    terms: tuple[str, ...]
    topics: tuple[int, ...]
    names: tuple[str, ...]
    coefficients: np.ndarray
    covariances: np.ndarray
    df: float
    posterior: str
    n_documents: int
    n_missing: int
    n_empty: int
    cluster: str | None
    n_clusters: int | None
    design: Design

    def table(self, topics: Sequence[int] | None = None, *, level: float = 0.95) -> pd.DataFrame:
        """Return the coefficients as a pandas data frame.

        Parameters
        ----------
        topics : sequence of int, default=None
            Ids of the topics. None uses all.
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per topic and term: estimate, standard error, interval and p-value.
        """
        tables = [self._linear(row, term, topics, level) for row, term in zip(np.eye(len(self.terms)), self.terms)]
        table = import_extra("pandas", "effects", "effects").concat(tables)
        order = {topic: place for place, topic in enumerate(self.topics)}
        return table.sort_values("topic", key=lambda ids: ids.map(order), kind="stable").reset_index(drop=True)

    def contrast(
        self,
        column: str,
        value: Any,
        other: Any,
        *,
        at: Mapping[str, Any] | None = None,
        topics: Sequence[int] | None = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Compare the shares of topics at two values of a column.

        Parameters
        ----------
        column : str
            The column.
        value : object
            The first value.
        other : object
            The value to compare it with.
        at : mapping of str to value, default=None
            Values of other columns. Columns that are not named are held at their mean or most frequent value.
        topics : sequence of int, default=None
            Ids of the topics. None uses all.
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per topic: the difference of the shares, its standard error, interval and p-value. If the formula
            has no interactions, the difference does not depend on `at`.
        """
        typical = self.design.typical(at)
        points = [{**typical, column: self.design.checked_value(column, x)} for x in (value, other)]
        rows = self.design.rows_for(points)
        return self._linear(rows[0] - rows[1], f"{column}: {value} - {other}", topics, level)

    def predict(
        self,
        column: str,
        n: int = 50,
        *,
        by: str | None = None,
        at: Mapping[str, Any] | None = None,
        topics: Sequence[int] | None = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Predict the shares of topics along a column.

        Parameters
        ----------
        column : str
            The column.
        n : int, default=50
            Number of points. For a categorical column, there is one point per value instead.
        by : str or None, default=None
            A categorical column; the shares are predicted for each of its values.
        at : mapping of str to value, default=None
            Values of other columns. Columns that are not named are held at their mean or most frequent value.
        topics : sequence of int, default=None
            Ids of the topics. None uses all.
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per topic, group and point: the share and its interval.

        Raises
        ------
        InputError
            If a column is unknown, or `by` is the column to predict along.
        """
        check_whole("n", n, 2)
        self.design.check_column(column)
        groups: list[Any] = [None] if by is None else self._levels(by)
        if by == column:
            raise InputError(f"by={by!r}: expected a column other than the one to predict along")
        values: list[Any]
        if column in self.design.factors:
            values = self._levels(column)
        else:
            series = self.design.frame[column]
            values = np.linspace(series.min(), series.max(), n).tolist()
        typical = self.design.typical(at)
        tables = []
        for group in groups:
            group_value = {} if by is None else {by: group}
            rows = self.design.rows_for([{**typical, **group_value, column: value} for value in values])
            for row, value in zip(rows, values):
                predictions = self._linear(row, "", topics, level).rename(columns={"estimate": "share"})
                tables.append(predictions.drop(columns=["term", "p"]).assign(value=value, group=group))
        table = import_extra("pandas", "effects", "effects").concat(tables)
        order = {topic: place for place, topic in enumerate(self.topics)}
        table = table.sort_values("topic", key=lambda ids: ids.map(order), kind="stable").reset_index(drop=True)
        columns = [
            "topic",
            "name",
            *(["group"] if by is not None else []),
            "value",
            "share",
            "std_error",
            "low",
            "high",
        ]
        table = table[columns]
        table.attrs = {"along": column, "by": by}
        return table

    def __str__(self) -> str:
        lines = [
            f"{self.formula}: {len(self.topics)} topics, {self.n_documents:,} documents",
            f"standard errors: {self._errors()}; posterior: {self.posterior}",
        ]
        if self.n_missing:
            lines.append(f"left out: {self.n_missing:,} documents with a missing value")
        if self.n_empty:
            lines.append(f"left out: {self.n_empty:,} documents without a word of the model")
        return "\n".join(lines)

    __repr__ = __str__

    def _errors(self) -> str:
        if self.cluster is None:
            return "robust to heteroscedasticity (HC2)"
        return f"clustered by {self.cluster} ({self.n_clusters} clusters, CR1)"

    def _levels(self, column: str) -> list[Any]:
        self.design.check_column(column)
        if column not in self.design.factors:
            raise InputError(f"{column!r} is numeric: expected a column with categories")
        levels = self.design.levels(column)
        if len(levels) > _MOST_LEVELS:
            raise InputError(f"{column!r} has {len(levels):,} values: expected at most {_MOST_LEVELS}")
        return levels

    def _linear(self, row: np.ndarray, term: str, topics: Sequence[int] | None, level: float) -> pd.DataFrame:
        """A linear combination of the coefficients of each topic."""
        from scipy.stats import t

        check_number("level", level, 0.0, 1.0, above=True)
        places = [self._place(topic) for topic in (self.topics if topics is None else topics)]
        estimate = row @ self.coefficients[:, places]
        error = np.sqrt(np.maximum(np.einsum("i,kij,j->k", row, self.covariances[places], row), 0))
        reach = float(t.ppf(0.5 + level / 2, self.df)) * error
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * t.sf(np.abs(estimate / error), self.df)
        columns = {
            "topic": [self.topics[place] for place in places],
            "name": [self.names[place] for place in places],
            "term": term,
            "estimate": estimate,
            "std_error": error,
            "low": estimate - reach,
            "high": estimate + reach,
            "p": p,
        }
        return import_extra("pandas", "effects", "effects").DataFrame(columns)

    def _place(self, topic: int) -> int:
        if topic not in self.topics:
            listed = ", ".join(map(str, self.topics[:12])) + (", ..." if len(self.topics) > 12 else "")
            raise InputError(f"there are no effects on topic {topic}; the topics are {listed}")
        return self.topics.index(topic)


def effects(
    model: TopicModel | TopicTree,
    corpus: Corpus,
    formula: str,
    *,
    cluster: str | None = None,
    topics: Sequence[int] | None = None,
) -> Effects:
    """Estimate how the shares of topics depend on metadata: `effects(model, corpus, "~ party + bs(year, df=5)")`.

    The shares of each topic are regressed on the metadata. The intervals include the uncertainty about the shares of
    topics in each document.

    Parameters
    ----------
    model : TopicModel or TopicTree
        A fitted model, or a tree of this corpus, for example with topics merged or renamed. Effects are estimated for
        topics of the lowest level; `tree.select_levels([2])` makes another level the lowest.
    corpus : Corpus
        Documents with metadata: the training documents, or others.
    formula : str
        Columns of the metadata, combined with + (terms), : (interaction) and * (both), and transforms: bs, cr, cs, cc
        (splines), poly, center, scale, log, log2, log10, exp, sqrt, abs, C (categories) and I (arithmetic). Text
        columns are categories. 'labels' stands for the labels, if each document has only one, and 'date' for the
        timestamps as a number of years.
    cluster : str or None, default=None
        Column whose values define clusters of documents that are not independent, such as the posts of one blog.
        Standard errors are then robust to any dependence within clusters.
    topics : sequence of int, default=None
        Ids of the topics. None uses all of the lowest level.

    Returns
    -------
    Effects
        Coefficients with their covariances; methods give tables, differences and predictions.

    Raises
    ------
    InputError
        If the formula cannot be read, contains an unknown column, or leaves too few documents.
    ImportError
        If formulaic or pandas is not installed (the extra topicfold[effects]).

    See Also
    --------
    contrast : Compares the words of groups.
    topicfold.plots.effect_sizes : Draws an effect on each topic.

    References
    ----------
    Roberts, M. E., Stewart, B. M. and Tingley, D. (2019). stm: an R package for structural topic models. Journal of
    Statistical Software 91(2). https://doi.org/10.18637/jss.v091.i02

    Treier, S. and Jackman, S. (2008). Democracy as a latent variable. American Journal of Political Science 52,
    201-217. https://doi.org/10.1111/j.1540-5907.2007.00308.x

    Examples
    --------
    >>> from topicfold import Corpus, LDA, effects
    >>> texts = ["cat dog cow", "dog cow cat", "sun moon star", "moon star sun"] * 10
    >>> corpus = Corpus.from_texts(texts, metadata={"place": ["farm", "farm", "sky", "sky"] * 10})
    >>> estimates = effects(LDA(2, random_state=0).fit(corpus), corpus, "~ place")
    >>> estimates.contrast("place", "farm", "sky").estimate.abs().round(1).tolist()
    [1.0, 1.0]
    """
    tree = tree_of(model, corpus)
    counts = counts_of(tree, corpus)
    rows = _rows_of(tree, topics)
    has_words = np.asarray(counts.sum(axis=1)).ravel() > 0
    usable = has_words.copy()
    groups = None if cluster is None else column_values(corpus, cluster)
    if groups is not None:
        usable &= np.array([value is not None and value == value for value in groups])
    design = make_design(formula, corpus, usable)
    tokens = TopicTokens(tree, counts, int(tree.level.min()))
    places = np.searchsorted(tokens.rows, rows)
    share, variance = (values[:, places] for values in _posterior(tree, tokens, design.rows))
    numbers = None if groups is None else _cluster_numbers(str(cluster), groups[design.rows])
    regression: Regression = regress(design.matrix, share, variance, numbers)
    ids = tree.ids[rows].tolist()
    return Effects(
        formula=formula,
        terms=design.terms,
        topics=tuple(ids),
        names=tuple(tree.name(topic) for topic in ids),
        coefficients=regression.coefficients,
        covariances=regression.covariances,
        df=regression.df,
        posterior=_posterior_text(tree),
        n_documents=len(design.rows),
        n_missing=int(has_words.sum()) - len(design.rows),
        n_empty=int((~has_words).sum()),
        cluster=cluster,
        n_clusters=None if numbers is None else int(numbers.max()) + 1,
        design=design,
    )


def _rows_of(tree: TopicTree, topics: Sequence[int] | None) -> np.ndarray:
    """The rows of topics of the lowest level, by their ids; all of them without ids."""
    lowest = np.flatnonzero(tree.at_lowest_level)
    if len(lowest) == 0:
        raise InputError("the tree has no topics")
    rows = lowest if topics is None else np.array([tree.row(topic) for topic in topics], int)
    if not np.isin(rows, lowest).all():
        raise InputError(
            f"topics={topics}: expected topics of the lowest level; use tree.select_levels to choose another level"
        )
    return rows


def _posterior(tree: TopicTree, tokens: TopicTokens, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the shares of documents in the topics."""
    if not tree.exclusive:
        member = np.clip(tree.doc_topic[np.ix_(documents, tokens.rows)].astype(np.float64), 0, 1)
        return member, member * (1 - member)
    count, total = tokens.by_document(documents)
    # no topic of the document gives its words any probability: use the shares of the model, as if from one token
    lost = total <= 0
    count[lost] = tree.doc_topic[np.ix_(documents[lost], tokens.rows)]
    total = np.where(lost, 1.0, total)
    mean = count / total[:, None]
    return mean, mean * (1 - mean) / (total + 1)[:, None]


def _posterior_text(tree: TopicTree) -> str:
    """A description of the posterior that `_posterior` uses."""
    name = "the model" if tree.summary is None else tree.summary.name
    if not tree.exclusive:
        return f"each document is in a topic or not, with the probability that {name} gives"
    near = " (P(z|d) also uses neighbouring documents)" if tree.graph is not None else ""
    return f"Dirichlet with the tokens of each topic that {name} expects in a document{near}, without the prior"


def _cluster_numbers(name: str, values: np.ndarray) -> np.ndarray:
    clusters, numbers = np.unique(values.astype(str), return_inverse=True)
    if len(clusters) < 2:
        raise InputError(f"cluster={name!r} has only one value among {len(values):,} documents: expected at least two")
    if len(clusters) < _FEW_CLUSTERS:
        warn_user(
            f"only {len(clusters)} clusters by {name!r}: intervals with {len(clusters) - 1} degrees of freedom "
            "may still be too narrow"
        )
    return np.asarray(numbers).ravel()

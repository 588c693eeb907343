"""Search by words and topics: documents that contain the words of a query, or are about the same topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..corpus.corpus import Corpus, check_corpus
from ..corpus.weighting import inverse_document_frequency
from ..engine.arrays import canonical
from ..engine.checks import check_whole
from ..errors import InputError
from ..models import info_of
from ..models.estimator import TopicModel, check_model
from ..topics.wordless import with_words

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SearchHit", "search"]

_WORDS = 0.75  # share of the score for the words of the query that a document contains; the rest is for its topics


class SearchHit(NamedTuple):
    """A document that `search` found.

    Attributes
    ----------
    id : str
        Id of the document.
    row : int
        Row of the document in the corpus.
    score : float
        From 0 to 1; above 0.75 the document contains all words of the query.
    title : str
        Title of the document, or its id.
    words : tuple of str
        The words of the query that it contains.

    See Also
    --------
    search : Finds documents.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, search
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"], ids="abcd")
    >>> hit = search(PLSA(2, random_state=0).fit(corpus), corpus, "star")[0]
    >>> hit.id, hit.row, hit.words
    ('d', 3, ('star',))
    """

    id: str
    row: int
    score: float
    title: str
    words: tuple[str, ...]


def search(model: TopicModel, corpus: Corpus, query: str | ArrayLike, n: int = 10) -> list[SearchHit]:
    """Find the documents that contain the words of a query, or are about the same topics.

    Documents that contain all words of the query come first. The score combines the share of the words of the query
    that a document contains, with more weight for rare words, and the cosine between its topics and those of the query.
    So a document can be found even if it shares no word with the query. Of documents that are copies of each other (see
    `Corpus.copies`), only the best is returned.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    corpus : Corpus
        The documents to search: the training documents, or others.
    query : str or array-like of shape (1, n_words)
        A text, or counts of words.
    n : int, default=10
        Maximum number of documents to return.

    Returns
    -------
    list of Hit
        The documents found, the best first.

    Raises
    ------
    InputError
        If the query contains no word that the model knows.

    See Also
    --------
    TopicTree.documents : The documents of a topic.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, search
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"], ids="abcd")
    >>> [(hit.id, hit.words) for hit in search(PLSA(2, random_state=0).fit(corpus), corpus, "star", n=2)]
    [('d', ('star',)), ('c', ())]
    """
    check_model(model)
    check_corpus(corpus)
    check_whole("n", n)
    query_counts = model.word_counts([query] if isinstance(query, str) else query, np.float64)
    if query_counts.shape[0] != 1:
        raise InputError(f"search takes one query, got {query_counts.shape[0]}")
    usable = query_counts[:, vars(model)["word_columns_"]] if info_of(model).selects_words else query_counts
    if usable.nnz == 0:
        raise InputError(f"no word of the query {query!r} is in the model's vocabulary")
    tree = model.topic_tree(corpus)
    lowest = tree.at_lowest_level
    query_topics = np.asarray(model.document_topics(query_counts))[0].astype(np.float64)
    documents = with_words(tree)[:, lowest].astype(np.float64)
    if len(query_topics) == len(lowest):  # memberships of all levels, not only of the lowest
        query_topics = query_topics[lowest]
    lengths = np.linalg.norm(documents, axis=1) * np.linalg.norm(query_topics)
    alike = documents @ query_topics / np.maximum(lengths, 1e-300)
    counts = canonical(model.word_counts(corpus), np.float64)
    columns = query_counts.indices
    holds = counts[:, columns].toarray() > 0
    weight = inverse_document_frequency(counts)[columns]
    weight_held = holds @ weight / weight.sum()
    score = _WORDS * weight_held + (1 - _WORDS) * alike
    all_held = holds.all(axis=1)
    score = np.where(all_held, np.maximum(score, _WORDS), np.minimum(score, _WORDS))
    order = np.lexsort((np.arange(len(score)), -score, ~all_held))
    _, places = np.unique(corpus.copies.first[order], return_index=True)  # the best of each group of copies
    order = order[np.sort(places)[:n]]
    words = tree.vocabulary
    return [
        SearchHit(
            corpus.ids[row],
            int(row),
            float(score[row]),
            tree.title(int(row)),
            tuple(words[column] for column in columns[holds[row]]),
        )
        for row in order
    ]

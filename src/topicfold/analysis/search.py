"""Search by topic: documents ranked by how much their mix of topics is like the query's (PLSI, Hofmann 1999)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Hit", "search"]


class Hit(NamedTuple):
    """A document found: its id, its row, and the cosine of its topics with the query's."""

    id: str
    row: int
    similarity: float


def search(model: Any, query: Any, n: int = 10) -> list[Hit]:
    """The documents of the fit whose topics are most like the query's: a text, or a row of counts.

    A document need not share a word with the query to be found. A query without any known word is an error.

    >>> from topicfold import Corpus, PLSA
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"], ids="abcd")
    >>> sorted(hit.id for hit in search(PLSA(2, random_state=0).fit(corpus), "star", n=2))
    ['c', 'd']
    """
    from ..models.inputs import as_counts

    if n < 1:
        raise ValueError(f"n={n}: expected at least 1")
    counts = as_counts(model, [query] if isinstance(query, str) else query, reset=False)
    if counts.shape[0] != 1:
        raise ValueError(f"search takes one query, got {counts.shape[0]}")
    used = getattr(model, "word_columns_", slice(None))  # a model may have chosen among the words
    if counts[:, used].nnz == 0:
        raise ValueError(f"no word of the query {query!r} is in the model's vocabulary")
    wanted = model.transform(counts)[0].astype(np.float64)
    documents = model.doc_topic_.astype(np.float64)
    lengths = np.linalg.norm(documents, axis=1) * np.linalg.norm(wanted)
    similarity = documents @ wanted / np.maximum(lengths, 1e-300)
    ids = model.document_ids_ or tuple(map(str, range(len(documents))))
    order = np.lexsort((np.arange(len(similarity)), -similarity))[:n]
    return [Hit(ids[row], int(row), float(similarity[row])) for row in order]

"""Copies among the documents of a tree: lists show at most one of each group, if the corpus is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..corpus.corpus import Corpus, check_corpus
from ..errors import InputError

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["first_copies"]


def first_copies(tree: TopicTree, corpus: Corpus | None) -> np.ndarray | None:
    """The first document that each document of the tree is a copy of; None without a corpus."""
    if corpus is None:
        return None
    check_corpus(corpus)
    if corpus.ids != tree.document_ids:
        raise InputError("the corpus has other documents than the tree: expected the same ids in the same order")
    return corpus.copies.first

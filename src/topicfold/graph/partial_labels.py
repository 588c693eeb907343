"""Labels that only some documents have."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .check import label_codes

__all__ = ["accuracy_of_known", "class_codes", "known_labels", "without_label"]


def known_labels(y: Any, n_documents: int) -> tuple[np.ndarray, np.ndarray]:
    """A mask of the documents that have a label (see `graph.label_codes`), and their labels.

    >>> known_labels(["sea", None, "land", -1, ""], 5)
    (array([ True, False,  True, False, False]), array(['sea', 'land'], dtype='<U4'))
    """
    if y is None:
        raise InputError(
            "a classifier requires y to be passed, but the target y is None: expected a class per document"
        )
    labelled = label_codes(y, n_documents) >= 0
    return labelled, np.array(np.asarray(y, dtype=object).reshape(n_documents)[labelled].tolist())


def class_codes(y: Any, n_documents: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted, and the number of the class of each document, -1 if it has no label."""
    labelled, labels = known_labels(y, n_documents)
    classes, numbers = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        classes_text = f"only one class, {classes[0].item()!r}" if len(classes) else "no labels"
        raise InputError(f"y has {classes_text}: expected labelled documents of at least two classes")
    codes = np.full(n_documents, -1)
    codes[labelled] = numbers
    return classes, codes


def without_label(labels: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The labels, with '' or, among numbers, -1 in some rows: what `known_labels` takes for no label.

    >>> without_label(np.array(["sea", "land"]), np.array([1])).tolist()
    ['sea', '']
    >>> without_label(np.arange(3), np.array([0])).tolist()
    [-1, 1, 2]
    """
    if len(rows) == 0:
        return labels
    labels = labels.astype(np.int64) if labels.dtype.kind in "bu" else labels.copy()
    labels[rows] = -1 if labels.dtype.kind in "if" else ""
    return labels


def accuracy_of_known(predicted: np.ndarray, y: Any) -> float:
    """The share of labelled documents whose class is predicted correctly."""
    labelled, labels = known_labels(y, len(predicted))
    if len(labels) == 0:
        raise InputError("y has no labels: there is nothing to score")
    return float(np.mean(predicted[labelled].astype(object) == labels.astype(object)))

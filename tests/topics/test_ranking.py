"""The largest of many values, found without sorting all of them."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold.topics.ranking import largest, top_word_columns


def fully_sorted(values, n):
    return np.argsort(-values, kind="stable")[:n].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("n_distinct", [1, 2, 5, 1000])  # with few distinct values nearly all are ties
def test_the_same_as_a_full_sort(dtype, n_distinct):
    rng = np.random.default_rng(n_distinct)
    for length in (1, 2, 7, 200, 3000):
        values = rng.integers(0, n_distinct, length).astype(dtype)
        for n in (0, 1, 2, 5, 40, length - 1, length, length + 1):
            assert largest(values, n).tolist() == fully_sorted(values, n)


def test_what_is_no_number_comes_last():
    values = np.array([np.nan, 1.0, -np.inf, np.nan, np.inf, 1.0])
    for n in range(7):
        assert largest(values, n).tolist() == fully_sorted(values, n)
    assert largest(values, 4).tolist() == [4, 1, 5, 2]


def test_nothing_among_nothing():
    assert largest(np.zeros(0), 3).tolist() == []


def test_a_column_of_a_matrix_and_scores_of_words():
    values = np.random.default_rng(0).integers(0, 4, (500, 3)).astype(np.float32)
    assert largest(values[:, 1], 40).tolist() == fully_sorted(values[:, 1], 40)
    scores = np.where(values[:, 2] == 0, -np.inf, values[:, 2])
    assert top_word_columns(scores, 30).tolist() == np.lexsort((np.arange(500), -scores))[:30].tolist()

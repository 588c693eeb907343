from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicfold.engine.blocks import TableSum, map_blocks, n_threads, row_blocks


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 12))
def test_blocks_cover_every_row_once(lengths, n_blocks):
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    blocks = row_blocks(indptr, n_blocks)
    assert [row for first, last in blocks for row in range(first, last)] == list(range(len(lengths)))
    assert len(blocks) <= n_blocks


def test_a_part_of_the_rows():
    indptr = np.arange(11)
    assert row_blocks(indptr, 2, 4, 8) == [(4, 6), (6, 8)]


def test_map_keeps_order_and_uses_threads():
    barrier = threading.Barrier(2, timeout=10)

    def meet(item):
        barrier.wait()  # passes only when two run at once
        return item * 2

    assert map_blocks(meet, [3, 1], n_jobs=2) == [6, 2]
    assert map_blocks(str, [], n_jobs=2) == []


def test_errors_come_through():
    with pytest.raises(ZeroDivisionError):
        map_blocks(lambda item: 1 // item, [1, 0], n_jobs=2)


def test_n_jobs():
    assert n_threads(-1) >= 1
    assert n_threads(-1000) == 1
    with pytest.raises(ValueError, match="n_jobs=0"):
        n_threads(0)


@given(st.integers(1, 40), st.integers(1, 4))
def test_tables_are_added_in_a_tree_that_depends_on_their_number_alone(n_tables, n_jobs):
    values = np.random.default_rng(n_tables).normal(size=(n_tables, 3)).astype(np.float32)
    made = []

    def make():
        made.append(1)
        return np.zeros(3, np.float32)

    def fill(number, table):
        table += values[number]
        return number

    def tree(rows):
        while len(rows) > 1:
            rows = [rows[i] + rows[i + 1] if i + 1 < len(rows) else rows[i] for i in range(0, len(rows), 2)]
        return rows[0]

    sums = TableSum(make)
    for _ in range(2):
        results, total = sums.over(fill, range(n_tables), n_jobs)
        assert results == list(range(n_tables))
        assert np.array_equal(total, tree(list(values)))
        total[:] = 0
        sums.give_back(total)
    if n_jobs == 1:
        assert len(made) <= 1 + max(n_tables - 1, 1).bit_length()


def test_the_last_table_of_a_failed_sum_is_not_used_again():
    sums = TableSum(lambda: np.zeros(1))

    def fill(item, table):
        table += 1
        if item == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sums.over(fill, [0, 1], n_jobs=1)
    assert sums.over(lambda item, table: None, [0, 2])[1].tolist() == [0.0]

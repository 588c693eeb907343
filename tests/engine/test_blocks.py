from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicfold.engine.blocks import map_blocks, n_threads, row_blocks


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

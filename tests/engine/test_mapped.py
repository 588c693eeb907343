from __future__ import annotations

import mmap

import numpy as np

from topicfold.engine.mapped import file_of, is_mapped, mapped_array, release, row_table


def test_a_table_on_disk_is_like_one_in_memory():
    table = row_table(3_000, 8, np.float32, on_disk=True)
    assert is_mapped(table)
    assert is_mapped(table[10:20, :3])
    assert (table == 0).all()
    table[:] = np.arange(24_000).reshape(3_000, 8)
    for first in range(0, 3_000, 700):
        release(table[first : first + 700])
    assert np.array_equal(table, np.arange(24_000).reshape(3_000, 8))


def test_arrays_in_memory_keep_their_values():
    table = row_table(5_000, 16, np.float64)
    table[:] = 1
    release(table)
    assert (table == 1).all()
    assert not is_mapped(table)
    assert table.ctypes.data % 64 == 0


def test_what_is_released_is_whole_pages_within_the_array(tmp_path):
    path = tmp_path / "numbers"
    values = np.arange(10_000, dtype=np.int64)
    path.write_bytes(values.tobytes())
    with open(path, "rb") as file:
        opened = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    array = mapped_array(opened, np.int64, (10_000,))
    array[0] = 7  # a private change, which giving back its page would undo
    release(array[1:100])
    release(array[3_000:])
    assert array[0] == 7
    assert np.array_equal(array[1:], values[1:])
    assert file_of(array) is opened


def test_nothing_is_an_array_too():
    assert mapped_array(mmap.mmap(-1, 8), np.float32, (0, 4)).shape == (0, 4)
    release(row_table(0, 4, np.float32, on_disk=True))

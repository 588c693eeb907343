"""Matrices in .npy files: what is no matrix of finite numbers is refused before memory is asked for."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from topicfold import FileError
from topicfold.engine.npy_file import read_npy


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f2", "<i8", "u1", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_are_read(dtype, order, tmp_path):
    matrix = np.asarray(np.arange(6).reshape(2, 3) % 2, dtype=dtype, order=order)
    np.save(tmp_path / "m.npy", matrix)
    assert np.array_equal(read_npy(tmp_path / "m.npy"), matrix)


def header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


SHAPE = "{'descr': '<f4', 'fortran_order': False, 'shape': %s}\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 a zip file",
        b"\x93NUMPY\x09\x00\x10\x00",
        header(b"nonsense"),
        header(b"(" * 5000),
        header(b"{" * 5000),
        header(b"[" * 60000),
        header((SHAPE % "(1000000000000, 1000000)").encode()),
        header((SHAPE % "(-1, -2)").encode() + bytes(8)),
        header((SHAPE % "(10, 10)").encode()),
        header((SHAPE % "(2,)").encode() + bytes(8)),
        header(SHAPE.replace("<f4", "|O").encode() % b"(1, 1)" + bytes(8)),
        header(SHAPE.replace("<f4", "<c8").encode() % b"(1, 1)" + bytes(8)),
        header(SHAPE.replace("<f4", "<U9").encode() % b"(1, 1)" + bytes(36)),
    ],
)
@pytest.mark.filterwarnings("ignore")  # of numpy about headers
def test_anything_else_is_one_clear_error(content, tmp_path):
    (tmp_path / "m.npy").write_bytes(content)
    with pytest.raises(FileError, match=r"m\.npy: expected a \.npy file with a matrix"):
        read_npy(tmp_path / "m.npy")


def test_nan_and_missing_files_and_folders_are_refused(tmp_path):
    np.save(tmp_path / "m.npy", np.array([[1.0, np.nan]]))
    with pytest.raises(FileError, match="holds NaN or infinite numbers"):
        read_npy(tmp_path / "m.npy")
    with pytest.raises(FileError, match="no such file"):
        read_npy(tmp_path / "none.npy")
    with pytest.raises(FileError, match="not a regular file"):
        read_npy(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="no FIFOs there")
def test_a_fifo_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "m.npy")
    with pytest.raises(FileError, match="not a regular file"):
        read_npy(tmp_path / "m.npy")

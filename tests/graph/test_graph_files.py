"""Graphs read from files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold.graph.build import link_graph
from topicfold.graph.files import read_graph

IDS = ("a", "b b", "c")


EXPECTED = [[0, 1, 0], [1, 0, 2.5], [0, 2.5, 0]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "source,target,weight\na,b b,1\nc,b b,2.5\n"),
        ("g.csv", '\ufeffa,"b b",1\n\nc,b b,2\nb b,c,0.5\n'),
        ("g.tsv", "from\tto\tweight\r\na\tb b\t1\r\nc\tb b\t2.5\r\n"),
    ],
)
def test_read_edges(name, text, tmp_path):
    (tmp_path / name).write_bytes(text.encode())
    assert read_graph(tmp_path / name, IDS).toarray().tolist() == EXPECTED


def test_read_rows_and_plain_edges(tmp_path):
    file = tmp_path / "g.txt"
    file.write_text("from to\n0 1\n1 0\n3 1\n")
    assert read_graph(file, None).toarray().tolist() == link_graph([(0, 1), (1, 3)], 4).toarray().tolist()
    file.write_text("x y\n")
    assert read_graph(file, ["y", "z", "x"]).toarray().tolist() == link_graph([(0, 2)], 3).toarray().tolist()
    file.write_text("")
    assert read_graph(str(file), ["y", "z"]).nnz == 0


def test_read_matrix(tmp_path):
    directed = sp.csr_array(np.triu(EXPECTED))
    sp.save_npz(tmp_path / "g.npz", directed)
    assert read_graph(tmp_path / "g.npz", IDS).toarray().tolist() == EXPECTED
    assert read_graph(tmp_path / "g.npz", None).toarray().tolist() == EXPECTED
    with pytest.raises(ValueError, match=r"shape \(3, 3\): expected \(2, 2\)"):
        read_graph(tmp_path / "g.npz", ["a", "b"])


@pytest.mark.parametrize(
    ("name", "text", "ids", "message"),
    [
        ("g.csv", "a,c\na,z\n", IDS, "line 2: 'z' is not one of the ids of the 3 documents"),
        ("g.csv", "x,y\n", IDS, "line 1: 'x' is not one of the ids"),
        ("g.csv", "a,y\na,c\n", IDS, "line 1: 'y' is not one of the ids"),
        ("g.txt", "0 1\n1 -2\n", None, "line 2: '-2' is not a row number"),
        ("g.csv", "a,c,1\na,c\n", IDS, "line 1: 3 columns; expected two ids, and a weight in all lines or none"),
        ("g.csv", "a\n", IDS, "line 1: 1 columns"),
        ("g.csv", "a,c,much\n", IDS, "line 1: 'much' is not a weight; expected a number"),
        ("g.csv", "a,c,-1\n", IDS, "link 0 has the weight -1"),
        ("g.csv", "a,c\n", ["a", "a", "c"], "the same id twice"),
        ("g.jsonl", "", IDS, r"expected a file that ends in \.npz, \.csv, \.tsv or \.txt"),
    ],
)
def test_bad_files(name, text, ids, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_graph(tmp_path / name, ids)

"""Graphs from files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ..corpus.byte_lines import check_regular, file_lines
from ..corpus.count_files import read_npz
from ..corpus.limits import ReadLimits
from ..engine.arrays import checked_sparse
from ..errors import FileError, InputError
from .build import link_graph
from .check import check_graph

__all__ = ["read_graph"]


def read_graph(path: str | Path, ids: Sequence[str] | None) -> sp.csr_array:
    """Read a graph of the documents with these ids, or of row numbers if `ids` is None.

    .npz: a matrix saved by scipy; if the weights of the two directions differ, the larger one counts. .csv (commas),
    .tsv (tabs) and .txt (blanks): one edge per line, as two ids and an optional weight. The first line is skipped as a
    header if both of its ids are unknown and those of the second line are not.
    """
    path, limits = Path(path), ReadLimits()
    if not path.exists():
        raise FileError(f"no such file: {path}")
    check_regular(path)
    if path.suffix == ".npz":
        graph = read_npz(path, limits)
        if max(graph.shape) > limits.size:
            raise FileError(f"{path} has a graph of {max(graph.shape):,} documents: expected at most {limits.size:,}")
        graph = sp.csr_array(checked_sparse(graph))
        n_documents = graph.shape[0] if ids is None else len(ids)
        return check_graph(graph.maximum(graph.T) if graph.shape[0] == graph.shape[1] else graph, n_documents)
    if path.suffix not in (".csv", ".tsv", ".txt"):
        raise FileError(f"{path}: expected a file that ends in .npz, .csv, .tsv or .txt")
    lines = _edge_lines(path)
    row_of_id = None if ids is None else {str(name): row for row, name in enumerate(ids)}
    if row_of_id is not None and ids is not None and len(row_of_id) < len(ids):
        raise InputError("ids contains the same id twice: expected a different id for each document")

    def row_of(name: str) -> int | None:
        return row_of_id.get(name) if row_of_id is not None else int(name) if name.isdecimal() else None

    edges = [(row_of(cells[0]), row_of(cells[1])) for _, cells in lines]
    if len(edges) > 1 and edges[0] == (None, None) and None not in edges[1]:
        lines, edges = lines[1:], edges[1:]
    for (number, cells), pair in zip(lines, edges):
        if None in pair:
            expected = "a row number" if row_of_id is None else f"one of the ids of the {len(row_of_id)} documents"
            raise FileError(f"{path}, line {number}: {cells[pair.index(None)]!r} is not {expected}")
    weights = [_weight(cells[2], f"{path}, line {number}") for number, cells in lines if len(cells) > 2]
    largest = max((row or 0 for pair in edges for row in pair), default=0)
    if largest >= limits.size:
        raise FileError(f"{path} contains row {largest}: expected less than {limits.size:,}")
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    n_documents = len(ids) if ids is not None else int(pairs.max(initial=-1)) + 1
    return link_graph(pairs, n_documents, weights=weights or None)


def _edge_lines(path: Path) -> list[tuple[int, list[str]]]:
    """(line number, cells) of each line that is not empty; all have two cells, or all have three."""
    lines_of_file = file_lines(path, "utf-8", "strict", ReadLimits())
    if path.suffix == ".txt":
        rows = [line.split() for line in lines_of_file]
    else:
        try:
            cells_of = csv.reader(lines_of_file, delimiter="\t" if path.suffix == ".tsv" else ",")
            rows = [[cell.strip() for cell in row] for row in cells_of]
        except csv.Error as error:
            raise FileError(f"{path} is not {path.suffix[1:].upper()}: {error}") from None
    lines = [(number, cells) for number, cells in enumerate(rows, 1) if any(cells)]
    for number, cells in lines:
        if len(cells) not in (2, 3) or len(cells) != len(lines[-1][1]):
            raise FileError(
                f"{path}, line {number}: {len(cells)} columns; expected two ids, and a weight in all lines or none"
            )
    return lines


def _weight(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FileError(f"{where}: {text!r} is not a weight; expected a number") from None

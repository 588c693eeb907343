"""Graphs of documents, as symmetric CSR matrices."""

from .build import constrained_graph, knn_graph, label_graph, laplacian, link_graph, spectral_vectors
from .check import check_graph, check_neighbors, label_codes
from .files import read_graph
from .neighbors import nearest

__all__ = [
    "check_graph",
    "check_neighbors",
    "constrained_graph",
    "knn_graph",
    "label_codes",
    "label_graph",
    "laplacian",
    "link_graph",
    "nearest",
    "read_graph",
    "spectral_vectors",
]

"""What LTM, LapPLSI and DTM refuse, and what they say about it."""

from __future__ import annotations

import numpy as np
import pytest
from graph_cases import ALL, BOTH, DENSE, MODELS, WEIGHTED, quiet

from topicfold import DTM, LTM

pytestmark = DENSE


ASYMMETRIC = np.zeros((60, 60))
ASYMMETRIC[0, 1] = 1
NEGATIVE = np.zeros((60, 60))
NEGATIVE[0, 1] = NEGATIVE[1, 0] = -1


@ALL
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"graph": np.zeros((59, 59))}, r"graph has shape \(59, 59\)"),
        ({"graph": np.zeros((60, 59))}, r"graph has shape \(60, 59\)"),
        ({"graph": NEGATIVE}, "graph contains the weight -1"),
        ({"graph": np.where(NEGATIVE, np.nan, 0)}, "graph contains NaN"),
        ({"graph": ASYMMETRIC}, r"graph is not symmetric: \[0, 1\] is 1"),
        ({"embeddings": np.zeros((59, 3))}, r"embeddings have shape \(59, 3\): expected one row for each of 60"),
        ({"embeddings": np.zeros(60)}, r"embeddings have shape \(60,\)"),
        ({"embeddings": np.zeros((60, 0))}, r"embeddings have shape \(60, 0\)"),
        ({"embeddings": np.ones((60, 2), complex)}, "embeddings are of type complex128: expected real numbers"),
        ({"embeddings": np.full((60, 2), np.nan)}, "embeddings hold NaN"),
        ({"embeddings": np.full((60, 2), np.inf)}, "embeddings hold NaN, infinity or values beyond"),
        ({"y": np.zeros(59, int)}, r"y has shape \(59,\)"),
        ({"y": np.full(60, 0.5)}, "y contains 0.5"),
    ],
)
def test_bad_graphs_embeddings_and_labels(model, given, message, few):
    with pytest.raises(ValueError, match=message):
        quiet(model).fit(few, **given)


@pytest.mark.parametrize(
    ("model", "name", "values"),
    [
        *[(model, "n_neighbors", (0, -1, 2.0, True, "5", None)) for model in MODELS],
        *[(model, "metric", ("cosmic", None)) for model in MODELS],
        *[(model, "graph_weight", (-1, np.nan, np.inf, "magic", None, True)) for model in WEIGHTED],
        (LTM, "solver", ("magic", None)),
        (DTM, "update", ("magic", None)),
        (DTM, "gamma", (0, -0.1, 1.5, np.nan, "0.1", None)),
    ],
)
def test_bad_parameters(model, name, values, few):
    for value in values:
        with pytest.raises(ValueError, match=f"{name}={value!r}: expected"):
            quiet(model).set_params(**{name: value}).fit(few)


@ALL
def test_bad_graphs_and_embeddings_of_new_documents(model, few):
    fitted = quiet(model, max_iter=3).fit(few)
    for call in (fitted.transform, fitted.score):
        with pytest.raises(ValueError, match=r"graph has shape \(2, 59\): expected \(2, 60\), new documents x"):
            call(few[:2], graph=np.zeros((2, 59)))
        with pytest.raises(ValueError, match="graph contains the weight -1"):
            call(few[:2], graph=NEGATIVE[:2])
        with pytest.raises(ValueError, match=f"this {model.__name__} was fitted without embeddings"):
            call(few[:2], embeddings=np.zeros((2, 3)))
    fitted.fit(few, embeddings=np.random.default_rng(0).normal(size=(60, 3)))
    with pytest.raises(ValueError, match="embeddings have 4 columns: expected 3, as in the fit"):
        fitted.transform(few[:2], embeddings=np.zeros((2, 4)))
    with pytest.raises(ValueError, match="expected one row for each of 2"):
        fitted.transform(few[:2], embeddings=np.zeros((3, 3)))


@BOTH
def test_a_spectral_start_needs_a_graph(model, few):
    with pytest.raises(ValueError, match="init='spectral' needs a graph, but with graph_weight=0 there is none"):
        quiet(model, graph_weight=0, init="spectral").fit(few)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            [(0, 1), (1, 2), (3, 4)],
            r"graph has shape \(3, 2\): expected \(60, 60\); link_graph makes a graph from pairs",
        ),
        ("knn", "graph is a str: expected a matrix of 60 x 60 documents"),
        ({0: [1]}, "graph is a dict: expected a matrix"),
        ([[1], [2, 3]], "graph is a list: expected a matrix"),
    ],
)
def test_a_graph_in_another_form_is_told_apart(few, graph, message):
    with pytest.raises(ValueError, match=message):
        quiet(LTM).fit(few, graph=graph)


def test_all_names_of_starts_are_listed(few):
    with pytest.raises(
        ValueError, match="init='svd': expected one of auto, nmf, kmeans, random, spectral, or an array"
    ):
        quiet(LTM, init="svd").fit(few)
    with pytest.raises(ValueError, match="with graph_weight=0 there is none"):
        quiet(LTM, init="spectral", graph_weight=0).fit(few)

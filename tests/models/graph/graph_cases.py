"""What the tests of LTM, LapPLSI and DTM share: the models, random graphs and random tables."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import DTM, LTM, LapPLSI

MODELS = (LTM, LapPLSI, DTM)
WEIGHTED = (LTM, LapPLSI)
ALL = pytest.mark.parametrize("model", MODELS)
BOTH = pytest.mark.parametrize("model", WEIGHTED)
# tiny graphs are dense
DENSE = pytest.mark.filterwarnings("ignore:topic .* is the largest topic:UserWarning")


def quiet(model, n_topics=3, **parameters):
    """The model at its defaults, but with a fixed weight of the graph."""
    weight = {"graph_weight": 1.0} if model in WEIGHTED else {}
    return model(n_topics, **{"random_state": 0, "verbose": False, **weight, **parameters})


def paper(model, n_topics=3, **parameters):
    """The model of its paper, with neither prior nor smoothing; the weight of the graph is a strong one."""
    weight = {LTM: {"graph_weight": 10.0}, LapPLSI: {"graph_weight": 100.0}}.get(model, {})
    return quiet(model, n_topics, **{"alpha": 0.0, "beta": 0.0, **weight, **parameters})


# what holds with the defaults and for the model of the paper alike
EITHER = pytest.mark.parametrize("make", [quiet, paper], ids=["defaults", "paper"])


def random_graph(rng, n, density=0.4, weighted=True):
    """A dense symmetric graph, some documents of it isolated."""
    values = np.triu((rng.random((n, n)) < density) * (rng.uniform(0.1, 3, (n, n)) if weighted else 1.0), 1)
    alone = rng.random(n) < 0.15
    values[alone] = 0
    values[:, alone] = 0
    return values + values.T


def parts_of(graph):
    graph = sp.csr_array(graph)
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data, graph.sum(axis=1)


def rows(rng, n, n_topics, concentration=1.0):
    return rng.dirichlet(np.full(n_topics, concentration), n)

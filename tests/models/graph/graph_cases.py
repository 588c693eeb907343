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
    return model(n_topics, **{"random_state": 0, "verbose": False, **parameters})


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

"""Segments of two kinds, and a model fitted to them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from ldcc_cases import as_corpus, small


@pytest.fixture(scope="session")
def segmented():
    """90 segments of 30 documents, in no order, of two kinds that mix three topics: (counts, documents, kind)."""
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.full(4, 0.25))
    kind = rng.integers(0, 2, 90)
    mixes = np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]])[kind]
    counts = np.array([rng.multinomial(rng.integers(8, 20), mix @ topics) for mix in mixes])
    counts[[4, 50]] = 0
    return sp.csr_array(counts), rng.permutation(np.repeat(np.arange(30), 3)), kind


@pytest.fixture(scope="session")
def fitted(segmented):
    """A model of three chains, fitted to the segments and their documents."""
    counts, documents, _ = segmented
    return small(n_chains=3).fit(counts, documents=documents)


@pytest.fixture(scope="session")
def corpus(segmented):
    """The segments in a corpus of 30 documents."""
    return as_corpus(segmented[0], segmented[1], 30)

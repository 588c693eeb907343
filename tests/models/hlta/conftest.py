"""Documents of known trees, and models fitted to them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hlta_cases import small
from latent_tree_cases import known_tree

from topicfold import Corpus
from topicfold.models.hlta.latent_tree import sample_documents


@pytest.fixture(scope="session")
def known():
    """3,000 documents of a tree of two levels: two topics, each of three, each of four words."""
    return sample_documents(known_tree(), 3000, "presence", np.random.RandomState(0))


@pytest.fixture(scope="session")
def deep(known):
    """A model of three levels over the known tree with presence, and one of counts."""
    counts = known.copy()
    counts.data = counts.data * (1 + np.arange(len(counts.data)) % 3)
    return {
        emission: small(n_levels=3, emission=emission, max_iter=5).fit(counts[:600])
        for emission in ("presence", "counts")
    }


@pytest.fixture(scope="session")
def corpus(known):
    """The first 400 documents as texts of words such as cat0, without the empty ones."""
    words = [f"{name}{i}" for name in ("cat", "dog", "fox", "sun", "sea", "sky") for i in range(4)]
    texts = [" ".join(words[w] for w in known.indices[a:b]) for a, b in zip(known.indptr[:400], known.indptr[1:])]
    texts = [text for text in texts if text]
    return Corpus.from_texts(texts, ids=[f"d{i}" for i in range(len(texts))])


@pytest.fixture(scope="session")
def multi_state():
    """Three groups of four words, each of a latent with three states that often agrees with the others."""
    rng = np.random.default_rng(0)
    shares = np.array([[0.03, 0.03, 0.03, 0.03], [0.9, 0.85, 0.1, 0.4], [0.4, 0.9, 0.9, 0.85]])
    state = rng.integers(0, 3, (900, 3))
    state[:300] = state[:300, :1]
    return sp.csr_array((rng.random((900, 12)) < np.hstack([shares[column] for column in state.T])).astype(int))

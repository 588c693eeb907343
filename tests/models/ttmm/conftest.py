"""Documents with a known theme."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp


@pytest.fixture(scope="module")
def themed():
    """60 documents of 3 themes that mix 4 topics over 20 words: (counts, theme)."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(20, 0.2), 4)
    mixes = np.array([[0.8, 0.2, 0, 0], [0, 0.2, 0.8, 0], [0.1, 0, 0.1, 0.8]])
    theme = rng.integers(0, 3, 60)
    return sp.csr_array(np.array([rng.multinomial(40, mixes[h] @ topics) for h in theme])), theme

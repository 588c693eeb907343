"""Documents as counts and as embeddings, enough of them for several blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp


@pytest.fixture(scope="module")
def random_counts() -> sp.csr_array:
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.1, (1100, 60))
    counts[::50] = 0
    counts[1::50] = counts[3::50]
    return sp.csr_array(counts)


@pytest.fixture(scope="module")
def embeddings() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((700, 16)).astype(np.float32)

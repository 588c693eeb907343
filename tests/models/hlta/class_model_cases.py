"""Small samples, and a random model of one, for tests of latent class models."""

from __future__ import annotations

import numpy as np

from topicfold.models.hlta.class_models import MOST_STATES, Model, Sample

N_VALUES = np.array([2, 3, 2, 2])
SECOND = np.array([False, False, True, True])


def sample_of(data, n_values=None):
    sample = Sample(np.zeros(len(data), np.int64), np.zeros((1, 0), np.uint8), np.ones(1), np.zeros(0, np.int64))
    for i, column in enumerate(data.T):
        sample = sample.add(column, 2 if n_values is None else n_values[i])
    return sample


def tiny(seed=0, n_y=2, n_z=3):
    """40 documents of four variables, the second with three values, and a random model of them."""
    rng = np.random.default_rng(seed)
    data = np.column_stack([rng.integers(0, v, 40) for v in N_VALUES]).astype(np.uint8)
    tables = np.zeros((4, MOST_STATES, 3))
    for i, v in enumerate(N_VALUES):
        tables[i, :, :v] = rng.dirichlet(np.ones(v), MOST_STATES)
    second = SECOND if n_z > 1 else np.zeros(4, bool)
    return data, Model(second, rng.dirichlet(np.ones(n_y)), rng.dirichlet(np.ones(n_z), n_y), tables)

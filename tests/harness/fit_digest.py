"""`python -m tests.harness.fit_digest MODEL SEED`: the bits of a fit with one, two and four threads, as hashes."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from topicfold import Corpus
from topicfold.engine.store import read_file

from .small_models import fit_options, small_model

__all__ = ["THREADS", "digest"]

THREADS = (1, 2, 4)


def _corpus(seed: int) -> Corpus:
    """Enough documents to be cut into several blocks."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(40, 0.2), 4)
    mixes = rng.dirichlet(np.full(4, 0.3), 150)
    counts = np.array([rng.multinomial(rng.integers(10, 50), mix @ topics) for mix in mixes])
    return Corpus.from_counts(sp.csr_array(counts), [f"word{column}" for column in range(40)])


def digest(variant: str, seed: int, n_jobs: int) -> str:
    """A hash of all that a fit learns, of what it says of documents, and of what is in its file.

    Not of the bytes of the file: safetensors writes what describes a file in an order of its own.
    """
    corpus = _corpus(seed)
    model = small_model(variant, 4, steps=8, random_state=seed, n_jobs=n_jobs)
    model.fit(corpus, **fit_options(variant, len(corpus)))
    parts = [model.topic_word_, model.doc_topic_, model.history_, model.transform(corpus.counts[:50])]
    parts.append(np.array(model.score(corpus)))
    whole = hashlib.blake2b(b"".join(np.ascontiguousarray(part).tobytes() for part in parts), digest_size=12)
    with tempfile.TemporaryDirectory() as folder:
        model.set_params(n_jobs=None).save(Path(folder, "model"))
        arrays, metadata = read_file(Path(folder, "model"), kind="model")
    for name in sorted(arrays):
        whole.update(arrays[name].tobytes())
    whole.update(json.dumps(metadata, sort_keys=True).encode())
    return whole.hexdigest()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("\n".join(digest(sys.argv[1], int(sys.argv[2]), n_jobs) for n_jobs in THREADS))

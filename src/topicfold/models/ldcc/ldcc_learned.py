"""What a fitted LDCC keeps, for its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...engine.checks import MAX_PARAMETER
from ...engine.loop import ExpectedState
from ...engine.stored import MAX_PROBABILITY, Stored
from ...errors import InputError
from .chains import chain_of
from .sampler import topic_type

if TYPE_CHECKING:
    from .ldcc import LDCC
    from .sampler import Sampler

__all__ = ["STORED", "expected_state"]

STORED: Mapping[str, Stored] = {
    "alpha_": Stored(("clusters", "topics"), low=0),
    "doc_cluster_": Stored(("documents", "clusters"), low=0, high=MAX_PROBABILITY),
    "cluster_weight_": Stored(("clusters",), low=0, high=MAX_PROBABILITY),
    "segment_documents_": Stored(("segments",), "int", low=0, high="documents"),
    "segment_topic_": Stored(("segments", "topics"), low=0, high=MAX_PROBABILITY),
    "segment_cluster_": Stored(("segments", "clusters"), low=0, high=MAX_PROBABILITY),
    "chain_history_": Stored(("chains", "steps")),
    "effective_sample_size_": Stored(("chains",), allow_nan=True),
    "other_topic_word_": Stored(("other chains", "topics", "words"), low=0, high=MAX_PROBABILITY),
    "other_alpha_": Stored(("other chains", "clusters", "topics"), low=0),
}

_CHAIN: Mapping[str, Stored] = {
    "topic": Stored(("tokens",), "int", low=0, high="topics"),
    "document_topic": Stored(("segments",), "int", low=0, high="clusters", dtype="int32"),
    "alpha": Stored(("clusters", "topics"), low=1e-9, high=MAX_PARAMETER, dtype="float64"),
    "random": Stored((2,), "int", dtype="uint64"),
    "topic_total": Stored(("topics",), "int", low=0, dtype="int64"),
    "size": Stored(("words",), "int", low=0, dtype="int32"),
    "listed": Stored(("listed topics",), "int", low=0, high="topics", dtype="int32"),
    "listed_count": Stored(("listed topics",), "int", low=0, dtype="int32"),
    "in_document": Stored(("documents", "clusters"), "int", low=0, dtype="int32"),
    "word_topic": Stored(("words", "topics"), "int", low=0, dtype="int64"),
}


def expected_state(model: LDCC, sampler: Sampler) -> ExpectedState:
    """The contents of a checkpoint of the fit: the chains, their number of sweeps, and their likelihoods."""
    sizes = {
        "chains": model.n_chains,
        "all steps": model.n_sweeps,
        "tokens": len(sampler.tokens),
        "segments": len(sampler.documents),
        "documents": sampler.n_documents,
        "words": sampler.n_words,
        "topics": sampler.n_topics,
        "clusters": sampler.n_document_topics,
        "listed topics": int(sampler.start[-1]),
    }
    chain = {**_CHAIN, "topic": replace(_CHAIN["topic"], dtype=topic_type(sampler.n_topics).name)}
    declared = {
        "sweeps": Stored((1,), "int", low=0, dtype="int64"),
        "trace": Stored(("chains", "all steps"), dtype="float64"),
        **{f"{number}:{name}": stored for number in range(model.n_chains) for name, stored in chain.items()},
    }

    def fits(values: Mapping[str, Any]) -> None:
        if values["sweeps"][0] != len(values["notes.history"]):
            raise InputError(f"its sweeps are {values['sweeps'][0]}: expected {len(values['notes.history'])}")
        samples = len(range(model.burn_in, int(values["sweeps"][0]), model.lag))
        for number in range(model.n_chains):
            sampler.check_state(chain_of(dict(values), number), samples)

    return ExpectedState(declared, sizes, fits)

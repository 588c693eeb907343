"""What a fitted LDCC keeps, for its files."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.stored import SUM, Stored

__all__ = ["STORED"]

STORED: Mapping[str, Stored] = {
    "alpha_": Stored(("clusters", "topics"), low=0),
    "doc_cluster_": Stored(("documents", "clusters"), low=0, high=SUM),
    "cluster_weight_": Stored(("clusters",), low=0, high=SUM),
    "segment_documents_": Stored(("segments",), "whole", low=0, high="documents"),
    "segment_topic_": Stored(("segments", "topics"), low=0, high=SUM),
    "segment_cluster_": Stored(("segments", "clusters"), low=0, high=SUM),
    "chain_history_": Stored(("chains", "steps")),
    "effective_sample_size_": Stored(("chains",), gaps=True),
    "other_topic_word_": Stored(("other chains", "topics", "words"), low=0, high=SUM),
    "other_alpha_": Stored(("other chains", "clusters", "topics"), low=0),
}

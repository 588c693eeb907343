"""Measures of clusterings, document completion, coherence, stability and human judgements."""

from .clustering import PairScores, break_even, clustering_accuracy, omega_index, pairwise_scores, purity
from .coherence import coherence, window_counts
from .completion import (
    BACKGROUND_WEIGHT,
    completion_log_likelihood,
    completion_log_likelihood_by_document,
    log_likelihood,
    perplexity,
    split_tokens,
)
from .judging import Estimate, krippendorff_alpha, spearman, wilson_interval
from .stability import agreement, diversity, effective_sample_size, matched_similarity, stability

__all__ = [
    "BACKGROUND_WEIGHT",
    "Estimate",
    "PairScores",
    "agreement",
    "break_even",
    "clustering_accuracy",
    "coherence",
    "completion_log_likelihood",
    "completion_log_likelihood_by_document",
    "diversity",
    "effective_sample_size",
    "krippendorff_alpha",
    "log_likelihood",
    "matched_similarity",
    "omega_index",
    "pairwise_scores",
    "perplexity",
    "purity",
    "spearman",
    "split_tokens",
    "stability",
    "wilson_interval",
    "window_counts",
]

"""Figures (the extra topicfold[plots])."""

from .choosing import selection
from .contrast_figures import contrast_words
from .fit_curves import convergence, trace
from .topic_figures import document_map, over_time, topic_sizes, topic_words
from .tree_figures import hierarchy

__all__ = [
    "contrast_words",
    "convergence",
    "document_map",
    "hierarchy",
    "over_time",
    "selection",
    "topic_sizes",
    "topic_words",
    "trace",
]

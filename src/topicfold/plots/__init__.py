"""Figures with matplotlib (the extra topicfold[plots])."""

from .choosing import selection
from .contrast_figures import contrast_words
from .effect_figures import effect_curves, effect_sizes
from .fit_curves import convergence, trace
from .topic_figures import document_map, over_time, topic_sizes, topic_words
from .tree_figures import hierarchy

__all__ = [
    "contrast_words",
    "convergence",
    "document_map",
    "effect_curves",
    "effect_sizes",
    "hierarchy",
    "over_time",
    "selection",
    "topic_sizes",
    "topic_words",
    "trace",
]

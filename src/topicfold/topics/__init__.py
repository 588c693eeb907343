"""TopicTree: what every model ends in."""

from .ranking import keyness, relevance
from .tree import TopicTree, TopicWord

__all__ = ["TopicTree", "TopicWord", "keyness", "relevance"]

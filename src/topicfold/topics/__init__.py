"""TopicTree: the topics of any model."""

from .ranking import keyness, relevance
from .tree import TopicTree, TopicWord

__all__ = ["TopicTree", "TopicWord", "keyness", "relevance"]

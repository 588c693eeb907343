"""TopicTree: what every model ends in."""

from .ranking import relevance
from .tree import TopicTree, TopicWord

__all__ = ["TopicTree", "TopicWord", "relevance"]

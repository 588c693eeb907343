"""Documents as counts of words: reading, preprocessing, counting."""

from .corpus import Corpus, Segments
from .preprocessing import Preprocessing

__all__ = ["Corpus", "Preprocessing", "Segments"]

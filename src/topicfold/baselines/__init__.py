"""The methods ours are compared with, one line each, in the one shape of a model: fit, doc_topic_, labels_."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["BASELINES", "BaselineInfo"]


@dataclass(frozen=True)
class BaselineInfo:
    """Where a baseline is defined, and the name of its size parameter.

    Parameters
    ----------
    module : str
        Module of the class, within `topicfold.baselines`.
    name : str
        Name of the class.
    size : str or None, default='n_topics'
        Parameter that sets the number of topics. None if the baseline finds its own number.

    See Also
    --------
    topicfold.LDA : The model to compare with.

    Examples
    --------
    >>> from topicfold.baselines import BASELINES
    >>> sorted(BASELINES)
    ['GibbsLDA', 'HLDA', 'KMeans', 'LSI', 'NCut', 'NMF', 'PCA']
    >>> BASELINES["NMF"].make(10, random_state=0).n_topics
    10
    """

    module: str
    name: str
    size: str | None = "n_topics"

    def load(self) -> type:
        """Import the class, and with it scikit-learn or tomotopy.

        Returns
        -------
        type
            The class.
        """
        return getattr(import_module(f"{__name__}.{self.module}"), self.name)

    def make(self, n_topics: int, **parameters: Any) -> Any:
        """Make an instance.

        Parameters
        ----------
        n_topics : int
            Number of topics. Ignored if the baseline finds its own number.
        **parameters : dict
            Further parameters of the class.

        Returns
        -------
        object
            The instance, not fitted.
        """
        size = {} if self.size is None else {self.size: n_topics}
        return self.load()(**size, **parameters)


BASELINES: dict[str, BaselineInfo] = {
    "GibbsLDA": BaselineInfo("gibbs_lda", "GibbsLDA"),
    "HLDA": BaselineInfo("hlda", "HLDA", size=None),
    "NMF": BaselineInfo("factor", "NMF"),
    "LSI": BaselineInfo("factor", "LSI"),
    "PCA": BaselineInfo("factor", "PCA"),
    "KMeans": BaselineInfo("factor", "KMeans"),
    "NCut": BaselineInfo("factor", "NCut"),
}

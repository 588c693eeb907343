"""Methods to compare with: `from topicfold.baselines import NMF`. Each is imported when it is first used.

BASELINES lists those with the interface of a topic model (`n_topics`, `fit`, `doc_topic_` or `transform`).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .itcc import ITCC
    from .kmeans import KMeans
    from .ncut import NCut
    from .nmf import NMF
    from .overlapping import MOC, MOCC
    from .projections import LSI, PCA
    from .propagation import LabelPropagation
    from .tomotopy_models import HLDA, GibbsLDA

__all__ = [
    "BASELINES",
    "HLDA",
    "ITCC",
    "LSI",
    "MOC",
    "MOCC",
    "NMF",
    "PCA",
    "BaselineInfo",
    "GibbsLDA",
    "KMeans",
    "LabelPropagation",
    "NCut",
]


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
        Parameter that sets the number of topics. None if the baseline finds the number itself.

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
            Number of topics. Ignored if the baseline finds the number itself.
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
    "GibbsLDA": BaselineInfo("tomotopy_models", "GibbsLDA"),
    "HLDA": BaselineInfo("tomotopy_models", "HLDA", size=None),
    "NMF": BaselineInfo("nmf", "NMF"),
    "LSI": BaselineInfo("projections", "LSI"),
    "PCA": BaselineInfo("projections", "PCA"),
    "KMeans": BaselineInfo("kmeans", "KMeans"),
    "NCut": BaselineInfo("ncut", "NCut"),
}

# Co-clusterings and a classifier: their size parameters and results differ from those of a topic model.
_OTHERS = {"ITCC": "itcc", "MOC": "overlapping", "MOCC": "overlapping", "LabelPropagation": "propagation"}


def __getattr__(name: str) -> Any:
    if name in BASELINES:
        return BASELINES[name].load()
    if name in _OTHERS:
        return getattr(import_module(f"{__name__}.{_OTHERS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

"""Choose the number of topics: try the points of a grid on held-out documents, and recommend one.

Documents are split into folds. Each point of the grid is fitted on all folds but one, with several seeds, and scored on
the fold left out: no score that ranks points comes from a document that the model has seen. The baseline is the unigram
model, which predicts every document by the frequency of words.

The rule is in recommendation.py. Coherence and diversity are also reported, but do not decide.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ..corpus.corpus import Corpus
from ..engine.blocks import map_blocks, single_threaded_libraries
from ..engine.checks import check_whole, is_number
from ..engine.distributed.cluster import current_cluster
from ..engine.progress import progress
from ..engine.warn import warn_user
from ..errors import InputError
from ..graph.check import GraphLike, check_graph
from ..metrics.completion import perplexity
from ..metrics.stability import stability
from ..models.em.number_of_topics import SIZES, mean_rand_index
from ..models.graph.graph_data import check_embeddings
from ..models.inputs import CountsLike, RandomStateLike, as_texts
from .held_out_fits import Fit, FitInput, Measured, fit_here, fit_on_worker, for_workers, unigram_score
from .recommendation import PER_TOKEN, Selection, SelectionRow, _mean_and_error, _params_text, beyond, recommend

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["score_unit", "select"]

_MOST_EXTENSIONS = 4
_FIXED_COST = 20  # of a fit, in topics


def select(
    model: BaseEstimator | Mapping[str, tuple[BaseEstimator, Mapping[str, Sequence[Any]] | None]],
    X: CountsLike,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    graph: GraphLike | None = None,
    embeddings: ArrayLike | None = None,
    extend: bool = False,
    n_splits: int = 3,
    n_seeds: int = 1,
    random_state: RandomStateLike = 0,
    n_jobs: int | None = None,
    verbose: bool | None = None,
) -> Selection:
    """Choose the number of topics and other parameters on held-out documents.

    The model is fitted with every combination of the values of a grid, by cross-validation. One combination (a point of
    the grid) is recommended, with the reason.

    Parameters
    ----------
    model : estimator, or mapping of str to (estimator, grid)
        The model, or several by name, each with its own grid. The scores of all models must have the same unit.
        Estimators are not changed: each fit uses a copy with its own random_state.
    X : Corpus, matrix or data frame
        Documents: a Corpus, or counts of shape (n_documents, n_words).
    grid : mapping of str to sequence, default=None
        Values to try, by parameter, such as {"n_topics": [10, 20, 50]}. None tries 5, 10, 20 and 40 topics, and twice
        the largest for as long as it is the recommended number.
    graph : array or sparse matrix of shape (n_documents, n_documents), default=None
        Graph of the documents, for models that use one. Held-out documents are scored only by their words.
    embeddings : array-like of shape (n_documents, n_features), default=None
        Vectors of the documents, for models that use them. Held-out documents are scored only by their words.
    extend : bool, default=False
        Whether to extend a given grid, with twice or half the value, as long as the recommended point is at its edge.
    n_splits : int, default=3
        Number of folds; each is held out once.
    n_seeds : int, default=1
        Number of fits per point and fold.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds and of the fits.
    n_jobs : int or None, default=None
        Number of fits in parallel. The results do not depend on it, except for CPU seconds.
    verbose : bool or None, default=None
        Whether to show progress. None shows it only on a terminal.

    Returns
    -------
    Selection
        All points with their measures, and the recommended one. After Ctrl-C, only those with all of their fits.

    Raises
    ------
    InputError
        If the grid is not valid, scores have different units, or every point failed.

    See Also
    --------
    topicfold.plots.selection : Draws the result.
    topicfold.metrics.coherence : One of the measures.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, select
    >>> corpus = Corpus.from_texts(["cat dog cat dog", "dog cat dog cat", "sun moon sun", "moon star sun star"] * 6)
    >>> result = select(PLSA(), corpus, {"n_topics": [1, 2, 500]})
    >>> result.best
    {'n_topics': 2}
    >>> result.rows[2].failed
    'n_topics=500 is more than there are documents or words ...'
    """
    check_whole("n_splits", n_splits, 2)
    check_whole("n_seeds", n_seeds)
    if isinstance(model, type):
        raise InputError(f"model is the class {model.__name__}: expected an instance, such as {model.__name__}()")
    texts = None if isinstance(X, Corpus) else as_texts(X)
    X = X if texts is None else Corpus.from_texts(texts)
    points, unit = _points(model, grid)
    extend = extend or (grid is None and not isinstance(model, Mapping))
    folds = _Folds(X, graph, embeddings, int(n_splits), int(n_seeds), random_state)
    finished = folds.measure(points, n_jobs, verbose)
    points, baseline_rows = folds.complete(points), _baseline_rows(folds, unit)
    for _ in range(_MOST_EXTENSIONS + 1):
        rows, best = _ranked(points, unit)
        chosen, reason, edge = recommend(rows, best, baseline_rows, unit)
        further = beyond(rows, chosen) if extend and edge and finished else {}
        if not further:
            break
        new_points = _further(points[chosen], further)
        finished = folds.measure(new_points, n_jobs, verbose)
        points += folds.complete(new_points)
    return Selection(
        tuple(rows), chosen, reason, unit, int(n_splits), int(n_seeds), tuple(baseline_rows), edge, not finished
    )


def score_unit(model: BaseEstimator) -> str:
    """The unit of the `score` of a model. A class that does not declare one has its own unit, unlike any other."""
    return getattr(model, "score_unit", f"the score of {type(model).__name__}")


@dataclass
class _Point:
    """A point of the grid, and its fits by (fold, seed); a fit that failed is its error message."""

    name: str
    model: BaseEstimator
    params: dict[str, Any]
    fits: dict[tuple[int, ...], Fit | str] = field(default_factory=dict)
    measures: dict[tuple[int, ...], Measured] = field(default_factory=dict)  # until all are complete
    stability: float = math.nan

    @property
    def failed(self) -> str | None:
        return next((fit for _, fit in sorted(self.fits.items()) if isinstance(fit, str)), None)

    def close(self) -> None:
        """Compare the fits when all are complete, and drop what was compared."""
        measured = [self.measures[key] for key in sorted(self.measures)]
        self.measures.clear()
        if self.failed is not None:
            return
        # Over seeds AND folds: a start from the data hardly changes with the seed, so fits of the same documents would
        # look stable by construction.
        largest = [fit_measures.largest for fit_measures in measured if fit_measures.largest is not None]
        if len(largest) == len(measured):
            self.stability = mean_rand_index(largest)
        else:
            self.stability = stability([fit_measures.topic_word for fit_measures in measured])


def _cost(point: _Point) -> float:
    """What a fit of the point costs, compared with others: about in proportion to its topics, with something fixed."""
    n_topics = point.params.get("n_topics", 0)
    return _FIXED_COST + (n_topics if is_number(n_topics) else 0)


def _points(model: Any, grid: Mapping[str, Sequence[Any]] | None) -> tuple[list[_Point], str]:
    if isinstance(model, Mapping):
        if grid is not None:
            raise InputError("several models have their own grids, {name: (model, grid)}: leave out grid")
        families = {str(name): pair for name, pair in model.items()}
    else:
        families = {type(model).__name__: (model, grid)}
    units: dict[str, list[str]] = {}
    points = []
    for name, pair in families.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"model {name!r}: expected a pair (model, grid), got {type(pair).__name__}")
        units.setdefault(score_unit(pair[0]), []).append(name)
        points += _family(name, *pair)
    if len(units) > 1:
        listed = "; ".join(f"{', '.join(names)} in {unit}" for unit, names in units.items())
        raise InputError(f"scores in different units cannot be compared ({listed}): select each kind separately")
    if not points:
        raise InputError("there are no models: expected at least one")
    return points, next(iter(units))


def _family(name: str, model: BaseEstimator, grid: Mapping[str, Sequence[Any]] | None) -> list[_Point]:
    """The points of one model, in the order of its grid."""
    from sklearn.base import clone

    if grid is None and "n_topics" in model.get_params():
        grid = {"n_topics": SIZES}
    if not isinstance(grid, Mapping) or not grid:
        raise InputError(f"grid of {name}: expected values to try, such as {{'n_topics': [10, 20, 50]}}, got {grid!r}")
    parameters = model.get_params()
    for parameter, values in grid.items():
        if parameter not in parameters:
            raise InputError(f"{name} has no parameter {parameter!r}; it has {', '.join(parameters)}")
        if isinstance(values, str) or not hasattr(values, "__iter__") or not list(values):
            raise InputError(f"grid of {name}: expected a list of values of {parameter}, got {values!r}")
    plain = {"n_jobs": 1, "verbose": False, "checkpoint": None}
    settings = {parameter: value for parameter, value in plain.items() if parameter in parameters}
    combinations = [dict(zip(grid, values)) for values in product(*grid.values())]
    return [_Point(name, clone(model).set_params(**{**settings, **params}), params) for params in combinations]


class _Folds:
    """Documents split into folds, and fits of points to all folds but one."""

    def __init__(
        self,
        X: CountsLike,
        graph: GraphLike | None,
        embeddings: ArrayLike | None,
        n_splits: int,
        n_seeds: int,
        random_state: RandomStateLike,
    ) -> None:
        from sklearn.utils import check_random_state

        documents: Any = X if isinstance(X, Corpus) or hasattr(X, "iloc") else sp.csr_array(X)
        n_documents = len(documents) if isinstance(documents, Corpus) else documents.shape[0]
        if n_splits > n_documents:
            raise InputError(f"n_splits={n_splits} is more than there are documents ({n_documents})")
        checked = None if graph is None else sp.csr_array(check_graph(graph, n_documents))
        vectors = None if embeddings is None else check_embeddings(embeddings, n_documents)
        self.fit_input = FitInput(documents, checked, vectors)
        rng = check_random_state(random_state)
        self.fold_of = rng.permutation(n_documents) % n_splits
        self.n_complete = 0  # points
        self.seeds = rng.randint(np.iinfo(np.int32).max, size=(n_splits, n_seeds))

    def complete(self, points: Sequence[_Point]) -> list[_Point]:
        """The points with all of their fits."""
        return [point for point in points if len(point.fits) == self.seeds.size]

    def measure(self, points: Sequence[_Point], n_jobs: int | None, verbose: bool | None) -> bool:
        """Fit every (point, fold, seed) and store the measures in the points; False if Ctrl-C ended it.

        Ctrl-C is raised as long as no point has all of its fits: there is nothing to keep.
        """
        try:
            self._measure(points, n_jobs, verbose)
        except KeyboardInterrupt:
            self.n_complete += len(self.complete(points))
            if not self.n_complete:
                raise
            warn_user("select: interrupted; the points that have all of their fits are kept")
            return False
        self.n_complete += len(points)
        return True

    def _measure(self, points: Sequence[_Point], n_jobs: int | None, verbose: bool | None) -> None:
        cells = [(point, key) for point in points for key in np.ndindex(self.seeds.shape)]
        lock = threading.Lock()
        done, price = 0, ""

        def run(cell: tuple[_Point, tuple[int, ...]]) -> None:
            point, key = cell
            # In its own thread even if it is the only one: on the main thread, Ctrl-C would end only the current fit,
            # and select would continue with the next.
            with ThreadPoolExecutor(1) as thread:
                held_out = self.fold_of == key[0]
                fit = thread.submit(fit_here, point.model, self.fit_input, held_out, int(self.seeds[key]))
                keep(cell, fit.result())

        def keep(cell: tuple[_Point, tuple[int, ...]], measured: Measured) -> None:
            nonlocal done, price
            point, key = cell
            with lock:
                point.fits[key], point.measures[key] = measured.fit, measured
                complete = len(point.fits) == self.seeds.size
                done += 1
                if not price and isinstance(measured.fit, Fit):
                    seconds = measured.fit.seconds * sum(_cost(other) for other, _ in cells) / _cost(point)
                    price = f"about {seconds:.2g} CPU s in all"
                move(done, price)
            if complete:
                point.close()

        with _steady_libraries(), progress("select", len(cells), unit="fits", verbose=verbose) as move:
            cluster = current_cluster()
            if cluster is None or len(cells) < 2:
                map_blocks(run, cells, n_jobs)
                return
            tasks = [(point.model, key[0], int(self.seeds[key])) for point, key in cells]
            shared = (*for_workers(self.fit_input, cluster), self.fold_of)
            for cell, measured in zip(cells, cluster.map(fit_on_worker, shared, tasks)):
                keep(cell, measured)

    def unigram(self) -> np.ndarray:
        """The score of the unigram model on each fold."""
        n_splits = len(self.seeds)
        return np.array([unigram_score(self.fit_input.documents, self.fold_of == fold) for fold in range(n_splits)])


def _baseline_rows(folds: _Folds, unit: str) -> list[SelectionRow]:
    """The score of the unigram model."""
    if unit != PER_TOKEN:
        return []
    score, error = _mean_and_error(folds.unigram())
    return [SelectionRow("unigram", {}, score=score, score_error=error, perplexity=perplexity(score))]


def _further(point: _Point, further: Mapping[str, Any]) -> list[_Point]:
    """The point with other values of some parameters."""
    from sklearn.base import clone

    params = {**point.params, **further}
    return [_Point(point.name, clone(point.model).set_params(**further), params)]


@contextmanager
def _steady_libraries() -> Iterator[None]:
    """Fix the settings of the process that fits change temporarily, for all fits together.

    Fits that overlap in time would otherwise restore the number of BLAS threads and warning filters in the wrong order.
    """
    from sklearn.exceptions import ConvergenceWarning

    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*fitted on embeddings, but the new documents have none")
        yield


def _ranked(points: list[_Point], unit: str) -> tuple[list[SelectionRow], int]:
    """The rows of the points, and the number of the row with the best mean score."""
    by_fold = [None if point.failed is not None else _by_fold(point, "score") for point in points]
    means = [-math.inf if folds is None else float(folds.mean()) for folds in by_fold]
    first = int(np.argmax(means))
    best = by_fold[first]
    if best is None:
        raise InputError(f"every point of the grid failed; {_params_text(points[0].params)}: {points[0].failed}")
    rows = []
    for point, folds in zip(points, by_fold):
        if folds is None:
            rows.append(SelectionRow(point.name, point.params, failed=point.failed))
            continue
        score, score_error = _mean_and_error(folds)
        behind, behind_error = _mean_and_error(best - folds)
        coherent, coherence_error = _mean_and_error(_by_fold(point, "coherence"))
        row = SelectionRow(
            model=point.name,
            params=point.params,
            score=score,
            score_error=score_error,
            behind=behind,
            behind_error=behind_error,
            perplexity=perplexity(score) if unit == PER_TOKEN else math.nan,
            coherence=coherent,
            coherence_error=coherence_error,
            diversity=float(_by_fold(point, "diversity").mean()),
            stability=point.stability,
            topics=float(_by_fold(point, "topics").mean()),
            seconds=float(np.median(_figures(point, "seconds"))),
        )
        rows.append(row)
    return rows, first


def _figures(point: _Point, name: str) -> list[float]:
    return [getattr(point.fits[key], name) for key in sorted(point.fits)]


def _by_fold(point: _Point, name: str) -> np.ndarray:
    """A measure of each fold, as the mean over seeds. Fits of one fold use the same documents and are no sample."""
    n_splits = 1 + max(fold for fold, _ in point.fits)
    return np.reshape(_figures(point, name), (n_splits, -1)).mean(axis=1)

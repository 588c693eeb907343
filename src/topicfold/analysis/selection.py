"""How many topics? Try the points of a grid on held-out documents, and recommend one.

Documents are cut into folds. Each point of the grid is fitted on all folds but one, from several seeds, and scored on
the fold left out: no figure that ranks points comes from a document the model has seen.

The rule: find the point with the best mean score; among the points within one standard error of it, take the most
stable one, and of equally stable ones (to two decimals) the one with the fewest topics. The standard error is that of
the difference to the best point over folds, in which the difficulty of a fold cancels. Coherence and diversity are
shown beside, and do not decide.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ..corpus.corpus import Corpus
from ..engine.arrays import canonical, normalise_rows
from ..engine.blocks import map_blocks, single_threaded_libraries
from ..engine.checks import check_whole
from ..engine.cluster import Cluster, current_cluster
from ..engine.progress import progress
from ..metrics.coherence import coherence
from ..metrics.completion import perplexity
from ..metrics.stability import diversity, stability
from ..models import MODELS
from ..models.inputs import CountsLike, RandomStateLike
from ..topics.ranking import relevance, top_word_columns
from .recommendation import PER_TOKEN, Row, Selection, _mean_and_error, _recommend, _said

__all__ = ["score_unit", "select"]

_TOP_WORDS = 10


def select(
    model: BaseEstimator | Mapping[str, tuple[BaseEstimator, Mapping[str, Sequence[Any]]]],
    X: CountsLike,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    n_splits: int = 3,
    n_seeds: int = 2,
    random_state: RandomStateLike = 0,
    n_jobs: int | None = None,
    verbose: bool | None = None,
) -> Selection:
    """Measure a model at every combination of the grid's values on held-out documents, and recommend one.

    Parameters
    ----------
    model : an estimator, or a mapping from a name to (estimator, grid) to compare models; their scores must then have
        one unit. The estimators are not changed; each fit is a copy, with a random_state of its own.
    X : a Corpus, or counts of documents x words.
    grid : the values to try of each parameter, such as {"n_topics": [10, 20, 50]}.
    n_splits : folds; each is held out once.
    n_seeds : fits of each point and fold.
    random_state : cuts the folds and draws the seeds of the fits.
    n_jobs : fits at a time. The figures do not depend on it, CPU seconds excepted.
    verbose : True shows progress, False does not, None does on a terminal.

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
    points, unit = _points(model, grid)
    check_whole("n_splits", n_splits, 2)
    check_whole("n_seeds", n_seeds)
    _measure(points, X, int(n_splits), int(n_seeds), random_state, n_jobs, verbose)
    rows, first = _ranked(points, unit)
    chosen, reason = _recommend(rows, first, unit)
    return Selection(tuple(rows), chosen, reason, unit, int(n_splits), int(n_seeds))


def score_unit(model: BaseEstimator) -> str:
    """What a model's `score` counts in. Where nothing is known of a class, its unit is its own and like no other's."""
    name = type(model).__name__
    if name in MODELS:
        return MODELS[name].score_unit
    return getattr(model, "score_unit", f"the score of {name}")


class _Fit(NamedTuple):
    score: float
    coherence: float
    diversity: float
    topics: int
    seconds: float


@dataclass
class _Point:
    """A point of the grid, and its fits by (fold, seed) as they come in; a fit that failed is its message."""

    name: str
    model: BaseEstimator
    params: dict[str, Any]
    fits: dict[tuple[int, ...], _Fit | str] = field(default_factory=dict)
    topic_words: dict[tuple[int, ...], np.ndarray] = field(default_factory=dict)
    stability: float = math.nan

    @property
    def failed(self) -> str | None:
        return next((fit for _, fit in sorted(self.fits.items()) if isinstance(fit, str)), None)

    def close(self) -> None:
        """All fits are there: compare their topics, and drop them."""
        # Over seeds AND folds: a start made from the data hardly changes with the seed, so that fits of the same
        # documents would look stable by construction.
        if self.failed is None:
            self.stability = stability([self.topic_words[key] for key in sorted(self.topic_words)])
        self.topic_words.clear()


def _points(model: Any, grid: Mapping[str, Sequence[Any]] | None) -> tuple[list[_Point], str]:
    if isinstance(model, Mapping):
        if grid is not None:
            raise ValueError("models given by name bring their own grids, {name: (model, grid)}: leave grid out")
        families = {str(name): pair for name, pair in model.items()}
    else:
        families = {type(model).__name__: (model, grid)}
    units: dict[str, list[str]] = {}
    points = []
    for name, pair in families.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"model {name!r}: expected a pair (model, grid), got {type(pair).__name__}")
        units.setdefault(score_unit(pair[0]), []).append(name)
        points += _family(name, *pair)
    if len(units) > 1:
        listed = "; ".join(f"{', '.join(names)} in {unit}" for unit, names in units.items())
        raise ValueError(f"scores in different units cannot be ranked ({listed}): select each kind on its own")
    if not points:
        raise ValueError("there are no models to choose from")
    return points, next(iter(units))


def _family(name: str, model: BaseEstimator, grid: Mapping[str, Sequence[Any]] | None) -> list[_Point]:
    """The points of one model, in the order of its grid."""
    from sklearn.base import clone

    if not isinstance(grid, Mapping) or not grid:
        raise ValueError(f"grid of {name}: expected values to try, such as {{'n_topics': [10, 20, 50]}}, got {grid!r}")
    known = model.get_params()
    for parameter, values in grid.items():
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r}; it has {', '.join(known)}")
        if isinstance(values, str) or not hasattr(values, "__iter__") or not list(values):
            raise ValueError(f"grid of {name}: expected a list of values of {parameter}, got {values!r}")
    plain = {"n_jobs": 1, "verbose": False, "checkpoint": None}
    settings = {parameter: value for parameter, value in plain.items() if parameter in known}
    combinations = [dict(zip(grid, values)) for values in product(*grid.values())]
    return [_Point(name, clone(model).set_params(**{**settings, **params}), params) for params in combinations]


def _measure(
    points: list[_Point],
    X: CountsLike,
    n_splits: int,
    n_seeds: int,
    random_state: RandomStateLike,
    n_jobs: int | None,
    verbose: bool | None,
) -> None:
    """Fit every (point, fold, seed) and put what is measured into the points."""
    from sklearn.utils import check_random_state

    documents: Any = X if isinstance(X, Corpus) or hasattr(X, "iloc") else sp.csr_array(X)
    n_documents = len(documents) if isinstance(documents, Corpus) else documents.shape[0]
    if n_splits > n_documents:
        raise ValueError(f"n_splits={n_splits} is more than there are documents ({n_documents})")
    rng = check_random_state(random_state)
    fold_of = rng.permutation(n_documents) % n_splits
    seeds = rng.randint(np.iinfo(np.int32).max, size=(n_splits, n_seeds))
    cells = [(point, key) for point in points for key in np.ndindex(n_splits, n_seeds)]
    lock = threading.Lock()
    done = 0

    def run(cell: tuple[_Point, tuple[int, ...]]) -> None:
        point, key = cell
        # In a thread of its own even when it is the only one: on the main thread a model takes Ctrl-C as the end of
        # its own fit, and select would go on to the next.
        with ThreadPoolExecutor(1) as thread:
            fit, topics = thread.submit(_fit, point.model, documents, fold_of == key[0], int(seeds[key])).result()
        keep(point, key, fit, topics)

    def keep(point: _Point, key: tuple[int, ...], fit: _Fit | str, topics: np.ndarray) -> None:
        nonlocal done
        with lock:
            point.fits[key], point.topic_words[key] = fit, topics
            complete = len(point.fits) == n_splits * n_seeds
            done += 1
            move(done)
        if complete:
            point.close()

    with _steady_libraries(), progress("select", len(cells), unit="fits", verbose=verbose) as move:
        cluster = current_cluster()
        if cluster is None or len(cells) < 2:
            map_blocks(run, cells, n_jobs)
            return
        sent = _for_workers(documents, cluster)
        tasks = [(point.model, key[0], int(seeds[key])) for point, key in cells]
        for (point, key), (fit, topics) in zip(cells, cluster.map(_fit_on_worker, (sent, fold_of), tasks)):
            keep(point, key, fit, topics)


@contextmanager
def _steady_libraries() -> Iterator[None]:
    """Settings of the process that fits change for a while, fixed around all of them.

    Fits that overlap in time would restore each other's number of BLAS threads and warning filters in the wrong order.
    """
    from sklearn.exceptions import ConvergenceWarning

    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _fit(model: BaseEstimator, X: CountsLike, held_out: np.ndarray, seed: int) -> tuple[_Fit | str, np.ndarray]:
    """Fit a copy of the model to the documents not held out; what was measured (or why not), and the topics."""
    from sklearn.base import clone

    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    training = _documents(X, ~held_out)
    try:
        started = time.thread_time()
        model.fit(training)
        seconds = time.thread_time() - started
        score = float(model.score(_documents(X, held_out)))
        if not math.isfinite(score):
            raise ValueError(f"the score on held-out documents is {score}")
        topic_word = _topics(model)
        counts = canonical(training.counts if isinstance(training, Corpus) else training)
        words = _top_words(topic_word, counts)
        each = coherence(words, counts=counts)
        mean = float(each[np.isfinite(each)].mean()) if np.isfinite(each).any() else math.nan
        return _Fit(score, mean, diversity(map(tuple, words)), len(topic_word), seconds), topic_word
    except ValueError as error:
        return str(error), np.empty((0, 0))


def _for_workers(documents: Any, cluster: Cluster) -> Any:
    """Documents as they are sent to workers: the path of a corpus, the arrays of a matrix, a data frame as it is."""
    if isinstance(documents, Corpus):
        path = cluster.new_path().with_suffix(".safetensors")
        documents.save(path)
        return str(path)
    if sp.issparse(documents):
        return (documents.data, documents.indices, documents.indptr, documents.shape)
    return documents


def _fit_on_worker(
    sent: Any, fold_of: np.ndarray, task: tuple[BaseEstimator, int, int]
) -> tuple[_Fit | str, np.ndarray]:
    model, fold, seed = task
    documents = sent
    if isinstance(sent, str):
        documents = Corpus.load(sent)
    elif isinstance(sent, tuple):
        documents = sp.csr_array(sent[:3], shape=sent[3])
    return _fit(model, documents, fold_of == fold, seed)


def _documents(X: Any, mask: np.ndarray) -> Any:
    if isinstance(X, Corpus):
        return X.subset(mask)
    return X.iloc[mask] if hasattr(X, "iloc") else X[np.flatnonzero(mask)]


def _topics(model: BaseEstimator) -> np.ndarray:
    """P(w|z) of a fitted model; scikit-learn's own models have components_ instead, in any scale."""
    found = getattr(model, "topic_word_", None)
    if found is not None:
        return np.asarray(found)
    found = getattr(model, "components_", None)
    if found is None or (np.asarray(found) < 0).any():
        raise ValueError(f"{type(model).__name__} has no topics: expected topic_word_, or components_ of zero and more")
    return normalise_rows(np.asarray(found, dtype=np.float64))


def _top_words(topic_word: np.ndarray, counts: sp.csr_array) -> list[np.ndarray]:
    """The best columns of each topic by relevance: the same ranking for every model."""
    scores = relevance(topic_word, np.asarray(counts.sum(axis=0), dtype=np.float64))
    best = [top_word_columns(row, _TOP_WORDS) for row in scores]
    return [columns[np.isfinite(row[columns])] for columns, row in zip(best, scores)]


def _ranked(points: list[_Point], unit: str) -> tuple[list[Row], int]:
    """The rows of the points, and which of them has the best mean score."""
    by_fold = [None if point.failed is not None else _by_fold(point, "score") for point in points]
    means = [-math.inf if folds is None else float(folds.mean()) for folds in by_fold]
    first = int(np.argmax(means))
    best = by_fold[first]
    if best is None:
        raise ValueError(f"every point of the grid failed; {_said(points[0].params)}: {points[0].failed}")
    rows = []
    for point, folds in zip(points, by_fold):
        if folds is None:
            rows.append(Row(point.name, point.params, failed=point.failed))
            continue
        score, score_error = _mean_and_error(folds)
        behind, behind_error = _mean_and_error(best - folds)
        coherent, coherence_error = _mean_and_error(_by_fold(point, "coherence"))
        row = Row(
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
    """A figure of each fold, the mean of its seeds. Seeds of one fold share their documents: they are not a sample."""
    n_splits = 1 + max(fold for fold, _ in point.fits)
    return np.reshape(_figures(point, name), (n_splits, -1)).mean(axis=1)

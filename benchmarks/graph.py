"""Topics on a graph of documents: iterations of LTM and DTM against those of PLSA, and how their cost grows."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from math import log
from pathlib import Path
from typing import Any

from .common import (
    PLAIN_TEXTS,
    ROOT,
    SEED,
    Row,
    Setting,
    added_memory,
    alternating,
    at_most,
    can_measure_memory,
    cpu,
    em_runner,
    megabytes,
    seconds,
)

_REUTERS = "reuters21578_cai"
_REUTERS_DOCUMENTS = 7285  # in its ten largest classes
_LISTS = Path("/var/lib/apt/lists")
_SIZES = (5_000, 10_000, 20_000, 40_000, 60_000)
_QUICK_SIZES = (1_000, 2_000)
_SPARE = 500  # more descriptions, because a few end up without words
_SWEPT_DOCUMENTS = 5_000
_FEW, _MANY = 50, 200  # topics in a sweep
_ROOM = 1.25
_WARM = 3  # iterations before the clock starts: kernels are compiled, and conjugate gradients have a first guess


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    from topicfold.engine.blocks import single_threaded_libraries

    sizes = _QUICK_SIZES if setting.quick else _SIZES
    with single_threaded_libraries():  # as it is in a fit
        yield _beside_plsa(setting)
        yield from _sweeps(setting)
        counts = _package_descriptions(sizes[-1])
        if counts is None:
            yield Row("LTM and DTM on package descriptions of Debian", "", remark="needs the package lists of apt")
            return
        for size in sizes:
            yield from _at_size(_first(counts, size))


def _beside_plsa(setting: Setting) -> Row:
    from topicfold import LTM

    fits = _Fits(_reuters(setting), 10, 5)
    model = LTM(10, graph_weight=1000.0)
    once = cpu(lambda: fits.step(model))
    repeats = setting.repeats(11)
    ours, peer = alternating(_timed(fits.iteration(model), 10), _timed(fits.plsa(), 10), repeats=repeats)
    name = f"LTM iteration, {fits.size}, 10 topics, graph_weight 1000, against PLSA"
    row = at_most(f"{name} ({repeats} runs)", ours, peer, 4, seconds)
    return replace(row, detail=f"LTM, {fits.size}, graph_weight 1000: {seconds(once)} once per fit for the factors.")


def _sweeps(setting: Setting) -> Iterator[Row]:
    import numpy as np

    from topicfold.graph.build import knn_graph, laplacian
    from topicfold.models.graph.separation import separation, sweep_exact, sweep_paper

    counts = _first(setting.corpus.counts, _SWEPT_DOCUMENTS)
    graph = knn_graph(counts, 10)
    parts = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data, graph.sum(axis=1))
    rng = np.random.default_rng(SEED)
    tables = {k: np.maximum(rng.dirichlet(np.full(k, 0.1), counts.shape[0]), 1e-12) for k in (_FEW, _MANY)}

    def taken(sweep: Any, n_topics: int) -> float:
        table = tables[n_topics]
        pairs, near = separation(table, laplacian(graph))
        values = np.ascontiguousarray(table.T) if sweep is sweep_paper else table.copy()
        return cpu(lambda: sweep(*parts, pairs / near, values))

    growth = _MANY / _FEW
    repeats = setting.repeats(9)
    for rule, sweep, goal in (
        ("paper", sweep_paper, growth),
        ("exact", sweep_exact, growth * log(_MANY) / log(_FEW)),
    ):
        taken(sweep, _FEW)  # compiles
        ours, peer = alternating(partial(taken, sweep, _MANY), partial(taken, sweep, _FEW), repeats=repeats)
        name = f"DTM sweep ({rule}), {counts.shape[0]:,} documents, {_MANY} topics against {_FEW} ({repeats} runs)"
        yield at_most(name, ours, peer, round(goal * _ROOM, 2), seconds)


def _at_size(counts: Any) -> Iterator[Row]:
    from topicfold import DTM, LTM

    fits = _Fits(counts, 20, 5, "package descriptions")
    yield Row(f"Graph of 5 nearest neighbours, {fits.size}", seconds(fits.graph_took))
    plsa, repeats = fits.plsa(), 3
    for weight in (10.0, 1000.0):
        model = LTM(20, graph_weight=weight)
        ours, peer = alternating(_timed(fits.iteration(model)), _timed(plsa), repeats=repeats)
        row = _beside(
            f"LTM iteration, {fits.size}, 20 topics, graph_weight {weight:g}, against PLSA ({repeats} runs)",
            ours,
            peer,
        )
        yield replace(row, detail=fits.once(model)) if weight == 1000.0 else row
    fits = _Fits(counts, 20, 10, "package descriptions")
    ours, peer = alternating(_timed(fits.iteration(DTM(20), alike=True)), _timed(plsa), repeats=repeats)
    yield _beside(f"DTM iteration, {fits.size}, 20 topics, against PLSA ({repeats} runs)", ours, peer)


class _Fits:
    """Iterations of models on the same documents, all from the same start."""

    def __init__(self, counts: Any, n_topics: int, n_neighbors: int, what: str = "documents") -> None:
        import numpy as np

        from topicfold.graph.build import knn_graph
        from topicfold.models.graph.graph_data import GraphData

        self.n_topics = n_topics
        counts = counts.astype(np.float32)
        started = time.process_time()
        graph = knn_graph(counts, n_neighbors)
        self.graph_took = time.process_time() - started
        self.data = GraphData(counts, graph, None, None)
        self.anew = em_runner(counts, n_topics, "float32", "nmf")
        self.size = f"{counts.shape[0]:,} {what}"

    def plsa(self, warm: int = _WARM) -> Callable[[], Any]:
        step, state = self.anew()
        return _warmed(lambda: step(*state), warm)

    def step(self, model: Any) -> Callable[[Any], Any]:
        import numpy as np

        no_prior = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
        return model._step(self.data, no_prior, getattr(model, "graph_weight", 0.0))

    def iteration(self, model: Any, warm: int = _WARM, alike: bool = False) -> Callable[[], Any]:
        """`alike`: all documents start with the same topic shares, as in DTM."""
        step = self.step(model)
        doc_topic, word_topic = self.anew()[1]
        if alike:
            doc_topic[:, : self.n_topics] = 1 / self.n_topics
        state = {"doc_topic": doc_topic, "word_topic": word_topic}
        return _warmed(lambda: step(state), warm)

    def once(self, model: Any) -> str:
        """The cost of LTM in addition to its iterations: CPU time before the first, and memory."""
        once = seconds(cpu(lambda: self.step(model)))
        text = f"LTM, {self.size}, graph_weight {model.graph_weight:g}: {once} once per fit"
        if not can_measure_memory():
            return text + "."
        added, plain = added_memory(lambda: self.iteration(model, 1)), added_memory(lambda: self.plsa(1))
        return f"{text}; peak memory added by that and one iteration {megabytes(added)}, by PLSA {megabytes(plain)}."


def _warmed(run: Callable[[], Any], times: int) -> Callable[[], Any]:
    for _ in range(times):
        run()
    return run


def _timed(run: Callable[[], Any], times: int = 1) -> Callable[[], float]:
    """Time iterations that follow another one of the same model, as in a fit, so that its tables are in the cache."""

    def measure() -> float:
        run()
        started = time.process_time()
        for _ in range(times):
            run()
        return (time.process_time() - started) / times

    return measure


def _beside(name: str, ours: float, peer: float) -> Row:
    return Row(name, seconds(ours), seconds(peer), f"{ours / peer:.3g}x")


def _reuters(setting: Setting) -> Any:
    """Ten classes of Cai's Reuters if available, otherwise as many documents of the common corpus."""
    if setting.file is not None and (setting.file.parents[1] / _REUTERS).is_dir() and not setting.quick:
        from experiments.corpora import load_benchmark

        return load_benchmark(_REUTERS, setting.file.parents[1], max_label=10).counts
    return _first(setting.corpus.counts, _REUTERS_DOCUMENTS)


def _package_descriptions(n_documents: int) -> Any:
    """Counts of a random draw of the packages in apt's index of Debian; None if there is no index."""
    import numpy as np

    from topicfold import Corpus

    spec = spec_from_file_location("build_demo_corpus", ROOT / "scripts" / "build_demo_corpus.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    names = ("*_dists_bookworm_main_binary-amd64_Packages*", "*_dists_bookworm_main_i18n_Translation-en*")
    files = [file for name in names for file in sorted(_LISTS.glob(name))[:1]]
    if len(files) < len(names):
        return None
    records = script.read_packages(*map(script.read_index, files))
    texts = [f"{record['title']}\n{record['text']}" for record in records if record["text"]]
    random.Random(SEED).shuffle(texts)
    counts = Corpus.from_texts(texts[: n_documents + _SPARE], min_df=5, max_df=0.1, **PLAIN_TEXTS).counts
    return counts[np.flatnonzero(counts.sum(axis=1))]


def _first(counts: Any, n_documents: int) -> Any:
    """The first documents, over the words that they use."""
    import numpy as np

    counts = counts[:n_documents]
    return counts[:, np.flatnonzero(counts.sum(axis=0))]

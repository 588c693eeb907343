"""Identical results on a cluster, also when workers are killed or added, and the cost; with its own page.

`python -m benchmarks.cluster --data FOLDER --folder SCRATCH` runs what is missing on clusters of this machine, stores
every result as a line of JSON as soon as it is known, and writes docs/results/cluster.md. `benchmarks.cluster_plan`
estimates from these results how long 10 and 100 million documents would take.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .cluster_page import page
from .common import Setting, note, resident
from .paragraphs import cached_paragraphs
from .scale import COLUMNS, READING

N_KILLS, N_CLIENTS = 50, 20
COST_SIZES = (100_000, 300_000, 1_000_000)
LARGE = 300_000
SHAPES = ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2))  # workers, threads of each


def _models(n_topics: int) -> dict[str, Callable[[], Any]]:
    from topicfold import LDA, LTM, PLSA, TTMM, LapPLSI

    common: dict[str, Any] = {"max_iter": 2, "tol": 0, "random_state": 0, "init": "random", "verbose": False}
    graph = {"graph_weight": 3.0, "n_neighbors": 5}
    return {
        "PLSA": lambda: PLSA(n_topics, **common),
        "LDA": lambda: LDA(n_topics, **common),
        "TTMM": lambda: TTMM(n_topics, n_topics, **common),
        "LTM": lambda: LTM(n_topics, **common, **graph),
        "LapPLSI": lambda: LapPLSI(n_topics, **common, **graph),
    }


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("TOPICFOLD_DATA"), help="benchmark corpora")
    parser.add_argument("--folder", type=Path, required=True, help="folder for the generated corpora, 3 GB")
    parser.add_argument("--out", type=Path, default=Path("docs/results/cluster.md"))
    parser.add_argument("--only", nargs="*", help="only results whose name begins with one of these")
    parser.add_argument("--so-far", action="store_true", help="run nothing; write the page of the results so far")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    log = options.out.with_suffix(".jsonl")
    done: dict[str, Any] = {}
    if log.exists():
        done = dict(json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
    files = _Files(options.folder, Path(options.data) if options.data else None)
    for name, measure in _figures(files):
        is_selected = not options.only or any(name.startswith(begin) for begin in options.only)
        if name in done or options.so_far or not is_selected:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done[name] = measure()
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps([name, done[name]]) + "\n")
        note(f"{name}: {done[name]}")
    options.out.write_text(page(done, LARGE), encoding="utf-8")


def _figures(files: _Files) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "one task", one_task
    for size in COST_SIZES:
        for model in ("PLSA", "LDA", "TTMM"):
            yield f"cost of {model} at {size}", lambda model=model, size=size: cost(model, files.corpus(size))
    for n_workers, n_threads in SHAPES:
        shape = f"{n_workers} workers, {n_threads} threads"
        yield f"bits of 20 Newsgroups, {shape}", lambda n=n_workers, t=n_threads: bits(files.newsgroups(), 50, n, t)
    yield "workers killed", lambda: workers_killed(files.newsgroups())
    yield "worker added", lambda: worker_added(files.newsgroups())
    yield "clients killed", lambda: clients_killed(files.newsgroups())
    for n_workers, n_threads in ((2, 1), (3, 2), (1, 1), (2, 2), (1, 2), (3, 1)):
        shape = f"{n_workers} workers, {n_threads} threads"
        yield f"bits of {LARGE}, {shape}", lambda n=n_workers, t=n_threads: bits(files.corpus(LARGE), 100, n, t)


class _Files:
    """Corpora on disk, each made once."""

    def __init__(self, folder: Path, data: Path | None) -> None:
        self.folder, self.data = folder, data

    def corpus(self, size: int) -> Path:
        from topicfold import Corpus

        path = self.folder / f"corpus-{size}.safetensors"
        if not path.exists():
            texts = cached_paragraphs(self.folder, size, self.data)
            Corpus.read(texts, **COLUMNS, **READING, keep_texts=True, on_disk=path, verbose=False)
        return path

    def newsgroups(self) -> Path:
        path = self.folder / "newsgroups.safetensors"
        if not path.exists():
            Setting(self.data, quick=False).corpus.save(path)
        return path


@contextmanager
def _running(n_workers: int = 2, n_threads: int = 1) -> Iterator[tuple[Any, Any]]:
    """A cluster of this machine, and a client of it."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=n_threads, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client


# ---- the same bits --------------------------------------------------------------------------------------------------


def bits(corpus_file: Path, n_topics: int, n_workers: int, n_threads: int) -> dict[str, bool]:
    """Whether each model, and the neighbours, are identical to the bit on a cluster and in this process."""
    from topicfold import Corpus, on_cluster

    corpus = Corpus.load(corpus_file, memory_map=True)
    identical = {}
    local_digests = _digests(corpus_file, n_topics)
    with _running(n_workers, n_threads) as (_, client), on_cluster(client):
        for name, run in _runs(corpus, n_topics):
            identical[name] = _digest(run()) == local_digests[name]
    return identical


def _runs(corpus: Any, n_topics: int) -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    from topicfold import knn_graph

    some = np.zeros(len(corpus), bool)
    some[: min(len(corpus), 60_000)] = True
    part = corpus.subset(some)

    def fitted(make: Callable[[], Any]) -> list[Any]:
        model = make().fit(corpus)
        return [model.topic_word_, model.doc_topic_, model.history_, model.transform(part), model.score(part)]

    def neighbours() -> list[Any]:
        graph = knn_graph(corpus, 5)
        return [graph.indptr, graph.indices, graph.data]

    for name, make in _models(n_topics).items():
        yield f"{name}, transform, score", lambda make=make: fitted(make)
    yield "neighbours", neighbours


def _digest(arrays: list[Any]) -> str:
    import hashlib

    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _digests(corpus_file: Path, n_topics: int) -> dict[str, str]:
    """Digests of the results of one process, computed once for each corpus."""
    from topicfold import Corpus

    file = corpus_file.with_suffix(".digests.json")
    if not file.exists():
        corpus = Corpus.load(corpus_file, memory_map=True)
        file.write_text(json.dumps({name: _digest(run()) for name, run in _runs(corpus, n_topics)}))
    return json.loads(file.read_text())


def workers_killed(corpus_file: Path) -> dict[str, int]:
    """Fits during which a worker is killed at a random moment, and how many of them have identical results."""
    from topicfold import LDA, Corpus, on_cluster

    corpus = Corpus.load(corpus_file)

    def learned() -> str:
        model = LDA(20, max_iter=15, tol=0, random_state=0, init="random", verbose=False).fit(corpus)
        return _digest([model.topic_word_, model.doc_topic_, model.history_])

    alone, draw, done, same, killed = learned(), random.Random(0), 0, 0, 0
    while killed < N_KILLS:
        with _running() as (cluster, client), on_cluster(client):
            started = time.monotonic()
            learned()
            usual = time.monotonic() - started
            while killed < N_KILLS and _all_there(client):
                ended = threading.Event()

                def kill(moment: float = draw.uniform(0, usual), ended: threading.Event = ended) -> None:
                    nonlocal killed
                    time.sleep(moment)
                    pids = [worker.pid for worker in cluster.workers.values() if worker.pid]
                    if pids and not ended.is_set():
                        os.kill(draw.choice(pids), signal.SIGKILL)
                        killed += 1

                thread = threading.Thread(target=kill)
                thread.start()
                same += learned() == alone
                ended.set()
                thread.join()
                done += 1
    return {"fits": done, "killed": killed, "same": same}


def _all_there(client: Any) -> bool:
    """Whether the killed worker was started again; Dask may not do so if it was killed while starting."""
    try:
        client.wait_for_workers(2, timeout=20)
    except TimeoutError:
        return False
    return True


def worker_added(corpus_file: Path) -> dict[str, int]:
    """Fits during which a third worker joins."""
    from topicfold import PLSA, Corpus, on_cluster

    corpus = Corpus.load(corpus_file)

    def learned() -> str:
        model = PLSA(50, max_iter=60, tol=0, random_state=0, init="random", verbose=False).fit(corpus)
        return _digest([model.topic_word_, model.doc_topic_, model.history_])

    alone, same, joined = learned(), 0, 0
    with _running() as (cluster, client), on_cluster(client):
        for _ in range(5):
            thread = threading.Timer(0.5, lambda: cluster.scale(3))
            thread.start()
            same += learned() == alone
            joined += len(client.nthreads()) == 3
            cluster.scale(2)
            time.sleep(1)
    return {"fits": 5, "joined": joined, "same": same}


_FIT = """
import sys
from topicfold import PLSA, Corpus, on_cluster
from topicfold.engine import loop
loop.CHECKPOINT_SECONDS = 0
address, corpus, out, checkpoint = sys.argv[1:]
with on_cluster(address):
    model = PLSA(50, max_iter=25, tol=0, random_state=0, init="random", verbose=False, checkpoint=checkpoint)
    model.fit(Corpus.load(corpus)).save(out)
"""


def clients_killed(corpus_file: Path) -> dict[str, int]:
    """Clients killed at a random moment and started again to finish the fit: how many fits have identical results."""
    from topicfold import PLSA, Corpus, load

    corpus = Corpus.load(corpus_file)
    model = PLSA(50, max_iter=25, tol=0, random_state=0, init="random", verbose=False).fit(corpus)
    draw, same, killed, resumed = random.Random(0), 0, 0, 0
    with _running() as (cluster, _), tempfile.TemporaryDirectory() as folder:
        for number in range(N_CLIENTS):
            out, checkpoint = Path(folder, f"{number}.safetensors"), Path(folder, f"{number}.checkpoint")
            words = [sys.executable, "-c", _FIT, cluster.scheduler_address, corpus_file, out, checkpoint]
            process = subprocess.Popen(list(map(str, words)))
            while not checkpoint.exists() and process.poll() is None:
                time.sleep(0.05)
            try:
                process.wait(draw.uniform(0, 2.0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
                resumed += checkpoint.exists()
            if not out.exists():
                subprocess.run(list(map(str, words)), check=True)
            fitted = load(out)
            same += np.array_equal(fitted.topic_word_, model.topic_word_) and np.array_equal(
                fitted.doc_topic_, model.doc_topic_
            )
    return {"fits": N_CLIENTS, "killed": killed, "with a checkpoint": resumed, "same": int(same)}


# ---- what it costs --------------------------------------------------------------------------------------------------


def one_task() -> dict[str, float]:
    """CPU seconds of client and scheduler, and of workers, per task that does nothing; mean of a thousand."""
    with _running() as (_, client):
        client.gather(client.map(abs, range(100), pure=False))
        before, own_cpu, wall = _worker_cpu(client), time.process_time(), time.perf_counter()
        client.gather(client.map(abs, range(1000), pure=False))
        return {
            "client and scheduler": (time.process_time() - own_cpu) / 1000,
            "workers": (_worker_cpu(client) - before) / 1000,
            "wall": (time.perf_counter() - wall) / 1000,
        }


def cost(model: str, corpus_file: Path, n_steps: int = 4) -> dict[str, float]:
    """CPU seconds, bytes and memory of a step, in this process and on two workers with one thread each."""
    from topicfold import Corpus, on_cluster
    from topicfold.engine.distributed import cluster as cluster_module

    counts = Corpus.load(corpus_file, memory_map=True).counts
    step, state = _step(model, counts)
    step(state)
    own_cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(n_steps):
        step(state)
    costs: dict[str, float] = {
        "in process": (time.process_time() - own_cpu) / n_steps,
        "in process, wall": (time.perf_counter() - wall) / n_steps,
        "cells": int(counts.nnz),
        "documents": counts.shape[0],
        "words": counts.shape[1],
    }
    sent = {"files": 0.0, "tables": 0.0, "tasks": 0.0}
    with _running() as (_, client), on_cluster(client), _counted(cluster_module, sent):
        step, state = _step(model, counts)
        idle = max(client.run(_rss).values())
        step(state)
        sent.update(dict.fromkeys(sent, 0.0))
        before, own_cpu, wall = _worker_cpu(client), time.process_time(), time.perf_counter()
        for _ in range(n_steps):
            step(state)
        costs |= {
            "client": (time.process_time() - own_cpu) / n_steps,
            "workers": (_worker_cpu(client) - before) / n_steps,
            "wall": (time.perf_counter() - wall) / n_steps,
            "peak": max(client.run(_peak).values()) - idle,
            **{name: value / n_steps for name, value in sent.items()},
        }
        bring = [table for table in state.values() if table.ndim == 2 and len(table) == counts.shape[0]]
        costs["rows"] = float(sum(table.nbytes for table in bring))
        cluster_module.gather(tuple(state.values()), forget=True)
    costs["table"] = float(state["word_topic"].nbytes if model != "TTMM" else counts.shape[1] * 200 * 4)
    return costs


def _step(model: str, counts: Any) -> tuple[Callable[[Any], Any], Any]:
    from topicfold import LDA, PLSA
    from topicfold.engine.arrays import normalise_rows
    from topicfold.models.em.plsa_kernels import counts_of_seeds
    from topicfold.models.ttmm.theme_em import ThemeStep

    counts = counts if counts.dtype == np.float32 else counts.astype(np.float32)
    if model == "TTMM":
        rng = np.random.default_rng(0)
        state = {
            "theme_weight": np.full(200, 1 / 200, np.float32),
            "theme_topic": normalise_rows(rng.random((200, 100)).astype(np.float32)),
            "word_topic": np.ascontiguousarray(normalise_rows(rng.random((100, counts.shape[1])).astype(np.float32)).T),
        }
        return ThemeStep(counts, 200, 0.01, np.full(counts.shape[0], -1), 1), state
    estimator = (PLSA if model == "PLSA" else LDA)(100, init="random", random_state=0, n_jobs=1, verbose=False)
    estimator.n_features_in_, estimator.vocabulary_ = counts.shape[1], None
    state = estimator._start(counts, np.random.RandomState(0))
    return estimator._step(counts, counts_of_seeds({}, 0.0, counts.dtype)), state


@contextmanager
def _counted(module: Any, sent: dict[str, float]) -> Iterator[None]:
    """Count the bytes that the client writes for workers, the summed tables, and the tasks."""
    write, submit = module.write_array, module.Cluster._submit_plain

    def counted_write(path: Path, array: np.ndarray) -> Any:
        sent["files"] += array.nbytes
        return write(path, array)

    def counted_submit(self: Any, run: Callable[..., Any], *arguments: Any) -> Any:
        sent["tasks"] += 1
        sent["tables"] += run.__name__ == "add_up"
        return submit(self, run, *arguments)

    module.write_array, module.Cluster._submit_plain = counted_write, counted_submit
    try:
        yield
    finally:
        module.write_array, module.Cluster._submit_plain = write, submit


def _worker_cpu(client: Any) -> float:
    return float(sum(client.run(_cpu).values()))


def _cpu() -> float:
    times = os.times()
    return times.user + times.system


def _rss() -> int:
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return resident("VmRSS")


def _peak() -> int:
    return resident("VmHWM")


if __name__ == "__main__":
    from benchmarks.cluster import main as run  # functions are called by the name of their module

    run()

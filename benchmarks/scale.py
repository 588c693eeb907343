"""How time and memory grow with the documents: from a file of texts to a page, for 10,000 to a million paragraphs.

Each number is from a fresh process. `python -m benchmarks.scale --data FOLDER` runs what is missing, stores every
result as a line of JSON as soon as it is known, and writes docs/results/scale.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from .common import PLAIN_TEXTS, Row, Setting, fresh, installed, resident, seconds
from .figures import draw_scale
from .paragraphs import cached_paragraphs

SIZES = (10_000, 100_000, 300_000, 1_000_000)
PEER_SIZE = 100_000
ITERATIONS = 30
READING = {"min_df": 5, "max_df": 0.5, "max_words": 50_000, **PLAIN_TEXTS}
COLUMNS = {"id": "id", "title": "title", "labels": "source", "timestamp": "date"}
FITS: dict[str, tuple[str, dict[str, Any]]] = {
    "PLSA, K=100": ("PLSA", {"n_topics": 100, "max_iter": ITERATIONS, "tol": 0}),
    "LDA, K=100": ("LDA", {"n_topics": 100, "max_iter": ITERATIONS, "tol": 0}),
    "TTMM, 200 themes, K=100": ("TTMM", {"n_themes": 200, "n_topics": 100, "max_iter": ITERATIONS, "tol": 0}),
    "HLTA, 1,000 words": ("HLTA", {"max_words": 1_000, "min_df": 5}),
    "LTM, K=50, with its graph": ("LTM", {"n_topics": 50, "graph_weight": 3.0, "max_iter": ITERATIONS, "tol": 0}),
    "LapPLSI, K=50, with its graph": ("LapPLSI", {"n_topics": 50, "graph_weight": 3.0, "max_iter": 10, "tol": 0}),
}
_QUIET = 2.5  # load average, of which two are our own processes
IN_MEMORY = ("LTM", "LapPLSI")  # these need all documents in memory
PEERS = ("tomotopy LDA, K=100, 30 sweeps", "scikit-learn LDA online, one pass", "gensim LDA, one pass")
# CPU minutes and GB for a million documents, with reading and the page
GOALS = {"PLSA": (6, 2), "LDA": (11, 2), "TTMM": (15, 2), "HLTA": (3, 2), "LTM": (30, 6)}


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("TOPICFOLD_DATA"), help="benchmark corpora")
    parser.add_argument("--folder", type=Path, required=True, help="folder for the generated corpora, 3 GB")
    parser.add_argument("--out", type=Path, default=Path("docs/results/scale.md"))
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--only", nargs="*", help="only results whose name begins with one of these")
    parser.add_argument("--so-far", action="store_true", help="run nothing; write the page of the results so far")
    options = parser.parse_args()
    from .__main__ import _machine, _versions

    options.folder.mkdir(parents=True, exist_ok=True)
    log = options.out.with_suffix(".jsonl")
    done, made = _read(log)
    for what, size in _cells(options.sizes):
        is_selected = not options.only or any(what.startswith(name) for name in options.only)
        if (what, size) in done or options.so_far or not is_selected:
            continue
        figures = measure(what, size, options.folder, options.data and Path(options.data))
        done[what, size] = figures
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "size": size, **figures}) + "\n")
        print(what, size, figures, flush=True)
        made = f"{date.today().isoformat()}. {_machine()}. {_versions()}."
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps({"made": made}) + "\n")
    picture = options.out.with_suffix(".png")
    draw_scale(done, picture)
    options.out.write_text(page(done, made, picture.name), encoding="utf-8")


def rows(setting: Setting) -> Iterator[Row]:
    """Rows for `make bench`: only small sizes; the large ones have their own page."""
    import tempfile

    data = setting.file.parents[1] if setting.file else None
    sizes = (2_000, 6_000) if setting.quick else (10_000, 30_000)
    with tempfile.TemporaryDirectory() as folder:
        for what in ("reading", *FITS):
            figures_by_size = [measure(what, size, Path(folder), data) for size in sizes]
            times, peak = [figures["cpu"] for figures in figures_by_size], figures_by_size[-1]["peak"]
            power = math.log(times[1] / times[0]) / math.log(sizes[1] / sizes[0])
            yield Row(
                f"{what}: {sizes[1]:,} documents", seconds(times[1]), "", "", "", None, f"grows like N^{power:.2f}",
                f"{what} at {sizes[1]:,} documents: peak {peak:,.0f} MB",
            )  # fmt: skip


def measure(what: str, size: int, folder: Path, data: Path | None) -> dict[str, float]:
    """CPU seconds, peak memory in MB, and further values of a result."""
    texts = cached_paragraphs(folder, size, data)
    corpus = folder / f"corpus-{size}.safetensors"
    if what.startswith("reading"):
        return fresh(_read_corpus, str(texts), str(corpus), 2 if "processes" in what else 1)
    if not corpus.exists():
        fresh(_read_corpus, str(texts), str(corpus), 1)
    if what.startswith("page"):
        model = folder / f"PLSA-{size}.safetensors"
        if not model.exists():
            fresh(_fit, "PLSA, K=100", str(corpus), str(model))
        return fresh(_explore, str(corpus), str(model), str(folder / "page.html"))
    if what in PEERS:
        return fresh(_peer, what, str(corpus))
    name = FITS[what][0]
    fresh(_compile, what)
    return fresh(_fit, what, str(corpus), str(folder / f"{name}-{size}.safetensors"))


def _cells(sizes: list[int]) -> Iterator[tuple[str, int]]:
    for size in sizes:
        for what in ("reading", "reading, 2 processes", *FITS, "page of PLSA"):
            yield what, size
        if size == PEER_SIZE:
            yield from ((peer, size) for peer in PEERS)


# ---- in fresh processes ---------------------------------------------------------------------------------------------


def _used(started: float, begun: float) -> dict[str, float]:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = time.process_time() - started + children.ru_utime + children.ru_stime
    load = os.getloadavg()[0]
    return {"cpu": cpu, "wall": time.monotonic() - begun, "peak": resident("VmHWM") / 1e6, "load": load}


def _read_corpus(texts: str, out: str, n_jobs: int) -> dict[str, float]:
    from topicfold import Corpus

    started, begun = time.process_time(), time.monotonic()
    corpus = Corpus.read(texts, **COLUMNS, **READING, keep_texts=True, n_jobs=n_jobs, on_disk=out, verbose=False)
    if n_jobs > 1:  # only processes that have ended are counted
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)
    return {**_used(started, begun), "cells": corpus.counts.nnz, "words": corpus.counts.shape[1]}


def _fit(what: str, corpus_file: str, out: str) -> dict[str, float]:
    import topicfold

    name, parameters = FITS[what]
    model = getattr(topicfold, name)(random_state=0, n_jobs=1, verbose=False, **parameters)
    corpus = topicfold.Corpus.load(corpus_file, memory_map=name not in IN_MEMORY)
    started, begun = time.process_time(), time.monotonic()
    model.fit(corpus)
    figures = _used(started, begun)
    model.save(out)
    return {**figures, "steps": model.n_iter_}


def _compile(what: str) -> None:
    """A tiny fit that puts the kernels in the cache: compiling takes time and memory, but only once for a user."""
    import numpy as np

    import topicfold

    name, parameters = FITS[what]
    small = {"n_topics": 2, "n_themes": 2, "max_iter": 2, "max_words": None, "min_df": 1}
    known = {key: small.get(key, value) for key, value in parameters.items()}
    counts = np.random.default_rng(0).poisson(0.5, (200, 30)) + np.eye(200, 30, dtype=int)
    corpus = topicfold.Corpus.from_counts(counts, [f"word{number}" for number in range(30)])
    getattr(topicfold, name)(random_state=0, verbose=False, **known).fit(corpus).score(corpus)


def _explore(corpus_file: str, model_file: str, out: str) -> dict[str, float]:
    from topicfold import Corpus, load
    from topicfold.report import build_report

    corpus, model = Corpus.load(corpus_file, memory_map=True), load(model_file)
    before = resident("VmRSS") / 1e6
    started, begun = time.process_time(), time.monotonic()
    build_report(model, corpus).save(out)
    figures = _used(started, begun)
    return {**figures, "added": figures["peak"] - before, "page": Path(out).stat().st_size / 1e6}


def _peer(what: str, corpus_file: str) -> dict[str, float]:
    from topicfold import Corpus

    corpus = Corpus.load(corpus_file, memory_map=False)
    package = {"t": "tomotopy", "s": "sklearn", "g": "gensim"}[what[0]]
    if not installed(package):
        return {"cpu": math.nan, "wall": math.nan, "peak": math.nan}
    counts = corpus.counts
    started, begun = time.process_time(), time.monotonic()
    if package == "sklearn":
        from sklearn.decomposition import LatentDirichletAllocation

        LatentDirichletAllocation(100, learning_method="online", max_iter=1, random_state=0).fit(counts)
    elif package == "gensim":
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LdaModel

        LdaModel(Sparse2Corpus(counts.tocsr(), documents_columns=False), num_topics=100, random_state=0)
    else:
        import numpy as np
        import tomotopy

        model = tomotopy.LDAModel(k=100, seed=0)
        for first, last in zip(counts.indptr, counts.indptr[1:]):
            words = np.repeat(counts.indices[first:last], counts.data[first:last])
            if len(words):
                model.add_doc([str(word) for word in words])
        model.train(30, workers=1)
    return _used(started, begun)


# ---- the page -------------------------------------------------------------------------------------------------------


def _read(log: Path) -> tuple[dict[tuple[str, int], dict[str, float]], str]:
    """The figures, and when and on what machine the last of them was measured."""
    figures, made = {}, ""
    if log.exists():
        for line in log.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "made" in row:
                made = row["made"]
            else:
                figures[row.pop("what"), row.pop("size")] = row
    return figures, made


def page(done: dict[tuple[str, int], dict[str, float]], made: str, picture: str) -> str:
    """All results as Markdown."""
    sizes = sorted({size for _, size in done})
    names = list(dict.fromkeys(what for what, _ in done))
    texts = f"about {_cells_per_document(done):.0f} different words from real texts (benchmarks/paragraphs.py)"
    storage = "LTM and LapPLSI have the corpus in memory; the others leave it on disk."
    lines = [
        "# Scale",
        "",
        "How time and memory grow with the number of documents: reading a file of texts, fitting a model, and building",
        "the page of the explorer, for 10,000 to a million paragraphs. The columns are numbers of documents.",
        "",
        "Generated by `python -m benchmarks.scale --data DATA --folder FOLDER`; do not edit.",
        "",
        f"- {made}",
        f"- Paragraphs of {texts}, a vocabulary of at most {READING['max_words']:,} words.",
        f"- {ITERATIONS} iterations; LapPLSI 10, HLTA until it stops.",
        f"- Each cell: CPU seconds of one thread / peak MB of a process that did nothing else. {storage}",
        f"- The exponent is the growth of the CPU time between the last two sizes: 1 is linear. {_loads(done)}",
        "",
        f"![CPU time and peak memory by number of documents]({picture})",
        "",
        "| | " + " | ".join(f"{size:,}" for size in sizes) + " | exponent |",
        "|---|" + "---|" * (len(sizes) + 1),
    ]
    for name in names:
        cells = [_cell(done.get((name, size))) for size in sizes]
        lines.append(f"| {name} | " + " | ".join([*cells, _power(done, name, sizes)]) + " |")
    lines += ["", *_goals(done)]
    return "\n".join(lines) + "\n"


def _loads(done: dict[tuple[str, int], dict[str, float]]) -> str:
    """Whether the machine was busy, which also increases CPU seconds."""
    busy = [figures.get("load", math.inf) for figures in done.values()]
    return "" if max(busy, default=0) < _QUIET else "Most measurements ran alongside other work on the same two cores."


def _cells_per_document(done: dict[tuple[str, int], dict[str, float]]) -> float:
    return max((figures["cells"] / size for (what, size), figures in done.items() if "cells" in figures), default=0)


def _cell(figures: dict[str, float] | None) -> str:
    if figures is None:
        return ""
    more = f" (page {figures['page']:.0f} MB, {figures['added']:,.0f} MB added)" if "page" in figures else ""
    return f"{figures['cpu']:,.1f} / {figures['peak']:,.0f}{more}"


def _power(done: dict[tuple[str, int], dict[str, float]], name: str, sizes: list[int]) -> str:
    known = [(size, done[name, size]["cpu"]) for size in sizes if (name, size) in done]
    if len(known) < 2:
        return ""
    (small, before), (large, after) = known[-2:]
    return f"{math.log(after / before) / math.log(large / small):.2f}"


def _goals(done: dict[tuple[str, int], dict[str, float]]) -> list[str]:
    """Reading, fit and page of a million documents compared with the goals; memory from 300,000 to a million."""
    lines, large, middle = [], SIZES[-1], SIZES[-2]
    around = [done.get((what, large)) for what in ("reading", "page of PLSA")]
    for what, (name, _) in FITS.items():
        fit = done.get((what, large))
        if name not in GOALS or fit is None or None in around:
            continue
        minutes, memory = GOALS[name]
        parts = [fit, *(figures for figures in around if figures)]
        total, peak = sum(part["cpu"] for part in parts) / 60, fit["peak"] / 1e3
        met = "met" if total <= minutes and peak <= memory else "MISSED"
        lines.append(
            f"- {what}, a million documents from the file of texts to the page: {total:.1f} CPU minutes (goal "
            f"{minutes}), peak of the fit {peak:.2f} GB (goal {memory}): {met}."
        )
        if (what, middle) in done:
            lines.append(
                f"  Peak memory is {fit['peak'] / done[what, middle]['peak']:.2f} times that of 300,000 documents."
            )
    two, one = done.get(("reading, 2 processes", large)), done.get(("reading", large))
    if two and one:
        quiet = max(one.get("load", 9), two.get("load", 9)) < _QUIET
        speed = (
            f"{one['wall'] / two['wall']:.2f}x the speed of one" if quiet else "not measurable, the machine was busy"
        )
        lines.append(f"- Reading in two processes (wall time): {speed}.")
    return lines


if __name__ == "__main__":
    from benchmarks.scale import main as run  # functions are called by the name of their module

    run()

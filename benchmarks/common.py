"""Shared by all subjects: corpora, clocks, fresh processes, memory, and the rows of the table."""

from __future__ import annotations

import gc
import gzip
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NEWSGROUPS = Path("20newsgroups_raw", "docs.jsonl.gz")
SEED = 0
_DEMO_DOCUMENTS = 18_000
_QUICK_DOCUMENTS = 2_000
_QUOTED = re.compile(r"^\s*[>|:]|^In article\b|\b(?:writes|wrote|says):\s*$")


@dataclass(frozen=True)
class Row:
    """One line of the table; `met` is None if there is no goal or no answer."""

    name: str
    ours: str
    peer: str = ""
    ratio: str = ""
    goal: str = ""
    met: bool | None = None
    remark: str = ""  # shown instead of 'yes' or 'no'
    detail: str = ""  # shown below the table


def at_least(name: str, ours: float, peer: float, goal: float, show: Callable[[float], str]) -> Row:
    """A row with the goal that the peer takes at least `goal` times as much as we do."""
    ratio = peer / ours
    return Row(name, show(ours), show(peer), f"{ratio:.2f}x", f">= {goal:g}x", ratio >= goal)


def at_most(name: str, ours: float, peer: float, goal: float, show: Callable[[float], str], text: str = "") -> Row:
    """A row with the goal that we take at most `goal` times as much as the peer."""
    ratio = ours / peer
    return Row(name, show(ours), show(peer), f"{ratio:.3g}x", text or f"<= {goal:g}x", ratio <= goal)


def missing(name: str, peer: str) -> Row:
    """A row for a peer that is not installed."""
    return Row(name, "", peer, remark="peer not installed")


def installed(package: str) -> bool:
    """Whether the peer can be imported."""
    return find_spec(package) is not None


def seconds(value: float) -> str:
    """1.23 s, or 45.6 ms."""
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def megabytes(value: float) -> str:
    """123 MB, where 1 MB is a million bytes."""
    return f"{value / 1e6:,.0f} MB"


def note(message: str) -> None:
    """Print a line about the progress to stderr."""
    print(message, file=sys.stderr, flush=True)


# ---- clocks ---------------------------------------------------------------------------------------------------------


def cpu(run: Callable[[], Any]) -> float:
    """CPU seconds of one call, all threads of this process."""
    gc.collect()
    started = time.process_time()
    run()
    return time.process_time() - started


def a_step(run: Callable[[int], Any], few: int, many: int) -> float:
    """CPU seconds of one iteration, from two runs of different length, so that work done once cancels out."""
    short = cpu(lambda: run(few))
    return (cpu(lambda: run(many)) - short) / (many - few)


def alternating(*measures: Callable[[], float], repeats: int) -> list[float]:
    """The median of each measure, taken in turns, so that other load on the machine affects all of them."""
    taken = [[measure() for measure in measures] for _ in range(repeats)]
    return [median(column) for column in zip(*taken)]


# ---- fresh processes and memory -------------------------------------------------------------------------------------


def fresh(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of this package in a new interpreter; arguments and result are passed as JSON."""
    code = (
        f"import json, sys; from {function.__module__} import {function.__qualname__} as f; "
        "print(json.dumps(f(*json.loads(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", code, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def can_measure_memory() -> bool:
    """Whether peak memory can be read and reset, as on Linux."""
    return os.access("/proc/self/clear_refs", os.W_OK)


def resident(field: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at its peak."""
    match = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"), re.MULTILINE)
    assert match is not None
    return int(match[1]) * 1024


def added_memory(run: Callable[[], Any]) -> int:
    """Peak resident bytes during a call minus those before it."""
    import ctypes

    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # memory that was freed but not returned would be reused without being counted
        trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before = resident("VmRSS")
    run()
    return resident("VmHWM") - before


# ---- corpora --------------------------------------------------------------------------------------------------------

# How texts become words is part of a benchmark: new defaults of the package do not change earlier numbers.
PLAIN_TEXTS: dict[str, Any] = {"stop_words": "english", "clean": False}
ALL_WORDS: dict[str, Any] = {"min_df": 1, "max_df": 1.0}


class Setting:
    """Where the data is, how much of it to use, and the corpora made from it, each made once."""

    def __init__(self, data: Path | None, quick: bool) -> None:
        self.quick = quick
        self.file = data / NEWSGROUPS if data is not None else None
        if self.file is not None and not self.file.exists():
            raise SystemExit(f"no such file: {self.file}; pass the folder that contains {NEWSGROUPS} with --data")

    def repeats(self, full: int, quick: int = 3) -> int:
        """How often to measure."""
        return quick if self.quick else full

    @property
    def name(self) -> str:
        """A description of the corpus, for people."""
        what = "20 Newsgroups" if self.file else "bundled demo corpus, documents joined in random pairs"
        return what + (f", the first {_QUICK_DOCUMENTS:,} documents (--quick)" if self.quick else "")

    @cached_property
    def raw_texts(self) -> list[str]:
        """The texts, unchanged."""
        if self.file is None:
            from topicfold.datasets import load_demo

            draw = random.Random(SEED)
            texts = list(load_demo().texts or ())
            all_texts = ["\n\n".join(draw.choices(texts, k=2)) for _ in range(_DEMO_DOCUMENTS)]
        else:
            with gzip.open(self.file, "rt", encoding="utf-8") as lines:
                all_texts = [json.loads(line)["text"] for line in lines]
            random.Random(SEED).shuffle(all_texts)
        return all_texts[:_QUICK_DOCUMENTS] if self.quick else all_texts

    @cached_property
    def texts(self) -> list[str]:
        """The texts without news headers and quoted lines."""
        return [_body(text) for text in self.raw_texts] if self.file else self.raw_texts

    @cached_property
    def corpus(self) -> Any:
        """About 13,000 words and a million non-zeros of 20 Newsgroups; no document is empty."""
        from topicfold import Corpus

        options = {"min_df": 12, "max_df": 0.06} if self.file and not self.quick else {"min_df": 4, "max_df": 0.1}
        corpus = Corpus.from_texts(self.texts, **options, **PLAIN_TEXTS)
        return corpus.subset(corpus.counts.sum(axis=1) > 0)

    @property
    def size(self) -> str:
        """The size of the corpus, for people."""
        counts = self.corpus.counts
        return (
            f"{counts.shape[0]:,} documents, {counts.shape[1]:,} words, {counts.nnz:,} non-zeros, "
            f"{int(counts.sum()):,} tokens"
        )


def _body(post: str) -> str:
    text = post.partition("\n\n")[2]
    return "\n".join(line for line in text.split("\n") if not _QUOTED.search(line))


def em_runner(counts: Any, n_topics: int, dtype: str, init: str = "random", n_jobs: int | None = None) -> Any:
    """A function that returns a new (step, state) from the same start; step(*state) is one of our EM iterations."""
    import numpy as np

    from topicfold.models.em.plsa_kernels import EMStep, padded
    from topicfold.models.em.starts import start

    counts = counts.astype(dtype)
    doc_topic, topic_word = start(counts, n_topics, init, np.random.RandomState(SEED), {})
    no_prior = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, dtype))

    def anew() -> tuple[Any, tuple[Any, Any]]:
        state = padded(doc_topic, dtype), padded(topic_word.T, dtype)
        return EMStep(counts, n_topics, n_jobs, 0.0, no_prior), state

    return anew


def top_words(topic_word: Any, n_words: int) -> Sequence[Sequence[int]]:
    """Columns of the most probable words of each topic, best first."""
    import numpy as np

    return np.argsort(-topic_word, axis=1, kind="stable")[:, :n_words].tolist()

"""LDCC: tokens per second against tomotopy's LDA and PA, cost of a sweep, memory, and two chains on two cores."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .common import (
    PLAIN_TEXTS,
    SEED,
    Row,
    Setting,
    added_memory,
    alternating,
    at_least,
    at_most,
    can_measure_memory,
    cpu,
    fresh,
    installed,
    megabytes,
    missing,
    note,
    seconds,
)
from .threads import _MOST_OTHER_LOAD, _WAIT_SECONDS, _busy_seconds, _wait_for_quiet

_NIPS = "nips12_raw"
_TOKENS, _QUICK_TOKENS = 750_000, 60_000
_TOPICS, _CLUSTERS = 100, 20
_GROWN_TOPICS = (25, 50, 100, 200, 400)
_SWEEPS, _QUICK_SWEEPS = 60, 10
_PA_SWEEPS, _QUICK_PA_SWEEPS = 15, 3  # a sweep of PA takes seconds
_GOAL_RATE, _GOAL_PA, _GOAL_CHAINS = 6e6, 30.0, 1.2
_ROOM = 1.1


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    corpus, name = _corpus(setting)
    yield from _rates(corpus, name, setting)
    yield from _growth(corpus, setting)
    yield from _memory(corpus, setting)
    yield _two_chains(corpus, setting)


def _corpus(setting: Setting) -> tuple[Any, str]:
    """Documents in segments: papers in blocks of 150 tokens or, without them, the common corpus in paragraphs."""
    home = None if setting.file is None or setting.quick else setting.file.parents[1]
    if home is not None and (home / _NIPS).is_dir():
        from experiments.ldcc.segmented_data import FILTERS, MERGED, read

        corpus, name = read(_NIPS, home, {**FILTERS, "tokens a segment": MERGED}), "NIPS"
    else:
        from topicfold import Corpus

        corpus = Corpus.from_texts(setting.texts, segments="paragraphs", min_df=4, max_df=0.1, **PLAIN_TEXTS)
        name = setting.name
    return _some(corpus, _QUICK_TOKENS if setting.quick else _TOKENS), name


def _some(corpus: Any, n_tokens: int) -> Any:
    """The first documents in a random order, up to about `n_tokens` tokens."""
    order = np.random.default_rng(SEED).permutation(len(corpus))
    upto = np.cumsum(corpus.counts.sum(axis=1)[order])
    return corpus.subset(order[: max(1, int(np.searchsorted(upto, n_tokens)))])


class _Chain:
    """A chain after some sweeps, during which alpha was learned."""

    def __init__(self, corpus: Any, n_topics: int, n_sweeps: int) -> None:
        from topicfold import LDCC
        from topicfold.models.ldcc.chains import Chains, Schedule, chain_of
        from topicfold.models.ldcc.sampler import Sampler

        counts = corpus.segments.counts.astype(np.float64)
        model = LDCC()
        self.sampler = Sampler(counts, corpus.segments.documents, _CLUSTERS, n_topics, model.beta, model.delta)
        self.n_tokens = len(self.sampler.tokens)
        # leaves room for the sweeps to be measured
        schedule = Schedule(n_sweeps + 100, n_sweeps, model.lag, model.alpha)
        self.chains = Chains(self.sampler, schedule, n_chains=1, n_jobs=1)
        self.state = self.chains.start(counts, model.init, SEED)
        for _ in range(n_sweeps):
            self.chains.step(self.state)
        self.chain = chain_of(self.state, 0)
        self.tables = self.sampler.tables(self.chain)

    def taken(self) -> float:
        """CPU seconds of a sweep."""
        return cpu(lambda: self.sampler.sweep(self.chain, self.tables))

    def with_likelihood(self) -> float:
        """CPU seconds of a sweep of a fit after burn-in, with the joint likelihood and, in some sweeps, a sample."""
        return cpu(lambda: self.chains.step(self.state))


# ---- tokens per second ----------------------------------------------------------------------------------------------


def _rates(corpus: Any, name: str, setting: Setting) -> Iterator[Row]:
    sweeps = _QUICK_SWEEPS if setting.quick else _SWEEPS
    ours = _Chain(corpus, _TOPICS, sweeps)
    repeats = setting.repeats(9)
    what = f"LDCC, {_TOPICS} word-topics, {_CLUSTERS} document-topics, {ours.n_tokens:,} tokens, after {sweeps} sweeps"
    detail = (
        f"LDCC on {name}: {len(corpus):,} documents, {corpus.segments.counts.shape[0]:,} segments, "
        f"{corpus.counts.shape[1]:,} words. "
    )
    if not installed("tomotopy"):
        (took,) = alternating(ours.taken, repeats=repeats)
        yield _rate(f"{what} ({repeats} runs)", ours.n_tokens / took, setting, detail)
        yield missing(f"{what}, against tomotopy", "tomotopy")
        return
    import tomotopy

    flat = _trained(tomotopy.LDAModel(k=_TOPICS, seed=SEED), corpus, sweeps)
    took, whole, lda = alternating(
        ours.taken, ours.with_likelihood, lambda: cpu(lambda: flat.train(1, workers=1)), repeats=repeats
    )
    detail += (
        f"With the joint likelihood, which a fit computes in each sweep, {ours.n_tokens / whole / 1e6:.1f} million "
        f"tokens per second; tomotopy's plain LDA has {flat.num_words / lda / 1e6:.1f} million."
    )
    yield _rate(f"{what} ({repeats} runs)", ours.n_tokens / took, setting, detail)
    versus = f"{what}, a sweep against tomotopy's"
    peer = f"LDAModel, {_TOPICS} topics ({repeats} runs)"
    yield replace(at_least(f"{versus} {peer}", took, lda, 1.0, seconds), goal="for reference", met=None)
    sweeps = _QUICK_PA_SWEEPS if setting.quick else _PA_SWEEPS
    tree = _trained(tomotopy.PAModel(k1=_CLUSTERS, k2=_TOPICS, seed=SEED), corpus, sweeps)
    repeats = setting.repeats(3, 1)
    took, pa = alternating(ours.taken, lambda: cpu(lambda: tree.train(1, workers=1)), repeats=repeats)
    peer = f"PAModel after {sweeps} sweeps ({repeats} runs)"
    yield at_least(f"{versus} {peer}", took, pa, _GOAL_PA, seconds)


def _rate(name: str, value: float, setting: Setting, detail: str) -> Row:
    text = f"{value / 1e6:.2f} million tokens/s"
    if setting.quick:
        return Row(name, text, detail=detail)
    return Row(name, text, goal=f">= {_GOAL_RATE / 1e6:g} million", met=value >= _GOAL_RATE, detail=detail)


def _trained(model: Any, corpus: Any, n_sweeps: int) -> Any:
    """A tomotopy model after some sweeps over the documents."""
    from topicfold.baselines.tomotopy_models import add_documents

    add_documents(model, corpus.counts)
    model.train(n_sweeps, workers=1)
    return model


# ---- growth ---------------------------------------------------------------------------------------------------------


def _growth(corpus: Any, setting: Setting) -> Iterator[Row]:
    """The cost of a sweep grows in proportion to the tokens, and less than in proportion to the word-topics."""
    sweeps = _QUICK_SWEEPS if setting.quick else _SWEEPS
    repeats = setting.repeats(9)
    n_tokens = int(corpus.counts.sum())
    base, *more = (_Chain(_some(corpus, n_tokens // part), _TOPICS, sweeps) for part in (4, 2, 1))
    for chain in more:
        ours, peer = alternating(chain.taken, base.taken, repeats=repeats)
        growth = chain.n_tokens / base.n_tokens
        name = f"LDCC, a sweep over {chain.n_tokens:,} tokens against {base.n_tokens:,} ({repeats} runs)"
        yield at_most(name, ours, peer, growth * _ROOM, seconds, f"<= {growth:.2f}x plus 10 %")
    half = _some(corpus, n_tokens // 2)
    sizes = _GROWN_TOPICS[:3] if setting.quick else _GROWN_TOPICS
    base, *more = (_Chain(half, n_topics, sweeps) for n_topics in sizes)
    for chain in more:
        ours, peer = alternating(chain.taken, base.taken, repeats=repeats)
        n_topics = chain.sampler.n_topics
        name = f"LDCC, a sweep with {n_topics} word-topics against {sizes[0]}, {half.counts.sum():,} tokens"
        growth = n_topics / sizes[0]
        yield at_most(f"{name} ({repeats} runs)", ours, peer, growth, seconds, f"< {growth:g}x")


# ---- memory ---------------------------------------------------------------------------------------------------------


def _memory(corpus: Any, setting: Setting) -> Iterator[Row]:
    """Memory added by a fit, each in its own process: with four times the tokens, and four times the word-topics."""
    if not can_measure_memory():
        yield Row("LDCC, memory added by a fit", "", remark="needs Linux")
        return
    quarter = _some(corpus, int(corpus.counts.sum()) // 4)
    n_topics = _TOPICS // 4
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, f"{number}.safetensors")) for number in range(2)]
        for file, part in zip(files, (quarter, corpus)):
            part.save(file)
        small, large = (fresh(fit_in_fresh_process, file, n_topics) for file in files)
        wide = fresh(fit_in_fresh_process, files[1], _TOPICS)
    growth = large["items"] / small["items"]
    detail = "; ".join(
        f"{usage['topics']} word-topics, {usage['tokens']:,} tokens: {usage['added'] / usage['tokens']:.0f} bytes per "
        f"token; sampler and chain have {usage['sampler'] / usage['items']:.0f} for each token and non-zero count"
        for usage in (small, large, wide)
    )
    name = (
        f"LDCC, memory added by a fit, {large['tokens']:,} tokens against {small['tokens']:,}, {n_topics} word-topics"
    )
    text = f"<= {growth:.2f}x (growth of tokens and non-zero counts) plus 10 %"
    row = at_most(name, large["added"], small["added"], growth * _ROOM, megabytes, text)
    yield replace(row, detail=f"Memory of LDCC: {detail}.")
    name = f"LDCC, memory added by a fit, {_TOPICS} word-topics against {n_topics}, {large['tokens']:,} tokens"
    yield at_most(name, wide["added"], large["added"], _TOPICS / n_topics, megabytes, f"< {_TOPICS / n_topics:g}x")


def fit_in_fresh_process(file: str, n_topics: int) -> dict[str, float]:
    """Bytes added at the peak of a fit, bytes of the sampler with a chain, tokens, and tokens with non-zero counts."""
    from topicfold import LDCC, Corpus

    corpus = Corpus.load(file)

    def fit(part: Any, n_topics: int) -> None:
        model = LDCC(_CLUSTERS, n_topics, n_sweeps=8, burn_in=6, lag=1, random_state=SEED, n_jobs=1, verbose=False)
        model.fit(part)

    fit(corpus.subset(slice(50)), 3)  # compiles
    added = added_memory(lambda: fit(corpus, n_topics))
    chain = _Chain(corpus, n_topics, 6)
    arrays = [value for value in vars(chain.sampler).values() if isinstance(value, np.ndarray)]
    arrays += [value for name, value in chain.chain.items() if name != "word_topic"]
    return {
        "added": added,
        "topics": n_topics,
        "tokens": chain.n_tokens,
        "items": chain.n_tokens + int(chain.chain["size"].sum()),
        "sampler": sum(array.nbytes for array in arrays),
    }


# ---- two chains -----------------------------------------------------------------------------------------------------


def _two_chains(corpus: Any, setting: Setting) -> Row:
    """Two chains on two cores against one chain on one: wall time, so only on an idle machine."""
    from topicfold import LDCC

    goal = f"<= {_GOAL_CHAINS}x"
    name = f"LDCC, a fit of two chains on two cores against one chain, {_TOPICS} word-topics"
    if (os.cpu_count() or 1) < 2:
        return Row(name, "", goal=goal, remark="not measurable: one core")
    part = _some(corpus, int(corpus.counts.sum()) // 4)
    sweeps = _QUICK_SWEEPS if setting.quick else LDCC().n_sweeps

    def wall(n_chains: int) -> float:
        sizes = {"n_sweeps": sweeps, "burn_in": 2 * sweeps // 3}
        model = LDCC(_CLUSTERS, _TOPICS, **sizes, n_chains=n_chains, n_jobs=n_chains, random_state=SEED, verbose=False)
        started = time.perf_counter()
        model.fit(part)
        return time.perf_counter() - started

    wall(2)
    _wait_for_quiet(0 if setting.quick else _WAIT_SECONDS)
    repeats = setting.repeats(7)
    fastest, others = _watched(lambda: [(wall(1), wall(2)) for _ in range(repeats)])
    one, two = (min(column) for column in zip(*fastest))
    quiet = others <= _MOST_OTHER_LOAD
    load = f"load average {os.getloadavg()[0]:.2f}, cores used by other processes {others:.2f}"
    note(f"  {load}")
    row = at_most(f"{name} (wall time, fastest of {repeats})", two, one, _GOAL_CHAINS, seconds, goal)
    detail = f"Chains of LDCC: {sweeps} sweeps over {int(part.counts.sum()):,} tokens; {load}."
    return replace(
        row, met=row.met if quiet else None, remark="" if quiet else "not measurable: machine busy", detail=detail
    )


def _watched(run: Callable[[], Any]) -> tuple[Any, float]:
    """The result of a call, and the number of cores that other processes used during it."""
    busy, own_cpu, wall = _busy_seconds(), time.process_time(), time.perf_counter()
    result = run()
    own_cpu, wall = time.process_time() - own_cpu, time.perf_counter() - wall
    return result, max(0.0, (_busy_seconds() - busy - own_cpu) / wall) if busy else 0.0

"""An iteration of TTMM against its main operation: one dense product, or one product with the counts."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from .common import SEED, Row, Setting, alternating, at_most, cpu, seconds

_SIZES = ((500, 500, "dense"), (2000, 2000, "dense"), (50, 50, "sparse"), (2000, 50, "sparse"))
_GOALS = {"dense": 4.0, "sparse": 3.0}
_DOCUMENTS = 8800  # the number of training stories in Reuters


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    from topicfold.engine.blocks import single_threaded_libraries

    counts = _counts(setting)
    with single_threaded_libraries():
        for n_themes, n_topics, kind in _SIZES[2:3] if setting.quick else _SIZES:
            yield _beside_its_limit(counts, n_themes, n_topics, kind, setting)
        yield _late(counts, setting)


def _beside_its_limit(counts: Any, n_themes: int, n_topics: int, kind: str, setting: Setting) -> Row:
    step, state = _started(counts, n_themes, n_topics)
    for _ in range(3):
        step(state)
    limit = _limit(counts, n_themes, n_topics, kind)
    repeats = setting.repeats(7 if n_themes * n_topics < 10**6 else 3)
    ours, peer = alternating(lambda: cpu(lambda: step(state)), lambda: cpu(limit), repeats=repeats)
    against = "one product of its tables" if kind == "dense" else "one product with the counts"
    name = f"TTMM iteration, {n_themes} themes, {n_topics} topics, against {against} ({repeats} runs)"
    return at_most(name, ours, peer, _GOALS[kind], seconds)


def _late(counts: Any, setting: Setting) -> Row:
    step, state = _started(counts, 100, 50)
    taken = [cpu(lambda: step(state)) for _ in range(setting.repeats(50, 25))]
    early, late = median(taken[1:10]), median(taken[-10:])
    return at_most(
        "TTMM, last 10 iterations against iterations 2 to 10, 100 themes, 50 topics", late, early, 1.1, seconds
    )


def _counts(setting: Setting) -> Any:
    """The Reuters training stories if available, otherwise as many documents of the common corpus."""
    import numpy as np

    counts = setting.corpus.counts[:_DOCUMENTS]
    if setting.file is not None and (setting.file.parents[1] / "reuters21578_raw").is_dir() and not setting.quick:
        from experiments.corpora import load_benchmark

        counts = load_benchmark("reuters21578_raw", setting.file.parents[1], split="train", min_df=2).counts
        counts = counts[np.flatnonzero(counts.sum(axis=1))]
    return counts.astype(np.float32)


def _started(counts: Any, n_themes: int, n_topics: int) -> tuple[Any, dict[str, Any]]:
    """A step, and tables like those of themes and topics drawn from the data: uneven P(t|h), words of documents."""
    import numpy as np

    from topicfold.models.ttmm.theme_em import ThemeStep

    rng = np.random.RandomState(SEED)
    theme_topic = rng.dirichlet(np.full(n_topics, 0.1), n_themes).astype(np.float32) + np.float32(1e-4)
    chosen = counts[rng.choice(counts.shape[0], n_topics, replace=False)].toarray() + 0.01
    state = {
        "theme_weight": np.full(n_themes, 1 / n_themes, np.float32),
        "theme_topic": theme_topic / theme_topic.sum(axis=1, keepdims=True),
        "word_topic": np.ascontiguousarray((chosen / chosen.sum(axis=1, keepdims=True)).T.astype(np.float32)),
    }
    return ThemeStep(counts, n_themes, 0.1, np.full(counts.shape[0], -1), None), state


def _limit(counts: Any, n_themes: int, n_topics: int, kind: str) -> Any:
    import numpy as np

    rng = np.random.default_rng(SEED)
    if kind == "sparse":
        dense = rng.random((counts.shape[1], n_themes), dtype=np.float32)
        return lambda: counts @ dense
    left = rng.random((counts.shape[1], n_topics), dtype=np.float32)
    right = rng.random((n_topics, n_themes), dtype=np.float32)
    return lambda: left @ right

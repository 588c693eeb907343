"""One EM iteration against enstop and scikit-learn; late iterations against early ones; float32 against float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

from .common import (
    SEED,
    Row,
    Setting,
    a_step,
    alternating,
    at_least,
    at_most,
    cpu,
    em_runner,
    installed,
    missing,
    seconds,
)

# topics: (goal against enstop, goal against NMF, our iterations, a peer's few and many, repeats)
_SIZES: dict[int, tuple[float, float, int, tuple[int, int], int]] = {
    20: (3, 7, 20, (1, 6), 5),
    100: (6, 7, 10, (1, 4), 5),
    500: (15, 12, 4, (1, 2), 3),
}
_MOST_NANOSECONDS = 1.5
_LATE = 1.15
_NEARLY_EQUAL = 1e-4


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    yield from _against_peers(setting)
    yield _late_iterations(setting)
    yield _precision(setting)


def _against_peers(setting: Setting) -> Iterator[Row]:
    counts = setting.corpus.counts.astype(np.float32)
    for n_topics, (goal_enstop, goal_nmf, n_steps, peer_steps, repeats) in _SIZES.items():
        repeats = setting.repeats(repeats)
        peers: dict[str, tuple[float, Callable[[int], Any]]] = {"NMF-KL": (goal_nmf, _nmf(counts, n_topics))}
        if installed("enstop"):
            peers = {"enstop": (goal_enstop, _enstop(counts, n_topics))} | peers
        else:
            yield missing(f"PLSA iteration, K={n_topics}", "enstop")
        ours = _ours(counts, n_topics, n_steps)
        ours()  # compiles, or loads from the cache
        for peer, (goal, run) in peers.items():
            mine, theirs = alternating(
                ours,
                lambda: a_step(run, *peer_steps),  # noqa: B023 - called at once
                repeats=repeats,
            )
            name = f"PLSA iteration, K={n_topics}, float32, against {peer} ({repeats} runs)"
            yield at_least(name, mine, theirs, goal, seconds)
        if n_topics == 100:
            cost = mine / counts.nnz / n_topics * 1e9
            goal_text = f"<= {_MOST_NANOSECONDS}"
            name = "PLSA iteration, K=100, nanoseconds per non-zero and topic"
            yield Row(name, f"{cost:.2f}", "", "", goal_text, cost <= _MOST_NANOSECONDS)


def _ours(counts: Any, n_topics: int, n_steps: int) -> Callable[[], float]:
    anew = em_runner(counts, n_topics, "float32")

    def a_step_of_ours() -> float:
        step, state = anew()
        step(*state)
        return cpu(lambda: [step(*state) for _ in range(n_steps)]) / n_steps

    return a_step_of_ours


def _enstop(counts: Any, n_topics: int) -> Callable[[int], Any]:
    """enstop's loop over its E and M kernels; the log-likelihood is computed only before and after the first step."""
    from enstop.plsa import plsa_fit_inner

    table = counts.tocoo()
    rng = np.random.default_rng(SEED)
    topic_word = _rows(rng.random((n_topics, counts.shape[1]))).astype(np.float32)
    doc_topic = _rows(rng.random((counts.shape[0], n_topics))).astype(np.float32)
    cells = (table.row.astype(np.int32), table.col.astype(np.int32), table.data)
    weights = np.ones(counts.shape[0], np.float32)

    def run(n_iter: int) -> None:
        plsa_fit_inner(*cells, topic_word.copy(), doc_topic.copy(), weights, n_iter, 10**6, 0.0, 1e-32, False)

    # compile on a few cells, so that it is not part of the first run
    few = tuple(part[:100].copy() for part in cells)
    plsa_fit_inner(*few, topic_word.copy(), doc_topic.copy(), weights, 1, 10**6, 0.0, 1e-32, False)
    return run


def _nmf(counts: Any, n_topics: int) -> Callable[[int], Any]:
    from sklearn.decomposition import NMF

    options = {"solver": "mu", "beta_loss": "kullback-leibler", "init": "random", "tol": 0, "random_state": SEED}
    return lambda n_iter: NMF(n_topics, max_iter=n_iter, **options).fit_transform(counts)


def _late_iterations(setting: Setting) -> Row:
    anew = em_runner(setting.corpus.counts, 100, "float32", "nmf")
    repeats = setting.repeats(5)

    def late_and_early() -> tuple[float, float]:
        runs = [anew(), anew()]
        for (step, state), already in zip(runs, (40, 1)):
            for _ in range(already):
                step(*state)
        # in turns, because the load of the machine changes between the start and the end of a fit
        spent = [[cpu(lambda: step(*state)) for step, state in runs] for _ in range(9)]  # noqa: B023 - called at once
        late, early = map(median, zip(*spent))
        return late, early

    late, early = map(median, zip(*(late_and_early() for _ in range(repeats))))
    return at_most(f"PLSA iterations 41-49 against 2-10, K=100, float32 ({repeats} runs)", late, early, _LATE, seconds)


def _precision(setting: Setting) -> Row:
    from topicfold.metrics.completion import log_likelihood

    counts = setting.corpus.counts
    likelihoods = []
    for dtype in ("float32", "float64"):
        step, state = em_runner(counts, 100, dtype)()
        for _ in range(50):
            step(*state)
        doc_topic, word_topic = (values[:, :100].astype(float) for values in state)
        total, _ = log_likelihood(counts, _rows(doc_topic), _rows(word_topic.T))
        likelihoods.append(total / float(counts.sum()))
    apart = abs(likelihoods[0] - likelihoods[1])
    name = "Log-likelihood per token after 50 iterations, float32 against float64, K=100"
    goal = f"within {_NEARLY_EQUAL:g}"
    return Row(
        name, f"{likelihoods[0]:.6f}", f"{likelihoods[1]:.6f}", f"{apart:.1e} apart", goal, apart <= _NEARLY_EQUAL
    )


def _rows(values: np.ndarray) -> np.ndarray:
    return values / values.sum(axis=1, keepdims=True)

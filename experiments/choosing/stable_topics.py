"""Do unstable topics miss in other documents? `python -m experiments.choosing.stable_topics --data FOLDER`.

Stability is measured on one half of a corpus; the other half tells which topics come back in documents never seen.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import spearmanr

from topicfold import LDA
from topicfold.models.resampling import shared_documents

from ..corpora import load_benchmark
from ..results_page import write_page

PREFACE = """LDA with {topics} topics is fitted to half of at most {documents:,} documents, and its stability measured
there (`measure_stability`, {refits} fits to half of that half). Another LDA is fitted to the other half. A topic *is in
the other half* as far as it has documents there in common with the most similar topic of the other LDA: the share of
documents that both have, of those that either has. Means over {splits} splits. Run on {date}.

- correlation: Spearman's, over topics, of stability and of being in the other half
- came back, did not: how far topics are in the other half that came back in at least half of the fits, and those that
  did not, with their number in parentheses
- cost: CPU time of measuring stability, divided by that of the fit

The way to measure (halves or .8 of the documents, documents or words in common, fewer steps) was chosen on the first
two corpora, where halves and documents were at least as good as the others; the others were not looked at before."""
CORPORA: dict[str, dict[str, Any]] = {
    "short_searchsnippets": {},
    "20newsgroups_raw": {"headers": "strip"},
    "short_stackoverflow": {},
    "noticias_es": {},
    "reuters21578_cai": {},
}
N_TOPICS, N_DOCUMENTS, N_REFITS, SPLITS = 30, 6000, 5, (0, 1)


def figures(counts: sp.csr_array, split: int) -> list[float]:
    """Correlation; means and numbers of topics that came back and of others; cost."""
    shuffled = np.random.RandomState(split).permutation(counts.shape[0])
    here, there = (counts[np.sort(rows)] for rows in np.array_split(shuffled, 2))
    started = time.process_time()
    model = LDA(N_TOPICS, random_state=split, verbose=False).fit(here)
    fitted = time.process_time()
    model.measure_stability(here, n_refits=N_REFITS)
    cost = (time.process_time() - fitted) / (fitted - started)
    other = LDA(N_TOPICS, random_state=split + 100, verbose=False).fit(there)
    in_other_half = shared_documents(model.transform(there), other.doc_topic_).max(axis=1)
    back = model.topic_returns_ >= 0.5
    means = [float(in_other_half[rows].mean()) if rows.any() else np.nan for rows in (back, ~back)]
    return [spearmanr(model.topic_stability_, in_other_half)[0], *means, back.sum(), (~back).sum(), cost]


def page(folder: Path) -> str:
    """The page, with one line per corpus."""
    today = datetime.now(UTC).date().isoformat()
    sizes = {"topics": N_TOPICS, "documents": N_DOCUMENTS, "refits": N_REFITS, "splits": len(SPLITS)}
    lines = ["# Stability of topics", "", "    python -m experiments.choosing.stable_topics --data DATA", ""]
    lines += [PREFACE.format(date=today, **sizes), "", "| corpus | correlation | came back | did not | cost |"]
    lines.append("|---" * 5 + "|")
    for name, options in CORPORA.items():
        corpus = load_benchmark(name, folder, **options)
        rows = np.sort(np.random.RandomState(0).permutation(len(corpus))[:N_DOCUMENTS])
        counts = sp.csr_array(corpus.counts)[rows]
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        counts = counts[:, np.flatnonzero((frequency >= 3) & (frequency <= 0.5 * len(rows)))]
        runs = np.array([figures(counts, split) for split in SPLITS])
        correlation, back, others, n_back, n_others, cost = np.nanmean(runs, axis=0)
        cells = f"{correlation:.2f} | {back:.2f} ({n_back:g}) | {others:.2f} ({n_others:g}) | {cost:.1f} |"
        lines.append(f"| {name} | {cells}")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_page("stability.md", page, __doc__)

"""Are the documents of a topic typical? `python -m experiments.choosing.typical_documents --data FOLDER`.

The same fits, with the documents of a topic by membership alone and as the package lists them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold import LDA
from topicfold.corpus.corpus import Corpus
from topicfold.corpus.weighting import tfidf
from topicfold.topics.typical import most_typical

from ..corpora import load_benchmark
from ..results_page import write_page

PREFACE = """Which ten documents does a topic show? LDA with {topics} topics on at most {documents:,} documents per
corpus, means over seeds {seeds}. *Membership*: the documents with the largest share of the topic. *Typical*: as the
package lists them, by the share times `TopicTree.typicality`: how near the document is to the centres of its topics,
less if it is short. Both list at most one of a group of copies. Run on {date}.

- class: the share of the ten that have the majority class of the topic's documents
- words: the median number of tokens of the ten, next to that of the corpus
- cosine: the mean cosine of tf-idf of the pairs among the ten
- share: the mean share of the topic in the ten

The rule was chosen among weights of this kind (other centres, presence of words instead of their number) on the first
four corpora. Then it was seen that titles of two words lead topics of Stack Overflow: on the first five corpora,
documents shorter than the median were made to count less. The first four of the other corpora had been measured once
before that; the last two had not been looked at."""
DEVELOPMENT: dict[str, dict[str, Any]] = {
    "short_searchsnippets": {},
    "agnews": {},
    "20newsgroups_raw": {"headers": "strip"},
    "yahoo_wap": {},
    "short_stackoverflow": {},
}
UNSEEN: dict[str, dict[str, Any]] = {
    "noticias_es": {},
    "tdt2_cai": {"max_label": 30},
    "thucnews_zh": {},
    "reuters21578_cai": {"max_label": 30},
    "short_googlenews": {},
    "wikipedia_schools2007": {},
}
N_TOPICS, N_DOCUMENTS, SEEDS, SHOWN = 20, 4000, (0, 1, 2), 10


def read(name: str, folder: Path) -> tuple[Corpus, np.ndarray]:
    """A sample of a corpus without rare words and words in more than half of the documents, and its classes."""
    corpus = load_benchmark(name, folder, **(DEVELOPMENT | UNSEEN)[name])
    rows = np.sort(np.random.RandomState(0).permutation(len(corpus))[:N_DOCUMENTS])
    counts = sp.csr_array(corpus.counts)[rows]
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    counts = counts[:, np.flatnonzero((frequency >= 3) & (frequency <= 0.5 * len(rows)))]
    labels = [(corpus.labels or ())[row] for row in rows]
    return Corpus.from_counts(counts), np.array([each[0] if each else "" for each in labels])


def figures(corpus: Corpus, classes: np.ndarray, seed: int) -> dict[str, list[float]]:
    """Class, words, cosine and share of the documents of each list, as means over topics."""
    model = LDA(N_TOPICS, random_state=seed, verbose=False).fit(corpus)
    main, vectors, lengths = model.doc_topic_.argmax(axis=1), tfidf(corpus.counts), corpus.counts.sum(axis=1)
    measured: dict[str, list[list[float]]] = {"membership": [], "typical": []}
    for topic in range(N_TOPICS):
        names, numbers = np.unique(classes[(main == topic) & (classes != "")], return_counts=True)
        if numbers.sum() < SHOWN:
            continue
        share = model.doc_topic_[:, topic]
        for name, typical in (("membership", None), ("typical", model.typicality_)):
            best = most_typical(share, typical, SHOWN, corpus.copies.first)
            cosines = (vectors[best] @ vectors[best].T).toarray()
            pairs = (cosines.sum() - np.trace(cosines)) / (SHOWN * (SHOWN - 1))
            right = (classes[best] == names[numbers.argmax()]).mean()
            measured[name].append([right, np.median(lengths[best]), pairs, share[best].mean()])
    return {name: np.mean(rows, axis=0).tolist() for name, rows in measured.items()}


def page(folder: Path) -> str:
    """The page, with one line per corpus and list."""
    lines = ["# Typical documents", "", "    python -m experiments.choosing.typical_documents --data DATA", ""]
    today = datetime.now(UTC).date().isoformat()
    seeds = ", ".join(map(str, SEEDS))
    lines += [PREFACE.format(date=today, topics=N_TOPICS, documents=N_DOCUMENTS, seeds=seeds)]
    for title, names in (("Corpora the rule was chosen on", DEVELOPMENT), ("Other corpora", UNSEEN)):
        lines += ["", f"## {title}", "", "| corpus | words | by | class | words | cosine | share |", "|---" * 7 + "|"]
        for name in names:
            corpus, classes = read(name, folder)
            runs = [figures(corpus, classes, seed) for seed in SEEDS]
            median = np.median(corpus.counts.sum(axis=1))
            for kind in runs[0]:
                right, words, pairs, share = np.mean([run[kind] for run in runs], axis=0)
                cells = f"{right:.3f} | {words:.0f} | {pairs:.3f} | {share:.3f}"
                lines.append(f"| {name} | {median:.0f} | {kind} | {cells} |")
                print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_page("typical.md", page, __doc__)

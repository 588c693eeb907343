"""Every compiled kernel at work on small data: run by tests/test_bounds.py with numba's bounds checking on.

Prints the kernels that were never called; an index out of bounds is an IndexError.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings

import numpy as np
from numba.core.registry import CPUDispatcher

import topicfold
from topicfold import Corpus, build_report
from topicfold.baselines import BASELINES
from topicfold.models import MODELS


def documents(n=60):
    rng = np.random.default_rng(0)
    words = np.array([f"{letter}{number}word" for letter in "abcd" for number in range(8)]).reshape(4, 8)
    texts = []
    for number in range(n):
        own = [" ".join(rng.choice(words[(number + part) % 4], rng.integers(1, 9))) for part in range(2)]
        texts.append("\n\n".join(own))
    links = [(str(number), str((number + 4) % n)) for number in range(n)]
    return Corpus.from_texts(texts, segments="paragraphs", links=links, keep_texts=True, stop_words=None)


# values of parameters with which a model uses other kernels than by default
OTHER_KERNELS = [
    {"graph_weight": 1.0},
    {"graph_weight": 10.0, "alpha": 0.0},
    {"solver": "direct", "graph_weight": 100.0},
    {"update": "exact"},
    {"tempered": True},
    *({"features": kind} for kind in ("paper", "log", "themes")),
    {"method": "bi"},
    {"emission": "counts"},
]


def fits(corpus):
    """Every model, with what makes it use other kernels."""
    graph = topicfold.knn_graph(corpus, 3)
    embeddings = np.random.default_rng(1).normal(size=(len(corpus), 6))
    labels = np.where(np.arange(len(corpus)) % 3, -1, np.arange(len(corpus)) % 4)
    for info in MODELS.values():
        short = {"n_sweeps": 12, "burn_in": 4, "lag": 2} if info.steps == "n_sweeps" else {"max_iter": 8}
        base = {"random_state": 0, "verbose": False, **short}
        variants = [({}, {})]
        if info.takes_graph:
            variants += [({}, {"graph": graph}), ({}, {"embeddings": embeddings}), ({}, {"y": labels})]
            variants += [({"alpha": 0.0, "beta": 0.0}, {}), ({"metric": "intersection"}, {})]
            variants += [({"metric": "euclidean"}, {})]
        known = info.parameters()
        variants += [(variant, {}) for variant in OTHER_KERNELS if set(variant) <= set(known)]
        for parameters, data in variants:
            yield info.make(4, **{**base, **parameters}).fit(corpus, **data), data


def uses(model, corpus, data):
    """New documents, scores, trees."""
    more = {"embeddings": data["embeddings"]} if "embeddings" in data else {}
    model.transform(corpus, **more)
    model.score(corpus, **more)
    return model.topic_tree(corpus)


def main():
    warnings.simplefilter("ignore")
    corpus = documents()
    trees = [uses(model, corpus, data) for model, data in fits(corpus)]
    build_report(trees[0], corpus)
    for name in ("NMF", "LSI", "PCA", "KMeans", "NCut"):
        BASELINES[name].make(3, random_state=0).fit(corpus)
    more_kernels(corpus)
    unused = []
    for found in pkgutil.walk_packages(topicfold.__path__, "topicfold."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for value in vars(module).values():
            if not isinstance(value, CPUDispatcher) or value.__module__ != module.__name__:
                continue
            if not value.signatures and value.targetoptions.get("inline") != "always":  # a part of other kernels
                unused.append(f"{module.__name__}.{value.__name__}")
    print("\n".join(sorted(unused)))


def more_kernels(corpus):
    """Kernels that neither a fit nor a report calls."""
    from topicfold.analysis.topic_tokens import TopicTokens
    from topicfold.baselines import ITCC, MOC, MOCC
    from topicfold.corpus.counting import token_stream
    from topicfold.graph.neighbors import document_vectors
    from topicfold.graph.sparse_search import InvertedIndex, likely_best
    from topicfold.metrics import coherence, omega_index, pairwise_scores
    from topicfold.models.graph.linear_system import gauss_seidel
    from topicfold.topics.shares import sums_by_group

    counts = corpus.counts
    vectors = document_vectors(counts)
    likely_best(InvertedIndex.of(vectors), vectors, 3, False, True, None)
    graph = topicfold.knn_graph(corpus, 3)
    parts = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data, 1 + graph.sum(axis=1))
    gauss_seidel(*parts, np.ones((len(corpus), 3)), np.ones((len(corpus), 3)), 1e-6, 0.0, 9)
    tokens = token_stream(corpus.texts, corpus.vocabulary, corpus.preprocessing)
    coherence([[0, 1, 2], [3, 4, 5]], tokens=tokens, measure="c_v")
    sums_by_group(np.ones((len(corpus), 3)), np.arange(len(corpus)), np.arange(len(corpus)) % 2, 2)
    tokens = TopicTokens(topicfold.PLSA(2, random_state=0).fit(corpus).topic_tree(corpus), counts, 1)
    tokens.by_word(np.arange(len(corpus)))
    tokens.by_document(np.arange(len(corpus)))
    ITCC(3, 3, random_state=0).fit(counts)
    MOC(3, random_state=0).fit(counts)
    MOCC(3, 3, random_state=0).fit(counts)
    memberships = np.random.default_rng(0).random((len(corpus), 3)) < 0.4
    omega_index(memberships, memberships[::-1])
    pairwise_scores(memberships, memberships[::-1])


if __name__ == "__main__":
    main()

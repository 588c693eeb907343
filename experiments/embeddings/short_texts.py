"""Topic models on a graph of sentence embeddings, compared with BERTopic and k-means, on titles and search snippets.

The measures are those of `embeddings`; the texts of the three corpora have five to fourteen words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from topicfold.corpus.corpus import Corpus

from .. import WITH_PRIORS, WITHOUT_PRIORS, Experiment, Measure, Method
from ..corpora import count_words, load_benchmark
from ..dot_plots import Dots
from .embedding_graphs import Data, Vectors, observed_texts
from .embedding_graphs import measure as measure_fit
from .minilm import embed

__all__ = ["EXPERIMENTS", "draw"]

CORPORA = ("short_searchsnippets", "short_stackoverflow", "short_googlenews")


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Data]:
    """Training and test texts of each corpus, drawn with a fixed seed, with embeddings."""
    return {name: draw(name, folder, protocol) for name in CORPORA}


def draw(name: str, folder: Path, protocol: Mapping[str, Any]) -> Data:
    """Training and test texts of a corpus, drawn with a fixed seed; the vocabulary comes from the training part."""
    whole = load_benchmark(name, folder, stop_words="english", keep_texts=True)
    order = np.random.default_rng(0).permutation(len(whole))
    n_train, n_test = protocol["documents"], protocol["test documents"]
    train_rows, test_rows = np.sort(order[:n_train]), np.sort(order[n_train : n_train + n_test])
    texts, labels = whole.texts or (), whole.label_array()
    train = Corpus.from_texts(
        [texts[row] for row in train_rows],
        preprocessing=whole.preprocessing,
        min_df=protocol["min_df"],
        max_df=1.0,
        keep_texts=True,
    )
    assert train.vocabulary is not None
    assert train.preprocessing is not None
    test_texts = [texts[row] for row in test_rows]
    counts = count_words(train, test_texts)
    halves = observed_texts(test_texts, counts, train.vocabulary, train.preprocessing)
    train_texts = tuple(train.texts or ())
    vectors, missing = None, ""
    try:
        vectors = Vectors(*(embed(part) for part in (train_texts, test_texts, halves)))
    except ImportError as problem:
        missing = str(problem)
    return Data(
        replace(train, texts=None), train_texts, labels[train_rows], counts, labels[test_rows], vectors, missing
    )


def measure(
    data: Mapping[str, Data], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Everything that can be measured for one fit."""
    return measure_fit(data[setting["corpus"]], method, setting, seed, protocol)


ABOUT = """\
Do sentence embeddings improve topic models of very short texts? Three corpora: short_searchsnippets (search result \
snippets in 8 domains), short_stackoverflow (titles of questions with 20 tags) and short_googlenews (titles of news in \
152 stories). NMI and clustering accuracy compare the topics of the training texts with the classes; test perplexity \
measures how well half of an unseen text is predicted from the other half (lower is better); "5 labels" is the \
accuracy of a classifier trained on five labelled texts per class. Except for perplexity, outliers and CPU time, \
higher is better; outliers are the share of texts that a method assigns to no topic."""
NOTES = """\
LDA, LTM and LapPLSI are at the defaults of the package. DTM is that of its paper.
Not blind: focus, the start with embeddings (k-means on vectors averaged over their neighbourhoods) and the choice of \
the weight were decided on other draws of these corpora (seeds 100 to 105) with the classes visible.
Embeddings: all-MiniLM-L6-v2. Computing them is not included in the CPU time. The word vectors that come with the \
package are made from it (metric="word_vectors"); a text is the sum over its words in the vocabulary.
Test perplexity: half of each test text is observed, the other half scored; methods on embeddings see only the \
embedding of the observed half. BERTopic has no P(w|d).
NMI and clustering accuracy: the largest topic of each training text, or its cluster, against its class. BERTopic's \
outliers count as one cluster, unless they are assigned to the nearest topic (by its own reduce_outliers).
5 labels: accuracy from five labels per class by a linear SVM on rows scaled to length one, on the other training \
texts and on the test texts. The rows are P(z|d); for k-means and BERTopic the cosines with the cluster centres or \
topic embeddings; or the words or embeddings themselves. Draws of labels are the same for every method.
"""

EXPERIMENTS = (
    Experiment(
        name="embeddings-short",
        title="Topic models on a graph of sentence embeddings: titles and search snippets",
        source="none; our own comparison",
        about=ABOUT,
        data=CORPORA,
        methods=(
            Method("LDA", "LDA"),
            Method("LTM, graph of words", "LTM", WITH_PRIORS),
            Method("LTM, word vectors of the package", "LTM", {**WITH_PRIORS, "metric": "word_vectors"}),
            Method("LTM, embedding graph", "LTM", WITH_PRIORS),
            Method("LTM of the paper, embedding graph", "LTM", {**WITHOUT_PRIORS, "graph_weight": 10.0}),
            Method("LapPLSI, embedding graph", "LapPLSI", WITH_PRIORS),
            Method("DTM, embedding graph", "DTM", WITHOUT_PRIORS),
            Method("k-means on embeddings"),
            Method("BERTopic"),
            Method("BERTopic, outliers to the nearest topic"),
            Method("BERTopic, UMAP and k-means"),
            Method("tf-idf words"),
            Method("embeddings"),
            Method("majority"),
        ),
        settings=(
            {"corpus": "short_searchsnippets", "n_topics": 8},
            {"corpus": "short_stackoverflow", "n_topics": 20},
            {"corpus": "short_googlenews", "n_topics": 150},
        ),
        measures={
            "nmi": Measure("NMI"),
            "accuracy": Measure("clustering accuracy"),
            "perplexity": Measure("test perplexity", 0),
            "same 5": Measure("5 labels"),
            "new 5": Measure("5 labels, test texts"),
            "outliers": Measure("outliers"),
            "cpu": Measure("fit, CPU s", 1),
        },
        protocol={
            "seeds": 5,
            "documents": 6000,
            "test documents": 1500,
            "min_df": 5,
            "labels": [5],
            "label draws": 3,
            "svm C": [0.1, 1, 10, 100],
            "svm folds": 3,
        },
        quick={"seeds": 1, "documents": 1000, "test documents": 300, "label draws": 1},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"nmi": "NMI", "new 5": "accuracy on test texts, 5 labels per class"}, left_out=("majority",)),
    ),
)

"""The start from labels: topics in the order of the classes, and when the start is another one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import ALL, DENSE, EITHER, quiet

import topicfold.models.graph.graph_start as graph_start
from topicfold import DTM, LTM
from topicfold.graph.build import label_graph, link_graph
from topicfold.models.graph.graph_data import GraphData

pytestmark = DENSE


def one_label_each(block, names, blank):
    y = np.full(len(block), blank, dtype=object)
    for number, name in enumerate(names):
        y[np.flatnonzero(block == number)[0]] = name
    return y


@ALL
@EITHER
@pytest.mark.parametrize(("names", "blank"), [(("b", "c", "a"), None), ((7, 30, 4), -1)])
def test_topics_are_the_classes_in_sorted_order(model, make, names, blank, blocks):
    counts, block = blocks
    fitted = make(model, n_neighbors=3).fit(counts, one_label_each(block, names, blank))
    assert np.array(sorted(names))[fitted.predict(counts)].tolist() == [names[number] for number in block]
    words = np.array_split(np.arange(9), 3)
    for topic, name in enumerate(sorted(names)):
        assert fitted.topic_word_[topic, words[names.index(name)]].sum() > 0.9


@ALL
def test_topics_are_the_classes_with_a_chosen_weight_and_with_embeddings(model, blocks):
    _, block = blocks
    counts = np.random.default_rng(1).multinomial(20, np.full(9, 1 / 9), 30)  # words that tell nothing
    vectors = np.eye(3)[block] + np.random.default_rng(0).normal(0, 0.1, (30, 3))
    weight = {} if model is DTM else {"graph_weight": 10.0}
    y = one_label_each(block, (2, 0, 1), -1)
    fitted = quiet(model, n_neighbors=3, **weight).fit(counts, y, embeddings=vectors)
    assert fitted.doc_topic_.argmax(axis=1).tolist() == [(2, 0, 1)[number] for number in block]


def test_a_weight_can_be_chosen_if_a_class_has_one_label(sampled):
    y = np.full(100, -1)
    y[:4] = [0, 1, 2, 3]
    fitted = LTM(4, random_state=0, verbose=False, max_iter=3).fit(sampled[:100], y)
    assert fitted.graph_weight_ > 0


@pytest.mark.parametrize(
    ("y", "options"),
    [
        ([0, 1, -1], {}),  # two classes
        ([0, 1, 2, 3], {}),  # four
        ([0, 1, 2], {"init": "nmf"}),
        ([0, 1, 2], {"seed_words": {0: [3]}}),
        ([0, 1, 2], {"graph_weight": 0.0}),
        ([-1], {}),
    ],
)
def test_another_start_is_used_otherwise(y, options, few, monkeypatch):
    def forbidden(*arguments):
        raise AssertionError("started from labels")

    monkeypatch.setattr(graph_start, "_classes_as_topics", forbidden)
    labels = np.append(y, np.full(60 - len(y), -1))
    quiet(LTM, max_iter=2, **options).fit(few, labels)
    with pytest.raises(AssertionError, match="started from labels"):
        quiet(LTM, max_iter=2).fit(few, np.append([0, 1, 2], np.full(57, -1)))


def test_labelled_documents_start_in_their_class_and_the_rest_where_vectors_say(blocks):
    counts, block = blocks
    labels = np.full(30, -1)
    labels[[0, 1, 12, 25]] = [0, 2, 1, 2]  # document 1 is unlike its class
    links = [(row, row + 1) for row in range(28)]
    graph = label_graph(link_graph(links, 30), labels)  # document 29 is alone
    data = GraphData(sp.csr_array(counts), graph, None, labels, "graph", graph)
    doc_topic, topic_word = graph_start._classes_as_topics(data, 3, np.random.RandomState(0))
    np.testing.assert_allclose(doc_topic.sum(axis=1), 1)
    np.testing.assert_allclose(topic_word.sum(axis=1), 1)
    cluster = doc_topic.argmax(axis=1)
    assert cluster[[0, 1, 12, 25]].tolist() == [0, 2, 1, 2]
    assert cluster[29] == 2
    assert (cluster == block).mean() > 0.8

"""The experiment on topics that start at classes, on the block corpus."""

import numpy as np
import pytest

from experiments import load_experiment
from experiments.few_labels import Documents
from experiments.label_start import measure_labels
from topicfold.graph.build import knn_graph


@pytest.mark.parametrize("method", load_experiment("label-start").methods, ids=lambda method: method.name)
@pytest.mark.filterwarnings("ignore:topic .* is the largest topic:UserWarning")
def test_every_method_is_measured(blocks, method):
    counts, block = blocks
    graph = knn_graph(counts, 3)
    assert measure_labels(Documents(counts, block), graph, method, seed=0, n_labelled=3) > 0.95


def test_a_largest_topic_in_another_order_than_the_classes_is_wrong(blocks):
    counts, block = blocks
    documents = Documents(counts, block)
    method = next(m for m in load_experiment("label-start").methods if m.name == "LTM, label start: largest topic")
    documents.cache["LTM", str(method.parameters), 0, 3] = np.eye(3)[(block + 1) % 3]
    assert measure_labels(documents, knn_graph(counts, 3), method, seed=0, n_labelled=3) == 0

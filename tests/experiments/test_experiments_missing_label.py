"""The experiment on a label that was left out, on generated posts."""

import numpy as np
import pytest

from experiments import load_experiment
from experiments.zero_shot.labels_alone import Part
from experiments.zero_shot.missing_label import Described, measure_missing, reliability

WORDS = {"a": "apple pear plum fig", "b": "wolf bear lynx deer", "c": "rain snow hail wind", "d": "oaks elms ash yew"}


@pytest.fixture
def described():
    rng = np.random.default_rng(0)
    labels = np.repeat(list(WORDS), 40)
    texts = [" ".join(rng.choice(WORDS[label].split(), 5)) for label in labels]
    places = dict(zip(WORDS, np.eye(4, 6)))
    vectors = np.array([places[label] for label in labels]) + 0.1 * rng.normal(size=(160, 6))
    return Described(Part(texts, labels, vectors), WORDS, places)


@pytest.mark.parametrize("method", load_experiment("zero-shot-missing").methods, ids=lambda method: method.name)
def test_every_method_is_measured(described, method):
    found = measure_missing(described, method, seed=0, most_left_out=2)
    assert found["accuracy"] > 0.95
    if method.parameters["free"]:
        assert found["found"] > 0.5
        assert found["wrongly"] < 0.1
        assert found["auc"] > 0.9
    else:
        assert (found["found"], found["wrongly"], found["complete"]) == (0, 0, 0)


def test_reliability_by_hand():
    probability = np.repeat([0.3, 0.9, 1.0, 0.5], [20, 10, 10, 19])
    right = np.repeat([True, False, True, True], [5, 15, 20, 19])
    assert reliability(probability, right) == {"right at 0.2-0.4": 0.25, "right at 0.8-1": 1.0}

"""The experiment on labels from descriptions, on generated posts."""

import numpy as np
import pytest

from experiments import load_experiment
from experiments.zero_shot import labels_alone
from experiments.zero_shot.labels_alone import Part, measure_part

WORDS = {"a": "apple pear plum fig", "b": "wolf bear lynx deer", "c": "rain snow hail wind", "d": "oak elm ash yew"}
PLACES = {words: np.eye(4, 6)[row] for row, words in enumerate(WORDS.values())}


@pytest.fixture
def part(monkeypatch):
    """Posts of four classes; a text is embedded as the class most of its words are of."""

    def embed(texts):
        return np.array(
            [max(PLACES.items(), key=lambda place: len(set(place[0].split()) & set(text.split())))[1] for text in texts]
        )

    monkeypatch.setattr(labels_alone, "embed", embed)
    rng = np.random.default_rng(0)
    labels = np.repeat(list(WORDS), 30)
    texts = [" ".join(rng.choice(WORDS[label].split(), 5)) for label in labels]
    return Part(texts, labels, embed(texts) + 0.05 * rng.normal(size=(len(texts), 6)))


@pytest.mark.parametrize(
    "method",
    [method for method in load_experiment("zero-shot").methods if not method.name.startswith("BERTopic")],
    ids=lambda method: method.name,
)
def test_every_method_is_measured(part, method):
    found = measure_part(part, part, WORDS, method, seed=0)
    assert found["accuracy"] == pytest.approx(0.25 if method.name == "majority" else 1, abs=0.03)
    assert "auc" not in found
    three = {label: WORDS[label] for label in "abc"}
    found = measure_part(part, part, three, method, seed=0)
    if method.name.startswith(("embedding", "tf-idf")):
        assert found["auc"] > 0.99
    if "free" in method.name:
        assert found["found"] > 0.9
        assert 0 <= found["wrongly"] <= 1


def testcalibration_error_by_hand():
    error = labels_alone.calibration_error(np.array([0.95, 0.95, 0.55, 0.55]), np.array([True, True, True, False]))
    assert error == pytest.approx(0.05)


def test_descriptions_name_every_class():
    experiment = load_experiment("zero-shot")
    assert {setting["corpus"] for setting in experiment.settings} == {"20 Newsgroups", "Reuters", "Debian packages"}
    assert set(labels_alone.DEBIAN_SECTIONS) == set(np.unique(labels_alone.load_demo().label_array()))
    assert (len(labels_alone.NEWSGROUPS), len(labels_alone.REUTERS_TOPICS)) == (20, 8)

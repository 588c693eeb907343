"""Names of topics, side by side."""

import numpy as np
import pytest

from experiments.choosing import topic_names
from topicfold import Corpus


@pytest.fixture
def corpus():
    rng = np.random.default_rng(0)
    sport, law = "football team scored goals in the World Cup match", "the prime minister and the courts passed laws"
    texts, labels = [], []
    for number in range(60):
        about, label = ((sport, "sport.football"), (law, "law"))[number % 2]
        texts.append(f"{about} {' '.join(rng.choice(about.split(), 4))}. {about}")
        labels.append([label])
    return Corpus.from_texts(texts, labels=labels, stop_words="english", keep_texts=True, min_df=1, max_df=1.0)


def test_names_are_measured(corpus, monkeypatch):
    monkeypatch.setattr(topic_names, "TOPICS", 2)
    named = topic_names.named_topics("small", corpus)
    assert len(named.before) == len(named.now) == len(named.words) == 2
    assert sorted(named.judged) == [0, 1]
    assert named.measures["repeated"] == (0, 0)
    assert named.measures["twins"][1] == named.measures["equal"][1] == 0
    assert 0 <= named.measures["class"][1] <= 1
    assert any("World Cup" in name or "Prime" in name or "prime minister" in name for name in named.now)


def test_words_of_classes_and_repeats(corpus):
    assert topic_names._repeats("award, awards")
    assert not topic_names._repeats("award, prize")
    assert topic_names._share_with(["World Cup, laws", "team"], [{"law"}, {"goal"}]) == 0.5


def test_verdicts_are_of_a_corpus_and_a_name(monkeypatch):
    monkeypatch.setattr(topic_names, "VERDICTS", {"a": {"red sox": "better"}})
    named = topic_names.Named(["Red, Sox", "sox", "sox"], ["sox, red", "red sox", "x"], [], [0, 1, 2], {}, (0, 0, 0))
    assert [topic_names._verdict("a", named, row) for row in range(3)] == ["same", "better", "not judged"]

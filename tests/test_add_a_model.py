"""The page "Add a model in an hour": its code is run, registered, and held to the contract."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from topicfold import Corpus, build_report, load
from topicfold.models import MODELS, ModelInfo

PAGE = Path(__file__).parents[1] / "docs" / "about" / "add-a-model.md"
THEMES = ["cat dog paw fur", "sun moon star comet", "bread cheese soup spoon"]


@pytest.fixture
def model_class(monkeypatch):
    (code,) = re.findall(
        r"a test runs this block -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    module = types.ModuleType("topicfold.models.unigram_mixture")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    monkeypatch.setitem(MODELS, "UnigramMixture", ModelInfo("unigram_mixture", "UnigramMixture", sizes=("n_topics",)))
    return module.UnigramMixture


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    return Corpus.from_texts([" ".join(rng.choice(THEMES[d % 3].split(), 12)) for d in range(45)], keep_texts=True)


def test_the_model_of_the_page_keeps_the_contract(model_class, corpus, tmp_path):
    for seed in range(5):
        model = model_class(3, random_state=seed, verbose=False).fit(corpus)
        assert len({tuple(sorted(set(model.predict(corpus)[kind::3]))) for kind in range(3)}) == 3  # kinds are found
    assert np.all(np.diff(model.history_) >= -1e-9)
    assert model.doc_topic_.sum(axis=1) == pytest.approx(1)
    assert model.topic_word_.sum(axis=1) == pytest.approx(1)
    again = model_class(3, random_state=4, n_jobs=2, verbose=False).fit(corpus)
    assert np.array_equal(again.topic_word_, model.topic_word_)
    assert np.array_equal(model.transform(["cat dog"])[0], model.transform(["sun moon", "cat dog"])[1])
    assert -3 < model.score(corpus) < -1
    model.save(tmp_path / "model.safetensors")
    assert np.array_equal(load(tmp_path / "model.safetensors").transform(corpus), model.transform(corpus))
    assert len(build_report(model, corpus).data["topics"]) == 3
    with pytest.raises(ValueError, match="n_topics=0"):
        model_class(0).fit(corpus)

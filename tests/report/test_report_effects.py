"""Effects of metadata on the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from selenium.webdriver.support.ui import Select

from browser import small_corpus
from topicfold import LDA, build_report, effects
from topicfold.corpus.metadata import as_metadata


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A page whose topics depend on a factor and a number."""
    corpus = small_corpus()
    rng = np.random.default_rng(0)
    party = ["<b>left</b>" if labels in (("sea",), ("sky",)) else "right" for labels in corpus.labels]
    year = [2000 + 5 * (labels == ("garden",)) + rng.integers(5) for labels in corpus.labels]
    corpus = replace(corpus, metadata=as_metadata({"party": party, "year": year}))
    model = LDA(4, random_state=0, verbose=False).fit(corpus)
    found = effects(model, corpus, "~ party + year")
    report = build_report(model, corpus, name="Measured", effects=found)
    file = tmp_path_factory.mktemp("measured") / "measured.html"
    report.save(file)
    return file, corpus, model, found, report.data


def test_contrasts_and_curves(measured):
    _, corpus, model, found, data = measured
    (contrast,), (curve,) = data["effects"]["contrasts"], data["effects"]["curves"]
    assert [contrast[key] for key in ("column", "value", "other")] == ["party", "right", "<b>left</b>"]
    expected = found.contrast("party", "right", "<b>left</b>").set_index("topic")
    for topic, *numbers in contrast["topics"]:
        assert numbers == pytest.approx(expected.loc[topic, ["estimate", "low", "high"]].tolist(), rel=1e-3)
    expected = found.predict("year", 40)
    assert curve["points"] == pytest.approx(expected["value"].iloc[:40].tolist(), rel=1e-5)
    shares = np.array([values for _, values in curve["topics"]]).reshape(-1, 3)
    assert shares == pytest.approx(expected[["share", "low", "high"]].to_numpy(), rel=1e-3)
    again = build_report(model, corpus, name="Measured", effects="~ party + year").data
    assert again["effects"] == data["effects"]


def test_effects_on_other_topics(measured):
    _, corpus, model, found, _ = measured
    with pytest.raises(ValueError, match="the effects include topic 3, which is not on the page"):
        build_report(model.topic_tree(corpus).drop([3]), corpus, effects=found)
    with pytest.raises(ValueError, match=r"colour"):
        build_report(model, corpus, effects="~ colour")


def test_the_view(page, measured):
    file, _, _, found, _ = measured
    page.open(file, "effects")
    assert page.count(".forest circle") == 4
    names = page.texts("main tbody th")
    expected = found.contrast("party", "right", "<b>left</b>").sort_values("estimate", ascending=False)
    assert names == expected["name"].tolist()
    figures = [float(text.replace("−", "-")) for text in page.texts("main tbody td.number")][::3]
    assert figures == pytest.approx((100 * expected["estimate"]).tolist(), abs=0.006)
    Select(page.find("#effect")).select_by_visible_text("along year")
    assert page.count(".curve") == 4
    page.go("topic=0")
    Select(page.find("#merge-with")).select_by_index(1)
    page.go("effects")  # of merged topics no effect is known
    assert page.count(".forest circle") == 2

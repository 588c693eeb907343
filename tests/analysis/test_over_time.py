from __future__ import annotations

import numpy as np
import pytest

from topicfold import LDCC, PLSA, TTMM, Corpus, drift, topics_over_time
from topicfold.analysis.over_time import memberships
from topicfold.topics.shares import readable_period, shares_over_time

ANIMALS, SKY = ["cat dog cow", "dog cow", "cow cat dog"], ["sun moon star", "moon star", "star sun moon"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts((ANIMALS + SKY) * 6, timestamps=["1999-05-01"] * 18 + ["2001-06-01"] * 17 + [None])


@pytest.fixture(scope="module")
def model(corpus):
    return PLSA(2, random_state=0, verbose=False).fit(corpus)


def test_divergence_is_its_formula(model):
    before, after = ANIMALS * 2 + SKY, ANIMALS + SKY * 2
    found = drift(model, before, after)
    p, q = memberships(model, before).mean(axis=0), memberships(model, after).mean(axis=0)
    assert found.divergence == pytest.approx(float((q * np.log(q / p)).sum()))
    assert sum(moved.part for moved in found.moved) == pytest.approx(found.divergence)
    assert found.divergence >= 0


def test_slices_that_differ_and_slices_that_do_not(model):
    assert drift(model, ANIMALS * 5, SKY * 5).p_value < 0.01
    mixed = ANIMALS + SKY
    assert drift(model, mixed * 3, mixed * 3).p_value > 0.5


def test_p_values_are_uniform_without_drift(sampled):
    model = PLSA(3, random_state=0, verbose=False).fit(sampled)
    rng = np.random.default_rng(0)
    values = []
    for _ in range(60):
        order = rng.permutation(400)
        values.append(drift(model, sampled[order[:100]], sampled[order[100:200]], n_permutations=99).p_value)
    assert 0.3 < np.mean(values) < 0.7
    assert np.mean(np.array(values) <= 0.1) < 0.25


def test_themes_move_too(corpus):
    model = TTMM(2, 2, random_state=0, verbose=False).fit(corpus)
    assert drift(model, ANIMALS * 5, SKY * 5, of="themes").p_value < 0.01
    assert model.features == "tokens"


def test_over_time(model, corpus):
    table = topics_over_time(model, corpus)
    assert table.periods.astype(str).tolist() == ["1999", "2001"]
    assert table.n_documents.tolist() == [18, 17]
    assert table.share.sum(axis=1) == pytest.approx([1, 1])
    assert topics_over_time(model, corpus, by="month").periods.astype(str).tolist() == ["1999-05", "2001-06"]
    assert "2 periods, 1999 to 2001" in str(table)
    figure = table.plot()
    assert sum(axes.get_visible() for axes in figure.axes) == 2
    frame = pytest.importorskip("pandas") and table.table()
    assert frame.shape == (2, 2)


def test_bad_input(model, corpus, monkeypatch):
    with pytest.raises(ValueError, match="of='words'"):
        drift(model, ANIMALS, SKY, of="words")
    with pytest.raises(ValueError, match="PLSA has no themes"):
        drift(model, ANIMALS, SKY, of="themes")
    with pytest.raises(ValueError, match="n_permutations=0"):
        drift(model, ANIMALS, SKY, n_permutations=0)
    with pytest.raises(ValueError, match="no timestamps"):
        topics_over_time(model, Corpus.from_texts(["cat"]))
    with pytest.raises(ValueError, match="no document of the corpus has a date"):
        topics_over_time(model, Corpus.from_texts(["cat"], timestamps=[None]))
    with pytest.raises(ValueError, match="by='era'"):
        topics_over_time(model, corpus, by="era")


@pytest.mark.parametrize(
    ("dates", "period"),
    [
        (["2001", "2002", "2003"], "year"),
        ([f"{year}" for year in range(1990, 2020)], "year"),
        ([f"2001-{month:02d}" for month in range(1, 13)], "month"),
        ([f"2001-02-{day:02d}" for day in range(1, 29)], "day"),
        ([f"2001-0{month}-{day}" for month in (1, 2) for day in (10, 17, 24)], "week"),
        (["2001-02-03"], "year"),
        (["2001-02-03", "2001-02-04"], "day"),
        (["2001-02-03", "NaT", "2002-02-03", "NaT"], "year"),
        ([f"{year}-{month:02d}" for year in (2001, 2002) for month in range(1, 13)], "month"),
        ([f"{year}-{month:02d}" for year in range(2001, 2004) for month in range(1, 13)], "year"),  # 36 are too many
        ([f"{year}" for year in range(1900, 1990)], "year"),
    ],
)
def test_the_longest_period_that_tells_enough(dates, period):
    assert readable_period(np.array(dates, "datetime64[s]"), fewest=6, most=30) == period


def test_shares_are_means_of_the_documents_of_a_period():
    rng = np.random.default_rng(0)
    doc_topic = rng.dirichlet(np.ones(4), 60)
    days = rng.integers(0, 500, 60).astype("datetime64[D]").astype("datetime64[s]")
    days[[3, 17]] = np.datetime64("NaT")
    for by, unit in {"year": "Y", "month": "M", "week": "W", "day": "D"}.items():
        periods, share, n_documents = shares_over_time(doc_topic, days, by)
        own = {}
        for day, row in zip(days, doc_topic):
            if not np.isnat(day):
                own.setdefault(day.astype(f"datetime64[{unit}]"), []).append(row)
        assert periods.tolist() == [period.tolist() for period in sorted(own)]
        assert n_documents.tolist() == [len(own[period]) for period in sorted(own)]
        assert share == pytest.approx(np.array([np.mean(own[period], axis=0) for period in sorted(own)]))


def test_the_period_is_chosen_as_in_the_explorer(model):
    corpus = Corpus.from_texts(ANIMALS, timestamps=[f"2001-{month:02d}" for month in range(1, len(ANIMALS) + 1)])
    chosen = "month" if len(ANIMALS) > 1 else "year"
    assert np.array_equal(topics_over_time(model, corpus).periods, topics_over_time(model, corpus, by=chosen).periods)


def test_shares_of_a_model_with_two_levels_sum_to_one():
    texts = ["cat dog cat\n\nsun moon sun", "dog cat\n\ncat dog", "sun moon\n\nmoon star sun"] * 5
    corpus = Corpus.from_texts(texts, segments="paragraphs", timestamps=[1999, 2000, 2001] * 5)
    model = LDCC(2, 3, n_sweeps=20, burn_in=10, lag=2, random_state=0).fit(corpus)
    table = topics_over_time(model, corpus)
    assert table.share.shape == (3, 3)
    assert table.share.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)


def test_a_tree_over_the_documents_does_as_well(model):
    corpus = Corpus.from_texts(ANIMALS, timestamps=[f"{1990 + year}" for year in range(len(ANIMALS))])
    expected, actual = (topics_over_time(topics, corpus) for topics in (model, model.topic_tree(corpus)))
    assert np.array_equal(actual.share, expected.share)
    with pytest.raises(ValueError, match="model is of type str: expected a fitted model"):
        topics_over_time("model", corpus)

"""Effects: regressions against loops, intervals, contrasts, predictions, posteriors, bad input."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import t

from topicfold import HLTA, LDA, LTM, PLSA, Corpus, Effects, effects, plots
from topicfold.analysis.regression import regress

pytest.importorskip("formulaic")

# ---- the regression against explicit formulas -----------------------------------------------------------------------


def slow_regression(X, y, v, clusters=None):
    """Coefficients and covariance of one topic, with sums over documents one at a time."""
    n, p = X.shape
    bread = np.linalg.inv(sum(np.outer(x, x) for x in X))
    beta = bread @ sum(x * value for x, value in zip(X, y))
    residual = [value - x @ beta for x, value in zip(X, y)]
    if clusters is None:
        meat = sum(np.outer(x, x) * e**2 / (1 - x @ bread @ x) for x, e in zip(X, residual))
    else:
        names = sorted(set(clusters))
        meat = np.zeros((p, p))
        for name in names:
            score = sum(x * e for x, e, own in zip(X, residual, clusters) if own == name)
            meat += np.outer(score, score)
        meat *= len(names) / (len(names) - 1) * (n - 1) / (n - p)
    meat = meat + 2 * sum(np.outer(x, x) * own for x, own in zip(X, v))
    return beta, bread @ meat @ bread


@pytest.mark.parametrize("clustered", [False, True])
def test_regression_is_that_of_loops(clustered):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(60), rng.normal(size=60), rng.integers(0, 2, 60)])
    y = rng.dirichlet(np.ones(3), size=60)
    v = y * (1 - y) / 10
    clusters = rng.integers(0, 7, 60) if clustered else None
    found = regress(X, y, v, clusters)
    assert found.df == (6 if clustered else 57)
    for topic in range(3):
        beta, covariance = slow_regression(X, y[:, topic], v[:, topic], clusters)
        assert np.allclose(found.coefficients[:, topic], beta)
        assert np.allclose(found.covariances[topic], covariance)


def test_clusters_of_one_document_are_hc_but_for_the_correction():
    rng = np.random.default_rng(1)
    X, y = np.column_stack([np.ones(30), rng.normal(size=30)]), rng.random((30, 1))
    found = regress(X, y, np.zeros_like(y), np.arange(30)).covariances[0]
    residual = (y - X @ np.linalg.lstsq(X, y, rcond=None)[0])[:, 0]
    bread = np.linalg.inv(X.T @ X)
    plain = bread @ (X.T * residual**2) @ X @ bread
    assert np.allclose(found, plain * 30 / 29 * 29 / 28)


def test_composition_is_what_draws_come_to():
    rng = np.random.default_rng(2)
    X, mean = np.column_stack([np.ones(80), rng.normal(size=80)]), rng.random((80, 1))
    v = np.full((80, 1), 0.02)
    fits = [regress(X, mean + rng.normal(0, math.sqrt(0.02), (80, 1)), np.zeros((80, 1))) for _ in range(3000)]
    within = np.mean([fit.covariances[0] for fit in fits], axis=0)
    between = np.cov(np.array([fit.coefficients[:, 0] for fit in fits]).T)
    found = regress(X, mean, v)
    assert np.allclose(found.covariances[0], within + between, rtol=0.08, atol=2e-5)
    assert np.allclose(found.coefficients[:, 0], np.mean([fit.coefficients[:, 0] for fit in fits], axis=0), atol=2e-3)


def test_a_document_that_decides_a_term_alone_has_the_mean_variance():
    X = np.column_stack([np.ones(20), np.arange(20) == 0])
    y = np.random.default_rng(3).random((20, 1))
    found = regress(X, y, np.zeros((20, 1)))
    rest = y[1:, 0]
    assert found.covariances[0, 1, 1] == pytest.approx(rest.var(ddof=1) * (1 + 1 / 19))


# ---- effects --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus():
    """Two topics of ten words. The first has a share of .2 for the left, .6 for the right, and rises with the year."""
    rng = np.random.default_rng(0)
    n = 240
    party, year = np.array(["left", "right"] * 120, object), np.repeat(np.arange(2000, 2024), 10)
    mean = np.where(party == "left", 0.2, 0.6) + 0.01 * (year - 2000)
    first = rng.binomial(50, rng.beta(2 * mean, 2 - 2 * mean))
    even = np.full(10, 0.1)
    rows = [np.concatenate([rng.multinomial(a, even), rng.multinomial(50 - a, even)]) for a in first]
    rows[7] = np.zeros(20)
    party[[11, 12]] = ""
    metadata = {"party": party, "year": year, "blog": [f"b{d % 30}" for d in range(n)], "noise": rng.normal(size=n)}
    counts = sp.csr_array(np.array(rows, int))
    counts.eliminate_zeros()
    return Corpus.from_counts(counts, [f"w{column:02}" for column in range(20)], metadata=metadata)


@pytest.fixture(scope="module")
def model(corpus):
    return LDA(2, random_state=0, verbose=False).fit(corpus)


@pytest.fixture(scope="module")
def first(model):
    return int(model.topic_word_[:, 0].argmax())


def test_effects_are_found_and_what_is_left_out_is_counted(corpus, model, first):
    found = effects(model, corpus, "~ party + year + noise")
    assert isinstance(found, Effects)
    assert (found.n_documents, found.n_missing, found.n_empty) == (237, 2, 1)
    table = found.table()
    assert table.columns.tolist() == ["topic", "name", "term", "estimate", "std_error", "low", "high", "p"]
    assert len(table) == 2 * 4
    own = table[table.topic == first].set_index("term")
    assert own.low["party[T.right]"] < 0.4 < own.high["party[T.right]"] < 0.6
    assert own.low["year"] < 0.01 < own.high["year"]
    assert own.p["party[T.right]"] < 1e-6 < own.p["noise"]
    assert found.table([first]).topic.tolist() == [first] * 4
    # the shares of the two topics sum to one, so their effects sum to zero
    assert np.allclose(found.coefficients[1:].sum(axis=1), 0, atol=1e-9)
    text = str(found)
    assert "2 documents with a missing value" in text
    assert "1 documents without a word of the model" in text
    assert "Dirichlet with the tokens of each topic that LDA expects" in text


def test_the_estimates_are_those_of_expected_tokens(corpus, model):
    found = effects(model, corpus, "~ party + year")
    counts = corpus.counts.toarray()
    mean, variance = [], []
    for d in found.design.rows:
        tokens = np.zeros(2)
        for w in np.flatnonzero(counts[d]):
            share = model.doc_topic_[d].astype(float) * model.topic_word_[:, w]
            tokens += counts[d, w] * share / share.sum()
        mean.append(tokens / tokens.sum())
        variance.append(mean[-1] * (1 - mean[-1]) / (tokens.sum() + 1))
    for topic in range(2):
        beta, covariance = slow_regression(found.design.matrix, np.array(mean)[:, topic], np.array(variance)[:, topic])
        assert np.allclose(found.coefficients[:, topic], beta, atol=1e-6)
        assert np.allclose(found.covariances[topic], covariance, rtol=1e-4)
    row = found.table().iloc[1]
    reach = t.ppf(0.975, 237 - 3) * row.std_error
    assert (row.low, row.high) == (pytest.approx(row.estimate - reach), pytest.approx(row.estimate + reach))
    assert row.p == pytest.approx(2 * t.sf(abs(row.estimate / row.std_error), 234))
    narrow = found.table(level=0.5).iloc[1]
    assert narrow.high - narrow.low < row.high - row.low


def test_contrasts_and_interactions(corpus, model, first):
    found = effects(model, corpus, "~ party * year")
    plain = effects(model, corpus, "~ party + year")
    one = plain.contrast("party", "right", "left", topics=[first]).iloc[0]
    term = plain.table([first]).set_index("term").loc["party[T.right]"]
    assert one.term == "party: right - left"
    assert [one.estimate, one.std_error, one.p] == pytest.approx([term.estimate, term.std_error, term.p])
    other_way = plain.contrast("party", "left", "right", topics=[first]).iloc[0]
    assert other_way.estimate == pytest.approx(-one.estimate)
    beta = dict(zip(found.terms, found.coefficients[:, first]))
    at = found.contrast("party", "right", "left", at={"year": 2005}, topics=[first]).iloc[0]
    assert at.estimate == pytest.approx(beta["party[T.right]"] + 2005 * beta["party[T.right]:year"])
    years = plain.contrast("year", 2010, 2000, topics=[first]).iloc[0]
    assert years.estimate == pytest.approx(10 * plain.table([first]).set_index("term").estimate["year"])


def test_predictions_are_rows_of_the_design(corpus, model, first):
    found = effects(model, corpus, "~ party * bs(year, df=4)")
    table = found.predict("year", 5, by="party")
    assert table.columns.tolist() == ["topic", "name", "group", "value", "share", "std_error", "low", "high"]
    assert len(table) == 2 * 2 * 5
    assert table.attrs == {"along": "year", "by": "party"}
    point = table[(table.topic == first) & (table.group == "right")].iloc[2]
    row = found.design.rows_for([{"party": "right", "year": point.value}])[0]
    assert point.share == pytest.approx(row @ found.coefficients[:, first])
    assert point.std_error == pytest.approx(math.sqrt(row @ found.covariances[first] @ row))
    sums = table.groupby(["group", "value"]).share.sum()
    assert np.allclose(sums, 1)
    held = found.predict("year", 5, at={"party": "right"}, topics=[first])
    assert np.allclose(held.share, table[(table.topic == first) & (table.group == "right")].share)
    factor = found.predict("party", topics=[first])
    assert factor.value.tolist() == ["left", "right"]
    assert factor.share.tolist() == pytest.approx(
        found.predict("party", topics=[first], at={"year": 2011.5}).share, abs=0.01
    )
    # a saturated design: predictions are the means of the groups
    means = effects(model, corpus, "~ party").predict("party", topics=[first])
    shares = effects(model, corpus, "~ 0 + party")
    assert means.share.tolist() == pytest.approx(shares.coefficients[:, first].tolist())


def test_clusters(corpus, model, first):
    found = effects(model, corpus, "~ party + noise", cluster="blog")
    assert (found.n_clusters, found.df) == (30, 29)
    assert "clustered by blog (30 clusters, CR1)" in str(found)
    alone = effects(model, corpus, "~ party + noise")
    assert np.allclose(found.coefficients, alone.coefficients)
    assert not np.allclose(found.covariances, alone.covariances)
    metadata = {**corpus.metadata, "few": np.array(["a", "b", "c", ""] * 60, object), "one": np.full(240, 1)}
    more = replace(corpus, metadata=metadata)
    with pytest.warns(UserWarning, match="only 3 clusters by 'few': intervals with 2 degrees of freedom"):
        few = effects(model, more, "~ noise", cluster="few")
    assert few.n_missing == 59  # of sixty, one has no words
    with pytest.raises(ValueError, match="cluster='one' has only one value"):
        effects(model, more, "~ noise", cluster="one")
    with pytest.raises(ValueError, match="no column 'colour'"):
        effects(model, more, "~ noise", cluster="colour")


def test_repeated_documents_need_clusters(model, corpus):
    """Copies of a document add nothing: with clusters the standard errors stay, without they shrink."""
    rows = np.flatnonzero(corpus.metadata["party"] != "")
    rows = rows[rows != 7]
    metadata = {name: np.tile(values[rows], 4) for name, values in corpus.metadata.items()}
    metadata["copy"] = np.tile(rows, 4)
    copies = Corpus.from_counts(
        sp.csr_array(sp.vstack([corpus.counts[rows]] * 4)), corpus.vocabulary, metadata=metadata
    )
    once = effects(model, corpus, "~ party").table().std_error
    naive = effects(model, copies, "~ party").table().std_error
    robust = effects(model, copies, "~ party", cluster="copy").table().std_error
    assert (naive < 0.55 * once).all()
    assert (robust > 0.85 * once).all()


def test_every_kind_of_model_says_what_its_posterior_is(corpus):
    for model, words in (
        (PLSA(2, random_state=0, verbose=False), "Dirichlet with the tokens of each topic that PLSA expects"),
        (LTM(2, graph_weight=10.0, random_state=0, verbose=False), "also uses neighbouring documents"),
        (
            HLTA(random_state=0, verbose=False),
            "each document is in a topic or not, with the probability that HLTA gives",
        ),
    ):
        found = effects(model.fit(corpus), corpus, "~ party")
        assert words in found.posterior
        assert np.isfinite(found.covariances).all()
    tree = model.topic_tree(corpus)
    member = tree.doc_topic[:, np.flatnonzero(tree.at_lowest_level)][found.design.rows].astype(float)
    beta, covariance = slow_regression(found.design.matrix, member[:, 0], member[:, 0] * (1 - member[:, 0]))
    assert np.allclose(found.coefficients[:, 0], beta)
    assert np.allclose(found.covariances[0], covariance)


def test_changed_trees(corpus, model, first):
    tree = model.topic_tree(corpus).rename({first: "First"})
    found = effects(tree, corpus, "~ party", topics=[first])
    assert (found.topics, found.names) == ((first,), ("First",))
    whole = effects(tree, corpus, "~ party")
    assert np.allclose(found.coefficients[:, 0], whole.coefficients[:, whole.topics.index(first)])
    dropped = effects(tree.drop([1 - first]), corpus, "~ party")
    assert 0.1 < dropped.coefficients[1, 0] < 0.5
    four = PLSA(4, random_state=0).fit(corpus).topic_tree(corpus).group([2])
    above = effects(four.select_levels([2]), corpus, "~ party")
    assert len(above.topics) == 2
    with pytest.raises(ValueError, match="expected topics of the lowest level"):
        effects(four, corpus, "~ party", topics=[int(four.ids[-1])])


def test_figures(corpus, model, first):
    pytest.importorskip("matplotlib")
    found = effects(model, corpus, "~ party + year")
    figure = plots.effect_sizes(found.contrast("party", "right", "left"))
    assert figure.axes[0].get_title(loc="left") == "party: right - left"
    assert len(figure.axes[0].get_yticklabels()) == 2
    figure = plots.effect_curves(found.predict("year", 5, by="party"))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["left", "right"]
    figure.draw_without_rendering()
    legend, along = figure.legends[0].get_window_extent(), figure.texts[0].get_window_extent()
    assert (figure.texts[0].get_text(), bool(legend.overlaps(along))) == ("year", False)
    assert len(figure.axes[0].lines) == 3
    figure = plots.effect_curves(found.predict("party"), [first])
    assert len(figure.axes) == 1
    with pytest.raises(ValueError, match="the table has 3 terms"):
        plots.effect_sizes(found.table())
    with pytest.raises(ValueError, match="expected topics of the table"):
        plots.effect_curves(found.predict("year"), [9])


def test_bad_input_is_named(corpus, model):
    found = effects(model, corpus, "~ party + year")
    for call, message in (
        (lambda: effects(model, corpus, "~ party", topics=[9]), "there is no topic 9"),
        (lambda: found.table([9]), "there are no effects on topic 9; the topics are 0, 1"),
        (lambda: found.table(level=2), "level=2: expected a number from zero to 1"),
        (lambda: found.contrast("party", "left", "up"), "'party' has no value 'up'"),
        (lambda: found.contrast("noise", 1, 2), "does not use 'noise'"),
        (lambda: found.predict("noise"), "does not use 'noise'"),
        (lambda: found.predict("year", 1), "n=1: expected a whole number, at least 2"),
        (lambda: found.predict("year", by="year"), "'year' is numeric: expected a column with categories"),
        (lambda: found.predict("party", by="party"), "expected a column other than"),
        (lambda: effects(model.topic_tree(corpus), corpus.subset([1]), "~ party"), "the tree has 240 documents"),
        (lambda: effects(model, corpus.subset(slice(4)), "~ party + year"), "documents for 3 terms|is determined by"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_missing_extra_is_named(corpus, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(ImportError, match=r"a formula needs formulaic: pip install 'topicfold\[effects\]'"):
        effects(model, corpus, "~ party")

"""How groups speak of a topic: the formula against loops, expected tokens, recovery of planted words, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import HLTA, LDA, PLSA, Contrast, Corpus, contrast, plots
from topicfold.analysis.contrast import OVERALL, log_odds


def slow_tokens(tree, corpus, documents):
    """Words x topics of the lowest level, cell by cell."""
    counts = corpus.counts.toarray()
    rows = np.flatnonzero(tree.at_lowest_level)
    table = np.zeros((counts.shape[1], len(rows)))
    for d in documents:
        for w in range(counts.shape[1]):
            if tree.exclusive:
                share = np.array([float(tree.doc_topic[d, k]) * float(tree.topic_word[k, w]) for k in rows])
                share = share / share.sum() if share.sum() > 0 else share
            else:
                share = np.array([float(tree.doc_topic[d, k]) for k in rows])
            table[w] += counts[d, w] * share
    return table


def slow_z(here, there, background, strength):
    """Monroe, Colaresi and Quinn (2008), equations 16, 19 and 22, word by word."""
    found = []
    for w in range(len(here)):
        prior = strength * background[w] / sum(background)
        if prior == 0:
            found.append((0.0, 0.0))
            continue
        odds = [(y[w] + prior) / (sum(y) + strength - y[w] - prior) for y in (here, there)]
        delta = math.log(odds[0]) - math.log(odds[1])
        found.append((delta, delta / math.sqrt(1 / (here[w] + prior) + 1 / (there[w] + prior))))
    return np.array(found).T


@pytest.fixture(scope="module")
def corpus():
    """Two topics of twenty words; in the first, the left says word 0 and the right word 1."""
    rng = np.random.default_rng(0)
    party = np.array(["left", "right"] * 60, object)
    party[7] = ""
    rows = []
    for d in range(120):
        own = np.full(20, 1.0)
        own[:2] = (6, 1) if d % 2 == 0 else (1, 6)
        share = rng.beta(0.5, 0.5)
        first, second = rng.multinomial(60, [share, 1 - share])
        rows.append(
            np.concatenate([rng.multinomial(first, own / own.sum()), rng.multinomial(second, np.full(20, 0.05))])
        )
    labels = [[name for name, there in (("a", d % 2 == 0), ("b", d % 3 == 0)) if there] for d in range(120)]
    words = [f"w{column:02}" for column in range(40)]
    return Corpus.from_counts(sp.csr_array(np.array(rows)), words, labels=labels, metadata={"party": party})


@pytest.fixture(scope="module")
def model(corpus):
    return LDA(2, random_state=0, verbose=False).fit(corpus)


def rows_of(corpus, party):
    return np.flatnonzero(corpus.metadata["party"] == party)


@pytest.mark.parametrize("groups", [None, ("right", "left")])
def test_counts_and_scores_are_those_of_loops(corpus, model, groups):
    found = contrast(model, corpus, "party", groups=groups, strength=50)
    tree = model.topic_tree(corpus)
    left, right = (slow_tokens(tree, corpus, rows_of(corpus, party)) for party in ("left", "right"))
    assert found.groups == (groups or ("left", "right"))
    assert found.topics == (OVERALL, 0, 1)
    assert (found.n_left_out, sorted(found.n_documents)) == (1, [59, 60])
    for k in range(2):
        here, there, ratio, z = found.scores(k, "left")
        assert np.allclose(here, left[:, k], rtol=1e-5)
        assert np.allclose(there, right[:, k], rtol=1e-4, atol=1e-4)
        assert np.allclose([ratio, z], slow_z(left[:, k], right[:, k], left[:, k] + right[:, k], 50), atol=1e-4)
        assert np.allclose(z, -found.scores(k, "right")[3], atol=1e-4)
    here, there, _, z = found.scores(OVERALL, "left")
    counts = corpus.counts.toarray()
    raw = [counts[rows_of(corpus, party)].sum(axis=0) for party in ("left", "right")]
    assert np.array_equal(here, raw[0])
    assert np.allclose(there, raw[1])
    assert np.allclose(z, slow_z(*raw, raw[0] + raw[1], 50)[1], atol=1e-5)


def test_labels_may_overlap_and_the_rest_are_the_other_documents(corpus, model):
    found = contrast(model, corpus)
    members = {name: [d for d in range(120) if name in corpus.labels[d]] for name in "ab"}
    known = sorted({*members["a"], *members["b"]})
    assert found.n_left_out == 120 - len(known)
    tree = model.topic_tree(corpus)
    for name in "ab":
        rest = [d for d in known if d not in members[name]]
        here, there, *_ = found.scores(0, name)
        assert np.allclose(here, slow_tokens(tree, corpus, members[name])[:, 0], rtol=1e-4)
        assert np.allclose(there, slow_tokens(tree, corpus, rest)[:, 0], atol=1e-3)
    pair = contrast(model, corpus, groups=["b", "a"])
    assert np.allclose(pair.scores(1, "b")[1], slow_tokens(tree, corpus, members["a"])[:, 1], rtol=1e-4)


def test_planted_words_are_found_in_their_topic_alone(corpus, model):
    found = contrast(model, corpus, "party")
    first = int(model.topic_word_[:, 0].argmax())
    assert [word.word for word in found.words(first, "left", 1)] == ["w00"]
    assert [word.word for word in found.words(first, "right", 1)] == ["w01"]
    assert found.words(first, "left", 1)[0].z > 8
    assert found.words(1 - first, "left", 1)[0].z < 4
    assert found.words()[0].word == "w00"


def test_scores_without_a_difference_are_standard_normal():
    rng = np.random.default_rng(1)
    share = np.full(400, 1 / 400)
    z = np.array(
        [
            log_odds(*(draws := rng.multinomial(20_000, share, size=2).astype(float)), draws.sum(axis=0), 500)[1]
            for _ in range(20)
        ]
    )
    # the prior draws all words together a little, so the scores are a little below standard
    assert 0.9 < z.std() < 1.02
    assert abs(z.mean()) < 0.02


def test_dropped_topics_keep_their_tokens(corpus, model):
    tree = model.topic_tree(corpus)
    kept = contrast(tree.drop([1]), corpus, "party")
    whole = contrast(tree, corpus, "party")
    assert kept.topics == (OVERALL, 0)
    assert kept.total[1].sum() < 1.6 * whole.total[1].sum() < kept.total[0].sum()


def test_changed_trees_levels_and_hlta(corpus, model):
    tree = PLSA(4, random_state=0).fit(corpus).topic_tree(corpus).group([2])
    found = contrast(tree, corpus, "party")
    assert len(found.topics) == 5
    above = [int(topic) for topic in tree.ids[~tree.at_lowest_level]]
    both = contrast(tree, corpus, "party", topics=[above[0], 0, above[1]])
    assert both.topics == (OVERALL, above[0], 0, above[1])
    assert np.allclose(both.total[2], found.total[1])
    assert np.allclose(both.total[1] + both.total[3], both.total[0], atol=1e-3)
    hlta = HLTA(random_state=0, verbose=False).fit(corpus).topic_tree(corpus)
    found = contrast(hlta, corpus, "party")
    slow = slow_tokens(hlta, corpus, rows_of(corpus, "left"))
    assert np.allclose(found.counts[1:, 0].T, slow, rtol=1e-4, atol=1e-4)


def test_tables_text_and_arrays_agree(corpus, model):
    found = contrast(model, corpus, "party", topics=[1])
    assert isinstance(found, Contrast)
    table = found.table(n_words=3)
    assert table.columns.tolist() == [
        "topic",
        "name",
        "group",
        "word",
        "tokens",
        "tokens_elsewhere",
        "log_odds",
        "z",
    ]
    assert table.topic.unique().tolist() == [-1, 1]
    assert (table.z > 0).all()
    columns, z = found.top_words(3)
    assert columns.shape == z.shape == (2, 2, 3)
    own = table[(table.topic == 1) & (table.group == "right")]
    assert [found.vocabulary[column] for column in columns[1, 1]] == own.word.tolist()
    assert np.allclose(z[1, 1], own.z, rtol=1e-5)
    text = str(found)
    assert text.startswith("party: left (60 documents), right (59 documents); 1 documents in none of them are left out")
    assert f"1: {found.names[1]}" in text
    assert contrast(model, corpus, "party").top_words(99)[0].shape == (3, 2, 40)
    assert (contrast(model, corpus, "party").top_words(99)[0] == -1).any()


def test_the_figure_shows_the_words(corpus, model):
    pytest.importorskip("matplotlib")
    found = contrast(model, corpus, "party")
    figure = found.plot(0, n_words=2)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert {"left", "the rest"} <= set(texts)
    assert {"w00", "w01"} <= {text.get_text() for text in plots.contrast_words(found).axes[0].texts}
    with pytest.raises(ValueError, match="n_words"):
        found.plot(0, n_words=0)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"by": "colour"}, "no metadata column 'colour'; it has party"),
        ({"by": "party", "groups": ("left", "up")}, "'party' has no value 'up'; it has left, right"),
        ({"by": "party", "groups": ("left", "left")}, "expected two different values"),
        ({"by": "party", "groups": "left"}, "expected two different values"),
        ({"by": "party", "topics": [9]}, "there is no topic 9"),
        ({"by": "party", "strength": 0}, "strength=0: expected a number above zero"),
    ],
)
def test_bad_input_is_named(corpus, model, how, message):
    with pytest.raises(ValueError, match=message):
        contrast(model, corpus, **how)


def test_unfit_columns_are_named(corpus, model):
    many = Corpus.from_counts(corpus.counts, corpus.vocabulary, metadata={"year": range(120), "one": ["x"] * 120})
    with pytest.raises(ValueError, match="'year' has 120 values: expected at most 50 groups; bin its values"):
        contrast(model, many, "year")
    assert contrast(model, many, "year", groups=("3", "7")).n_documents == (1, 1)
    with pytest.raises(ValueError, match="'one' has 1 values"):
        contrast(model, many, "one")
    with pytest.raises(ValueError, match="no labels"):
        contrast(model, many)
    found = contrast(model, corpus, "party")
    with pytest.raises(ValueError, match="there is no group 'up'"):
        found.words(0, "up")
    with pytest.raises(ValueError, match=r"topic 7 is not in this contrast: expected -1 \(overall\) or one of 0, 1"):
        found.words(7)
    with pytest.raises(ValueError, match="the tree has 120 documents"):
        contrast(model.topic_tree(corpus), corpus.subset([1, 2]), "party")

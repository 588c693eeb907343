"""The topics of a fitted HLTA and their tree: words, levels, files, other documents."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hlta_cases import METHODS, check_model, same, small, words_of
from latent_tree_cases import EMISSIONS

import naive
import topicfold
from topicfold import Corpus, load
from topicfold.models.hlta.latent_tree import presence_table, state_marginals, words_given_states
from topicfold.topics.tree import TopicTree


@EMISSIONS
def test_effective_words_are_below_a_topic_and_have_its_discerning_index(deep, emission):
    model = deep[emission]
    check_model(model)
    presence = presence_table(model._tree(), emission)
    on, marginal = words_given_states(presence), state_marginals(presence)
    for k in range(len(model.topic_word_)):
        z, s = int(model.topic_latent_[k]), model.topic_state_[k]
        words = model.topic_effective_[[k]]
        index = [naive.discerning_index(on[z].astype(float), marginal[z], s, w) for w in words.indices]
        np.testing.assert_allclose(words.data, index, atol=1e-7)
        assert set(words.indices.tolist()) <= subtree_words(model, z)


@EMISSIONS
def test_words_of_a_topic_tell_most_about_it(deep, emission, known):
    model = deep[emission]
    tree = model.topic_tree(repeat=True)
    present = known[: len(model.doc_topic_)].toarray() > 0
    for k in range(len(tree)):
        shown = tree.words(k, 1000)
        in_topic = model.doc_topic_[:, k].astype(float)
        told = {}
        for w in range(present.shape[1]):
            table = [[(in_topic * present[:, w]).sum(), (in_topic * ~present[:, w]).sum()]]
            table.append([((1 - in_topic) * present[:, w]).sum(), ((1 - in_topic) * ~present[:, w]).sum()])
            cells = np.array(table) / len(in_topic)
            if cells[0, 0] / cells[0].sum() > cells[1, 0] / cells[1].sum():
                expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0)
                value = float((cells * np.log(np.maximum(cells, 1e-300) / expected)).sum())
                told |= {w: value} if value > np.log(len(in_topic)) / (2 * len(in_topic)) else {}
        assert [int(word.word[5:]) for word in shown] == sorted(told, key=lambda w: -told[w])
        np.testing.assert_allclose([word.score for word in shown], sorted(told.values())[::-1], atol=1e-6)
        for word in shown:
            assert word.probability == pytest.approx(model.topic_word_[k, int(word.word[5:])], rel=1e-5)
    assert np.allclose(tree.size, model.doc_topic_.mean(axis=0), atol=1e-6)


def subtree_words(model, z):
    words = set(model.word_columns_[model.word_parent_ == z].tolist())
    for child in np.flatnonzero(model.latent_parent_ == z):
        if model.latent_level_[child] < model.latent_level_[z]:
            words |= subtree_words(model, child)
    return words


@EMISSIONS
def test_levels_and_parents(deep, emission):
    model = deep[emission]
    tree = model.topic_tree(repeat=True)
    assert set(tree.level) == set(range(1, tree.level.max() + 1))
    assert tree.level.max() > 1
    assert np.array_equal(tree.parent, model.topic_parent_)
    for topic in tree.ids.tolist():
        for child in tree.children(topic):
            assert tree.level[child] < tree.level[topic]
    for levels in ([1], [tree.level.max()], [1, tree.level.max()]):
        part = model.topic_tree(levels=levels, repeat=True)
        assert set(part.level) == set(levels)
        assert part.ids.tolist() == [k for k in tree.ids.tolist() if tree.level[k] in levels]
        for row, topic in enumerate(part.ids.tolist()):
            above = int(tree.parent[topic])
            while above >= 0 and tree.level[above] not in levels:
                above = int(tree.parent[above])
            assert part.parent[row] == above
            assert words_of(part, topic) == words_of(tree, topic)
        assert len(part.to_text().splitlines()) == 2 + len(part)
    for levels in ([], [9], [1, 0]):
        with pytest.raises(ValueError, match="levels="):
            model.topic_tree(levels=levels)


def three_levels():
    """Topic 2 above 1 above 0, each with all of thirty words, ranked alike."""
    scores = np.tile(np.arange(30, 0, -1.0), (3, 1))
    return TopicTree(
        ids=np.arange(3),
        parent=np.array([1, 2, -1]),
        level=np.array([1, 2, 3]),
        size=np.ones(3),
        topic_word=np.full((3, 30), 0.5),
        doc_topic=np.ones((2, 3)),
        word_frequency=np.ones(30),
        vocabulary=tuple(f"w{i}" for i in range(30)),
        document_ids=("a", "b"),
        word_score=sp.csr_array(scores),
        exclusive=False,
    )


def check_no_repeats(tree, shown=10, least=2):
    """What a topic shows its parent does not show, but where too few words would be left."""
    for row, topic in enumerate(tree.ids.tolist()):
        if tree.parent[row] >= 0:
            above = set(words_of(tree, tree.parent[row], shown))
            words = words_of(tree, topic)
            repeated = [word for word in words if word in above]
            assert not repeated or len(words) - len(repeated) < least, (topic, words, above)


def test_a_topic_does_not_repeat_what_the_one_above_shows():
    tree = three_levels().drop_repeated_words()
    assert words_of(tree, 2, 10) == [f"w{i}" for i in range(10)]
    assert words_of(tree, 1, 10) == [f"w{i}" for i in range(10, 20)]
    check_no_repeats(tree)  # topic 1 shows w10 to w19 now, so topic 0 must not
    few = three_levels().drop_repeated_words(shown=29)
    assert len(words_of(few, 1)) == 30  # one word would be left


@EMISSIONS
def test_no_repeats_by_default(deep, emission):
    model = deep[emission]
    check_no_repeats(model.topic_tree())
    check_no_repeats(model.topic_tree(levels=[1, int(model.topic_level_.max())]))
    full, short = model.topic_tree(repeat=True), model.topic_tree()
    for topic in full.ids.tolist():
        assert set(words_of(short, topic)) <= set(words_of(full, topic))
        assert words_of(short, topic)
    assert np.array_equal(full.topic_word, short.topic_word)


@pytest.mark.parametrize("least", [0.5, 0.9])
def test_hlta_json(deep, least):
    tree = deep["presence"].topic_tree()
    nodes, topics = (json.loads(text) for text in tree.to_hlta_json(n_words=5, least=least))
    visited = []

    def visit(node, level):
        assert node["data"]["level"] < level
        assert node["data"]["name"] == node["id"]
        visited.append(node)
        for child in node["children"]:
            visit(child, node["data"]["level"])

    for node in nodes:
        visit(node, 99)
    assert len(visited) == len(tree) == len({node["id"] for node in visited})
    assert {entry["topic"] for entry in topics} == {node["id"] for node in visited}
    assert len(topics) == len(tree)
    by_text = {", ".join(words_of(tree, topic, 5)): topic for topic in tree.ids.tolist()}
    documents = {entry["topic"]: entry["doc"] for entry in topics}
    for node in visited:
        topic = by_text[node["text"]]
        assert node["data"]["percentage"] == pytest.approx(tree.size[topic])
        assert [child["text"] for child in node["children"]] == [
            ", ".join(words_of(tree, child, 5)) for child in tree.children(topic)
        ]
        members = np.flatnonzero(tree.doc_topic[:, topic] >= least)
        assert {name for name, _ in documents[node["id"]]} == {tree.document_ids[d] for d in members}
        shares = [share for _, share in documents[node["id"]]]
        assert shares == sorted(shares, reverse=True)


@METHODS
@EMISSIONS
def test_saved_and_loaded_has_the_same_topics(corpus, tmp_path, method, emission):
    model = small(method=method, emission=emission, n_levels=2, max_iter=3).fit(corpus)
    model.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    same(model, loaded)
    assert loaded.topic_tree().to_json() == model.topic_tree().to_json()
    assert loaded.topic_tree(corpus).to_hlta_json() == model.topic_tree(corpus).to_hlta_json()
    assert str(loaded.topic_tree(levels=[2])) == str(model.topic_tree(levels=[2]))
    assert loaded.word_clusters() == model.word_clusters()
    drawn = loaded.sample(20, random_state=1)
    assert (drawn != model.sample(20, random_state=1)).nnz == 0
    some = corpus.counts[:9]
    assert np.array_equal(loaded.log_likelihood(some), model.log_likelihood(some))


def test_topic_tree_search_and_other_documents(corpus):
    model = small(n_levels=2, max_iter=5).fit(corpus)
    tree = model.topic_tree(corpus)
    assert str(tree) == str(model.topic_tree())
    assert tree.document_ids == corpus.ids
    assert str(model.topic_tree()) == str(tree)
    cats = {"cat0", "cat1", "cat2", "cat3"}
    assert sum(set(words_of(model.topic_tree(repeat=True), k, 3)) <= cats for k in range(len(tree))) >= 1
    text = {id: set() for id in corpus.ids}
    for d, id in enumerate(corpus.ids):
        text[id] = {corpus.vocabulary[w] for w in corpus.counts[[d]].indices}
    hits = topicfold.search(model, corpus, "cat0 cat1 cat2 cat3", n=5)
    assert len(hits) == 5
    assert all(len(text[hit.id] & cats) >= 2 for hit in hits)
    other = Corpus.from_texts(["cat0 cat1 cat2 zebra", "sun0 sun1 sun2"], ids=["x", "y"])
    small_tree = model.topic_tree(other)
    assert small_tree.document_ids == ("x", "y")
    assert np.array_equal(small_tree.doc_topic, model.transform(other))
    assert small_tree.topics_of("x")[0] != small_tree.topics_of("y")[0]
    dropped = tree.drop([int(tree.children()[0])])
    assert len(dropped) == len(tree) - 1
    first = [int(k) for k in tree.ids[tree.level == 1][:2]]
    merged = tree.merge(first)
    assert len(merged) == len(tree) - 1
    assert set(words_of(merged, first[0])) == set(words_of(tree, first[0])) | set(words_of(tree, first[1]))


def test_select_ranks_parameters(corpus):
    grid = {"bic_threshold": [3.0, 500.0]}
    selection = topicfold.select(small(max_iter=2), corpus, grid, n_splits=2, n_seeds=1)
    assert selection.unit == "nats per document"
    assert selection.best in ({"bic_threshold": 3.0}, {"bic_threshold": 500.0})
    assert all(np.isfinite(row.score) and row.failed is None for row in selection.rows)
    assert np.isnan(selection.rows[0].perplexity)


def test_topics_of_latents_with_several_states(multi_state):
    model = small(method="bi", n_levels=2, max_iter=10).fit(multi_state)
    check_model(model)
    assert sorted(model.word_clusters()) == np.arange(12).reshape(3, 4).tolist()
    first = np.flatnonzero(model.latent_level_ == 1)
    assert (model.n_states_[first] == 3).all()
    assert set(model.topic_level_) == {1, 2}
    tree = model.topic_tree(repeat=True)
    assert len(tree) == (model.n_states_ - 1).sum()
    for z in first:
        rows = np.flatnonzero(model.topic_latent_ == z)
        columns = model.word_columns_[model.word_parent_ == z]
        mean = model.topic_word_[rows][:, columns].sum(axis=1)
        assert mean[0] < mean[1]  # states ascend by the words they have
        assert len({tuple(words_of(tree, k)) for k in rows}) == 2  # one base, ranked for each of them
        total = model.doc_topic_[:, rows].sum(axis=1)
        assert (total <= 1 + 1e-5).all()
        assert total.min() < 0.5 < total.max()
    for k in np.flatnonzero(model.topic_level_ == 1):  # the topic above is the one this topic's documents are most in
        y = model.latent_parent_[model.topic_latent_[k]]
        rows = np.flatnonzero(model.topic_latent_ == y)
        together = model.doc_topic_[:, k] @ model.doc_topic_[:, rows]
        best = np.sort(together)
        if len(rows) == 1 or best[-1] > 1.2 * best[-2]:
            assert model.topic_parent_[k] == rows[together.argmax()]

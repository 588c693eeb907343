"""Trees that were reduced, grouped, merged: what they hold, in memory, in files, and for new documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, fcluster, linkage

from topicfold import HLTA, LDCC, LTM, PLSA, TTMM, Corpus, TopicTree
from topicfold.topics.changes import grouped_to_show, number_of_groups
from topicfold.topics.similarity import linkage_of, topic_similarity

WORDS = [[f"w{block}{place}" for place in range(5)] for block in range(6)]


@pytest.fixture(scope="module")
def corpus():
    """Six kinds of documents; kinds 0 and 1 share words, and so do 2 and 3."""
    rng = np.random.default_rng(0)
    kinds = [WORDS[k] + (WORDS[k ^ 1][:2] if k < 4 else []) for k in range(6)]
    texts = [" ".join(rng.choice(kinds[d % 6], 20)) + "\n\n" + " ".join(rng.choice(kinds[d % 6], 9)) for d in range(90)]
    return Corpus.from_texts(texts, segments="paragraphs")


@pytest.fixture(scope="module")
def model(corpus):
    return PLSA(6, random_state=0).fit(corpus)


@pytest.fixture(scope="module")
def tree(model, corpus):
    return model.topic_tree(corpus)


def pairs(tree, topics):
    return {frozenset({tree.topics_of(a)[0][0], tree.topics_of(b)[0][0]}) for a, b in topics}


def test_topics_that_share_words_and_documents_are_most_alike(tree):
    alike = topic_similarity(tree)
    assert np.array_equal(alike, alike.T)
    assert np.allclose(np.diag(alike), 1)
    off = np.where(np.eye(6, dtype=bool), -1, alike)
    assert {frozenset({row, int(off[row].argmax())}) for row in range(6)} >= pairs(tree, [(0, 1), (2, 3)])


def test_reduce_merges_the_most_similar_down_to_a_number(tree):
    four = tree.reduce(4)
    assert len(four) == 4
    merged = {frozenset({old, new}) for old, new in four.mapping.items() if old != new}
    assert merged == pairs(tree, [(0, 1), (2, 3)])
    assert four.doc_topic.sum(axis=1) == pytest.approx(np.ones(90), abs=1e-5)
    assert four.topic_word.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    for new in four.ids.tolist():
        old = [topic for topic, became in four.mapping.items() if became == new]
        assert np.allclose(four.doc_topic[:, four.row(new)], tree.doc_topic[:, old].sum(axis=1), atol=1e-6)
        assert new == max(old, key=lambda topic: tree.size[topic])  # the largest gives the id
    assert tree.reduce(6) is tree
    assert len(tree.reduce(1)) == 1


def test_reduce_goes_by_ward_linkage(tree):
    for n_topics in range(1, 6):
        cluster = cut_tree(tree.linkage(), n_topics).ravel()
        found = tree.reduce(n_topics).mapping
        for a in range(6):
            for b in range(6):
                assert (found[a] == found[b]) == (cluster[a] == cluster[b])
    assert len(set(fcluster(tree.linkage(), 4, "maxclust"))) == 4


def test_similarity_is_that_of_the_words_of_the_documents(tree):
    shared = np.array([[(a * b).sum() for b in tree.doc_topic.T] for a in tree.doc_topic.T.astype(float)])
    words = np.sqrt((shared / shared.sum(axis=1, keepdims=True)) @ tree.topic_word)
    rows = words - np.sqrt(tree.word_frequency / tree.word_frequency.sum())
    for a in range(6):
        for b in range(6):
            cosine = rows[a] @ rows[b] / np.linalg.norm(rows[a]) / np.linalg.norm(rows[b])
            assert topic_similarity(tree)[a, b] == pytest.approx(cosine, abs=1e-6)


def test_ward_linkage_is_that_of_the_points():
    points = np.random.default_rng(0).normal(size=(9, 4))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    assert linkage_of(points @ points.T) == pytest.approx(linkage(points, "ward"), abs=1e-7)


def test_many_topics_are_listed_in_groups(tree):
    def repeated(n_topics):
        rows = np.arange(n_topics) % 6
        return replace(
            tree,
            ids=np.arange(n_topics),
            parent=np.full(n_topics, -1),
            level=np.ones(n_topics, int),
            size=tree.size[rows] * 6 / n_topics,
            topic_word=tree.topic_word[rows],
            word_presence=tree.word_presence[rows],
            doc_topic=tree.doc_topic[:, rows] * 6 / n_topics,
            marks={},
            mapping={},
        )

    assert [number_of_groups(n) for n in (4, 6, 12, 13, 20, 30, 500)] == [2, 2, 4, 5, 7, 10, 10]
    assert grouped_to_show(repeated(12)).level.max() == 1
    many = repeated(18)
    lines = many.to_text(2).splitlines()
    assert lines[0].startswith("18 topics of")
    headings = [line for line in lines[2:] if not line.split()[0].isdigit()]
    assert len(headings) == 6
    assert len(lines) == 2 + 18 + 6
    assert many._repr_html_().count("<tr><td></td>") == 6
    assert grouped_to_show(many.group([2])).level.max() == 2  # the reader's own groups stay


def test_groups_stand_above_the_topics(tree):
    high = tree.group([4, 2])
    assert np.bincount(high.level).tolist() == [0, 6, 4, 2]
    assert high.ids.tolist()[:6] == tree.ids.tolist()
    assert len(set(high.ids.tolist())) == 12
    for topic in high.ids[high.level > 1].tolist():
        below = high.children(topic)
        rows = [high.row(child) for child in below]
        assert len(below) >= 1
        assert set(high.level[rows]) == {high.level[high.row(topic)] - 1}
        assert np.allclose(high.doc_topic[:, high.row(topic)], high.doc_topic[:, rows].sum(axis=1), atol=1e-6)
    assert "group" in high.level_names.values()
    assert np.bincount(tree.group().level).tolist() == [0, 6, 2]
    assert high.select_levels([1]).ids.tolist() == tree.ids.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tree: tree.reduce(0), "n_topics=0"),
        (lambda tree: tree.reduce(7), "has only 6 topics"),
        (lambda tree: tree.group([6]), "fewer than the 6 topics"),
        (lambda tree: tree.group([3, 3]), "different numbers"),
        (lambda tree: tree.group([]), "different numbers"),
        (lambda tree: tree.group([3]).reduce(2), "one level"),
        (lambda tree: tree.group([3]).linkage(), "one level"),
        (lambda tree: tree.use_segments(), "no segments"),
    ],
)
def test_changes_that_cannot_be_are_named(tree, change, message):
    with pytest.raises(ValueError, match=message):
        change(tree)


MODELS = {
    "PLSA": PLSA(6, random_state=0),
    "LTM": LTM(6, random_state=0, max_iter=10),
    "TTMM": TTMM(8, 6, random_state=0),
    "LDCC": LDCC(4, 6, n_sweeps=20, burn_in=10, lag=2, random_state=0),
    "HLTA": HLTA(random_state=0, n_levels=2, top_size=2),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_tree_is_the_same(name, corpus, tmp_path):
    tree = MODELS[name].fit(corpus).topic_tree(corpus)
    first, second = tree.ids[tree.at_lowest_level].tolist()[:2]
    tree = tree.merge([first, second], "both <b>")
    tree.save(tmp_path / "t.safetensors")
    loaded = TopicTree.load(tmp_path / "t.safetensors")
    assert str(loaded) == str(tree)
    assert loaded.to_json() == tree.to_json()
    assert np.array_equal(loaded.doc_topic, tree.doc_topic)
    assert (loaded.names, loaded.mapping, loaded.level_names) == (tree.names, tree.mapping, tree.level_names)
    assert (loaded.exclusive, loaded.titles, loaded.document_ids) == (tree.exclusive, tree.titles, tree.document_ids)
    for field in ("segment_topic", "graph", "word_score"):
        a, b = getattr(loaded, field), getattr(tree, field)
        assert (a is None) == (b is None)
        assert a is None or np.array_equal(np.asarray(a.sum(axis=1)), np.asarray(b.sum(axis=1)))
    assert str(loaded.summary) == str(tree.summary)
    assert loaded.summary.settings == tree.summary.settings
    assert np.array_equal(loaded.summary.history, tree.summary.history)


@pytest.mark.parametrize("name", MODELS)
def test_new_documents_are_assigned_to_a_changed_tree(name, corpus):
    model = MODELS[name].fit(corpus)
    tree = model.topic_tree(corpus)
    lowest = tree.ids[tree.at_lowest_level].tolist()
    changed = tree.merge(lowest[:2]).drop([lowest[2]])
    assert np.array_equal(changed.memberships_of(tree), changed.doc_topic)  # the documents of the fit are as they were
    new = corpus.subset(slice(0, 90, 7))
    fresh = model.topic_tree(new)
    moved = changed.replace_documents(fresh)
    assert moved.doc_topic.shape == (13, len(changed))
    assert moved.document_ids == new.ids
    whole = changed.doc_topic[::7] if name in ("PLSA", "TTMM", "HLTA") else None  # others take another way when new
    assert whole is None or np.allclose(moved.doc_topic, whole, atol=1e-5)
    if tree.exclusive and tree.edges is None:
        grouped = tree.group([3, 2])
        assert np.allclose(grouped.memberships_of(tree), grouped.doc_topic, atol=1e-6)


def test_segments_follow_the_changes(corpus):
    model = MODELS["LDCC"].fit(corpus)
    tree = model.topic_tree(corpus)
    merged = tree.merge([0, 1])
    assert np.allclose(merged.segment_topic[:, merged.row(0)], tree.segment_topic[:, :2].sum(axis=1), atol=1e-6)
    assert merged.drop([2]).segment_topic.shape == (180, len(tree) - 2)
    assert merged.use_segments().doc_topic.shape == (180, len(tree) - 1)


@pytest.mark.parametrize("field", ["parent", "level", "size", "doc_topic", "word_frequency"])
def test_a_damaged_tree_is_refused(tree, tmp_path, field):
    from safetensors import safe_open
    from safetensors.numpy import save_file

    tree.save(tmp_path / "t.safetensors")
    with safe_open(tmp_path / "t.safetensors", framework="np") as file:
        metadata, arrays = file.metadata(), {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    arrays[field] = np.ascontiguousarray(arrays[field][:-1])
    save_file(arrays, tmp_path / "t.safetensors", metadata)
    with pytest.raises(ValueError, match=field):
        TopicTree.load(tmp_path / "t.safetensors")


def test_other_files_are_no_trees(model, tree, tmp_path):
    model.save(tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match="contains a model: expected a tree"):
        TopicTree.load(tmp_path / "m.safetensors")

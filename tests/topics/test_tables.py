"""Data frames of topics, documents, groups and periods."""

from __future__ import annotations

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

from topicfold import HLTA, LDA, LDCC, LTM, PLSA, TTMM, Corpus, build_report, knn_graph, load, topics_over_time
from topicfold.models import MODELS

TEXTS = ["cat dog cat", "dog cat", "sun moon", "moon star sun", "leaf tree", "tree root leaf tree"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(
        TEXTS,
        ids="abcdef",
        titles=[text.upper() for text in TEXTS[:5]] + [""],
        labels=["x", "x", "y", "y", None, "y"],
        timestamps=[1999, 1999, 2000, 2001, None, 2001],
        metadata={"party": ["left", "right", "left", "", "left", "right"], "length": [3, 2, 2, 3, 2, 4]},
    )


@pytest.fixture(scope="module")
def tree(corpus):
    return PLSA(3, random_state=0).fit(corpus).topic_tree(corpus)


def test_topics(tree):
    table = tree.rename({1: "one"}).topic_table(n_words=2, n_documents=2)
    assert list(table.columns) == ["name", "parent", "level", "size", "mark", "n_documents", "words", "documents"]
    assert table.index.tolist() == [0, 1, 2]
    assert table.loc[1, "name"] == "one"
    assert table["n_documents"].tolist() == [2, 2, 2]
    animals = tree.topics_of("a")[0][0]
    assert set(table.loc[animals, "words"].split()) == {"cat", "dog"}
    assert set(table.loc[animals, "documents"]) == {"CAT DOG CAT", "DOG CAT"}
    plants = tree.topics_of("f")[0][0]
    assert "f" in table.loc[plants, "documents"]  # it has no title


def test_documents(tree, corpus):
    table = tree.document_table()
    assert table.index.tolist() == list("abcdef")
    names = [f"{name}{place}" for place in ("", "_2", "_3") for name in ("topic", "name", "probability")]
    assert list(table.columns) == ["title", *names]
    for row, (_, document) in enumerate(table.iterrows()):
        best = tree.topics_of(row, 3)
        assert [document["topic"], document["topic_2"], document["topic_3"]] == [topic for topic, _ in best]
        assert document["name"] == tree.name(best[0][0])
        assert document["probability_3"] == pytest.approx(best[2][1])
    known = tree.document_table(corpus, n_topics=1)
    assert list(known.columns) == ["title", "topic", "name", "probability", "labels", "timestamp", "party", "length"]
    assert known["labels"].tolist() == ["x", "x", "y", "y", "", "y"]
    assert known["length"].tolist() == [3, 2, 2, 3, 2, 4]


def test_several_labels_per_document_are_lists(tree):
    several = Corpus.from_texts(TEXTS, ids="abcdef", labels=[["x", "y"], [], "x", "y", None, "x"])
    assert tree.document_table(several)["labels"].tolist()[:2] == [["x", "y"], []]


def test_groups(tree, corpus):
    table = tree.group_table(corpus)
    assert table.index.tolist() == ["x", "y"]
    assert table["n_documents"].tolist() == [2, 3]
    for label, rows in {"x": [0, 1], "y": [2, 3, 5]}.items():
        assert table.loc[label].tolist()[1:] == pytest.approx(tree.doc_topic[rows].mean(axis=0).tolist())
    by_party = tree.group_table(corpus, by="party")
    assert by_party.index.tolist() == ["left", "right"]
    assert by_party.loc["right"].tolist()[1:] == pytest.approx(tree.doc_topic[[1, 5]].mean(axis=0).tolist())
    assert tree.group_table(corpus, by="length").index.tolist() == ["2", "3", "4"]
    with pytest.raises(ValueError, match="no metadata column 'colour'; it has party, length"):
        tree.group_table(corpus, by="colour")


def test_periods(tree, corpus):
    table = tree.time_table(corpus)
    assert table.index.tolist() == ["1999", "2000", "2001"]
    assert table.index.name == "year"
    assert table["n_documents"].tolist() == [2, 1, 2]
    assert table.loc["2001"].tolist()[1:] == pytest.approx(tree.doc_topic[[3, 5]].mean(axis=0).tolist())
    assert tree.time_table(corpus, by="month").index.tolist() == ["1999-01", "2000-01", "2001-01"]
    with pytest.raises(ValueError, match="by='era'"):
        tree.time_table(corpus, by="era")


def test_tables_of_models_with_levels(corpus):
    ldcc = LDCC(2, 3, n_sweeps=20, burn_in=10, lag=2, random_state=0).fit(corpus).topic_tree(corpus)
    assert len(ldcc.topic_table()) == 5
    assert set(ldcc.document_table()["topic"]) <= {0, 1, 2}
    assert ldcc.time_table(corpus).iloc[:, 1:].sum(axis=1).tolist() == pytest.approx([1, 1, 1], abs=1e-5)
    hlta = HLTA(random_state=0).fit(corpus).topic_tree(corpus)
    expected = [(hlta.doc_topic[:, row] > 0.5).sum() for row in range(len(hlta))]
    assert hlta.topic_table()["n_documents"].tolist() == expected


def test_what_is_missing_is_said(tree):
    other = Corpus.from_texts(TEXTS[:4])
    for call in (tree.document_table, tree.group_table, tree.time_table):
        with pytest.raises(ValueError, match="6 documents and the corpus 4"):
            call(other)
    plain = Corpus.from_texts(TEXTS)
    with pytest.raises(ValueError, match="no labels"):
        tree.group_table(plain)
    with pytest.raises(ValueError, match="no timestamps"):
        tree.time_table(plain)


def test_no_two_columns_have_one_name(corpus):
    tree = PLSA(3, random_state=0).fit(corpus).topic_tree(corpus).rename({0: "same", 1: "same"})
    assert len(set(tree.time_table(corpus).columns)) == 4
    clash = Corpus.from_texts(TEXTS, ids="abcdef", metadata={"topic": np.arange(6)})
    assert "metadata_topic" in tree.document_table(clash).columns


@pytest.mark.parametrize("model", [PLSA(3, random_state=0), LDA(3, random_state=0), TTMM(3, 3, random_state=0)])
def test_documents_without_words_are_left_out(corpus, model):
    """Their shares are those of the corpus, which would count them all in its largest topic."""
    with pytest.warns(UserWarning, match="4 of 10 texts are empty"):
        more = Corpus.from_texts(
            [*TEXTS, "", " ", "", ""],
            labels=["x", "x", "y", "y", None, "y", "x", "x", "x", "y"],
            timestamps=[1999, 1999, 2000, 2001, None, 2001, 2001, 2001, 2002, 2002],
            metadata={"party": ["left", "right", "left", "", "left", "right", *["left"] * 4]},
        )
    model = model.fit(corpus)
    tree, full = model.topic_tree(corpus).select_levels([1]), model.topic_tree(more).select_levels([1])
    assert full.wordless.tolist() == [6, 7, 8, 9]
    assert full.topic_table()["n_documents"].tolist() == tree.topic_table()["n_documents"].tolist()
    documents = full.document_table(more)
    assert documents["topic"].tolist()[6:] == [-1] * 4
    assert documents["name"].tolist()[6:] == [""] * 4
    assert documents["probability"].tolist()[6:] == [0] * 4
    assert (documents["topic"][:6] >= 0).all()
    for by in ("labels", "party"):
        assert_frame_equal(full.group_table(more, by), tree.group_table(corpus, by), check_dtype=False, rtol=1e-4)
    assert_frame_equal(full.time_table(more), tree.time_table(corpus), check_dtype=False, rtol=1e-4)
    assert len(topics_over_time(model, more).periods) == 3  # 1999 to 2001
    assert full.size == pytest.approx(tree.size, abs=1e-5)
    assert full.documents(0, 10) == tree.replace_documents(model.topic_tree(more)).select_levels([1]).documents(0, 10)
    assert {id for id, share in full.documents(0, 10) if share > 0} <= set("012345")
    merged = full.merge([0, 1])
    assert merged.topic_table()["n_documents"].sum() == 6
    page = build_report(full, more).data
    assert all(page["documents"]["topics"][:6])
    assert not any(page["documents"]["topics"][6:])
    assert page["groups"][0]["documents"] == tree.group_table(corpus).n_documents.tolist()
    assert sum(page["time"]["documents"]) == 5


def test_a_tree_without_the_corpus_knows_the_documents_without_words(tmp_path):
    with pytest.warns(UserWarning, match="2 of 8 texts are empty"):
        some = Corpus.from_texts([*TEXTS, "", ""])
    for name in MODELS:
        model = MODELS[name].make(2, random_state=0, verbose=False).fit(some)
        rows = [] if name == "HLTA" else [6, 7]  # for HLTA, that words are absent says something
        assert model.topic_tree().wordless.tolist() == model.topic_tree(some).wordless.tolist() == rows, name
        model.save(tmp_path / "model.safetensors")
        assert load(tmp_path / "model.safetensors").topic_tree().wordless.tolist() == rows
    never = PLSA(2, random_state=0).fit(some).topic_tree(Corpus.from_texts(["cat", "xyzzy"]))
    assert never.wordless.tolist() == [1]


def test_neighbours_give_topics_to_documents_without_words(corpus):
    with pytest.warns(UserWarning, match="1 of 7 texts are empty"):
        more = Corpus.from_texts([*TEXTS, ""])
    graph = knn_graph(np.eye(7) + np.eye(7, k=-1), 1)
    assert LTM(3, graph_weight=3.0, random_state=0).fit(more, graph=graph).topic_tree(more).wordless.tolist() == []


def test_a_document_that_lost_all_its_topics_counts_in_none(tree):
    left = tree.drop([0, 1])
    assert left.topic_table()["n_documents"].tolist()[0] == (left.doc_topic[:, 0] > 0).sum()

"""Groups of documents under one model, as the page gets them and in a browser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from selenium.webdriver.support.ui import Select

from browser import WIDTHS, small_corpus
from topicfold import PLSA, build_report, contrast
from topicfold.corpus.metadata import as_metadata


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """Two groups that use other words of the same themes."""
    corpus = small_corpus()
    swaps = [("rose", "tulip"), ("tulip", "rose")]  # group one has only roses, group two only tulips
    texts = [text.lower().replace(*swaps[d % 8 < 4]) for d, text in enumerate(corpus.texts)]
    party = ["<i>one</i>" if d % 8 < 4 else "two" for d in range(80)]
    known = {"titles": corpus.titles * 4, "labels": corpus.labels * 4, "keep_texts": True}
    corpus = type(corpus).from_texts(texts * 4, **known)
    corpus = replace(corpus, metadata=as_metadata({"party": party * 4, "year": [1990 + d % 3 for d in range(320)]}))
    model = PLSA(4, random_state=0, verbose=False).fit(corpus)
    report = build_report(model, corpus, name="Spoken")
    file = tmp_path_factory.mktemp("spoken") / "spoken.html"
    report.save(file)
    return file, corpus, model.topic_tree(corpus), report.data


def test_shares_and_words_of_groups(spoken):
    _, corpus, tree, data = spoken
    assert [table["by"] for table in data["groups"]] == ["labels", "party", "year"]
    party = data["groups"][1]
    assert party["values"] == ["<i>one</i>", "two"]
    assert party["documents"] == [160, 160]
    own = corpus.metadata["party"] == "two"
    assert np.array(party["share"])[:, 1] == pytest.approx(tree.doc_topic[own].mean(axis=0), rel=2e-3)
    found = contrast(tree, corpus, "party")
    for row, topic in enumerate(tree.ids.tolist()):
        expected = [(word.word, word.z) for word in found.words(topic, "two", 8) if word.z >= 3]
        shown = [(data["words"][word], z) for word, z in party["words"][row + 1][1]]
        assert [word for word, _ in shown] == [word for word, _ in expected]
        assert [z for _, z in shown] == pytest.approx([z for _, z in expected], rel=1e-2)
    garden = tree.topics_of(0)[0][0]
    assert data["words"][party["words"][tree.row(garden) + 1][1][0][0]] == "tulip"


def test_columns_of_one_or_of_many_values_have_no_groups(spoken):
    _, corpus, tree, _ = spoken
    other = replace(
        corpus, labels=None, metadata=as_metadata({"one": ["x"] * 320, "many": [f"v{d}" for d in range(320)]})
    )
    assert build_report(tree, other).data["groups"] == []


def test_the_page_of_a_topic_says_how_groups_speak_of_it(page, spoken):
    file, _, tree, _ = spoken
    page.open(file, f"topic={tree.topics_of(0)[0][0]}")
    Select(page.find("#groups-by")).select_by_visible_text("party")
    assert set(page.texts(".group-table tbody th")) == {"<i>one</i>", "two"}
    rows = dict(zip(page.texts(".group-table tbody th"), page.texts(".group-table td:last-child")))
    assert rows["two"].split()[0] == "tulip"
    assert rows["<i>one</i>"].split()[0] == "rose"


def test_two_groups_side_by_side(page, spoken):
    file, _, tree, data = spoken
    page.open(file, "groups")
    Select(page.find("#group-by")).select_by_visible_text("party")
    assert [Select(page.find(f"#group-{end}")).first_selected_option.text for end in ("one", "other")] == [
        "<i>one</i> (160)",
        "two (160)",
    ]
    table = data["groups"][1]
    names = page.texts("table.groups th[scope=row]")
    shown = page.texts("table.groups td.number")
    for place, name in enumerate(names):
        row = next(row for row in range(4) if tree.name(row) == name)
        for group in (0, 1):
            assert float(shown[2 * place + group].strip("%")) == pytest.approx(
                100 * table["share"][row][group], abs=0.06
            )
    differences = [float(shown[2 * k].strip("%")) - float(shown[2 * k + 1].strip("%")) for k in range(4)]
    assert differences == sorted(differences, reverse=True)
    assert page.count(".dumbbells circle") == 8
    Select(page.find("#group-by")).select_by_visible_text("year")
    Select(page.find("#group-one")).select_by_index(2)
    assert page.texts("table.groups thead th")[1:3] == ["1992", "all others"]
    year = data["groups"][2]
    rest = np.average(np.array(year["share"])[:, :2], axis=1, weights=year["documents"][:2])
    name, figure = page.texts("table.groups th[scope=row]")[0], page.texts("table.groups td.number")[1]
    row = next(row for row in range(4) if tree.name(row) == name)
    assert float(figure.strip("%")) == pytest.approx(100 * rest[row], abs=0.06)


def test_two_groups_fit_a_phone(page, spoken):
    page.look(WIDTHS["phone"])
    page.open(spoken[0], "groups")
    Select(page.find("#group-other")).select_by_index(2)
    assert page.count("table.groups thead th") == 5
    assert not page.too_wide()
    width = "return document.querySelector(arguments[0]).getBoundingClientRect().width"
    assert page.js(width, "table.groups th[scope=row]") > 300  # the name has a line of its own


def test_groups_of_merged_topics(page, spoken):
    file, _, _, data = spoken
    page.open(file, "topic=0")
    Select(page.find("#merge-with")).select_by_index(1)
    Select(page.find("#groups-by")).select_by_visible_text("party")
    figures = [float(text.strip("%")) for text in page.texts(".group-table td.figure > span:last-child")]
    share = np.array(data["groups"][1]["share"])
    merged = [100 * (share[0] + share[row]) for row in (1, 2, 3)]
    assert any(sorted(figures) == pytest.approx(sorted(pair.tolist()), abs=0.2) for pair in merged)
    page.go("groups")

"""What goes into the explorer, each part beside a slow and obvious twin; tests/test_explorer*.py look at the page."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import HLTA, LDCC, TTMM, Corpus, Preprocessing, load, save, topic_tree
from topicfold.corpus.preprocessing import split_segments
from topicfold.graph.build import link_graph
from topicfold.metrics.coherence import coherence
from topicfold.models import MODELS
from topicfold.report import Report, build_report, read_names
from topicfold.report import comparison as compare
from topicfold.report import document_table as documents
from topicfold.topics.ranking import relevance

KINDS = {
    "pets": ["cat", "dog", "cow", "fur", "paw"],
    "sky": ["sun", "moon", "star", "comet", "orbit"],
    "food": ["bread", "cheese", "apple", "soup", "spoon"],
}
SLIDER = np.arange(21) / 20
SHOWN_WORDS = 25  # of a topic on the page


def small_texts(n=36):
    """Two paragraphs a text; in every third one the second is about something else."""
    rng = np.random.default_rng(0)
    names, texts = list(KINDS), []
    for number in range(n):
        own = number % 3
        kinds = [own, (own + 1) % 3 if number % 9 < 3 else own]
        paragraphs = [list(rng.choice(KINDS[names[kind]], 9)) for kind in kinds]
        first, second = (f"{' '.join(words[:5]).title()}, the {' '.join(words[5:])}." for words in paragraphs)
        texts.append(f"😀 {first} And of it.\n\n{second} 🐈 end-of {number}")
    return texts


def small_corpus(texts=None, **options):
    texts = small_texts() if texts is None else texts
    n = len(texts)
    names = list(KINDS)
    known = {
        "ids": [f"d{i}" for i in range(n)],
        "titles": [f"Title {i}" for i in range(n)],
        "labels": [None if i % 7 == 0 else [names[i % 3], "odd"] if i % 2 else names[i % 3] for i in range(n)],
        "links": [(f"d{i}", f"d{(i + 3) % n}") for i in range(n)],
        "timestamps": [None if i % 5 == 0 else f"{2001 + i // 4}-03-01" for i in range(n)],
        "keep_texts": True,
    }
    return Corpus.from_texts(texts, **{**known, **options})


def fitted(info, corpus, n_topics=3, **parameters):
    if info.steps == "n_sweeps":
        parameters = {"n_sweeps": 40, "burn_in": 20, "lag": 4, **parameters}
    return info.make(n_topics, **{"random_state": 0, "verbose": False, **parameters}).fit(corpus)


def shown_tree(model, corpus):
    """The tree the page shows: of a TTMM, that with its themes."""
    return model.theme_tree(corpus) if isinstance(model, TTMM) else topic_tree(model, corpus)


def plsa(corpus, n_topics=3, **parameters):
    return fitted(MODELS["PLSA"], corpus, n_topics, **parameters)


@pytest.fixture(scope="module")
def corpus():
    return small_corpus(segments="paragraphs")


@pytest.fixture(scope="module")
def model(corpus):
    return plsa(corpus)


@pytest.fixture(scope="module", params=MODELS, ids=str)
def any_model(request, corpus):
    return fitted(MODELS[request.param], corpus)


# ---- as the page reads it -------------------------------------------------------------------------------------------


def numbers(text):
    return [int(number) for number in text.split()]


def in_threes(text):
    flat = numbers(text)
    return list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))


def units(text):
    """A text as JavaScript counts it: two bytes a unit."""
    return text.encode("utf-16-le", "surrogatepass")


def piece(text, start, end):
    return units(text)[2 * start : 2 * end].decode("utf-16-le")


def marks_of(table, d):
    """(start, end, topic), in units of the text."""
    marks, at = [], 0
    for skipped, length, topic in in_threes(table["marks"][d]):
        marks.append((at + skipped, at + skipped + length, topic))
        at += skipped + length
    return marks


def marked_words(table, d):
    return [(piece(table["text"][d], start, end), topic) for start, end, topic in marks_of(table, d)]


# ---- the report as a whole ------------------------------------------------------------------------------------------


def refuse(name):
    raise AssertionError(f"{name} is not JSON")


def test_every_model_has_a_report(any_model, corpus):
    report = build_report(any_model, corpus, name="small", compare=any_model)
    data = json.loads(report.to_json(), parse_constant=refuse)
    tree, table = shown_tree(any_model, corpus), data["documents"]
    assert data == report.data
    assert [topic["id"] for topic in data["topics"]] == tree.ids.tolist()
    assert [topic["size"] for topic in data["topics"]] == pytest.approx(tree.size, rel=1e-3)
    assert data["corpus"] == {
        "documents": 36,
        "shown": 36,
        "words": corpus.counts.shape[1],
        "tokens": corpus.counts.sum(),
        "segments": 72,
        "links": 36,
        "cut": None,
    }
    assert {len(column) for column in table.values() if column is not None} == {36}
    assert table["text"] == list(corpus.texts)
    assert table["title"] == list(corpus.titles)
    assert table["date"][:2] == ["", "2001-03-01"]
    assert ("parts" in table) == isinstance(any_model, LDCC)
    for d in range(36):
        for column in ("near", "linked"):
            assert d not in numbers(table[column][d])
            assert set(numbers(table[column][d])) <= set(range(36))
        assert 0 <= table["x"][d] <= 10_000
        assert 0 <= table["y"][d] <= 10_000
        flat = numbers(table["topics"][d])
        for row, share in zip(flat[::2], flat[1::2], strict=True):
            assert share == round(1000 * float(tree.doc_topic[d, row]))
    assert data["model"]["name"] == type(any_model).__name__
    assert data["model"]["unit"] == MODELS[type(any_model).__name__].score_unit
    assert data["graph"] == ("the graph of the fit" if hasattr(any_model, "graph_") else "links")


@pytest.mark.parametrize("name", MODELS)
def test_the_same_bytes_from_the_same_seed_and_any_number_of_threads(name, corpus):
    once, again, threaded = (
        build_report(fitted(MODELS[name], corpus, n_jobs=n_jobs), corpus).to_html() for n_jobs in (1, 1, 2)
    )
    assert once == again
    assert once == threaded


def test_the_same_bytes_from_files(any_model, corpus, tmp_path):
    save(any_model, tmp_path / "m.safetensors")
    corpus.save(tmp_path / "c.safetensors")
    again = build_report(load(tmp_path / "m.safetensors"), Corpus.load(tmp_path / "c.safetensors"))
    assert again.to_json() == build_report(any_model, corpus).to_json()


def test_bad_input_is_named(model, corpus):
    with pytest.raises(ValueError, match="no topics"):
        build_report(model, corpus, tree=topic_tree(model, corpus).drop([0, 1, 2]))
    with pytest.raises(ValueError, match="max_documents=0"):
        build_report(model, corpus, max_documents=0)
    with pytest.raises(ValueError, match="36 documents and the corpus 4"):
        build_report(model, corpus.subset(range(4)), tree=topic_tree(model, corpus))
    with pytest.raises(ValueError, match="no topic 7"):
        build_report(model, corpus, names={7: "seventh"})
    with pytest.raises(ValueError, match="method='magic'"):
        build_report(model, corpus, layout="magic")


def test_names_and_changed_trees(model, corpus):
    tree = topic_tree(model, corpus).merge([0, 2])
    data = build_report(model, corpus, tree=tree, names={1: "one"}).data
    assert [(topic["id"], topic["name"]) for topic in data["topics"]] == [(0, None), (1, "one")]
    assert all(topic in (0, 1) for d in range(36) for *_, topic in marks_of(data["documents"], d))


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('{"0": "a", "12": "b c"}', {0: "a", 12: "b c"}),
        ("{}", {}),
        ('{"3": ""}', {3: ""}),
        ('{"1": "é😀"}', {1: "é😀"}),
    ],
)
def test_names_are_read(content, names, tmp_path):
    path = tmp_path / "names.json"
    path.write_text(content, encoding="utf-8")
    assert read_names(path) == names


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b'"x"', b'{"x": "a"}', b'{"-1": "a"}', b'{"1.0": "a"}', b'{"1": 2}', b"\xff\xfe", b"{"]
)
def test_what_holds_no_names_is_said(content, tmp_path):
    path = tmp_path / "names.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"names\.json holds no names"):
        read_names(path)


# ---- words and their topics -----------------------------------------------------------------------------------------


def plain_words(text):
    """Words of the small texts in order, as they stand there."""
    return re.findall(r"[A-Za-z]{2,}", unicodedata.normalize("NFC", text))


def best_topic(tree, word, shares):
    """The topic with the largest product for a word and a document, by going through them; None where it is zero."""
    w = tree.vocabulary.index(word)
    lowest = min(tree.level)
    found, most = None, 0.0
    for row in range(len(tree)):
        if tree.exclusive and tree.level[row] > lowest:
            continue
        weight = tree.topic_word[row, w] if tree.word_score is None else sp.csr_array(tree.word_score)[row, w]
        if float(weight) * float(shares[row]) > most:
            found, most = row, float(weight) * float(shares[row])
    return found


def expected_marks(tree, words, shares):
    known = [word for word in words if word.lower() in tree.vocabulary]
    found = [(word, best_topic(tree, word.lower(), shares)) for word in known]
    return [(word, topic) for word, topic in found if topic is not None]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "LDCC"])
def test_each_mark_is_a_word_in_its_most_probable_topic(name, corpus):
    model = fitted(MODELS[name], corpus, **({} if name == "HLTA" else {"dtype": "float64"}))
    tree, table = topic_tree(model, corpus), build_report(model, corpus).data["documents"]
    for d, text in enumerate(corpus.texts):
        expected = expected_marks(tree, plain_words(text), tree.doc_topic[d])
        assert marked_words(table, d) == expected
        assert table["length"][d] == len(units(text)) // 2
    assert sum(len(marks_of(table, d)) for d in range(36)) > 300


def test_topics_of_a_hierarchy_colour_words_by_their_own_score(corpus):
    model = HLTA(random_state=0, verbose=False).fit(corpus)
    tree = topic_tree(model, corpus)
    assert tree.word_score is not None
    assert not tree.exclusive
    data = build_report(model, corpus).data
    assert data["score"] == "discerning index"
    for topic, row in zip(data["topics"], range(len(tree)), strict=True):
        own = {data["words"][word]: score for word, _, score in topic["words"] if score is not None}
        assert own == pytest.approx({word.word: word.score for word in tree.words(row, 30)}, rel=1e-3)


def test_a_word_that_speaks_against_a_topic_is_not_coloured_by_it(model, corpus):
    tree = topic_tree(model, corpus)
    scores = np.random.default_rng(0).normal(size=tree.topic_word.shape)
    for word_score in (scores, sp.csr_array(np.where(scores > 1, scores, 0))):
        scored = replace(tree, word_score=word_score, exclusive=False)
        table = build_report(model, corpus, tree=scored).data["documents"]
        for d, text in enumerate(corpus.texts):
            assert marked_words(table, d) == expected_marks(scored, plain_words(text), tree.doc_topic[d])


def test_documents_without_texts_show_their_words(corpus):
    counted = Corpus.from_counts(corpus.counts, corpus.vocabulary, ids=corpus.ids)
    model = plsa(counted, dtype="float64")
    tree, data = topic_tree(model, counted), build_report(model, counted).data
    assert "text" not in data["documents"]
    for d in range(36):
        shown = {data["words"][word]: (count, topic) for word, count, topic in in_threes(data["documents"]["words"][d])}
        row = counted.counts[[d]].toarray()[0]
        topics = {word: best_topic(tree, word, tree.doc_topic[d]) for word in shown}
        expected = {
            word: (row[w], -1 if topics[word] is None else topics[word])
            for w, word in enumerate(tree.vocabulary)
            if row[w]
        }
        assert shown == expected
        counts = [count for _, count, _ in in_threes(data["documents"]["words"][d])]
        assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(
    "text",
    [
        "हिन्दी भाषा, हिन्दी",
        "re\u0301sume\u0301 Café 😀 CAFÉ",
        "İstanbul I\u0307stanbul",
        "ΟΔΟΣ οδος 𝒳 οδος.",
        "ที่นี่ ภาษา",
        "😀😀 dog 🐈‍⬛ dog",
    ],
)
def test_marks_in_every_script(text):
    corpus = Corpus.from_texts([text, "other words"], keep_texts=True)
    data = build_report(plsa(corpus, 2), corpus).data
    shown = unicodedata.normalize("NFC", text)
    assert data["documents"]["text"][0] == shown
    lowered = [word.replace("İ", "i").lower() for word, _ in marked_words(data["documents"], 0)]
    assert lowered == Preprocessing().words(text)


# ---- segments -------------------------------------------------------------------------------------------------------

HEADED = "The and of\n\nCat dog cow. Sun moon!\n\nof the\n\nStar sun comet moon orbit? Paw fur dog cat."


def windows(text, size):
    words = Preprocessing().words(text)
    return [words[start : start + size] for start in range(0, len(words), size)]


def parts_of(table, d):
    """(topic, topic above, marked words with their topics) of each part, as the page cuts the text."""
    parts, marks, text = in_threes(table["parts"][d]), marks_of(table, d), table["text"][d]
    ends = [*(start for start, *_ in parts), len(units(text)) // 2][1:]
    return [
        (topic, above, [(piece(text, a, b), row) for a, b, row in marks if start <= a and b <= end])
        for (start, topic, above), end in zip(parts, ends, strict=True)
    ]


def ldcc(corpus, **parameters):
    return fitted(MODELS["LDCC"], corpus, 3, **parameters)


@pytest.mark.parametrize("how", ["paragraphs", "sentences", 4, "given"])
def test_segments_are_found_again(how):
    texts = [*small_texts(24), HEADED, "", "the of and"]
    given = [split_segments(text, "paragraphs") for text in texts] if how == "given" else texts
    corpus = small_corpus(given, segments=how, min_df=2)
    model = ldcc(corpus)
    tree, table = topic_tree(model, corpus), build_report(model, corpus).data["documents"]
    topics, above = model.segment_memberships(corpus)
    number = 0
    for d, text in enumerate(given):
        cut = windows(text, how) if how == 4 else [Preprocessing().words(part) for part in split_segments(text, how)]
        parts = iter(parts_of(table, d))
        for words in cut or [[]]:
            known = [word for word in words if word in corpus.vocabulary]
            assert corpus.segments.counts[[number]].sum() == len(known)
            assert corpus.segments.documents[number] == d
            if known:
                topic, upper, marked = next(parts)
                assert topic == topics[number].argmax()
                assert upper == 3 + above[number].argmax()
                shares = np.concatenate([topics[number], np.zeros(3)])
                assert [(word.lower(), row) for word, row in marked] == expected_marks(tree, known, shares)
            number += 1
        assert next(parts, None) is None
    assert number == len(topics)


def test_runs_of_words_fall_back_to_the_document(corpus):
    paired = small_corpus(segments="paragraphs", preprocessing=Preprocessing(ngrams=(1, 2)))
    model = ldcc(paired)
    tree, table = topic_tree(model, paired), build_report(model, paired).data["documents"]
    assert set(table["parts"]) == {""}
    for d, text in enumerate(paired.texts):
        assert marked_words(table, d) == expected_marks(tree, plain_words(text), tree.doc_topic[d])


def test_segments_of_a_merged_and_renamed_tree(corpus):
    model = ldcc(corpus)
    topics, above = model.segment_memberships(corpus)
    tree = topic_tree(model, corpus).merge([0, 2], "both").merge([3, 5])
    table = build_report(model, corpus, tree=tree).data["documents"]
    assert tree.ids.tolist() == [0, 1, 3, 4]
    merged = np.stack([topics[:, 0] + topics[:, 2], topics[:, 1]], axis=1)
    merged_above = np.stack([above[:, 0] + above[:, 2], above[:, 1]], axis=1)
    for d in range(36):
        found = parts_of(table, d)
        assert len(found) == 2
        for number, (topic, upper, marked) in zip((2 * d, 2 * d + 1), found, strict=True):
            assert topic == merged[number].argmax()
            assert upper == 2 + merged_above[number].argmax()
            shares = np.concatenate([merged[number], np.zeros(2)])
            assert marked == expected_marks(tree, [word for word, _ in marked], shares)


def test_segments_without_the_topics_above_or_with_one_dropped(corpus):
    model = ldcc(corpus)
    whole = topic_tree(model, corpus)
    below = build_report(model, corpus, tree=whole.at_levels([1])).data["documents"]
    assert {upper for d in range(36) for _, upper, _ in parts_of(below, d)} == {-1}
    without = build_report(model, corpus, tree=whole.drop([0])).data["documents"]
    rows = {
        row for d in range(36) for topic, _, marked in parts_of(without, d) for row in [topic, *dict(marked).values()]
    }
    assert rows <= {-1, 0, 1}


@pytest.mark.parametrize("words", [None, ["cat", "sun", "gnu"], ["dog", "gnu", "moon", "zebra"]])
@pytest.mark.parametrize("text", ["Cat dog.\n\nSun gnu", "Cat dog gnu.\n\nSun gnu.\n\nGnu zebra.\n\nMoon dog star"])
def test_segments_of_a_corpus_with_other_words(words, text, corpus):
    """Words that the model or the corpus does not know must not move the rest into another paragraph."""
    other = Corpus.from_texts([text], segments="paragraphs", keep_texts=True, vocabulary=words)
    paragraphs = [set(Preprocessing().words(part)) for part in text.split("\n\n")]
    for *_, marked in parts_of(build_report(ldcc(corpus), other).data["documents"], 0):
        assert any({word.lower() for word, _ in marked} <= own for own in paragraphs)


def test_a_paragraph_begins_where_its_first_line_does():
    texts = ["Cat dog cow.\n\nAnd of\nit the sun moon star."] * 4 + ["Star sun moon. The dog, it is the cat."] * 4
    for how, begin in (("paragraphs", ["Cat", "And"]), ("sentences", ["Star", "The"])):
        corpus = small_corpus(texts, segments=how)
        table = build_report(ldcc(corpus), corpus).data["documents"]
        d = 0 if how == "paragraphs" else 7
        starts = [start for start, *_ in in_threes(table["parts"][d])]
        assert [re.match(r"\w+", table["text"][d][start:])[0] for start in starts] == begin


def test_segments_of_a_part_of_the_documents(corpus):
    model = ldcc(corpus)
    whole, part = (build_report(model, corpus, max_documents=most).data["documents"] for most in (36, 11))
    assert len(part["id"]) == 11
    for d, name in enumerate(part["id"]):
        assert part["parts"][d] == whole["parts"][corpus.ids.index(name)] != ""
        assert part["marks"][d] == whole["marks"][corpus.ids.index(name)]


# ---- a part of the documents, a part of the texts -------------------------------------------------------------------


def test_a_part_of_the_documents_with_the_figures_of_all(corpus):
    model = fitted(MODELS["LTM"], corpus)
    whole, part = (build_report(model, corpus, max_documents=most, compare=model).data for most in (36, 14))
    ids, tree = part["documents"]["id"], topic_tree(model, corpus)
    assert (part["corpus"]["documents"], part["corpus"]["shown"], len(ids)) == (36, 14, 14)
    rows = [corpus.ids.index(name) for name in ids]
    assert rows == sorted(rows)
    for topic in range(3):
        best = [name for name, _ in tree.documents(topic, 2)]
        assert set(best) <= set(ids)
        listed = [(ids[d], share) for d, share in part["topics"][topic]["documents"]]
        expected = sorted(((tree.doc_topic[row, topic], -row) for row in rows), reverse=True)
        expected = [(corpus.ids[-row], share) for share, row in expected if share > 0]
        assert [name for name, _ in listed] == [name for name, _ in expected]
        assert [share for _, share in listed] == pytest.approx([share for _, share in expected], rel=1e-2)
    for topics in zip(whole["topics"], part["topics"], strict=True):
        assert len({json.dumps({**topic, "documents": None}) for topic in topics}) == 1
    for same in ("labels", "share", "words", "time", "compare", "model"):
        assert whole[same] == part[same]
    graph = model.graph_.toarray()[np.ix_(rows, rows)]
    roots = np.sqrt(tree.doc_topic[rows].astype(np.float64))
    cosine = roots @ roots.T / np.outer(np.linalg.norm(roots, axis=1), np.linalg.norm(roots, axis=1))
    np.fill_diagonal(cosine, -1)
    for d in range(14):
        near, linked = (numbers(part["documents"][column][d]) for column in ("near", "linked"))
        assert cosine[d, near] == pytest.approx(np.sort(cosine[d])[::-1][:8], abs=1e-5)
        assert graph[d, linked] == pytest.approx(np.sort(graph[d][graph[d] > 0])[::-1][:8])
        assert part["documents"]["title"][d] == corpus.titles[rows[d]]
        assert part["documents"]["text"][d] == corpus.texts[rows[d]]


def test_links_of_a_part(model, corpus):
    part = build_report(model, corpus, max_documents=14).data
    ids, graph = part["documents"]["id"], link_graph(corpus.links, 36).toarray()
    assert part["graph"] == "links"
    for d, name in enumerate(ids):
        linked = {ids[other] for other in numbers(part["documents"]["linked"][d])}
        assert linked == {other for other in ids if graph[corpus.ids.index(name), corpus.ids.index(other)]}


@pytest.mark.parametrize("most", [1, 2, 3, 5, 35, 36, 100])
def test_no_more_documents_than_asked_for(most, model, corpus):
    assert len(build_report(model, corpus, max_documents=most).data["documents"]["id"]) == min(most, 36)


@pytest.mark.parametrize("budget", [2500, 100])
def test_texts_are_cut_to_fit(budget, monkeypatch):
    texts = ["cat dog " * 100, "😀" * 300, "cat\n" + "é" * 500, "short dog", "", "dogcat" * 100]
    corpus = Corpus.from_texts(texts, keep_texts=True)
    model = plsa(corpus, 2)
    monkeypatch.setattr(documents, "_TEXT_BYTES", budget)
    data = json.loads(build_report(model, corpus).to_json())
    shown, limit = data["documents"]["text"], data["corpus"]["cut"]
    sizes = [len(text.encode()) for text in shown]
    assert sum(sizes) <= max(budget, 6 * 200)
    assert max(sizes) <= limit
    assert limit >= 200
    for d, (text, whole) in enumerate(zip(shown, texts, strict=True)):
        assert whole.startswith(text)
        assert len(text.encode()) > limit // 2 - 4 or text == whole
        assert data["documents"]["length"][d] == len(units(whole)) // 2
        assert all(end <= len(units(text)) // 2 for _, end, _ in marks_of(data["documents"], d))
    assert shown[3] == "short dog"
    assert set(marked_words(data["documents"], 0)) == {
        ("cat", marks_of(data["documents"], 0)[0][2]),
        ("dog", marks_of(data["documents"], 0)[1][2]),
    }
    monkeypatch.undo()
    assert build_report(model, corpus).data["corpus"]["cut"] is None


def test_segments_of_texts_that_are_cut(corpus, monkeypatch):
    monkeypatch.setattr(documents, "_TEXT_BYTES", 36 * 60)
    monkeypatch.setattr(documents, "_SHORTEST_CUT", 10)
    model = ldcc(corpus)
    table = build_report(model, corpus).data["documents"]
    assert sum(len(text.encode()) for text in table["text"]) <= 36 * 60
    for d in range(36):
        found = parts_of(table, d)
        assert 1 <= len(found) <= 2
        assert sum(len(marked) for *_, marked in found) == len(marks_of(table, d))
        words = [word for *_, marked in found for word, _ in marked]
        assert (
            words == [word for word in plain_words(corpus.texts[d]) if word.lower() in corpus.vocabulary][: len(words)]
        )
        assert all(start <= len(units(table["text"][d])) // 2 for start, *_ in in_threes(table["parts"][d]))


# ---- topics ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide():
    """Documents of 3,000 words, most of them rare."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(3 / np.arange(1, 3001) ** 0.8, 4)
    mixes = rng.dirichlet(np.full(4, 0.2), 150)
    counts = sp.csr_array(np.array([rng.multinomial(120, mix @ topics) for mix in mixes]))
    return Corpus.from_counts(counts, [f"word{w}" for w in range(3000)], min_df=1)


@pytest.mark.parametrize("smoothing", [0.0, 0.01])
def test_words_for_every_place_of_the_slider(wide, smoothing):
    model = plsa(wide, 4, smoothing=smoothing, max_iter=30)
    tree, data = topic_tree(model, wide), build_report(model, wide).data
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    for row, topic in enumerate(data["topics"]):
        for weight in SLIDER:
            exact = relevance(tree.topic_word[[row]], tree.word_frequency, weight)[0]
            # as the page does it: relevance of the rounded numbers it holds
            held = [
                (np.log(probability) - (1 - weight) * np.log(data["share"][word]), column[data["words"][word]])
                for word, probability, _ in topic["words"]
                if probability > 0 and data["share"][word] > 0
            ]
            shown = [w for _, w in sorted(held, key=lambda pair: -pair[0])[:SHOWN_WORDS]]
            assert len(set(shown)) == SHOWN_WORDS
            assert exact[shown] == pytest.approx(np.sort(exact)[::-1][:SHOWN_WORDS], abs=2e-3), (row, weight)


def test_coherence_is_that_of_the_package(any_model, corpus):
    tree, data = shown_tree(any_model, corpus), build_report(any_model, corpus).data
    best = [[tree.vocabulary.index(word.word) for word in tree.words(int(topic), 10)] for topic in tree.ids]
    expected = coherence(best, counts=corpus.counts, measure="c_npmi")
    for topic, value in zip(data["topics"], expected, strict=True):
        assert topic["coherence"] == (None if np.isnan(value) else pytest.approx(value, rel=1e-2, abs=1e-3))


def test_labels_of_topics_by_going_through_the_documents(any_model, corpus):
    tree, data = shown_tree(any_model, corpus), build_report(any_model, corpus).data
    assert sorted(data["labels"]) == ["food", "odd", "pets", "sky"]
    how_many = [sum(label in own for own in corpus.labels) for label in data["labels"]]
    assert how_many == sorted(how_many, reverse=True)
    for d, own in enumerate(corpus.labels):
        assert sorted(data["labels"][label] for label in numbers(data["documents"]["labels"][d])) == sorted(own)
    for row, topic in enumerate(data["topics"]):
        total = sum(float(share) for share in tree.doc_topic[:, row])
        for label, here, overall in topic["labels"]:
            members = [d for d in range(36) if data["labels"][label] in corpus.labels[d]]
            assert here == pytest.approx(sum(float(tree.doc_topic[d, row]) for d in members) / total, rel=1e-2)
            assert overall == pytest.approx(len(members) / 36, rel=1e-2)
        shares = [here for _, here, _ in topic["labels"]]
        assert shares == sorted(shares, reverse=True)


def test_labels_that_no_document_has(model):
    unlabelled = small_corpus(labels=[None] * 36)
    data = build_report(model, unlabelled).data
    assert data["labels"] == []
    assert set(data["documents"]["labels"]) == {""}
    assert all(topic["labels"] == [] for topic in data["topics"])


def affinity(tree, a, b):
    """Of topics that are a mixture by their words, of others by the documents they are in."""
    if tree.exclusive:
        p, q = (tree.topic_word[row] / tree.topic_word[row].sum(dtype=np.float64) for row in (a, b))
        return sum(float(x * y) ** 0.5 for x, y in zip(p, q, strict=True))
    return np.corrcoef(tree.doc_topic[:, a], tree.doc_topic[:, b])[0, 1]


def test_similar_topics_by_going_through_pairs(any_model, corpus):
    tree, data = shown_tree(any_model, corpus), build_report(any_model, corpus).data
    for row, topic in enumerate(data["topics"]):
        others = [k for k in range(len(tree)) if k != row and tree.level[k] == tree.level[row]]
        found = {int(tree.ids[k]): affinity(tree, row, k) for k in others}
        best = sorted(found.values(), reverse=True)[:6]
        assert [value for _, value in topic["similar"]] == pytest.approx(best, rel=1e-2, abs=1e-3)
        assert all(value == pytest.approx(found[other], rel=1e-2, abs=1e-3) for other, value in topic["similar"])


def test_parts_of_document_topics(corpus):
    model = ldcc(corpus)
    tree, data = topic_tree(model, corpus), build_report(model, corpus).data
    for topic in data["topics"]:
        assert [part for part, _ in topic["parts"]] == [part for part, _ in tree.parts(topic["id"])]
    assert {topic["level"] for topic in data["topics"]} == {1, 2}


def test_a_model_without_steps_or_with_many(model, corpus):
    changed = plsa(corpus)
    changed.history_ = np.linspace(-9, -1, 1000)
    steps = build_report(changed, corpus).data["model"]["steps"]
    assert len(steps) == 200
    assert (steps[0], steps[-1]) == ([1, -9.0], [1000, -1.0])
    changed.history_ = np.empty(0)
    assert build_report(changed, corpus).data["model"]["steps"] == []
    settings = dict(build_report(model, corpus).data["model"]["settings"])
    assert settings["n_topics"] == "3"
    assert not {"n_jobs", "verbose", "checkpoint"} & set(settings)


# ---- two models -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shared", "expected"),
    [
        ([[5, 0], [0, 3]], [("match", [0], [0]), ("match", [1], [1])]),
        ([[4, 4, 0], [0, 0, 6]], [("match", [1], [2]), ("split", [0], [0, 1])]),
        ([[4, 0], [4, 0], [0, 6]], [("match", [2], [1]), ("merge", [0, 1], [0])]),
        ([[3, 3], [3, 3]], [("alone", [0], []), ("alone", [1], []), ("alone", [], [0]), ("alone", [], [1])]),
        ([[5, 0], [0, 0]], [("match", [0], [0]), ("alone", [1], []), ("alone", [], [1])]),
        ([[0]], [("alone", [0], []), ("alone", [], [0])]),
        ([[6, 5], [0, 0]], [("split", [0], [0, 1]), ("alone", [1], [])]),
    ],
)
def test_relations_of_planted_topics(shared, expected):
    assert compare.relations(np.array(shared, float)) == expected


@pytest.mark.parametrize("seed", range(30))
def test_every_topic_has_one_place_that_its_documents_bear_out(seed):
    rng = np.random.default_rng(seed)
    shared = rng.integers(0, 9, rng.integers(1, 6, 2)) * (rng.random() < rng.random(1)) + rng.integers(0, 2, 1)
    shared = np.where(rng.random(shared.shape) < 0.5, shared, 0).astype(float)
    found = compare.relations(shared)
    # what a topic is inside of, or held by, has a place elsewhere
    assert sorted(a for kind, left, _ in found if kind != "holds" for a in left) == list(range(shared.shape[0]))
    assert sorted(b for kind, _, right in found if kind != "inside" for b in right) == list(range(shared.shape[1]))
    for kind, left, right in found:
        in_left = [[shared[a, b] > shared[:, b].sum() / 2 for b in right] for a in left]
        in_right = [[shared[a, b] > shared[a].sum() / 2 for b in right] for a in left]
        if kind in ("match", "split"):
            assert (len(left), len(right) > 1) == (1, kind == "split")
            assert np.all(in_left)
        if kind in ("match", "merge"):
            assert (len(right), len(left) > 1) == (1, kind == "merge")
            assert np.all(in_right)
        if kind in ("inside", "holds"):
            assert (len(left), len(right), bool(in_right[0][0]), bool(in_left[0][0])) == (
                *(1, 1, kind == "inside", kind == "holds"),
            ) or (in_right[0][0] and in_left[0][0])  # one that would match, had the other not split or merged
        if kind == "alone":
            assert len(left) + len(right) == 1


def test_a_model_beside_itself(any_model, corpus):
    found = build_report(any_model, corpus, compare=any_model, compare_name="again").data["compare"]
    tree = shown_tree(any_model, corpus)
    lowest = tree.ids[tree.level == tree.level.min()].tolist()
    largest = set(np.array(lowest)[tree.doc_topic[:, np.isin(tree.ids, lowest)].argmax(axis=1)].tolist())
    assert (found["model"]["title"], found["model"]["name"]) == ("again", type(any_model).__name__)
    assert [topic["id"] for topic in found["topics"]] == lowest
    matches = {relation["left"][0] for relation in found["relations"] if relation["kind"] == "match"}
    assert matches == largest
    assert all(relation["left"] == relation["right"] for relation in found["relations"] if relation["kind"] == "match")
    assert {relation["kind"] for relation in found["relations"]} <= {"match", "alone"}


@pytest.mark.parametrize("other", ["HLTA", "LDCC", "TTMM", "PLSA"])
def test_links_between_two_models_by_going_through_the_documents(other, model, corpus):
    second = fitted(MODELS[other], corpus, 2)
    left, right = topic_tree(model, corpus), topic_tree(second, corpus)
    found = build_report(model, corpus, compare=second).data["compare"]
    lowest = [row for row in range(len(right)) if right.level[row] == right.level.min()]
    pairs = []
    for d in range(36):
        a = max(range(3), key=lambda row, d=d: left.doc_topic[d, row])
        b = max(lowest, key=lambda row, d=d: right.doc_topic[d, row])
        if right.doc_topic[d, b] > 0:
            pairs.append((a, int(right.ids[b])))
    expected = {}
    for a, b in set(pairs):
        of_left = pairs.count((a, b)) / sum(pair[0] == a for pair in pairs)
        of_right = pairs.count((a, b)) / sum(pair[1] == b for pair in pairs)
        if max(of_left, of_right) >= 0.05:
            expected[a, b] = (round(of_left, 3), round(of_right, 3))
    assert {(a, b): (part, back) for a, b, part, back in found["links"]} == expected
    for topic in found["topics"]:
        assert topic["name"] == right.name(topic["id"])
        assert topic["words"] == [word.word for word in right.words(topic["id"], 10)]


# ---- over time ------------------------------------------------------------------------------------------------------


def test_topics_over_time_by_going_through_the_documents(any_model, corpus):
    tree, time = shown_tree(any_model, corpus), build_report(any_model, corpus).data["time"]
    assert time["by"] == "year"
    assert time["periods"] == [str(year) for year in range(2001, 2010)]
    for place, year in enumerate(time["periods"]):
        own = [d for d in range(36) if str(corpus.timestamps[d])[:4] == year]
        assert time["documents"][place] == len(own)
        for row in range(len(tree)):
            mean = sum(float(tree.doc_topic[d, row]) for d in own) / len(own)
            assert time["share"][row][place] == pytest.approx(mean, rel=1e-2, abs=1e-6)


@pytest.mark.parametrize(
    ("dates", "by"),
    [
        ([None], None),
        (["2001-02-03"], None),
        (["2001-02-03", None, None], None),
        (["2001-02-03", "2001-02-04"], "day"),
        (["2001", "2002", "2003"], "year"),
        (["2001-02", "2001-03", "2001-04"], "month"),
    ],
)
def test_the_period_that_dates_are_told_by(dates, by, model):
    dated = small_corpus(timestamps=[dates[d % len(dates)] for d in range(36)])
    time = build_report(model, dated).data["time"]
    assert (time and time["by"]) == by


# ---- other corpora --------------------------------------------------------------------------------------------------


def test_another_corpus_is_assigned(any_model, corpus):
    texts = ["Cat and dog.\n\nSun moon", "", "zebra", "Bread, 😀 cheese"]
    other = small_corpus(texts, segments="paragraphs", vocabulary=corpus.vocabulary, timestamps=None)
    data = json.loads(build_report(any_model, other, compare=any_model).to_json(), parse_constant=refuse)
    tree = shown_tree(any_model, other)
    assert data["documents"]["id"] == ["d0", "d1", "d2", "d3"]
    assert [topic["size"] for topic in data["topics"]] == pytest.approx(tree.doc_topic.mean(axis=0), rel=1e-3)
    assert data["graph"] == "links"
    assert data["documents"]["marks"][1] == data["documents"]["marks"][2] == ""
    assert {word for word, _ in marked_words(data["documents"], 3)} <= {"Bread", "cheese"}


def test_words_in_another_order_and_words_the_model_has_not(model, corpus):
    texts = [*corpus.texts[:5], "zebra gnu cat"]
    other = Corpus.from_texts(texts, keep_texts=True, labels=list("aabbcc"))
    assert other.vocabulary != corpus.vocabulary
    tree, data = topic_tree(model, other), build_report(model, other).data
    for d, text in enumerate(texts):
        assert marked_words(data["documents"], d) == expected_marks(tree, plain_words(text), tree.doc_topic[d])
    assert [word for word, _ in marked_words(data["documents"], 5)] == ["cat"]


@pytest.mark.parametrize("texts", [["cat dog"], [""], ["zebra"], ["", ""]])
def test_corpora_of_next_to_nothing(any_model, corpus, texts):
    other = Corpus.from_texts(texts, keep_texts=True, vocabulary=corpus.vocabulary)
    data = json.loads(build_report(any_model, other).to_json(), parse_constant=refuse)
    assert data["documents"]["text"] == texts


def test_links_alone_draw_no_map(corpus):
    """Where documents stand is told by the graph of the fit, not by links of other documents."""
    model = fitted(MODELS["LTM"], corpus)
    texts = small_texts(20)[::-1]
    linked, unlinked = (
        build_report(model, small_corpus(texts, vocabulary=corpus.vocabulary, links=links)).data
        for links in ([(f"d{i}", f"d{(i + 7) % 20}") for i in range(20)], None)
    )
    assert (linked["graph"], unlinked["graph"]) == ("links", None)
    assert linked["documents"]["x"] == unlinked["documents"]["x"]


# ---- the page -------------------------------------------------------------------------------------------------------

HOSTILE = [
    "</script><script>alert(1)</script> cat",
    "<!-- <script> --!> dog ]]> <![CDATA[ cat",
    "{{data}} {{policy}} {{scripts}} }} {{ cat",
    "&lt;b&gt; &amp; \u2028 \u2029 \x00 \x0c \x7f dog",
    "cat \ud83d half \udc08 dog",
    "<img src=x onerror=alert(1)> 😀 \\u003c \\ \" ' dog",
]


class Page(HTMLParser):
    """Scripts, data, styles, title and policy of a page, and whatever would be fetched or run otherwise."""

    def __init__(self, source):
        super().__init__()
        self.scripts, self.data, self.styles, self.title, self.policy = [], [], [], [], None
        self.suspicious, self.open = [], None
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if known.get("http-equiv") == "Content-Security-Policy":
            self.policy = known["content"]
        places = {"style": self.styles, "title": self.title, "script": self.data if known.get("type") else self.scripts}
        self.open = places.get(tag)
        if self.open is not None:
            self.open.append("")
        fetched = [known[name] for name in ("src", "href") if name in known]
        self.suspicious += [address for address in fetched if not address.startswith(("#", "data:"))]
        self.suspicious += [name for name in known if name.startswith("on") or name == "style"]

    def handle_data(self, text):
        if self.open is not None:
            self.open[-1] += text

    def handle_endtag(self, tag):
        self.open = None


@pytest.fixture(scope="module")
def hostile():
    corpus = Corpus.from_texts(
        HOSTILE, ids=HOSTILE, titles=HOSTILE, labels=HOSTILE, keep_texts=True, links=[(HOSTILE[0], HOSTILE[1])]
    )
    model = plsa(corpus, 2)
    return build_report(model, corpus, name=HOSTILE[0], names={0: HOSTILE[1]}, compare=model, compare_name=HOSTILE[2])


def test_no_text_leaves_the_block_of_the_data(hostile):
    source = hostile.to_html()
    page = Page(source)
    (block,) = page.data
    assert len(page.scripts) == 2
    assert not set(block) & set("<>&")
    assert json.loads(block) == hostile.data
    assert page.title == [f"{HOSTILE[0]}: topics"]
    assert page.suspicious == []
    assert "alert(1)</script>" not in source
    assert source.count("{{") - "".join([*page.scripts, *page.styles]).count("{{") == block.count("{{")
    assert "{{policy}}" in block


def test_only_the_scripts_and_styles_of_the_page_may_run(hostile):
    page = Page(hostile.to_html())
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))

    def hashes(sources):
        digests = (base64.b64encode(hashlib.sha256(source.encode()).digest()).decode() for source in sources)
        return {f"'sha256-{digest}'" for digest in digests}

    assert set(rules["script-src"].split()) == hashes(page.scripts)
    assert set(rules["style-src"].split()) == hashes(page.styles)
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in page.policy


def test_half_a_surrogate_pair_can_be_saved(hostile, tmp_path):
    path = tmp_path / "page.html"
    hostile.save(path)
    (block,) = Page(path.read_bytes().decode("utf-8")).data
    table = json.loads(block)["documents"]
    assert table["text"][4] == "cat ? half ? dog"
    assert [word for word, _ in marked_words(table, 4)] == ["cat", "half", "dog"]


def test_a_failed_save_leaves_what_was_there(hostile, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        hostile.save(path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "old")]
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(hostile, data={**hostile.data, "share": [float("nan")]}).save(path)
    assert path.read_text() == "old"
    with pytest.raises(FileNotFoundError, match="does not exist"):
        hostile.save(tmp_path / "no" / "page.html")


def test_a_report_says_what_it_is(model, corpus):
    assert repr(build_report(model, corpus, name="small")) == "Report on small: 3 topics, 36 documents"
    assert isinstance(build_report(model, corpus), Report)

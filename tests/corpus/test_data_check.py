"""The data check: what it counts and says, and what it costs."""

from __future__ import annotations

import json

import pytest

from topicfold import Corpus, InputError
from topicfold.corpus.data_check import check_notes

pytestmark = pytest.mark.filterwarnings("ignore:.*(are empty|could not be read)")
ENGLISH = "The ferry crosses the bay in the morning and comes back in the evening with fresh fish."
GERMAN = "Die Fähre fährt am Morgen über die Bucht und kommt am Abend mit frischem Fisch zurück."


def test_what_a_check_counts():
    texts = [*(f"{ENGLISH} {word}" for word in "abcdefgh"), ENGLISH.upper(), GERMAN, "", "?"]
    check = Corpus.from_texts(texts, ids=[f"d{n}" for n in range(12)], keep_texts=True, min_df=1, max_df=1.0).check()
    assert (check.n_documents, check.n_empty, check.n_wordless) == (12, 1, 2)
    assert (check.n_exact_copies, check.n_near_copies) == (0, 0)  # fewer than 15 words that are no stop words
    assert check.languages == {"english": 9, "unknown": 2, "german": 1}
    assert check.scripts == {"latin": 10, "none": 2}
    assert check.other_language == ("d9",)
    assert check.tokens["shortest"] == 0
    parts = dict(check.parts())
    assert parts["documents"] == "12, of which 1 empty, 1 without a known word"
    assert parts["languages"] == "english 75.0%, unknown 16.7%, german 8.3%; in another language than most: d9"
    assert str(check).splitlines()[0] == "documents: 12, of which 1 empty, 1 without a known word"
    json.dumps(check.to_json())


def test_a_check_knows_how_the_texts_were_read(tmp_path):
    rows = [{"body": f"<p>Red &amp; blue fish {n}</p>", "day": f"2004-01-{n + 1:02}", "n": n} for n in range(20)]
    rows[3]["day"], rows[4]["day"] = "someday", None
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    corpus = Corpus.read(file, text="body", timestamp="day", keep_texts=True)
    corpus.save(tmp_path / "corpus.safetensors")
    for source in (corpus, Corpus.load(tmp_path / "corpus.safetensors")):
        parts = dict(source.check().parts())
        assert parts["cleaning removed"] == "20 entities, 40 tags"
        assert parts["dates"] == "18 read, 1 missing; 1 of 19 dates could not be read and is missing: 'someday' (row 4)"
        assert parts["columns"] == "day: timestamp, body: text"
        assert parts["columns not used"] == "n: not named"
        assert source.check().removed == {"entities": 20, "tags": 40}
        assert source.check().texts_cleaned == {"entities": 20, "tags": 20}
    assert corpus.check() is corpus.check()


def test_short_lines_are_three_at_most():
    boilerplate = "Subscribe to our newsletter today!"
    texts = [f"<b>{ENGLISH}</b> {n}\n{boilerplate}" for n in range(30)]
    lines = Corpus.from_texts(texts, keep_texts=True).check().short_lines()
    assert lines[:2] == ["documents: 30, no copies", "languages: english 100.0%"]
    assert lines[2].startswith("cleaning removed 60 tags")
    assert lines[2].endswith("such as 'Subscribe to our newsletter today!' in 30 (--drop-lines repeated)")
    assert len(lines) == 3


def test_a_corpus_of_counts_is_checked_too():
    check = Corpus.from_counts([[1, 2], [1, 2], [0, 0]]).check()
    assert (check.n_empty, check.n_wordless, check.n_exact_copies) == (None, 1, 1)
    assert check.languages == {}
    assert [title for title, _ in check.parts()] == ["documents", "tokens per document"]


@pytest.mark.parametrize(
    "notes",
    [
        None,
        [],
        {"removed": 3},
        {"removed": {"tags": "many"}},
        {"dates": {"n_read": 1}},
        {"columns_failed": {"a": {"summary": 1}}},
        {"columns_used": {"a": ["text"]}},
        {"left_out_by_language": True},
        {"copies_left_out": {"exact": 1}},
    ],
)
def test_notes_of_a_file_are_checked(notes):
    with pytest.raises(InputError, match=r"it has no notes|its notes on"):
        check_notes(notes)


def test_notes_of_the_future_are_let_pass():
    check_notes({"colour": "red", "removed": {"tags": 3}})

from __future__ import annotations

import pickle
import re
import sys
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import count_words
from topicfold import Preprocessing
from topicfold.corpus import counting as text
from topicfold.corpus.counting import WordCounter, choose_words, token_stream
from topicfold.corpus.preprocessing import split_segments, token_spans

TEXTS = ["The cats are running; a cat ran.", "", "Dogs don't run, dogs RUN!", "naïve Straße 東京 москва", "42 3d x y"]


def counted(texts, preprocessing, vocabulary=None):
    counter = WordCounter(preprocessing, vocabulary)
    for item in texts:
        counter.add(item)
    counts, words = counter.finish()
    return [
        {words[w]: int(n) for w, n in zip(counts.indices[a:b], counts.data[a:b])}
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:])
    ]


VARIANTS = [
    Preprocessing(),
    Preprocessing(stop_words=None),
    Preprocessing(stemmer="english"),
    Preprocessing(stemmer="english", stop_words=("cat",), lowercase=False),
    Preprocessing(ngrams=(1, 3)),
    Preprocessing(ngrams=(2, 2), stemmer="english"),
    Preprocessing(token_pattern=r"\w+", stop_words=None),
    Preprocessing(tokenizer=str.split),
]


@pytest.mark.parametrize("preprocessing", VARIANTS)
@pytest.mark.parametrize("flush", [1, 5, 10**6])
def test_counting_is_the_plain_definition(preprocessing, flush, monkeypatch):
    monkeypatch.setattr(text, "_FLUSH_TOKENS", flush)
    assert counted(TEXTS, preprocessing) == count_words(TEXTS, preprocessing)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(max_size=60), max_size=6), st.sampled_from(VARIANTS[:7]))
def test_counting_any_text(texts, preprocessing):
    assert counted(texts, preprocessing) == count_words(texts, preprocessing)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी भाषा में लिखा", ["हिन्दी", "भाषा", "में", "लिखा"]),
        ("re\u0301sume\u0301 Café", ["résumé", "café"]),
        ("İSTANBUL", ["istanbul"]),
        ("كِتَابٌ جَدِيد", ["كِتَابٌ", "جَدِيد"]),
        ("Straße ΟΔΟΣ 3d x", ["straße", "οδος"]),
        ("😀 emoji-text", ["emoji", "text"]),
    ],
)
def test_words_of_every_script(text, words):
    assert Preprocessing().words(text) == words


def test_a_fixed_vocabulary_is_kept_in_order():
    for preprocessing in (Preprocessing(stemmer="english"), Preprocessing(ngrams=(1, 2), stemmer="english")):
        counter = WordCounter(preprocessing, ["run", "cat"])
        for item in TEXTS:
            counter.add(item)
        counts, words = counter.finish()
        assert words == ["run", "cat"]
        assert counts.toarray().tolist() == [[1, 2], [0, 0], [2, 0], [0, 0], [0, 0]]


def test_stop_words_win_over_a_fixed_vocabulary():
    assert counted(["the cat"], Preprocessing(), ["cat", "the"]) == [{"cat": 1}]


def test_token_stream_keeps_places():
    columns, indptr = token_stream(["the cat sat the mat", "mat"], ["mat", "cat"], Preprocessing())
    assert columns.tolist() == [-1, 1, -1, -1, 0, 0]
    assert indptr.tolist() == [0, 5, 6]


def test_windows_cut_a_text():
    counter = WordCounter(Preprocessing())
    assert counter.add_windows("cat dog cat sun moon", 2) == 3
    assert counter.add_windows("", 2) == 1
    counts, words = counter.finish()
    assert counts.sum(axis=1).tolist() == [2, 2, 1, 0]
    assert words == ["cat", "dog", "sun", "moon"]


def test_segments():
    assert split_segments("One.\n \n\nTwo\nlines.\n\n", "paragraphs") == ["One.", "Two\nlines."]
    assert split_segments("Is it? Yes. 是。不是。", "sentences") == ["Is it?", "Yes.", "是。", "不是。"]
    assert split_segments(["a", "b"], "given") == ["a", "b"]
    assert split_segments("a|b", lambda item: item.split("|")) == ["a", "b"]
    for how in ("given", "chapters"):
        with pytest.raises(ValueError, match="segments="):
            split_segments("text", how)
    with pytest.raises(ValueError, match="one string"):
        split_segments(["a"], "paragraphs")


def matrix(rows):
    return sp.csr_array(np.array(rows, dtype=np.int32))


@pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
def test_choosing_words(chunk, monkeypatch):
    monkeypatch.setattr(text, "_CHUNK", chunk)
    rows = [[1, 0, 2, 1], [0, 0, 3, 1], [1, 0, 0, 1], [0, 0, 0, 0]]
    words = ["pear", "none", "fig", "all"]
    counts, kept = choose_words(matrix(rows), words, min_df=1, max_df=2)
    assert kept == ["fig", "pear"]
    assert counts.toarray().tolist() == [[2, 1], [3, 0], [0, 1], [0, 0]]
    counts, kept = choose_words(matrix(rows), words, max_words=2)
    assert kept == ["all", "fig"]
    counts, kept = choose_words(matrix(rows), words, max_words=1, rank_by="tfidf")
    tfidf = {"pear": (1 / 4 + 1 / 2) * np.log(2), "fig": (2 / 4 + 3 / 4) * np.log(2), "all": 1.0 * np.log(4 / 3)}
    assert kept == [max(tfidf, key=tfidf.get)]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=8),
    st.integers(1, 3),
    st.integers(1, 9),
)
def test_choosing_is_picking_columns(rows, min_df, chunk):
    words = ["e", "d", "c", "b", "a"]
    dense = np.array(rows)
    expected = [w for w in sorted(words) if (dense[:, words.index(w)] > 0).sum() >= min_df]
    before, text._CHUNK = text._CHUNK, chunk
    try:
        if not expected:
            with pytest.raises(ValueError, match="min_df"):
                choose_words(matrix(rows), words, min_df=min_df)
            return
        counts, kept = choose_words(matrix(rows), words, min_df=min_df)
        assert kept == expected
        assert counts.toarray().tolist() == dense[:, [words.index(w) for w in kept]].tolist()
        assert counts.has_sorted_indices
    finally:
        text._CHUNK = before


def test_the_filter_that_took_the_words_is_named():
    with pytest.raises(ValueError, match=r"min_df=2 took 1 and max_df=0\.5 took 1"):
        choose_words(matrix([[1, 1], [0, 1]]), ["a", "b"], min_df=2, max_df=0.5)
    with pytest.raises(ValueError, match="stop words"):
        choose_words(sp.csr_array((2, 0), dtype=np.int32), [])
    with pytest.raises(ValueError, match="no documents"):
        choose_words(sp.csr_array((0, 2), dtype=np.int32), ["a", "b"])
    for bad in ({"min_df": 1.5}, {"max_df": -1}, {"max_words": 0}, {"rank_by": "luck"}, {"min_df": True}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            choose_words(matrix([[1, 1], [0, 1]]), ["a", "b"], **bad)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop_words": "klingon"}, "no stop words for 'klingon'; there are lists for: "),
        ({"stemmer": "klingon"}, "no stemmer for 'klingon'"),
        ({"ngrams": (2, 1)}, "ngrams"),
        ({"token_pattern": "("}, "not a regular expression"),
        ({"token_pattern": "(a)(b)"}, "2 groups"),
    ],
)
def test_bad_preprocessing_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        Preprocessing(**options)


@pytest.mark.parametrize("preprocessing", VARIANTS[:7])
def test_preprocessing_goes_through_json_and_pickle(preprocessing):
    preprocessing.words("warm the caches")
    assert Preprocessing.from_json(preprocessing.to_json()) == preprocessing
    assert pickle.loads(pickle.dumps(preprocessing)) == preprocessing


def test_stop_words_in_capitals_and_tokens_that_are_no_strings():
    assert Preprocessing(stop_words=("The", "CAT")).words("the cat sat") == ["sat"]
    with pytest.raises(ValueError, match="the tokenizer gave 1"):
        counted(["a"], Preprocessing(tokenizer=lambda text: [1, 2]))


def test_a_tokenizer_is_kept_by_name():
    values = Preprocessing(tokenizer=str.split).to_json()
    assert values["tokenizer"] == "builtins:str.split" or values["tokenizer"].endswith("split")
    loaded = Preprocessing.from_json(values)
    with pytest.raises(ValueError, match="pass it again"):
        loaded.words("a b")
    assert loaded.with_tokenizer(str.split).words("big cats") == ["big", "cats"]


# ---- where words stand in a text ------------------------------------------------------------------------------------

ODD_TEXTS = [
    *TEXTS,
    "हिन्दी भाषा में लिखा",
    "ที่นี่ภาษา ไทย",
    "re\u0301sume\u0301 Café E\u0301tude",
    "İSTANBUL I\u0307stanbul ıI",
    "İ\u0301b I\u0307\u0301b",
    "ΟΔΟΣ ὈΔΥΣΣΕΎΣ ΑΣ. ΑΣ'Α",
    "😀 emoji-text 👩\u200d🚀 𝒳𝒴 rocket",
    "\u212aelvin \u212bngstro\u0308m",
    "half \ud83d of a pair",
    "one\x00two\u2028three",
]
ODD_CHARACTERS = "aAbBsS iIİı\u0307\u0301eEéÉΣσςΑ.'\n-_1#😀𝒳हिन्ก็\u212a\u200d\ud83d"


def same_letters(one, other):
    """Equal but for case: a sigma looks different at the end of a word, wherever that is."""
    return one.replace("İ", "i").lower().replace("ς", "σ") == other.lower().replace("ς", "σ")


def assert_spans_are_the_words(item, preprocessing):
    single = replace(preprocessing, ngrams=(1, 1))
    shown, spans = token_spans(item, preprocessing)
    assert shown == unicodedata.normalize("NFC", item)
    assert [word for *_, word in spans] == single.words(item)
    last = 0
    for start, end, word in spans:
        assert last <= start < end <= len(shown)
        last = end
        assert same_letters(shown[start:end], word) or single.words(shown[start:end]) == [word]


@pytest.mark.parametrize("preprocessing", VARIANTS)
@pytest.mark.parametrize("item", ODD_TEXTS)
def test_spans_are_the_words_in_order(item, preprocessing):
    assert_spans_are_the_words(item, preprocessing)


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=60), st.text(ODD_CHARACTERS, max_size=40)), st.sampled_from(VARIANTS))
def test_spans_of_any_text(item, preprocessing):
    assert_spans_are_the_words(item, preprocessing)


def test_a_lowered_character_stays_in_its_place():
    lowered = Preprocessing()._lowered
    assert [code for code in range(sys.maxunicode + 1) if len(lowered(chr(code))) != 1] == []


def test_spans_of_a_pattern_with_a_group():
    tags = Preprocessing(token_pattern=r"#(\w+)", stop_words=None)
    assert token_spans("A #Tag, no tag, #x", tags) == ("A #Tag, no tag, #x", [(3, 6, "tag"), (17, 18, "x")])
    assert token_spans("A #Tag", replace(tags, lowercase=False))[1] == [(3, 6, "Tag")]


@pytest.mark.parametrize("pattern", [r"#(\w+)|\bno\b", r"\w*"])
def test_what_matches_without_a_word_has_no_place(pattern):
    _, spans = token_spans("#tag no tag", Preprocessing(token_pattern=pattern, stop_words=None))
    assert spans
    assert all(0 <= start < end and word for start, end, word in spans)


def test_spans_of_words_that_a_tokenizer_gives():
    def lemmas(item):
        return [{"mice": "mouse", "went": "go"}.get(word, word) for word in item.split()]

    lemmatised = Preprocessing(tokenizer=lemmas, stop_words=None)
    item = "Mice ran, and an old mouse went home"
    shown, spans = token_spans(item, lemmatised)
    assert shown == item
    assert [word for *_, word in spans] == ["ran,", "and", "an", "old", "mouse", "home"]
    assert [word for *_, word in token_spans("mice went home, old mouse", lemmatised)[1]] == ["home,", "old", "mouse"]
    assert all(shown[start:end].lower() == word for start, end, word in spans)


def test_spans_of_a_tokenizer_that_leaves_words_out():
    short = Preprocessing(tokenizer=re.compile(r"\b[a-z]{3,4}\b").findall)
    shown, spans = token_spans("Catalogue: dog, cat", short)
    assert [(shown[start:end], start) for start, end, _ in spans] == [("dog", 11), ("cat", 16)]


CUTTERS = [list, *(re.compile(pattern).findall for pattern in (r"\w\w?", r"[^\W_]+|[^\w\s]", r"\w+(?=n't)|n't|\w+"))]


@settings(deadline=None, max_examples=200)
@given(st.text(ODD_CHARACTERS + "nt", max_size=30), st.sampled_from(CUTTERS))
def test_spans_of_a_tokenizer_that_cuts_words(item, tokenizer):
    assert_spans_are_the_words(item, Preprocessing(tokenizer=tokenizer, stop_words=None))
    assert_spans_are_the_words("We don't: sing", Preprocessing(tokenizer=tokenizer, stop_words=None))


def test_a_tokenizer_that_wants_no_lowering_sees_what_it_is_given():
    plain = Preprocessing(tokenizer=list, lowercase=False, stop_words=None)
    columns, _ = token_stream([["Cat", "e\u0301"]], ["Cat", "e\u0301"], plain)  # cut already
    assert columns.tolist() == [0, 1]
    assert token_spans("Ae\u0301", plain) == ("Ae\u0301", [(0, 1, "A"), (1, 2, "e"), (2, 3, "\u0301")])

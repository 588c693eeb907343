"""Words counted as the plain definition says, and the choice of words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from text_cases import TEXTS, VARIANTS, counted

from naive import count_words
from topicfold import Preprocessing
from topicfold.corpus import counting
from topicfold.corpus.counting import WordCounter, choose_words, token_stream


@pytest.mark.parametrize("preprocessing", VARIANTS)
@pytest.mark.parametrize("flush", [1, 5, 10**6])
def test_counting_is_the_plain_definition(preprocessing, flush, monkeypatch):
    monkeypatch.setattr(counting, "_FLUSH_TOKENS", flush)
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


def matrix(rows):
    return sp.csr_array(np.array(rows, dtype=np.int32))


@pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
def test_choosing_words(chunk, monkeypatch):
    monkeypatch.setattr(counting, "_CHUNK", chunk)
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
    before, counting._CHUNK = counting._CHUNK, chunk
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
        counting._CHUNK = before


def test_the_filter_that_took_the_words_is_named():
    with pytest.raises(ValueError, match=r"min_df=2 removed 1 and max_df=0\.5 removed 1"):
        choose_words(matrix([[1, 1], [0, 1]]), ["a", "b"], min_df=2, max_df=0.5)
    with pytest.raises(ValueError, match="stop words"):
        choose_words(sp.csr_array((2, 0), dtype=np.int32), [])
    with pytest.raises(ValueError, match="no documents"):
        choose_words(sp.csr_array((0, 2), dtype=np.int32), ["a", "b"])
    for bad in ({"min_df": 1.5}, {"max_df": -1}, {"max_words": 0}, {"rank_by": "luck"}, {"min_df": True}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            choose_words(matrix([[1, 1], [0, 1]]), ["a", "b"], **bad)

"""Preprocessing: how text becomes words and segments, and where each word stands in the text."""

from __future__ import annotations

import pickle
import re
import sys
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_cases import TEXTS, VARIANTS, counted

from topicfold import InputError, Preprocessing
from topicfold.corpus.counting import token_stream
from topicfold.corpus.preprocessing import split_segments, token_spans


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop_words": "klingon"}, "no stop words for 'klingon'; available: "),
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
    with pytest.raises(ValueError, match="the tokenizer returned 1"):
        counted(["a"], Preprocessing(tokenizer=lambda text: [1, 2]))


def test_a_tokenizer_is_kept_by_name():
    values = Preprocessing(tokenizer=str.split).to_json()
    assert values["tokenizer"] == "builtins:str.split" or values["tokenizer"].endswith("split")
    loaded = Preprocessing.from_json(values)
    with pytest.raises(ValueError, match="pass it again"):
        loaded.words("a b")
    assert loaded.with_tokenizer(str.split).words("big cats") == ["big", "cats"]


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


def sigmas_alike(words):
    return [word.replace("ς", "σ") for word in words]


def assert_spans_are_the_words(item, preprocessing):
    if preprocessing._splits_scripts and re.search("[\u3041-\u309f]", item):
        return  # Japanese: a character stands for a pair, see test_tokenizers.py
    single = replace(preprocessing, ngrams=(1, 1))
    shown, spans = token_spans(item, preprocessing)
    assert shown == unicodedata.normalize("NFC", item)
    full_words = replace(preprocessing, ngrams=(1, 2))._full_words(item)  # pairs of characters would overlap
    without_pairs = [preprocessing._stem(word) for word in full_words]
    assert [word for *_, word in spans] == without_pairs
    last = 0
    for start, end, word in spans:
        assert last <= start < end <= len(shown)
        last = end
        alone = single.words(shown[start:end])  # such as its stem
        assert same_letters(shown[start:end], word) or sigmas_alike(alone) == sigmas_alike([word])


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


@pytest.mark.parametrize("language", ["english", "german", "french", "russian", "finnish"])
def test_stems_are_the_same_where_pystemmer_has_no_wheel(language, monkeypatch):
    texts = {
        "english": "running easily connections happiness generously skies dying",
        "german": "Häuser laufenden Verbindungen Fröhlichkeit Mädchen größte",
        "french": "chevaux continuellement finissaient beautés générales",
        "russian": "важная красивого бегущий домами великолепными",
        "finnish": "taloissammekin juoksevat edeltäjistään kauneimmat",
    }
    fast = Preprocessing(stemmer=language, stop_words=None).words(texts[language])
    assert fast != Preprocessing(stop_words=None).words(texts[language])
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    assert Preprocessing(stemmer=language, stop_words=None).words(texts[language]) == fast
    with pytest.raises(InputError, match=r"no stemmer for 'klingon'; available: .*english"):
        Preprocessing(stemmer="klingon")


@pytest.mark.parametrize("stemmer", [2, False, {"a": 1}, [], 0.5])
def test_a_stemmer_that_is_no_language(stemmer):
    with pytest.raises(InputError, match=r"^stemmer=.*: expected the language of a stemmer"):
        Preprocessing(stemmer=stemmer)

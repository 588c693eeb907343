"""Phrases that are learned from texts, and how texts write words."""

import numpy as np
import pytest

from topicfold import Corpus
from topicfold.corpus import phrases as module
from topicfold.corpus.phrases import forms_of_words, mine_phrases
from topicfold.corpus.preprocessing import Preprocessing

PLACES = ["Peru", "Cuba", "Mali", "Chad", "Oman", "Togo", "Fiji", "Iran", "Iraq", "Laos", "Gabon", "Nepal"]


def mined(texts, **options):
    return mine_phrases(Corpus.from_texts(texts, **{"keep_texts": True, "min_df": 1, "max_df": 1.0, **options}))


def test_words_that_stand_together_far_more_often_than_by_chance():
    rng = np.random.default_rng(0)
    filler = [f"word{letter}" for letter in "abcdefghij"]
    texts = [
        " ".join([*rng.choice(filler, 6), "hard drive" if d % 2 else "drive", *rng.choice(filler, 6)])
        for d in range(60)
    ]
    found = mined(texts, stop_words="english")
    assert found.phrases == ("hard drive",)
    assert found.columns == ((found.written.index("hard"), found.written.index("drive")),)
    assert found.counts.toarray()[:, 0].tolist() == [d % 2 for d in range(60)]


def test_no_phrase_goes_over_punctuation_or_a_blank_line():
    for between in (", ", ". ", "\n\n", " -- ", "; "):
        assert mined([f"{place} hard{between}drive {place}" for place in PLACES], stop_words="english").phrases == ()
    assert mined([f"{place} hard drive {place}" for place in PLACES], stop_words="english").phrases == ("hard drive",)
    assert mined([f"{place} hard-drive {place}" for place in PLACES], stop_words="english").phrases == ("hard-drive",)


def test_stop_words_inside_need_capitals():
    name = mined([f"{place} Lord of the Rings, {place}" for place in PLACES], stop_words="english")
    assert "Lord of the Rings" in name.phrases
    plain = mined([f"{place} lord of the rings, {place}" for place in PLACES], stop_words="english")
    assert not any(" of " in phrase for phrase in plain.phrases)


def test_a_part_of_a_longer_phrase_goes():
    found = mined([f"{place}: the New York Stock Exchange, {place}" for place in PLACES], stop_words="english")
    assert found.phrases == ("New York Stock Exchange",)


def test_words_as_they_are_written_inside_of_sentences():
    texts = ["NASA launches. Today the NASA probe left.", "Boston is cold. The probe of Boston."] * 3
    texts = [f"{text} {number * '!'}" for number, text in enumerate(texts)]
    found = mined(texts, stop_words="english")
    assert set(found.written) == {"NASA", "launches", "today", "probe", "left", "Boston", "cold"}


def test_signatures_do_not_count():
    texts = [f"{place} is here\nBest regards from Jane Roe" for place in PLACES]
    assert mined(texts, stop_words="english").phrases == ()


def test_titles():
    titles = [f"hard drive {place}" if number < 6 else place for number, place in enumerate(PLACES)]
    found = mined([f"{place} hard drive {place}" for place in PLACES], titles=titles, stop_words="english")
    share = dict(zip([*found.written, *found.phrases], found.in_titles.tolist()))
    assert share["hard drive"] == share["drive"] == 0.5
    twice = mined([f"{place} hard drive {place}" for place in PLACES], titles=["hard drive"] * 12, stop_words="english")
    assert twice.in_titles.max() == pytest.approx(1 / 12)  # a title counts once


def test_stems_are_matched():
    texts = [f"{place} hard {'drives' if number % 3 else 'drive'} {place}" for number, place in enumerate(PLACES)]
    found = mined(texts, stop_words="english", stemmer="english")
    assert found.phrases == ("hard drives",)


def test_what_has_no_phrases():
    texts = [f"{place} hard drive {place}" for place in PLACES]
    assert mined(texts, keep_texts=False) is None
    assert mined(texts, tokenizer=str.split) is None
    assert mine_phrases(Corpus.from_counts(np.ones((3, 2)), ["a", "b"])) is None
    assert mined(texts, ngrams=(1, 2), stop_words="english").phrases == ()  # they are words already
    assert mined(["手机游戏 手机游戏"] * 9).phrases == ()
    with pytest.warns(UserWarning, match="2 of 14 texts are empty"):
        assert mined(["", "", *texts], stop_words="english").phrases == ("hard drive",)


def test_of_many_characters_some_documents_are_read(monkeypatch):
    texts = [f"{place} hard drive {place} {number * '!'}" for number, place in enumerate(PLACES * 9)]
    monkeypatch.setattr(module, "_MOST_CHARACTERS", 900)
    found = mined(texts, stop_words="english")
    assert 5 <= len(found.rows) < 20
    assert found.n_documents == 108
    assert found.rows[0] == 0
    assert found.rows[-1] == 107


def test_forms_of_words():
    words = ["award", "awards", "bank", "banken", "banks"]
    assert forms_of_words(words, Preprocessing(stop_words="english")) == {1: 0, 4: 2}
    assert forms_of_words(words, Preprocessing(stop_words="german")) == {1: 0, 3: 2, 4: 2}
    assert forms_of_words(words, Preprocessing(stop_words="english,german")) == {1: 0, 4: 2}  # both have to agree
    assert forms_of_words(["new award", "new awards"], Preprocessing(stop_words="english")) == {1: 0}
    assert forms_of_words(words, Preprocessing(stop_words={"award"})) == forms_of_words(words, None) == {}
    assert forms_of_words(words, Preprocessing(stop_words="japanese")) == {}

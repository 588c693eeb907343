"""Languages: names and codes, stop words of several, scripts, and the language of a text."""

from __future__ import annotations

import pytest

from topicfold import Corpus, Preprocessing
from topicfold.corpus.languages import (
    guess_languages,
    language_named,
    main_script,
    scripts_of,
)
from topicfold.corpus.stop_words import parsed_stop_words, stop_words_of


@pytest.mark.parametrize(
    ("name", "language"),
    [("de", "german"), ("DE-at", "german"), ("pt_BR", "portuguese"), ("nb", "norwegian"), (" French", "french")],
)
def test_languages_have_codes(name, language):
    assert language_named(name) == language


@pytest.mark.parametrize("name", ["", "klingon", "xx", "germanic", "-de"])
def test_what_is_no_language(name):
    assert language_named(name) is None


@pytest.mark.parametrize(
    "stop_words",
    [
        "german,english,+said,-die",
        "de, en ,-die,+said",
        ["german", "english", "+Said", "-die"],
        ("en", "-die", "de", "+said"),
        ["english,german", "+said", "-DIE"],
        ["english", "en", "german", "+said", "-die"],
    ],
)
def test_languages_with_words(stop_words):
    preprocessing = Preprocessing(stop_words=stop_words)
    assert preprocessing == Preprocessing(stop_words="english,german,+said,-die")
    assert preprocessing.to_json()["stop_words"] == "english,german,+said,-die"
    assert Preprocessing.from_json(preprocessing.to_json()) == preprocessing
    assert preprocessing.words("They said: die Katze und the cat") == ["die", "katze", "cat"]


@pytest.mark.parametrize(
    "words", [("it", "is", "was"), {"german", "english"}, ["red", "german"], frozenset(("de",)), []]
)
def test_collections_of_words(words):
    preprocessing = Preprocessing(stop_words=words)
    assert preprocessing._stop_set == set(words)
    assert preprocessing.to_json()["stop_words"] == sorted(words)
    assert Preprocessing.from_json(preprocessing.to_json()) == preprocessing


def test_no_stop_words():
    assert Preprocessing(stop_words="none") == Preprocessing(stop_words=None)
    assert Preprocessing(stop_words="none").words("the cat") == ["the", "cat"]


@pytest.mark.parametrize(
    ("stop_words", "message"),
    [
        ("germna", "no stop words for 'germna'; did you mean 'german'"),
        ("klingon", "no stop words for 'klingon'; available: afrikaans, arabic"),
        ("serbian", "no stop words for 'serbian'; available: "),
        ("english,klingon", r"no stop words for 'klingon' \(write a word as \+word or -word\)"),
        (["english", "cat"], r"no stop words for 'cat' \(write a word as"),
        (["english", "serbian"], "no stop words for 'serbian'"),
        ("+cat", "expected a language first"),
        (["+cat", "english"], "expected a language first"),
        (["english", "+"], "a sign without a word"),
        ("english,+a,-a", r"both \+a and -a"),
        ("", "no stop words for ''"),
        (["english", 5], "expected strings"),
        (5, "expected strings"),
    ],
)
def test_bad_stop_words_are_named(stop_words, message):
    with pytest.raises(ValueError, match=message) as raised:
        Preprocessing(stop_words=stop_words)
    assert "\n" not in str(raised.value)


def test_a_corpus_of_two_languages():
    corpus = Corpus.from_texts(["the cat and the dog", "die Katze und der Hund"], stop_words=["en", "de"])
    assert corpus.vocabulary == ("cat", "dog", "hund", "katze")


def test_a_stemmer_by_code():
    assert Preprocessing(stemmer="de") == Preprocessing(stemmer="german")
    assert Preprocessing(stemmer="porter").words("running cats") == ["run", "cat"]


def test_a_set_is_never_a_language():
    assert parsed_stop_words({"german"}) == {"german"}
    assert stop_words_of("ja") == stop_words_of("japanese")


def test_scripts():
    assert scripts_of("Кошка cat 猫 ねこ ネコ 고양이 ñ é 42!") == {
        "cyrillic": 5,
        "latin": 5,
        "hangul": 3,
        "hiragana": 2,
        "katakana": 2,
        "han": 1,
    }
    assert scripts_of("ｆｕｌｌ ﾊﾝｶｸ 々") == {"latin": 4, "katakana": 4, "han": 1}
    assert (main_script(""), main_script("42 !?"), main_script("שלום")) == (None, None, "hebrew")


SENTENCES = {
    "english": "The government said on Monday that it would not raise taxes before the election.",
    "german": "Die Regierung hat am Montag gesagt, dass sie die Steuern vor der Wahl nicht erhöhen wird.",
    "french": "Le gouvernement a annoncé lundi qu'il n'augmenterait pas les impôts avant les élections.",
    "spanish": "El gobierno dijo el lunes que no subirá los impuestos antes de las elecciones generales.",
    "russian": "Правительство заявило в понедельник, что не будет повышать налоги до выборов.",
    "arabic": "قالت الحكومة يوم الاثنين إنها لن ترفع الضرائب قبل الانتخابات العامة في البلاد",
    "hindi": "सरकार ने सोमवार को कहा कि वह चुनाव से पहले कर नहीं बढ़ाएगी।",
    "chinese": "政府周一表示，在选举之前不会增加税收。",
    "japanese": "政府は月曜日、選挙前に税金を引き上げないと発表した。",
    "korean": "정부는 월요일 선거 전에 세금을 올리지 않겠다고 밝혔다.",
    "thai": "รัฐบาลกล่าวว่าจะไม่ขึ้นภาษีก่อนการเลือกตั้ง",
    "greek": "Η κυβέρνηση δήλωσε ότι δεν θα αυξήσει τους φόρους.",
    "hebrew": "הממשלה הודיעה שלא תעלה את המסים",
    "georgian": "მთავრობამ განაცხადა",
    "armenian": "Կառավարությունը հայտարարեց",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_languages_of_sentences(language):
    assert guess_languages([SENTENCES[language]] * 2) == [language] * 2


def test_what_is_too_short_or_unclear_has_no_language():
    unclear = ["", "42", "ok", "Paris", "Intel AMD Nvidia Qualcomm TSMC", "xkcd qwrt zzz pfft brrr", "Привет", "a" * 50]
    assert guess_languages(unclear) == [None] * len(unclear)


def test_only_the_beginning_of_a_long_text_is_read():
    english, german = SENTENCES["english"] * 10, SENTENCES["german"] * 1000
    assert guess_languages([english + german]) == ["english"]

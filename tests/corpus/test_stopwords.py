"""The stop word lists: their form, words that must be in them and words that must not."""

import importlib.util
import unicodedata
from pathlib import Path

import pytest

from topicfold.corpus.languages import LANGUAGES as LANGUAGE_CODES
from topicfold.corpus.languages import language_named

ROOT = Path(__file__).resolve().parents[2]
STOPWORDS_DIR = ROOT / "src" / "topicfold" / "corpus" / "stopwords"
LANGUAGES = sorted(path.stem for path in STOPWORDS_DIR.glob("*.txt"))

SHORT = {"afrikaans", "armenian", "estonian", "hausa", "kurdish", "latin", "somali", "sotho", "swahili", "ukrainian"}
SHORT |= {"yoruba", "zulu"}  # lists of fewer than 80 words

FUNCTION_WORDS = {
    "danish": "og ikke det",
    "dutch": "de het een niet",
    "english": "the and of is can will also don doesn isn couldn ve ll re don't",
    "finnish": "ja ei on",
    "french": "le la et est dans pas",
    "german": "der die das und nicht für unsere dass mehr schon wurde seit sei immer",
    "hungarian": "és nem előtt ők",
    "italian": "il di che non",
    "norwegian": "og ikke jeg",
    "portuguese": "o de que não",
    "russian": "и не что её",
    "arabic": "في من على",
    "chinese": "的 我们 因为",
    "hindi": "और है में",
    "japanese": "これ する",
    "persian": "را که",
    "polish": "nie się że",
    "turkish": "ve için çünkü",
    "ukrainian": "та що",
    "spanish": "el de que también",
    "swedish": "och inte är",
}

CONTENT_WORDS = {
    "english": "system computer bill fire research text web state world number value language information",
    "french": "mot nom valeur force sujet personne",
    "german": "jahr jahre mensch zeit tag teil arbeit gott recht ordnung startseite",
    "hungarian": "cikk elsõ",
    "italian": "città mondo uomo vita ansa",
    "lithuanian": "abiejø",
    "norwegian": "fûr",
    "portuguese": "sistema povo trabalho",
    "russian": "жизнь человек война деньги москва книга",
    "spanish": "estado gobierno país trabajo usa",
    "turkish": "altmýþ",
}


def read_words(language):
    return (STOPWORDS_DIR / f"{language}.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def builder():
    path = ROOT / "scripts" / "build_stopwords.py"
    spec = importlib.util.spec_from_file_location("build_stopwords", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_58_languages_with_a_name_and_a_code():
    assert len(LANGUAGES) == 58
    assert set(FUNCTION_WORDS) | SHORT <= set(LANGUAGES)
    assert all(language_named(LANGUAGE_CODES[language]) == language for language in LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_list_is_well_formed(language):
    words = read_words(language)
    assert (25 if language in SHORT else 80) <= len(words) <= 1300
    assert words == sorted(set(words))
    assert all(word == word.lower() == unicodedata.normalize("NFC", word) for word in words)
    letters = "".join(words).replace("'", "")
    assert {unicodedata.category(letter)[0] for letter in letters} <= {"L", "M"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_pieces_of_contractions_are_listed(language):
    words = set(read_words(language))
    pieces = {piece for word in words for piece in word.split("'") if len(piece) >= 2}
    assert pieces <= words


@pytest.mark.parametrize("language", sorted(FUNCTION_WORDS))
def test_function_words_are_listed(language):
    assert set(FUNCTION_WORDS[language].split()) <= set(read_words(language))


@pytest.mark.parametrize("language", sorted(CONTENT_WORDS))
def test_content_words_are_not_listed(language):
    assert not set(CONTENT_WORDS[language].split()) & set(read_words(language))


def test_builder_reads_comments_and_splits_contractions(builder):
    text = " | a comment\nthe   | article\nhe's she's\ndon't\nill.\n"
    words = builder.parse_snowball_list(text)
    assert words == {"the", "he's", "she's", "don't", "ill."}
    assert builder.build_list(words, "any") == ["don", "don't", "he", "he's", "ill", "she", "she's", "the"]


def test_builder_leaves_out_what_is_not_one_word(builder):
    words = {"celle-ci", "a ha", "10", "‘", "d.h", "İle", "'n", "می‌شود", "के"}
    assert builder.build_list(words, "any") == ["celle", "ci", "ile", "n", "شود", "می", "के"]
    assert builder.build_list({"altmýþ", "altmış"}, "turkish") == ["altmış"]


def test_builder_repairs_hungarian_letters(builder):
    assert builder.build_list({"elõtt", "cikk"}, "hungarian") == ["előtt"]

"""The stop word lists: their form, words that must be in them and words that must not."""

import importlib.util
import unicodedata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STOPWORDS_DIR = ROOT / "src" / "topicfold" / "corpus" / "stopwords"
LANGUAGES = sorted(path.stem for path in STOPWORDS_DIR.glob("*.txt"))

FUNCTION_WORDS = {
    "danish": "og ikke det",
    "dutch": "de het een niet",
    "english": "the and of is can will also don doesn isn couldn ve ll re don't",
    "finnish": "ja ei on",
    "french": "le la et est dans pas",
    "german": "der die das und nicht für unsere dass",
    "hungarian": "és nem előtt ők",
    "italian": "il di che non",
    "norwegian": "og ikke jeg",
    "portuguese": "o de que não",
    "russian": "и не что её",
    "spanish": "el de que también",
    "swedish": "och inte är",
}

CONTENT_WORDS = {
    "english": "system computer bill fire research text web state world number value language information",
    "french": "mot nom valeur force sujet personne",
    "german": "jahr jahre mensch zeit tag teil arbeit",
    "hungarian": "cikk elsõ",
    "russian": "жизнь человек",
    "spanish": "estado gobierno",
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


def test_there_are_at_least_ten_languages():
    assert len(LANGUAGES) >= 10
    assert set(FUNCTION_WORDS) <= set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_list_is_well_formed(language):
    words = read_words(language)
    assert 80 <= len(words) <= 600
    assert words == sorted(set(words))
    assert all(word == word.lower() == unicodedata.normalize("NFC", word) for word in words)
    assert all(word.replace("'", "").isalpha() for word in words)


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
    assert builder.parse_snowball_list(text) == {"the", "he's", "she's", "don't", "ill."}
    assert builder.build_list(text, "any") == ["don", "don't", "he", "he's", "ill", "she", "she's", "the"]


def test_builder_repairs_hungarian_letters(builder):
    assert builder.build_list("elõtt cikk", "hungarian") == ["előtt"]

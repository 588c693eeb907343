"""Languages: their names and ISO codes, the scripts of a text, and the language it is written in."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import Any

__all__ = [
    "LANGUAGES",
    "guess_languages",
    "language_named",
    "main_script",
    "nearest_name",
    "scripts_of",
]

LANGUAGES = {  # English name: ISO 639-1 code, without one the code of ISO 639-3
    "afrikaans": "af", "albanian": "sq", "amharic": "am", "arabic": "ar", "aragonese": "an", "armenian": "hy",
    "assamese": "as", "azerbaijani": "az", "basque": "eu", "belarusian": "be", "bengali": "bn", "bosnian": "bs",
    "breton": "br", "bulgarian": "bg", "burmese": "my", "catalan": "ca", "chinese": "zh", "croatian": "hr",
    "czech": "cs", "danish": "da", "dutch": "nl", "dzongkha": "dz", "english": "en", "esperanto": "eo",
    "estonian": "et", "faroese": "fo", "finnish": "fi", "french": "fr", "frisian": "fy", "gaelic": "gd",
    "galician": "gl", "georgian": "ka", "german": "de", "greek": "el", "gujarati": "gu", "haitian": "ht",
    "hausa": "ha", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "icelandic": "is", "igbo": "ig",
    "indonesian": "id", "irish": "ga", "italian": "it", "japanese": "ja", "javanese": "jv", "kannada": "kn",
    "kazakh": "kk", "khmer": "km", "kinyarwanda": "rw", "korean": "ko", "kurdish": "ku", "kyrgyz": "ky", "lao": "lo",
    "latin": "la", "latvian": "lv", "lithuanian": "lt", "luxembourgish": "lb", "macedonian": "mk", "malagasy": "mg",
    "malay": "ms", "malayalam": "ml", "maltese": "mt", "marathi": "mr", "mongolian": "mn", "nepali": "ne",
    "norwegian": "no", "occitan": "oc", "odia": "or", "oromo": "om", "pashto": "ps", "persian": "fa", "polish": "pl",
    "portuguese": "pt", "punjabi": "pa", "quechua": "qu", "romanian": "ro", "russian": "ru", "sami": "se",
    "sanskrit": "sa", "serbian": "sr", "shona": "sn", "sinhala": "si", "slovak": "sk", "slovenian": "sl",
    "somali": "so", "sotho": "st", "spanish": "es", "swahili": "sw", "swedish": "sv", "tagalog": "tl", "tajik": "tg",
    "tamil": "ta", "tatar": "tt", "telugu": "te", "thai": "th", "tibetan": "bo", "turkish": "tr", "turkmen": "tk",
    "ukrainian": "uk", "urdu": "ur", "uyghur": "ug", "uzbek": "uz", "vietnamese": "vi", "volapuk": "vo",
    "walloon": "wa", "welsh": "cy", "xhosa": "xh", "yiddish": "yi", "yoruba": "yo", "zulu": "zu",
}  # fmt: skip
_OTHER_CODES = {"nb": "norwegian", "nn": "norwegian", "fil": "tagalog", "iw": "hebrew", "in": "indonesian"}
_RARE = frozenset(
    ("an", "fo", "ht", "jv", "la", "lb", "mg", "mt", "oc", "om", "qu", "rw", "se", "sn", "st", "vo", "wa", "xh")
)
_FIRST = 300  # characters by which the language of a text is guessed
_FEWEST_LETTERS = 12
_LEAST_CONFIDENCE = 0.5
_RELATIVES = frozenset(("af", "ca", "gl"))  # which short texts in Dutch, Spanish or Portuguese look like
_LEAST_OF_RELATIVE = 0.8
_LEAST_KANA = 0.05  # share of kana in a Japanese text; Chinese texts may have a single one, as in names
_NAME_OF_CODE = {code: name for name, code in LANGUAGES.items()} | _OTHER_CODES


def language_named(name: str) -> str | None:
    """The English name of a language, given by name or ISO code (with or without a region); None if unknown.

    >>> language_named("German"), language_named("de"), language_named("pt_BR"), language_named("klingon")
    ('german', 'german', 'portuguese', None)
    """
    plain = name.strip().lower()
    if plain in LANGUAGES:
        return plain
    return _NAME_OF_CODE.get(re.split("[-_]", plain)[0])


def nearest_name(name: str, names: Iterable[str]) -> str:
    """A hint for an error: the most similar name, or all of them."""
    names = sorted(names)
    similar = get_close_matches(name.lower(), names, n=1, cutoff=0.7)
    return f"did you mean {similar[0]!r}?" if similar else f"available: {', '.join(names)}"


_SCRIPT_OF_NAME = {"cjk": "han", "ideographic": "han", "myanmar": "burmese", "oriya": "odia", "gurmukhi": "punjabi"}
_WIDTHS = ("halfwidth", "fullwidth")
_LANGUAGE_OF_SCRIPT = {
    **dict.fromkeys(("hiragana", "katakana"), "japanese"),
    "han": "chinese",
    "hangul": "korean",
    **{name: name for name in ("armenian", "burmese", "georgian", "greek", "gujarati", "hebrew", "kannada", "khmer")},
    **{name: name for name in ("lao", "malayalam", "odia", "punjabi", "sinhala", "tamil", "telugu", "thai", "tibetan")},
}


@cache
def _script(character: str) -> str:
    """The script of a letter, by its Unicode name: 'CYRILLIC SMALL LETTER A' is Cyrillic."""
    words = re.split("[ -]", unicodedata.name(character, "other").lower())
    first = words[1] if words[0] in _WIDTHS else words[0]
    return _SCRIPT_OF_NAME.get(first, first)


def scripts_of(text: str) -> dict[str, int]:
    """The scripts of a text with their numbers of letters, the most frequent first.

    >>> scripts_of("iPhone手机!")
    {'latin': 6, 'han': 2}
    """
    scripts: Counter[str] = Counter()
    for character, number in Counter(text).items():
        if character.isalpha():
            scripts[_script(character)] += number
    return dict(scripts.most_common())


def main_script(text: str) -> str | None:
    """The script of most letters of a text; None if it has no letters.

    >>> main_script("Москва (Moscow)"), main_script("2024")
    ('cyrillic', None)
    """
    return next(iter(scripts_of(text)), None)


def guess_languages(texts: Iterable[str]) -> list[str | None]:
    """The language of each text, judged by its first characters; None if that is not clear enough.

    >>> guess_languages(["The cat is sitting on the mat and looks at the dog.", "東京は日本の首都です", "ok", "7"])
    ['english', 'japanese', None, None]
    """
    return [_guessed_language(text[:_FIRST]) for text in texts]


def _guessed_language(text: str) -> str | None:
    scripts = {"latin": sum(map(str.isalpha, text))} if text.isascii() else scripts_of(text)
    n_letters = sum(scripts.values())
    if n_letters == 0:
        return None
    main, n_main = next(iter(scripts.items()))
    n_kana = scripts.get("hiragana", 0) + scripts.get("katakana", 0)
    if n_kana and n_kana + scripts.get("han", 0) > n_letters / 2:
        return "japanese" if n_kana >= _LEAST_KANA * n_letters else None
    if main in _LANGUAGE_OF_SCRIPT:
        return _LANGUAGE_OF_SCRIPT[main] if n_main > n_letters / 2 else None
    if n_letters < _FEWEST_LETTERS:
        return None
    code, confidence = _identifier().classify(text)
    least = _LEAST_OF_RELATIVE if code in _RELATIVES else _LEAST_CONFIDENCE
    return _NAME_OF_CODE[code] if confidence >= least else None


@cache
def _identifier() -> Any:
    """The classifier, for languages that many texts are written in: short texts look like a rare language too often."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([code for code in identifier.labels if code in _NAME_OF_CODE and code not in _RARE])
    return identifier

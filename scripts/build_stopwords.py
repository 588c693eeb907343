"""Write src/topicfold/corpus/stopwords/<language>.txt from the Snowball stop word lists that ship with Sphinx.

Prepare the source directory once, anywhere:

    pip download --no-deps --only-binary :all: --dest sphinx sphinx==9.0.4
    python -m zipfile -e sphinx/sphinx-9.0.4-py3-none-any.whl sphinx/unpacked
    python scripts/build_stopwords.py sphinx/unpacked
"""

import argparse
import re
import unicodedata
from pathlib import Path

STOPWORDS_DIR = Path(__file__).resolve().parents[1] / "src" / "topicfold" / "corpus" / "stopwords"

LANGUAGES = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
}

# English: function words that the source mentions only in its comments. Other languages: spellings that it lacks.
ADDED = {
    "english": "also another can even ever every however just least less many may might must never now shall since "
    "still us whether will",
    "german": "dass unsere unserem unseren unserer unseres",
    "russian": "её ещё неё всё",
}

# Content words and misprints in the source.
REMOVED = {
    "german": "anderr unse unsem unsen unses",
    "hungarian": "cikk cikkek cikkeket ison keressünk",
    "russian": "жизнь человек",
    "spanish": "estado estados",
    "swedish": "sitta",
}

# The Hungarian list has the Latin-1 look-alikes of these letters.
LETTER_FIXES = {"hungarian": str.maketrans("õû", "őű")}


def parse_snowball_list(text: str) -> set[str]:
    """The words of a list in which a vertical bar starts a comment."""
    return {word for line in text.splitlines() for word in line.split("|")[0].split()}


def contraction_pieces(words: set[str]) -> set[str]:
    """The parts of two letters or more into which a tokenizer splits words such as "don't"."""
    pieces = {piece for word in words for piece in re.split("['’]", word) if piece != word}
    return {piece for piece in pieces if len(piece) >= 2}


def build_list(text: str, language: str) -> list[str]:
    words = {word.lower().strip(".") for word in parse_snowball_list(text)}
    words = {word.translate(LETTER_FIXES.get(language, {})) for word in words}
    words |= set(ADDED.get(language, "").split())
    words -= set(REMOVED.get(language, "").split())
    words |= contraction_pieces(words)
    return sorted({unicodedata.normalize("NFC", word) for word in words})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="directory into which the Sphinx wheel was unpacked")
    parser.add_argument("--out", type=Path, default=STOPWORDS_DIR)
    options = parser.parse_args()

    for code, language in LANGUAGES.items():
        source = options.source / "sphinx" / "search" / "_stopwords" / f"{code}.txt"
        words = build_list(source.read_text(encoding="utf-8"), language)
        (options.out / f"{language}.txt").write_text("\n".join(words) + "\n", encoding="utf-8", newline="\n")
        print(f"{language}: {len(words)} words")


if __name__ == "__main__":
    main()

"""Write src/topicfold/corpus/stopwords/<language>.txt from two collections of stop word lists.

These are stopwords-iso, and the lists of the Snowball project that ship with Sphinx. Prepare both once, anywhere:

    pip download --no-deps --only-binary :all: --dest wheels sphinx==9.0.4 stopwordsiso==0.7.1
    python -m zipfile -e wheels/sphinx-9.0.4-py3-none-any.whl wheels/unpacked
    python -m zipfile -e wheels/stopwordsiso-0.7.1-py3-none-any.whl wheels/unpacked
    python scripts/build_stopwords.py wheels/unpacked
"""

import argparse
import json
import re
import unicodedata
from pathlib import Path

from topicfold.corpus.languages import LANGUAGES

STOPWORDS_DIR = Path(__file__).resolve().parents[1] / "src" / "topicfold" / "corpus" / "stopwords"

SNOWBALL = ("da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ru", "sv")

# The English list of stopwords-iso has hundreds of content words ("computer", "system", "bill"): Snowball's is used.
SNOWBALL_ONLY = {"english"}

# English: function words that the source mentions only in its comments. Other languages: spellings that it lacks.
ADDED = {
    "english": "also another can even ever every however just least less many may might must never now shall since "
    "still us whether will",
    "german": "dass unsere unserem unseren unserer unseres",
    "russian": "её ещё неё всё",
}

# Nouns, verbs and adjectives that name a topic, and misprints in the sources.
REMOVED = {
    "danish": "mand",
    "dutch": "miss recent",
    "french": "bas basee cher chers chère chères dos droite extenso force maximale mince minimale mot naturel "
    "naturelle naturelles ouvert ouverte ouverts parole parseme personne personnes pièce possessif possessifs pur pure "
    "restrictif specifique specifiques speculatif stop subtiles sujet superpose tente touchant valeur vif vifs vivat "
    "vive vives vé état",
    "german": "anderr bekannt dank ehrlich ernst gott jahr jahre jahren leicht leide mahn mann mensch menschen mittel "
    "ordnung recht rechte rechten rechter rechtes rund sache satt schlecht startseite suche tag tage tagen tat teil "
    "tel uhr unse unsem unsen unses wahr zeit",
    "hungarian": "cikk cikkek cikkeket ison keressünk szíves urak uram urat",
    "italian": "accidenti anni anno ansa anticipo attesa citta città comprare conclusione consiglio cortesia forza "
    "futuro generale gente giorni giorno gruppo haha inc lasciato luogo mesi miliardi milioni minimi mondo nome ore "
    "paese partendo peccato persone piedi possedere posto presa press promesso registrazione scola scopo sig tempo th "
    "titolo uomo vita",
    "norwegian": "arbeid folk makt navn part punkt start stille tid verdi vite",
    "portuguese": "ano anos apoio apontar caminho certeza conselho corrente custa desligado dia direita dúvida estado "
    "falta grupo hora horas ligado local lugar meses mês momento máximo nome noite nível número obra pegar pessoas "
    "ponto pontos posição povo promeiro questão quieto sistema tempo trabalhar trabalho valor verdade verdadeiro "
    "viagem área",
    "russian": "белый важная важное важные важный вернуться вечер взгляд вид видел видеть вода война вопрос время "
    "времени глаз главный говорил год года голова голос город дверь дела дело день деньги дом дорога друг думать душа "
    "ждать жена женщина жизнь жить земля имя книга комната лежать лет лицо любить мальчик маленький мать машина место "
    "миллионов минута мир мира молодой москва народ нога ночь окно отец ответить писать плечо подойди помнить пора "
    "правда процентов путь работа работать ребенок россия рука русский ряд свет сидеть сила слово случай смотреть "
    "советский спросить старый стол сторона стоять страна суть считать товарищ увидеть улица утро хороший час часть "
    "человек",
    "spanish": "acuerdo afirmó ampleamos buen buena buenas bueno buenos dia dias día días estado estados gueno horas "
    "lugar pais país paìs general sal soyos tiempo total trabaja trabajais trabajamos trabajan trabajar trabajas "
    "trabajo usa valor verdad verdadera verdadero",
    "swedish": "beslut beslutat beslutit dag dagar dagarna dagen del delen sitta",
}  # fmt: skip

# The Hungarian lists have the Latin-1 look-alikes of these letters.
LETTER_FIXES = {"hungarian": str.maketrans("õû", "őű")}

# Letters that these languages do not have: words with them were damaged by a wrong encoding.
FOREIGN_LETTERS = {
    "lithuanian": "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ",
    "norwegian": "ûö",
    "turkish": "ðýþ",
}


def parse_snowball_list(text: str) -> set[str]:
    """The words of a list in which a vertical bar starts a comment."""
    return {word for line in text.splitlines() for word in line.split("|")[0].split()}


def pieces(words: set[str]) -> set[str]:
    """The parts of two letters or more into which tokens are split: at apostrophes, hyphens and Persian joiners."""
    parts = {piece for word in words for piece in re.split("['’\u200c-]", word) if piece != word}
    return {piece for piece in parts if len(piece) >= 2}


def is_one_word(word: str) -> bool:
    """Whether it has only letters, vowel signs and apostrophes: no digits, punctuation or spaces."""
    letters = word.replace("'", "")
    return bool(letters) and all(unicodedata.category(letter)[0] in "LM" for letter in letters)


def build_list(words: set[str], language: str) -> list[str]:
    words = {word.replace("’", "'").replace("İ", "i").lower().strip(".'") for word in words}
    words = {word.translate(LETTER_FIXES.get(language, {})) for word in words}
    words = {word for word in words if not set(word) & set(FOREIGN_LETTERS.get(language, ""))}
    words |= set(ADDED.get(language, "").split())
    words |= pieces({word for word in words if is_one_word(re.sub("[\u200c-]", "", word))})
    words -= set(REMOVED.get(language, "").split())
    return sorted({unicodedata.normalize("NFC", word) for word in words if is_one_word(word)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="directory into which both wheels were unpacked")
    parser.add_argument("--out", type=Path, default=STOPWORDS_DIR)
    options = parser.parse_args()

    iso = json.loads((options.source / "stopwordsiso" / "stopwords-iso.json").read_text(encoding="utf-8"))
    name_of_code = {code: name for name, code in LANGUAGES.items()}
    for code in sorted(iso):
        language = name_of_code[code]
        words = set() if language in SNOWBALL_ONLY else set(iso[code])
        if code in SNOWBALL:
            path = options.source / "sphinx" / "search" / "_stopwords" / f"{code}.txt"
            words |= parse_snowball_list(path.read_text(encoding="utf-8"))
        listed = build_list(words, language)
        (options.out / f"{language}.txt").write_text("\n".join(listed) + "\n", encoding="utf-8", newline="\n")
        print(f"{language}: {len(listed)} words")


if __name__ == "__main__":
    main()

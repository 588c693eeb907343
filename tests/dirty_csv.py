"""A CSV file with every kind of mess at once, and what is in it.

python tests/dirty_csv.py 1000 dirty.csv writes one to look at.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

THEMES = {
    "garden": "tomato soil seed compost hedge lawn spade beetle pollen orchard cherry vine pruning frost greenhouse"
    " basket ladder bucket wasp thistle shovel rake cabbage radish lettuce mulch blossom petal root stem",
    "sport": "match coach striker goal referee league penalty stadium trophy relay sprint medal racket umpire bench"
    " helmet whistle jersey sprinter rower paddle archer javelin hurdle podium tackle dribble overtime captain fan",
    "space": "orbit rocket probe crater comet telescope launch capsule lander galaxy astronaut module shuttle eclipse"
    " lens mirror antenna planet moon nebula meteor gravity vacuum thruster payload docking rover equator sunspot ring",
    "money": "bank loan share dividend broker market currency budget tax auction merger creditor bond invoice tariff"
    " pension lender deposit ledger inflation refund subsidy surplus deficit wage rent lease insurer actuary customs",
}
ENGLISH = "The {} near the old {} was better than every other {}, so they took another {} and a {} with them."
GERMAN = "Der {} und die {} waren gestern nicht im {}, weil das {} noch immer zu {} für uns ist."
FRENCH = "Le {} et la {} ne sont pas dans le {} parce que la {} est encore trop {} pour nous."
CHINESE = "今天的{}比昨天的{}更好，所以我们把{}和{}都带到{}去了。"
GERMAN_WORDS = "Garten Nachbar Lehrer Hund Sommer Zug Berg Fluss Bruder Tisch Apfel Winter Bäcker Schrank Vogel Markt"
FRENCH_WORDS = "jardin voisin maître chien été train fleuve frère pomme hiver boulanger placard oiseau marché pont soir"
CHINESE_WORDS = "花园 苹果 火车 山羊 市场 老师 河流 桌子 冬天 面包 小鸟 月亮"
LANGUAGES = {
    "english": (ENGLISH, "", " "),
    "german": (GERMAN, GERMAN_WORDS, " "),
    "french": (FRENCH, FRENCH_WORDS, " "),
    "chinese": (CHINESE, CHINESE_WORDS, ""),
}
SHARES = {"english": 0.88, "german": 0.05, "french": 0.05, "chinese": 0.02}
BOILERPLATE = "Subscribe to our weekly letter!"

MESS = (  # what is put into a text, and how often cleaning removes something of a kind
    ("Smith &amp; Daughters", {"entities": 1}),
    ("they said &quot;so&quot; and it #39;s true", {"entities": 3}),
    ("rock &amp;amp; roll", {"entities": 2}),
    ("<p>first</p><br/><b>second</b>", {"tags": 5}),
    ('<a href="https://example.com/more?a=1&amp;b=2">more</a><!-- never shown -->', {"tags": 3, "entities": 1}),
    ("&lt;i&gt;slanted&lt;/i&gt;", {"entities": 4, "tags": 2}),
    ("see https://news.example.com/a/b.html?c=d#e", {"URLs": 1}),
    ("www.example.org and example.com/path", {"URLs": 2}),
    ("mail jo.doe@example.com today", {"e-mail addresses": 1}),
    ("RT @jo_doe: thanks @ann", {"handles": 2}),
    ("bell\x07 and soft\u00adhyphen\u200b", {"control characters": 3}),
    ("half a \ufffd character", {"control characters": 1}),
    ("cafÃ© naÃ¯ve dÃ©jÃ\xa0 vu", {"repaired encodings": 1}),
    ("it costs $5, 3 < 4 and 6 > 5, AT&T, I <3 it, meet @ noon", {}),  # this is no mess
)
DATES = (
    "{0:%Y-%m-%d}",
    "{0:%d %B %Y}",
    "{0:%B %d, %Y}",
    "{0:%d.%m.%Y}",
    "{0:%Y-%m-%dT%H:%M:%SZ}",
    "{0:%a, %d %b %Y %H:%M:%S} GMT",
)
NO_DATES = ("soon", "2004-13-45", "31 February 2004", "last week")


@dataclass
class DirtyTable:
    """The rows of the file, and what is true of them."""

    rows: list[dict[str, str]] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)  # of each row; 'unknown' if it is empty
    themes: list[str] = field(default_factory=list)
    exact_copies: dict[int, int] = field(default_factory=dict)  # row: the row that it is a copy of
    near_copies: dict[int, int] = field(default_factory=dict)
    empty: list[int] = field(default_factory=list)
    failed_dates: list[int] = field(default_factory=list)
    missing_dates: list[int] = field(default_factory=list)
    failed_numbers: list[int] = field(default_factory=list)
    removed: Counter[str] = field(default_factory=Counter)
    texts_cleaned: Counter[str] = field(default_factory=Counter)
    n_boilerplate: int = 0

    def write(self, path: Path) -> Path:
        """Write the file as Excel would: with a byte order mark and CR LF."""
        with open(path, "w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(self.rows[0]))
            writer.writeheader()
            writer.writerows(self.rows)
        return path


def dirty_table(n_rows: int, seed: int = 0) -> DirtyTable:
    """A table of news in four languages about four themes. Same seed, same table."""
    rng = np.random.default_rng(seed)
    table = DirtyTable()
    plain: list[int] = []  # rows in English without mess, of which copies can be made
    for number in range(n_rows):
        kind = rng.choice(["new", "exact", "near", "empty"], p=[0.9, 0.04, 0.03, 0.03]) if len(plain) > 5 else "new"
        if kind == "new":
            title, body, language, theme, is_plain = _new_text(rng, table, number)
            plain += [number] if is_plain else []
        elif kind == "empty":
            title, language, theme = "", "unknown", ""
            body, removed = [("", {}), ("  \r\n ", {}), ("<p>&nbsp;</p>", {"tags": 2, "entities": 1})][rng.integers(3)]
            _count(table, removed)
            table.empty.append(number)
        else:
            source = int(rng.choice(plain))
            title, body = table.rows[source]["title"], table.rows[source]["body"]
            language, theme = table.languages[source], table.themes[source]
            title, body = _copy(rng, table, title, body) if kind == "exact" else (title, f"Pebble {number}. {body}")
            (table.exact_copies if kind == "exact" else table.near_copies)[number] = source
        table.n_boilerplate += BOILERPLATE.casefold() in body.casefold()
        table.languages.append(language)
        table.themes.append(theme)
        table.rows.append(_row(rng, table, number, title, body))
    return table


def _new_text(rng: np.random.Generator, table: DirtyTable, number: int) -> tuple[str, str, str, str, bool]:
    language, theme = str(rng.choice(list(SHARES), p=list(SHARES.values()))), str(rng.choice(list(THEMES)))
    sentence, words, space = LANGUAGES[language]
    nouns = (words or THEMES[theme]).split()
    sentences = [sentence.format(*rng.choice(nouns, 5, replace=False)) for _ in range(rng.integers(6, 10))]
    title = f"{rng.choice(nouns)} {number}" if rng.random() < 0.9 else ""
    is_messy, has_boilerplate = rng.random() < 0.5, rng.random() < 0.1
    if is_messy:
        pieces = rng.choice(len(MESS), rng.integers(1, 4), replace=False)
        places = rng.integers(0, len(sentences) + 1, len(pieces))
        for place, piece in zip(places, pieces):
            sentences.insert(place, f" {MESS[piece][0]}. ")
        _count(table, sum((Counter(MESS[piece][1]) for piece in pieces), Counter()))
    body = space.join(sentences) + (f"\n{BOILERPLATE}" if has_boilerplate else "")
    return title, body, language, theme, language == "english" and not is_messy


def _copy(rng: np.random.Generator, table: DirtyTable, title: str, body: str) -> tuple[str, str]:
    """The same text, written differently."""
    way = rng.integers(4)
    if way == 0:
        return title.upper(), body.upper()
    if way == 1:
        return f" {title}", body.replace(" ", "   ").replace("\n", "\r\n")
    if way == 2:
        _count(table, {"tags": 2})
        return title, f"<div>{body}</div>"
    _count(table, {"entities": body.count(",")})
    return title, body.replace(",", "&#44;")


def _count(table: DirtyTable, removed: dict[str, int]) -> None:
    table.removed.update(removed)
    table.texts_cleaned.update(removed.keys())


def _row(rng: np.random.Generator, table: DirtyTable, number: int, title: str, body: str) -> dict[str, str]:
    moment = np.datetime64("2003-01-01T00:00:00") + np.timedelta64(int(rng.integers(3 * 365 * 86_400)), "s")
    posted = DATES[rng.integers(len(DATES))].format(moment.item())
    stars = str(rng.integers(1, 6))
    if rng.random() < 0.05:
        posted = str(rng.choice(NO_DATES))
        table.failed_dates.append(number)
    elif rng.random() < 0.05:
        posted = ""
        table.missing_dates.append(number)
    if rng.random() < 0.02:
        stars = "n/a"
        table.failed_numbers.append(number)
    return {
        "Unnamed: 0": str(number),
        "ref_id": f"a{number:06d}",
        "title": title,
        "body": body,
        "posted": posted,
        "changed": f"{moment:}",
        "stars": stars,
        "section": table.themes[number],
        "country": str(rng.choice(["AT", "BE", "CH"])),
        "source": "import",
        "blank": "",
        "token": f"{rng.integers(1 << 62):x}",
    }


if __name__ == "__main__":
    dirty_table(int(sys.argv[1])).write(Path(sys.argv[2]))

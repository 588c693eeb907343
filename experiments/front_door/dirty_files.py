"""Files as they come: two corpora as they are, and three that are made dirty by fixed rules.

Every rule is drawn with the seed of the draw, so a draw has the same texts for every method.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..corpora import read_records

__all__ = ["DIRTY_FILES", "MARKUP", "File", "led_by_markup", "read_files"]

# Words that a reader of topics has no use for: names of entities, tags and attributes; parts of addresses; fields of
# headers and phrases of news postings; abbreviations of tweets.
_NEVER_WORDS = """
amp apos gt hellip ldquo lsquo lt mdash nbsp ndash quot rdquo rsquo
br href html img li nofollow noopener ol rel src tbody td tr ul
com edu http https ly org php url utm www
nntp newsgroups re replyto rt wrote writes xref
"""
_ALSO_WORDS = """
alt body class div em font height id span strong style table target width
bit co content medium net newsletter source via
article cc date distribution fax from host keywords lines mail message organization posted posting references reply
sender subject
"""
_LEADING = frozenset(_NEVER_WORDS.split())
MARKUP = _LEADING | frozenset(_ALSO_WORDS.split())
_MANY = 3  # of the ten best words


def led_by_markup(words: Sequence[str]) -> bool:
    """Whether markup leads a topic: its first word is never a word of a text, or three of the ten best are in MARKUP.

    >>> led_by_markup(["lt", "profit"]), led_by_markup(["oil", "gt", "price"]), led_by_markup(["div", "dividend"])
    (True, False, False)
    """
    return words[:1] != [] and (words[0] in _LEADING or sum(word in MARKUP for word in words[:10]) >= _MANY)


class File(NamedTuple):
    """Texts as they are in a file, and their classes if there are any."""

    texts: list[str]
    labels: np.ndarray | None


Rules = Callable[[list[str], np.random.Generator], list[str]]


def read_files(folder: Path, names: Iterable[str]) -> dict[str, File]:
    """The texts that each file is made from."""
    return {name: _read(folder, DIRTY_FILES[name]) for name in names}


def _read(folder: Path, dirty: _DirtyFile) -> File:
    rows = [row for row in read_records(dirty.corpus, folder) if row["text"].strip()]
    if dirty.classes is None:
        return File([row["text"] for row in rows], None)
    labels = [row["labels"] if isinstance(row["labels"], str) else ",".join(row["labels"]) for row in rows]
    if dirty.classes:
        usual = {label for label, _ in Counter(filter(_is_single, labels)).most_common(dirty.classes)}
        rows = [row for row, label in zip(rows, labels) if label in usual]
        labels = [label for label in labels if label in usual]
    return File([_with_title(row) for row in rows], np.array(labels))


def _is_single(label: str) -> bool:
    return label != "" and "," not in label


def _with_title(row: Mapping[str, Any]) -> str:
    return f"{row['title']}\n\n{row['text']}" if row.get("title") else str(row["text"])


# ---- a web site -----------------------------------------------------------------------------------------------------

_BOILERPLATE = (
    "Subscribe to our newsletter for more stories like this",
    "All rights reserved. Reproduction without permission is prohibited.",
    "Follow us on Facebook and Twitter",
    "We use cookies to improve your experience. Read our privacy policy.",
    "Advertisement: scroll down to continue reading",
)
_PAGES, _ESCAPED_TWICE, _SEMICOLONS_ALONE = 0.4, 0.3, 0.1  # shares: of all texts, of pages, of other texts
_WITH_BOILERPLATE, _WITH_LINK, _WITH_URL = 0.2, 0.5, 0.15


def web_site(texts: list[str], draw: np.random.Generator) -> list[str]:
    """Two fifths of the texts are pages of HTML, of which a third is escaped twice; others have a few traces.

    Pages link to others with tracking parameters. Entities of a tenth of the other texts have lost their ampersand.
    A fifth of all texts end with one of five lines of boilerplate.
    """
    return [_dirty_page(text, number, draw) for number, text in enumerate(texts)]


def _dirty_page(text: str, number: int, draw: np.random.Generator) -> str:
    line = str(draw.choice(_BOILERPLATE)) if draw.random() < _WITH_BOILERPLATE else ""
    if draw.random() >= _PAGES:
        if draw.random() < _SEMICOLONS_ALONE:
            text = html.escape(text).replace("&#x27;", "&#39;").replace("&", " ")
        if draw.random() < _WITH_URL:
            text += f" http://www.example.com/news/{number}.html"
        return f"{text}\n{line}".rstrip()
    title, *paragraphs = re.split(r"\n\s*\n", html.escape(text))
    parts = [f'<div class="article" id="story-{number}">', f'<h1 class="title">{title}</h1>']
    parts += [f'<p class="body">{paragraph.strip()}&nbsp;</p>' for paragraph in paragraphs]
    if draw.random() < _WITH_LINK:
        address = f"https://www.example.com/story?id={number}&amp;utm_source=newsletter&amp;utm_medium=email"
        parts.append(f'<ul><li><a href="{address}" target="_blank" rel="nofollow">Related story</a></li></ul><br />')
    if line:
        parts.append(f'<p class="footer"><span style="font-size:11px">{line}</span></p>')
    page = "\n".join([*parts, "</div>"])
    return html.escape(page) if draw.random() < _ESCAPED_TWICE else page


# ---- tweets ---------------------------------------------------------------------------------------------------------

_N_HANDLES = 60
_RETWEETS, _MENTIONS, _SHORT_LINKS, _BITLY, _HASHTAGS, _AMPERSANDS = 0.3, 0.2, 0.5, 0.15, 0.4, 0.15
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))


def tweets(texts: list[str], draw: np.random.Generator) -> list[str]:
    """Titles as tweets: retweets, handles, hashtags, t.co and bit.ly links, and ampersands as entities."""
    handles = [f"@u{_random_letters(draw, 4)}_{number}" for number in range(_N_HANDLES)]
    return [_tweet(text, handles, draw) for text in texts]


def _tweet(text: str, handles: Sequence[str], draw: np.random.Generator) -> str:
    words = text.split()
    if draw.random() < _HASHTAGS:
        place = int(draw.integers(len(words)))
        words[place] = f"#{words[place]}"
    if len(words) > 1 and draw.random() < _AMPERSANDS:
        words.insert(int(draw.integers(1, len(words))), "&amp;")
    if draw.random() < _MENTIONS:
        words.append(f"via {draw.choice(handles)}")
    if draw.random() < _RETWEETS:
        words.insert(0, f"RT {draw.choice(handles)}:")
    if draw.random() < _SHORT_LINKS:
        words.append(f"https://t.co/{_random_letters(draw, 10)}")
    elif draw.random() < _BITLY:
        words.append(f"http://bit.ly/{_random_letters(draw, 7)}")
    return " ".join(words)


def _random_letters(draw: np.random.Generator, number: int) -> str:
    return "".join(draw.choice(_LETTERS, number))


# ---- the files ------------------------------------------------------------------------------------------------------


def _as_they_are(texts: list[str], draw: np.random.Generator) -> list[str]:
    return texts


class _DirtyFile(NamedTuple):
    """Which corpus, how its texts are made dirty, and how many of its classes count (0: all, None: it has none)."""

    corpus: str
    rules: Rules
    classes: int | None = 0


DIRTY_FILES: Mapping[str, _DirtyFile] = {
    "agnews": _DirtyFile("agnews", _as_they_are),
    "noticias_es": _DirtyFile("noticias_es", _as_they_are, None),
    "20newsgroups_raw": _DirtyFile("20newsgroups_raw", _as_they_are),
    "web site": _DirtyFile("reuters21578_raw", web_site, 8),
    "tweets": _DirtyFile("short_googlenews", tweets),
}

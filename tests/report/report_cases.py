"""Small corpora and models for the report, its columns as the page reads them, and slow twins of what it computes."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import scipy.sparse as sp

from topicfold import Corpus
from topicfold.models import MODELS

KINDS = {
    "pets": ["cat", "dog", "cow", "fur", "paw"],
    "sky": ["sun", "moon", "star", "comet", "orbit"],
    "food": ["bread", "cheese", "apple", "soup", "spoon"],
}


def small_texts(n=36):
    """Two paragraphs a text; in every third one the second is about something else."""
    rng = np.random.default_rng(0)
    names, texts = list(KINDS), []
    for number in range(n):
        own = number % 3
        kinds = [own, (own + 1) % 3 if number % 9 < 3 else own]
        paragraphs = [list(rng.choice(KINDS[names[kind]], 9)) for kind in kinds]
        first, second = (f"{' '.join(words[:5]).title()}, the {' '.join(words[5:])}." for words in paragraphs)
        texts.append(f"😀 {first} And of it.\n\n{second} 🐈 end-of {number}")
    return texts


def small_corpus(texts=None, **options):
    texts = small_texts() if texts is None else texts
    n = len(texts)
    names = list(KINDS)
    known = {
        "ids": [f"d{i}" for i in range(n)],
        "titles": [f"Title {i}" for i in range(n)],
        "labels": [None if i % 7 == 0 else [names[i % 3], "odd"] if i % 2 else names[i % 3] for i in range(n)],
        "links": [(f"d{i}", f"d{(i + 3) % n}") for i in range(n)],
        "timestamps": [None if i % 5 == 0 else f"{2001 + i // 4}-03-01" for i in range(n)],
        "keep_texts": True,
    }
    return Corpus.from_texts(texts, **{**known, **options})


def fitted(info, corpus, n_topics=3, **parameters):
    if info.steps == "n_sweeps":
        parameters = {"n_sweeps": 40, "burn_in": 20, "lag": 4, **parameters}
    if info.name in ("LTM", "LapPLSI"):  # on so few documents "auto" would do without the graph
        parameters = {"graph_weight": 1.0, **parameters}
    return info.make(n_topics, **{"random_state": 0, "verbose": False, **parameters}).fit(corpus)


def plsa(corpus, n_topics=3, **parameters):
    return fitted(MODELS["PLSA"], corpus, n_topics, **parameters)


def ldcc(corpus, **parameters):
    return fitted(MODELS["LDCC"], corpus, 3, **parameters)


def refuse(name):
    raise AssertionError(f"{name} is not JSON")


# ---- columns as the page reads them ----------------------------------------------------------------------------------


def numbers(text):
    return [int(number) for number in text.split()]


def in_threes(text):
    flat = numbers(text)
    return list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))


def units(text):
    """A text as JavaScript counts it: two bytes a unit."""
    return text.encode("utf-16-le", "surrogatepass")


def piece(text, start, end):
    return units(text)[2 * start : 2 * end].decode("utf-16-le")


WORD = r"[A-Za-z0-9_\u00c0-\u1fff\u2070-\u2fff\u3040-\ud7ff\ue000-\U0010ffff]+"  # what the page takes for a word


def marks_of(table, d):
    """(start, end, topic), in units of the text."""
    text, marks, at = table["text"][d], [], 0
    rows, colon, signs = table["marks"][d].partition(":")
    if colon:
        rows = numbers(rows)
        for word, sign in zip(re.finditer(WORD, text), signs, strict=False):
            if sign != ".":
                start, end = (len(units(text[:place])) // 2 for place in word.span())
                marks.append((start, end, rows[ord(sign) - ord("0")]))
        return marks
    for skipped, length, topic in in_threes(table["marks"][d]):
        marks.append((at + skipped, at + skipped + length, topic))
        at += skipped + length
    return marks


def marked_words(table, d):
    return [(piece(table["text"][d], start, end), topic) for start, end, topic in marks_of(table, d)]


def parts_of(table, d):
    """(topic, topic above, marked words with their topics) of each part, as the page cuts the text."""
    parts, marks, text = in_threes(table["parts"][d]), marks_of(table, d), table["text"][d]
    ends = [*(start for start, *_ in parts), len(units(text)) // 2][1:]
    return [
        (topic, above, [(piece(text, a, b), row) for a, b, row in marks if start <= a and b <= end])
        for (start, topic, above), end in zip(parts, ends, strict=True)
    ]


# ---- words and their topics, by going through them -------------------------------------------------------------------


def plain_words(text):
    """Words of the small texts in order, as they stand there."""
    return re.findall(r"[A-Za-z]{2,}", unicodedata.normalize("NFC", text))


def best_topic(tree, word, shares):
    """The topic with the largest product for a word and a document, by going through them; None where it is zero."""
    w = tree.vocabulary.index(word)
    lowest = min(tree.level)
    found, most = None, 0.0
    for row in range(len(tree)):
        if tree.exclusive and tree.level[row] > lowest:
            continue
        weight = tree.topic_word[row, w] if tree.word_score is None else sp.csr_array(tree.word_score)[row, w]
        if float(weight) * float(shares[row]) > most:
            found, most = row, float(weight) * float(shares[row])
    return found


def expected_marks(tree, words, shares):
    known = [word for word in words if word.lower() in tree.vocabulary]
    found = [(word, best_topic(tree, word.lower(), shares)) for word in known]
    return [(word, topic) for word, topic in found if topic is not None]

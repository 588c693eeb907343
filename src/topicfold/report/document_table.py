"""Documents for the explorer: their texts with the topic of each word, and their neighbours.

Long columns of numbers are stored as strings of numbers, one per document, which the page splits when the document is
opened: a browser reads a string many times faster than the lists it stands for.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus, Segments
from ..corpus.preprocessing import Preprocessing, token_spans
from ..graph.build import link_graph
from ..graph.cells import nearest_in_cells
from ..graph.neighbors import nearest
from ..topics.tree import TopicTree

__all__ = [
    "FITTED_GRAPH",
    "LONGEST_NAME",
    "MOST_COMPARED",
    "document_graph",
    "document_table",
    "nearest_by_topic",
    "nearest_different",
    "shortened",
]

FITTED_GRAPH = "the graph of the fit"
MOST_COMPARED = 50_000  # up to this many documents, each is compared with all others to find the nearest
_NOISE = 3e-3  # relative to a row's length: without it, many identical documents would have the same few neighbours
_SHORTEST_CUT = 200  # bytes: a text is never cut to less
_WORDS_SHOWN = 60  # of a document without its text
_NEAREST, _SHOWN_NEAREST, _LINKED = 12, 8, 20
LONGEST_NAME = 100_000  # characters of an id, a title, a label, a word or a name that the page can show
# The page finds words with the same pattern. It uses ranges of characters, as browsers differ in the Unicode version
# they support. Half of a surrogate pair is written as a question mark.
_WORD = re.compile("[^\0-/:-@\\[-^`{-\u00bf\u2000-\u206f\u3000-\u303f\ud800-\udfff]+")
# for topics that are a mixture, and for others: the smallest share shown, and the maximum number of topics per level
_SHARES = {True: (0.01, 12), False: (0.1, 40)}


def document_graph(tree: TopicTree, corpus: Corpus) -> tuple[str, sp.csr_array] | None:
    """The graph of the documents with its name: the graph that the model was fitted on, or the links of the corpus."""
    if tree.graph is not None:
        return FITTED_GRAPH, tree.graph
    if corpus.links is not None and len(corpus.links):
        return "links", link_graph(corpus.links, len(corpus))
    return None


def nearest_by_topic(doc_topic: np.ndarray) -> sp.csr_array:
    """For each document, the 12 with the most similar mix of topics, with the cosine of the square roots.

    Among more than 50,000 documents a few of the nearest may be missed.
    """
    roots = np.sqrt(doc_topic.astype(np.float32))
    if len(roots) <= MOST_COMPARED:
        return nearest(roots, roots, _NEAREST, skip_self=True)
    lengths = np.linalg.norm(roots, axis=1, keepdims=True)
    noise = np.random.default_rng(0).standard_normal(roots.shape, np.float32)
    roots += _NOISE / np.sqrt(roots.shape[1]) * lengths * noise
    return nearest_in_cells(roots, _NEAREST)


def nearest_different(doc_topic: np.ndarray, first: np.ndarray) -> sp.csr_array:
    """`nearest_by_topic` among the documents that are no copies; a copy has the neighbours of its first document."""
    rows = np.flatnonzero(first == np.arange(len(first)))
    if len(rows) == len(first):
        return nearest_by_topic(doc_topic)
    near = nearest_by_topic(doc_topic[rows])[np.searchsorted(rows, first)]
    return sp.csr_array((near.data, rows[near.indices], near.indptr), (len(first), len(first)))


def document_table(
    corpus: Corpus,
    counts: sp.csr_array,
    tree: TopicTree,
    rows: np.ndarray,
    first: np.ndarray,
    alike: sp.csr_array,
    graph: sp.csr_array | None,
    words: dict[str, int],
    text_bytes: int,
) -> dict[str, Any]:
    """What is shown of each document; `counts` is over the words of the tree.

    `first` (the first document that each one is a copy of), `alike` and `graph` are over the shown documents.

    Words of documents without texts are added to `words`. Texts are cut if all together exceed `text_bytes`.
    """
    doc_topic = tree.doc_topic[rows]
    table: dict[str, Any] = {
        "id": [short_id(tree.document_ids[row]) for row in rows],
        "title": None if corpus.titles is None else [shortened(corpus.titles[row]) for row in rows],
        "topics": [_shares(shares, tree) for shares in doc_topic],
        "near": _rows_as_text(alike, first, _SHOWN_NEAREST),
        "linked": None if graph is None else _rows_as_text(graph, first, _LINKED),
        "copy": _rows_before(first),
        "typical": None if tree.typicality is None else (1000 * tree.typicality[rows]).round().astype(int).tolist(),
        "date": _dates(corpus, rows),
    }
    tints = _Tints(tree)
    if corpus.texts is not None and _can_cut(corpus.preprocessing):
        table |= _texts(corpus, tree, rows, tints, text_bytes)
    else:
        table["no_texts"] = _why_no_texts(corpus)
        table["words"] = [_counted_words(counts, row, tree, tints, words) for row in rows]
    return table


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """A title, label or name as the page can show it: a megabyte in one line would freeze it."""
    return text if len(text) <= most else text[: most - 1] + "…"


def short_id(text: str) -> str:
    """An id; if it is cut, a digest of the whole id at its end keeps it unique."""
    if len(text) <= LONGEST_NAME:
        return text
    return f"{text[: LONGEST_NAME - 20]}…{hashlib.blake2b(text.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _can_cut(preprocessing: Preprocessing | None) -> bool:
    """Whether texts can be split into words: a corpus from a file may have only the name of its tokenizer."""
    return preprocessing is not None and preprocessing._has_tokenizer


def _why_no_texts(corpus: Corpus) -> str:
    """What the page says if it has only words, and what the user can do about it."""
    if corpus.preprocessing is None:
        return "The corpus was made from counts and has no texts."
    if corpus.texts is None:
        return "The corpus was made without its texts; Corpus.read(..., keep_texts=True) keeps them."
    return "The corpus has texts, but not the custom tokenizer that finds the words in them."


def _shares(shares: np.ndarray, tree: TopicTree) -> str:
    """Pairs 'row of the topic, share in thousandths', the largest first; the largest topics of each level.

    If memberships do not add up to one, many are near one: then rare topics of each level are preferred.
    """
    least, most = _SHARES[tree.exclusive]
    weight = shares if tree.exclusive else shares * -np.log(np.clip(tree.size, 1e-6, 1))
    free_places = dict.fromkeys(tree.level.tolist(), most)
    topic_rows = []
    for row in np.argsort(-weight, kind="stable").tolist():
        level = int(tree.level[row])
        if shares[row] >= least and free_places[level]:
            free_places[level] -= 1
            topic_rows.append(row)
    topic_rows.sort(key=lambda row: (-shares[row], row))
    return " ".join(f"{row} {round(1000 * float(shares[row]))}" for row in topic_rows)


def _rows_as_text(graph: sp.csr_array, first: np.ndarray, most: int) -> list[str]:
    """The heaviest neighbours of each row that are no copies of it or of each other."""
    texts = []
    for row, (start, stop) in enumerate(pairwise(graph.indptr.tolist())):
        order = np.argsort(-graph.data[start:stop], kind="stable")
        heaviest: dict[int, int] = {}
        for neighbour in graph.indices[start:stop][order].tolist():
            heaviest.setdefault(int(first[neighbour]), neighbour)
            if len(heaviest) > most:
                break
        heaviest.pop(int(first[row]), None)
        texts.append(" ".join(map(str, list(heaviest.values())[:most])))
    return texts


def _rows_before(first: np.ndarray) -> list[int] | None:
    """How many rows before each document the first one is that it is a copy of; None if there are no copies."""
    before = np.arange(len(first)) - first
    return before.tolist() if before.any() else None


def _dates(corpus: Corpus, rows: np.ndarray) -> list[str] | None:
    """Dates, as precise as those of the corpus: years if all are the first of January, months, or days."""
    if corpus.timestamps is None:
        return None
    dates = corpus.timestamps[~np.isnat(corpus.timestamps)]
    unit = next((unit for unit in "YM" if (dates.astype(f"datetime64[{unit}]") == dates).all()), "D")
    return ["" if np.isnat(date) else str(date) for date in corpus.timestamps[rows].astype(f"datetime64[{unit}]")]


# ---- words and their topics -----------------------------------------------------------------------------------------


class _Tints:
    """The topic of a word in a document: the most probable, or if words have scores, the one with the highest score."""

    def __init__(self, tree: TopicTree) -> None:
        self.topics = np.flatnonzero(tree.at_lowest_level) if tree.exclusive else np.arange(len(tree))
        weight: Any = tree.topic_word if tree.word_score is None else tree.word_score
        weight = weight.toarray() if sp.issparse(weight) else weight
        self.word_weight = np.ascontiguousarray(np.maximum(weight[self.topics].T, 0))

    def of(self, columns: Sequence[int], doc_topic: np.ndarray) -> dict[int, int]:
        """Column of a word to row of its topic; a word that no topic of the document has is left out."""
        words = np.unique(np.asarray(columns, np.int64))
        if not len(words):
            return {}
        weight = self.word_weight[words] * doc_topic[self.topics]
        best = weight.argmax(axis=1)
        has_topic = weight[np.arange(len(words)), best] > 0
        return dict(zip(words[has_topic].tolist(), self.topics[best[has_topic]].tolist()))


def _counted_words(counts: sp.csr_array, row: int, tree: TopicTree, tints: _Tints, words: dict[str, int]) -> str:
    """Triples 'word, count, row of its topic or -1' of a document's most frequent words."""
    part = slice(counts.indptr[row], counts.indptr[row + 1])
    order = np.argsort(-counts.data[part], kind="stable")[:_WORDS_SHOWN]
    columns, numbers = counts.indices[part][order].tolist(), counts.data[part][order]
    topics = tints.of(columns, tree.doc_topic[row])
    return " ".join(
        f"{words.setdefault(tree.vocabulary[w], len(words))} {int(np.ceil(n))} {topics.get(w, -1)}"
        for w, n in zip(columns, numbers)
    )


def _texts(corpus: Corpus, tree: TopicTree, rows: np.ndarray, tints: _Tints, text_bytes: int) -> dict[str, Any]:
    """Texts, cut if all together are too long, with the topic of each word and, if there are segments, of each segment.

    marks: see `_marks_as_text`.
    parts: triples 'start of a segment, row of its topic, row of its document-topic'.
    """
    assert corpus.texts is not None
    assert corpus.preprocessing is not None
    key = corpus.preprocessing._key
    in_corpus = set(map(key, corpus.vocabulary or ()))
    column = {key(word): w for w, word in enumerate(tree.vocabulary) if key(word) in in_corpus}
    texts = [corpus.texts[row] for row in rows]
    titles = [""] * len(rows) if corpus.titles is None else [corpus.titles[row] for row in rows]
    untitled = (text[_title_end(text, title) :] for text, title in zip(texts, titles))
    limit = _cut_length([len(text.encode("utf-8", "replace")) for text in untitled], text_bytes)
    segments = None
    if tree.segment_topic is not None and corpus.segments is not None:
        segments = _SegmentTopics(corpus, corpus.segments, tree)
    table: dict[str, Any] = {"text": [], "length": [], "marks": []} | ({} if segments is None else {"parts": []})
    for row, text, title in zip(rows.tolist(), texts, titles):
        text, spans = _known_spans(text, corpus.preprocessing, column)
        begin = _title_end(text, title)
        body = text[begin:]
        shown = body if limit is None else _cut(body, limit)
        parts = None if segments is None else segments.of(row, text, spans)
        shown_spans = [span for span in spans if span[1] <= begin + len(shown)]
        if parts is None:
            topics = tints.of([w for *_, w in shown_spans], tree.doc_topic[row])
            tinted = [(start, end, topics[w]) for start, end, w in shown_spans if w in topics]
        else:
            tinted = [mark for part in parts for mark in part.marks(shown_spans, tints)]
        tinted = [(start - begin, end - begin, topic) for start, end, topic in tinted if start >= begin]
        place = _utf16_places(body)
        table["text"].append(shown)
        table["length"].append(place(len(body)))
        table["marks"].append(_marks_as_text(shown, tinted, place))
        if segments is not None:
            shown_parts = [
                p for p in parts or [] if spans[p.last - 1][1] > begin and p.start < begin + max(len(shown), 1)
            ]
            starts = [place(max(part.start - begin, 0)) for part in shown_parts]
            table["parts"].append(" ".join(f"{start} {p.topic} {p.above}" for start, p in zip(starts, shown_parts)))
    table["cut"] = limit
    return table


def _title_end(text: str, title: str) -> int:
    """Where a text that begins with its title goes on below it: the page shows the title above the text."""
    for form in (title, unicodedata.normalize("NFC", title)):
        if form.strip() and text.startswith(f"{form}\n\n"):
            return len(form) + 2
    return 0


Span = tuple[int, int, int]  # start, end, column


def _known_spans(text: str, preprocessing: Preprocessing, column: dict[str, int]) -> tuple[str, list[Span]]:
    text, spans = token_spans(text, preprocessing)
    return text, [(start, end, column[word]) for start, end, word in spans if word in column]


def _marks_as_text(text: str, marks: list[Span], place: Callable[[int], int]) -> str:
    """'row row ...:', then one sign per word of the text: '.' for none of these rows, '0' for the first, '1' ...

    If a mark is not on one of the words that `_WORD` finds: triples 'characters skipped, length, row'. Both contain the
    same information, but the first takes a third of the space on a page.
    """
    if not marks:
        return ""
    rows = [row for row, _ in Counter(row for *_, row in marks).most_common()]
    sign = {row: chr(ord("0") + number) for number, row in enumerate(rows)}
    sign_at = {(start, end): sign[row] for start, end, row in marks}
    signs = [sign_at.pop(word.span(), ".") for word in _WORD.finditer(text)]
    if not sign_at:
        return f"{' '.join(map(str, rows))}:{''.join(signs).rstrip('.')}"
    numbers, last = [], 0
    for start, end, row in marks:
        numbers.append(f"{place(start) - last} {place(end) - place(start)} {row}")
        last = place(end)
    return " ".join(numbers)


def _utf16_places(text: str) -> Callable[[int], int]:
    """Converts a place in the text to the place that a browser counts: characters above U+FFFF count as two there."""
    if not text or max(text) <= "\uffff":
        return lambda place: place
    sizes = [2 if character > "\uffff" else 1 for character in text]
    return [0, *accumulate(sizes)].__getitem__


def _cut_length(sizes: list[int], text_bytes: int) -> int | None:
    """The maximum bytes per text so that all together have at most `text_bytes`; None if no cut is needed."""
    if sum(sizes) <= text_bytes:
        return None
    low, high, lengths = _SHORTEST_CUT, max(sizes), np.array(sizes)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if int(np.minimum(lengths, middle).sum()) <= text_bytes else (low, middle - 1)
    return low


def _cut(text: str, limit: int) -> str:
    """The start of a text, at most `limit` bytes, cut between words if possible."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit:
        return text
    start = encoded[:limit].decode("utf-8", "ignore")
    blank = max(start.rfind(" "), start.rfind("\n"))
    return start[:blank] if blank > len(start) // 2 else start


# ---- segments -------------------------------------------------------------------------------------------------------


class _Part:
    """A segment of a text: its position and its memberships."""

    def __init__(self, start: int, first: int, last: int, topics: np.ndarray, topic: int, above: int) -> None:
        self.start, self.first, self.last = start, first, last  # of its characters; of its words: from, to
        self.topics, self.topic, self.above = topics, topic, above

    def marks(self, spans: list[Span], tints: _Tints) -> list[Span]:
        """The topics of the words in the segment, given the segment's own mix of topics."""
        own_spans = spans[self.first : self.last]
        topics = tints.of([w for *_, w in own_spans], self.topics)
        return [(start, end, topics[w]) for start, end, w in own_spans if w in topics]


class _SegmentTopics:
    """The segments of a text, located by the number of words in each."""

    def __init__(self, corpus: Corpus, segments: Segments, tree: TopicTree) -> None:
        assert tree.segment_topic is not None
        self.memberships = tree.segment_topic
        self.lower = tree.at_lowest_level
        self.upper = ~self.lower
        shared = set(tree.vocabulary)
        columns = [w for w, word in enumerate(corpus.vocabulary or ()) if word in shared]
        self.lengths = np.asarray(segments.counts[:, columns].sum(axis=1)).ravel().astype(int)
        self.order = np.argsort(segments.documents, kind="stable")
        self.ends = np.searchsorted(segments.documents[self.order], np.arange(len(corpus) + 1))

    def of(self, document: int, text: str, spans: list[Span]) -> list[_Part] | None:
        """The segments of a document; None if the words of the text are not those of the segments, as with n-grams."""
        numbers = self.order[self.ends[document] : self.ends[document + 1]]
        ends = np.cumsum(self.lengths[numbers]).tolist()
        if not ends or ends[-1] != len(spans):
            return None
        parts: list[_Part] = []
        for number, first, last in zip(numbers.tolist(), [0, *ends], ends):
            if first == last:
                continue  # such as a heading of stop words: it joins the segment before it
            before = spans[first - 1][1] if first else 0
            start = _paragraph_start(text, before, spans[first][0]) if parts else 0
            shares = self.memberships[number]
            parts.append(_Part(start, first, last, shares, _largest(shares, self.lower), _largest(shares, self.upper)))
        return parts


def _largest(shares: np.ndarray, among: np.ndarray) -> int:
    """The row of the largest share among some, -1 if all are zero."""
    best = int(np.where(among, shares, 0).argmax())
    return best if among[best] and shares[best] > 0 else -1


def _paragraph_start(text: str, after: int, before: int) -> int:
    """The start of a segment whose first word is at `before`: after a blank line, a line, or a sentence."""
    for pattern in (r"\n\s*\n", r"\n", r"[.!?。！？]\s*"):
        match = re.search(pattern, text[after:before])
        if match:
            return after + match.end()
    return before

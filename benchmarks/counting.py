"""From texts to counts against CountVectorizer, with the same definition of a token."""

from __future__ import annotations

from collections.abc import Iterator

from .common import ALL_WORDS, Row, Setting, alternating, at_least, cpu, seconds

_PATTERN = r"(?u)\b\w\w+\b"


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    from sklearn.feature_extraction.text import CountVectorizer

    from topicfold import Corpus, Preprocessing

    texts = setting.raw_texts
    preprocessing = Preprocessing(token_pattern=_PATTERN, stop_words=None, clean=False)
    ours = Corpus.from_texts(texts, preprocessing=preprocessing, **ALL_WORDS)
    theirs = CountVectorizer(token_pattern=_PATTERN)
    counts = theirs.fit_transform(texts)
    if list(ours.vocabulary or ()) != list(theirs.get_feature_names_out()) or (ours.counts != counts).nnz:
        raise AssertionError("Corpus.from_texts and CountVectorizer do not count the same")
    del ours, theirs, counts
    repeats = setting.repeats(7)
    mine, peer = alternating(
        lambda: cpu(lambda: Corpus.from_texts(texts, preprocessing=preprocessing, **ALL_WORDS)),
        lambda: cpu(lambda: CountVectorizer(token_pattern=_PATTERN).fit_transform(texts)),
        repeats=repeats,
    )
    size = sum(map(len, texts)) / 1e6
    name = f"Corpus.from_texts, {size:.0f} million characters, against CountVectorizer, same counts ({repeats} runs)"
    yield at_least(name, mine, peer, 1, seconds)

"""Texts, ways to make them into words, and counts as plain dictionaries."""

from __future__ import annotations

from topicfold import Preprocessing
from topicfold.corpus.counting import WordCounter

TEXTS = ["The cats are running; a cat ran.", "", "Dogs don't run, dogs RUN!", "naïve Straße 東京 москва", "42 3d x y"]


def counted(texts, preprocessing, vocabulary=None):
    counter, cleaner = WordCounter(preprocessing, vocabulary), preprocessing._cleaner()
    for item in texts:
        counter.add(cleaner.clean(item))
    counts, words = counter.finish()
    return [
        {words[w]: int(n) for w, n in zip(counts.indices[a:b], counts.data[a:b])}
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:])
    ]


VARIANTS = [
    Preprocessing(),
    Preprocessing(stop_words=None),
    Preprocessing(stemmer="english"),
    Preprocessing(stemmer="english", stop_words=("cat",), lowercase=False),
    Preprocessing(ngrams=(1, 3)),
    Preprocessing(ngrams=(2, 2), stemmer="english"),
    Preprocessing(token_pattern=r"\w+", stop_words=None),
    Preprocessing(tokenizer=str.split),
]

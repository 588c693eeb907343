"""The vectors of English words that come with the package: how texts are split, the table's file, where they suit."""

from importlib import resources

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import Corpus, FileError
from topicfold.corpus import word_vectors
from topicfold.corpus.word_vectors import WordVectors, english_vectors, suit_word_vectors, text_vectors

PIECES = ("snap", "##chat", "cat", "##s", "##at", "c", "sun", "##n")


@pytest.fixture
def table():
    vectors = np.random.default_rng(0).normal(size=(len(PIECES), 4))
    return WordVectors.rounded(PIECES, vectors)


def real(table):
    return table.vectors.astype(np.float64) * table.scales[:, None]


def test_rounding_keeps_the_vectors(table):
    vectors = np.random.default_rng(0).normal(size=(len(PIECES), 4))
    assert np.abs(real(table) - vectors).max() <= table.scales.max() / 2 + 1e-6
    zero = WordVectors.rounded(["a"], np.zeros((1, 3)))
    assert not zero.of_words(["a"]).any()


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("snapchat", ["snap", "##chat"]),
        ("snapchats", ["snap", "##chat", "##s"]),
        ("cat", ["cat"]),  # not c + ##at
        ("cats", ["cat", "##s"]),
        ("sunn", ["sun", "##n"]),
        ("chat", []),  # known inside words only
        ("dog", []),
        ("", []),
        ("cat" + "s" * 97, ["cat"] + ["##s"] * 97),
        ("cat" + "s" * 98, []),  # too long for a word
    ],
)
def test_words_are_the_longest_pieces(table, word, pieces):
    assert [PIECES[row] for row in table.rows_of(word)] == pieces


def test_vectors_of_words_and_texts_are_sums(table):
    rows = real(table)
    assert np.allclose(table.of_words(["cats", "dog", "sun cat"]), [rows[2] + rows[3], rows[0] * 0, rows[6] + rows[2]])
    texts = ["Cat's  SUN-cat", "", "dog", "sün_sun!", "cat dog"]
    sums = np.array([2 * rows[2] + rows[6], rows[0] * 0, rows[0] * 0, 2 * rows[6], rows[2]])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    vectors = table.of_texts(texts)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, sums / np.where(lengths > 0, lengths, 1), atol=1e-6)
    counts = sp.csr_array(np.array([[2, 1], [0, 0], [0, 0], [0, 2], [1, 0]]))
    assert np.allclose(text_vectors(counts, table.of_words(["cat", "sun"])), vectors, atol=1e-6)
    assert table.of_texts([]).shape == (0, 4)


def test_the_file_and_what_is_wrong_with_it(table, tmp_path):
    table.save(tmp_path / "table")
    same = WordVectors.read(tmp_path / "table")
    assert same.pieces == table.pieces
    assert np.array_equal(same.vectors, table.vectors)
    assert np.array_equal(same.scales, table.scales)
    raw = (tmp_path / "table").read_bytes()
    (tmp_path / "table").write_bytes(raw[:-3] + b"xxx")
    with pytest.raises(FileError, match="is damaged"):
        WordVectors.read(tmp_path / "table")
    for wrong, said in (
        (WordVectors(PIECES, table.vectors, table.scales[:-1]), "its scales has shape"),
        (WordVectors(PIECES, table.vectors.astype(np.int16), table.scales), "expected int8"),
        (WordVectors(PIECES, table.vectors, table.scales * np.nan), "contains NaN"),
        (WordVectors((*PIECES[:-1], "snap"), table.vectors, table.scales), "a piece twice"),
    ):
        wrong.save(tmp_path / "wrong")
        with pytest.raises(FileError, match=said):
            WordVectors.read(tmp_path / "wrong")


def test_the_table_of_the_package():
    table = english_vectors()
    assert table.vectors.shape == (len(table.pieces), 128)
    assert len(table.pieces) > 30_000
    folder = resources.files("topicfold.corpus") / "vectors"
    assert "Apache License" in (folder / "NOTICE.md").read_text("utf-8")
    assert "WordNet 3.0 Copyright 2006" in (folder / "NOTICE.md").read_text("utf-8")
    vectors = table.of_words(["car", "automobile", "banana", "the"])
    lengths = np.linalg.norm(vectors, axis=1)
    alike = vectors / lengths[:, None] @ (vectors / lengths[:, None]).T
    assert alike[0, 1] > 0.6 > alike[0, 2]
    assert lengths[3] < lengths[:3].min() / 2  # it says little about what a text is about


SHORT = ["the striker scored twice", "goals in the football match", "stocks fell on the market", "rain and snow today"]


@pytest.mark.parametrize(
    ("texts", "suits"),
    [
        (SHORT, True),
        ([" ".join(SHORT * 4)] * 4, False),  # long
        (
            ["el delantero marcó dos goles", "las acciones cayeron ayer", "llueve y nieva hoy", "un partido de fútbol"],
            False,
        ),
        (["дождь и снег", "футбольный матч", "акции упали", "снег"], False),
    ],
)
def test_where_vectors_suit(texts, suits):
    assert suit_word_vectors(Corpus.from_texts(texts * 25, min_df=1, stemmer=None)) is suits


def test_where_nothing_can_be_told(monkeypatch):
    counts = Corpus(np.ones((100, 2)), ("cat", "dog"), tuple(map(str, range(100))))
    assert not suit_word_vectors(counts)  # counts: their words may be anything
    assert not suit_word_vectors(Corpus.from_texts(SHORT * 20, min_df=1))  # too few to hold any out
    monkeypatch.setattr(word_vectors, "_MOST_DOCUMENTS", 99)
    assert not suit_word_vectors(Corpus.from_texts(SHORT * 25, min_df=1))

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import topicfold.corpus.copies as copies_module
from tests import naive
from topicfold import Corpus, InputError

WORDS = [f"w{first}{second}" for first in "abcdefghij" for second in "abcdefghij"]
LONG = " ".join(WORDS[:30])


def changed_texts(n, seed=0):
    """Texts of many lengths, most of them made of an earlier one by changing some words, case or spaces."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, 40))]
    for _ in range(n - 1):
        words = texts[rng.integers(len(texts))].split()
        kind = rng.integers(6)
        if kind == 0:
            words = list(rng.choice(WORDS, rng.integers(0, 60)))
        elif kind == 1:
            words = [word.upper() for word in words] + ["", " "]
        else:
            for _ in range(rng.integers(0, 5)):
                words.insert(rng.integers(len(words) + 1), str(rng.choice(WORDS)))
            del words[: rng.integers(0, 3)]
        texts.append(" ".join(words))
    return texts


@pytest.mark.filterwarnings("ignore:.*texts are empty")
@pytest.mark.parametrize("seed", range(6))
def test_every_copy_is_found_and_nothing_else(seed):
    texts = changed_texts(150, seed)
    corpus = Corpus.from_texts(texts, stop_words=None, keep_texts=True)
    first, n_exact, n_near = naive.copies(corpus.counts, texts)
    assert (corpus.copies.first.tolist(), corpus.copies.n_exact, corpus.copies.n_near) == (first, n_exact, n_near)
    assert min(n_exact, n_near) >= 5


def test_texts_are_compared_without_case_white_space_and_normal_form():
    corpus = Corpus.from_texts(
        ["Caf\u00e9  Stra\u00dfe", "cafe\u0301 STRASSE\n", "cafe strasse"], keep_texts=True, stop_words=None
    )
    assert corpus.copies.first.tolist() == [0, 0, 2]
    assert (corpus.copies.n_exact, corpus.copies.n_near) == (1, 0)


def test_short_texts_are_only_exact_copies():
    short = " ".join(WORDS[:14])
    corpus = Corpus.from_texts([short, f"{short} 1", short], keep_texts=True)
    assert corpus.copies.first.tolist() == [0, 1, 0]
    longer = f"{short} {WORDS[14]}"
    assert Corpus.from_texts([longer, f"{longer} 1"], keep_texts=True).copies.n_near == 1


def test_a_copy_of_a_copy_need_not_be_a_copy():
    texts = [LONG, f"{LONG} xa xb", f"{LONG} xa xb xc xd"]  # 30/32 and 32/34, but 30/34
    corpus = Corpus.from_texts(texts, keep_texts=True)
    assert corpus.copies.first.tolist() == [0, 0, 2]
    assert Corpus.from_texts(texts[1:], keep_texts=True).copies.first.tolist() == [0, 0]


def test_the_threshold_itself_counts():
    words = [f"v{place}" for place in range(20)]
    texts = [" ".join(words[:18]), " ".join(words), " ".join(words[:17])]
    assert Corpus.from_texts(texts[:2], keep_texts=True).copies.n_near == 1  # 18/20
    assert Corpus.from_texts(texts[1:], keep_texts=True).copies.n_near == 0  # 17/20


def test_without_texts_counts_and_titles_are_compared():
    counts = [[1, 2], [1, 2], [2, 1], [0, 0], [0, 0]]
    assert Corpus.from_counts(counts).copies.first.tolist() == [0, 0, 2, 3, 4]
    titled = Corpus.from_counts(counts, titles=["a", "b", "a", "", ""])
    assert titled.copies.first.tolist() == [0, 1, 2, 3, 4]
    assert Corpus.from_counts(np.tile(np.arange(1, 21), (3, 1)), titles="abc").copies.n_near == 2


def test_counts_in_any_form_give_the_same_copies():
    unsorted = sp.csr_array((np.array([2, 1, 1, 2, 0]), np.array([1, 0, 0, 1, 2]), np.array([0, 2, 5])), (2, 3))
    assert Corpus(unsorted).copies.first.tolist() == [0, 0]


@pytest.mark.parametrize("texts", [["red fish"], ["red fish"] * 5, ["", "", ""], ["!!", "!!"], ["12", "", "34"]])
def test_small_and_empty_corpora(texts):
    counts = sp.csr_array((len(texts), 1), dtype=np.int32)
    corpus = Corpus(counts, texts=tuple(texts))
    first = {"red fish": [0] * len(texts), "!!": [0, 0]}.get(texts[0], list(range(len(texts))))
    assert corpus.copies.first.tolist() == first
    assert len(corpus.unique()) == len(set(first))


@pytest.mark.parametrize("text", ["red fish", LONG])
def test_a_hundred_thousand_identical_texts_are_one_group(text, monkeypatch):
    n = 100_000
    row = Corpus.from_texts([text]).counts
    data, indices = np.tile(row.data, n), np.tile(row.indices, n)
    counts = sp.csr_array((data, indices, np.arange(0, n * row.nnz + 1, row.nnz)), (n, row.shape[1]))
    assert (Corpus(counts).copies.first == 0).all()
    titled = Corpus(counts, titles=tuple(map(str, range(n))))  # compared by their words: only with the first
    assert titled.copies.n_near == (n - 1 if text == LONG else 0)


def test_copies_are_found_once_and_not_stored(tmp_path):
    corpus = Corpus.from_texts(["red fish", "tree", "red fish"], keep_texts=True)
    assert corpus.copies is corpus.copies
    assert "copies" not in corpus.__getstate__()
    assert pickle.loads(pickle.dumps(corpus)).copies.n_exact == 1
    corpus.save(tmp_path / "corpus.safetensors")
    assert Corpus.load(tmp_path / "corpus.safetensors").copies.first.tolist() == [0, 1, 0]
    assert corpus.subset([1, 2]).copies.n_exact == 0


def test_unique_keeps_the_first_and_moves_links():
    texts = ["red fish", "tree", "Red fish", "moon"]
    links = [(2, 1), (1, 2), (0, 1), (0, 2), (3, 2), (3, 0), (3, 3)]
    corpus = Corpus.from_texts(texts, links=links, keep_texts=True, metadata={"year": [1, 2, 3, 4]})
    unique = corpus.unique()
    assert unique.ids == ("0", "1", "3")
    assert unique.links.tolist() == [[0, 1], [1, 0], [2, 0], [2, 2]]
    assert unique.metadata["year"].tolist() == [1, 2, 4]
    assert unique.unique() is unique


def test_copies_are_dropped_before_words_are_chosen():
    texts = ["red fish"] * 3 + ["blue fish", "green tree"]
    assert Corpus.from_texts(texts, min_df=3).vocabulary == ("fish", "red")
    with pytest.warns(
        UserWarning, match="2 of 5 documents are copies of earlier ones and are dropped: 2 exact, 0 near"
    ):
        corpus = Corpus.from_texts(texts, min_df=2, unique=True)
    assert corpus.vocabulary == ("fish",)
    assert corpus.ids == ("0", "3", "4")
    assert corpus.texts is None


@pytest.mark.filterwarnings("ignore:.*are copies")
def test_words_of_dropped_copies_alone_are_no_words():
    texts = [LONG, f"{LONG} extra"]
    assert "extra" not in Corpus.from_texts(texts, unique=True, min_df=0).vocabulary
    assert "extra" in Corpus.from_texts(texts, unique=True, vocabulary=[*WORDS[:30], "extra"]).vocabulary


@pytest.mark.filterwarnings("ignore:.*are copies")
def test_segments_go_with_their_documents():
    texts = ["red fish. blue sea.", "green tree.", "red fish. blue sea.", "a moon. two stars. three suns."]
    corpus = Corpus.from_texts(texts, segments="sentences", unique=True)
    plain = Corpus.from_texts([texts[0], texts[1], texts[3]], segments="sentences")
    assert corpus.segments.documents.tolist() == plain.segments.documents.tolist()
    assert (corpus.segments.counts != plain.segments.counts).nnz == 0
    given = Corpus.from_texts([["red fish", "sea"], ["tree"], ["red fish", "sea"]], segments="given", unique=True)
    assert len(given) == 2


@pytest.mark.filterwarnings("ignore:.*are (copies|empty)")
def test_reading_into_a_file_and_into_memory_give_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("topicfold.corpus.counting._CHUNK", 40)
    file = tmp_path / "texts.jsonl"
    records = [
        {
            "id": f"d{n}",
            "text": text,
            "label": ["a", "b"][: n % 3],
            "title": f"title {n}",
            "year": n,
            "to": [f"d{n // 2}"],
        }
        for n, text in enumerate(changed_texts(120) + [""])
    ]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    options = {"title": "title", "labels": "label", "links": "to", "metadata": ["year"], "unique": True, "min_df": 3}
    with pytest.warns(UserWarning, match="are copies of earlier ones"):
        memory = Corpus.read(file, keep_texts=True, **options)
    with pytest.warns(UserWarning, match="are copies of earlier ones"):
        disk = Corpus.read(file, keep_texts=True, on_disk=tmp_path / "corpus.safetensors", **options)
    assert disk.on_disk
    assert 10 < len(memory) < 110
    assert (disk.counts != memory.counts).nnz == 0
    for name in ("vocabulary", "ids", "titles", "texts"):
        assert tuple(getattr(disk, name)) == tuple(getattr(memory, name))
    assert list(disk.labels) == list(memory.labels)
    assert disk.links.tolist() == memory.links.tolist()
    assert disk.metadata["year"].tolist() == memory.metadata["year"].tolist()
    assert (disk.copies.n_exact, memory.copies.n_exact) == (0, 0)


@pytest.mark.filterwarnings("ignore:.*are copies")
def test_the_same_row_twice_may_have_the_same_id(tmp_path):
    file = tmp_path / "texts.csv"
    file.write_text("id,text\na,red fish\nb,tree\na,red fish\n")
    assert Corpus.read(file, unique=True).ids == ("a", "b")


def test_where_unique_has_no_meaning(tmp_path):
    file = tmp_path / "texts.csv"
    file.write_text("text\nred fish\ntree\n")
    with pytest.raises(InputError, match="unique=True: a batch is too small to tell"):
        next(Corpus.batches(file, 1, unique=True))
    Corpus.read(file).save(tmp_path / "corpus.safetensors")
    with pytest.raises(InputError, match="leave out unique"):
        Corpus.read(tmp_path / "corpus.safetensors", unique=True)


def test_few_documents_are_compared_even_if_most_words_are_common(monkeypatch):
    """Documents with the same frequent words and different rare ones are told apart by the rare ones."""
    rng = np.random.default_rng(0)
    columns = np.hstack([np.tile(np.arange(40), (3000, 1)), 40 + rng.integers(0, 500, (3000, 6))])
    counts = sp.csr_array((np.ones(columns.size, np.int32), columns.ravel(), np.arange(0, columns.size + 1, 46)))
    corpus = Corpus(counts)
    assert corpus.copies.n_near < 300
    assert copies_module.FEWEST_WORDS == 15

"""Stems: counted together, shown as full words, and the same in new texts, in other corpora and on the page."""

from __future__ import annotations

import pytest

from topicfold import PLSA, Corpus, InputError, Preprocessing, build_report, load
from topicfold.corpus.counting import token_stream
from topicfold.datasets import load_demo

TEXTS = ["running runs running", "cats run", "the cat runs", "Dogs and cats", "dog"] * 2


def test_a_stem_is_shown_as_its_most_frequent_form():
    corpus = Corpus.from_texts(TEXTS, stemmer="english")
    assert corpus.vocabulary == ("cats", "dogs", "running")
    assert corpus.counts.toarray()[:5].tolist() == [[0, 0, 3], [1, 0, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0]]
    assert Preprocessing(stemmer="english").words("running cats") == ["run", "cat"]


def test_n_grams_have_full_forms_too():
    texts = ["white houses", "white house", "white houses", "houses"]
    corpus = Corpus.from_texts(texts, stemmer="english", ngrams=(1, 2))
    assert corpus.vocabulary == ("houses", "white", "white houses")
    assert corpus.vectorize(["the white house"]).toarray().tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("segments", [None, "sentences", 2])
def test_in_processes_the_words_are_the_same(segments, monkeypatch, tmp_path):
    monkeypatch.setattr("topicfold.corpus.counted_chunks._CHUNK", 40)
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(f"{text}. Catty dogged {text}" for text in TEXTS * 6), encoding="utf-8")
    options = {"stemmer": "english", "segments": segments, "stop_words": "english"}
    one, two = (Corpus.read(path, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert one.vocabulary == two.vocabulary
    assert (one.counts != two.counts).nnz == 0
    if segments is None:
        disk = Corpus.read(path, on_disk=tmp_path / "corpus.safetensors", **options)
        assert disk.vocabulary == one.vocabulary
        assert (disk.counts != one.counts).nnz == 0


def test_new_texts_and_other_corpora_are_matched_by_stem(tmp_path):
    corpus = Corpus.from_texts(TEXTS, stemmer="english", keep_texts=True)
    model = PLSA(2, random_state=0).fit(corpus)
    model.save(tmp_path / "m.safetensors")
    model = load(tmp_path / "m.safetensors")
    assert model.word_counts(["a cat, catting", "runner ran runs"]).toarray().tolist() == [[2, 0, 0], [0, 0, 1]]
    other = Corpus.from_texts(["cat", "cat dog", "a run"], stemmer="english", keep_texts=True)
    assert other.vocabulary == ("cat", "dog", "run")
    assert model.word_counts(other).toarray().tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    with pytest.raises(InputError, match="no word in common"):
        model.word_counts(Corpus.from_texts(["fish"], stemmer="english"))
    columns, _ = token_stream(["running cats"], corpus.vocabulary, corpus.preprocessing)
    assert columns.tolist() == [2, 0]
    for shown in (corpus, other):
        data = build_report(model, shown).data
        assert all(marks for marks in data["documents"]["marks"]), "every word of the texts is known"


def test_russian_and_polish_texts_have_stems_by_default():
    russian = ["Новые законы о налогах приняты", "Закон о новом налоге принят", "Новый закон и новые налоги"] * 4
    corpus = Corpus.from_texts([f"{text} в городе и в стране этой весной" for text in russian])
    assert corpus.preprocessing.stemmer == "russian"
    assert len({word[:5] for word in corpus.vocabulary if word.startswith(("закон", "налог"))}) == 2
    assert sum(word.startswith(("закон", "налог")) for word in corpus.vocabulary) == 2
    assert Corpus.from_texts(russian * 3, stemmer=None).preprocessing.stemmer is None
    german = ["Der Hund und die Hunde sind im Garten und schlafen unter den Bäumen."] * 12
    assert Corpus.from_texts(german).preprocessing.stemmer is None
    with pytest.raises(InputError, match="stemmer='auto' is told from the texts of a corpus"):
        Preprocessing(stemmer="auto").words("red fish")


@pytest.mark.parametrize(
    "options", [{"max_words": 20}, {"min_df": 0.05}, {"stemmer": "english"}, {"vocabulary": ["game", "mail", "kernel"]}]
)
def test_the_texts_of_a_corpus_have_its_counts_whatever_words_were_left_out(options):
    texts = list(load_demo().texts[:400])
    corpus = Corpus.from_texts(texts, **options)
    assert (corpus.vectorize(texts) != corpus.counts).nnz == 0

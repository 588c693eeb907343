from __future__ import annotations

import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from corpus_cases import TEXTS, full
from topicfold import PLSA, Corpus, InputError, Preprocessing, embed

# some texts are empty on purpose; that this is said is a test of its own
pytestmark = pytest.mark.filterwarnings("ignore:[0-9,]+ of [0-9,]+ texts are empty:UserWarning")


def test_empty_texts_are_counted_in_a_warning():
    with pytest.warns(UserWarning, match="2 of 4 texts are empty") as caught:
        Corpus.from_texts(["cat", " \n", "dog", None])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="1 of 2 texts are empty"):
        Corpus.from_texts([["cat", ""], [" ", ""]], segments="given")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Corpus.from_texts(["cat", "the"])  # nothing but stop words is not empty


def test_everything_named_is_kept():
    corpus = full()
    assert corpus.vocabulary == ("cat", "dog", "moon", "sun")
    assert corpus.counts.toarray().tolist() == [[1, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 2, 0, 0]]
    assert corpus.titles == ("A", "", "C", "D")
    assert corpus.labels == (("x", "y"), ("x",), (), ())
    assert corpus.links.tolist() == [[0, 1], [1, 3]]
    assert corpus.timestamps.astype("datetime64[Y]").astype(str).tolist() == ["2001", "1999", "NaT", "2020"]
    assert corpus.segments.documents.tolist() == [0, 0, 1, 2, 3]
    assert corpus.segments.counts.toarray().tolist()[:2] == [[1, 1, 0, 0], [0, 0, 0, 1]]
    assert corpus.texts == tuple(TEXTS)
    assert repr(corpus) == "Corpus: 4 documents, 4 words, 7 tokens, labels (2), 2 links, 5 segments, timestamps, texts"


def test_texts_are_not_kept_unless_asked():
    assert Corpus.from_texts(TEXTS).texts is None


def test_a_generator_is_read_once():
    assert len(Corpus.from_texts(text for text in TEXTS)) == 4


def test_subset_keeps_what_belongs_together():
    part = full().subset([3, 1, 0])
    assert part.ids == ("d", "b", "a")
    assert part.links.tolist() == [[2, 1], [1, 0]]
    assert part.segments.documents.tolist() == [0, 1, 2, 2]
    assert part.segments.counts.sum(axis=0).tolist() == part.counts.sum(axis=0).tolist()
    assert full().subset(np.array([True, False, False, False])).ids == ("a",)


def test_filters_apply_to_documents_and_segments_alike():
    corpus = Corpus.from_texts(TEXTS, segments="paragraphs", min_df=2)
    assert corpus.vocabulary == ("dog", "sun")
    assert corpus.segments.counts.shape == (5, 2)
    assert corpus.segments.counts.sum(axis=0).tolist() == corpus.counts.sum(axis=0).tolist() == [3, 2]


def test_windows_as_segments():
    corpus = Corpus.from_texts(["cat dog sun moon cat"], segments=2)
    assert corpus.segments.counts.sum(axis=1).tolist() == [2, 2, 1]
    with pytest.raises(ValueError, match="segments=0"):
        Corpus.from_texts(["cat"], segments=0)


def test_labels_as_arrays():
    corpus = full()
    matrix, names = corpus.label_matrix()
    assert names == ("x", "y")
    assert matrix.toarray().tolist() == [[1, 1], [1, 0], [0, 0], [0, 0]]
    with pytest.raises(ValueError, match="'a' has 2 labels"):
        corpus.label_array()
    assert corpus.subset([1, 2]).label_array().tolist() == ["x", ""]
    with pytest.raises(ValueError, match="no labels"):
        Corpus.from_texts(TEXTS).label_array()


def test_vectorize_uses_the_same_words():
    corpus = Corpus.from_texts(["cats running", "dogs"], preprocessing=Preprocessing(stemmer="english"))
    assert corpus.vectorize(["a dog runs after a cat", "zebra"]).toarray().tolist() == [[1, 1, 1], [0, 0, 0]]
    with pytest.raises(ValueError, match="made from counts"):
        Corpus.from_counts([[1]]).vectorize(["cat"])


def test_counts_in_any_form():
    dense = np.array([[2, 0, 1], [0, 0, 0]])
    for form in (dense, dense.tolist(), sp.csr_matrix(dense), sp.coo_array(dense), dense.astype(float), dense > 0):
        assert Corpus.from_counts(form).counts.dtype == np.int32
    duplicates = sp.coo_array(([1, 1], ([0, 0], [1, 1])), (1, 2))
    assert Corpus.from_counts(duplicates).counts.toarray().tolist() == [[0, 2]]
    assert Corpus.from_counts(dense, ["a", "b", "c"], max_words=1).vocabulary == ("a",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Corpus.from_counts([[1.5]]), r"counts\[0, 0\] is 1.5: expected non-negative whole numbers"),
        (lambda: Corpus.from_counts([[0, -1]]), r"counts\[0, 1\] is -1"),
        (lambda: Corpus.from_counts([[1.0], [np.nan]]), r"counts\[1, 0\] is nan"),
        (lambda: Corpus.from_counts([[np.inf]]), "inf"),
        (lambda: Corpus.from_counts(np.zeros((0, 3))), "at least one of each"),
        (lambda: Corpus.from_counts([[2.0**40]]), "too large"),
        (lambda: Corpus.from_counts([[1, 2]], ["a"]), "1 words for 2 columns"),
        (lambda: Corpus.from_counts([[1, 2]], ["a", "a"]), "word 'a' occurs more than once"),
        (lambda: Corpus.from_counts([["a"]]), "expected numbers"),
        (lambda: Corpus.from_texts([]), "the corpus is empty"),
        (lambda: Corpus.from_texts("cat"), "one string"),
        (lambda: Corpus.from_texts(["cat"], vocabulary="cat"), "one string"),
        (lambda: Corpus.from_texts(["cat"]).vectorize("cat"), "one string"),
        (lambda: Corpus.from_texts(["cat", 5]), "text 1 is 5"),
        (lambda: Corpus.from_texts(["cat"], min_df=float("nan")), "min_df=nan"),
        (lambda: Corpus.from_counts(sp.coo_array(([2**31 - 1] * 2, ([0, 0], [0, 0])), (1, 1))), "too large"),
        (lambda: Corpus.from_texts(["the", "of"]), "stop words"),
        (lambda: Corpus.from_texts(["cat", "dog"], min_df=2), "min_df=2 removed 2"),
        (lambda: Corpus.from_texts(["cat", "dog"], ids=["a", "a"]), "id 'a' occurs more than once"),
        (lambda: Corpus.from_texts(["cat", "dog"], labels=["x"]), "1 labels for 2 documents"),
        (lambda: Corpus.from_texts(["cat"], timestamps=["soon"], strict_dates=True), "timestamp 'soon'"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1998, "1998-01-01T00:00:00"),
        ("1998", "1998-01-01T00:00:00"),
        ("1998-07", "1998-07-01T00:00:00"),
        (20200131, "2020-01-31T00:00:00"),
        ("2020-01-31T10:00:00Z", "2020-01-31T10:00:00"),
        ("2020-01-31 10:00+02:00", "2020-01-31T08:00:00"),
        (date(2020, 1, 31), "2020-01-31T00:00:00"),
        (np.datetime64("2020-01-31"), "2020-01-31T00:00:00"),
    ],
)
def test_timestamps_of_many_forms(value, expected):
    assert str(Corpus.from_texts(["cat"], timestamps=[value]).timestamps[0]) == expected


@pytest.mark.parametrize("value", ["now", "today", float("inf"), "31.02.2020", 12345, ["2020"]])
def test_timestamps_that_are_no_dates_are_missing_or_refused(value):
    with pytest.raises(ValueError, match=r"^timestamp .* \(row 1\): expected a year or a date such as"):
        Corpus.from_texts(["cat"], timestamps=[value], strict_dates=True)
    with pytest.warns(UserWarning, match=r"^1 of 1 dates could not be read and is missing: .* \(row 1\)$"):
        corpus = Corpus.from_texts(["cat"], timestamps=[value])
    assert np.isnat(corpus.timestamps).all()


def test_given_segments_and_missing_documents():
    corpus = Corpus.from_texts([["cat", "dog"], None, []], segments="given")
    assert corpus.segments.documents.tolist() == [0, 0, 1, 2]
    assert Corpus.from_texts([["cat dog", "sun"]], segments=2).segments.counts.sum(axis=1).tolist() == [2, 1]


def test_windows_of_words_then_pairs():
    pairs = Preprocessing(ngrams=(1, 2), stop_words=None)
    corpus = Corpus.from_texts(["a1 b1 c1 d1"], segments=2, preprocessing=pairs)
    assert corpus.segments.counts.shape[0] == 2
    assert corpus.vocabulary == ("a1", "a1 b1", "b1", "c1", "c1 d1", "d1")


def test_indices_out_of_range_do_not_reach_a_kernel():
    from topicfold import PLSA

    wrong = sp.csr_array(np.eye(3, dtype=int))
    wrong.indices = np.array([0, 1, 10**6], dtype=np.int32)
    for use in (Corpus.from_counts, PLSA(1, verbose=False).fit):
        with pytest.raises(ValueError, match="ind"):
            use(wrong)


def test_corpora_compare_by_identity_and_hash():
    corpus = Corpus.from_texts(["cat"])
    assert corpus == corpus
    assert corpus != Corpus.from_texts(["cat"])
    assert len({corpus, corpus}) == 1


def test_links_outside_are_left_out_and_counted():
    with pytest.warns(UserWarning, match="1 of 2 links point to ids that are not in the corpus"):
        corpus = Corpus.from_texts(["cat", "dog"], ids=["a", "b"], links=[("a", "b"), ("a", "zz")])
    assert corpus.links.tolist() == [[0, 1]]


def test_missing_links_are_no_links():
    for missing in (None, pd.NA, float("nan"), ""):
        frame = pd.DataFrame({"text": ["cat", "dog"], "id": ["a", "b"], "refers": ["b", missing]})
        assert Corpus.from_frame(frame, id="id", links="refers").links.tolist() == [[0, 1]]


def test_a_tokenizer_of_ones_own_cuts_chinese():
    corpus = Corpus.from_texts(["我爱北京", "北京很大"], preprocessing=Preprocessing(tokenizer=list, stop_words=None))
    assert "京" in corpus.vocabulary
    assert corpus.counts.sum() == 8


def test_too_few_words_are_said_before_words_are_chosen():
    for options in ({}, {"min_df": 2}):
        with pytest.raises(ValueError, match="2 words for 3 columns"):
            Corpus.from_counts([[1, 1, 1], [1, 1, 0]], ["a", "b"], **options)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "texts is one string"),
        ({"a": "cat"}, "texts is a mapping: pass a list"),
        (pd.DataFrame({"text": ["cat", "dog"]}), "texts is a data frame: pass one of its columns"),
        (pl.DataFrame({"text": ["cat", "dog"]}), "texts is a data frame: pass one of its columns"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(texts, message):
    with pytest.raises(ValueError, match=message):
        Corpus.from_texts(texts)
    with pytest.raises(ValueError, match=message):
        embed(texts, lambda some: np.ones((len(some), 2)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": "5"}, "min_df='5': expected a number of documents"),
        ({"max_df": None}, "max_df=None: expected a number of documents"),
        ({"ngrams": 2}, r"ngrams=2: expected \(shortest, longest\)"),
    ],
)
def test_options_of_other_types_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Corpus.from_texts(["cat dog", "dog"], **options)


def test_two_columns_with_one_name_and_lists_of_names_are_one_clear_error():
    twice = pd.DataFrame([["cat", "dog"]], columns=["text", "text"])
    with pytest.raises(InputError, match=r"^the data frame cannot be used: .*'text' 2 times$"):
        Corpus.from_frame(twice)
    with pytest.raises(InputError, match=r"^the data frame cannot be used: .*'a' 2 times$"):
        PLSA(1).fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match=r"^\['text'\] is not the name of a column"):
        Corpus.from_frame(pd.DataFrame({"text": ["cat"]}), title=["text"])


def test_the_index_of_a_frame_is_the_id_where_it_is_more_than_a_number():
    frame = pd.DataFrame({"text": ["cat", "dog", "cow"], "kind": ["a", "b", "a"]})
    assert Corpus.from_frame(frame).ids == ("0", "1", "2")
    assert Corpus.from_frame(frame.set_index(pd.Index(["x", "y", "z"]))).ids == ("x", "y", "z")
    assert Corpus.from_frame(frame[frame.kind == "a"]).ids == ("0", "2")
    assert Corpus.from_frame(frame.set_index("kind")).ids == ("0", "1", "2")  # a value occurs twice
    assert Corpus.from_frame(frame.assign(id=["p", "q", "r"]).set_index("kind")).ids == ("p", "q", "r")
    assert Corpus.from_frame(frame, metadata="kind").metadata["kind"].tolist() == ["a", "b", "a"]

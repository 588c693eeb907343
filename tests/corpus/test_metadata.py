"""Further columns of documents, dates as people write them, data frames of all kinds."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pytest

from topicfold import PLSA, Corpus
from topicfold.corpus.dates import as_timestamps
from topicfold.corpus.metadata import as_metadata

TEXTS = ["cat dog", "sun moon", "dog sun"]


@pytest.mark.parametrize(
    ("values", "expected", "kind"),
    [
        ([1, 2, 3], [1, 2, 3], "i"),
        (["1999", "2001", "-4"], [1999, 2001, -4], "i"),
        ([1.0, 2.0, 3.0], [1, 2, 3], "i"),
        (["1.5", "", "2e3"], [1.5, None, 2000.0], "f"),
        ([1, None, 3], [1.0, None, 3.0], "f"),
        (["007", "12", "3"], ["007", "12", "3"], "O"),
        ([True, False, True], ["True", "False", "True"], "O"),
        (["left", None, "right"], ["left", "", "right"], "O"),
        ([None, float("nan"), ""], ["", "", ""], "O"),
        (["1999-03-01", "", "2001-01-01T10:00"], ["1999-03-01", "NaT", "2001-01-01"], "M"),
        ([datetime.date(1999, 3, 1), None, datetime.datetime(2001, 1, 1)], ["1999-03-01", "NaT", "2001-01-01"], "M"),
        (["1999-99-99", "1999-01-01", ""], ["1999-99-99", "1999-01-01", ""], "O"),
        ([2**60, 1, 2], [float(2**60), 1.0, 2.0], "f"),
        (["nan", "inf", "1"], ["nan", "inf", "1"], "O"),
        (["1", "2", "n/a"], ["1", "2", "n/a"], "O"),  # too few numbers
        (["3.1.2", "1.2.03", "2.2.04"], ["3.1.2", "1.2.03", "2.2.04"], "O"),  # versions
        ([*["7"] * 40, "007"], [*["7"] * 40, "007"], "O"),
        ([*["7"] * 40, "12a"], [*["7"] * 40, "12a"], "O"),  # numbers of houses
        (["12.03.2004", "", "May 2005"], ["2004-03-12", "NaT", "2005-05-01"], "M"),
    ],
)
def test_columns_have_the_kind_all_their_values_have(values, expected, kind):
    column = as_metadata({"x": values})["x"]
    assert column.dtype.kind == kind
    if kind == "M":
        assert column.astype("datetime64[D]").astype(str).tolist() == expected
    else:
        assert [None if value != value else value for value in column.tolist()] == expected


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (
            [*range(40), "n/a", None],
            "f",
            r"metadata 'x': 1 of 41 values are not numbers and is missing: 'n/a' \(row 41\)$",
        ),
        (["-", "unknown", *["1.5"] * 60], "f", r"2 of 62 .* and are missing: '-' \(row 1\), 'unknown' \(row 2\)$"),
        ([*["2001-02-03"] * 30, "soon"], "M", r"1 of 31 values are not dates and is missing: 'soon' \(row 31\)$"),
    ],
)
def test_a_few_other_values_among_numbers_and_dates_are_missing(values, kind, message):
    with pytest.warns(UserWarning, match=message):
        column = as_metadata({"x": values})["x"]
    assert column.dtype.kind == kind


def test_several_values_per_document_are_refused():
    with pytest.raises(ValueError, match=r"metadata 'tags' contains .*: expected one value per document"):
        as_metadata({"tags": [["a", "b"], ["c"]]})
    with pytest.raises(ValueError, match="metadata 'x' has 2 values: expected 3, one per document"):
        Corpus.from_texts(TEXTS, metadata={"x": [1, 2]})


@pytest.fixture
def corpus():
    return Corpus.from_texts(
        TEXTS, metadata={"party": ["left", "", "right"], "year": [1999, 2001, 2004], "day": ["2001-02-03", None, None]}
    )


def test_metadata_is_kept_in_subsets_and_files(corpus, tmp_path):
    assert "metadata (party, year, day)" in str(corpus)
    part = corpus.subset([2, 0])
    assert part.metadata["party"].tolist() == ["right", "left"]
    corpus.save(tmp_path / "c.safetensors")
    loaded = Corpus.load(tmp_path / "c.safetensors")
    assert list(loaded.metadata) == ["party", "year", "day"]
    for name, values in corpus.metadata.items():
        assert loaded.metadata[name].dtype == values.dtype
        assert np.array_equal(loaded.metadata[name], values, equal_nan=values.dtype.kind != "O")
    assert Corpus.load(tmp_path / "c.safetensors").subset([1]).metadata["year"].tolist() == [2001]
    with pytest.raises(TypeError):
        corpus.metadata["party"] = None


def test_groups_of_documents(corpus):
    matrix, names = corpus.group_matrix("party")
    assert (matrix.toarray().tolist(), names) == ([[1, 0], [0, 0], [0, 1]], ("left", "right"))
    matrix, names = corpus.group_matrix("day")
    assert matrix.sum() == 1


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_metadata_is_read_from_files(tmp_path, format):
    path = tmp_path / f"t.{format}"
    if format == "jsonl":
        path.write_text(
            '{"text": "cat", "party": "left", "year": 1999}\n{"text": "dog", "party": null, "year": 2001}\n'
        )
    else:
        mark = "," if format == "csv" else "\t"
        rows = [("text", "party", "year"), ("cat", "left", "1999"), ("dog", "", "2001")]
        path.write_text("\n".join(mark.join(row) for row in rows))
    corpus = Corpus.read(path, metadata=["party", "year"])
    assert corpus.metadata["party"].tolist() == ["left", ""]
    assert corpus.metadata["year"].tolist() == [1999, 2001]
    with pytest.raises(ValueError, match="no column 'colour'"):
        Corpus.read(path, metadata=["colour"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("26-FEB-1987 15:01:01.79", "1987-02-26T15:01:01"),
        ("26-Feb-1987", "1987-02-26T00:00:00"),
        ("1987", "1987-01-01T00:00:00"),
        ("1987-02", "1987-02-01T00:00:00"),
        ("1987-02-26T15:01:01Z", "1987-02-26T15:01:01"),
        ("1987-02-26T15:01:01+02:00", "1987-02-26T13:01:01"),
        ("February 26, 1987", "1987-02-26T00:00:00"),
        ("26 Feb 1987", "1987-02-26T00:00:00"),
        ("1987/02/26", "1987-02-26T00:00:00"),
        ("Thu, 26 Feb 1987 15:01:01 +0000", "1987-02-26T15:01:01"),
    ],
)
def test_dates_as_people_write_them(text, expected):
    assert str(as_timestamps([text])[0]) == expected


def test_a_date_format_says_how_to_read(tmp_path):
    corpus = Corpus.from_texts(TEXTS, timestamps=["03.04.99", "", "04.05.01"], date_format="%d.%m.%y")
    assert corpus.timestamps.astype("datetime64[D]").astype(str).tolist() == ["1999-04-03", "NaT", "2001-05-04"]
    with pytest.raises(ValueError, match=r"timestamp '1999' \(row 1.*\): expected a date in the format '%d %y'"):
        Corpus.from_texts(["cat"], timestamps=["1999"], date_format="%d %y", strict_dates=True)
    with pytest.warns(UserWarning, match=r"^1 of 1 dates .* '1999' \(row 1\); expected the format '%d %y'$"):
        assert np.isnat(Corpus.from_texts(["cat"], timestamps=["1999"], date_format="%d %y").timestamps).all()
    for bad in ("yesterday", "1999-13", "26-XYZ-1987"):
        with pytest.raises(ValueError, match="date_format"):
            as_timestamps([bad], strict=True)


def test_empty_texts_are_counted():
    with pytest.warns(UserWarning, match=r"^2 of 4 texts are empty: they .* have no topic in tables$"):
        Corpus.from_texts(["cat", "", "dog", None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Corpus.from_texts(["cat", "the"])  # a text of stop words is not empty


def test_warnings_point_at_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="texts are empty") as caught:
        Corpus.from_texts(["cat", ""])
    assert caught[0].filename == __file__


def test_links_in_one_cell_are_told_from_links_that_lead_nowhere():
    frame = {"id": ["a", "b", "c"], "text": TEXTS, "links": ["b;c", "a;c", "a;b"]}
    pandas = pytest.importorskip("pandas")
    with pytest.warns(UserWarning, match=r"3 of 3 links point .* one is 'a;b': .* separator="):
        Corpus.from_frame(pandas.DataFrame(frame), links="links")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Corpus.from_frame(pandas.DataFrame(frame), links="links", separator=";").links) == 6
    with pytest.warns(UserWarning, match="1 of 2 links") as caught:
        Corpus.from_texts(TEXTS, links=[("0", "1"), ("0", "nowhere")])
    assert "separator" not in str(caught[0].message)


FRAME = {"name": ["b", "a", "c"], "body": TEXTS, "year": [2001, 1999, 2004], "kind": ["x", None, "y"]}


def frames():
    pandas, polars, pyarrow, duckdb = map(pytest.importorskip, ("pandas", "polars", "pyarrow", "duckdb"))
    documents = pyarrow.table(FRAME)
    return {
        "pandas": pandas.DataFrame(FRAME),
        "polars": polars.DataFrame(FRAME),
        "pyarrow": documents,
        "lazy": polars.LazyFrame(FRAME),
        "duckdb": duckdb.from_arrow(documents),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "lazy", "duckdb"])
def test_frames_of_every_kind(kind):
    frame = frames()[kind]
    corpus = Corpus.from_frame(frame, text="body", id="name", labels="kind", metadata=["year"], keep_texts=True)
    expected = {"b": (TEXTS[0], 2001, ("x",)), "a": (TEXTS[1], 1999, ()), "c": (TEXTS[2], 2004, ("y",))}
    assert {
        name: (text, year, label)
        for name, text, year, label in zip(corpus.ids, corpus.texts, corpus.metadata["year"].tolist(), corpus.labels)
    } == expected
    unordered = kind in ("lazy", "duckdb")
    assert corpus.ids == (("a", "b", "c") if unordered else ("b", "a", "c"))
    if unordered:
        with pytest.raises(ValueError, match=r"no order: name the id column"):
            Corpus.from_frame(frame, text="body")
        with pytest.raises(ValueError, match=r"Corpus\.from_frame"):
            PLSA(2).fit(frame)
    with pytest.raises(ValueError, match="no column 'text'; its columns are: name, body, year, kind"):
        Corpus.from_frame(frame, id="name")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_models_take_columns_of_texts_and_say_what_to_do_with_frames(kind):
    frame = frames()[kind]
    model = PLSA(2, random_state=0).fit(frame["body"])
    assert np.array_equal(model.doc_topic_, PLSA(2, random_state=0).fit(TEXTS).doc_topic_)
    assert np.array_equal(model.transform(frame["body"]), model.transform(TEXTS))
    with pytest.raises(ValueError, match=r'Corpus\.from_frame\(X, text="body"\)'):
        PLSA(2).fit(frame)


def test_what_is_no_frame_is_said():
    with pytest.raises(ValueError, match="list is not a data frame"):
        Corpus.from_frame([1, 2])


def test_options_are_spelt_out_and_unknown_ones_refused(tmp_path):
    (tmp_path / "t.csv").write_text("text\nThe cats\n")
    corpus = Corpus.read(tmp_path / "t.csv", stemmer="english", stop_words=None)
    assert corpus.vocabulary == ("cats", "the")
    with pytest.raises(TypeError, match="colour"):
        Corpus.read(tmp_path / "t.csv", colour="red")
    with pytest.raises(ValueError, match="either preprocessing= or stemmer"):
        Corpus.read(tmp_path / "t.csv", stemmer="english", preprocessing=corpus.preprocessing)
    corpus.save(tmp_path / "c.safetensors")
    with pytest.raises(ValueError, match="loaded unchanged: leave out title, min_df"):
        Corpus.read(tmp_path / "c.safetensors", title="t", min_df=3)


def test_numbers_of_hundreds_of_digits_are_codes():
    columns = as_metadata({"whole": [10**400, 1], "written": ["1" * 400, "2"]})
    assert columns["whole"].tolist() == [str(10**400), "1"]
    assert columns["written"].tolist() == ["1" * 400, "2"]

"""Files and frames of every other kind: read as a user expects, or one line that says why not."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import struct
import sys
import types
import warnings
import zipfile

import pyarrow as arrow
import pytest

from harness.spreadsheets import OLD_WORKBOOK, open_document, workbook
from topicfold import Corpus, FileError, InputError, ReadLimits
from topicfold.corpus import sheet_rows
from topicfold.corpus.readers import FileOptions, records

TABLE = [["id", "text"], ["a", "cat dog"], ["b", "sun moon"]]


def read(path, content, **options):
    """The records of a file with this content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(records(path, FileOptions(**options)))


def refused(path, content, **options):
    """The one line with which a file with this content is refused."""
    with pytest.raises((FileError, InputError)) as error:
        read(path, content, **options)
    message = str(error.value)
    assert path.name in message
    assert "\n" not in message
    return message


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


# --- spreadsheets


def sheet_of(rows):
    cells = (
        "".join(f'<c t="inlineStr"><is><t>{value}</t></is></c>' if value else "<c/>" for value in row) for row in rows
    )
    return f"<sheetData>{''.join(f'<row>{row}</row>' for row in cells)}</sheetData>"


def test_cells_of_a_spreadsheet_are_texts_as_in_csv(tmp_path):
    day = datetime.datetime(2001, 2, 3)
    rows = [
        ["text", "when", "size", "share", "ok"],
        ["cat  dog", day, 3.0, 1.5, True],
        [2020, day.replace(hour=4), 10**15, 1e300, False],
        ["003", None, None, -0.5, None],
    ]
    assert read(tmp_path / "a.xlsx", workbook({"A": rows})) == [
        {"text": "cat  dog", "when": "2001-02-03", "size": "3", "share": "1.5", "ok": "TRUE"},
        {"text": "2020", "when": "2001-02-03T04:00:00", "size": str(10**15), "share": "1e+300", "ok": "FALSE"},
        {"text": "003", "when": "", "size": "", "share": "-0.5", "ok": ""},
    ]
    corpus = Corpus.read(tmp_path / "a.xlsx", timestamp="when", metadata=["size"])
    assert corpus.timestamps.astype("datetime64[D]").astype(str).tolist() == ["2001-02-03", "2001-02-03", "NaT"]
    assert corpus.metadata["size"].tolist()[:2] == [3, 10**15]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.xls", OLD_WORKBOOK), ("a.ods", open_document(TABLE)), ("a.xls", workbook({"A": TABLE}))],
    ids=["xls", "ods", "xlsx-called-xls"],
)
def test_kinds_of_spreadsheets(tmp_path, name, content):
    assert [row["text"] for row in read(tmp_path / name, content)][:2] == ["cat dog", "sun moon"]


def test_names_of_columns_below_a_title_and_beside_empty_cells(tmp_path):
    rows = [["Reviews"], [], [None, "First\nname", None, "text"], [], [None, "x", "y", "cat dog"]]
    with pytest.warns(UserWarning, match=r"sheet 'A': the names of the columns are taken from row 3"):
        assert read(tmp_path / "a.xlsx", workbook({"A": rows})) == [
            {"column A": "", "First name": "x", "column C": "y", "text": "cat dog"}
        ]
    twice = workbook({"A": [["note", "note"], ["x", "y"]]})
    assert "more than one column 'note'" in refused(tmp_path / "a.xlsx", twice)
    assert "2 columns: more than 1" in refused(
        tmp_path / "a.xlsx", workbook({"A": TABLE}), limits=ReadLimits(columns=1)
    )


def test_the_first_sheet_with_a_table_is_read_and_another_if_named(tmp_path):
    path, other = tmp_path / "a.xlsx", [["text", "n"], ["fish", 1]]
    sheets = {"Secret": TABLE, "Cover": [["All reviews"]], "Empty": [], "One": TABLE, "Two": other}
    content = workbook(sheets, hidden=["Secret"])
    with pytest.warns(UserWarning, match=r"sheet 'One' is read, and not 'Two'; .* format='excel:Two'"):
        assert [row["id"] for row in read(path, content)] == ["a", "b"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(path, content, format="excel:Two") == [{"text": "fish", "n": "1"}]
        assert read(path, content, format="excel:Secret")[0]["text"] == "cat dog"
    assert "no sheet 'Three'; its sheets are: Secret, Cover" in refused(path, content, format="excel:Three")
    assert "no table in the sheet 'Cover'" in refused(path, content, format="excel:Cover")
    assert "no sheet with a table" in refused(path, workbook({"A": [], "B": [["text"]]}))


def test_a_sheet_with_one_column_is_a_table_if_there_is_no_other(tmp_path):
    assert read(tmp_path / "a.xlsx", workbook({"A": [["text"], ["cat"], ["dog"]]})) == [
        {"text": "cat"},
        {"text": "dog"},
    ]


def test_merged_cells_have_their_value_in_the_first_row(tmp_path):
    rows = (
        sheet_of([["kind", "text"], ["pets", "cat"], [None, "dog"]])
        + '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
    )
    with pytest.warns(UserWarning, match="1 merged cell spans several rows"):
        assert [row["kind"] for row in read(tmp_path / "a.xlsx", workbook({"A": rows}))] == ["pets", ""]


def test_formulas_have_the_value_that_was_saved_and_errors_none(tmp_path):
    rows = (
        '<sheetData><row><c t="str"><v>text</v></c><c t="str"><v>n</v></c></row>'
        '<row><c t="str"><f>A9</f><v>cat</v></c><c><f>1+1</f></c></row>'
        '<row><c t="e"><v>#N/A</v></c><c><f>1+1</f><v>2</v></c></row></sheetData>'
    )
    assert read(tmp_path / "a.xlsx", workbook({"A": rows})) == [{"text": "cat", "n": ""}, {"text": "", "n": "2"}]


def test_a_cell_far_away_does_not_take_all_memory(tmp_path):
    """Rust ends a process that asks for too much memory; this one must go on."""
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    far = f"<sheetData>{cells}</sheetData>"
    message = refused(tmp_path / "a.xlsx", workbook({"A": far}), limits=ReadLimits(memory=1 << 30))
    assert "more than 1.1 GB of memory; the limit 'memory'" in message
    low = sheet_of(TABLE).replace("</sheetData>", '<row r="1048577"><c r="A1048577"><v>1</v></c></row></sheetData>')
    assert "a cell in row 1,048,577 of 'A'" in refused(tmp_path / "a.xlsx", workbook({"A": low}))


def test_spreadsheets_that_are_none(tmp_path):
    whole = workbook({"A": TABLE})
    assert "not a spreadsheet" in refused(tmp_path / "a.xlsx", whole[:400])
    assert "not a spreadsheet" in refused(tmp_path / "a.xlsx", b"")
    assert "not a spreadsheet" in refused(tmp_path / "a.xlsx", zipped({"a.txt": "cat"}))
    assert "it is HTML or XML" in refused(tmp_path / "a.xls", "\n<html><table>")
    bomb = zipped({"xl/worksheets/sheet1.xml": bytes(65 << 20)})
    assert "200 times as large uncompressed; the limit 'expansion'" in refused(tmp_path / "a.xlsx", bomb)


def test_a_reader_may_stop_early(tmp_path):
    rows = [["text", "n"], *(["cat dog " * 10, k] for k in range(5000))]
    (tmp_path / "a.xlsx").write_bytes(workbook({"A": rows}))
    reader = records(tmp_path / "a.xlsx", FileOptions())
    assert next(reader)["n"] == "0"
    reader.close()  # ends the process that reads, which is not waited for


def test_a_bug_in_the_process_that_reads_is_not_a_bad_file(tmp_path, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text("import json; print(json.dumps({'bug': 'Traceback: oh'}))")
    monkeypatch.setattr("topicfold.corpus.spreadsheets._PROGRAM", program)
    with pytest.raises(RuntimeError, match="Traceback: oh"):
        read(tmp_path / "a.xlsx", workbook({"A": TABLE}))


def test_what_the_process_says(tmp_path, capsys, monkeypatch):
    """The same in this process, where it can be looked at."""
    monkeypatch.setattr(sheet_rows, "_limit_memory", lambda _: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    (tmp_path / "a.xlsx").write_bytes(workbook({"A": TABLE, "B": TABLE}))
    sheet_rows.main(str(tmp_path / "a.xlsx"), "0")
    about, *rows = map(json.loads, capsys.readouterr().out.splitlines())
    assert about == {"sheet": "A", "others": ["B"], "first_column": 0, "merged": []}
    assert rows == [[1, TABLE[0]], [2, TABLE[1]], [3, TABLE[2]]]
    sheet_rows.main(str(tmp_path / "none.xlsx"), "0", "C")
    assert "not a spreadsheet" in json.loads(capsys.readouterr().out)["problem"]
    for error, words in (
        (MemoryError(), "limit 'memory'"),
        (OverflowError("x"), "not a spreadsheet"),
        (KeyError(), None),
    ):
        problem = sheet_rows._problem(error)
        assert problem is None if words is None else words in problem


# --- JSON


@pytest.mark.parametrize(
    "content",
    [
        '[{"text": "cat"}, {"text": "dog"}]',
        '\ufeff[\n  {"text": "cat"},\n  {"text": "dog"}\n]\n',
        '["cat", "dog"]',
        '{"text": "cat"}\n\n{"text": "dog"}\n',
        '{"page": 1, "tags": ["x"], "data": [{"text": "cat"}, {"text": "dog"}]}',
    ],
    ids=["array", "pretty", "strings", "lines", "one-object"],
)
def test_json_files(tmp_path, content):
    expected = [{"text": "cat"}, {"text": "dog"}]
    assert read(tmp_path / "a.json", content) == expected
    assert read(tmp_path / "a.json.gz", gzip.compress(content.encode())) == expected
    assert read(tmp_path / "a.json", content.encode("utf-16"), encoding="utf-16") == expected


def test_json_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("topicfold.corpus.byte_lines._BLOCK", 7)
    items = [{"text": 'é \U0001f600 "quote" \\ ' * k, "n": [k, -1.5e3, True, None]} for k in range(30)]
    for content in (json.dumps(items), json.dumps(items, ensure_ascii=False, indent=1)):
        assert read(tmp_path / "a.json", content) == items
    assert read(tmp_path / "a.json", "\n".join(map(json.dumps, items))) == items


def test_a_missing_string_keeps_its_place(tmp_path):
    assert read(tmp_path / "a.json", '["cat", null, "sun"]') == [{"text": "cat"}, {"text": None}, {"text": "sun"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("text,id\ncat,1\n", "begins with 't'; expected '[' or '{'"),
        ('{"text": "cat"}', "a single JSON object without an array of objects; its keys: 'text'"),
        ('{"a": [{"x": 1}], "b": [{"x": 1}]}', "several arrays of objects ('a', 'b')"),
        ('[{"a": 1}, "b"]', "item 2 is a string: expected an object, like the items before it"),
        ('["b", {"a": 1}]', "item 2 is an object: expected a string"),
        ("[[1], [2]]", "item 1 is an array: expected an object or a string"),
        ("[1, 2]", "item 1 is a number"),
        ("[null]", "item 1 is null"),
        ('[{"a": 1}', "not JSON in line 1, at character 10 of the file: it ends early"),
        ('[{"a": 1},\n{"a": "x', "not JSON in line 2, at character 18 of the file: Unterminated string"),
        ('[{"a": 1},\n{"a": 2,,}]', "line 2"),
        ('[{"a": 1} {"a": 2}]', "expected ',' or ']' after an item, not '{'"),
        ('[{"a": 1}] []', "it goes on after the end of the array"),
        ('{"a": 1}\n[2]', "line 2"),
        ("[" * 100_000, "recursion"),
        ('[{"a": ' + "1" * 5000 + "}]", "5000 digits"),
        (b'[{"a": "caf\xe9"}]', "not utf-8: byte 0xe9 at position 12"),
    ],
)
def test_json_that_is_refused(tmp_path, content, message):
    assert message in refused(tmp_path / "a.json", content)


def test_limits_of_json(tmp_path):
    path, long = tmp_path / "a.json", '[{"text": "' + "a" * 2000 + '"}]'
    for content, hint in ((long, ""), (long[:-3], "(a quote that is not closed?)")):
        message = refused(path, content, limits=ReadLimits(line=1000))
        assert "longer than 1,000 characters in line 1, at character 2 of the file" in message
        assert hint in message
    assert len(read(path, json.dumps([{"text": "a" * 50}] * 100), limits=ReadLimits(line=1000))) == 100
    wrong_early = '[{"text" "cat"}, ' + '{"text": "cat"}, ' * 1000 + "]"
    assert "not JSON in line 1, at character 10" in refused(path, wrong_early, limits=ReadLimits(line=100))


# --- texts


def test_a_text_file_has_a_document_per_line(tmp_path):
    content = b"\xef\xbb\xbfcat dog\r\n\r\n  \t\nsun\tmoon"
    assert read(tmp_path / "a.txt", content) == [{"id": 1, "text": "cat dog"}, {"id": 4, "text": "sun\tmoon"}]
    assert Corpus.read(tmp_path / "a.txt").ids == ("1", "4")
    assert len(read(tmp_path / "a.txt.gz", gzip.compress(content))) == 2
    assert "line 1 is not utf-8" in refused(tmp_path / "a.txt", b"caf\xe9")
    (tmp_path / "a.txt").write_bytes(b"\n\n")
    with pytest.raises(ValueError, match="there are no documents"):
        Corpus.read(tmp_path / "a.txt")


def test_several_text_files_have_a_document_per_line_or_per_file(tmp_path):
    (tmp_path / "a.txt").write_text("cat dog\nsun moon\n")
    (tmp_path / "b.txt").write_text("tree leaf\n")
    pattern = str(tmp_path / "*.txt")
    with pytest.warns(UserWarning, match="each line is read as a document; format='folder' reads each file as one"):
        assert Corpus.read(pattern).ids == ("a.txt:1", "a.txt:2", "b.txt:1")
    assert len(Corpus.read(pattern, format="lines")) == 3
    corpus = Corpus.read(pattern, format="folder", labels="folder", keep_texts=True)
    assert corpus.texts == ("cat dog\nsun moon\n", "tree leaf\n")
    assert corpus.ids == ((tmp_path / "a.txt").as_posix(), (tmp_path / "b.txt").as_posix())
    assert corpus.labels == ((tmp_path.name,),) * 2
    assert "longer than 3 bytes" in refused(tmp_path / "a.txt", "cat dog", format="folder", limits=ReadLimits(line=3))


# --- zip files


def test_a_zip_file_is_a_folder_of_texts(tmp_path):
    members = {
        "sub/b.txt": b"\xef\xbb\xbfcat dog", "a.txt": "sun moon", "sub/": "", "/x/abs.txt": "tree", "pic.png": b"\x89",
        "__MACOSX/sub/._b.txt": b"\xff\0", "sub/._c.txt": b"\xff",
    }  # fmt: skip
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        assert read(tmp_path / "texts.zip", zipped(members, compression)) == [
            {"id": "/x/abs.txt", "text": "tree", "folder": "x"},
            {"id": "a.txt", "text": "sun moon", "folder": "texts"},
            {"id": "sub/b.txt", "text": "cat dog", "folder": "sub"},
        ]
    corpus = Corpus.read(tmp_path / "texts.zip", labels="folder")
    assert corpus.labels == (("x",), ("texts",), ("sub",))
    with pytest.raises(InputError, match="labels='kind'"):
        Corpus.read(tmp_path / "texts.zip", labels="kind")
    other = tmp_path / "other.zip"
    other.write_bytes(zipped({"a.txt": "leaf"}))
    assert Corpus.read([tmp_path / "texts.zip", other]).ids[1::2] == ("texts.zip:a.txt", "other.zip:a.txt")


def test_zip_files_that_are_refused(tmp_path):
    path, whole = tmp_path / "a.zip", zipped({"a.txt": "secret " * 100})
    assert "not a complete zip file" in refused(path, b"")
    assert "not a complete zip file" in refused(path, whole[:-30])
    assert "Bad CRC-32" in refused(path, whole[:40] + bytes([whole[40] ^ 255]) + whole[41:])
    assert "no file that matches '*.txt'; it contains 'r.csv'" in refused(path, zipped({"r.csv": "a,b"}))
    assert "no file that matches '*.md'" in refused(path, whole, pattern="*.md")
    assert "a.zip/a.txt is not utf-8" in refused(path, zipped({"a.txt": b"\xff\xfe"}))
    assert "a.zip/a.txt is longer than 99 bytes" in refused(path, whole, limits=ReadLimits(line=99))
    encrypted, directory = bytearray(whole), whole.find(b"PK\x01\x02")
    encrypted[6] |= 1
    encrypted[directory + 8] |= 1
    assert "a.zip/a.txt is encrypted" in refused(path, bytes(encrypted))
    lying = bytearray(whole)
    lying[directory + 24 : directory + 28] = struct.pack("<I", 10)
    assert "not a complete zip file" in refused(path, bytes(lying))


def test_a_zip_bomb(tmp_path):
    bomb = zipped({f"{k}.txt": bytes(17 << 20) for k in range(4)})
    assert "200 times as large uncompressed; the limit 'expansion'" in refused(tmp_path / "a.zip", bomb)


# --- Arrow files, and frames


@pytest.mark.parametrize("kind", [arrow.ipc.new_file, arrow.ipc.new_stream])
def test_arrow_files(tmp_path, kind):
    table = arrow.table({"id": ["a", "b"], "text": ["cat dog", "sun"], "tags": [["x", "y"], []]})
    path = tmp_path / "a.arrow"
    with kind(path, table.schema) as file:
        file.write_table(table, max_chunksize=1)
    assert list(records(path, FileOptions())) == table.to_pylist()
    assert Corpus.read(path, labels="tags").labels == (("x", "y"), ())
    with pytest.raises(InputError, match=r"no column 'body'; its columns are: id, text, tags"):
        Corpus.read(path, text="body")
    assert "damaged" in refused(path, path.read_bytes()[:200])
    assert "not an Arrow file" in refused(tmp_path / "b.feather", b"FEA1")
    with kind(path, arrow.schema([("text", "string")] * 2)):
        pass
    assert "more than one column 'text'" in refused(path, path.read_bytes())


def test_offsets_that_point_out_of_an_arrow_file(tmp_path):
    path, text = tmp_path / "a.arrow", arrow.array(["cat dog", "sun"])
    with arrow.ipc.new_file(path, arrow.schema({"text": text.type})) as file:
        file.write_table(arrow.table({"text": text}))
    offsets = struct.pack("<3i", 0, 7, 10)
    content = path.read_bytes()
    assert content.count(offsets) == 1
    assert "damaged" in refused(path, content.replace(offsets, struct.pack("<3i", 0, 7, 10**8)))


class Stream:
    """An object of a library that narwhals does not know."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


def test_whatever_has_an_arrow_stream_is_a_frame():
    table = arrow.table({"text": ["cat dog", "sun moon"], "kind": ["x", "y"]})
    for frame in (Stream(table), table.to_batches()[0], table.to_reader()):
        assert Corpus.from_frame(frame, labels="kind").labels == (("x",), ("y",))
    with pytest.raises(InputError, match="data frame cannot be used"):
        Corpus.from_frame(Stream(table["text"]))


@pytest.fixture
def hugging_face(monkeypatch):
    """The classes of `datasets`, as far as they are asked for; the real ones are a large package."""
    classes = types.ModuleType("datasets.fake")

    class Dataset:
        def __init__(self, table, features):
            self.table, self.features, self.format = table, features, None

        def with_format(self, name):
            assert name == "arrow"
            return self.table

    names = {"Dataset": Dataset, "DatasetDict": type("DatasetDict", (dict,), {})}
    names |= {name: type(name, (), {}) for name in ("IterableDataset", "ClassLabel", "Column")}
    for name, value in names.items():
        value.__module__ = "datasets.fake"
        setattr(classes, name, value)
    monkeypatch.setitem(sys.modules, "datasets.fake", classes)
    return classes


def test_datasets_of_hugging_face(hugging_face):
    kind = hugging_face.ClassLabel()
    kind.names = ["pets", "sky"]
    table = arrow.table({"text": ["cat dog", "sun moon", "tree"], "kind": [1, 0, -1]})
    dataset = hugging_face.Dataset(table, {"text": None, "kind": kind})
    assert Corpus.from_frame(dataset, labels="kind").labels == (("sky",), ("pets",), ())
    with pytest.raises(InputError, match=r"pass one of its splits, dataset\[...\]: 'train', 'test'"):
        Corpus.from_frame(hugging_face.DatasetDict(train=dataset, test=dataset))
    with pytest.raises(InputError, match="without streaming=True"):
        Corpus.from_frame(hugging_face.IterableDataset())
    with pytest.raises(InputError, match="Column is not a data frame"):
        Corpus.from_frame(hugging_face.Column())


def test_files_that_pandas_reads(tmp_path):
    (tmp_path / "a.dta").write_bytes(b"x")
    with pytest.raises(FileError, match=r"a\.dta: read it with pandas, and pass the data frame to Corpus\.from_frame"):
        Corpus.read(tmp_path / "a.dta")

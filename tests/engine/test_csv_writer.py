"""No cell of a table is a formula to a spreadsheet; the page has the same rule (tests/page/csv.test.js)."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from topicfold.engine.csv_writer import CsvWriter, text_cell

CASES = json.loads(Path(__file__).with_name("csv_cells.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "cell"), CASES)
def test_texts_that_look_like_formulas_are_guarded(text, cell):
    assert text_cell(text) == cell


def test_rows_are_read_back_as_written():
    file = io.StringIO()
    table = CsvWriter(file)
    table.write(["a,b", 'c"d', "e\nf", 0.5, -3, ""])
    assert list(csv.reader(io.StringIO(file.getvalue()))) == [["a,b", 'c"d', "e\nf", "0.5", "-3", ""]]

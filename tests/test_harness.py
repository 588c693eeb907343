"""The harness tells every ending for what it is, and a short run finds nothing; `python -m tests.harness` runs long."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from harness.cases import FAILURES
from harness.endings import ENDINGS
from harness.table import Tally, write_page

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the harness forks and reads /proc")


def harness(*words):
    """Exit code, the rows of the table as dictionaries, and what was said."""
    command = [sys.executable, "-m", "tests.harness", *map(str, words)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    titles, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return ran.returncode, [dict(zip(titles, row)) for row in rows], ran.stderr


def test_every_ending_is_told(tmp_path):
    code, (row,), _ = harness("endings", "--out", tmp_path / "out", "--write", tmp_path / "page.md")
    expected = Counter(kind for _, kind in ENDINGS) + Counter({"unclear exception": 1})
    assert code == 1
    assert {kind: int(row[kind]) for kind in FAILURES} == {kind: expected[kind] for kind in FAILURES}
    assert (int(row["answers"]), int(row["refused"])) == (expected["answer"], expected["refused"])
    failed = tmp_path / "out" / f"endings-{len(ENDINGS)}"
    assert (failed / "input" / "file").read_bytes() == b"a" * 300 + b"bad" + b"b" * 300
    assert (failed / "cut-down" / "file").read_bytes() == b"bad"
    assert f"--only {len(ENDINGS)}" in (failed / "about.txt").read_text()
    page = (tmp_path / "page.md").read_text()
    assert "python -m tests.harness endings" in page
    assert "Run on" in page


def test_a_page_has_the_last_run_of_each_group(tmp_path):
    groups = ("readers", "files")
    for command, tallies in (
        ("first", [Tally("files", Counter(answer=1))]),
        ("second", [Tally("readers", Counter(answer=2))]),
        ("third", [Tally("files", Counter(answer=3, death=1), Counter(tries=4), 5.4)]),
    ):
        write_page(tmp_path / "page.md", tallies, command, groups)
    page = (tmp_path / "page.md").read_text()
    assert "    second\n    third\n" in page
    assert "first" not in page
    rows = [line.split("|")[1:5] for line in page.splitlines() if line.startswith("| ")][1:]
    assert [[cell.strip() for cell in row] for row in rows] == [["readers", "2", "2", "0"], ["files", "4", "3", "0"]]
    assert "- files: tries: 4" in page


def test_one_case_is_run_again():
    command = [sys.executable, "-m", "tests.harness", "endings", "--only", "7"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "7: death SIGSEGV" in ran.stdout


def test_a_short_run_finds_nothing(tmp_path):
    code, rows, said = harness("readers", "files", "matrices", "--cases", 100, "--whole", "--out", tmp_path)
    assert [row["group"] for row in rows] == ["readers", "files", "matrices"]
    assert all(int(row["cases"]) == 100 and int(row["answers"]) > 0 and int(row["refused"]) > 0 for row in rows)
    assert code == 0, said

"""The harness tells every ending for what it is, and a short run finds nothing; `python -m tests.harness` runs long."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from harness.cases import FAILURES, Case
from harness.fronts.endings import ENDINGS
from harness.table import Tally, write_page

ROOT = Path(__file__).parents[1]
HARNESS = (sys.executable, "-m", "tests.harness")
FOUND = sorted((ROOT / "tests" / "harness" / "found").glob("*.json"))
QUICK = ("commands", "files", "frames", "graphs", "matrices", "readers", "small_files")

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the harness forks and reads /proc")


def harness(*words):
    """Exit code, the rows of the table as dictionaries, and what was said."""
    ran = subprocess.run([*HARNESS, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    titles, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return ran.returncode, [dict(zip(titles, row)) for row in rows], ran.stderr


def test_every_ending_is_told(tmp_path):
    code, (row,), _ = harness("endings", "--out", tmp_path / "out", "--write", tmp_path / "page.md")
    expected = Counter(kind for _, kind in ENDINGS) + Counter({"unclear exception": 1})
    assert code == 1
    assert {kind: int(row[kind]) for kind in FAILURES} == {kind: expected[kind] for kind in FAILURES}
    assert (int(row["answers"]), int(row["refused"])) == (expected["answer"], expected["refused"])
    whole, cut = (tmp_path / "out" / f"endings-{len(ENDINGS)}{end}.json" for end in ("", "-cut"))
    contents = [Case.from_json(json.loads(path.read_text())).files["file"] for path in (whole, cut)]
    assert contents == [b"a" * 300 + b"bad" + b"b" * 300, b"bad"]
    again = subprocess.run([*HARNESS, "--again", cut], cwd=ROOT, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "unclear exception KeyError: 'bad'" in again.stdout
    page = (tmp_path / "page.md").read_text()
    assert "python -m tests.harness endings" in page
    assert "Run on" in page


def test_a_page_has_the_last_run_of_each_front(tmp_path):
    fronts = ("readers", "files")
    for command, tallies in (
        ("first", [Tally("files", Counter(answer=1))]),
        ("second", [Tally("readers", Counter(answer=2))]),
        ("third", [Tally("files", Counter(answer=3, death=1), Counter(tries=4), 5.4)]),
    ):
        write_page(tmp_path / "page.md", tallies, command, fronts)
    page = (tmp_path / "page.md").read_text()
    assert "    second\n    third\n" in page
    assert "first" not in page
    rows = [line.split("|")[1:5] for line in page.splitlines() if line.startswith("| ")][1:]
    assert [[cell.strip() for cell in row] for row in rows] == [["readers", "2", "2", "0"], ["files", "4", "3", "0"]]
    assert "- files: tries: 4" in page


def test_one_case_is_run_again():
    ran = subprocess.run([*HARNESS, "endings", "--only", "7"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "7: death SIGSEGV" in ran.stdout


def test_a_short_run_finds_nothing(tmp_path):
    code, rows, said = harness(*QUICK, "--cases", 100, "--out", tmp_path)
    assert [row["front"] for row in rows] == list(QUICK)
    assert all(int(row["cases"]) == 100 and int(row["answers"]) > 0 and int(row["refused"]) > 0 for row in rows)
    assert code == 0, said


def test_what_was_found_once_is_not_found_again():
    """Each file is a failure of some version, and its `about` says what it is."""
    words = [word for path in FOUND for word in ("--again", path)]
    ran = subprocess.run([*HARNESS, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert FOUND
    assert ran.returncode == 0, ran.stdout

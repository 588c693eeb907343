"""The command check: what is in a file, before anything is fitted."""

from __future__ import annotations

import csv
import json

import pytest

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def posts(tmp_path):
    path = tmp_path / "posts.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["headline", "body", "posted", "stars", "source"])
        for n in range(40):
            body = f"<p>The harbour &amp; the ferry are open again, says report {n} of the town.</p>"
            rows.writerow(
                [f"Report {n}", body if n != 7 else "", "soon" if n == 5 else f"{n % 28 + 1}.3.2004", n % 5, "web"]
            )
    return path


def test_a_file_is_checked(posts, run):
    code, out, err = run("check", posts)
    assert code == 0, err
    lines = dict(line.split(": ", 1) for line in out.splitlines())
    assert lines["documents"] == "40, no copies"
    assert lines["languages"].startswith("english 97.5%")
    assert lines["cleaning removed"] == "39 entities, 78 tags"
    assert lines["dates"] == "39 read, 0 missing; 1 of 40 dates could not be read and is missing: 'soon' (row 6)"
    assert "posted: timestamp (dates)" in lines["columns"]
    assert lines["columns not used"] == "source: all values are the same"
    code, out, _ = run("check", posts, "--json", "--text", "body", "--no-clean")
    values = json.loads(out)
    assert (code, values["n_documents"], values["n_empty"], values["removed"]) == (0, 40, 1, {})


def test_what_cannot_be_checked_is_said(posts, tmp_path, run):
    code, _, err = run("check", posts, "--text", "lead")
    assert (code, "has no column 'lead'; its columns are: headline, body, posted, stars, source" in err) == (2, True)
    code, _, err = run("check", tmp_path / "none.csv")
    assert (code, "no such file" in err) == (2, True)
    code, _, err = run("check", posts, "--tokenizer", "sudachi2")
    assert (code, "unknown tokenizer 'sudachi2'; did you mean 'sudachi'?" in err) == (2, True)


def test_explore_says_it_in_three_lines(posts, tmp_path, run):
    code, _, err = run("explore", posts, "--topics", 2, "--out", tmp_path / "page.html")
    assert code == 0, err
    lines = err.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("documents: "))
    assert lines[first : first + 3] == [
        "documents: 40, no copies",
        lines[first + 1],
        "cleaning removed 39 entities, 78 tags (clean=False, --no-clean: texts as they are)",
    ]
    assert lines[first + 1].startswith("languages: english")
    assert err.count("cleaning removed") == 1

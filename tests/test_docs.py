"""Generated pages are up to date, examples run, and links between pages lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_command_line_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("build_docs", ROOT / "scripts" / "build_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == module.command_line_page(), "run `make docs`"


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example):
    beside = {**os.environ, "PYTHONPATH": str(ROOT)}  # an example may use experiments/, which is not in the package
    command = [sys.executable, "-W", "error", example]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=beside)
    assert ran.stdout


def pages():
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_readme_begins_with_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index("make demo") < text.index("make test") < text.index("```python")


def test_the_api_page_names_everything_public():
    import topicfold
    from topicfold import metrics, plots

    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([\w.]+)$", page, re.MULTILINE))
    rooms = {"baselines", "datasets", "metrics", "plots"}
    constants = {"BACKGROUND_WEIGHT", "PairScores"}
    public = {*topicfold.__all__, *metrics.__all__, *plots.__all__} - rooms - constants
    assert public - listed == set()

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


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_line_page_is_up_to_date():
    page = script("build_docs").command_line_page()
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == page, "run `make docs`"


def test_docstrings_of_public_names_are_complete():
    pytest.importorskip("numpydoc", reason="numpydoc comes with the extra `lint`")
    assert script("check_docstrings").problems() == []


def test_incomplete_docstrings_are_found():
    pytest.importorskip("numpydoc", reason="numpydoc comes with the extra `lint`")

    class Thing:
        """A thing.

        Attributes
        ----------
        shape_ :
            Its shape.
        """

        def __init__(self, size): ...

    check = script("check_docstrings")
    assert [problem[:4] for problem in check.class_problems(Thing)] == ["AT01", "PR01"]
    names = dict(check.public_names())
    assert {"topicfold.LDA", "topicfold.metrics.coherence", "topicfold.baselines.NMF"} <= set(names)
    assert {"fit", "transform", "components_", "stored"} <= set(check.public_methods(names["topicfold.TopicModel"]))
    own = set(check.public_methods(names["topicfold.LDA"]))
    assert "document_posterior" in own
    assert "fit" not in own  # inherited from a public class, where it is checked


EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_examples_run(example):
    environment = {**os.environ, "MPLBACKEND": "agg"}
    command = [sys.executable, "-W", "error", example]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert ran.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_examples_have_a_title_cells_with_a_sentence_and_a_figure(example):
    text = example.read_text(encoding="utf-8")
    assert re.match(r'"""\n.+\n=+\n\n[^"]{80,}"""\n', text)
    cells = text.split("\n# %%\n")[1:]
    assert len(cells) >= 3
    assert all(cell.startswith("# ") for cell in cells)
    assert re.search(r"^(plots\.\w+\(|\w+\.plot\(|figure, \w+ = plt\.subplots\()", text, re.MULTILINE)
    assert len([line for line in text.splitlines() if line.strip()]) <= 50


def test_every_section_of_the_gallery_has_a_heading():
    assert len(EXAMPLES) >= 16
    for folder in {example.parent for example in EXAMPLES}:
        assert (folder / "README.rst").is_file()
        assert f'"{folder.name}"' in (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")


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
    from topicfold import baselines, metrics, plots

    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([\w.]+)$", page, re.MULTILINE))
    rooms = {"baselines", "datasets", "metrics", "plots"}
    constants = {"BACKGROUND_WEIGHT", "BASELINES"}
    public = {*topicfold.__all__, *baselines.__all__, *metrics.__all__, *plots.__all__} - rooms - constants
    assert public - listed == set()


# Pages that are read, not measured: an overview, and topics that people looked at one by one; and small tables.
WITHOUT_PICTURE = {"about", "index", "junk", "typical", "stability", "names", "cluster"}


def test_pages_of_results_have_a_picture():
    for page in sorted((ROOT / "docs" / "results").glob("*.md")):
        if page.stem not in WITHOUT_PICTURE:
            assert f"]({page.stem}.png)" in page.read_text(encoding="utf-8"), page

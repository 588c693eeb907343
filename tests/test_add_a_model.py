"""The page "Add a model in an hour", followed as a reader would: its blocks are pasted, and the contract is run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "about" / "add-a-model.md"
BLOCK = re.compile(r"<!-- (file|line|append): (\S+) -->\n```(?:python|text)\n(.*?)```", re.DOTALL)


def paste(root):
    """Do what the page says: write new files, add a line to the table of models, append to a file."""
    for action, name, code in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        path = root / name
        if action == "file":
            path.parent.mkdir(parents=True, exist_ok=True)
            assert not path.exists()
            path.write_text(code, encoding="utf-8")
            continue
        before = path.read_text(encoding="utf-8")
        if action == "append":
            after = f"{before}\n\n{code}"
        else:
            table = "\n_MODELS = (\n"
            assert before.count(table) == 1
            after = before.replace(table, table + code)
        path.write_text(after, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the repository with the model of the page."""
    root = tmp_path_factory.mktemp("repository")
    ignored = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in ("src", "tests", "scripts"):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", root)
    paste(root)
    return root


def run(root, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    return subprocess.run(
        [sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_model_of_the_page_keeps_the_whole_contract(copy):
    files = ["tests/test_models.py", "tests/test_line.py", "tests/models/unigrams", "src/topicfold/models/unigrams"]
    ran = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files, "-k", "nigram")
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert int(re.findall(r"(\d+) passed", ran.stdout)[0]) > 100


def test_its_files_are_those_the_page_lists(copy):
    table = PAGE.read_text(encoding="utf-8").split("| file | what |")[1].split("\n\n")[0]
    for _, name, _ in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        assert name in table or f"{Path(name).parent.as_posix()}/" in table, name


def test_its_docstrings_and_imports_are_complete(copy):
    pytest.importorskip("numpydoc", reason="numpydoc comes with the extra `lint`")
    ran = run(copy, "scripts/check_docstrings.py")
    assert ran.returncode == 0, ran.stderr
    ran = run(
        copy,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_package.py",
        "-k",
        "famil or downwards or one_name",
    )
    assert ran.returncode == 0, ran.stdout[-3000:]

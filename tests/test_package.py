"""What the package promises as a whole: public names, a cheap import, a wheel that works on its own."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import topicfold

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "topicfold"


def test_public_names_exist_and_are_all_there_is():
    assert sorted(topicfold._HOME) == sorted(topicfold.__all__)
    for name in topicfold.__all__:
        assert getattr(topicfold, name).__name__ == name
    assert topicfold.__version__
    assert set(topicfold.__all__) <= set(dir(topicfold))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = topicfold.nonsense


def module_names():
    return [info.name for info in pkgutil.walk_packages([str(SOURCE)], "topicfold.") if "__main__" not in info.name]


@pytest.mark.parametrize("name", module_names())
def test_every_module_lists_its_public_names(name):
    module = importlib.import_module(name)
    assert module.__doc__, "says what it is for"
    for public in module.__all__:
        assert hasattr(module, public)


def test_import_brings_in_nothing_heavy():
    code = "import sys, topicfold; print({'numpy', 'numba', 'sklearn', 'scipy', 'rich', 'click'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout == "set()\n"


def test_nothing_unsafe_in_the_source():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("eval", "exec", "pickle.load", "pickle.loads", "os.system"), path
                assert not any(word.arg in ("shell", "allow_pickle") for word in node.keywords), path


@pytest.mark.slow
def test_the_wheel_runs_the_demo_in_an_empty_environment(tmp_path):
    subprocess.run([sys.executable, "-m", "build", "-q", "--wheel", "--outdir", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    web = SOURCE / "report" / "web"
    parts = {f"topicfold/report/web/{path.relative_to(web).as_posix()}" for path in web.rglob("*") if path.is_file()}
    assert "topicfold/report/web/vendor/d3-LICENSE.txt" in parts
    assert parts <= set(zipfile.ZipFile(wheel).namelist())
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel], check=True)
    ran = subprocess.run([python, "-m", "topicfold", "demo"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "20 topics of 4,096 documents" in ran.stdout
    where = subprocess.run(
        [python, "-c", "import topicfold; print(topicfold.__file__)"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert str(tmp_path) in where

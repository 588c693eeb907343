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
from topicfold.models import MODELS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "topicfold"


def test_public_names_exist_and_are_all_there_is():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (typed,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen_by_type_checkers = {alias.name for node in typed.body for alias in node.names}
    assert set(topicfold.__all__) - set(MODELS) <= seen_by_type_checkers <= set(topicfold.__all__)
    for name in topicfold.__all__:
        assert getattr(topicfold, name).__name__.rpartition(".")[2] == name
    assert topicfold.__version__
    assert {name for name in dir(topicfold) if not name.startswith("_")} == set(topicfold.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = topicfold.nonsense


def test_plots_need_no_import_of_their_own():
    code = "import topicfold; topicfold.plots.convergence; topicfold.datasets.load_demo; topicfold.metrics.coherence"
    subprocess.run([sys.executable, "-c", code], check=True)


# From the top down: a room may use those below it, never one above. Modules without a room stand where they are used.
ROOMS = ("cli", "report", "plots", "analysis", "baselines", "models", "topics", "metrics", "graph", "corpus", "engine")
BESIDE = {
    "datasets": "cli",
    "__init__": "cli",
    "__main__": "cli",
    "_version": "engine",
    "errors": "engine",
}
# Methods that draw or list what a lower room holds, imported when they are called.
UPWARDS = {("analysis", "plots")}


def room_of(parts):
    name = parts[0] if parts else "__init__"
    return BESIDE.get(name, name)


def imports_of(path):
    """The rooms that a module imports, for real: not for type checkers alone."""
    inside = path.relative_to(SOURCE).with_suffix("").parts
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level or node in typing_only:
            continue
        package = inside[: len(inside) - node.level]
        target = (*package, *(node.module or "").split(".")) if node.module else package
        yield room_of(target if target else tuple(alias.name for alias in node.names))


def test_imports_point_downwards_only():
    assert {entry.name for entry in SOURCE.iterdir() if entry.is_dir()} - {"__pycache__"} == {*ROOMS, "datasets"}
    wrong = set()
    for path in SOURCE.rglob("*.py"):
        here = room_of(path.relative_to(SOURCE).with_suffix("").parts)
        for there in imports_of(path):
            if ROOMS.index(there) < ROOMS.index(here) and (here, there) not in UPWARDS:
                wrong.add(f"{path.relative_to(SOURCE)} imports {there}")
    assert not wrong


def test_the_import_test_would_see_an_arrow_that_points_up(tmp_path):
    assert "report" in set(imports_of(SOURCE / "cli" / "fit_commands.py"))
    assert "corpus" in set(imports_of(SOURCE / "topics" / "tree.py"))
    assert ROOMS.index("report") > ROOMS.index("cli")


FAMILIES = {path.parent.name for path in (SOURCE / "models").glob("*/*.py")} - {"em"}  # which all models may use


def families_imported(path):
    """Families of models, other than its own, that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level >= 2 and node.module:
            family = node.module.split(".")[0]
            if node.level == 2 and family in FAMILIES and family != path.parent.name:
                yield family


def test_no_family_of_models_imports_another():
    models = SOURCE / "models"
    assert "graph" in FAMILIES
    assert not [(path.name, family) for path in models.glob("*/*.py") for family in families_imported(path)]


def test_no_two_modules_have_one_name():
    modules = [path for path in SOURCE.rglob("*.py") if path.stem != "__init__"]
    names = [path.stem for path in modules]
    folders = [path.name for path in SOURCE.rglob("*") if path.is_dir()]
    assert not {name for name in names if names.count(name) > 1}
    # the main module of a folder may have its name
    assert not {path for path in modules if path.stem in folders and path.stem != path.parent.name}


def test_all_but_kernels_have_types():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not any("njit" in ast.unparse(d) for d in node.decorator_list):
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                untyped = [one.arg for one in given if one.annotation is None and one.arg not in ("self", "cls")]
                assert node.returns is not None, f"{path}: {node.name}"
                assert not untyped, f"{path}: {node.name}({untyped[0]})"


def lines_of_code(path):
    """Lines of a file without those of docstrings, which may be as long as users need them."""
    text = path.read_text(encoding="utf-8")
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node)]
    return len(text.splitlines()) - sum(node.body[0].end_lineno - node.body[0].lineno + 1 for node in nodes)


def test_files_stay_short():
    for path in [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        assert lines_of_code(path) <= 600, path


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

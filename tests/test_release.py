"""What a release needs is there and agrees: version, constraints, workflows, citation, recipe."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import topicfold
from topicfold.models import MODELS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYTHONS = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def triggers(workflow):
    return workflow[True]  # YAML 1.1 takes the key "on" for true


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_is_written_once():
    assert "version" not in PROJECT
    assert "version" in PROJECT["dynamic"]
    assert topicfold.__version__ == version("topicfold"), "install again: pip install -e ."
    assert str(Version(topicfold.__version__)) == topicfold.__version__
    assert "version" not in read_yaml(ROOT / "CITATION.cff")
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert newest == Version(topicfold.__version__).base_version


# ---- constraints.txt ------------------------------------------------------------------------------------------------


def constraints():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line) for line in lines if line and not line.startswith("#")]
    newest = script("build_constraints").NEWEST
    assert PYTHONS[-1] == newest
    assert all(not one.marker.evaluate({"python_version": newest}) and one.marker.evaluate() for one in pinned)
    return {one.name: str(one.specifier).removeprefix("==") for one in pinned}


def test_constraints_hold_every_requirement_within_its_range():
    pinned = constraints()
    needed = script("build_constraints").requirements()
    assert {"numpy", "numba", "pandas", "pytest", "ruff"} <= {one.name for one in needed}
    for one in needed:
        name = canonicalize_name(one.name)
        assert name in pinned, f"{name} is new: run scripts/build_constraints.py"
        assert one.specifier.contains(pinned[name], prereleases=True), f"{name}=={pinned[name]} is not {one.specifier}"
    assert list(pinned) == sorted(pinned)


def test_constraints_follow_what_requirements_require():
    module = script("build_constraints")
    found = module.versions_of([Requirement("scikit-learn"), Requirement("numba")])
    assert {"joblib", "threadpoolctl", "llvmlite", "numpy", "scipy"} <= set(found)
    assert found["numba"] == version("numba")
    assert set(found) <= set(constraints())
    with pytest.raises(SystemExit, match="no-such-package is not installed"):
        module.versions_of([Requirement("no-such-package")])


def test_the_first_minute_is_measured_by_package_and_by_the_fastest_process():
    module = script("first_minute")
    sizes = module.package_sizes(Path(sys.executable))
    assert sizes["numpy"] > 1e7
    assert sizes["click"] > 1e5
    runs = [{"import": 3.0}, {"import": 2.0}, {"import": 1.0}]
    assert module.cells({"LDA": runs, "PLSA": runs}, "import") == ["3.00", "1.00"] * 2
    fits = [
        {"first fit": 4.0, "second fit": 1.0},
        {"first fit": 1.5, "second fit": 1.4},
        {"first fit": 1.6, "second fit": 1.1},
    ]
    assert module.cells({"LDA": fits}, "beyond") == ["3.00", "0.40"], "a difference of minima, not the least difference"


# ---- workflows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_ask_for_little(path):
    workflow = read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert "uses" in job or job["timeout-minutes"]
        for step in job.get("steps", []):
            assert ("uses" in step) != ("run" in step)
            assert "${{" not in step.get("run", ""), "what comes from outside is handed over in env"
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_actions_are_pinned_by_hash_with_the_release_beside_it():
    uses = [line for path in WORKFLOWS for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))]
    assert uses
    assert [one for one in uses if not re.fullmatch(r"\./\S+|[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", one)] == []


def test_there_are_the_workflows_that_a_release_needs():
    assert [path.stem for path in WORKFLOWS] == ["ci", "docs", "nightly", "publish"]
    for path in WORKFLOWS:
        jobs = read_yaml(path)["jobs"]
        for job in jobs.values():
            needs = job.get("needs", [])
            assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)


def test_ci_runs_every_python_on_every_system():
    matrix = read_yaml(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    supported = SpecifierSet(PROJECT["requires-python"])
    assert all(supported.contains(python) for python in PYTHONS)
    assert not supported.contains("3.10")


def test_only_a_tag_publishes_and_only_what_ci_has_tried():
    workflow = read_yaml(ROOT / ".github" / "workflows" / "publish.yml")
    assert triggers(workflow) == {"push": {"tags": ["v*"]}}
    jobs = workflow["jobs"]
    assert jobs["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert jobs["pypi"]["environment"] == "pypi"
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert "workflow_call" in triggers(read_yaml(ROOT / ".github" / "workflows" / "ci.yml"))
    assert [name for name, job in jobs.items() if "permissions" in job] == ["pypi", "github"]


def test_other_configuration_can_be_read():
    hooks = [hook["id"] for repo in read_yaml(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert {"ruff", "ruff-format", "mypy", "end-of-file-fixer", "actionlint"} <= set(hooks)
    for form in ("bug", "idea"):
        body = read_yaml(ROOT / ".github" / "ISSUE_TEMPLATE" / f"{form}.yml")["body"]
        assert any(field.get("validations", {}).get("required") for field in body)


# ---- citation and recipe --------------------------------------------------------------------------------------------


def test_the_citation_names_the_papers():
    citation = read_yaml(ROOT / "CITATION.cff")
    assert set(citation) == {"cff-version", "message", "title", "authors", "license", "type", "references"}
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == PROJECT["license"]
    papers = citation["references"]
    assert {paper["notes"] for paper in papers} == {"LTM", "DTM", "LDCC", "HLTA", "TTMM"}
    for paper in papers:
        assert paper["type"] in ("conference-paper", "report")
        assert paper["title"]
        assert 2003 <= paper["year"] <= 2014
        assert all(set(author) == {"family-names", "given-names"} for author in paper["authors"])
        assert set(paper) <= {"type", "title", "notes", "authors", "year", "collection-title", "doi"} | {
            "number",
            "institution",
        }
        if "doi" in paper:
            assert re.fullmatch(r"10\.\d{4,9}/\S+", paper["doi"])
            assert f"https://doi.org/{paper['doi']}" in MODELS[paper["notes"]].load().__doc__


def test_the_recipe_needs_what_the_project_needs():
    recipe = read_yaml(ROOT / "recipe" / "recipe.yaml")
    run = dict(line.split(maxsplit=1) for line in recipe["requirements"]["run"])
    lowest = recipe["context"]["python_min"]
    assert run.pop("python").replace("${{ python_min }}", lowest) == PROJECT["requires-python"]
    every = [Requirement(line) for line in PROJECT["dependencies"]]
    needed = [one for one in every if one.marker is None or one.marker.evaluate({"python_version": "3.14"})]
    assert run == {canonicalize_name(one.name): str(one.specifier) for one in needed}
    assert recipe["context"]["version"] == Version(topicfold.__version__).base_version
    assert recipe["about"]["summary"] == PROJECT["description"]
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"topicfold = {PROJECT['scripts']['topicfold']}"

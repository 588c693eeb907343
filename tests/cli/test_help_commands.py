"""models, doctor, and the examples of every command's help."""

from __future__ import annotations

import csv
import json
import shlex
from importlib.metadata import metadata
from pathlib import Path

import numpy as np
import pytest

from topicfold.cli import doctor as doctor_module
from topicfold.cli.app import cli
from topicfold.cli.examples import EXAMPLES
from topicfold.models import MODELS


def test_models_lists_one_line_each(run):
    code, out, _ = run("models")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == [name.lower() for name in MODELS]
    assert all(line.endswith(".") for line in lines)


def test_models_lists_the_parameters_of_one(run):
    code, out, _ = run("models", "LDA")
    assert code == 0
    assert "n_topics : int or 'auto', default=20\n    Number of topics.\n" in out
    assert "beta : float or 'auto', default=0.03\n" in out
    code, out, err = run("models", "lsa")
    assert (code, out) == (2, "")
    assert "'lsa'; the models are: lda, plsa" in err


def test_doctor_finds_a_working_installation(run):
    code, out, err = run("doctor")
    assert (code, err) == (0, "all is well\n")
    assert f"topicfold     {doctor_module.__version__} in" in out
    for word in ("numba ", "scikit-learn ", "threads ", "memory ", "kernels ", "test fit "):
        assert word in out
    for extra in metadata("topicfold").get_all("Provides-Extra"):
        assert (f"extra         {extra}:" in out) == (extra not in doctor_module.DEVELOPMENT)


def test_doctor_names_what_is_missing_and_too_old(run, monkeypatch):
    needs = ["click>=8.1", "no-such-package>=1.0", "rich>=999", "nothing-there>=2; extra == 'map'"]
    monkeypatch.setattr(doctor_module, "requires", lambda _: needs)
    code, out, err = run("doctor")
    assert code == 1
    assert "no-such-package missing" in out
    assert "map: not installed; pip install 'topicfold[map]'" in out
    assert "missing or too old: no-such-package>=1.0, rich>=999" in err
    assert err.endswith("1 problem\n")


def test_doctor_tells_of_a_fit_that_goes_wrong(run, monkeypatch):
    from topicfold import LDA

    monkeypatch.setattr(LDA, "document_topics", lambda self, X: np.ones((len(X), 3)))
    code, _, err = run("doctor")
    assert code == 1
    assert "into topics [0, 0, 0, 0, 0, 0]" in err

    def broken(*_, **__):
        raise RuntimeError("no kernels")

    monkeypatch.setattr(LDA, "fit", broken)
    code, _, err = run("doctor")
    assert code == 1
    assert "the test fit failed: RuntimeError: no kernels" in err


def test_every_command_has_examples_in_its_help(run):
    assert set(EXAMPLES) == set(cli.commands)
    for name, lines in EXAMPLES.items():
        help_text = run(name, "--help")[1]
        assert all(f"  {line}\n" in help_text for line in lines)
        assert all(line.startswith(f"topicfold {name}") for line in lines)


@pytest.fixture
def example_files(tmp_path, monkeypatch, run):
    """The files that examples name."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = []
    for number in range(120):
        product = ("phone", "kettle", "lamp")[number % 3]
        words = [f"{product}{word}" for word in rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 8)]
        words += ["battery", "week"] * (product == "phone")
        rows.append((number, product, " ".join(words)))
    for name, text in (("reviews.csv", "text"), ("new.csv", "text"), ("part-1.csv", "body"), ("part-2.csv", "body")):
        with open(name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("id", "product", text), *((f"{name}{d}", p, t) for d, p, t in rows)])
    Path("new.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for _, _, text in rows), encoding="utf-8")
    Path("labels.json").write_text(json.dumps({"phone": "phonea phoneb", "lamp": "lampa lampb"}), encoding="utf-8")
    for model in ("model", "other"):
        assert run("fit", "reviews.csv", "-p", "n_topics=3", "--out", f"{model}.safetensors")[0] == 0


def without_shell(line):
    """The words of an example, and what it reads from stdin."""
    words = shlex.split(line, comments=True)[1:]
    stdin = ""
    if "<" in words:
        at = words.index("<")
        stdin, words = Path(words[at + 1]).read_text(encoding="utf-8"), words[:at]
    return (words[: words.index(">")] if ">" in words else words), stdin


# demo and doctor have tests of their own, and the answers of people that agreement reads are nowhere here.
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ("demo", "doctor", "agreement")])
def test_examples_run(name, example_files, run):
    for line in EXAMPLES[name]:
        if "llm" in line or "--embed" in line:  # a program, and a model, that are not here
            continue
        words, stdin = without_shell(line)
        code, out, err = run(*words, stdin=stdin)
        assert code == 0, f"{line}\n{err}"
        assert out or "--out" in words or "explore" in words
        if "--out" in words:
            assert Path(words[words.index("--out") + 1]).stat().st_size > 0

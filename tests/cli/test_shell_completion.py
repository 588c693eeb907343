"""Completion in shells: by click's own machinery, and in the shells themselves where they are installed."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from topicfold.cli.app import cli
from topicfold.cli.signatures import models_by_option, signature_of
from topicfold.corpus.preprocessing import stop_word_languages
from topicfold.corpus.tokenizers import TOKENIZERS
from topicfold.models import MODELS


def completed(*words):
    """Values and kinds that the last of the words is completed to."""
    items = ShellComplete(cli, {}, "topicfold", "_TOPICFOLD_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [item.value for item in items], {item.type for item in items}


def test_names_of_commands_options_and_models():
    assert {"fit", "models", "doctor", "completion"} <= set(completed("")[0])
    assert completed("fit", "--mod")[0] == ["--model"]
    assert completed("fit", "x.csv", "--model", "")[0] == list(models_by_option())
    assert completed("fit", "x.csv", "--model", "LT")[0] == ["ltm"]
    assert completed("fit", "x.csv", "--model=pl")[0] == ["plsa"]
    assert completed("models", "hl")[0] == ["hlta"]
    assert completed("completion", "")[0] == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("name", MODELS)
def test_parameters_are_those_of_the_model(name):
    made = inspect.signature(MODELS[name].load().__init__).parameters
    found = signature_of(name.lower())
    assert [one.name for one in found.parameters] == [each for each in made if each != "self"]
    for one in found.parameters:
        assert one.default == repr(made[one.name].default), "as the source writes it"
        assert one.type, f"{name}.{one.name} has no type in its documentation"
        assert one.summary.endswith("."), f"{name}.{one.name} has no sentence of documentation"
        default = made[one.name].default
        assert not isinstance(default, str) or default in one.choices
    assert completed("fit", "x", "--model", name.lower(), "-p", "")[0] == [f"{one.name}=" for one in found.parameters]


def test_parameters_follow_the_model_that_the_options_mean():
    assert completed("fit", "x", "-p", "foc")[0] == ["focus="]
    assert completed("fit", "x", "-p", "graph_")[0] == []
    for options in (["--graph", "knn"], ["--links", "cites"], ["--supervise"]):
        assert completed("fit", "x", *options, "-p", "graph_")[0] == ["graph_weight="]
    assert completed("fit", "x", "--model", "hlta", "-p", "tol=1", "-p", "isl")[0] == ["island_size="]
    assert completed("fit", "x", "--model", "nonsense", "-p", "n")[0] == []


def test_values_of_parameters():
    assert completed("fit", "x", "--model", "dtm", "-p", "metric=")[0] == [
        "metric=cosine",
        "metric=euclidean",
        "metric=intersection",
        "metric=lsi",
        "metric=word_vectors",
    ]
    assert completed("select", "x", "-p", "init=n")[0] == ["init=nmf"]
    assert completed("fit", "x", "--model", "plsa", "-p", "tempered=")[0] == ["tempered=true", "tempered=false"]
    assert completed("fit", "x", "-p", "n_topics=")[0] == ["n_topics=auto"]
    assert completed("fit", "x", "-p", "nonsense=")[0] == []


def test_files_and_words_of_other_options():
    for words in (["fit", "rev"], ["explore", "m.safetensors", "rev"], ["read", "a.csv", "rev"], ["fit", "--out", ""]):
        assert completed(*words)[1] == {"file"}
    assert completed("fit", "x", "--graph", "l") == (["links"], {"plain"})
    assert completed("fit", "x", "--graph", "./e") == (["./e"], {"file"})
    assert completed("fit", "x", "--stop-words", "")[0] == ["none", *stop_word_languages()]
    assert completed("fit", "x", "--stop-words", "./e")[1] == {"file"}
    assert completed("fit", "x", "--tokenizer", "s")[0] == ["spacy:", "sudachi"]
    names = completed("fit", "x", "--tokenizer", "")[0]
    assert names == sorted([*TOKENIZERS, "spacy:"])


def test_nothing_heavy_is_imported():
    code = (
        "import sys; from click.shell_completion import ShellComplete; from topicfold.cli.app import cli\n"
        "def ask(*words): return ShellComplete(cli, {}, 'topicfold', 'X').get_completions([*words[:-1]], words[-1])\n"
        "assert ask('fit', 'x', '--model', 'hlta', '-p', '') and ask('fit', 'x', '--stop-words', '')\n"
        "print({'numpy', 'numba', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout == "set()\n"


def ask_program(shell, words, current):
    """What the program prints to a shell that asks."""
    asked = {"_TOPICFOLD_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": str(current)}
    command = [sys.executable, "-c", "from topicfold.cli import main; main()"]
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **asked}).stdout


def test_each_shell_is_answered_in_its_own_way():
    assert ask_program("bash", "topicfold fit x --model pl", "") == "plain,plsa\n"
    assert ask_program("bash", "topicfold fit x --model plsa -p tempered=t", "") == "plain,tempered=true\n"
    assert ask_program("bash", "topicfold doc", "").startswith("plain,doctor")
    assert ask_program("zsh", "topicfold fit x --model pl", 4).split("\n")[:2] == ["plain", "plsa"]
    assert ask_program("fish", "topicfold fit x --model pl", "pl").startswith("plain,plsa\t")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_printed_and_parse(shell, run, tmp_path):
    code, script, err = run("completion", shell)
    assert (code, err) == (0, "")
    assert f"_TOPICFOLD_COMPLETE={shell}_complete" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed, so that its script cannot be parsed")
    path = tmp_path / "script"
    path.write_text(script, encoding="utf-8", newline="\n")
    subprocess.run([shell, "-n", path], check=True)


def test_an_unknown_shell_is_an_error(run):
    code, _, err = run("completion", "tcsh")
    assert code == 2
    assert "tcsh" in err


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("topicfold fit x --model l", "lda lapplsi ltm ldcc"),
        ("topicfold fit x --model ttmm -p n_th", "n_themes="),
        ("topicfold fit x -p init=k", "kmeans"),  # bash takes "init" and "=" for words of their own
        ("topicfold fit x --model=pl", "plsa"),
    ],
)
def test_bash_completes_a_line(run, tmp_path, line, expected):
    script = run("completion", "bash")[1]
    program = tmp_path / "topicfold"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from topicfold.cli import main; main()'\n")
    program.chmod(0o755)
    asked = f"""{script}
compopt() {{ :; }}
COMP_LINE='{line}' COMP_POINT={len(line)}
_topicfold_completion {program}
echo "${{COMPREPLY[*]}}"
"""
    ran = subprocess.run(["bash", "--norc", "-c", asked], check=True, capture_output=True, text=True)
    assert ran.stdout == expected + "\n"

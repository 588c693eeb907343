"""`topicfold name`, with a real small program."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from topicfold import TopicTree


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def namer(tmp_path):
    path = tmp_path / "namer.py"
    path.write_text(
        "import sys\nprompt = sys.stdin.read()\n"
        "print('animals' if 'cat' in prompt.split('Topics near')[0] else 'sky')\nprint('What it is about.')\n"
    )
    return shlex.join([sys.executable, str(path)])


def test_names_are_written_for_explore_and_tree(run, model, texts, namer, tmp_path):
    names = tmp_path / "names.json"
    code, out, err = run("name", model, texts, "--id", "name", "--command", namer, "--out", names)
    assert (code, out) == (0, "")
    assert f"2 names are in {names}" in err
    assert sorted(json.loads(names.read_text()).values()) == ["animals", "sky"]
    code, out, err = run("tree", model, "--edits", names, "--out", tmp_path / "t.safetensors")
    assert code == 0, err
    assert "[animals]" in out


def test_without_an_input_and_to_stdout(run, model, namer):
    code, out, err = run("name", model, "--command", namer)
    assert code == 0, err
    assert sorted(json.loads(out)) == ["0", "1"]


def test_a_tree_keeps_descriptions_too(run, model, texts, namer, tmp_path, explored):
    tree = tmp_path / "tree.safetensors"
    code, _, err = run("name", model, texts, "--id", "name", "--command", namer, "--out", tree)
    assert code == 0, err
    assert set(TopicTree.load(tree).descriptions.values()) == {"What it is about."}
    report, _ = explored(model, texts, "--id", "name", "--tree", tree)
    assert {topic["description"] for topic in report["topics"]} == {"What it is about."}
    code, out, _ = run("name", model, texts, "--id", "name", "--tree", tree, "--dry-run")
    assert "Topics near it: animals" in out
    assert run("name", tree, "--command", namer)[0] == 0


def test_a_dry_run_prints_the_prompts_and_runs_nothing(run, model, texts, tmp_path):
    code, out, err = run("name", model, texts, "--id", "name", "--dry-run", "--command", "no-such-program")
    assert code == 0, err
    assert out.count("Words, the most typical first:") == 2
    assert "cat dog cow" in out  # how a text begins
    assert run("name", model, "--dry-run")[0] == 0


def test_errors_are_one_line_that_names_the_topic(run, model, texts, tmp_path):
    failing = f"{sys.executable} -c 'import sys; sys.exit(\"no key\")'"
    for words, said in (
        (["--command", failing], "topic 0: "),
        (["--command", failing], "ended with exit code 1: no key"),
        (["--command", "no-such-program"], "topic 0: no-such-program cannot be run: No such file or directory"),
        (["--command", f"{sys.executable} -c 'import time; time.sleep(60)'", "--timeout", "0.5"], "in 0.5 seconds"),
        (["--command", "a", "--out", tmp_path / "no" / "n.json"], "no"),
        (["--command", "a", "--out", model], "is also an input or another output of this command"),
        ([], "--command is missing"),
    ):
        code, out, err = run("name", model, *words)
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.replace("\nTry: topicfold name --help", "").strip().splitlines()) == 1


@pytest.mark.filterwarnings("default:.*got no name")
def test_topics_without_a_name_are_counted(run, model):
    code, out, err = run("name", model, "--command", f"{sys.executable} -c ''")
    assert (code, json.loads(out)) == (0, {})
    assert "2 of the topics got no name" in err

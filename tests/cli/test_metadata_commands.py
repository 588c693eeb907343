from __future__ import annotations

import csv
import json

import pytest
from cli_cases import TEXTS

PARTIES = ["left", "right", "left", "right", "left", ""]


@pytest.fixture
def party_texts(tmp_path):
    path = tmp_path / "parties.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "text", "party"])
        writer.writerows(zip("abcdef", TEXTS, PARTIES))
    return path


def test_contrast_prints_text_json_and_csv(model, party_texts, run, tmp_path):
    code, out, err = run("contrast", model, party_texts, "--by", "party")
    assert code == 0, err
    assert out.startswith("party: left (3 documents), right (2 documents); 1 documents without it are left out\n")
    assert "all topics" in out
    code, out, _ = run("contrast", model, party_texts, "--by", "party", "--topic", 1, "--words", 2, "--json")
    rows = json.loads(out)
    assert code == 0
    assert {row["topic"] for row in rows} == {1}
    path = tmp_path / "words.csv"
    code, out, err = run("contrast", model, party_texts, "--by", "party", "--groups", "right,left", "--out", path)
    assert (code, out) == (0, "")
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["topic", "name", "group", "word", "tokens", "tokens_elsewhere", "log_odds", "z"]
    assert {row["group"] for row in table} == {"right", "left"}
    code, out, _ = run("contrast", model, party_texts, "--by", "party", "--topic", "-1", "--out", "-")
    assert code == 0
    assert {row["topic"] for row in csv.DictReader(out.splitlines())} == {"-1"}


def test_contrast_reads_saved_corpora_labels_and_trees(model, party_texts, run, tmp_path):
    code, out, err = run(
        "contrast", model, party_texts, "--by", "labels", "--labels", "party", "--groups", "left,right"
    )
    assert code == 0, err
    assert out.startswith("labels: left (3 documents), right (2 documents)")
    saved = tmp_path / "corpus.safetensors"
    assert run("read", party_texts, "--id", "name", "--metadata", "party", "--out", saved)[0] == 0
    code, again, err = run("contrast", model, saved, "--by", "party")
    assert code == 0, err
    assert (
        again.replace("party:", "labels:").splitlines()[1:]
        == run("contrast", model, party_texts, "--by", "party")[1].splitlines()[1:]
    )
    tree = tmp_path / "tree.safetensors"
    assert run("tree", model, "--merge", "0,1", "--out", tree)[0] == 0
    code, out, err = run("contrast", model, saved, "--by", "party", "--tree", tree)
    assert code == 0, err
    assert "\n0: " in out
    assert "\n1: " not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--by", "colour"], "colour"),
        (["--by", "party", "--groups", "left"], "expected two different values"),
        (["--by", "party", "--topic", "5"], "there is no topic 5"),
        (["--by", "party", "--json", "--out", "x.csv"], "give one of them"),
        ([], "--by"),
    ],
)
def test_contrast_names_what_is_wrong(model, party_texts, run, words, message):
    code, _, err = run("contrast", model, party_texts, *words)
    assert code == 2
    assert message in err

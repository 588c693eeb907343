from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from cli_cases import TEXTS, lines_of

PARTIES = ["left", "right", "left", "right", "left", ""]


@pytest.fixture
def party_texts(tmp_path):
    path = tmp_path / "parties.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "text", "party"])
        writer.writerows(zip("abcdef", TEXTS, PARTIES))
    return path


def test_contrast_prints_text_json_and_csv(model, party_texts, run, tmp_path):
    code, out, err = run("contrast", model, party_texts, "--by", "party")
    assert code == 0, err
    assert out.startswith("party: left (3 documents), right (2 documents); 1 documents in none of them are left out\n")
    assert "all topics" in out
    code, out, _ = run("contrast", model, party_texts, "--by", "party", "--topic", 1, "--words", 2, "--json")
    rows = json.loads(out)
    assert code == 0
    assert {row["topic"] for row in rows} == {1}
    path = tmp_path / "words.csv"
    code, out, err = run("contrast", model, party_texts, "--by", "party", "--groups", "right,left", "--out", path)
    assert (code, out) == (0, "")
    with open(path, encoding="utf-8", newline="") as file:
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
        (["--by", "party", "--json", "--out", "x.csv"], "give only one"),
        ([], "--by"),
    ],
)
def test_contrast_names_what_is_wrong(model, party_texts, run, words, message):
    code, _, err = run("contrast", model, party_texts, *words)
    assert code == 2
    assert message in err


@pytest.fixture
def speeches(tmp_path):
    """Sixty texts by two parties over ten years."""
    pytest.importorskip("formulaic")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(TEXTS[d % 2 * 3].split(), 8)) for d in rng.integers(0, 6, 60)]
    path = tmp_path / "speeches.jsonl"
    years = [2000 + d % 10 for d in range(60)]
    parties = ["left" if "cat" in text or rng.random() < 0.2 else "right" for text in texts]
    parties[3] = None
    days = [f"{year}-06-01" for year in years]
    path.write_text(lines_of(texts, party=parties, year=years, day=days, speaker=[d % 25 for d in range(60)]))
    return path


def test_effects_print_tables(model, speeches, run, tmp_path):
    code, out, err = run("effects", model, speeches, "--formula", "~ party + year")
    assert code == 0, err
    assert out.splitlines()[0].split() == ["topic", "name", "term", "estimate", "std_error", "low", "high", "p"]
    assert len(out.splitlines()) == 1 + 2 * 3
    assert "left out: 1 documents with a missing value" in err
    assert "posterior: Dirichlet with the tokens" in err
    code, out, err = run(
        "effects", model, speeches, "--formula", "~ party * year", "--contrast", "party: left - right", "--json"
    )
    assert code == 0, err
    assert {row["term"] for row in json.loads(out)} == {"party: left - right"}
    path = tmp_path / "table.csv"
    curves = ["--along", "date", "--by", "party", "--timestamp", "day", "--topic", 1, "--cluster", "speaker"]
    code, out, err = run("effects", model, speeches, "--formula", "~ party + date", *curves, "--out", path)
    assert (code, out) == (0, ""), err
    assert "clustered by speaker (25 clusters, CR1)" in err
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["topic", "name", "group", "value", "share", "std_error", "low", "high"]
    assert {(row["topic"], row["group"]) for row in rows} == {("1", "left"), ("1", "right")}
    assert float(rows[0]["value"]) == pytest.approx(2000.4, abs=0.1)


def test_effects_draw(model, speeches, run, tmp_path):
    pytest.importorskip("matplotlib")
    for words in (["--contrast", "party: left - right"], ["--along", "year"]):
        path = tmp_path / f"{words[0]}.png"
        code, _, err = run("effects", model, speeches, "--formula", "~ party + year", *words, "--plot", path)
        assert code == 0, err
        assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--formula", "~ colour"], "colour"),
        (["--formula", "~ (party"], "cannot be read"),
        (["--formula", "~ {__import__('os').getcwd()}"], "is not allowed"),
        (["--formula", "~ party", "--contrast", "party"], "expected 'COLUMN: A - B'"),
        (["--formula", "~ party", "--contrast", "party: left - up"], "'party' has no value 'up'"),
        (["--formula", "~ party", "--contrast", "party: left - right", "--along", "party"], "give only one"),
        (["--formula", "~ party", "--json", "--out", "-"], "give only one"),
        (["--formula", "~ party", "--by", "party"], "--by needs --along"),
        (["--formula", "~ party", "--plot", "x.png"], "give --contrast or --along"),
        (["--formula", "~ party", "--topic", "7"], "there is no topic 7"),
        ([], "--formula"),
    ],
)
def test_effects_name_what_is_wrong(model, speeches, run, words, message):
    code, _, err = run("effects", model, speeches, *words)
    assert code == 2
    assert message in err

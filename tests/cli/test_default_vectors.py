"""The word vectors that come with the package, where `fit` and `explore` use them by themselves."""

import csv
import io

import numpy as np
import pytest

from topicfold import LDA, LTM, load

PETS = ["cat", "kitten", "dog", "puppy", "hamster", "rabbit"]
SKY = ["sun", "moon", "star", "planet", "comet", "galaxy"]
SAID = "short texts in English: fitting ltm with the word vectors of the package"


@pytest.fixture
def run(capsys):
    from topicfold.cli import main

    def run(*words):
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return run


def titles(folder, words=(PETS, SKY), n=60):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(group, 3)) for group in words for _ in range(n)]
    path = folder / "titles.csv"
    path.write_text("text\n" + "".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def test_fit_uses_them_and_assign_needs_no_option(run, tmp_path):
    path, model = titles(tmp_path), tmp_path / "model.safetensors"
    code, _, err = run("fit", path, "--topics", 2, "--out", model)
    assert code == 0, err
    assert err.count(SAID) == 1
    assert "--no-embed uses only words" in err
    fitted = load(model)
    assert isinstance(fitted, LTM)
    assert (fitted.metric, fitted.n_topics) == ("word_vectors", 2)
    (tmp_path / "new.csv").write_text("id,text\na,kitten hamster\nb,comet galaxy\nc,\n")
    code, out, err = run("assign", model, tmp_path / "new.csv")
    assert code == 0
    assert "embeddings" not in err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert rows[0]["topic"] != rows[1]["topic"]
    assert rows[2]["topic"] == "-1"
    assert [float(row["probability"]) for row in rows] == pytest.approx(
        [*fitted.transform(["kitten hamster", "comet galaxy"]).max(axis=1), 0], abs=1e-5
    )
    assert run("score", model, tmp_path / "titles.csv")[0] == 0
    assert run("assign", model, tmp_path / "new.csv", "--embed")[0] == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--no-embed"],
        ["--model", "lda"],
        ["-p", "alpha=0.5"],
        ["--vocabulary", "words.txt"],
    ],
)
def test_fit_uses_only_words_if_the_user_says_so(run, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("\n".join(PETS + SKY))
    code, _, err = run("fit", titles(tmp_path), "--topics", 2, *options, "--out", "model")
    assert code == 0, err
    assert SAID not in err
    assert type(load("model")) is LDA


def test_not_for_another_language(run, tmp_path):
    german = (["Katze", "Hund", "Welpe", "Hamster"], ["Sonne", "Sterne", "Komet", "Galaxie"])
    code, _, err = run("fit", titles(tmp_path, german), "--topics", 2, "--out", tmp_path / "model")
    assert code == 0, err
    assert SAID not in err


def test_both_options_are_refused(run, tmp_path):
    code, _, err = run("fit", titles(tmp_path), "--embed", "--no-embed", "--out", tmp_path / "model")
    assert code == 2
    assert "--no-embed uses only words, and --embed more than words" in err


def test_explore_uses_them_and_prints_the_command(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = titles(tmp_path)
    code, _, err = run("explore", path, "--topics", 2)
    assert code == 0, err
    assert SAID in err
    (line,) = [line for line in err.splitlines() if line.startswith("To keep the model: ")]
    assert "--model ltm -p metric=word_vectors" in line
    code, _, err = run(*line.split(": ", 1)[1].split()[1:])
    assert code == 0, err
    assert isinstance(load("titles.safetensors"), LTM)
    code, _, err = run("explore", path, "--topics", 2, "--no-embed")
    assert code == 0
    assert SAID not in err
    assert "--model lda" in err

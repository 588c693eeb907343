"""topicfold label: labels from descriptions."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from topicfold.cli import main
from topicfold.cli.app import cli

TEXTS = ["dog barks at cat", "cat and dog and mouse", "mouse barks", "sun and moon", "moon star sun", "a star"] * 3


@pytest.fixture
def files(tmp_path):
    """A file of documents and one of descriptions."""
    documents, labels = tmp_path / "pets.jsonl", tmp_path / "labels.json"
    documents.write_text("".join(json.dumps({"id": f"d{row}", "text": text}) + "\n" for row, text in enumerate(TEXTS)))
    labels.write_text(json.dumps({"pets": "a cat or a dog", "sky": "the moon"}))
    return str(documents), str(labels)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_labels_go_to_stdout_as_a_table(files):
    result = CliRunner().invoke(cli, ["label", *files])
    assert result.exit_code == 0, result.output
    rows = rows_of(result.stdout)
    assert [row["id"] for row in rows] == [f"d{row}" for row in range(18)]
    assert [row["label"] for row in rows] == (["pets"] * 3 + ["sky"] * 3) * 3
    assert [row["runner_up"] for row in rows] == (["sky"] * 3 + ["pets"] * 3) * 3
    for row in rows:
        assert float(row["probability"]) + float(row["runner_up_probability"]) == pytest.approx(1, abs=2e-4)
    assert "pets" in result.stderr


@pytest.mark.filterwarnings("ignore:.*texts are empty")
def test_a_document_without_words_has_no_label(files):
    documents, labels = files
    with open(documents, "a", encoding="utf-8") as file:
        file.write('{"id": "empty", "text": ""}\n')
    result = CliRunner().invoke(cli, ["label", documents, labels])
    assert result.exit_code == 0, result.output
    assert list(rows_of(result.stdout)[-1].values()) == ["empty", "", "0", "", "0"]


def test_file_and_page_with_free_topics(files, tmp_path):
    out, page = tmp_path / "labelled.csv", tmp_path / "page.html"
    words = ["label", *files, "--free-topics", "1", "--out", str(out), "--report", str(page), "--id", "id"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    assert {row["label"] for row in rows_of(out.read_text())} <= {"pets", "sky", ""}
    assert "sky" in page.read_text(encoding="utf-8")


def test_embeddings_by_a_model_on_disk(files, monkeypatch):
    import numpy as np

    from topicfold.analysis import embedding

    def encode(texts):
        return np.array([[1.0 + ("moon" in text or "s" in text), 1.0 + ("a" in text)] for text in texts])

    monkeypatch.setattr(embedding, "encoder_of", lambda model: encode)
    result = CliRunner().invoke(cli, ["label", *files, "--embed", "some/model"])
    assert result.exit_code == 0, result.output
    assert len(rows_of(result.stdout)) == 18


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ('{"pets": "dog"}', "at least two labels"),
        ('{"pets": "dog", "tax": "taxes"}', "label 'tax': the corpus has no word"),
        ('["dog", "dog"]', "'dog' occurs twice"),
        ("3", "labels=3"),
    ],
)
def test_descriptions_that_cannot_be_used_are_one_line(files, capsys, content, message):
    with open(files[1], "w", encoding="utf-8") as file:
        file.write(content)
    with pytest.raises(SystemExit) as leaving:
        main(["label", *files])
    assert leaving.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("topicfold: ")
    assert message in last


def test_the_input_is_not_written_over(files, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["label", *files, "--out", files[1]])
    assert leaving.value.code == 2
    assert "write to another file" in capsys.readouterr().err

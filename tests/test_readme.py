"""The README's code and commands, run as they stand, on a small file of reviews."""

from __future__ import annotations

import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import topicfold
from topicfold.cli import main
from topicfold.datasets import load_demo

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
N_REVIEWS = 240
SAID = ["The battery life is short.", "Cheap, not expensive: good value.", "Shipping was late, the parcel damaged."]


@contextmanager
def without_extras(line):
    """As after `pip install topicfold`, unless the line itself names an extra."""
    extras = () if "topicfold[" in line else ("matplotlib", "formulaic", "model2vec", "pynndescent", "tomotopy", "umap")
    with pytest.MonkeyPatch.context() as patch:
        for module in extras:
            patch.setitem(sys.modules, module, None)
        assert not extras or "parquet" not in line
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("readme")
    corpus = load_demo().subset(slice(0, N_REVIEWS))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "body": [f"{text} {said}" for text, said in zip(corpus.texts, rng.choice(SAID, N_REVIEWS))],
            "headline": corpus.titles,
            "date": pd.date_range("2020-01-01", periods=N_REVIEWS).astype(str),
            "stars": rng.integers(1, 6, N_REVIEWS),
            "country": rng.choice(["DE", "FR", "IT"], N_REVIEWS),
        }
    )
    frame.to_csv(path / "reviews.csv", index=False)
    frame.head(5).to_csv(path / "new.csv", index=False)
    return path


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_example_is_ten_lines_that_make_a_report():
    first = [line for line in blocks("python")[0].splitlines() if line.strip()]
    assert len(first) <= 10
    assert "keep_texts=True" in README.split("```python")[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # so few documents: metadata, sizes and convergence are warned of
def test_python(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    # vectors of a real model would be downloaded
    monkeypatch.setattr(topicfold, "embed", lambda corpus: corpus.counts.toarray()[:, :20].astype(float) + 0.1)
    values: dict = {}
    for block in blocks("python"):
        for line in block.splitlines():
            with without_extras(line):
                exec(compile(line, "README.md", "exec"), values)
    assert "topics of 240 documents" in capsys.readouterr().out
    assert (folder / "reviews.html").stat().st_size > 100_000
    assert len(values["tree"]) == 30


@pytest.mark.slow
def test_commands(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (commands,) = (block for block in blocks("sh") if "topicfold explore" in block)
    for line in commands.splitlines():
        words = shlex.split(line, comments=True)
        assert words[0] == "topicfold"
        with pytest.raises(SystemExit) as ended, without_extras(line):
            main(words[1:])
        assert ended.value.code in (0, None), f"{line}\n{capsys.readouterr().err}"
    assert (folder / "new-topics.csv").exists()

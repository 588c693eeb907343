"""The whole line for every model: file -> corpus -> fit -> tree -> tables -> search -> report -> files -> commands.

It asks whether the pieces fit together; what each of them does is tested where it stands.
"""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

from topicfold import Corpus, TopicTree, build_report, load, search, topics_over_time
from topicfold.baselines import BASELINES
from topicfold.cli import main
from topicfold.models import MODELS

KINDS = {"animals": "cat dog cow fur paw", "sky": "sun moon star comet orbit", "plants": "leaf tree root seed moss"}
QUICK = {"GibbsLDA": {"max_iter": 50}, "HLDA": {"max_iter": 50, "depth": 2}}
SAMPLERS = [*QUICK, *(name for name, info in MODELS.items() if info.samples)]
WITH_TREE = [name for name, info in BASELINES.items() if hasattr(info.load(), "topic_tree")]
N_DOCUMENTS = 48


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A CSV file with all that can be known of a document."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("line") / "documents.csv"
    with open(path, "w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["key", "headline", "body", "kind", "when", "cites", "party", "score"])
        for number in range(N_DOCUMENTS):
            kind = list(KINDS)[number % 3]
            body = "\n\n".join(" ".join(rng.choice(KINDS[kind].split(), 8)) for _ in range(2))
            date = f"{1990 + number % 8}-0{1 + number % 9}-11"
            cites = f"d{(number + 3) % N_DOCUMENTS};d{(number + 6) % N_DOCUMENTS}"
            rows.writerow([f"d{number}", f"About {kind} {number}", body, kind, date, cites, "ab"[number % 2], number])
    return path


COLUMNS = {
    "text": "body",
    "id": "key",
    "title": "headline",
    "labels": "kind",
    "timestamp": "when",
    "links": "cites",
    "separator": ";",
}
WORDS = [word for name, column in COLUMNS.items() for word in (f"--{name}", column)]


@pytest.fixture(scope="module")
def corpus(file):
    return Corpus.read(file, **COLUMNS, metadata=["party", "score"], segments="paragraphs", keep_texts=True)


def make(name):
    if name in MODELS:
        return MODELS[name].make_small(3)
    return BASELINES[name].make(3, random_state=0, **QUICK.get(name, {}))


@pytest.fixture(scope="module")
def fitted(corpus):
    made = {}

    def one(name):
        if name not in made:
            made[name] = make(name).fit(corpus)
        return made[name]

    return one


EVERY = pytest.mark.parametrize("name", [*MODELS, *WITH_TREE])
OURS = pytest.mark.parametrize("name", MODELS)


def test_the_baselines_with_topics_have_a_tree():
    assert WITH_TREE == ["GibbsLDA", "HLDA", "NMF", "KMeans"]


@EVERY
def test_tree_and_tables(name, fitted, corpus):
    tree = fitted(name).topic_tree(corpus)
    lowest = int(tree.at_lowest_level.sum())
    assert tree.document_ids == corpus.ids
    assert tree.titles == corpus.titles
    topics = tree.topic_table()
    assert len(topics) == len(tree)
    assert topics.loc[tree.children()[0], "documents"][0].startswith("About ")
    documents = tree.document_table(corpus)
    assert {"title", "topic", "name", "probability", "labels", "timestamp", "party", "score"} <= set(documents.columns)
    assert tree.group_table(corpus).shape == (3, 1 + lowest)
    assert tree.group_table(corpus, by="party").shape == (2, 1 + lowest)
    times = tree.time_table(corpus)
    assert times.shape == (8, 1 + lowest)
    over_time = topics_over_time(fitted(name), corpus)
    assert np.allclose(over_time.share, times.iloc[:, 1:].to_numpy())
    if tree.exclusive:
        assert over_time.share.sum(axis=1) == pytest.approx(np.ones(8), abs=1e-4)


@EVERY
def test_search_finds_words_and_subjects(name, fitted, corpus):
    hits = search(fitted(name), corpus, "moon comet", n=5)
    assert all(hit.title.startswith("About sky") for hit in hits)
    assert hits[0].words == ("comet", "moon")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@EVERY
def test_report_and_summary(name, fitted, corpus, tmp_path):
    model = fitted(name)
    report = build_report(model, corpus, name="line")
    assert report.data["model"]["name"] == name
    assert len(report.data["topics"]) == len(model.topic_tree(corpus))
    assert report.data["documents"]["title"][0] == "About animals 0"
    assert report.data["time"]["by"] == "year"
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!")
    summary = model.summary()
    assert summary.n_documents == N_DOCUMENTS
    assert summary.ending in ("converged", "stopped at max_iter", "sampling finished")
    assert ("sampling" in summary.ending) == (name in SAMPLERS)


@EVERY
def test_scores_say_what_they_count(name, fitted, corpus):
    model = fitted(name)
    assert model.score(corpus) < 0
    assert model.score_unit in ("nats per document", "nats per token")


@OURS
def test_files_and_changed_trees(name, fitted, corpus, tmp_path):
    model = fitted(name)
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    tree = loaded.topic_tree(corpus)
    assert str(tree) == str(model.topic_tree(corpus))
    lowest = tree.ids[tree.at_lowest_level].tolist()
    changed = tree.merge(lowest[:2], "merged").rename({lowest[2]: "renamed"})
    changed.save(tmp_path / "t.safetensors")
    again = TopicTree.load(tmp_path / "t.safetensors")
    assert build_report(again, corpus, name="x").to_json() == build_report(changed, corpus, name="x").to_json()
    new = loaded.topic_tree(corpus.subset([5, 1, 9]))
    assert again.memberships_of(new).shape == (3, len(again))


@pytest.fixture(scope="module")
def run():
    def command(capsys, *words, code=0):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert ended.value.code == code, err
        assert "Traceback" not in err
        return out

    return command


@OURS
def test_every_command(name, file, run, capsys, tmp_path):
    info = MODELS[name]
    values = {**dict.fromkeys(info.sizes, 3), **info.quick}
    parameters = [word for key, value in values.items() for word in ("-p", f"{key}={value}")]
    segments = ["--segments", "paragraphs"] if info.takes_segments else []
    model, saved = tmp_path / "m.safetensors", tmp_path / "c.safetensors"
    read = [file, *WORDS, *segments]
    page = tmp_path / "fit.html"
    places = ["--out", model, "--corpus-out", saved, "--report", page]
    printed = run(capsys, "fit", *read, "--metadata", "party,score", "--model", name.lower(), *parameters, *places)
    assert printed == run(capsys, "show", model)
    assert list(Corpus.load(saved).metadata) == ["party", "score"]
    shown = json.loads(run(capsys, "show", model, "--json"))
    assert "About" in run(capsys, "show", model, "--topic", shown["topics"][0]["id"])
    table = list(csv.reader(io.StringIO(run(capsys, "assign", model, file, "--text", "body", "--id", "key"))))
    assert table[0][:4] == ["id", "topic", "name", "probability"]
    assert len(table) == 1 + N_DOCUMENTS
    found = run(capsys, "search", model, file, *WORDS, "moon comet", "-n", "3")
    assert all("About sky" in line and "(comet, moon)" in line for line in found.splitlines())
    scored = run(capsys, "score", model, file, "--text", "body", "--id", "key", *segments)
    assert re.match(rf"log-likelihood {info.score_unit.removeprefix('nats ')}  -\d", scored)
    first, second = [topic["id"] for topic in shown["topics"] if topic["level"] == 1][:2]
    tree = tmp_path / "t.safetensors"
    run(capsys, "tree", model, "--merge", f"{first},{second}", "--out", tree)
    n_topics = len(shown["topics"])
    assert run(capsys, "show", tree).startswith(f"{n_topics - 1} topics")
    run(capsys, "assign", model, file, "--text", "body", "--id", "key", "--tree", tree, "--out", tmp_path / "a.jsonl")
    assert len((tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()) == N_DOCUMENTS
    run(capsys, "explore", model, *read, "--tree", tree, "--out", tmp_path / "e.html")
    run(capsys, "explore", model, saved, "--out", tmp_path / "s.html")
    tried = info.sizes[0] if info.sizes else info.steps
    grid = [word for key, value in {**values, tried: [2, 3]}.items() for word in ("-p", f"{key}={value}")]
    chosen = run(capsys, "select", *read, "--model", name.lower(), *grid, "--splits", "2", "--seeds", "1")
    assert "recommended" in chosen or "score" in chosen

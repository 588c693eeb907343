"""Experiments on what the package recommends: sizes, words, coherence."""

import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import run_with_results

from experiments import Method, load_experiment
from experiments.choosing import graph_weight, number_of_topics, starts, topic_ratings, word_rankings
from experiments.few_labels import Documents

PUBLISHED = {"c_npmi_10_full": 0.1, "c_v_full": 0.2, "u_mass_full": -1.0}


def planted(n_documents=240, n_groups=4):
    """Counts with a block of words for each group, and the groups."""
    rng = np.random.default_rng(0)
    groups = np.arange(n_documents) % n_groups
    rates = np.where(np.arange(10 * n_groups) // 10 == groups[:, None], 1.0, 0.05)
    return sp.csr_array(rng.poisson(rates)), groups


def test_what_select_recommends_is_measured(monkeypatch):
    counts, groups = planted()
    texts = number_of_topics.Texts(counts, groups.astype(str), None, 1)
    sizes = (2, 4, 20)
    monkeypatch.setattr("topicfold.analysis.selection.SIZES", sizes)
    monkeypatch.setattr("topicfold.models.em.number_of_topics.SIZES", sizes)
    monkeypatch.setattr(number_of_topics, "CONSTANTS", sizes)
    found = number_of_topics.measure(
        {"demo": texts}, Method("select, LDA", "LDA"), {"corpus": "demo"}, 0, {"documents": 200}
    )
    assert found["classes"] == 4
    assert found["topics"] == 4
    assert found["useful"]
    assert found["nmi"] == found["best nmi"]
    assert found["nmi"] > 0.9
    assert found["likeliest nmi"] <= found["best nmi"]
    assert (found["auto topics"], found["earlier topics"]) == (4, 4)
    assert found["always 20 nmi"] < found["best nmi"]
    assert found["one topic"] < found["score"]


@pytest.mark.parametrize(("name", "estimator"), [("LDA", "LDA"), ("k-means on LSI", "LSI")])
def test_starts_are_measured_on_known_classes(name, estimator):
    counts, groups = planted()
    data = {"demo": starts.Classified(counts, groups)}
    setting, protocol = {"corpus": "demo", "n_topics": 4}, {"documents": 200, "test share": 0.1}
    measured = starts.measure(data, Method(name, estimator), setting, 0, protocol)
    assert measured["nmi"] > 0.9
    assert measured.get("perplexity", 1.0) < 40
    assert ("perplexity" in measured) == (estimator == "LDA")


def test_methods_are_compared_with_lda_over_all_settings():
    def row(method, **figures):
        return {"method": method, "measures": {name: {"mean": value, "n": 1} for name, value in figures.items()}}

    results = [row("LDA", nmi=0.5, perplexity=100, cpu=2), row("NMF", nmi=0.4, cpu=1)]
    results += [row("LDA", nmi=0.3, perplexity=400, cpu=4), row("NMF", nmi=0.6, cpu=8)]
    lines = starts.means({"results": [*results, {"method": "LTM", "measures": {}}]})
    assert lines[-2:] == ["| LDA | 0.400 | - | 1.00 | 1.00 |", "| NMF | 0.500 | 1 of 2 | - | 1.00 |"]


def test_documents_without_a_class_or_a_word_are_left_out(tmp_path):
    folder = tmp_path / "short_stackoverflow"
    folder.mkdir()
    rows = [
        {"id": str(row), "text": f"{word} and more {word}", "labels": [word]}
        for row, word in enumerate(["cat", "dog"] * 9)
    ]
    rows += [{"id": "empty", "text": "", "labels": ["cat"]}, {"id": "unknown", "text": "cat", "labels": []}]
    with gzip.open(folder / "docs.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    counts, labels = starts.classified("short_stackoverflow", tmp_path)
    assert counts.shape[0] == len(labels) == 18
    assert labels.tolist() == [0, 1] * 9


def test_some_classes_of_a_corpus():
    counts, groups = planted()
    whole = number_of_topics.Texts(counts, groups.astype(str), tuple(map(str, groups)), 1)
    part = number_of_topics.some_classes(whole, 2, seed=0)
    assert part.counts.shape == (120, 40)
    assert len(set(part.labels)) == 2
    assert list(part.labels) == list(part.texts)
    few = number_of_topics.measure({}, Method("select, LTM", "LTM"), {"corpus": "demo, 15 classes"}, 0, {})
    assert few == {}  # only for LDA
    assert number_of_topics.measure({}, Method("select, LTM", "LTM"), {"corpus": "demo"}, 1, {}) == {}  # one draw


def test_a_corpus_without_texts_has_nothing_for_bertopic():
    assert number_of_topics.measure({}, Method("BERTopic"), {"corpus": "cora"}, 0, {}) == {}


def test_a_useful_number_is_near_the_classes_or_near_the_best():
    assert number_of_topics.useful(5, 10, 0.1, 0.9)
    assert number_of_topics.useful(50, 10, 0.88, 0.9)
    assert not number_of_topics.useful(4, 10, 0.8, 0.9)


def test_the_page_compares_rules_and_models():
    figures = {"classes": 8, "topics": 10, "nmi": 0.5, "best nmi": 0.6, "edge": 0, "cpu": 9, "one fit": 1, "useful": 1}
    figures |= {"auto cpu": 2, "one topic": -7.0}
    for rule in (rule for rule in number_of_topics._RULES if rule):
        figures |= {f"{rule} topics": 80, f"{rule} nmi": 0.4, f"{rule} useful": 0}
    figures |= {"stablest topics": 5, "stablest nmi": 0.3}
    cells, results = [], []
    for corpus in ("demo", "cora"):
        for number, model in enumerate(number_of_topics.MODELS):
            mine = figures | {"score": -6.0 - number}
            row = {"method": f"select, {model}", "setting": {"corpus": corpus}}
            cells += [{**row, "error": None, "measures": mine}, {**row, "error": None, "measures": {}}]
            results.append({**row, "measures": {name: {"mean": value} for name, value in mine.items()}})
    text = "\n".join(number_of_topics.comparison({"cells": cells, "results": results}))
    likeliest = "80, 0.400 | 80, 0.400 | 80, 0.400"
    assert (
        f"| demo | 8 | 10, 0.500 | 0.600 | {likeliest} | 5, 0.300 | 0.400 | 0.400 | - | 0% | 9, 2.0, 1.0, - |" in text
    )
    assert "Out of 2 runs on the corpora that the rule was settled on:" in text
    assert "| recommended | 2 | 0.100, 0.100 |" in text
    assert "| most stable | 0 | 0.300, 0.300 |" in text
    assert "that of this one on 2 of 2" in text


def test_weights_are_measured_on_words_and_on_citations():
    counts, groups = planted()
    texts = number_of_topics.Texts(counts, groups, None, 1)
    links = sp.csr_array((groups[:, None] == groups) & ~np.eye(len(groups), dtype=bool)).astype(float)
    data = {"agnews": texts, "cora": (Documents(counts, groups), links)}
    chosen = Method("chosen", "LTM", {"graph_weight": "auto"})
    for setting in ({"corpus": "agnews", "graph": "words"}, {"corpus": "cora", "graph": "citations"}):
        found = graph_weight.measure(data, chosen, setting, 0, {"documents": 200})
        assert found["nmi"] > 0.9
        assert found["weight"] in graph_weight.WEIGHTS_WITH_PRIOR
    fixed = graph_weight.measure(data, Method("weight 3", "LTM", {"graph_weight": 3.0}), setting, 0, {"documents": 200})
    assert fixed["weight"] == 3


def test_the_page_says_what_each_weight_loses():
    pairs = {("cora", "citations"): {"weight 0": 0.3, "weight 10": 0.5, "chosen": 0.48}}
    pairs[("agnews", "words")] = {"weight 0": 0.55, "weight 10": 0.5, "chosen": 0.56}
    cells, results = [], []
    for (corpus, graph), reached in pairs.items():
        for method, value in reached.items():
            row = {"method": method, "setting": {"corpus": corpus, "graph": graph}}
            cells += [{**row, "error": None, "measures": {"weight": weight}} for weight in (3.0, 0.0)]
            results.append({**row, "measures": {"nmi": {"mean": value, "n": 2}}})
    text = "\n".join(graph_weight.losses({"cells": cells, "results": results}))
    assert "| cora | citations | 0.300 | 0.500 | 0.480 | 0, 3 | 0.020 |" in text
    assert "| agnews | words | 0.550 | 0.500 | 0.560 | 0, 3 | -0.010 |" in text
    assert "| **mean lost** | | 0.100 | 0.025 | 0.005 | | |" in text
    assert "| **most lost** | | 0.200 | 0.050 | 0.020 | | |" in text


def test_rankings_of_one_fit():
    counts, _ = planted()
    texts = word_rankings.Texts(counts, np.arange(counts.shape[1]))
    words = np.concatenate([np.tile(np.arange(10 * group, 10 * group + 10), 30) for group in range(4)])
    data = word_rankings.Data({"demo": texts}, (words, np.arange(0, 1201, 300)))
    setting, found = {"corpus": "demo", "n_topics": 4}, {}
    for method in load_experiment("word-rankings").methods:
        found[method.name] = word_rankings.measure(data, method, setting, 0, {})
    for name, figures in found.items():
        assert set(figures) == {"c_v", "c_npmi", "inside", "diversity"}, name
    assert found[word_rankings.DEFAULT]["diversity"] == 1
    assert found[word_rankings.DEFAULT]["c_npmi"] > 0.9  # the words of a block are always together there
    assert found[word_rankings.DEFAULT]["inside"] > 0


def test_measures_and_judgements(tmp_path, monkeypatch):
    good = {"words": ["sun", "moon", "star", "sky"], "rating": 3.0}
    mixed = {"words": ["sun", "moon", "star", "cup"], "rating": 1.5}
    bad = {"words": ["sun", "moon", "tea", "cup"], "rating": 1.0}
    topics = [
        {
            "corpus": corpus,
            "words": topic["words"],
            "published": {**PUBLISHED, "ratings_scores_avg": topic["rating"], "intrusion_scores_avg": 0.5 + place / 10},
        }
        for corpus in ("wikitext", "nytimes")
        for place, topic in enumerate((good, mixed, bad))
    ]
    (tmp_path / "topic_ratings").mkdir()
    (tmp_path / "topic_ratings" / "topics.json").write_text(json.dumps(topics), encoding="utf-8")
    (tmp_path / "wikipedia_schools2007").mkdir()
    texts = ["the sun the moon a star in the sky"] * 3 + ["tea in a cup with milk"] * 3
    with gzip.open(tmp_path / "wikipedia_schools2007" / "docs.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    monkeypatch.setattr(topic_ratings, "embed", lambda words: np.eye(len(words)))
    experiment = load_experiment("topic-ratings")
    text, results = run_with_results("topic-ratings", experiment, data=tmp_path, out=tmp_path, quick=True)
    assert not results["failures"]
    found = {row["method"]: row["measures"] for row in results["results"]}
    assert found["c_npmi, 10 words"]["rating"]["mean"] == pytest.approx(1)
    assert found["published NPMI"]["rating"]["mean"] == 0  # the same for all
    assert "0.430" in text
    assert "(1) / 0.430" in text


def test_missing_data_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"topics\.json"):
        topic_ratings.prepare(tmp_path, {"topics": None})
    with pytest.raises(FileNotFoundError, match=r"docs\.jsonl\.gz"):
        word_rankings.reference_tokens(tmp_path, ["word"])

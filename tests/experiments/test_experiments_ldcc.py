"""The experiments on LDCC from end to end on small invented corpora, and the likelihoods they compare."""

import gzip
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import run_with_results
from scipy.special import gammaln

from experiments import Method
from experiments.ldcc import co_clustering as ldcc
from experiments.ldcc import left_to_right as ldcc_likelihood
from experiments.ldcc import overlapping_clusters as ldcc_clusters
from experiments.ldcc import segmented_data as ldcc_data
from experiments.ldcc import topic_lists as ldcc_topics
from experiments.ldcc.left_to_right import SegmentModel
from experiments.ldcc.segmented_data import NIPS, WIKIPEDIA, Texts
from topicfold import LDCC, Corpus
from topicfold.corpus.corpus import Segments
from topicfold.metrics.completion import BACKGROUND_WEIGHT, split_tokens

EXPERIMENTS = {one.name: one for module in (ldcc, ldcc_clusters, ldcc_topics) for one in module.EXPERIMENTS}
N_DOCUMENTS, KINDS, GROUPS = 60, 4, 4
FILTERS = {"least documents a word": 2, "least words a paragraph": 5, "least segments a document": 3}
SMALL = {**FILTERS, "documents": None, "sweeps": 30, "burn-in": 20, "lag": 5}
ESTIMATES = {"sampled documents": 4, "particles": 4, "moves": 3, "harmonic samples": 4, "harmonic burn-in": 10}
QUICK = {
    "ldcc-figure5": {**SMALL, **ESTIMATES, "document topics": KINDS, "tokens a segment": 40, "controls at": [8]},
    "ldcc-figure6": {**SMALL, **ESTIMATES, "document topics": KINDS, "tokens a segment": 40, "word topics": 6},
    "ldcc-table2": {**SMALL, "word topics": 6, "first paragraphs": 6},
    "ldcc-topics": {
        **SMALL,
        "document topics": KINDS,
        "word topics": 6,
        "tokens a segment": 40,
        "first paragraphs": 6,
    },
}
SETTINGS = {"ldcc-figure5": ({"word topics": 6}, {"word topics": 8}), "ldcc-table2": ({"K": 4}, {"K": 6})}


def word(group, number):
    return "kmrt"[group] + "aeiou"[number % 5] + "bdgp"[number // 5] + "on"


def paragraphs(kinds, rng):
    """Of each paragraph one kind, which has two groups of words, and some words of all groups."""
    found = []
    for kind in kinds:
        groups = np.where(
            rng.random(30) < 0.1, rng.integers(GROUPS, size=30), (kind + rng.integers(2, size=30)) % GROUPS
        )
        found.append(" ".join(word(group, number) for group, number in zip(groups, rng.integers(20, size=30))))
    return found


def written(folder, records):
    folder.mkdir()
    (folder / "docs.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in records).encode()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    classes, records = [], []
    for row in range(N_DOCUMENTS):
        own = rng.permutation(KINDS)[: 1 + row % 2]
        classes.append(",".join(f"kind{kind}" for kind in sorted(own)))
        text = "\n\n".join([*paragraphs(rng.choice(own, 7), rng), "too short 12"])
        records.append({"id": row, "text": text, "labels": ["any"]})
    written(path / NIPS, records)
    written(path / WIKIPEDIA, records)
    lines = [f"{row}\tarticle\t{labels}\n" for row, labels in enumerate(classes)]
    (path / WIKIPEDIA / "ldcc_like_subset.tsv").write_text("id\tarticle\tlabels\n" + "".join(lines), encoding="utf-8")
    (path / WIKIPEDIA / "links.tsv.gz").write_bytes(gzip.compress(b"0\t1\n"))
    return path


def small_run(name, folder, out):
    experiment = EXPERIMENTS[name]
    small = replace(
        experiment, quick={**experiment.quick, **QUICK[name]}, settings=SETTINGS.get(name, experiment.settings)
    )
    with pytest.MonkeyPatch.context() as patch:
        if name == "ldcc-table2":
            patch.setattr(ldcc_clusters, "SETTINGS", small.settings)
        text, results = run_with_results(name, small, data=folder, out=out, quick=True)
    assert results["failures"] == []
    found = {}
    for row in results["results"]:
        place = found.setdefault(tuple(row["setting"].values()), {})
        place[row["method"]] = {key: value["mean"] for key, value in row["measures"].items()}
    return text, found


# ---- whole runs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_are_well_declared(name):
    experiment = EXPERIMENTS[name]
    assert {*experiment.quick, *QUICK[name]} <= {*experiment.protocol}
    assert {measure for _, _, measure in experiment.published} <= {*experiment.measures}


def test_figure5_sets_perplexities_of_both_side_by_side(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(ldcc, "EXPECTED", {8: 3.0})
    text, found = small_run("ldcc-figure5", folder, tmp_path)
    rows = found[6,]
    for method in ("LDCC", "LDA"):
        assert 20 < rows[method]["completion"] < 80  # a paragraph has two groups of twenty words
        assert rows[method]["left to right"] == pytest.approx(rows[method]["completion"], rel=0.2)
        assert rows[method]["fixed topics"] < rows[method]["completion"]
    assert rows["LDCC"]["completion"] < rows["LDA"]["completion"]
    assert rows[ldcc.LDA_OURS] == rows[ldcc.LDA_SEGMENTS] == {}
    assert {*found[8,][ldcc.LDA_OURS]} == {*ldcc.MEASURES}
    assert {*found[8,][ldcc.LDA_SEGMENTS]} == {"completion", "cpu"}
    assert "- Expected with word topics=8: LDCC's completion perplexity at least 3 % below LDA's" in text
    assert "| against LDA | word topics=6 | 2 | " in text
    assert (tmp_path / "ldcc-figure5-quick.png").stat().st_size > 10_000


def test_figure6_scores_the_same_tokens_for_every_training_size(folder, tmp_path):
    text, found = small_run("ldcc-figure6", folder, tmp_path)
    assert [*found] == [(share,) for share in ldcc.TRAINING]
    for method in ("LDCC", "LDA"):
        assert found[80,][method]["completion"] < found[10,][method]["completion"]
    assert "Expected" not in text
    assert (tmp_path / "ldcc-figure6-quick.png").stat().st_size > 10_000


def test_table2_tells_clusters_from_chance(folder, tmp_path):
    text, found = small_run("ldcc-table2", folder, tmp_path)
    rows = found[4,]
    assert rows["all in one"]["recall"] == 100
    assert rows["all in one"]["omega"] == pytest.approx(0, abs=0.02)
    assert rows["LDCC"]["omega"] > 0.4
    for name in ("random", "LDCC, shuffled"):
        assert abs(rows[name]["omega"]) < 0.1
    assert rows["LDCC, shuffled"]["overlap"] == rows["LDCC"]["overlap"] > 1.2
    for name in ("random", "k-means", "ITCC"):
        assert rows[name]["overlap"] == 1
    for name in ("LDA", "k-means", "ITCC", "MOC", "MOCC"):
        assert rows[name]["omega"] > 0.1
    assert "- F above all in one (" in text
    assert "looks like chance" in text


def test_topics_are_listed_and_drawn(folder, tmp_path):
    text, found = small_run("ldcc-topics", folder, tmp_path)
    for corpus in (NIPS, WIKIPEDIA):
        assert found[corpus,]["LDCC"]["used"] <= KINDS
        assert f"## {corpus}: compared with Figure" in text
        assert f"## {corpus}: document-topics" in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "% | " in line]
    assert len(rows) == 2 * 6
    assert all(len(line.split(" | ")[2].split()) >= 10 for line in rows)
    assert text.count("% of the segments)") == 2 * KINDS
    assert (tmp_path / "ldcc-topics-quick.png").stat().st_size > 10_000


# ---- data -----------------------------------------------------------------------------------------------------------

PROTOCOL = {**FILTERS, "documents": None, "test share": 0.2}


def corpus_of(*documents):
    return Corpus.from_texts(documents, segments="paragraphs")


def test_filters_leave_out_rare_words_short_paragraphs_and_short_documents():
    long = "aaa bbb ccc aaa bbb"
    once = "ddd aaa bbb ccc aaa bbb"
    corpus = corpus_of(
        f"{long}\n\naaa bbb\n\n{once}\n\n{long}",
        f"{long}\n\n{long}\n\neee aaa bbb aaa bbb\n\naaa fff bbb ggg hhh",
        f"{long}\n\n{long}",
        f"{long}\n\n{long}\n\n{long}\n\n{long} ccc",
    )
    found = ldcc_data.paper_filters(corpus, PROTOCOL)
    assert found.vocabulary == ("aaa", "bbb", "ccc")
    assert found.ids == ("0", "3")  # in document 1 paragraphs are too short without their rare words
    assert found.segments.documents.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert found.segments.counts.sum(axis=1).tolist() == [5, 5, 5, 5, 5, 5, 6]
    np.testing.assert_array_equal(found.counts.toarray(), [[6, 6, 3], [8, 8, 5]])
    first = ldcc_data.paper_filters(corpus, PROTOCOL, first=3)
    assert first.segments.documents.tolist() == [0, 0, 0, 1, 1, 1]
    assert first.counts.sum(axis=1).tolist() == [15, 15]


def test_neighbours_are_merged_within_a_document_to_about_the_size_wanted():
    sizes = np.array([40, 70, 60, 20, 100, 30, 90, 10, 200, 30])
    documents = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
    group = ldcc_data._merged(sizes, documents, 100)
    # 40 + 70 | 60 + 20, nearer than with 100 more | 100 ; 30 + 90, 10 joins ; 200, 30 joins
    assert group.tolist() == [0, 0, 1, 1, 2, 3, 3, 3, 4, 4]
    assert ldcc_data._merged(np.array([30, 20]), np.array([0, 1]), 100).tolist() == [0, 1]


def test_a_merged_corpus_keeps_its_tokens(folder):
    protocol = {**FILTERS, "tokens a segment": 70, "first paragraphs": 6}
    corpus = ldcc_data.read(NIPS, folder, protocol)
    parts = corpus.segments
    assert parts.counts.sum(axis=1).tolist() == [60, 60, 90] * N_DOCUMENTS  # 7 of 30: the last joins the one before
    np.testing.assert_array_equal(ldcc_data.by_document(parts.counts, corpus).toarray(), corpus.counts.toarray())
    assert {word(group, number) for group in range(GROUPS) for number in range(20)} == {*corpus.vocabulary}
    wikipedia = ldcc_data.read(WIKIPEDIA, folder, protocol)
    assert wikipedia.counts.sum(axis=1).tolist() == [180] * N_DOCUMENTS
    assert {len(labels) for labels in wikipedia.labels} == {1, 2}


def test_words_are_letters_of_ascii(folder):
    pattern = ldcc_data.TOKENS
    corpus = Corpus.from_texts(
        ["EM and the ML of it, na\u00efve nets: x1 net2 abc_d 1990 go ABC"],
        preprocessing=ldcc_data.load_benchmark(NIPS, folder, token_pattern=pattern, stop_words="english").preprocessing,
    )
    assert corpus.vocabulary == ("abc", "em", "ml", "nets")


def test_draws_nest_and_words_come_from_the_smallest_training_part():
    rng = np.random.default_rng(0)
    counts = sp.csr_array((rng.random((50, 30)) < 0.15).astype(np.int32))
    texts = Texts(Corpus(counts, tuple(f"w{c}" for c in range(30)), segments=Segments(counts, np.arange(50))))
    protocol = {**PROTOCOL, "documents": 40}
    small, large = (ldcc_data.cut(texts, 3, share, 0.2, protocol) for share in (0.2, 0.8))
    assert (len(small.train), len(large.train), len(large.test)) == (8, 32, 8)
    assert {*small.train.ids} < {*large.train.ids}
    assert small.test.ids == large.test.ids
    assert not {*large.train.ids} & {*large.test.ids}
    rows = [int(name) for name in small.train.ids]
    frequent = np.flatnonzero((counts[rows].toarray() > 0).sum(axis=0) >= 2)
    assert small.train.vocabulary == large.test.vocabulary == tuple(f"w{column}" for column in frequent)
    assert 0 < len(frequent) < 30
    other = ldcc_data.cut(texts, 4, 0.2, 0.2, protocol)
    assert other.test.ids != small.test.ids


# ---- completion -----------------------------------------------------------------------------------------------------


class Fixed:
    """A model with known topics, which gives every row an even mixture and remembers what it has seen."""

    def __init__(self, n_words):
        self.topic_word_ = np.random.default_rng(1).dirichlet(np.ones(n_words), 2)
        self.word_frequency_ = np.arange(1.0, n_words + 1)

    def transform(self, seen):
        self.seen = seen
        return np.full((seen.shape[0], 2), 0.5)


def test_every_method_is_asked_about_the_same_tokens(folder):
    corpus = ldcc_data.read(NIPS, folder, {**FILTERS, "tokens a segment": 40})
    model = Fixed(corpus.counts.shape[1])
    seen, held_out = split_tokens(corpus.segments.counts)
    share = (1 - BACKGROUND_WEIGHT) * model.topic_word_.mean(axis=0)
    frequency = (model.word_frequency_ + 1) / (model.word_frequency_ + 1).sum()
    expected = held_out.sum(axis=0) @ np.log(share + BACKGROUND_WEIGHT * frequency) / held_out.sum()
    assert ldcc.completion(Method(ldcc.LDA), model, corpus) == pytest.approx(expected)
    assert model.seen.shape == corpus.counts.shape
    np.testing.assert_array_equal(model.seen.toarray(), ldcc_data.by_document(seen, corpus).toarray())
    assert ldcc.completion(Method(ldcc.LDA_SEGMENTS), model, corpus) == pytest.approx(expected)
    np.testing.assert_array_equal(model.seen.toarray(), seen.toarray())


def test_ldcc_is_scored_on_the_same_tokens_too(folder):
    """With one word-topic nothing depends on the mixture, so LDCC and LDA have the same P of every token."""
    corpus = ldcc_data.read(NIPS, folder, {**FILTERS, "tokens a segment": 40})
    model = LDCC(2, 1, n_sweeps=3, burn_in=1, lag=1, random_state=0, verbose=False).fit(corpus)
    whole = LDCC(1, 1, n_sweeps=3, burn_in=1, lag=1, random_state=0, verbose=False).fit(replace(corpus, segments=None))
    found = ldcc.completion(Method(ldcc.LDCC), model, corpus)
    assert found == pytest.approx(ldcc.completion(Method(ldcc.LDA_OURS), whole, corpus), abs=1e-6)


# ---- left to right, and the harmonic mean ---------------------------------------------------------------------------

TOPIC_WORD = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]])
ALPHA = np.array([[0.4, 1.9], [1.2, 0.1], [0.7, 0.6]])
DELTA = 0.3
TOKENS, ENDS = np.array([0, 3, 3, 0, 1, 3]), np.array([2, 2, 6])  # the second segment is empty


def log_rising(start, counts):
    return gammaln(start + counts) - gammaln(start)


def joint(tokens, ends, alpha, topics, clusters):
    """log P(w, z, y) of one document, mixtures integrated out."""
    n_clusters = len(alpha)
    by_cluster = np.bincount(clusters, minlength=n_clusters)
    log = log_rising(DELTA, by_cluster).sum() - log_rising(n_clusters * DELTA, len(ends))
    for begin, end, k in zip([0, *ends[:-1]], ends, clusters):
        counts = np.bincount(topics[begin:end], minlength=2)
        log += log_rising(alpha[k], counts).sum() - log_rising(alpha[k].sum(), end - begin)
    return log + np.log(TOPIC_WORD[topics, tokens]).sum()


def states(tokens, ends, alpha):
    """All (topics, clusters), and the probability of each together with the tokens."""
    every = [
        (np.array(topics), np.array(clusters))
        for topics in product(range(2), repeat=len(tokens))
        for clusters in product(range(len(alpha)), repeat=len(ends))
    ]
    return every, np.exp([joint(tokens, ends, alpha, *state) for state in every])


@pytest.mark.parametrize("moves", [0, 2, 30])
@pytest.mark.parametrize(("alpha", "ends"), [(ALPHA, ENDS), (ALPHA[:1], ENDS[-1:])], ids=["LDCC", "LDA"])
def test_left_to_right_against_enumeration(moves, alpha, ends):
    n_particles = 50_000
    uniform = np.random.default_rng(0).random(len(TOKENS) * (1 + 2 * n_particles * (moves + 1)) + 3 * n_particles)
    word_topic = np.ascontiguousarray(TOPIC_WORD.T)
    arguments = (TOKENS, ends, word_topic, alpha, DELTA, n_particles, moves, uniform)
    expected = np.log(states(TOKENS, ends, alpha)[1].sum())
    assert ldcc_likelihood.left_to_right_segments(*arguments) == pytest.approx(expected, abs=0.02)


def test_left_to_right_is_exact_for_one_token_and_does_without_bias_for_few_particles():
    word_topic = np.ascontiguousarray(TOPIC_WORD.T)
    rng = np.random.default_rng(0)
    one = ldcc_likelihood.left_to_right_segments(
        TOKENS[:1], ENDS[:1] - 1, word_topic, ALPHA, DELTA, 1, 2, rng.random(20)
    )
    assert one == pytest.approx(np.log(states(TOKENS[:1], [1], ALPHA)[1].sum()))
    logs = [
        ldcc_likelihood.left_to_right_segments(TOKENS, ENDS, word_topic, ALPHA, DELTA, 2, 1, rng.random(100))
        for _ in range(20_000)
    ]
    values = np.exp(logs)
    exact = states(TOKENS, ENDS, ALPHA)[1].sum()
    assert abs(values.mean() - exact) < 4 * values.std() / np.sqrt(len(values))


def test_log_likelihood_of_a_corpus_takes_segments_by_their_document():
    counts = sp.csr_array(np.array([[2, 0, 0, 1], [0, 0, 1, 2], [1, 1, 0, 0]], np.int32))
    corpus = Corpus(ldcc_data._summed(counts, np.array([0, 0, 1])), segments=Segments(counts, np.array([0, 0, 1])))
    protocol = {"particles": 3000, "moves": 3}
    rows = [(np.array([0, 0, 3, 2, 3, 3]), [3, 6]), (np.array([0, 1]), [2])]
    exact = sum(np.log(states(tokens, ends, ALPHA)[1].sum()) for tokens, ends in rows)
    model = SegmentModel(TOPIC_WORD, ALPHA, DELTA, whole=False)
    found = ldcc_likelihood.left_to_right_log_likelihood(model, corpus, 0, protocol)
    assert found == pytest.approx(exact / 8, abs=0.01)
    exact = sum(np.log(states(tokens, ends[-1:], ALPHA[:1])[1].sum()) for tokens, ends in rows)
    model = SegmentModel(TOPIC_WORD, ALPHA[:1], 1.0, whole=True)
    found = ldcc_likelihood.left_to_right_log_likelihood(model, corpus, 0, protocol)
    assert found == pytest.approx(exact / 8, abs=0.01)


def test_drawn_states_have_their_posterior():
    every, chance = states(TOKENS, ENDS, ALPHA)
    expected = {
        (*topics.tolist(), *clusters.tolist()): p for (topics, clusters), p in zip(every, chance / chance.sum())
    }
    rng = np.random.default_rng(0)
    topic, cluster = np.zeros(len(TOKENS), np.int64), np.zeros(len(ENDS), np.int64)
    found = dict.fromkeys(expected, 0.0)
    n_draws, lag = 20_000, 3
    for _ in range(n_draws):
        uniform = rng.random(lag * (len(TOKENS) + len(ENDS)))
        ldcc_likelihood.draw_states(
            TOKENS, ENDS, np.ascontiguousarray(TOPIC_WORD.T), ALPHA, DELTA, topic, cluster, lag, uniform
        )
        found[*topic.tolist(), *cluster.tolist()] += 1 / n_draws
    difference = sum(abs(found[state] - expected[state]) for state in expected) / 2
    assert difference < 0.08  # of 864 states; independent draws have about 0.06
    for place in range(len(TOKENS) + len(ENDS)):
        for value in range(3):
            pair = [sum(p for state, p in one.items() if state[place] == value) for one in (found, expected)]
            assert pair[0] == pytest.approx(pair[1], abs=0.02)


def test_equation_6_is_the_chain_rule_of_words_given_topics():
    tokens, topics, beta = np.array([0, 3, 3, 1, 0]), np.array([0, 1, 1, 0, 1]), 0.2
    seen, log = np.zeros((2, 4)), 0.0
    for w, z in zip(tokens, topics):
        log += np.log((seen[z, w] + beta) / (seen[z].sum() + 4 * beta))
        seen[z, w] += 1
    assert ldcc_likelihood.word_likelihood(tokens, topics, (2, 4), beta) == pytest.approx(log)


def test_harmonic_means_with_one_topic_are_what_they_estimate():
    counts = sp.csr_array(np.array([[2, 0, 0, 1], [0, 0, 1, 2]], np.int32))
    corpus = Corpus(counts, segments=Segments(counts, np.arange(2)))
    model = SegmentModel(TOPIC_WORD[:1], np.array([[1.0], [2.0]]), DELTA, whole=False)
    protocol = {"harmonic samples": 3, "harmonic burn-in": 2, "harmonic lag": 1}
    first, second = ldcc_likelihood.harmonic_means(model, corpus, 0.2, 0, protocol)
    tokens = np.array([0, 0, 3, 2, 3, 3])
    assert first == pytest.approx(ldcc_likelihood.word_likelihood(tokens, np.zeros(6, int), (1, 4), 0.2) / 6)
    assert second == pytest.approx(np.log(TOPIC_WORD[0, tokens]).mean())


def test_the_smallest_sample_decides_a_harmonic_mean(monkeypatch):
    drawn = iter([-10.0, -50.0, -20.0])
    monkeypatch.setattr(ldcc_likelihood, "word_likelihood", lambda *arguments: next(drawn))
    counts = sp.csr_array(np.array([[1, 1, 0, 0]], np.int32))
    corpus = Corpus(counts, segments=Segments(counts, np.arange(1)))
    model = SegmentModel(TOPIC_WORD, ALPHA, DELTA, whole=False)
    protocol = {"harmonic samples": 3, "harmonic burn-in": 2, "harmonic lag": 1}
    first, _ = ldcc_likelihood.harmonic_means(model, corpus, 0.2, 0, protocol)
    assert first == pytest.approx((-50 + np.log(3)) / 2)


def test_fixed_topics_have_their_share_of_the_background():
    model = Fixed(4)
    model.alpha_ = np.array([0.3, 0.4])
    found = ldcc_likelihood.segment_model(model)
    background = np.array([2, 3, 4, 5]) / 14
    np.testing.assert_allclose(found.topic_word, 0.999 * model.topic_word_ + 0.001 * background)
    assert found.alpha.shape == (1, 2)
    assert found.whole


# ---- pages ----------------------------------------------------------------------------------------------------------


def cell(method, setting, seed, **measures):
    return {"method": method, "setting": setting, "seed": seed, "measures": measures}


def test_a_page_says_by_how_many_per_cent_and_whether_as_expected():
    setting = {"word topics": 50}
    logs = {"LDCC": (-7.0, -7.1), "LDA": (-7.04, -7.15)}
    cells = [
        cell(method, setting, seed, **{"log completion": value})
        for method, values in logs.items()
        for seed, value in enumerate(values)
    ]
    lines = ldcc.extra({"cells": cells, "results": [{"setting": setting}]})
    mean = 100 * np.mean(np.expm1([-0.04, -0.05]))
    row = next(line for line in lines if line.startswith("| against LDA | word topics=50 | 2 |"))
    assert row.split(" | ")[3].startswith(f"{mean:+.1f} (")
    assert lines[-1].endswith(f"It is {-mean:.1f} % below: as expected.")
    for one in cells:
        if one["method"] == "LDA":
            one["measures"]["log completion"] += 0.03
    assert ldcc.extra({"cells": cells, "results": [{"setting": setting}]})[-1].endswith("below: not as expected.")


def test_a_document_is_in_the_clusters_with_a_tenth_of_it_or_in_the_largest():
    share = np.array([[0.1, 0.85, 0.05], [0.04, 0.05, 0.91], [0.34, 0.33, 0.33]])
    found = ldcc_clusters.memberships(share, 0.1)
    assert found.tolist() == [[True, True, False], [False, False, True], [True, True, True]]
    assert ldcc_clusters.memberships(share, 0.95).sum(axis=1).tolist() == [1, 1, 1]


def test_the_topic_beside_one_of_the_paper_has_most_words_in_common():
    def name(kind, *values):
        return kind + json.dumps([*values])

    measures = {
        "npmi": 0.1,
        name(ldcc_topics.WORD_TOPIC, 0, ["neuron", "spike", "tree"]): 0.4,
        name(ldcc_topics.WORD_TOPIC, 1, ["neuron", "tree", "policy"]): 0.6,
        name(ldcc_topics.DOCUMENT_TOPIC, 0, [[1, 0.5], [0, 0.25]]): 0.3,
        name(ldcc_topics.DOCUMENT_TOPIC, 1, [[0, 0.75]]): 0.7,
    }
    lines = ldcc_topics.extra({"cells": [cell("LDCC", {"corpus": NIPS}, 0, **measures)]})
    beside = next(line for line in lines if line.startswith("| neuron neurons"))
    assert beside.endswith("| (0, 2 of 10) neuron spike tree |")
    assert next(line for line in lines if line.startswith("| rule rules")).endswith("| none has any of these words |")
    begin = lines.index("- document-topic 1 (70% of the segments)")
    assert lines[begin : begin + 5] == [
        "- document-topic 1 (70% of the segments)",
        "  - 0.75 (0) neuron spike tree",
        "- document-topic 0 (30% of the segments)",
        "  - 0.50 (1) neuron tree policy",
        "  - 0.25 (0) neuron spike tree",
    ]


def test_sides_of_the_picture_are_ordered_so_that_lines_need_not_cross():
    shown = {0: [(5, 1.0), (6, 1.0)], 1: [(3, 1.0), (4, 1.0)], 2: [(6, 1.0), (3, 1.0)]}
    left, right = ldcc_topics._untangled(shown)
    place = {topic: number for number, topic in enumerate(right)}
    lines = [(left.index(cluster), place[topic]) for cluster, linked in shown.items() for topic, _ in linked]
    assert not any((a - c) * (b - d) < 0 for a, b in lines for c, d in lines)

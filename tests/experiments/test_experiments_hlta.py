"""The experiments on HLTA from end to end on small invented corpora, and the likelihoods they compare."""

import gzip
import json
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import run_with_results
from invented_newsgroups import write_newsgroups
from scipy.special import gammaln

from experiments import Method, load_experiment, token_likelihood
from experiments.hlta import hierarchies as hlta
from experiments.hlta import presence_data as hlta_data
from experiments.hlta import presence_likelihood as hlta_likelihood
from experiments.hlta.presence_data import COUNTS, JACM, LDA_COUNTS, NEWSGROUPS, NIPS, Texts
from experiments.hlta.presence_likelihood import UNIGRAM
from topicfold.metrics.coherence import coherence

N_DOCUMENTS, GROUPS, GROUP = 120, 6, 6
MIN_DF = dict.fromkeys((JACM, NIPS, NEWSGROUPS), 2)
SMALL = {"min_df": MIN_DF, "documents": None}
SWEEPS = {"LDA sweeps": 20, "HLDA sweeps": 20}
QUICK = {
    "hlta-table7": {**SMALL, **SWEEPS, "seeds": 2, "words": {NIPS: 36}},
    "hlta-table8": {
        **SMALL,
        **SWEEPS,
        "seeds": 2,
        "words": {JACM: None, NIPS: 36, NEWSGROUPS: 40},
        "particles": 3,
        "prior draws": 50,
    },
    "hlta-tables": {**SMALL, "words": {NIPS: 36}},
    "hlta-bi": {**SMALL, "words": {JACM: None, NIPS: 30, NEWSGROUPS: 40}},
    "hlta-emission": {**SMALL, "words": {NIPS: 36, NEWSGROUPS: 40}},
}
FEW = {"LDA sweeps": 20, "HLDA sweeps": 20, "particles": 3, "moves": 30, "groups": 10, "prior draws": 50}


def block_counts(seed=0):
    """Documents with some of six groups of six words, and few other words: a tree with six latents would do."""
    rng = np.random.default_rng(seed)
    has = rng.random((N_DOCUMENTS, GROUPS)) < 0.35
    probability = np.where(np.repeat(has, GROUP, axis=1), 0.75, 0.05)
    return (rng.random(probability.shape) < probability) * rng.integers(1, 4, probability.shape)


def words_of_blocks():
    return [f"{'abcdef'[column // GROUP]}{column % GROUP}" for column in range(GROUPS * GROUP)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    write_newsgroups(path)
    for seed, (name, records) in enumerate({JACM: "docs.jsonl.gz", NIPS: "docs_meta_abstracts.jsonl.gz"}.items()):
        (path / name).mkdir()
        sp.save_npz(path / name / "counts.npz", sp.csr_matrix(block_counts(seed).astype(np.int32)))
        (path / name / "vocab.txt").write_text("".join(f"{word}\n" for word in words_of_blocks()), encoding="utf-8")
        lines = "".join(json.dumps({"id": str(row), "text": ""}) + "\n" for row in range(N_DOCUMENTS))
        (path / name / records).write_bytes(gzip.compress(lines.encode()))
    (path / NIPS / "labels.txt").write_text("any\n" * N_DOCUMENTS, encoding="utf-8")
    (path / NIPS / "citations.tsv").write_text("", encoding="utf-8")
    return path


def small_run(name, folder, out):
    experiment = load_experiment(name)
    small = replace(experiment, quick={**experiment.quick, **QUICK[name]})
    text, results = run_with_results(name, small, data=folder, out=out, quick=True)
    assert results["failures"] == []
    found = {}
    for row in results["results"]:
        place = found.setdefault(tuple(row["setting"].values()), {})
        place[row["method"]] = {key: value["mean"] for key, value in row["measures"].items()}
    return text, found


# ---- whole runs -----------------------------------------------------------------------------------------------------


def test_table7_sets_as_many_topics_of_lda_beside(folder, tmp_path):
    text, found = small_run("hlta-table7", folder, tmp_path)
    rows = found[4,]
    assert rows["HLTA"]["topics"] >= GROUPS - 1
    assert rows["LDA"]["topics"] == rows["LDA, presence"]["topics"] == rows["HLTA"]["topics"]
    assert rows["HLDA-s"]["topics"] == min(rows["HLDA"]["topics"], rows["HLTA"]["topics"])
    levels = [rows[f"HLTA, level {level}"].get("topics", 0) for level in hlta.LEVELS]
    assert sum(levels) == rows["HLTA"]["topics"]
    assert rows["LDA"]["npmi"] != rows["LDA, words by information"]["npmi"]
    assert rows["HLTA"]["npmi"] > 0.2
    assert 0.25 < rows["HLTA"]["frequency"] < 0.35  # 0.35 of 0.75, and 0.65 of 0.05
    assert found[4,]["HLTA"]["coherence"] > -6  # words of one group, which go together
    assert "| HLTA - LDA | 2 |" in text
    assert "/ -5.89 |" in text


def test_table8_compares_on_one_sample_space(folder, tmp_path):
    text, found = small_run("hlta-table8", folder, tmp_path)
    for corpus in (JACM, NIPS):
        rows = found[corpus,]
        ours = rows["HLTA-3"]
        assert ours["own"] == ours["presence"] > rows["independent words"]["presence"] + 2
        assert ours["jointly"] >= ours["one by one"] - 0.5
        assert ours["one by one"] > rows["independent words"]["one by one"] + 1
        assert rows["LDA-20"]["own"] < rows["LDA-20"]["repeats"] < rows["LDA-20"]["presence"] < 0
        assert rows["LDA-20"]["one by one"] > rows["one topic"]["one by one"]
        assert set(rows["LDA-C-100"]) == {"own", "one by one"}
        assert set(rows[COUNTS]) == {"own", "one by one", "topics"}
        assert rows[COUNTS]["one by one"] > rows["independent words"]["one by one"]
    assert "must not be ranked" in text
    assert "/ -1229.0 |" in text


def test_tables_print_the_hierarchy(folder, tmp_path):
    text, found = small_run("hlta-tables", folder, tmp_path)
    rows = found[NIPS,]
    levels = [rows[f"level {level}"].get("topics", 0) for level in hlta.LEVELS]
    listed = [line for line in text.splitlines() if line.lstrip().startswith("- ") and "(level " in line]
    assert sum(levels) == rows["all levels"]["topics"] == len(listed)
    words = {line.split(") ")[1].split()[0][0] for line in listed if "(level 1," in line}
    assert words == set("abcdef")


def test_bi_and_pem_beat_independent_words(folder, tmp_path):
    text, found = small_run("hlta-bi", folder, tmp_path)
    assert set(found) == {(JACM,), (NIPS, 200), (NIPS,), (NEWSGROUPS,)}
    assert "## Paired differences, corpus=nips12, words=200" in text
    for corpus, rows in found.items():
        for method in ("pem", "bi"):
            assert rows[method]["own"] > rows["independent words"]["own"] + 2
            assert rows[method]["levels"] >= 1
            assert rows[method]["cpu"] > 0
            assert rows[method]["topics 4"] + rows[method]["left out 4"] >= (4 if corpus == (NEWSGROUPS,) else GROUPS)


def test_emissions_are_compared_by_hidden_words(folder, tmp_path):
    _, found = small_run("hlta-emission", folder, tmp_path)
    rows = found[NIPS,]
    for method in ("presence", "counts"):
        assert rows[method]["one by one"] > rows["independent words"]["one by one"] + 1
    assert "jointly" not in rows["counts"]


# ---- data and folds -------------------------------------------------------------------------------------------------


def test_folds_hold_every_document_out_once_and_choose_words_on_the_rest():
    counts = sp.csr_array(np.hstack([block_counts(), np.arange(1, N_DOCUMENTS + 1)[:, None]]))
    counts = sp.csr_array(sp.hstack([counts, sp.csr_array(np.eye(N_DOCUMENTS, 1, dtype=int))]))
    words = (*words_of_blocks(), "row", "rare")
    protocol = {"folds": 5, "min_df": {JACM: 1}}
    held_out, with_rare = [], 0
    for fold in range(5):
        part = hlta_data.cut(Texts(counts, words), JACM, fold, None, protocol)
        rows = part.test[:, part.words.index("row")].toarray().ravel() - 1
        if fold == 0:
            np.testing.assert_array_equal(rows, np.random.default_rng(0).permutation(N_DOCUMENTS)[-24:])
        held_out += rows.tolist()
        with_rare += "rare" in part.words
        assert (part.train.sum(axis=0) > 0).all()
    assert sorted(held_out) == list(range(N_DOCUMENTS))
    assert with_rare == 4


def test_words_are_chosen_by_mean_length_normalised_tfidf():
    counts = sp.csr_array(block_counts())
    dense = counts.toarray()
    frequency = (dense > 0).sum(axis=0)
    value = (dense / np.maximum(dense.sum(axis=1, keepdims=True), 1)).mean(axis=0) * np.log(N_DOCUMENTS / frequency)
    value[frequency < 30] = -1
    columns, words = hlta_data.chosen_columns(counts, words_of_blocks(), 10, 30)
    assert columns.tolist() == sorted(np.argsort(-value)[:10].tolist())
    assert list(words) == [words_of_blocks()[column] for column in columns]


def test_average_coherence_leaves_out_and_counts_short_topics():
    counts = sp.csr_array(block_counts())
    topics = [[0, 1, 2, 3, 4], [6, 7, 8], [12, 13, 14, 15]]
    found = hlta.average_coherence(topics, counts, 4)
    expected = coherence([[0, 1, 2, 3], [12, 13, 14, 15]], counts=counts, measure="u_mass").mean()
    assert found == {"topics": 2, "left out": 1, "coherence": pytest.approx(expected)}
    assert "coherence" not in hlta.average_coherence(topics, counts, 10)


@pytest.mark.parametrize("parameters", [{}, {"emission": "counts"}, {"method": "bi"}])
def test_all_words_below_a_topic_are_in_the_order_that_the_model_has_for_the_effective(parameters):
    counts = sp.csr_array(block_counts())
    model = hlta_data.fitted(Method("HLTA", "HLTA", {**parameters, "top_size": 2}), counts, 0, 0, {})
    every, effective = hlta.hlta_topics(model, "below"), hlta.hlta_topics(model, "effective")
    assert [level for level, _ in every] == model.topic_level_.tolist()
    assert max(model.topic_level_) > 1
    for (_, words), (_, few) in zip(every, effective, strict=True):
        assert [word for word in words if word in few] == few
    clusters = sorted(sorted(words) for words in model.word_clusters())
    lowest = {tuple(sorted(words)) for level, words in every if level == 1}
    assert sorted(map(list, lowest)) == clusters


# ---- likelihoods ----------------------------------------------------------------------------------------------------

TOPIC_WORD = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]])
ALPHA = np.array([0.4, 0.9])


def exact_sequence(tokens):
    """log P(tokens) of LDA: a sum over all ways to give them topics."""
    total = 0.0
    for topics in product(range(len(ALPHA)), repeat=len(tokens)):
        counts = np.bincount(topics, minlength=len(ALPHA))
        log = (
            gammaln(ALPHA.sum()) - gammaln(ALPHA.sum() + len(tokens)) + (gammaln(ALPHA + counts) - gammaln(ALPHA)).sum()
        )
        total += np.exp(log) * np.prod([TOPIC_WORD[z, w] for z, w in zip(topics, tokens)])
    return np.log(total)


@pytest.mark.parametrize("moves", [0, 2, 30])
def test_left_to_right_against_enumeration(moves):
    tokens = np.array([0, 3, 3, 0, 2, 3])
    n_particles = 20_000
    uniform = np.random.default_rng(0).random(len(tokens) * (1 + 2 * n_particles * (moves + 1)))
    word_topic = np.ascontiguousarray(TOPIC_WORD.T)
    found = token_likelihood.left_to_right(tokens, word_topic, ALPHA, n_particles, moves, uniform)
    assert found == pytest.approx(exact_sequence(tokens), abs=0.01)
    one = token_likelihood.left_to_right(tokens[:1], word_topic, ALPHA, 1, moves, uniform)
    assert one == pytest.approx(np.log(ALPHA / ALPHA.sum() @ TOPIC_WORD[:, 0]))


def test_chance_of_different_words_against_enumeration():
    weights = np.array([0.3, 0.7])
    found = np.exp(token_likelihood.log_distinct(weights, TOPIC_WORD, 4))
    for n in range(5):
        exact = [sum(np.prod(row[list(order)]) for order in permutations(range(4), n)) for row in TOPIC_WORD]
        assert found[n] == pytest.approx(weights @ exact)


def test_presence_of_a_token_model_sums_to_one_over_all_sets():
    sets = [chosen for n in range(5) for chosen in combinations(range(4), n)]
    documents = sp.csr_array(np.array([np.isin(np.arange(4), chosen) for chosen in sets]).astype(int))
    train = documents[[3, 5, 5, 9, 12, 15]]
    share = np.array([[0.4, 0.3, 0.2, 0.1]])
    model = token_likelihood.lda_model(share, np.ones(1), 0, FEW)
    lengths = np.diff(documents.indptr)
    logs = model.log_likelihood(documents) + gammaln(lengths + 1) + token_likelihood.log_length(train, documents)
    assert np.exp(logs).sum() < 0.9
    assert np.exp(logs - token_likelihood.log_distinct(*model.prior, 4)[lengths]).sum() == pytest.approx(1)
    method = Method(UNIGRAM)
    frequency = hlta_data.word_frequency(train)
    found = hlta_likelihood._token_scores(model, method, train, documents, frequency, 0, FEW)
    assert found["repeats"] == pytest.approx(logs.mean())
    assert found["presence"] == pytest.approx((logs - token_likelihood.log_distinct(*model.prior, 4)[lengths]).mean())


def test_expected_words_among_those_seen_are_as_many_as_there_are():
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.full(30, 0.5), 5)
    seen = np.arange(30) % 2 == 0
    n_seen = np.array([0, 1, 3, 7, 10])
    present = token_likelihood.presence_given_share(share, seen, n_seen)
    np.testing.assert_allclose(present[:, seen].sum(axis=1), n_seen, atol=1e-8)
    assert ((present >= 0) & (present <= 1)).all()


def test_every_document_is_asked_about_half_of_the_words_and_shown_the_other():
    test = hlta_data.presence(sp.csr_array(block_counts()))
    frequency = hlta_data.word_frequency(test)
    asked = []

    def probability(documents, seen):
        asked.append((documents.shape[0], seen))
        return frequency[None]

    found = hlta_likelihood.one_by_one(test, probability, frequency, 3, FEW)
    assert [n for n, _ in asked] == [12] * 10
    assert all(seen.sum() == 18 for _, seen in asked)
    assert len({seen.tobytes() for _, seen in asked}) == 10
    dense = test.toarray()
    logs = np.where(dense > 0, np.log(frequency), np.log1p(-frequency))
    expected = sum(logs[group::10][:, ~seen].sum() for group, (_, seen) in enumerate(asked)) / N_DOCUMENTS
    assert found == pytest.approx(expected)
    scores = hlta_likelihood.independent_scores(test, frequency, 3, FEW)
    assert scores == {
        "own": pytest.approx(logs.sum(axis=1).mean()),
        "repeats": scores["own"],
        "presence": scores["own"],
        "jointly": pytest.approx(expected),
        "one by one": scores["jointly"],
    }


def test_a_token_model_does_not_see_the_hidden_words():
    test = sp.csr_array(block_counts())
    train, seen_by_model = hlta_data.presence(test), []

    def word_share(documents):
        seen_by_model.append(documents)
        return np.full(documents.shape, 1 / documents.shape[1])

    uniform = np.full((1, test.shape[1]), 1 / test.shape[1])
    model = token_likelihood.TokenModel(lambda counts: np.zeros(counts.shape[0]), word_share, (np.ones(1), uniform))
    hlta_likelihood._token_scores(model, Method(LDA_COUNTS), train, test, hlta_data.word_frequency(train), 3, FEW)
    for documents, (shown, seen) in zip(seen_by_model, hlta_likelihood._halves(test, 3, FEW), strict=True):
        np.testing.assert_array_equal(documents.toarray(), shown.toarray() * seen)


def test_lda_scores_on_presence_and_counts():
    counts = sp.csr_array(block_counts())
    data = {JACM: Texts(counts, tuple(words_of_blocks()))}
    protocol = {**FEW, "folds": 5, "min_df": MIN_DF, "words": {JACM: None}, "LDA sweeps": 100, "HLDA sweeps": 20}
    found = {}
    for name, estimator in (("LDA-20", "GibbsLDA"), (LDA_COUNTS, "GibbsLDA"), ("HLDA", "HLDA"), (UNIGRAM, None)):
        found[name] = hlta_likelihood.measure_table8(data, Method(name, estimator), {"corpus": JACM}, 1, protocol)
    assert found["LDA-20"]["presence"] > found[UNIGRAM]["presence"] + 1
    assert found["LDA-20"]["one by one"] > found[UNIGRAM]["one by one"] + 1
    for name in ("LDA-20", "HLDA", UNIGRAM):
        assert found[name]["own"] < found[name]["repeats"] < found[name]["presence"] < 0
    assert set(found[LDA_COUNTS]) == {"own", "one by one"}
    assert found[LDA_COUNTS]["own"] < found["LDA-20"]["own"]  # there are more tokens


# ---- pages ----------------------------------------------------------------------------------------------------------


def test_the_topic_beside_one_of_the_paper_has_most_words_in_common():
    def name(topic, above, level, words):
        return hlta._TOPIC + json.dumps([topic, above, level, [[word, 0.5, 0.1] for word in words]])

    measures = {
        "topics": 3.0,
        name(7, -1, 2, ["boosting", "adaboost", "neuron"]): 0.2,
        name(3, 7, 1, ["adaboost", "boosting"]): 0.1,
        name(4, 7, 1, ["neuron", "spike"]): 0.15,
    }
    lines = hlta.extra_tables({"cells": [{"method": "all levels", "measures": measures}]})
    beside = next(line for line in lines if line.startswith("| Z156=S1"))
    assert beside.endswith("| 3 (level 1, 10%): adaboost 0.50 (0.10) boosting 0.50 (0.10) |")
    assert next(line for line in lines if line.startswith("| Z113=S1")).endswith("| none has any of these words |")
    assert lines[-3:] == [
        "- 7 (level 2, 20%) boosting adaboost neuron",
        "  - 4 (level 1, 15%) neuron spike",
        "  - 3 (level 1, 10%) adaboost boosting",
    ]


def test_the_paper_leaves_out_low_levels():
    chosen = {m: [level for level in range(1, 5) if hlta._levels(hlta.PAPER_LEVELS, m)(level)] for m in (4, 10)}
    assert chosen == {4: [2, 3, 4], 10: [3, 4]}
    assert [level for level in range(1, 5) if hlta._levels("HLTA, level 3", 4)(level)] == [3]
    assert hlta._levels("HLTA", 4)(1)

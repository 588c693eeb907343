"""Metadata in the prior of LDA: the prototype against the package, and the experiment on made-up corpora."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import run_with_results

from experiments import load_experiment
from experiments.effects import metadata_corpora, prevalence, prevalence_lda, prevalence_page
from experiments.effects.prevalence_lda import Prior
from topicfold.models.em.leave_one_out import document_prior, fold_in_shares, state_from
from topicfold.models.em.starts import start

EXPERIMENT = load_experiment("effects-prevalence")
TINY = {"seeds": 2, "parts": 2, "inner parts": 3, "documents": None, "min_df": 2, "max_df": 0.9, "steps": 10}
TINY |= {"first steps": 5, "tried steps": 5, "strengths": (1.0, 3.0), "ridges": (1.0, 1e4), "resamples": 50}


def drawn(n_documents=300, n_tokens=40, effect=4.0, seed=0):
    """Documents of three topics with words of their own; x decides how much there is of the first."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n_documents)
    shares = np.stack([np.exp(effect * x), np.full(n_documents, 2.0), np.full(n_documents, 2.0)], axis=1)
    theta = np.stack([rng.dirichlet(2 * row / row.sum()) for row in shares])
    words = np.kron(np.eye(3), np.full(8, 0.11)) + 0.005
    words /= words.sum(axis=1, keepdims=True)
    rows = [rng.multinomial(n_tokens, row) for row in theta @ words]
    return sp.csr_array(np.array(rows, np.float32)), (x[:, None] - x.mean()) / x.std(), x


def started(counts, n_topics=3):
    return state_from(counts, *start(counts, n_topics, "auto", np.random.RandomState(0), {}))


@pytest.mark.parametrize("n_tokens", [12, 80])  # with a main topic, and without
def test_metadata_that_says_nothing_is_lda(n_tokens):
    counts, _, _ = drawn(n_tokens=n_tokens)
    state, nothing = started(counts), np.zeros((300, 1))
    # the prior's shares are those of the last step as long as they are fitted anew at each
    ours = theirs = state
    for _ in range(8):
        ours = prevalence_lda.steps(counts, ours, 1, Prior(2.0, 1.0), nothing)
        theirs = prevalence_lda.steps(counts, theirs, 1, Prior(2.0))
    assert np.allclose(ours["word_topic"], theirs["word_topic"], atol=2e-4)
    same = np.tile(theirs["topic_share"], (300, 1))
    package = fold_in_shares(
        counts, prevalence_lda.topics_of(theirs), document_prior(2.0, theirs["topic_share"], 3.0), 1
    )
    assert np.allclose(prevalence_lda.fold_in(counts, theirs, 2.0, same), package, atol=1e-4)


def test_steps_leave_the_state_alone():
    counts, design, _ = drawn()
    state = started(counts)
    before = {name: array.copy() for name, array in state.items()}
    prevalence_lda.steps(counts, state, 2, Prior(1.0, 1.0), design)
    prevalence_lda.steps(counts, state, 2, Prior(1.0))
    assert all(np.array_equal(state[name], before[name]) for name in before)


def test_the_regression_is_the_frequency_of_each_group():
    counts, x = np.array([[6.0, 2.0], [4.0, 4.0], [1.0, 7.0], [0.0, 8.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    found = prevalence_lda.fit_coefficients(counts, x[:, None], 1e-9)
    assert np.allclose(
        prevalence_lda.shares_of(found, np.array([[0.0], [1.0]])), [[10 / 16, 6 / 16], [1 / 16, 15 / 16]], atol=1e-3
    )
    strong = prevalence_lda.fit_coefficients(counts, x[:, None], 1e9)
    assert np.allclose(prevalence_lda.shares_of(strong, x[:, None]), counts.sum(axis=0) / 32, atol=1e-3)


def test_an_empty_document_has_the_prior_of_its_metadata():
    counts, design, _ = drawn()
    state = prevalence_lda.steps(counts, started(counts), 20, Prior(2.0, 1.0), design)
    shares = prevalence_lda.shares_of(state["coefficients"], design)
    empty = sp.csr_array((300, counts.shape[1]), dtype=np.float32)
    assert np.allclose(prevalence_lda.fold_in(empty, state, 2.0, shares, focus=0.0), shares, atol=1e-5)
    first = np.argmax(np.ptp(shares, axis=0))  # the topic that x decides on
    assert shares[design[:, 0] > 0, first].mean() > shares[design[:, 0] < 0, first].mean() + 0.3


# ---- the experiment -------------------------------------------------------------------------------------------------


def planted_corpus(n_tokens=40):
    counts, _, x = drawn(400, n_tokens)
    columns = {"side": [str(value) for value in x], "number": [float(row) for row in range(400)]}
    designs = {"plain": ("side",), "finer": ("side", "number")}
    return metadata_corpora.WithMetadata(counts, columns, np.arange(400) // 2, designs)


@pytest.fixture(scope="module")
def planted_runs():
    data = prevalence.Data({"planted": planted_corpus()})
    protocol, setting = {**EXPERIMENT.protocol, **TINY}, {"corpus": "planted", "n_topics": 3}
    return {method.name: prevalence.measure(data, method, setting, 0, protocol) for method in EXPERIMENT.methods}


def test_metadata_that_matters_helps_most_where_little_is_observed(planted_runs):
    found = planted_runs[prevalence_page.IN_FIT[0]]
    assert found["gain nothing"] > found["gain 5 tokens"] > found["gain half"] - 1e-4
    assert found["gain 5 tokens"] > 5 * found["gain 5 tokens se"] > 0
    afterwards = planted_runs[prevalence_page.AFTER[0]]
    assert afterwards["gain nothing"] > 0.05
    assert found["beyond half"] == pytest.approx(found["half"] - afterwards["half"])
    assert found["gain half"] == pytest.approx(found["half"] - planted_runs["LDA"]["half"])


def test_metadata_of_other_documents_gains_nothing(planted_runs):
    found = planted_runs["shuffled metadata in the fit"]
    assert found["gain nothing"] < 0.01
    assert abs(found["gain half"]) < 0.005


def test_another_strength_is_not_metadata(planted_runs):
    found = planted_runs[prevalence_page.STRENGTH[0]]
    assert found["strength"] == planted_runs[prevalence_page.AFTER[0]]["strength"]
    assert found["gain nothing"] == pytest.approx(0, abs=1e-6)


def test_nothing_observed_is_no_better_than_the_unigram_without_metadata(planted_runs):
    assert planted_runs["LDA"]["nothing"] == pytest.approx(planted_runs["unigram"]["nothing"], abs=0.01)
    assert planted_runs["LDA"]["half"] > planted_runs["unigram"]["half"] + 0.3


def test_parts_keep_groups_whole_and_observed_tokens_are_not_predicted():
    corpus = planted_corpus()
    trial = prevalence.Trial(corpus, 3, 1, {**EXPERIMENT.protocol, **TINY})
    parts = trial.inner, trial.valid.rows, trial.test.rows
    assert sum(map(len, parts)) == 400
    groups = [set(corpus.groups[part]) for part in parts]
    assert len(set.union(*groups)) == sum(map(len, groups)) == 200
    for name, most in prevalence_page.OBSERVED.items():
        observed = trial.test.observed[name]
        assert ((observed + trial.test.predicted).toarray() <= trial.counts[trial.test.rows].toarray()).all()
        assert most is None or (observed.sum(axis=1) == most).all()


def test_designs_are_scaled_as_in_the_training_part():
    corpus = planted_corpus()
    train = np.arange(0, 400, 2)
    table = metadata_corpora.design_of(corpus, "finer", train, train)
    assert table.shape == (200, 2 + metadata_corpora.KNOTS + 1)
    assert np.allclose(table.mean(axis=0), 0)
    assert np.allclose(table.std(axis=0), 1)
    assert np.isfinite(metadata_corpora.design_of(corpus, "finer", train, np.array([399]))).all()


def test_a_document_may_have_several_levels_or_none():
    table = metadata_corpora._dummies([["usa"], ["uk", "usa"], [], ["rare"]], np.array([0, 1, 2]))
    assert table.tolist() == [[0, 1], [1, 1], [0, 0], [0, 0]]


def write_corpora(folder):
    """All three corpora in a few documents, as files."""
    rng = np.random.default_rng(0)
    counts, _, x = drawn(90, 30)
    for name in ("poliblog5k", "sotu", "reuters21578_raw"):
        (folder / name).mkdir()
    sp.save_npz(folder / "poliblog5k" / "counts.npz", counts.astype(np.int32))
    lines = [f'{"Liberal" if side else "Conservative"}\t{1 + 4 * row}\tb{row % 3}\t"a' for row, side in enumerate(x)]
    (folder / "poliblog5k" / "meta.tsv").write_text("\n".join(["rating\tday\tblog\ttext_begins", *lines]) + "\n")
    text = [" ".join(f"word{'abcdefghijklmnopqrstuvwxyz'[column]}" for column in row.indices) for row in counts]
    speeches = [
        {
            "year": 1900 + row,
            "party": f"p{side}",
            "president": f"q{row % 4}",
            "text": " ".join(rng.permutation(text[row].split() * 20)),
        }
        for row, side in enumerate(x[:20])
    ]
    news = [
        {
            "text": text[row],
            "places": ["usa"] if side else ["uk", "japan"],
            "labels": ["earn"] * int(side),
            "date": f"{1 + row % 28}-MAR-1987 1:00",
        }
        for row, side in enumerate(x)
    ] + [{"text": " ", "places": [], "labels": [], "date": "1-MAR-1987 1:00"}]
    for name, rows in (("sotu", speeches), ("reuters21578_raw", news)):
        with gzip.open(folder / name / "docs.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def test_the_whole_run_and_its_page(tmp_path):
    write_corpora(tmp_path)
    protocol = {**EXPERIMENT.protocol, **TINY}
    settings = tuple({"corpus": name, "n_topics": 3} for name in metadata_corpora.READERS)
    small = replace(EXPERIMENT, protocol=protocol, settings=settings)
    text, results = run_with_results("effects-prevalence", small, data=tmp_path, out=tmp_path / "out")
    assert not results["failures"]
    assert "| sotu | 3 | finer metadata in the fit | " in text
    assert "By this rule it **" in text
    assert len(metadata_corpora.read_reuters(tmp_path).columns["day"]) == 90  # the story without a body is left out
    speeches = metadata_corpora.read_sotu(tmp_path)
    assert len(np.unique(speeches.groups)) == 20 < len(speeches.groups)


@pytest.mark.parametrize("name", metadata_corpora.READERS)
def test_missing_files_are_named(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=name):
        metadata_corpora.READERS[name](tmp_path)


def made_up_results(gains):
    """Cells of one corpus for each row of gains over LDA, a split a value."""
    cells = []
    for number, row in enumerate(gains):
        for seed, gain in enumerate(row):
            setting = {"corpus": f"c{number}", "n_topics": 20}
            figures = {
                "unigram": {"half": -7.0},
                "LDA": {"half": -6.5},
                "LDA, defaults": {"half": -6.48},
                "metadata in the fit": {"half": -6.5 + gain},
            }
            figures["metadata in the fit"] |= {"gain half": gain, "gain half se": 0.001}
            cells += [
                {"setting": setting, "seed": seed, "method": method, "measures": measures, "error": None}
                for method, measures in figures.items()
            ]
    return {"cells": cells}


def test_a_gain_must_pass_both_intervals_on_every_corpus():
    sure, wide, small = (0.010, 0.011, 0.009), (0.03, 0.0, 0.001), (0.0005, 0.0005, 0.0005)
    assert "**wins**" in "\n".join(prevalence_page.conclusion(made_up_results([sure, sure])))
    for other in (wide, small, (-0.01, -0.01, -0.011), sure[:1]):
        page = "\n".join(prevalence_page.conclusion(made_up_results([sure, other])))
        assert "**does not win**" in page
        assert "| 1 of 2 |" in page
    page = "\n".join(prevalence_page.conclusion(made_up_results([sure])))
    # 4.303 x 0.001 / sqrt(3) over three splits; 1.96 x 0.001 / sqrt(3) by documents
    assert "| +0.0100 ± 0.0025, 0.0011 * |" in page
    assert "| 2.0 to 2.0 % |" in page
    assert "| c0 | 20 | LDA | -0.0200 ± 0.0000 | - |" in page
    assert "| c0 | 20 | metadata in the fit | -0.0100 ± 0.0025 | - |" in page

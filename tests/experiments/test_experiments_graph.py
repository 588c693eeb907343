"""The experiments on document graphs from end to end on small invented corpora, and what they share."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import run_with_results
from invented_newsgroups import write_newsgroups
from scipy.stats import ttest_1samp

from experiments import Method, few_labels, links, load_experiment
from experiments import grids as compare
from experiments.few_labels import Documents, labelled_rows
from experiments.grids import interval, paired_lines
from experiments.ltm import clusters as ltm

N_WORDS = 40
FEW = {"seeds": 2, "LDA sweeps": 30, "svm C": [1, 10]}
REUTERS = {"classes": 4, "documents": 64, "words": N_WORDS}
TDT2 = {**FEW, **REUTERS, "topics": 5, "labelled": [2, 6], "labelled of LTM with label": [6]}
SMALL = {
    "ltm-table1": {**REUTERS, "seeds": 2, "LDA sweeps": 30},
    "ltm-figure1": {**REUTERS, "seeds": 1},
    "ltm-table2": TDT2,
    "ltm-figure2": {**TDT2, "labelled": [6]},
    "dtm-figure1": {**FEW, "documents": 96, "words": 50, "documents a class": 16, "labelled": [1, 5]},
    "dtm-figure2": {**FEW, "documents": 48, "words": N_WORDS, "min_df": 2, "labelled": [1, 5]},
    "dtm-figure3": {**FEW, "documents": 96, "words": 50, "documents a class": 16},
    "links": {**FEW, "neighbours": 3, "labelled": 4, "topics": 6, "LSI dimensions": 8},
}
SETTINGS = {
    "ltm-table1": ({"k": 2}, {"k": 3}),
    "ltm-figure1": ({"k": 2},),
    "ltm-figure2": ({"n_topics": 4}, {"n_topics": 6}),
    "dtm-figure1": ({"n_topics": 4}, {"n_topics": 50}),
    "dtm-figure2": ({"n_topics": 4},),
    "dtm-figure3": ({"n_topics": 5},),
}


def block_counts(sizes, seed=0):
    """Classes with ten words of their own, and a third of the words from anywhere: (counts, class of each row)."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.zeros((len(classes), N_WORDS), np.int32)
    for row, number in enumerate(classes):
        own = 10 * number + rng.integers(0, 10, 14)
        np.add.at(counts[row], np.concatenate([own % N_WORDS, rng.integers(0, N_WORDS, 7)]), 1)
    return counts, classes


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_counts(folder, sizes, seed=0):
    """counts.npz; the classes are returned."""
    folder.mkdir()
    counts, classes = block_counts(sizes, seed)
    sp.save_npz(folder / "counts.npz", sp.csr_matrix(counts))
    return classes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    write_newsgroups(path)
    classes = write_counts(path / "reuters21578_cai", [16] * 4)
    write_lines(path / "reuters21578_cai" / "labels.txt", classes + 1)
    write_lines(path / "reuters21578_cai" / "split.txt", ["train"] * len(classes))
    write_lines(path / "reuters21578_cai" / "vocab_recovered.txt", [f"w{column}" for column in range(N_WORDS)])
    classes = write_counts(path / "tdt2_cai", [16] * 4)
    write_lines(path / "tdt2_cai" / "labels.txt", classes + 1)
    write_lines(path / "tdt2_cai" / "dates_top30.txt", ["1998-01-10"] * len(classes))
    classes = write_counts(path / "yahoo_kseries", [20, 20, 8, 16])  # the last is no entertainment
    write_lines(path / "yahoo_kseries" / "labels_k1a.txt", classes + 7)
    write_lines(path / "yahoo_kseries" / "labels_k1b.txt", np.where(classes < 3, 2, 1))
    for name in links.CORPORA:
        classes = write_counts(path / name, [15] * 3, seed=1)
        write_lines(path / name / "labels.txt", [-1, *classes[1:]] if name == "citeseer" else classes)
        chain = [(i, j) for i, j in pairwise(range(len(classes))) if classes[i] == classes[j]]
        write_lines(path / name / "links.tsv", [f"{i}\t{j}" for i, j in chain])
    return path


def small_run(name, folder, out, **changes):
    experiment = load_experiment(name)
    changes.setdefault("settings", SETTINGS.get(name, experiment.settings))
    small = replace(experiment, quick={**experiment.quick, **SMALL[name]}, **changes)
    text, results = run_with_results(name, small, data=folder, out=out, quick=True)
    assert results["failures"] == []
    if experiment.figure is not None:
        assert (out / f"{name}-quick.png").read_bytes().startswith(b"\x89PNG")
    found = {}
    for row in results["results"]:
        place = found.setdefault(tuple(row["setting"].values()), {})
        place[row["method"]] = {key: value["mean"] for key, value in row["measures"].items()}
    return text, found


# ---- whole runs -----------------------------------------------------------------------------------------------------


def test_table1_recovers_blocks_and_shows_means_and_differences(folder, tmp_path):
    text, found = small_run("ltm-table1", folder, tmp_path)
    assert found[2,]["majority"] == {"accuracy": 0.5, "nmi": 0.0, "largest": 1.0, "cpu": found[2,]["majority"]["cpu"]}
    for method in ("LTM (NMF start)", "LTM (auto weight)", "LapPLSI", "DTM", "NCut", "NMF", "PLSA (NMF start)"):
        assert found[3,][method]["accuracy"] > 0.9, method
        assert found[3,][method]["largest"] < 0.5
    assert "## Mean over k" in text
    mean = np.mean([found[k,]["LTM"]["accuracy"] for k in (2, 3)])
    assert f"| LTM | {mean:.3f} / 0.691 |" in text
    assert "| LTM - PLSA | 4 |" in text
    assert "in the paper: LTM > NMF > NCut > k-means > LDA > PLSA" in text


def test_figure1_has_both_sweeps(folder, tmp_path):
    methods = load_experiment("ltm-figure1").methods
    kept = tuple(m for m in methods if any(part in m.name for part in ("weight 10,", "p=3,", "1000, p=5,", "PLSA")))
    assert len(kept) == 7
    text, found = small_run("ltm-figure1", folder, tmp_path, methods=kept)
    assert found[2,]["LTM, weight 10, p=5, NMF start"]["accuracy"] > 0.9
    assert "LTM, weight 10, p=5, random start - LTM, weight 1000, p=5, random start" in text


def test_table2_errors_fall_with_labels(folder, tmp_path):
    text, found = small_run("ltm-table2", folder, tmp_path)
    rows = found["tdt2_cai",]
    assert set(rows["LTM with label"]) - {"2", "mean"} >= {"6"}
    assert rows["LTM with label"]["2"] is None  # only the published number
    for method in ("PLSA (NMF start)", "LTM (NMF start)", "LTM (auto weight)", "words, tf-idf"):
        assert rows[method]["6"] < 0.1, method
        assert rows[method]["mean"] == pytest.approx((rows[method]["2"] + rows[method]["6"]) / 2)
    assert rows["majority"]["6"] == pytest.approx(0.75)
    assert "Undecided about the order in the paper" in text


def test_figure2_says_what_is_least_sensitive(folder, tmp_path):
    experiment = load_experiment("ltm-figure2")
    text, found = small_run("ltm-figure2", folder, tmp_path, measures={"6": experiment.measures["10"]})
    assert found[6,]["LTM (weight 10)"]["6"] < 0.2
    assert "LTM changes less with the number of topics than: " in text


def test_dtm_figure1_separates_groups_from_few_labels(folder, tmp_path):
    text, found = small_run("dtm-figure1", folder, tmp_path)
    for method in ("DTM", "LTM", "LapPLSI", "NMF", "pLSA (NMF start)", "label propagation", "words, tf-idf"):
        assert found[4,][method]["5 labels"] > 0.9, method
    assert found[4,]["majority"]["1 label"] == 0.25
    assert found[4,]["words, tf-idf"] == found[50,]["words, tf-idf"]
    assert "## Paired differences, from 50 topics on" in text


def test_dtm_figure2_takes_entertainment_and_keeps_one_document_of_a_class(folder, tmp_path):
    text, found = small_run("dtm-figure2", folder, tmp_path)
    assert found[4,]["majority"]["5 labels"] == pytest.approx(15 / 33)
    assert found[4,]["DTM"]["5 labels"] > 0.85
    assert "from 50 topics on" not in text


def test_dtm_figure3_compares_with_the_defaults(folder, tmp_path):
    text, found = small_run("dtm-figure3", folder, tmp_path)
    assert found[5,]["DTM, r=3, gamma=0.1"]["5 labels"] > 0.9
    assert "| DTM, exact update - DTM, r=10, gamma=0.1 | 2 |" in text


def test_links_add_up_with_text(folder, tmp_path):
    text, found = small_run("links", folder, tmp_path)
    for corpus in links.CORPORA:
        rows = found[corpus,]
        for method in ("LTM, on both", "DTM, on both", "NCut, on both"):
            assert rows[method]["nmi"] > 0.8, (corpus, method)
        assert rows["label propagation, on links"]["few"] > 0.9
        assert rows["LTM, on links"]["few, more topics"] > 0.8
        assert set(rows["words, tf-idf"]) == {"few"}
        assert rows["k-means on averaged LSI, on links"]["nmi"] > 0.8
        assert set(rows["k-means on averaged LSI, on links"]) == {"nmi", "accuracy", "largest"}
        assert rows["LTM with priors, on links"]["nmi"] > 0.8
    assert "## Paired differences, citeseer" in text


def test_links_leave_out_documents_without_a_class(folder):
    data = links.prepare(folder, {})
    assert len(data["cora"][0].labels) == 45
    documents, graph = data["citeseer"]
    assert (len(documents.labels), graph.shape, graph.nnz) == (44, (44, 44), 2 * (13 + 14 + 14))
    both = links._graph(documents, graph, "both", 3)
    np.testing.assert_array_equal(both.toarray(), documents.graph(3).toarray() + graph.toarray())
    weighted = links._graph(documents, graph, "weighted", 3)
    assert ((weighted.toarray() > 0) == (both.toarray() > 0)).all()
    assert graph.sum() < weighted.sum() < both.sum()


# ---- what they share ------------------------------------------------------------------------------------------------


def test_other_data_than_the_papers_is_an_error(folder):
    protocol = load_experiment("ltm-table1").protocol
    with pytest.raises(ValueError, match=r"\(64, 40\): expected the paper's data, \(8067, 18832\)"):
        ltm.prepare(folder, protocol)


def test_a_draw_is_all_documents_of_its_classes():
    counts, classes = block_counts([5, 9, 4, 7])
    data = Documents(sp.csr_array(counts), classes + 1)
    drawn = ltm._draw(data, 2, 0)
    sizes = sorted(np.bincount(drawn.labels).tolist())
    assert any(sizes == sorted((a, b)) for a in (5, 9, 4, 7) for b in (5, 9, 4, 7) if a != b)
    assert (drawn.counts.sum(axis=0) > 0).all()
    np.testing.assert_array_equal(ltm._draw(data, 2, 0).counts.toarray(), drawn.counts.toarray())
    draws = {tuple(ltm._draw(data, 2, seed).labels) for seed in range(10)}
    assert len(draws) > 1


def test_fewer_labels_lie_in_more_and_one_document_is_left():
    labels = np.repeat([0, 1, 2], [20, 3, 9])
    few, many = (labelled_rows(labels, n, seed=4) for n in (3, 10))
    assert set(few) < set(many)
    assert np.bincount(labels[few]).tolist() == [3, 2, 3]
    assert np.bincount(labels[many]).tolist() == [10, 2, 8]
    assert set(labelled_rows(labels, 3, seed=5)) != set(few)


def test_models_on_the_graph_see_the_labelled_documents_alone(monkeypatch):
    counts, classes = block_counts([12, 12])
    documents = Documents(sp.csr_array(counts), classes)
    seen = []

    class Recorder:
        def fit(self, X, y, *, graph):
            seen.append((y, graph))
            self.doc_topic_ = np.eye(2)[classes]
            return self

    monkeypatch.setattr(few_labels, "make_estimator", lambda method, n_topics, seed: Recorder())
    method = Method("LTM", "LTM", {"n_neighbors": 3})
    protocol = {"svm C": [1, 10], "svm folds": 3}
    found = few_labels.few_labels(method, documents, 2, 0, protocol, labelled=[1, 4], label_edges=True)
    assert found == {1: 1.0, 4: 1.0}
    assert [(y >= 0).sum() for y, _ in seen] == [2, 8]
    for y, graph in seen:
        np.testing.assert_array_equal(y[y >= 0], classes[y >= 0])
        np.testing.assert_array_equal(graph.toarray(), documents.graph(3).toarray())
    seen.clear()
    few_labels.few_labels(method, documents, 2, 0, protocol, labelled=[1, 4], label_edges=False)
    assert len(seen) == 1
    assert seen[0][0] is None


def toy_results(values):
    """Results with one measure: method -> setting -> values by seed."""
    cells = [
        {"method": method, "setting": {"k": k}, "seed": seed, "measures": {"accuracy": value}}
        for method, settings in values.items()
        for k, row in settings.items()
        for seed, value in enumerate(row)
    ]
    return {"cells": cells, "results": [{"setting": {"k": k}} for k in values["a"]]}


def test_paired_differences_over_settings_or_seeds():
    a = {2: [0.5, 0.7, 0.9], 3: [0.4, 0.4, 0.6]}
    b = {2: [0.4, 0.5, 0.6], 3: [0.3, 0.4, 0.4]}
    results = toy_results({"a": a, "b": b})
    options = {"settings": [{"k": 2}, {"k": 3}]}
    every = compare.paired(results, "a", "b", "accuracy", by_setting=True, **options)
    np.testing.assert_allclose(every, [0.1, 0.2, 0.3, 0.1, 0.0, 0.2])
    by_seed = compare.paired(results, "a", "b", "accuracy", by_setting=False, **options)
    np.testing.assert_allclose(by_seed, [0.1, 0.1, 0.25])
    expected = ttest_1samp(every, 0).confidence_interval(0.95)
    np.testing.assert_allclose(interval(every), [expected.low, expected.high])
    one = compare.paired(results, "a", "b", "accuracy", by_setting=True, settings=[{"k": 3}])
    np.testing.assert_allclose(one, [0.1, 0.0, 0.2])


@pytest.mark.parametrize(("lower_is_better", "against"), [(False, "b over a (title)"), (True, "a over b (title)")])
def test_what_does_not_hold_is_said_in_words(lower_is_better, against):
    values = {"a": {2: [0.9, 0.8, 0.9, 0.8]}, "b": {2: [0.5, 0.5, 0.6, 0.5]}, "c": {2: [0.8, 0.9, 0.8, 0.9]}}
    lines = paired_lines(
        toy_results(values),
        [("a", "b"), ("b", "a"), ("a", "c")],
        {"accuracy": "title"},
        claim="the order in the paper",
        lower_is_better=lower_is_better,
    )
    assert lines[2].startswith("| a - b | 4 | +0.325 (+0.")
    assert f"Contrary to the order in the paper (the interval is on the other side of 0): {against}." in lines
    assert "Undecided about the order in the paper (the interval contains 0): a over c (title)." in lines


def test_one_draw_has_no_interval_and_no_verdict():
    lines = paired_lines(toy_results({"a": {2: [0.9]}, "b": {2: [0.5]}}), [("a", "b")], {"accuracy": "x"}, claim="it")
    assert lines[-1] == "| a - b | 1 | +0.400 |"

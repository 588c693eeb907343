"""Experiments on effects: the generated truth, a small run of each, and its page."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import run_with_results

from experiments import load_experiment
from experiments.effects import coverage, poliblog

pytest.importorskip("formulaic")

SMALL = {"documents": 150, "topics": 3, "words": 60, "concentration": 3.0}


def test_the_generated_truth_is_the_mean_of_the_shares():
    protocol = {**SMALL, "documents": 20_000}
    drawn = coverage.draw(np.random.default_rng(0), 1, 0.05, protocol)
    columns = drawn.corpus.metadata
    design = np.column_stack([np.ones(20_000), columns["group"] == "b", columns["dose"], columns["null"]]).astype(float)
    truth = coverage.true_coefficients(design, drawn.expected)
    known = coverage.true_coefficients(design, drawn.doc_topic)
    assert np.abs(truth - known).max() < 0.015
    assert np.abs(truth[1:3]).max() > 0.02
    assert np.abs(truth[3]).max() < 0.002
    assert np.allclose(drawn.topic_word.sum(axis=1), 1)
    assert drawn.corpus.counts.sum() == 20_000


def test_coverage_runs_and_its_page_has_every_method(tmp_path):
    experiment = load_experiment("effects-coverage")
    small = replace(experiment, protocol={**experiment.protocol, **SMALL, "seeds": 2, "draws": 3})
    small = replace(small, settings=({"tokens": 30, "topics": "distinct"},))
    text, results = run_with_results("effects-coverage", small, data=tmp_path, out=tmp_path / "out")
    assert not results["failures"]
    for method in (coverage.KNOWN, coverage.OURS, coverage.DRAWS, coverage.SHARES):
        assert f"| {method} |" in text
    found = {row["method"]: row["measures"] for row in results["results"]}
    assert found[coverage.OURS]["width"]["mean"] > found[coverage.KNOWN]["width"]["mean"]
    assert 0 <= found[coverage.OURS]["covered"]["mean"] <= 1


def invented_blogs(folder):
    """Posts in three topics; Liberal ones have more of Bush, and torture in the place of the court."""
    rng = np.random.default_rng(0)
    words = [word for named in poliblog.NAMED.values() for word in named] + ["law", "illeg"]
    place = {word: column for column, word in enumerate(words)}
    rows, lines = [], ["rating\tday\tblog\ttext_begins"]
    for d in range(180):
        liberal = d % 2
        name = rng.choice(list(poliblog.NAMED), p=[0.6, 0.2, 0.2] if liberal else [0.2, 0.3, 0.5])
        own = list(poliblog.NAMED[name])
        if name == "Guantanamo":
            own += ["tortur"] * 5 if liberal else ["court", "law", "illeg"] * 2
        rows.append(np.bincount([place[word] for word in rng.choice(own, 30)], minlength=len(words)))
        lines.append(f'{"Liberal" if liberal else "Conservative"}\t{1 + d}\tb{d % 6}\t"begins')
    home = folder / poliblog.FOLDER
    home.mkdir()
    sp.save_npz(home / "counts.npz", sp.csr_array(np.array(rows)))
    (home / "vocab.txt").write_text("\n".join(words) + "\n")
    (home / "meta.tsv").write_text("\n".join(lines) + "\n")


def test_poliblog_sets_signs_beside_the_vignette(tmp_path):
    pytest.importorskip("matplotlib")
    invented_blogs(tmp_path)
    experiment = load_experiment("effects-poliblog")
    small = replace(experiment, protocol={"seeds": 2, "topics": 3, "documents": None})
    text, results = run_with_results("effects-poliblog", small, data=tmp_path, out=tmp_path / "out")
    assert not results["failures"]
    assert "| Bush | largely associated with liberal writers | " in text
    assert "| 2 of 2 | 2 of 2 |" in text
    assert "the word 'tortur': z-score of Liberal writers" in text
    assert "## All topics of the first fit" in text
    assert (tmp_path / "out" / "effects-poliblog.png").read_bytes().startswith(b"\x89PNG")
    alone = next(row for row in results["results"] if row["setting"] == {"errors": poliblog.ALONE})
    assert alone["measures"]["Bush"]["mean"] > 20
    assert len(poliblog.read(tmp_path)) == 180


def test_missing_blogs_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        poliblog.read(tmp_path)

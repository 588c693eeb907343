"""TTMM with themes as classes: a small run from end to end."""

from __future__ import annotations

from dataclasses import replace

from experiment_runs import run_with_results
from invented_newsgroups import write_newsgroups

from experiments import load_experiment


def test_quick_run(tmp_path):
    write_newsgroups(tmp_path / "data")
    experiment = load_experiment("ttmm-classes")
    small = replace(experiment, settings=({"labels": 2}, {"labels": 5}), quick={**experiment.quick, "topics": 4})
    folders = {"data": tmp_path / "data", "out": tmp_path / "out"}
    text, results = run_with_results("ttmm-classes", small, **folders, quick=True)
    assert "Failures" not in text
    found = {(row["method"], row["setting"]["labels"]): row["measures"] for row in results["results"]}
    best = found["TTMM with the unlabelled documents", 5]["accuracy"]["mean"]
    assert best > 0.9
    assert found["majority", 5]["accuracy"]["mean"] == 0.25

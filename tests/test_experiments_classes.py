"""TTMM with themes as classes: a small run from end to end."""

from __future__ import annotations

import json
from dataclasses import replace

from experiments import load_experiment, runner
from test_experiments import write_newsgroups


def test_quick_run(tmp_path, monkeypatch):
    write_newsgroups(tmp_path / "data")
    experiment = load_experiment("ttmm-classes")
    small = replace(experiment, settings=({"labels": 2}, {"labels": 5}), quick={**experiment.quick, "topics": 4})
    monkeypatch.setattr(runner, "load_experiment", lambda name: small)
    text = runner.run("ttmm-classes", data=tmp_path / "data", out=tmp_path / "out", quick=True)
    assert "Failures" not in text
    results = json.loads((tmp_path / "out" / "ttmm-classes-quick.json").read_text(encoding="utf-8"))
    found = {(row["method"], row["setting"]["labels"]): row["measures"] for row in results["results"]}
    best = found["TTMM with the unlabelled documents", 5]["accuracy"]["mean"]
    assert best > 0.9
    assert found["majority", 5]["accuracy"]["mean"] == 0.25

"""Experiments: a small run from end to end, resuming, failures, and what is said when the data is not there."""

import json
import warnings
from dataclasses import replace

import pytest
from experiment_runs import run_with_results
from invented_newsgroups import write_newsgroups

from experiments import EXPERIMENTS, Experiment, Measure, Method, load_experiment
from experiments.runner import cells_of, run

FLAT = "flat-20newsgroups"


@pytest.fixture(scope="module")
def small_flat():
    """The experiment with fewer topics and a shorter chain: the protocol and all methods stay."""
    experiment = load_experiment(FLAT)
    methods = tuple(replace(m, parameters={"max_iter": 60}) if m.name == "LDA" else m for m in experiment.methods)
    return replace(experiment, methods=methods, settings=({"n_topics": 4}, {"n_topics": 6}))


@pytest.fixture(scope="module")
def quick_run(small_flat, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    out = tmp_path_factory.mktemp("out")
    write_newsgroups(folder)
    text, results = run_with_results(FLAT, small_flat, data=folder, out=out, quick=True)
    return folder, out, text, results


def test_every_experiment_is_well_declared():
    for name in EXPERIMENTS:
        experiment = load_experiment(name)
        assert experiment.name == name
        assert set(experiment.quick) <= set(experiment.protocol)
        names = [method.name for method in experiment.methods]
        assert len(set(names)) == len(names)
        assert all(method in names and measure in experiment.measures for method, _, measure in experiment.published)
        json.dumps([dict(experiment.protocol), [dict(method.parameters) for method in experiment.methods]])


def test_quick_run_from_end_to_end(quick_run, small_flat):
    folder, out, text, results = quick_run
    assert sorted(path.name for path in out.iterdir()) == [f"{FLAT}-quick.{end}" for end in ("jsonl", "md", "png")]
    assert (out / f"{FLAT}-quick.md").read_text(encoding="utf-8") == text
    assert f"python -m experiments {FLAT} --data DATA --out OUT --quick" in text
    assert str(folder) not in text
    assert "Failures" not in text
    assert len(results["cells"]) == 9 * 2 * 2 + 2
    found = {row["method"]: row["measures"] for row in results["results"] if row["setting"] == {"n_topics": 4}}
    assert set(found) == {method.name for method in small_flat.methods}
    assert all(entry["n"] in (1, 2) for measures in found.values() for entry in measures.values())
    for name in ("PLSA", "PLSA tempered", "PLSA smoothed", "NMF", "LSI", "k-means", "NCut"):
        assert found[name]["accuracy"]["mean"] > 0.9, name
    for name in ("PLSA", "LDA", "NMF", "tf-idf words"):
        assert found[name]["svm"]["mean"] > 0.9, name
    assert found["majority"]["svm"]["mean"] == 0.25
    assert {name for name, measures in found.items() if "perplexity" in measures} == {
        "PLSA",
        "PLSA tempered",
        "PLSA smoothed",
        "LDA",
        "NMF",
        "k-means",
    }
    assert "svm" not in found["NCut"]


def test_a_killed_run_resumes(quick_run, small_flat, tmp_path):
    folder, out, _, before = quick_run
    *lines, _ = (out / f"{FLAT}-quick.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)  # cells, the run
    kept = lines[: len(lines) // 2]
    cut = lines[len(kept)][:40]  # killed while writing a line
    (tmp_path / f"{FLAT}-quick.jsonl").write_text("".join(kept) + cut, encoding="utf-8")
    ran = []

    def counted(data, method, setting, seed, protocol):
        ran.append((method.name, setting, seed))
        return small_flat.measure(data, method, setting, seed, protocol)

    experiment = replace(small_flat, measure=counted)
    _, after = run_with_results(FLAT, experiment, data=folder, out=tmp_path, quick=True)
    assert len(ran) == len(lines) - len(kept)
    assert len(before["cells"]) == len(after["cells"]) == len(lines)
    for old, new in zip(before["cells"], after["cells"]):
        assert old["key"] == new["key"]
        assert {**old["measures"], "cpu": 0} == {**new["measures"], "cpu": 0}
    ran.clear()
    run_with_results(FLAT, experiment, data=folder, out=tmp_path, quick=True)
    assert ran == []


def test_missing_data_names_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as problem:
        run(FLAT, data=tmp_path, out=tmp_path / "out", quick=True)
    assert str(tmp_path / "20newsgroups_raw" / "docs.jsonl.gz") in str(problem.value)


def test_no_data_folder_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("TOPICFOLD_DATA", raising=False)
    with pytest.raises(ValueError, match=r"--data.*TOPICFOLD_DATA"):
        run(FLAT, out=tmp_path)


def test_unknown_experiment(tmp_path):
    with pytest.raises(ValueError, match=FLAT):
        run("nothing", data=tmp_path, out=tmp_path)


# ---- the runner alone, on an experiment that takes no time ----------------------------------------------------------


def toy_prepare(folder, protocol):
    return protocol["offset"]


def toy_measure(offset, method, setting, seed, protocol):
    if method.parameters.get("broken"):
        raise RuntimeError("it does not work")
    if method.parameters.get("pressed"):
        warnings.warn("PLSA: interrupted after 3 of 100 iterations; the model so far is kept", stacklevel=2)
    return {"value": offset + setting.get("size", 0) + seed}


TOY = Experiment(
    name="toy",
    title="Toy",
    source="a paper",
    data=(),
    methods=(Method("good"), Method("bad", parameters={"broken": True}), Method("fixed", once=True)),
    settings=({"size": 10}, {"size": 20}),
    measures={"value": Measure("value", 1), "other": Measure("other")},
    protocol={"seeds": 3, "offset": 0.5},
    prepare=toy_prepare,
    measure=toy_measure,
    published={("good", "size=20", "value"): 21.0},
)


def run_toy(tmp_path, experiment=TOY, **options):
    return run_with_results("toy", experiment, data=tmp_path, out=tmp_path / "out", **options)


def test_ours_beside_the_published_and_failures_listed(tmp_path):
    text, results = run_toy(tmp_path)
    assert "| good | 11.5 ± 1.0 (3) | - |" in text
    assert "| good | 21.5 ± 1.0 (3) / 21.0 | - |" in text
    assert "| bad | failed | failed |" in text
    assert text.count("| fixed | 0.5 (1) | - |") == 2
    assert "- bad, size=10, seed 2: RuntimeError: it does not work" in text
    assert len(results["failures"]) == 6


def test_failed_cells_are_tried_again_and_others_are_not(tmp_path):
    run_toy(tmp_path)
    log = tmp_path / "out" / "toy.jsonl"
    first = log.read_text(encoding="utf-8").splitlines()
    run_toy(tmp_path)
    added = log.read_text(encoding="utf-8").splitlines()[len(first) :]
    assert [json.loads(line)["method"] for line in added] == ["bad"] * 6  # nothing was measured: the date stays
    assert json.loads(first[-1])["run"]["machine"]["cells at a time"] == 1


def test_a_page_drawn_again_says_when_its_numbers_were_measured(tmp_path):
    good = replace(TOY, methods=(Method("good"),))
    run_toy(tmp_path, good)
    log = tmp_path / "out" / "toy.jsonl"
    *cells, _ = log.read_text(encoding="utf-8").splitlines()
    last = {"run": {"date": "2020-02-29", "machine": {"processor": "abacus", "cores": 1}}}
    log.write_text("\n".join([*cells, json.dumps(last)]) + "\n", encoding="utf-8")
    for options in ({"so_far": True}, {}):  # nothing is missing, so nothing is run
        text, _ = run_toy(tmp_path, good, **options)
        assert "Run on 2020-02-29: abacus, cores 1." in text
    log.write_text("\n".join(cells) + "\n", encoding="utf-8")  # killed before its end
    assert "The run has not ended." in run_toy(tmp_path, good, so_far=True)[0]


def test_a_page_begins_with_what_is_asked(tmp_path):
    text, _ = run_toy(tmp_path, replace(TOY, about="Which is better?"))
    assert text.startswith("# Toy\n\nWhich is better?\n\nSource: a paper\n")


def test_another_protocol_does_not_reuse_results(tmp_path):
    run_toy(tmp_path)
    text, _ = run_toy(tmp_path, replace(TOY, protocol={"seeds": 3, "offset": 1.5}))
    assert "| good | 12.5 ± 1.0 (3) | - |" in text
    keys = {cell.key for cell in cells_of(TOY, TOY.protocol)}
    assert len(keys) == 13
    assert not keys & {cell.key for cell in cells_of(TOY, {"seeds": 3, "offset": 1.5})}


def test_processes_give_the_same(tmp_path):
    for folder in ("alone", "together"):
        (tmp_path / folder).mkdir()
    _, alone = run_toy(tmp_path / "alone")
    _, together = run_toy(tmp_path / "together", n_jobs=2)
    assert together["results"] == alone["results"]


def test_a_fit_ended_by_ctrl_c_is_not_a_result(tmp_path):
    pressed = replace(TOY, methods=(Method("good"), Method("stopped", parameters={"pressed": True})))
    with pytest.raises(KeyboardInterrupt):
        run_toy(tmp_path, pressed)
    lines = (tmp_path / "out" / "toy.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["method"] for line in lines] == ["good"]


def test_progress_is_on_stderr_when_asked(tmp_path, capsys):
    run_toy(tmp_path, verbose=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Toy" in shown.err


def test_the_command_lists_experiments_and_names_missing_data(tmp_path, monkeypatch, capsys):
    from experiments.__main__ import main

    monkeypatch.delenv("TOPICFOLD_DATA", raising=False)
    assert main([]) == 0
    assert "flat-20newsgroups" in capsys.readouterr().out
    assert main(["flat-20newsgroups", "--out", str(tmp_path)]) == 2
    assert "TOPICFOLD_DATA" in capsys.readouterr().err
    assert main(["flat-20newsgroups", "--data", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "20newsgroups_raw" in capsys.readouterr().err
    assert main(["magic"]) == 2
    assert "no experiment 'magic'" in capsys.readouterr().err

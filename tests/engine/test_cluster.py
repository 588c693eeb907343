"""Fits on a real cluster: a scheduler and two worker processes on this machine."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster

import topicfold
from topicfold import HLTA, LDA, LDCC, LTM, PLSA, TTMM, Corpus, LapPLSI, ServiceError, knn_graph, select
from topicfold.cli import main
from topicfold.engine.distributed import array_files, tasks
from topicfold.engine.distributed import cluster as cluster_module
from topicfold.engine.distributed.cluster import StaticArray, current_cluster, on_cluster
from topicfold.metrics import coherence
from topicfold.models.em import passes

MODELS = {
    "PLSA": lambda: PLSA(6, max_iter=5),
    "PLSA, prior, float64": lambda: PLSA(6, alpha=1.0, beta=0.1, max_iter=5, dtype="float64", n_init=2),
    "PLSA, tempered": lambda: PLSA(4, tempered=True, max_iter=4),
    "LDA": lambda: LDA(6, max_iter=5),
    "LDA, auto": lambda: LDA(4, alpha="auto", init="random", max_iter=2),
    "TTMM": lambda: TTMM(5, 4, max_iter=4),
    "LTM": lambda: LTM(40, graph_weight=3.0, init="random", max_iter=3),
    "LTM, direct": lambda: LTM(40, graph_weight=100.0, solver="direct", alpha=0, beta=0, max_iter=3),
    "LTM, auto": lambda: LTM(5, init="random", max_iter=2),
    "LapPLSI": lambda: LapPLSI(40, graph_weight=3.0, init="random", max_iter=2),
    "LDCC": lambda: LDCC(4, 5, n_sweeps=8, burn_in=4, n_chains=2),
    "HLTA": lambda: HLTA(max_words=40),
}


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as running:
        yield running


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster, set_as_default=False) as connected:
        yield connected


@pytest.fixture(autouse=True)
def small_passes_go_to_workers(monkeypatch):
    monkeypatch.setattr(passes, "_WORTH_SENDING", 0)
    monkeypatch.setattr(passes, "_VALUES_PER_BLOCK", 1 << 11)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(60, 0.1), 6)
    shares = rng.dirichlet(np.full(6, 0.2), 700)
    counts = np.stack([rng.multinomial(40, share @ topics) for share in shares])
    return Corpus.from_counts(counts, [f"word{number}" for number in range(60)])


def learned(model, corpus):
    """Everything a fit, transform and score give, as arrays."""
    part = corpus.subset(np.arange(len(corpus)) % 2 == 0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*on this machine, not on the cluster")
        model.set_params(random_state=0).fit(corpus)
        found = [model.topic_word_, model.doc_topic_, model.history_, model.transform(part), model.score(part)]
    return [np.asarray(values) for values in found]


def same(one, two):
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(one, two, strict=True))


# ---- the same bits --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_the_same_bits_as_in_one_process(name, client, corpus):
    alone = learned(MODELS[name](), corpus)
    with on_cluster(client) as found:
        assert same(alone, learned(MODELS[name](), corpus))
    assert current_cluster() is None
    assert not found.folder.exists()


@pytest.mark.parametrize("make", [MODELS["PLSA"], MODELS["TTMM"]])
def test_a_corpus_on_disk_is_read_by_workers_where_it_lies(make, client, corpus, tmp_path, monkeypatch):
    corpus.save(tmp_path / "corpus.safetensors")
    mapped = Corpus.load(tmp_path / "corpus.safetensors", memory_map=True)
    written = []
    original = cluster_module.write_array
    monkeypatch.setattr(
        cluster_module, "write_array", lambda path, array: (written.append(array.size), original(path, array))[1]
    )
    monkeypatch.setattr(cluster_module, "_SMALL", 0)
    with on_cluster(client, folder=tmp_path):
        assert same(learned(make(), corpus), learned(make(), mapped))
    # once each: indices and values of the fit, of transform and score, and of both sides of the neighbours of the start
    assert written.count(corpus.counts.nnz) <= 10


def test_neighbours_select_and_coherence_have_the_same_bits(client, corpus):
    vectors = np.random.default_rng(1).normal(size=(1500, 8)).astype(np.float32)
    many = Corpus.from_counts(np.tile(corpus.counts.toarray(), (2, 1)), corpus.vocabulary)

    def found():
        graphs = [knn_graph(many, 3), knn_graph(many, 3, metric="euclidean"), knn_graph(vectors, 3)]
        rows = select(PLSA(max_iter=3), corpus, {"n_topics": [2, 4]}, n_seeds=1).rows
        rows += select(PLSA(max_iter=3), corpus.counts, {"n_topics": [2, 4]}, n_seeds=1).rows
        measures = [[row.score, row.stability, row.coherence] for row in rows]
        return [graph.toarray() for graph in graphs] + [
            np.array(measures),
            coherence([[1, 2, 3], [4, 5, 6]], counts=corpus.counts),
        ]

    alone = found()
    with on_cluster(client):
        assert same(alone, found())


@pytest.mark.filterwarnings("ignore:.*not on the cluster")
def test_what_cannot_be_shared_out_says_so(client, corpus):
    with on_cluster(client):
        for model, what in [
            (HLTA(max_words=10), "HLTA"),
            (LDCC(2, 2, n_sweeps=4, burn_in=2), "LDCC has only"),
        ]:
            with pytest.warns(UserWarning, match=f"{what}.*on this machine, not on the cluster"):
                model.fit(corpus)
        with pytest.warns(UserWarning, match="DTM's sweeps.*on this machine"):
            topicfold.DTM(2, max_iter=1, random_state=0).fit(corpus)


# ---- workers that die, workers that come, clients that die ----------------------------------------------------------


def test_a_worker_killed_in_mid_fit_changes_nothing(corpus):
    alone = learned(PLSA(6, max_iter=30, tol=0), corpus)
    killed = []

    def kill():
        time.sleep(0.5)
        process = random.choice([worker.pid for worker in own.workers.values() if worker.pid])
        os.kill(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        killed.append(process)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as own,
        Client(own, set_as_default=False) as client,
        on_cluster(client),
    ):
        thread = threading.Thread(target=kill)
        thread.start()
        assert same(alone, learned(PLSA(6, max_iter=30, tol=0), corpus))
        thread.join()
    assert killed


def test_a_worker_that_joins_late_changes_nothing(cluster, client, corpus):
    alone = learned(PLSA(6, max_iter=20, tol=0), corpus)
    with on_cluster(client):
        cluster.scale(3)
        assert same(alone, learned(PLSA(6, max_iter=20, tol=0), corpus))
        client.wait_for_workers(3, timeout=30)
        assert same(alone, learned(PLSA(6, max_iter=20, tol=0), corpus))
    cluster.scale(2)


_FIT = """
import sys
from topicfold import PLSA, Corpus, on_cluster
from topicfold.engine import loop
from topicfold.models.em import passes
loop.CHECKPOINT_SECONDS = 0
passes._WORTH_SENDING = 0
address, corpus, checkpoint, folder = sys.argv[1:]
with on_cluster(address, folder=folder):
    PLSA(6, max_iter=100_000, tol=0, random_state=0, checkpoint=checkpoint).fit(Corpus.load(corpus))
"""


def test_a_client_that_is_killed_resumes_with_the_same_bits(cluster, client, corpus, tmp_path):
    corpus.save(tmp_path / "corpus.safetensors")
    folder = tmp_path / "shared"
    folder.mkdir()
    checkpoint = tmp_path / "checkpoint"
    words = [cluster.scheduler_address, tmp_path / "corpus.safetensors", checkpoint, folder]
    process = subprocess.Popen([sys.executable, "-c", _FIT, *map(str, words)])
    for _ in range(600):
        if checkpoint.exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    time.sleep(0.3)
    process.kill()
    process.wait()
    assert process.returncode != 0
    assert len(list(folder.iterdir())) == 1  # what the killed client left
    steps = len(topicfold.engine.store.read_file(checkpoint, kind="checkpoint")[1]["notes"]["history"])
    with on_cluster(client, folder=folder):
        assert len(list(folder.iterdir())) == 1  # that is ours
        how = {"max_iter": steps + 2, "tol": 0}
        moved = checkpoint.rename(tmp_path / "moved")
        resumed = PLSA(6, random_state=0, **how)
        fingerprint_free = _with_max_iter(moved, tmp_path / "other", resumed, corpus)
        found = learned(resumed.set_params(checkpoint=fingerprint_free), corpus)
    assert same(learned(PLSA(6, **how), corpus), found)
    assert not list(folder.iterdir())


def _with_max_iter(checkpoint, other, model, corpus):
    """The checkpoint as one of a fit with another max_iter, which is part of what a checkpoint belongs to."""
    from topicfold.engine.loop import fingerprint

    state, metadata = topicfold.engine.store.read_file(checkpoint, kind="checkpoint")
    own = fingerprint(model, model._fit_counts(corpus, np.dtype(np.float32)))
    topicfold.engine.store.write_file(other, state, metadata | {"fingerprint": own})
    return other


# ---- said in one line -----------------------------------------------------------------------------------------------


def test_a_scheduler_that_does_not_answer(tmp_path, corpus, capsys, monkeypatch):
    monkeypatch.setattr(cluster_module, "_CONNECTING", 1)
    with (
        pytest.raises(ServiceError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"),
        on_cluster("tcp://127.0.0.1:9"),
    ):
        pass
    corpus.save(tmp_path / "corpus.safetensors")
    with pytest.raises(SystemExit) as left:
        main(
            ["fit", str(tmp_path / "corpus.safetensors"), "--out", str(tmp_path / "model"), "--cluster", "nonsense://x"]
        )
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("topicfold: no Dask scheduler answers at 'nonsense://x'")
    assert said.count("\n") == 1


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(cluster_module, "_PATIENCE", 0.2)
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        Client(empty, set_as_default=False) as client,
        pytest.raises(ServiceError, match="has no workers: start some"),
        on_cluster(client),
    ):
        pass


def told(client, monkeypatch, environment):
    """Let workers tell something else of themselves."""
    real, calls = client.run, []

    def run(function, *words, **more):
        calls.append(function)
        found = real(function, *words, **more)
        return dict.fromkeys(found, environment) if len(calls) == 1 else found

    monkeypatch.setattr(client, "run", run)


def test_workers_with_another_version_or_without_topicfold(client, monkeypatch):
    ours = cluster_module.environment()
    missing = ModuleNotFoundError("No module named 'topicfold'")
    for environment, said in [
        (ours | {"topicfold": "0.0.1"}, "has topicfold 0.0.1, this machine"),
        (missing, "cannot load topicfold: No module"),
    ]:
        told(client, monkeypatch, environment)
        with pytest.raises(ServiceError, match=said), on_cluster(client):
            pass
        monkeypatch.undo()
    with pytest.raises(ServiceError, match=r"a worker has topicfold .*: expected 0.0.2"):
        client.submit(tasks.run_items, "0.0.2", len, (), [], pure=False).result()


def test_workers_of_another_kind_of_machine_are_said(client, monkeypatch):
    told(client, monkeypatch, cluster_module.environment() | {"CPU": "another", "numpy": "0"})
    with pytest.warns(UserWarning, match="workers differ from this machine in CPU, numpy"), on_cluster(client):
        pass


def test_a_folder_that_workers_do_not_see(client, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "tokens_seen", lambda path: None)
    with (
        pytest.raises(ServiceError, match=r"cannot access the folder .* --cluster-folder"),
        on_cluster(client, folder=tmp_path),
    ):
        pass
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    with pytest.raises(ServiceError, match="cannot write to the folder"), on_cluster(client, folder=tmp_path / "none"):
        pass


def test_files_that_are_gone_or_changed(client, tmp_path):
    stored = array_files.write_array(tmp_path / "values", np.arange(20_000))
    assert np.array_equal(stored.open(), np.arange(20_000))
    with open(tmp_path / "values", "ab") as file:
        file.write(b"more")
    with pytest.raises(ServiceError, match=r"sees another file at .*values"):
        client.submit(tasks.run_items, _version(), len, (stored,), [()], pure=False).result()
    (tmp_path / "values").unlink()
    with pytest.raises(ServiceError, match=r"cannot read .*values .*where all workers can"):
        client.submit(tasks.run_items, _version(), len, (stored,), [()], pure=False).result()
    rows = np.ones((2, 2))
    with pytest.raises(ServiceError, match="cannot write"):
        array_files.write_rows(str(tmp_path / "none" / "rows"), rows)
    with pytest.raises(ServiceError, match="cannot read"):
        array_files.read_rows(str(tmp_path / "rows"), rows)
    array_files.write_rows(str(tmp_path / "rows"), rows[:1])
    with pytest.raises(ServiceError, match="has 16 bytes, not 32"):
        array_files.read_rows(str(tmp_path / "rows"), rows)


def test_arrays_that_a_kernel_would_see_in_another_way_are_refused(tmp_path):
    with pytest.raises(TypeError, match="not contiguous"):
        array_files.write_array(tmp_path / "values", np.ones((4, 4))[:, :2])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no way there to see whether a process runs")
def test_what_a_killed_process_left_is_removed(client, tmp_path):
    import socket

    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / f".topicfold-cluster-{socket.gethostname()}-{gone.pid}-x"
    in_use = tmp_path / f".topicfold-cluster-{socket.gethostname()}-{os.getpid()}-x"
    for folder in (left, in_use):
        folder.mkdir()
    with on_cluster(client, folder=tmp_path):
        assert not left.exists()
    assert in_use.exists()


def test_an_array_that_lasts_is_written_once_and_goes_with_its_owner(client, tmp_path):
    with on_cluster(client, folder=tmp_path) as found:
        array = np.arange(20_000)
        file = found.file_of(StaticArray(array))
        assert found.file_of(StaticArray(array)) is file
        assert Path(file.path).exists()
        del array
        assert not Path(file.path).exists()


def _version():
    from importlib.metadata import version

    return version("topicfold")


# ---- from the command line ------------------------------------------------------------------------------------------


def test_the_command_line_fits_on_a_cluster(cluster, corpus, tmp_path, capsys):
    corpus.save(tmp_path / "corpus.safetensors")
    fit = ["fit", str(tmp_path / "corpus.safetensors"), "--model", "plsa", "-p", "n_topics=4", "-p", "max_iter=3"]
    for name, more in (("here", []), ("there", ["--cluster", cluster.scheduler_address])):
        with pytest.raises(SystemExit) as left:
            main([*fit, "--out", str(tmp_path / name), *more])
        assert left.value.code == 0
    said = capsys.readouterr().err
    assert "on the cluster at tcp://" in said
    here, there = (topicfold.load(tmp_path / name) for name in ("here", "there"))
    assert np.array_equal(here.topic_word_, there.topic_word_)
    assert np.array_equal(here.doc_topic_, there.doc_topic_)
    with pytest.raises(SystemExit):
        main([*fit, "--out", str(tmp_path / "model"), "--cluster-folder", str(tmp_path)])
    assert "--cluster-folder needs --cluster" in capsys.readouterr().err

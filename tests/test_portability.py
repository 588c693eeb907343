"""What can be shown here of Windows and macOS: no POSIX-only call, files with an encoding and "\\n", paths, no fork."""

from __future__ import annotations

import ast
import multiprocessing
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from topicfold import Corpus, FileError, Preprocessing
from topicfold.engine import store
from topicfold.engine.machine import user_cache

SOURCE = Path(__file__).parents[1] / "src" / "topicfold"
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
NAMES = {
    "os": (
        "fork",
        "forkpty",
        "getpgid",
        "getuid",
        "killpg",
        "mkfifo",
        "sched_getaffinity",
        "setsid",
        "sysconf",
        "uname",
    )
    + ("O_TMPFILE", "O_DIRECTORY", "O_CLOEXEC", "posix_fadvise", "statvfs", "wait4"),
    "signal": ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "alarm", "pthread_sigmask", "setitimer"),
    "mmap": ("MADV_DONTNEED", "MADV_SEQUENTIAL", "MADV_WILLNEED", "MAP_PRIVATE", "MAP_SHARED", "PROT_READ"),
}
# Uses for which a look at the platform comes first.
GUARDED = {
    ("analysis/name_command.py", "os.killpg"),
    ("analysis/name_command.py", "signal.SIGKILL"),
    ("cli/doctor.py", "os.sched_getaffinity"),
    ("corpus/sheet_rows.py", "resource"),
    ("engine/machine.py", "fcntl"),
    ("engine/machine.py", "os.sysconf"),
    ("engine/mapped.py", "mmap.MADV_DONTNEED"),
}


def posix_only(source):
    """The modules and names in a source that Windows does not have."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            if node.module in MODULES:
                yield node.module
            yield from (f"{node.module}.{a.name}" for a in node.names if a.name in NAMES.get(node.module or "", ()))
        elif isinstance(node, ast.Attribute) and node.attr in NAMES.get(ast.unparse(node.value), ()):
            yield ast.unparse(node)


def test_no_call_that_windows_does_not_have():
    found = {
        (path.relative_to(SOURCE).as_posix(), use)
        for path in SOURCE.rglob("*.py")
        for use in posix_only(path.read_text(encoding="utf-8"))
    }
    assert found == GUARDED
    assert set(posix_only("import fcntl\nfrom os import fork\nos.killpg(1, signal.SIGKILL)")) == {
        "fcntl",
        "os.fork",
        "os.killpg",
        "signal.SIGKILL",
    }


def test_every_module_can_be_imported_without_what_windows_does_not_have():
    code = f"""
        import importlib, mmap, os, pkgutil, signal, sys
        import click.shell_completion, joblib.externals.loky, narwhals, numba, rich.progress, safetensors.numpy, sklearn
        import scipy.optimize, scipy.sparse.linalg, scipy.special, sklearn.base, sklearn.cluster, sklearn.decomposition
        import sklearn.feature_extraction.text, sklearn.utils.validation, subprocess, tempfile, threadpoolctl
        sys.modules.update(dict.fromkeys({MODULES!r}))  # importing them is an error from here on
        for module, names in {NAMES!r}.items():
            for name in names:
                if hasattr(sys.modules[module], name) and not name.startswith("O_"):  # which tempfile uses
                    delattr(sys.modules[module], name)
        sys.platform = "win32"
        import topicfold
        for info in pkgutil.walk_packages(topicfold.__path__, "topicfold."):
            if not info.name.endswith("__main__"):
                importlib.import_module(info.name)
        print(len([name for name in sys.modules if name.startswith("topicfold.")]))
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 100


def text_files(source):
    """Calls that open a file as text, with the keywords they give."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        given = {word.arg: ast.unparse(word.value) for word in node.keywords}
        last = called.rpartition(".")[2]
        if last in ("read_text", "write_text") and last != called:  # methods, not our own function
            yield last == "write_text", given, ast.unparse(node)
        elif last in ("open", "fdopen") and called != "os.open" and (node.args or called != "value.open"):
            place = 0 if isinstance(node.func, ast.Attribute) and called.partition(".")[0] not in ("gzip", "os") else 1
            mode = given.get("mode") or (ast.unparse(node.args[place]) if len(node.args) > place else "'r'")
            if "b" not in mode and not called.startswith("archive."):  # a member of a zip file, always bytes
                yield any(letter in mode for letter in "wxa"), given, ast.unparse(node)


def test_text_files_have_an_encoding_and_written_ones_a_newline():
    seen = 0
    for path in SOURCE.rglob("*.py"):
        for writes, given, call in text_files(path.read_text(encoding="utf-8")):
            seen += 1
            assert "encoding" in given, f"{path}: {call}"
            assert not writes or "newline" in given, f"{path}: {call} ends lines in another way on Windows"
    assert seen > 10
    (bad,) = text_files("open(path, 'w')")
    assert bad == (True, {}, "open(path, 'w')")
    assert not list(text_files("path.open('rb')"))


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_lines_may_end_as_windows_ends_them(tmp_path, ending):
    rows = {
        "csv": "id,text\na,cat dog\nb,sun moon\n",
        "tsv": "id\ttext\na\tcat dog\nb\tsun moon\n",
        "jsonl": '{"id": "a", "text": "cat dog"}\n{"id": "b", "text": "sun moon"}\n',
    }[ending]
    read = []
    for name, end in (("unix", "\n"), ("windows", "\r\n")):
        path = tmp_path / f"{name}.{ending}"
        path.write_bytes(rows.replace("\n", end).encode())
        read.append(Corpus.read(path, id="id"))
    assert list(read[0].ids) == list(read[1].ids) == ["a", "b"]
    assert list(read[0].vocabulary) == list(read[1].vocabulary) == ["cat", "dog", "moon", "sun"]


def test_ids_of_files_are_the_same_everywhere(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("cat dog", encoding="utf-8", newline="\r\n")
    assert list(Corpus.read(tmp_path).ids) == ["sub/a.txt"]


def test_data_on_stdout_ends_lines_in_one_way(tmp_path):
    code = (
        "import io, sys; raw = io.BytesIO(); sys.stdout = io.TextIOWrapper(raw, encoding='cp1252', newline='\\r\\n')\n"
        "from topicfold.cli import main\n"
        "try: main(['models'])\n"
        "except SystemExit: sys.stdout.flush(); sys.stderr.write(repr(raw.getvalue()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "\\n" in ran.stderr
    assert "\\r" not in ran.stderr


def test_a_file_that_is_open_elsewhere_is_named_where_it_cannot_be_replaced(tmp_path, monkeypatch):
    def refuse(source, target):  # as Windows does
        raise PermissionError(13, "Access is denied")

    path = tmp_path / "corpus.safetensors"
    Corpus.from_texts(["cat dog", "sun"]).save(path)
    before = path.read_bytes()
    monkeypatch.setattr(store.os, "replace", refuse)
    with pytest.raises(FileError, match=r"corpus\.safetensors cannot be replaced while it is in use"):
        Corpus.from_texts(["tea"]).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["corpus.safetensors"]


def test_caches_are_where_each_system_keeps_them(monkeypatch):
    monkeypatch.setenv("LOCALAPPDATA", "/home/me/AppData/Local")
    monkeypatch.setattr(sys, "platform", "win32")
    assert user_cache("numba").as_posix() == "/home/me/AppData/Local/topicfold/numba"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_cache("numba").as_posix().endswith("/Library/Caches/topicfold/numba")


def words_of(text):
    return Preprocessing().words(text)


def test_what_is_sent_to_processes_survives_spawn():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(words_of, ["The cats", "a dog"]) == [["cats"], ["dog"]]


def test_reading_in_processes_does_not_fork(tmp_path):
    """Windows has no fork: a script read in processes gives what it gives in one, with fork taken away."""
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "cat dog cow\nsun moon star\n" * 3000, encoding="utf-8", newline="\n")
    code = """
        import multiprocessing, os, sys
        import joblib.externals.loky as loky
        from topicfold import Corpus
        from topicfold.corpus import counted_chunks
        counted_chunks._CHUNK, counted_chunks._ALONE = 10_000, 1
        if __name__ == "__main__":
            alone = Corpus.read(sys.argv[1], n_jobs=1)
            def refuse(): raise AssertionError("forked")
            os.fork = refuse
            multiprocessing.set_start_method("spawn", force=True)
            both = Corpus.read(sys.argv[1], n_jobs=2)
            print((alone.counts != both.counts).nnz, list(alone.vocabulary) == list(both.vocabulary), len(both))
            print(loky.get_reusable_executor(reuse=True).submit(os.getpid).result() != os.getpid())
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8", newline="\n")
    ran = subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["0", "True", "6000", "True"]

"""Fits and commands that are killed at random moments.

A fit with a checkpoint is killed, resumed by a new process, killed again and so on; in the end it has to have the bits
of a fit that nobody disturbed. Only kills that found a checkpoint count as such. A command that writes over files is
killed: each file is then the old one or the whole new one, and the command, run again, leaves nothing else behind.
All processes are forked from one that has its imports done, so that kills hit the work and not the start.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import numpy as np

from topicfold import Corpus

from ..cases import Case, Draw, Front, LeftBehind, Run, SilentChange, generator
from ..command_line import run_command
from ..processes import fork, write_files
from ..small_models import VARIANTS, fit_options, small_corpus, small_model

__all__ = ["FRONT"]

_Counts: TypeAlias = dict[str, int]

_OLD = b"what was there before\n"
_STEPS = 30
_ATTEMPTS = 24  # to hit a fit while it has a checkpoint
_COUNTED, _TOO_EARLY = "kills of a fit that found a checkpoint", "kills before the first checkpoint (not counted)"
_TOO_LATE, _IN_WRITING = "fits that ended before the kill (not counted)", "kills while a file was written"


def _fit(variant: str, corpus: Corpus, result: Path, checkpoint: Path | None) -> None:
    """Fit with a checkpoint after every step, and write what was learned."""
    with mock.patch("topicfold.engine.loop.CHECKPOINT_SECONDS", 0):
        model = small_model(variant, steps=_STEPS, checkpoint=checkpoint)
        model.fit(corpus, **fit_options(variant, len(corpus)))
    np.savez(result, topic_word=model.topic_word_, doc_topic=model.doc_topic_, history=model.history_)


def _arrays(path: Path) -> dict[str, bytes]:
    with np.load(path) as archive:
        return {name: archive[name].tobytes() for name in archive.files}


class _Aim:
    """Moments to kill at: random, in a range that grows narrower with each that was too early or too late."""

    def __init__(self, seconds: float, rng: random.Random) -> None:
        self.low, self.high, self.rng = 0.0, seconds, rng
        self.in_writing = rng.random() < 0.4  # while a file is written, as soon as one appears that is not finished
        self.moment = 0.0

    def next(self) -> float:
        self.moment = self.rng.uniform(0, 0.002) if self.in_writing else self.rng.uniform(self.low, self.high)
        return self.moment

    def learn(self, *, too_late: bool) -> None:
        self.in_writing = False
        if too_late:
            self.high = max(0.8 * self.moment, self.low)
        else:
            self.low = min(self.moment, self.high)


def _killed(work: Callable[[], Any], aim: _Aim | None, folder: Path, after: Path | None = None) -> bool:
    """Do some work in a new process and kill it as aimed, if at all; whether that came before its end.

    The clock starts at once, or with the file `after`; where it is aimed at writing, with a file that is not yet whole.
    """
    child = fork(work)
    seconds, until = aim.next() if aim is not None else np.inf, np.inf
    while time.monotonic() < until:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            if status:
                raise RuntimeError(f"it ended with status {status}, and was not killed")
            return False
        if until == np.inf and aim is not None:
            started = _n_unfinished(folder) > 0 if aim.in_writing else after is None or after.exists()
            until = time.monotonic() + seconds if started else np.inf
        time.sleep(0.001 if aim is None else 0.0001)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _n_unfinished(folder: Path) -> int:
    return sum(name.endswith(".tmp") for name in os.listdir(folder))


def _run_fit(what: dict[str, Any], corpus: Corpus, whole: dict[str, bytes], seconds: float, folder: Path) -> _Counts:
    variant, rng = what["variant"], random.Random(what["seed"])
    result, checkpoint = folder / "result.npz", folder / "checkpoint"
    counted = dict.fromkeys((_COUNTED, _TOO_EARLY, _TOO_LATE, _IN_WRITING), 0)
    aim = _Aim(seconds, rng)
    for _ in range(_ATTEMPTS):
        if counted[_COUNTED] == what["kills"]:
            break
        killed = _killed(lambda: _fit(variant, corpus, result, checkpoint), aim, folder, after=checkpoint)
        kind = _COUNTED if killed and checkpoint.exists() else _TOO_EARLY if killed else _TOO_LATE
        counted[kind] += 1
        counted[_IN_WRITING] += _n_unfinished(folder)
        if kind == _COUNTED:
            aim = _Aim(seconds, rng)
        else:
            aim.learn(too_late=not killed)
        if not killed:
            _compare(variant, result, whole, folder)
    _killed(lambda: _fit(variant, corpus, result, checkpoint), None, folder)
    _compare(variant, result, whole, folder)
    return counted


def _compare(variant: str, result: Path, whole: dict[str, bytes], folder: Path) -> None:
    found = _arrays(result)
    wrong = [name for name in whole if found[name] != whole[name]]
    if wrong:
        raise SilentChange(f"{variant}, killed and resumed: other bits in {', '.join(wrong)}")
    left = sorted(path.name for path in folder.iterdir() if path != result)
    if left:
        raise LeftBehind(f"{variant}, killed and resumed: {left} are left behind")


_COMMANDS = {
    "fit": (["fit", "IN/texts.jsonl", "--model", "plsa", "-p", "n_topics=3", "-p", "max_iter=15", "--out",
             "model.safetensors", "--corpus-out", "corpus.safetensors", "--report", "page.html"],
            ("model.safetensors", "corpus.safetensors", "page.html")),
    "assign": (["assign", "IN/model.safetensors", "IN/texts.jsonl", "--batch", "5", "--out", "table.csv"],
               ("table.csv",)),
    "assign jsonl": (["assign", "IN/model.safetensors", "IN/texts.jsonl", "--out", "table.jsonl"], ("table.jsonl",)),
    "explore": (["explore", "IN/model.safetensors", "IN/texts.jsonl", "--out", "page.html"], ("page.html",)),
    "explore texts": (["explore", "IN/texts.jsonl", "--topics", "3", "--out", "page.html"], ("page.html",)),
    "read": (["read", "IN/texts.jsonl", "--out", "corpus.safetensors"], ("corpus.safetensors",)),
    "select": (["select", "IN/texts.jsonl", "--model", "plsa", "-p", "n_topics=[2,3]", "-p", "max_iter=10", "--plot",
                "plot.png"], ("plot.png",)),
    "tree": (["tree", "IN/model.safetensors", "--reduce", "2", "--out", "tree.safetensors"], ("tree.safetensors",)),
}  # fmt: skip


def _same(one: bytes, two: bytes) -> bool:
    """Whether two files are the same; those of safetensors describe themselves in an order of their own."""
    try:
        ends = [8 + int.from_bytes(content[:8], "little") for content in (one, two)]
        about = [json.loads(content[8:end]) for content, end in zip((one, two), ends)]
    except (ValueError, RecursionError):  # not safetensors
        return one == two
    return about[0] == about[1] and one[ends[0] :] == two[ends[1] :]


def _in_folder(words: list[str], outputs: tuple[str, ...], inputs: Path, folder: Path) -> list[str]:
    return [
        word.replace("IN/", f"{inputs}/") if word.startswith("IN/") else str(folder / word) if word in outputs else word
        for word in words
    ]


def _run_command(what: dict[str, Any], inputs: Path, whole: dict[str, bytes], seconds: float, folder: Path) -> _Counts:
    name, rng = what["command"], random.Random(what["seed"])
    words, outputs = _COMMANDS[name]
    write_files(dict.fromkeys(outputs, _OLD), folder)
    placed, aim, n_attempts = _in_folder(words, outputs, inputs, folder), _Aim(seconds, rng), 0
    while not _killed(lambda: run_command(placed), aim, folder) and n_attempts < _ATTEMPTS:
        aim.learn(too_late=True)
        n_attempts += 1
        write_files(dict.fromkeys(outputs, _OLD), folder)
    n_unfinished = _n_unfinished(folder)
    for output in outputs:
        state = (folder / output).read_bytes()
        if state != _OLD and not _same(state, whole[output]):
            raise SilentChange(f"{name}: {output} is neither the old file nor the new one: {len(state)} bytes")
    _killed(lambda: run_command(placed), None, folder)
    left = sorted({path.name for path in folder.iterdir()} - set(outputs))
    if not all(_same((folder / output).read_bytes(), whole[output]) for output in outputs):
        raise SilentChange(f"{name}, run again after it was killed: another file")
    if left:
        raise LeftBehind(f"{name}, run again after it was killed: {left} are left behind")
    return {"kills of a command": int(n_attempts < _ATTEMPTS), _IN_WRITING: n_unfinished}


def _timed(work: Callable[[], Any]) -> float:
    started = time.monotonic()
    _killed(work, None, Path())
    return time.monotonic() - started


def _prepare_fits(corpus: Corpus, folder: Path) -> dict[str, tuple[dict[str, bytes], float]]:
    """What each fit ends with where nobody disturbs it, and how long it takes."""
    found, result = {}, folder / "result.npz"
    for variant in VARIANTS:
        small_model(variant).fit(corpus, **fit_options(variant, len(corpus)))  # compiles
        _killed(partial(_fit, variant, corpus, result, None), None, folder)
        whole = _arrays(result)
        found[variant] = whole, _timed(partial(_fit, variant, corpus, result, folder / "checkpoint"))
    return found


def _prepare_commands(inputs: Path, folder: Path) -> dict[str, tuple[dict[str, bytes], float]]:
    """What each command writes, and how long it takes."""
    found = {}
    for name, (words, outputs) in _COMMANDS.items():
        given = _in_folder(words, outputs, inputs, folder)
        run_command(given)  # imports and compiles
        seconds = min(_timed(partial(run_command, given)) for _ in range(2))
        found[name] = {output: (folder / output).read_bytes() for output in outputs}, seconds
    return found


def _prepare() -> tuple[Draw, Run]:
    corpus = small_corpus()
    inputs = Path(tempfile.mkdtemp(prefix="harness-inputs-"))
    atexit.register(shutil.rmtree, inputs, ignore_errors=True)
    lines = [f'{{"id": "{name}", "text": "{text}"}}' for name, text in zip(corpus.ids, corpus.texts or ())]
    (inputs / "texts.jsonl").write_text("\n".join(lines).replace("\n\n", " ") + "\n", encoding="utf-8")
    small_model("PLSA").fit(corpus).save(inputs / "model.safetensors")
    with tempfile.TemporaryDirectory() as place:
        fits, commands = _prepare_fits(corpus, Path(place)), _prepare_commands(inputs, Path(place))

    def draw(number: int) -> Case:
        rng = generator("kills", number)
        if number % 4 == 3:
            name = rng.choice(sorted(commands))
            return Case(f"{name}, killed", {"command": name, "seed": rng.randrange(2**32)})
        variant, kills = VARIANTS[(number - number // 4) % len(VARIANTS)], rng.choice((1, 2, 4, 8))
        what = {"variant": variant, "kills": kills, "seed": rng.randrange(2**32)}
        return Case(f"{variant}, {kills} kills", what)

    def run(what: dict[str, Any], folder: Path) -> _Counts:
        if "command" in what:
            return _run_command(what, inputs, *commands[what["command"]], folder)
        return _run_fit(what, corpus, *fits[what["variant"]], folder)

    return draw, run


FRONT = Front("fits and commands that are killed", _prepare, n_cases=200, seconds=120)

"""Cases in processes of their own, forked from a warm parent, within limits of time and memory."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from .cases import Draw, Front, Outcome, Run, TimeUp, ending

__all__ = ["check_single_threaded", "fork", "run_alone", "run_cases"]

_STACK = "stack.txt"


def check_single_threaded() -> None:
    """Raise where the process has other threads, which a fork would leave behind with their locks held."""
    tasks = Path("/proc/self/task")
    if tasks.is_dir() and len(list(tasks.iterdir())) > 1:
        raise RuntimeError("the harness has more than one thread: it forks, and has to be on its own")


def run_cases(front: Front, draw: Draw, run: Run, numbers: Sequence[int], folder: Path) -> Iterator[Outcome]:
    """The outcomes of cases, in their order, a batch a process."""
    gc.collect()
    gc.freeze()  # what is there is left alone by the children, whose memory stays shared
    todo = list(numbers)
    while todo:
        batch = todo[: front.batch]
        outcomes = _run_batch(front, draw, run, batch, folder)
        todo = todo[len(outcomes) :]
        last = outcomes[-1]
        if last.kind in ("death", "time") and len(batch) > 1:
            outcomes[-1] = _told_apart(last, run_alone(front, draw, run, last.number, folder), batch[0])
        yield from outcomes


def _told_apart(in_batch: Outcome, alone: Outcome, first: int) -> Outcome:
    """The outcome of a case that ended its process, after it was run again alone."""
    if alone.failed or in_batch.kind == "time":  # what is fast enough alone had to wait for other processes
        return alone
    detail = f"{in_batch.detail}; not alone, but after the cases from {first} on"
    return replace(in_batch, detail=detail)


def run_alone(front: Front, draw: Draw, run: Run, number: int, folder: Path, *, verbose: bool = False) -> Outcome:
    """The outcome of one case in a process of its own; `verbose` lets it say all it has to say."""
    return _run_batch(front, draw, run, [number], folder, verbose=verbose)[-1]


def _run_batch(
    front: Front, draw: Draw, run: Run, numbers: Sequence[int], folder: Path, *, verbose: bool = False
) -> list[Outcome]:
    """The outcomes of the first cases of a batch, all of them unless one has ended the process: that is the last."""
    (folder / _STACK).unlink(missing_ok=True)
    reading, writing = os.pipe()
    child = fork(lambda: _work(front, draw, run, numbers, folder, reading, writing, verbose))
    os.close(writing)
    outcomes: list[Outcome] = []
    try:
        too_slow = _listen(reading, outcomes, front.seconds + front.grace)
    finally:
        os.close(reading)
        if len(outcomes) < len(numbers):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    if len(outcomes) == len(numbers):
        return outcomes
    number = numbers[len(outcomes)]
    if too_slow:
        return [
            *outcomes,
            Outcome(number, "time", f"killed after {front.seconds + front.grace:g} s @ {_stack(folder)}"),
        ]
    how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit code {status >> 8}"
    return [*outcomes, Outcome(number, "death", f"{how} @ {_stack(folder)}")]


def _listen(reading: int, outcomes: list[Outcome], seconds: float) -> bool:
    """Gather what a child reports until it ends; True where it has said nothing for too long."""
    text = b""
    while True:
        if not select.select([reading], [], [], seconds)[0]:
            return True
        block = os.read(reading, 1 << 16)
        if not block:
            return False
        *lines, text = (text + block).split(b"\n")
        outcomes += [Outcome(**json.loads(line)) for line in lines]


def fork(work: Callable[[], Any]) -> int:
    """Start a process that does this work and ends, with exit code 1 where it raises; the number of the process."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _work(
    front: Front,
    draw: Draw,
    run: Run,
    numbers: Sequence[int],
    folder: Path,
    reading: int,
    writing: int,
    verbose: bool,
) -> None:
    """What a child does: its cases, one after the other, and a line about each."""
    os.close(reading)
    os.setpgid(0, 0)  # so that it can be ended with all that it starts
    _limit_memory(front.n_bytes)
    if not verbose:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
    warnings.simplefilter("ignore")
    with open(folder / _STACK, "w", encoding="utf-8") as stack:
        faulthandler.enable(stack)
        signal.signal(signal.SIGALRM, _time_is_up)
        for number in numbers:
            outcome = _run(front, draw, run, number, folder / "case", verbose)
            os.write(writing, json.dumps(outcome.to_json()).encode() + b"\n")


def _time_is_up(*_: Any) -> NoReturn:
    raise TimeUp


def _limit_memory(n_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sizes = Path("/proc/self/statm")
    if sizes.exists():
        now = int(sizes.read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + n_bytes, now + n_bytes))


def _run(front: Front, draw: Draw, run: Run, number: int, folder: Path, verbose: bool) -> Outcome:
    started = time.perf_counter()
    counted: dict[str, int] = {}
    try:
        signal.setitimer(signal.ITIMER_REAL, front.seconds)
        case = draw(number)
        write_files(case.files, folder)
        counted = run(json.loads(json.dumps(case.what)), folder) or {}  # as when it is kept and run again
        kind, detail = "answer", ""
    except BaseException as error:
        if verbose:
            traceback.print_exc()
        kind, detail = ending(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    shutil.rmtree(folder, ignore_errors=True)
    return Outcome(number, kind, detail[:600], time.perf_counter() - started, counted)


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write files into a folder, which is made where there is none."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        place = folder / name
        if "/" in name:
            place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def _stack(folder: Path) -> str:
    """Where in the package a process was when it died, as far as it could still say."""
    try:
        lines = (folder / _STACK).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return "?"
    places = [line.split('"') for line in lines if "topicfold" in line and line.count('"') == 2]
    if not places:
        return "?"
    _, path, rest = places[0]
    return f"{Path(path).name}:{rest.split()[2]}"

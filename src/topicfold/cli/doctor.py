"""The checks of `topicfold doctor`: what is installed, what the machine has, and whether a fit works."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from .._version import __version__

__all__ = ["DEVELOPMENT", "examine", "missing_packages"]

# Extras for work on topicfold itself.
DEVELOPMENT = ("all", "test", "lint", "check", "bench", "docs")
_Say = Callable[[str], None]


def examine(say: _Say) -> list[str]:
    """Report the installation line by line, and return the problems found."""
    problems: list[str] = []
    _machine(say)
    problems += _packages(say)
    _extras(say)
    _threads(say)
    _caches(say)
    try:
        problems += _self_test(say)
    except Exception as error:  # whatever it is, it is the answer that was asked for
        problems.append(f"the test fit failed: {type(error).__name__}: {error}")
    return problems


def _machine(say: _Say) -> None:
    say(f"topicfold     {__version__} in {Path(__file__).parents[1]}")
    say(f"Python        {platform.python_version()} ({platform.python_implementation()}), {sys.executable}")
    say(f"system        {platform.platform()}, {platform.machine()}")
    say(f"memory        {_memory()}")


def _memory() -> str:
    from ..engine.machine import machine_memory

    return f"{machine_memory() / 2**30:.1f} GB" if hasattr(os, "sysconf") else "unknown"


def _requirements() -> dict[str, list[tuple[str, str]]]:
    """Name and lowest version of what is required, by extra; the key '' has those that are always needed."""
    requirements: dict[str, list[tuple[str, str]]] = {"": []}
    for line in requires("topicfold") or []:
        requirement, _, condition = line.partition(";")
        match = re.match(r"([A-Za-z0-9._-]+)(\[[^]]*\])?(?:>=([0-9.]+))?", requirement.strip())
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", condition)
        if match is not None:
            requirements.setdefault(extra[1] if extra else "", []).append((match[1], match[3] or "0"))
    return requirements


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _older(installed: str, lowest: str) -> bool:
    """Whether a version is below another.

    >>> _older("1.9", "1.26"), _older("2.0.1rc1", "2.0"), _older("2.0", "2.0.0")
    (True, False, False)
    """
    numbers = [[int(part) for part in re.findall(r"\d+", text.split("rc")[0])] for text in (installed, lowest)]
    width = max(map(len, numbers))
    return numbers[0] + [0] * (width - len(numbers[0])) < numbers[1] + [0] * (width - len(numbers[1]))


def missing_packages(requirements: list[tuple[str, str]]) -> list[str]:
    """Packages that are missing or too old, as requirements for pip.

    >>> missing_packages([("click", "8.1"), ("click", "999"), ("no-such-package", "1.0")])
    ['click>=999', 'no-such-package>=1.0']
    """
    versions = [(name, lowest, _installed(name)) for name, lowest in requirements]
    return [f"{name}>={lowest}" for name, lowest, have in versions if have is None or _older(have, lowest)]


def _packages(say: _Say) -> list[str]:
    requirements = _requirements()[""]
    say("packages      " + ", ".join(f"{name} {_installed(name) or 'missing'}" for name, _ in requirements))
    missing = missing_packages(requirements)
    return [f"missing or too old: {', '.join(missing)}; pip install {' '.join(map(repr, missing))}"] if missing else []


def _extras(say: _Say) -> None:
    for extra, requirements in _requirements().items():
        if extra in ("", *DEVELOPMENT):
            continue
        if missing_packages(requirements):
            say(f"extra         {extra}: not installed; pip install 'topicfold[{extra}]'")
        else:
            say(f"extra         {extra}: " + ", ".join(f"{name} {_installed(name)}" for name, _ in requirements))


def _threads(say: _Say) -> None:
    import numpy as np
    import scipy.linalg
    from threadpoolctl import threadpool_info

    from ..engine.blocks import n_threads

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    say(f"threads       {os.cpu_count()} CPUs, {usable} for this process; n_jobs=-1 uses {n_threads(-1)}")
    assert np.ones(1) @ scipy.linalg.inv(np.eye(1)) == 1.0  # both have loaded their libraries
    for library in threadpool_info():
        name = f"{library['internal_api']} {library['version'] or ''}".strip()
        say(f"              {name}: {library['num_threads']} threads, 1 during a fit")
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        if variable in os.environ:
            say(f"              {variable}={os.environ[variable]}")


def _caches(say: _Say) -> None:
    from ..engine.machine import user_cache

    kernels = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache("numba"))
    hub = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or "~/.cache/huggingface") / "hub"
    locked = kernels.is_dir() and not os.access(kernels, os.W_OK)
    say(f"kernels       {_size_of(kernels)}" + ", not writable: each process compiles them again" * locked)
    say(f"embedders     {_size_of(Path(hub).expanduser())}")
    say(f"names         {_size_of(user_cache('names'))}")
    say("embeddings    kept next to the input of --embed, in folders embeddings-*")


def _size_of(folder: Path) -> str:
    if not folder.is_dir():
        return f"{folder}, does not exist yet"
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return f"{folder}, {sum(sizes) / 1e6:.1f} MB in {len(sizes):,} files"


def _self_test(say: _Say) -> list[str]:
    """Fit three topics to documents of three kinds, and check that the topics tell the kinds apart."""
    started = time.perf_counter()
    from ..models import DEFAULT_MODEL, MODELS

    model_class = MODELS[DEFAULT_MODEL].load()

    loaded = time.perf_counter()
    texts = ["cat dog cow", "dog cow cat cat", "sun moon star", "moon star sun star", "tea milk water", "milk tea tea"]
    fitted = model_class(n_topics=3, random_state=0, max_iter=20, verbose=False).fit(texts * 5)
    kinds = fitted.document_topics(texts).argmax(axis=1)
    done = time.perf_counter()
    say(f"test fit      imports {loaded - started:.1f} s, fit {done - loaded:.1f} s")
    together = all(kinds[row] == kinds[row + 1] for row in (0, 2, 4))
    if not together or len(set(kinds.tolist())) != 3:
        return [f"the test fit put documents of three kinds into topics {kinds.tolist()}"]
    return []

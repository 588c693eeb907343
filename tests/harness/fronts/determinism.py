"""The same bits whatever the number of threads, the seed of Python's hashes, or what has been compiled before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..cases import Case, Draw, Front, Run, SilentChange, generator
from ..fit_digest import THREADS, digest
from ..small_models import VARIANTS

__all__ = ["FRONT"]

_ROOT = Path(__file__).parents[3]
_COLD_FROM, _CYCLE = 2, 3  # the third time that all models are gone through, kernels are compiled anew


def _draw(number: int) -> Case:
    rng = generator("determinism", number)
    variant, seed = VARIANTS[number % len(VARIANTS)], number // (_CYCLE * len(VARIANTS))
    threads = str(rng.choice((1, 2, 4)))
    changed = {
        "PYTHONHASHSEED": str(rng.randrange(2**32)),
        "OPENBLAS_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
    }
    cold = number // len(VARIANTS) % _CYCLE >= _COLD_FROM
    what = {"variant": variant, "seed": seed, "changed": changed, "cold": cold}
    return Case(f"{variant}, seed {seed}, {changed}{', cold cache' if cold else ''}", what)


def _run(what: dict[str, Any], folder: Path) -> dict[str, int]:
    variant, seed, cold = what["variant"], what["seed"], what["cold"]
    expected = digest(variant, seed, 1)
    cache = {"NUMBA_CACHE_DIR": str(folder)} if cold else {}
    package = __package__.removesuffix(".fronts")
    done = subprocess.run(
        [sys.executable, "-m", f"{package}.fit_digest", variant, str(seed)],
        cwd=_ROOT if package.startswith("tests.") else _ROOT / "tests",
        env={**os.environ, **what["changed"], **cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    for n_jobs, bits in zip(THREADS, done.stdout.split(), strict=True):
        if bits != expected:
            raise SilentChange(f"{variant}, seed {seed}: other bits with {n_jobs} threads and {what}")
    return {"fits compared": len(THREADS), "with kernels compiled anew": len(THREADS) * cold}


def _prepare() -> tuple[Draw, Run]:
    for variant in VARIANTS:
        digest(variant, 0, 1)
    return _draw, _run


FRONT = Front("fits with other threads, hashes and caches", _prepare, n_cases=30, seconds=400, n_bytes=4 << 30)

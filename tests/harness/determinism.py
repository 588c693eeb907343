"""The same bits whatever the number of threads, the seed of Python's hashes, or what has been compiled before."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .cases import Case, Group, SilentChange, generator
from .fit_digest import THREADS, digest
from .small_models import VARIANTS

__all__ = ["GROUP"]

_ROOT = Path(__file__).parents[2]
_COLD_FROM, _CYCLE = 2, 3  # the third time that all models are gone through, kernels are compiled anew


def _case(number: int) -> Case:
    rng = generator("determinism", number)
    variant, seed = VARIANTS[number % len(VARIANTS)], number // (_CYCLE * len(VARIANTS))
    threads = str(rng.choice((1, 2, 4)))
    changed = {
        "PYTHONHASHSEED": str(rng.randrange(2**32)),
        "OPENBLAS_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
    }
    cold = number // len(VARIANTS) % _CYCLE >= _COLD_FROM

    def run(folder: Path) -> dict[str, int]:
        expected = digest(variant, seed, 1)
        cache = {"NUMBA_CACHE_DIR": str(folder)} if cold else {}
        done = subprocess.run(
            [sys.executable, "-m", f"{__package__}.fit_digest", variant, str(seed)],
            cwd=_ROOT if __package__.startswith("tests.") else _ROOT / "tests",
            env={**os.environ, **changed, **cache},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        for n_jobs, found in zip(THREADS, done.stdout.split(), strict=True):
            if found != expected:
                raise SilentChange(f"{variant}, seed {seed}: other bits with {n_jobs} threads and {changed | cache}")
        return {"fits compared": len(THREADS), "with kernels compiled anew": len(THREADS) * cold}

    return Case(f"{variant}, seed {seed}, {changed}{', cold cache' if cold else ''}", run)


def _prepare() -> Callable[[int], Case]:
    for variant in VARIANTS:
        digest(variant, 0, 1)
    return _case


GROUP = Group("fits with other threads, hashes and caches", _prepare, n_cases=30, seconds=400, n_bytes=4 << 30)

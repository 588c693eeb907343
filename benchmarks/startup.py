"""Start-up time: imports, and the first fit of a process against the second."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from .common import Row, Setting, alternating, at_most, cpu, fresh, seconds

_IMPORT = 1.2  # against import numba
_MODEL_IMPORT = 1.2  # seconds
_FIRST_FIT = 0.5  # seconds


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    repeats = setting.repeats(11, 9)
    ours, numba = alternating(lambda: _import("topicfold"), lambda: _import("numba"), repeats=repeats)
    plsa = median(_import("topicfold.models.plsa.plsa") for _ in range(3))
    what = f"({repeats} processes)"
    yield at_most(f"import topicfold, against import numba {what}", ours, numba, _IMPORT, seconds)
    yield Row(
        "import topicfold.models.plsa.plsa, with scikit-learn, against import numba (3 processes)",
        seconds(plsa),
        seconds(numba),
        f"{plsa / numba:.3g}x",
        f"<= {_MODEL_IMPORT} s",
        plsa <= _MODEL_IMPORT,
    )
    fresh(two_fits)  # now all compiled kernels are in the cache
    fits = [fresh(two_fits) for _ in range(setting.repeats(5))]
    first, second = median(pair[0] for pair in fits), median(pair[1] for pair in fits)
    later = median(pair[0] - pair[1] for pair in fits)
    yield Row(
        f"First fit of a process against its second, demo corpus, K=20, kernels in the cache ({len(fits)} processes)",
        seconds(first),
        seconds(second),
        f"{later:.2f} s longer",
        f"<= {_FIRST_FIT} s",
        later <= _FIRST_FIT,
    )


def _import(module: str) -> float:
    """CPU seconds of a fresh interpreter that imports a module."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def two_fits() -> tuple[float, float]:
    """CPU seconds of the first and second fit of this process."""
    from topicfold import PLSA
    from topicfold.datasets import load_demo

    corpus = load_demo()

    def fit() -> None:
        PLSA(20, max_iter=5, tol=0, random_state=0, verbose=False).fit(corpus)

    return cpu(fit), cpu(fit)

"""The bits of a fit depend neither on what is in numba's cache nor on where a kernel was compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from tests.harness.fit_digest import digest
print([digest(variant, 0, 1) for variant in sys.argv[1:]])
"""
ROOT = Path(__file__).parents[1]


def digests_of_new_process(cache):
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, "LDA", "PLSA", "LDCC", "HLTA"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def test_a_cold_and_a_warm_cache_give_the_same_bits(tmp_path):
    """Kernels with inlined passages: compiled now or taken from the cache, they must be the same code."""
    cold = digests_of_new_process(tmp_path)
    assert list(tmp_path.rglob("*.nbc"))  # compiled there
    for file in sorted(tmp_path.rglob("*.nbi"))[::2]:  # half of the kernels are compiled again, among cached ones
        file.unlink()
    assert digests_of_new_process(tmp_path) == cold

"""The bits of a fit depend neither on what is in numba's cache nor on where a kernel was compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from tests.harness.fit_digest import digest
print(digest(sys.argv[1], 0, 1))
"""
ROOT = Path(__file__).parents[1]


def digest_of_new_process(variant, cache):
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, variant],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


@pytest.mark.parametrize("variant", ["LDA", "PLSA", "LDCC", "HLTA"])
def test_a_cold_and_a_warm_cache_give_the_same_bits(tmp_path, variant):
    """Kernels with inlined passages: compiled with the passages in the cache or not, they must be the same code."""
    cold = digest_of_new_process(variant, tmp_path)
    assert list(tmp_path.rglob("*.nbc"))  # compiled there
    assert digest_of_new_process(variant, tmp_path) == cold


def test_kernels_compiled_one_by_one_give_the_same_bits(tmp_path):
    """A cache that has some kernels of a fit already, compiled by another model, and not the others."""
    expected = digest_of_new_process("PLSA", tmp_path / "own")
    digest_of_new_process("LDA", tmp_path / "other")
    assert digest_of_new_process("PLSA", tmp_path / "other") == expected

"""All kernels with numba's bounds checking on: an index that leads out of an array is an error there, not a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_no_kernel_leaves_its_arrays(tmp_path):
    script = Path(__file__).with_name("every_kernel.py")
    more = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}  # its own cache: the flag changes the code
    ran = subprocess.run([sys.executable, script], env={**os.environ, **more}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.split() == []  # kernels that were not called

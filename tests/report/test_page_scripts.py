"""The page's scripts without a browser: Node runs tests/page/*.test.js."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from scripts.check_page import NEEDED_NODE, find_node

ROOT = Path(__file__).parents[2]


def test_scripts_of_the_page():
    node = find_node()
    if node is None:
        give_up = pytest.fail if os.environ.get("TOPICFOLD_NODE") == "required" else pytest.skip
        give_up(f"needs {NEEDED_NODE}")
    # the page's scripts are modules without a package.json that says so: Node finds out, and would warn
    command = [node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--test", "--test-reporter=tap"]
    tests = sorted(map(str, (ROOT / "tests" / "page").glob("*.test.js")))
    ran = subprocess.run([*command, *tests], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\n# pass " in ran.stdout
    assert "\n# skipped 0\n" in ran.stdout

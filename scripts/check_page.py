"""Check the scripts of the page with Prettier; with --fix, format them.

The linter is installed in tests/page/node_modules. Without Node or its packages the check is skipped with a line that
says so, or fails if TOPICFOLD_NODE=required.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "tests" / "page"
SCRIPTS = ("src/topicfold/report/web/{,views/}*.js",)
OLDEST_NODE = (20, 19)


def find_node() -> str | None:
    """Node of this Python environment, else the one on PATH, if it is new enough."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    node = shutil.which("node", path=path)
    if node is None:
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return node if tuple(map(int, re.findall(r"\d+", version)[:2])) >= OLDEST_NODE else None


def installed() -> bool:
    """Install the linter as package-lock.json says, unless it is there already; whether it is there now."""
    record, lock = TOOLS / "node_modules" / ".package-lock.json", TOOLS / "package-lock.json"
    if record.exists() and record.stat().st_mtime >= lock.stat().st_mtime:
        return True
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    npm = shutil.which("npm", path=path)
    return npm is not None and subprocess.run([npm, "ci", "--silent"], cwd=TOOLS, check=False).returncode == 0


def main() -> int:
    """The exit code."""
    node = find_node()
    if node is None or not installed():
        missing = "the packages of tests/page" if node else "Node {}.{} or newer".format(*OLDEST_NODE)
        print(f"the page's scripts are not checked: this needs {missing}", file=sys.stderr)
        return int(os.environ.get("TOPICFOLD_NODE") == "required")
    fix = "--fix" in sys.argv[1:]
    prettier = ["prettier/bin/prettier.cjs", "--config", "tests/page/package.json", "--log-level", "warn"]
    commands = [[*prettier, "--write" if fix else "--check", *SCRIPTS]]
    return max(
        subprocess.run([node, TOOLS / "node_modules" / program, *arguments], cwd=ROOT, check=False).returncode
        for program, *arguments in commands
    )


if __name__ == "__main__":
    sys.exit(main())

"""Check the scripts of the page and their tests: length of lines, ESLint, Prettier; with --fix, format them.

The linters are installed in tests/page/node_modules. Without Node or its packages they are skipped with a line that
says so, or fail if TOPICFOLD_NODE=required.
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
SCRIPTS = ("src/topicfold/report/web/*.js", "src/topicfold/report/web/views/*.js", "tests/page/*.js")
LONGEST_LINE = 140  # also of those that Prettier does not break
NEEDED_NODE = "Node 20.19, or 22.13 or newer"  # what ESLint needs; these load modules without being told that they are


def find_node() -> str | None:
    """Node of this Python environment, else the one on PATH, if it is new enough."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    node = shutil.which("node", path=path)
    if node is None:
        return None
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    found = tuple(map(int, re.findall(r"\d+", version)[:2]))
    return node if found >= (22, 13) or (20, 19) <= found < (21, 0) else None


def installed() -> bool:
    """Install the linters as package-lock.json says, unless it is there already; whether it is there now."""
    record, lock = TOOLS / "node_modules" / ".package-lock.json", TOOLS / "package-lock.json"
    if record.exists() and record.stat().st_mtime >= lock.stat().st_mtime:
        return True
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    npm = shutil.which("npm", path=path)
    return npm is not None and subprocess.run([npm, "ci", "--silent"], cwd=TOOLS, check=False).returncode == 0


def long_lines() -> list[str]:
    """Where a line is too long, and how long it is."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} characters: expected at most {LONGEST_LINE}; break the line"
        for pattern in SCRIPTS
        for path in sorted(ROOT.glob(pattern))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]


def linted(node: str, fix: bool) -> bool:
    """Whether ESLint and Prettier have nothing to say."""
    eslint = ["eslint/bin/eslint.js", "--config", "tests/page/eslint.config.js", "--max-warnings", "0"]
    prettier = ["prettier/bin/prettier.cjs", "--config", "tests/page/package.json", "--log-level", "warn"]
    commands = [
        [*eslint, *(["--fix"] if fix else []), *SCRIPTS],
        [*prettier, "--write" if fix else "--check", *SCRIPTS],
    ]
    codes = [
        subprocess.run([node, TOOLS / "node_modules" / program, *arguments], cwd=ROOT, check=False).returncode
        for program, *arguments in commands
    ]
    return not any(codes)


def main() -> int:
    """The exit code."""
    node = find_node()
    if node is None or not installed():
        missing = "the packages of tests/page" if node else NEEDED_NODE
        print(f"the page's scripts are not linted: this needs {missing}", file=sys.stderr)
        passed = os.environ.get("TOPICFOLD_NODE") != "required"
    else:
        passed = linted(node, "--fix" in sys.argv[1:])
    complaints = long_lines()
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return int(not passed or bool(complaints))


if __name__ == "__main__":
    sys.exit(main())

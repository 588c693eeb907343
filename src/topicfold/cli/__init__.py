"""The command line. Each command parses, calls one function, and prints: data to stdout, messages to stderr."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; Ctrl-C while its modules are imported ends it without a traceback."""
    try:
        from .app import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run(arguments)

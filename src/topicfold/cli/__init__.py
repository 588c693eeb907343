"""The command line. Each command parses, calls one function, and prints: data to stdout, messages to stderr."""

from .app import cli, main

__all__ = ["cli", "main"]

"""The command line."""

from .commands import cli, main

__all__ = ["cli", "main"]

"""Commands of topicfold in the process of a case, whose imports are done."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

from topicfold.cli import main

__all__ = ["run_command"]


def run_command(words: Sequence[str]) -> None:
    """Run a command; what it refuses is a ValueError, and what it takes for a bug a RuntimeError."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main(list(words))
        except SystemExit as leaving:
            last = said.getvalue().strip().rpartition("\n")[2]
            if "not enough memory" in last:
                raise MemoryError(last) from None
            if leaving.code == 2:
                raise ValueError(last) from None
            if leaving.code:
                raise RuntimeError(said.getvalue()) from None

"""Stored files with right checksums and strange contents, through the command line; corpora are mapped into memory."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from ..cases import Case, Draw, Front, Run, generator
from ..command_line import run_command
from ..rewriting import rewritten
from ..small_models import small_corpus
from ..stored_files import StoredFile, stored_files

__all__ = ["FRONT"]

_LARGE = "topicfold.corpus.corpus_file._LARGE"  # bytes, from which on a corpus is mapped

# FILE is the file of the case, MODEL and CORPUS are in order, OUT is in the folder of the case
_COMMANDS = {
    "corpus": (
        "explore MODEL FILE --out OUT.html", "explore FILE --topics 2 --out OUT.html", "assign MODEL FILE --out OUT",
        "contrast MODEL FILE --by labels", "effects MODEL FILE --formula ~size", "search MODEL FILE cat",
        "score MODEL FILE", "tasks MODEL FILE --out OUT.html", "read FILE --out OUT.safetensors",
        "fit FILE --model plsa -p n_topics=2 -p max_iter=3 --out OUT.safetensors",
        "fit FILE --model ldcc -p n_topics=2 -p max_iter=2 --out OUT.safetensors",
        "fit FILE --model hlta -p max_iter=2 --out OUT.safetensors",
        "select FILE --model plsa -p n_topics=[2,3] -p max_iter=2",
    ),
    "model": (
        "explore FILE CORPUS --out OUT.html", "assign FILE CORPUS --out OUT", "contrast FILE CORPUS --by labels",
        "effects FILE CORPUS --formula ~size", "search FILE CORPUS cat", "score FILE CORPUS", "show FILE",
        "tasks FILE CORPUS --out OUT.html", "tree FILE --reduce 2 --out OUT.safetensors",
    ),
    "tree": (
        "show FILE", "tree FILE --merge 0,1 --out OUT.safetensors", "explore MODEL CORPUS --tree FILE --out OUT.html",
        "assign MODEL CORPUS --tree FILE --out OUT", "name FILE",
    ),
}  # fmt: skip


def _placed(command: str, inputs: Path, folder: Path) -> Sequence[str]:
    """The words of a command with the paths of its files."""
    named = {"FILE": folder / "file", "MODEL": inputs / "model", "CORPUS": inputs / "corpus"}
    return [str(named.get(word, word)).replace("OUT", f"{folder}/out") for word in command.split()]


def _run_mapped(words: Sequence[str]) -> None:
    with mock.patch(_LARGE, 0):
        run_command(words)


def _draw(sources: Sequence[StoredFile], number: int) -> Case:
    rng = generator("commands", number)
    source = rng.choice(sources)
    command = rng.choice(_COMMANDS[source.kind])
    content, changes = rewritten(source.arrays, source.metadata, rng)
    return Case(f"{command}, {source.kind} {source.variant}, made anew: {changes}", command, {"file": content})


def _prepare() -> tuple[Draw, Run]:
    corpus = small_corpus()
    inputs = Path(tempfile.mkdtemp(prefix="harness-inputs-"))
    sources = [source for source in stored_files(inputs, corpus) if source.kind in _COMMANDS]
    corpus.save(inputs / "corpus")
    (inputs / "model").write_bytes(next(s.content for s in sources if s.kind == "model" and s.variant == "LDA"))
    for source in sources:
        (inputs / "file").write_bytes(source.content)
        for command in _COMMANDS[source.kind]:
            with contextlib.suppress(ValueError):  # not all that a flat tree can do can be done to a hierarchy
                _run_mapped(_placed(command, inputs, inputs))
    return (
        lambda number: _draw(sources, number),
        lambda command, folder: _run_mapped(_placed(command, inputs, folder)),
    )


FRONT = Front("strange files of topicfold, through the command line", _prepare, n_cases=2000, batch=50, seconds=60)

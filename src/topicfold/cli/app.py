"""The program `topicfold`: its commands, and how errors are reported."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from .._version import __version__
from ..errors import TopicfoldError
from .corpus_commands import check, read
from .document_commands import assign, score, search
from .examples import EXAMPLES
from .fit_commands import demo, fit, select
from .help_commands import completion, doctor, models
from .judgement_commands import agreement, tasks
from .label_command import label
from .messages import BUG, INTERRUPTED, TERMINATED, say, what_is_written
from .metadata_commands import contrast, effects
from .naming_commands import name
from .topic_commands import explore, show, tree

__all__ = ["cli", "main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: errors are one line on stderr, unless --debug asks for the traceback.

    The exit code is 2 for what the user or the system can change, and 70 for a bug in topicfold.
    """
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words  # anywhere, not only before the command
    words = [word for word in words if word != "--debug"]
    if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # data is the same on every machine
    terminated: list[bool] = []
    try:
        with warnings.catch_warnings(), _taken_as_interrupt(signal.SIGTERM, terminated):
            warnings.showwarning = lambda message, *_, **__: say(f"topicfold: {message}")
            code = cli.main(words, prog_name="topicfold", standalone_mode=False) or 0
            sys.exit(TERMINATED if terminated else code)
    except SystemExit as leaving:
        raise SystemExit(TERMINATED) if terminated and leaving.code == INTERRUPTED else leaving from None
    except click.exceptions.Abort as reason:
        if isinstance(reason.__cause__ or reason.__context__, EOFError):  # click treats it as Ctrl-D
            _fail("standard input or a file ended early", 2)
        ending = ": ".join(filter(None, ["terminated" if terminated else "interrupted", what_is_written()]))
        _fail(ending, TERMINATED if terminated else INTERRUPTED)
    except BrokenPipeError:  # the program that reads our output, such as head, has stopped
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except click.UsageError as error:
        hint = f"\nTry: {error.ctx.command_path} --help" if error.ctx else ""
        _fail(error.format_message() + hint, 2)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except Exception as error:
        if debug:
            raise
        if isinstance(error, TopicfoldError | OSError):  # an OSError of the system, such as a full disk
            _fail(str(error) or type(error).__name__, 2)
        if isinstance(error, MemoryError):
            _fail("not enough memory for this input", 2)
        _fail(
            f"this is a bug in topicfold: {type(error).__name__}: {error}; the traceback is in {_write_traceback()}: "
            "please open an issue with this file and the output of 'topicfold doctor'",
            BUG,
        )


@contextmanager
def _taken_as_interrupt(number: int, came: list[bool]) -> Iterator[None]:
    """Treat a signal like Ctrl-C, which keeps the model fitted so far; `came` gets an entry when the signal comes."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(number) != signal.SIG_DFL:
        yield
        return

    def interrupt(*_: Any) -> None:
        came.append(True)
        signal.raise_signal(signal.SIGINT)

    signal.signal(number, interrupt)
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL)


def _write_traceback() -> Path:
    """A new file with the traceback of the error that is being handled."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="topicfold-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
    ) as file:
        file.write(f"topicfold {__version__}\n{traceback.format_exc()}")
    return Path(file.name)


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"topicfold: {message}", err=True)
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
@click.option("--debug", is_flag=True, help="Show the traceback of an error; can be placed anywhere.")
def cli(debug: bool) -> None:
    """Find what a collection of texts is about.

    INPUT is a folder of text files, CSV, TSV, JSONL (also .gz), Parquet, Matrix Market, LDA-C, UCI bag of words,
    SVMlight, scipy .npz, or a corpus saved as .safetensors; '-' is JSONL on stdin. A pattern in quotes,
    'part-*.csv.gz', stands for all files that match it.
    """


_COMMANDS = (
    *(check, read, fit, select, demo),
    *(show, tree, name, explore),
    *(assign, label, search, score),
    *(effects, contrast, tasks, agreement),
    *(models, doctor, completion),
)
for _command in _COMMANDS:
    _command.epilog = "\n".join(["\b", "Examples:", *(f"  {line}" for line in EXAMPLES[str(_command.name)])])
    cli.add_command(_command)

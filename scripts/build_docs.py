"""Write the generated pages: docs/cli.md from the --help of every command. `make docs` runs it; a test checks it."""

from __future__ import annotations

from pathlib import Path

import click

from topicfold.cli import cli

INTRODUCTION = (
    "Made from `--help` by `make docs`. Data goes to stdout, messages to stderr; errors are one line and exit code 2 "
    "(`topicfold --debug ...` shows the traceback); `-` is stdin or stdout."
)
PAGE = Path(__file__).parents[1] / "docs" / "cli.md"


def command_line_page() -> str:
    """The help of topicfold and of each command, as Markdown."""
    parts = ["# Command line", INTRODUCTION, _help("topicfold", cli)]
    for name, command in cli.commands.items():
        parts += [f"## {name}", _help(f"topicfold {name}", command)]
    return "\n\n".join(parts) + "\n"


def _help(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100)
    return f"```\n{command.get_help(context)}\n```"


if __name__ == "__main__":
    PAGE.write_text(command_line_page(), encoding="utf-8")

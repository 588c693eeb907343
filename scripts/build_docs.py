"""Write the generated pages: docs/cli.md from the --help of every command. `make docs` runs it; a test checks it."""

from __future__ import annotations

from pathlib import Path

import click

from topicfold.cli import cli

INTRODUCTION = (
    "Made from `--help` by `make docs`. Data goes to stdout, messages to stderr; errors are one line and exit code 2 "
    "(`topicfold --debug ...` shows the traceback); `-` is stdin or stdout."
)
COMPLETION = """\
## Completion

With its script loaded, a shell completes commands, options, files, models (`--model <Tab>`), and the parameters of the
model in the line with their values (`-p metric=<Tab>`):

```sh
topicfold completion bash > ~/.local/share/bash-completion/completions/topicfold
topicfold completion zsh > ~/.zfunc/_topicfold      # in ~/.zshrc, before compinit: fpath+=~/.zfunc
topicfold completion fish > ~/.config/fish/completions/topicfold.fish
```

In bash without the package bash-completion, put `source <(topicfold completion bash)` into `~/.bashrc`."""
PAGE = Path(__file__).parents[1] / "docs" / "cli.md"


def command_line_page() -> str:
    """The help of topicfold and of each command, as Markdown."""
    # with the settings a real run has: click remembers the help option it made first
    top = click.Context(cli, info_name="topicfold", terminal_width=100, **cli.context_settings)
    parts = ["# Command line", INTRODUCTION, _help(top), COMPLETION]
    for name, command in cli.commands.items():
        parts += [f"## {name}", _help(click.Context(command, info_name=name, parent=top, terminal_width=100))]
    return "\n\n".join(parts) + "\n"


def _help(context: click.Context) -> str:
    return f"```\n{context.get_help()}\n```"


if __name__ == "__main__":
    PAGE.write_text(command_line_page(), encoding="utf-8")

"""Write the generated pages: docs/cli.md from the --help of every command, and the live page of the explorer guide.

`make docs` runs this script; a test checks that docs/cli.md is up to date.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from topicfold.cli.app import cli

INTRODUCTION = (
    "Made from `--help` by `make docs`. Data goes to stdout, messages to stderr; errors are one line and exit code 2, "
    "and 70 for a bug in topicfold (`topicfold --debug ...` shows the traceback); `-` is stdin or stdout."
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
DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "cli.md"
LIVE_PAGE = DOCS / "_extra" / "demo.html"


def command_line_page() -> str:
    """The help of topicfold and of each command, as Markdown."""
    # use the settings of a real run: click remembers the help option that it created first
    top = click.Context(cli, info_name="topicfold", terminal_width=100, **cli.context_settings)
    parts = ["# Command line", INTRODUCTION, _help(top), COMPLETION]
    for name, command in cli.commands.items():
        parts += [f"## {name}", _help(click.Context(command, info_name=name, parent=top, terminal_width=100))]
    return "\n\n".join(parts) + "\n"


def _help(context: click.Context) -> str:
    return f"```\n{context.get_help()}\n```"


def write_live_page() -> None:
    """Write the page of `topicfold demo`, as a file of the site."""
    with tempfile.TemporaryDirectory() as folder:
        files = ["--out", str(Path(folder, "model")), "--corpus-out", str(Path(folder, "corpus"))]
        cli(["demo", *files, "--report", str(LIVE_PAGE)], standalone_mode=False)


if __name__ == "__main__":
    PAGE.write_text(command_line_page(), encoding="utf-8")
    if "--pages-alone" not in sys.argv:
        write_live_page()

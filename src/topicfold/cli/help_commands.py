"""Commands about the program itself: models, doctor, completion."""

from __future__ import annotations

import sys
import textwrap

import click

from .options import model_info
from .shell_completion import SHELLS, complete_model, script_for
from .signatures import models_by_option, signature_of

__all__ = ["completion", "doctor", "models"]


@click.command()
@click.argument("model", required=False, shell_complete=complete_model)
def models(model: str | None) -> None:
    """List the models, or the parameters of MODEL. For each parameter: name, type, default, and what it does.

    Use them with fit and select: --model NAME -p PARAMETER=VALUE.
    """
    if model is None:
        width = max(map(len, models_by_option()))
        for name in models_by_option():
            click.echo(f"{name:<{width}}  {signature_of(name).summary}")
        return
    signature = signature_of(model_info(model).name)
    click.echo(f"{signature.name}: {signature.summary}\n")
    for parameter in signature.parameters:
        click.echo(f"{parameter.name} : {parameter.type}, default={parameter.default}")
        click.echo(textwrap.fill(parameter.summary, 100, initial_indent="    ", subsequent_indent="    "))


@click.command()
def doctor() -> None:
    """Check the installation. Prints versions, threads, memory, caches and extras, and fits a small model.

    The exit code is 0 if all is well, and 1 if a package is missing or too old, or if the fit gives a wrong result.
    """
    from .doctor import examine

    problems = examine(click.echo)
    for problem in problems:
        click.echo(f"topicfold: {problem}", err=True)
    click.echo("all is well" if not problems else f"{len(problems)} problem{'s' * (len(problems) > 1)}", err=True)
    sys.exit(1 if problems else 0)


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL. It completes commands, options, models and their parameters."""
    click.echo(script_for(shell, context.find_root().command), nl=False)

"""Shell completion: possible values of options, and the scripts that bash, zsh and fish load.

To complete a word, only click and the source of one model are loaded.
"""

from __future__ import annotations

import os
from importlib import resources

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from .signatures import Parameter, default_model, models_by_option, signature_of

__all__ = [
    "SHELLS",
    "complete_graph",
    "complete_model",
    "complete_parameter",
    "complete_stop_words",
    "complete_tokenizer",
    "script_for",
]


class _Bash(BashComplete):
    # bash also breaks words at "=", as in `-p init=nmf`: here the line is split as the program will see it.
    source_template = """\
%(complete_func)s() {
    local line=${COMP_LINE:0:COMP_POINT} kind value cut=
    local word=${line##*[[:space:]]}
    [[ $word == *=* && $COMP_WORDBREAKS == *=* ]] && cut=${word%%=*}=
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${value#"$cut"}"); [[ $value == *= ]] && compopt -o nospace ;;
        esac
    done < <(COMP_WORDS="$line" %(complete_var)s=bash_complete "$1")
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s 2>/dev/null || complete -F %(complete_func)s %(prog_name)s
"""

    def source(self) -> str:
        return ShellComplete.source(self)  # without checking the bash version: the script may be for another machine

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        incomplete = "" if not line or line[-1].isspace() or len(words) < 2 else words.pop()
        return words[1:], incomplete


class _Zsh(ZshComplete):
    source_template = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local -a found whole begun
    local kind value about
    found=("${(@f)$(COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) %(complete_var)s=zsh_complete %(prog_name)s)}")
    for kind value about in "${found[@]}"; do
        if [[ $about == _ ]]; then
            value=${value//:/\\\\:}
        else
            value+=":$about"
        fi
        case $kind in
            dir) _files -/ ;;
            file) _files ;;
            plain) if [[ $value == *=(:*|) ]]; then begun+=("$value"); else whole+=("$value"); fi ;;
        esac
    done
    (( $#begun )) && _describe -V parameter begun -S ''
    (( $#whole )) && _describe -V value whole
    return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
    compdef %(complete_func)s %(prog_name)s
fi
"""


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": FishComplete}
for _shell in SHELLS.values():
    add_completion_class(_shell)


def script_for(shell: str, cli: click.Command) -> str:
    """The script that a shell loads."""
    return SHELLS[shell](cli, {}, "topicfold", "_TOPICFOLD_COMPLETE").source()


def complete_model(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Models whose names start with the incomplete word."""
    begun = [name for name in models_by_option() if name.startswith(incomplete.lower())]
    return [CompletionItem(name, help=signature_of(name).summary) for name in begun]


def complete_parameter(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Parameters of the model on the command line, or the values of one parameter."""
    options = context.params
    linked = any(options.get(name) for name in ("graphs", "embeddings", "embed", "links", "supervise"))
    model_name = options.get("model_name") or default_model(linked)
    if model_name.lower() not in models_by_option():
        return []
    parameters = signature_of(model_name).parameters
    name, equals, value = incomplete.partition("=")
    if not equals:
        return [
            CompletionItem(f"{parameter.name}=", help=_about(parameter))
            for parameter in parameters
            if parameter.name.startswith(name)
        ]
    choices = next((parameter.choices for parameter in parameters if parameter.name == name), [])
    return [CompletionItem(f"{name}={choice}") for choice in choices if choice.startswith(value)]


def _about(parameter: Parameter) -> str:
    return f"{parameter.summary} Default: {parameter.default}"


def complete_graph(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """knn, links, or files."""
    named = [CompletionItem(name) for name in ("knn", "links") if name.startswith(incomplete)]
    return named if incomplete and named else [*named, CompletionItem(incomplete, type="file")]


def complete_tokenizer(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of tokenizers; spaCy's have the name of a model after the colon."""
    # without importing topicfold.corpus
    names = ("characters", "fugashi", "kiwi", "pythainlp", "rjieba", "spacy:", "sudachi")
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_stop_words(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Languages, 'none', or files."""
    folder = resources.files("topicfold") / "corpus" / "stopwords"  # without importing topicfold.corpus
    languages = sorted(entry.name.removesuffix(".txt") for entry in folder.iterdir() if entry.name.endswith(".txt"))
    named = [CompletionItem(name) for name in ["none", *languages] if name.startswith(incomplete)]
    return named or [CompletionItem(incomplete, type="file")]

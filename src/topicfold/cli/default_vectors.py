"""The word vectors that come with the package, where `fit` and `explore` use them by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .messages import say
from .signatures import default_model

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus

__all__ = ["no_embed_option", "parameters_by_default"]

no_embed_option = click.option(
    "--no-embed",
    is_flag=True,
    help="Use only words. Otherwise, short texts in English are compared by the word vectors that come with the "
    "package, too.",
)


def parameters_by_default(corpus: Corpus, no_embed: bool) -> tuple[str, dict[str, str]]:
    """The model that is fitted to a corpus if the user names none, and its parameters; says so if it uses vectors."""
    from ..corpus.word_vectors import suit_word_vectors
    from ..models.graph.graph_model import WORD_VECTORS

    if no_embed or not suit_word_vectors(corpus):
        return default_model(), {}
    model_name = default_model(on_graph=True)
    say(
        f"short texts in English: fitting {model_name} with the word vectors of the package, by which texts are "
        "neighbours that use different words for the same thing (--no-embed uses only words)"
    )
    return model_name, {"metric": WORD_VECTORS}

"""Damaged files of our own: models, trees, corpora and checkpoints.

Half of the cases damage the bytes of a file that has checksums: it has to be refused, or be loaded as what it was. The
other half change arrays or JSON and write files with right checksums: they have to be refused, or what they give has to
be finite.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from topicfold import Corpus, TopicTree, load
from topicfold.engine.loop import Checkpoint
from topicfold.engine.store import read_file

from .cases import Case, Group, SilentChange, check_finite, each_of, generator
from .damage import damaged
from .rewriting import rewritten
from .small_models import VARIANTS, fit_options, small_corpus, small_model

__all__ = ["GROUP"]


class _Source(NamedTuple):
    """A file that is whole."""

    kind: str
    variant: str
    content: bytes
    arrays: dict[str, np.ndarray]
    metadata: dict[str, Any]


_write = Checkpoint.write


def _write_second(checkpoint: Checkpoint, state: Any, notes: dict[str, Any]) -> None:
    """Write a checkpoint after the second step, so that a fit which resumes there has some way to go."""
    if len(notes["history"]) <= 2:
        _write(checkpoint, state, notes)


def _sources(folder: Path, corpus: Corpus) -> list[_Source]:
    found = []

    def keep(kind: str, variant: str, path: Path) -> None:
        found.append(_Source(kind, variant, path.read_bytes(), *read_file(path, kind=kind)))

    for variant in VARIANTS:
        checkpoint, path = folder / "checkpoint", folder / "file"
        model = small_model(variant, checkpoint=checkpoint)
        patched = {"write": _write_second, "is_due": lambda _: True, "remove": lambda _: None}
        with mock.patch.multiple(Checkpoint, **patched):
            model.fit(corpus, **fit_options(variant, len(corpus)))
        keep("checkpoint", variant, checkpoint)
        model.save(path)
        keep("model", variant, path)
        model.topic_tree(corpus).save(path)
        keep("tree", variant, path)
        checkpoint.unlink()
    corpus.save(path)
    for variant in ("in memory", "mapped"):
        found += [
            _Source("corpus", variant, path.read_bytes(), *read_file(path, kind="corpus"))
        ] * 3  # as likely as a model
    return found


def _load(source: _Source, path: Path) -> Any:
    if source.kind == "model":
        return load(path)
    if source.kind == "tree":
        return TopicTree.load(path)
    if source.kind == "corpus":
        return Corpus.load(path, memory_map=source.variant == "mapped")
    return Checkpoint(path, source.metadata["fingerprint"]).read()


def _use(source: _Source, path: Path, corpus: Corpus) -> None:
    """Load a file and do with it what it is for."""
    if source.kind == "model":
        _use_model(load(path), source.variant, corpus)
    elif source.kind == "tree":
        _use_tree(TopicTree.load(path), path)
    elif source.kind == "corpus":
        _use_corpus(Corpus.load(path, memory_map=source.variant == "mapped"), path)
    else:
        model = small_model(source.variant, checkpoint=path)
        model.fit(corpus, **fit_options(source.variant, len(corpus)))
        check_finite("the resumed fit", model.topic_word_, model.doc_topic_, model.history_)


def _use_model(model: Any, variant: str, corpus: Corpus) -> None:
    options = fit_options(variant, len(corpus)) if "embeddings" in variant else {}

    def memberships(name: str) -> Callable[[], None]:
        return lambda: check_finite(name, getattr(model, name)(corpus.counts, **options))

    def own_tree() -> None:
        _check_tree(model.topic_tree())

    def tree_of_new() -> None:
        tree = model.topic_tree(corpus)
        _check_tree(tree)
        tree.to_json()

    calls = [memberships(name) for name in ("transform", "score", "predict", "memberships") if hasattr(model, name)]
    each_of([*calls, own_tree, tree_of_new, lambda: check_finite("texts", model.transform(["cat sun", ""]))])


def _check_tree(tree: TopicTree) -> None:
    topic_word = tree.topic_word
    check_finite("the tree", topic_word, tree.doc_topic, tree.size, tree.word_frequency)


def _use_tree(tree: TopicTree, path: Path) -> None:
    _check_tree(tree)
    first = tree.ids.tolist()[:2]
    calls: list[Callable[[], Any]] = [
        lambda: str(tree),
        tree.to_json,
        tree.to_hlta_json,
        lambda: [tree.documents(topic) for topic in tree.ids.tolist()],
        lambda: tree.topics_of(0),
        lambda: _check_tree(tree.merge(first)),
        lambda: _check_tree(tree.drop(first[:1])),
        lambda: _check_tree(tree.reduce(2)),
        lambda: str(tree.group([2])),
        lambda: str(tree.select_levels([1])),
        tree.topic_table,
        tree.document_table,
        lambda: tree.save(path),
    ]
    each_of(calls)


def _use_corpus(corpus: Corpus, path: Path) -> None:
    def fit() -> None:
        model = small_model("PLSA", 2, steps=2).fit(corpus)
        check_finite("a fit", model.topic_word_, model.doc_topic_)
        _check_tree(model.topic_tree(corpus))

    calls: list[Callable[[], Any]] = [
        fit,
        lambda: repr(corpus),
        lambda: corpus.subset([0, 1]),
        corpus.label_array,
        corpus.label_matrix,
        lambda: corpus.vectorize(["cat sun"]),
        lambda: check_finite("a fit of segments", small_model("LDCC", 2, steps=2).fit(corpus).doc_topic_),
        lambda: corpus.save(path),
    ]
    each_of(calls)


def _same(source: _Source, path: Path) -> bool:
    arrays, metadata = read_file(path, kind=source.kind)
    return (
        metadata == source.metadata
        and arrays.keys() == source.arrays.keys()
        and all(
            (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
            for one, two in ((arrays[key], source.arrays[key]) for key in arrays)
        )
    )


def _case(sources: list[_Source], corpus: Corpus, number: int) -> Case:
    rng = generator("files", number)
    source = rng.choice(sources)
    what = f"{source.kind} {source.variant}".strip()
    if rng.random() < 0.5:
        content, done = damaged(source.content, rng)

        def run(folder: Path) -> None:
            _load(source, folder / "file")
            if not _same(source, folder / "file"):
                raise SilentChange(f"a damaged {what} is loaded as something else")

        return Case(f"{what}, damaged by {', '.join(done)}", run, {"file": content}, "file")
    rewrote, changes = rewritten(source.arrays, source.metadata, rng)
    return Case(
        f"{what}, checksums made anew: {changes}",
        lambda folder: _use(source, folder / "file", corpus),
        {"file": rewrote},
    )


def _prepare() -> Callable[[int], Case]:
    corpus = small_corpus()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "file")
        sources = _sources(Path(place), corpus)
        for source in sources:
            path.write_bytes(source.content)
            with contextlib.suppress(ValueError):  # not all that a flat tree can do can be done to a hierarchy
                _use(source, path, corpus)
    return lambda number: _case(sources, corpus, number)


GROUP = Group("damaged files of models, trees, corpora and checkpoints", _prepare, n_cases=5000, batch=50)

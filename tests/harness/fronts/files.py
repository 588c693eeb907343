"""Damaged files of our own: models, trees, corpora and checkpoints.

Half of the cases damage the bytes of a file that has checksums: it has to be refused, or be loaded as what it was. The
other half change arrays or JSON and write files with right checksums: they have to be refused, or what they give has to
be finite, shares at least zero, and their sums one.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from topicfold import Corpus, TopicTree, build_report, load
from topicfold.engine.store import read_file
from topicfold.models import MODELS

from ..cases import Case, Draw, Front, Run, SilentChange, check_finite, check_shares, each_of, generator
from ..damage import damaged
from ..rewriting import rewritten
from ..small_models import fit_options, small_corpus, small_model
from ..stored_files import StoredFile, stored_files

__all__ = ["FRONT"]


def _load(kind: str, variant: str, path: Path) -> Any:
    if kind == "model":
        return load(path)
    if kind == "tree":
        return TopicTree.load(path)
    if kind == "corpus":
        return Corpus.load(path, memory_map=variant == "mapped")
    return read_file(path, kind="checkpoint")


def _use(kind: str, variant: str, path: Path, corpus: Corpus) -> None:
    """Load a file and do with it what it is for."""
    if kind == "model":
        _use_model(load(path), variant, corpus)
    elif kind == "tree":
        _use_tree(TopicTree.load(path), path)
    elif kind == "corpus":
        _use_corpus(Corpus.load(path, memory_map=variant == "mapped"), path)
    else:
        fingerprint = read_file(path, kind="checkpoint")[1].get("fingerprint")
        model = small_model(variant, checkpoint=path)
        with mock.patch("topicfold.models.fit_loop.fingerprint", return_value=fingerprint):  # a file of another version
            model.fit(corpus, **fit_options(variant, len(corpus)))
        _check_learned(model)


def _check_learned(model: Any) -> None:
    mixture = MODELS[type(model).__name__].mixture
    check_shares("topic_word_", model.topic_word_, sum_to_one=mixture)
    check_shares("doc_topic_", model.doc_topic_, sum_to_one=mixture)
    check_finite("history_", model.history_)


def _use_model(model: Any, variant: str, corpus: Corpus) -> None:
    options = fit_options(variant, len(corpus)) if "embeddings" in variant else {}
    mixture = MODELS[type(model).__name__].mixture

    def answers(name: str) -> Callable[[], None]:
        return lambda: check_finite(name, getattr(model, name)(corpus.counts, **options))

    def transform(X: Any, **options: Any) -> None:
        check_shares("transform", model.transform(X, **options), sum_to_one=mixture)

    def own_tree() -> None:
        _check_tree(model.topic_tree())

    def tree_of_new() -> None:
        tree = model.topic_tree(corpus)
        _check_tree(tree)
        tree.to_json()

    calls = [answers(name) for name in ("score", "predict", "memberships") if hasattr(model, name)]
    new = [lambda: transform(corpus.counts, **options), lambda: transform(["cat sun", ""])]
    each_of([lambda: _check_learned(model), *calls, *new, own_tree, tree_of_new])


def _check_tree(tree: TopicTree) -> None:
    lowest = tree.at_lowest_level
    check_shares("topic_word", tree.topic_word, sum_to_one=False)
    check_shares("doc_topic", tree.doc_topic[:, lowest], sum_to_one=False)
    check_finite("the tree", tree.doc_topic, tree.size, tree.word_frequency)


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
    def fit(name: str) -> None:
        model = small_model(name, 2, steps=2).fit(corpus)
        _check_learned(model)
        _check_tree(model.topic_tree(corpus))

    calls: list[Callable[[], Any]] = [
        lambda: fit("PLSA"),
        lambda: fit("LDCC"),
        lambda: fit("HLTA"),
        lambda: repr(corpus),
        lambda: corpus.subset([0, 1]),
        lambda: corpus.subset(slice(0, 9)),
        corpus.label_array,
        corpus.label_matrix,
        lambda: corpus.vectorize(["cat sun"]),
        lambda: build_report(small_model("PLSA", 2, steps=2).fit(corpus), corpus),
        lambda: corpus.save(path),
    ]
    each_of(calls)


def _same(path: Path, whole: Path, kind: str) -> bool:
    (arrays, metadata), (expected, expected_metadata) = (read_file(place, kind=kind) for place in (path, whole))
    return (
        metadata == expected_metadata
        and arrays.keys() == expected.keys()
        and all(
            (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
            for one, two in ((arrays[key], expected[key]) for key in arrays)
        )
    )


def _draw(sources: list[StoredFile], number: int) -> Case:
    rng = generator("files", number)
    source = rng.choice(sources)
    what = {"kind": source.kind, "variant": source.variant}
    about = f"{source.kind} {source.variant}"
    if rng.random() < 0.5:
        content, done = damaged(source.content, rng)
        files = {"file": content, "whole": source.content}
        return Case(f"{about}, damaged by {', '.join(done)}", {**what, "damaged": True}, files, "file")
    rewrote, changes = rewritten(source.arrays, source.metadata, rng)
    return Case(f"{about}, checksums made anew: {changes}", {**what, "damaged": False}, {"file": rewrote})


def _run(what: dict[str, Any], corpus: Corpus, folder: Path) -> None:
    kind, variant, path = what["kind"], what["variant"], folder / "file"
    if not what["damaged"]:
        _use(kind, variant, path, corpus)
        return
    _load(kind, variant, path)
    if not _same(path, folder / "whole", kind):
        raise SilentChange(f"a damaged {kind} {variant} is loaded as something else")


def _prepare() -> tuple[Draw, Run]:
    corpus = small_corpus()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "file")
        sources = stored_files(Path(place), corpus)
        for source in sources:
            path.write_bytes(source.content)
            with contextlib.suppress(ValueError):  # not all that a flat tree can do can be done to a hierarchy
                _use(source.kind, source.variant, path, corpus)
    return lambda number: _draw(sources, number), lambda what, folder: _run(what, corpus, folder)


FRONT = Front("damaged files of models, trees, corpora and checkpoints", _prepare, n_cases=5000, batch=50)

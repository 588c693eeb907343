"""Files of corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from ..engine.stored import Stored, check_stored
from ..store import damage_named, put_together, read_file, take_apart, write_file
from .corpus import Corpus, Segments
from .preprocessing import Preprocessing

__all__ = ["load_corpus", "save_corpus"]

_METADATA = "metadata:"
_STORED: Mapping[str, Stored] = {
    "counts": Stored(("documents", "words"), "sparse", low=0),
    "vocabulary": Stored(("words",), "texts", optional=True),
    "ids": Stored(("documents",), "texts"),
    "titles": Stored(("documents",), "texts", optional=True),
    "texts": Stored(("documents",), "texts", optional=True),
    "labels": Stored(("labels",), "texts", optional=True),
    "label_counts": Stored(("documents",), "whole", low=0, new=True),
    "links": Stored(("links", 2), "whole", low=0, high="documents", optional=True),
    "timestamps": Stored(("documents",), "whole", optional=True),
    "segments": Stored(("segments", "words"), "sparse", low=0, optional=True),
    "segment_documents": Stored(("segments",), "whole", low=0, high="documents", new=True),
    "preprocessing": Stored(kind="object", optional=True),
}


def save_corpus(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus with everything it knows."""
    values = dict(vars(corpus))
    if corpus.segments is not None:
        values["segments"] = corpus.segments.counts
        values["segment_documents"] = corpus.segments.documents
    if corpus.labels is not None:
        flat = tuple(label for labels in corpus.labels for label in labels)
        values["labels"] = flat
        values["label_counts"] = np.array([len(labels) for labels in corpus.labels], dtype=np.int64)
    if corpus.timestamps is not None:
        values["timestamps"] = corpus.timestamps.astype("datetime64[s]").astype(np.int64)
    for name, column in values.pop("metadata").items():
        values[f"{_METADATA}{name}"] = column.astype(np.int64) if column.dtype.kind == "M" else column
    arrays, plain = take_apart(values)
    dates = [name for name, column in corpus.metadata.items() if column.dtype.kind == "M"]
    write_file(path, arrays, {"kind": "corpus", "values": plain, "dates": dates})


def load_corpus(path: str | Path, *, tokenizer: Callable[[str], Iterable[str]] | None = None) -> Corpus:
    """Read a corpus that `save_corpus` wrote."""
    arrays, metadata = read_file(path, kind="corpus")
    with damage_named(path):
        values = put_together(arrays, metadata["values"], preprocessing=Preprocessing.from_json)
        columns = {key.removeprefix(_METADATA): values.pop(key) for key in list(values) if key.startswith(_METADATA)}
        check_stored(values, _STORED)
        for name in metadata.get("dates", ()):
            columns[name] = columns[name].astype("datetime64[s]")
        values["metadata"] = columns
        if values["segments"] is not None:
            values["segments"] = Segments(values["segments"], values.pop("segment_documents"))
        if values["labels"] is not None:
            ends = np.cumsum(values.pop("label_counts")).tolist()
            flat = values["labels"]
            if ends[-1:] != [len(flat)] and (ends or flat):
                raise ValueError(f"it has {len(flat)} labels for {ends[-1] if ends else 0} in its documents")
            values["labels"] = tuple(flat[start:end] for start, end in zip([0, *ends], ends))
        if values["timestamps"] is not None:
            values["timestamps"] = values["timestamps"].astype("datetime64[s]")
        if tokenizer is not None and values["preprocessing"] is not None:
            values["preprocessing"] = values["preprocessing"].with_tokenizer(tokenizer)
        return Corpus(**values)

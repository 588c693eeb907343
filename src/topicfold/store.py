"""Files: arrays and JSON in one .safetensors file, for models, corpora and checkpoints. Loading executes nothing.

A file appears whole or not at all: it is written beside its place and then put there, so an interrupted or failed
write leaves the file that was there before.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .corpus import Corpus, Segments
from .text import Preprocessing

__all__ = ["load", "load_corpus", "read_file", "replaced_when_whole", "save", "save_corpus", "write_file"]

SCHEMA = 1  # raised when an older topicfold could not read the file
_SPARSE_PARTS = ("data", "indices", "indptr")


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model: its class, parameters and everything it learned."""
    from .models import MODELS

    name = type(model).__name__
    if name not in MODELS or type(model).__module__ != f"topicfold.models.{MODELS[name].module}":
        raise ValueError(f"{name} is not one of topicfold's models: {', '.join(MODELS)}")
    learned = {key: value for key, value in vars(model).items() if key.endswith("_") and not key.startswith("_")}
    if not learned:
        raise ValueError(f"this {name} is not fitted: there is nothing to save")
    # a generator cannot be written down, nor is one needed: what it was used for is done
    parameters = {
        key: None if isinstance(value, np.random.RandomState | np.random.Generator) else value
        for key, value in model.get_params(deep=False).items()
    }
    arrays, plain = _take_apart({**{f"parameter:{k}": v for k, v in parameters.items()}, **learned})
    write_file(path, arrays, {"kind": "model", "class": name, "values": plain})


def load(path: str | Path, *, tokenizer: Callable[[str], Iterable[str]] | None = None) -> Any:
    """Read a model that `save` wrote.

    A model fitted on text cut by a tokenizer of one's own asks for it again: `load(path, tokenizer=cut)`; without it
    everything works but raw text.
    """
    from .models import MODELS

    arrays, metadata = read_file(path, kind="model")
    with _damage_named(path):
        name = metadata["class"]
        if name not in MODELS:
            raise ValueError(f"it holds a {name!r:.60}, and the models are: {', '.join(MODELS)}")
        values = _put_together(arrays, metadata["values"])
        parameters = {key.removeprefix("parameter:"): values.pop(key) for key in list(values) if ":" in key}
        model = MODELS[name].load()(**parameters)
        for key, value in values.items():
            if not key.endswith("_") or key.startswith("_") or not key.isidentifier():
                raise ValueError(f"a model learns nothing called {key!r:.60}")
            vars(model)[key] = value
        _check_shapes(model)
    if tokenizer is not None and model.preprocessing_ is not None:
        model.preprocessing_ = model.preprocessing_.with_tokenizer(tokenizer)
    return model


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
    arrays, plain = _take_apart(values)
    write_file(path, arrays, {"kind": "corpus", "values": plain})


def load_corpus(path: str | Path, *, tokenizer: Callable[[str], Iterable[str]] | None = None) -> Corpus:
    """Read a corpus that `save_corpus` wrote."""
    arrays, metadata = read_file(path, kind="corpus")
    with _damage_named(path):
        values = _put_together(arrays, metadata["values"])
        if values["segments"] is not None:
            values["segments"] = Segments(values["segments"], values.pop("segment_documents"))
        if values["labels"] is not None:
            ends = np.cumsum(values.pop("label_counts")).tolist()
            flat = values["labels"]
            values["labels"] = tuple(flat[start:end] for start, end in zip([0, *ends], ends))
        if values["timestamps"] is not None:
            values["timestamps"] = values["timestamps"].astype("datetime64[s]")
        if tokenizer is not None and values["preprocessing"] is not None:
            values["preprocessing"] = values["preprocessing"].with_tokenizer(tokenizer)
        if values["counts"].nnz and values["counts"].data.min() < 0:
            raise ValueError("it has negative counts")
        return Corpus(**values)


def write_file(path: str | Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
    """Write arrays and JSON-able metadata to one file, whole or not at all."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    made_by = {"schema": SCHEMA, "version": version("topicfold"), "libraries": _library_versions()}
    header = {"topicfold": json.dumps({**made_by, **metadata})}
    # safetensors writes memory as it lies: a transposed or strided array would come back scrambled
    plain = {key: np.asarray(value, order="C") for key, value in arrays.items()}
    with replaced_when_whole(path) as temporary:
        try:
            save_file(plain, temporary, header)
        except SafetensorError as error:  # a full disk, among others
            raise OSError(f"could not write {path}: {error}") from error


@contextmanager
def replaced_when_whole(path: str | Path) -> Iterator[Path]:
    """A file beside `path` to write to, put in its place when the block ends well and removed when it does not."""
    path = Path(os.path.realpath(path))  # what a link leads to is replaced, not the link
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist: create it, or write somewhere else")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_file(path: str | Path, *, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `write_file` wrote; anything else is one clear error."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: expected a .safetensors file")
    try:
        with safe_open(path, framework="np") as file:
            header = (file.metadata() or {}).get("topicfold")
            if header is None:
                raise ValueError(f"{path} is a safetensors file, but not one of topicfold's")
            metadata = json.loads(header)
            if metadata["schema"] > SCHEMA:
                raise ValueError(
                    f"{path} was written by topicfold {metadata['version']} (schema {metadata['schema']}), newer than "
                    f"this one (schema {SCHEMA}): upgrade topicfold to read it"
                )
            if metadata["kind"] != kind:
                raise ValueError(f"{path} holds a {metadata['kind']}: expected a {kind}")
            return {key: file.get_tensor(key) for key in file.keys()}, metadata  # noqa: SIM118
    except (SafetensorError, json.JSONDecodeError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged or not a topicfold file: {error}") from None


@contextmanager
def _damage_named(path: str | Path) -> Iterator[None]:
    """Whatever a file with wrong contents leads to becomes one error that names the file."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is damaged or not a topicfold file: {problem}") from None


def _check_shapes(model: Any) -> None:
    """Raise when a model's arrays do not fit each other, or hold what no fit gives."""
    topics, documents = model.topic_word_, model.doc_topic_
    if topics.ndim != 2 or topics.shape[1] != model.n_features_in_ or documents.shape[1:] != topics.shape[:1]:
        raise ValueError(f"topics of shape {topics.shape} and documents of shape {documents.shape} do not fit")
    for words in (model.vocabulary_, getattr(model, "feature_names_in_", None)):
        if words is not None and len(words) != model.n_features_in_:
            raise ValueError(f"{len(words)} words for {model.n_features_in_} columns")
    if model.document_ids_ is not None and len(model.document_ids_) != len(documents):
        raise ValueError(f"{len(model.document_ids_)} ids for {len(documents)} documents")
    for array in (topics, documents):
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ValueError("a probability is not a number")


@cache
def _library_versions() -> dict[str, str]:
    """What the numbers depend on: results are the same bits for one set of versions."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"python": platform.python_version(), **libraries}


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


# ---- values to arrays and plain JSON, and back ----------------------------------------------------------------------


def _take_apart(values: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Split named values into arrays and JSON; strings in number are kept as one run of bytes and their ends."""
    arrays: dict[str, np.ndarray] = {}
    plain: dict[str, Any] = {}
    for key, value in values.items():
        if sp.issparse(value):
            matrix = sp.csr_array(value)
            arrays.update({f"{key}.{part}": getattr(matrix, part) for part in _SPARSE_PARTS})
            plain[key] = {"is": "sparse", "shape": list(matrix.shape)}
        elif _is_strings(value):
            encoded = [text.encode("utf-8", "surrogatepass") for text in value]
            arrays[f"{key}.bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
            arrays[f"{key}.ends"] = np.cumsum([len(text) for text in encoded], dtype=np.int64)
            plain[key] = {"is": "array of strings" if isinstance(value, np.ndarray) else "strings"}
        elif isinstance(value, np.ndarray):
            arrays[key] = value
            plain[key] = {"is": "array"}
        elif isinstance(value, Preprocessing):
            plain[key] = {"is": "preprocessing", "value": value.to_json()}
        elif isinstance(value, np.generic):
            plain[key] = {"is": "value", "value": value.item()}
        elif isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            plain[key] = {"is": "value", "value": np.dtype(value).name}
        elif isinstance(value, Mapping):  # pairs, because JSON would turn numbers that are keys into strings
            plain[key] = {"is": "mapping", "value": [[_plain(k), _plain(v)] for k, v in value.items()]}
        elif hasattr(value, "__array__"):
            arrays[key] = np.asarray(value)
            plain[key] = {"is": "array"}
        else:
            plain[key] = {"is": "value", "value": _plain(value)}
    try:
        json.dumps(plain)
    except TypeError as error:
        raise ValueError(f"cannot be written to a file: {error}") from None
    return arrays, plain


def _plain(value: Any) -> Any:
    """Lists, strings and numbers of Python's own."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _put_together(arrays: Mapping[str, np.ndarray], plain: Mapping[str, Any]) -> dict[str, Any]:
    def one(key: str, entry: Mapping[str, Any]) -> Any:
        kind = entry["is"]
        if kind == "sparse":
            matrix = sp.csr_array(tuple(arrays[f"{key}.{part}"] for part in _SPARSE_PARTS), tuple(entry["shape"]))
            matrix.check_format(full_check=True)
            return matrix
        if kind.endswith("strings"):
            raw, ends = arrays[f"{key}.bytes"].tobytes(), arrays[f"{key}.ends"].tolist()
            if [0, *ends] != sorted([0, *ends]) or (ends[-1] if ends else 0) != len(raw):
                raise ValueError(f"the strings of {key!r} do not fit their bytes")
            texts = [raw[start:end].decode("utf-8", "surrogatepass") for start, end in zip([0, *ends], ends)]
            return np.array(texts, dtype=object) if kind.startswith("array") else tuple(texts)
        if kind == "array":
            return arrays[key]
        if kind == "preprocessing":
            return Preprocessing.from_json(entry["value"])
        return dict(entry["value"]) if kind == "mapping" else entry["value"]

    return {key: one(key, entry) for key, entry in plain.items()}


def _is_strings(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OU"
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)

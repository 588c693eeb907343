"""Embeddings of texts: by the vectors that come with the package, a model on disk or by name, a service, or any
function; with an optional cache on disk.

The network is used only to download a model by name that is not on this disk, and to ask a service that the user names.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..corpus.corpus import Corpus
from ..corpus.fields import check_texts
from ..corpus.word_vectors import ENGLISH, english_vectors
from ..engine.extras import import_extra
from ..engine.progress import progress
from ..engine.small_files import read_json
from ..errors import FileError, InputError, MissingExtraError, ServiceError
from .endpoint import Endpoint
from .vector_cache import VectorCache, text_digests

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DEFAULT_MODEL", "EmbeddingModel", "embed", "encoder_of"]

DEFAULT_MODEL = ENGLISH
Encoder: TypeAlias = "Callable[[list[str]], ArrayLike]"
EmbeddingModel: TypeAlias = "str | Path | Endpoint | Encoder | Any"  # Any: an object with a method `encode`
_BATCH = 1024
_PER_REQUEST = 128  # texts that are sent to a service at once
_STATIC = "minishlab/"  # models with static vectors of words
_ADDRESSES = ("http://", "https://")


def embed(
    texts: Corpus | Iterable[str],
    model: EmbeddingModel = DEFAULT_MODEL,
    *,
    cache: str | Path | None = None,
    verbose: bool | None = None,
) -> np.ndarray:
    """Compute embeddings of texts, for the `embeddings` of LTM, LapPLSI and DTM.

    Parameters
    ----------
    texts : Corpus or iterable of str
        The texts, or a Corpus that keeps its texts.
    model : str, Path, Endpoint, callable or object with a method `encode`, default='english'
        'english' is the vectors of English words that come with the package. Otherwise the folder of a model, or its
        name on the Hugging Face Hub; the address of a service with the HTTP API of OpenAI, with the name of the model
        after '#', or an Endpoint; or a function from a list of texts to a matrix, for any other library. Static
        embeddings are computed by model2vec (the extra topicfold[embed]), all others by sentence-transformers, if it
        is installed, or by fastembed (the extra topicfold[fastembed], without torch).
    cache : str, Path or None, default=None
        Folder in which vectors are stored by the content of each text and the model, to be read the next time. Only for
        models by name, folder or address, because functions cannot be identified.
    verbose : bool or None, default=None
        Whether to show progress. None shows it only on a terminal.

    Returns
    -------
    ndarray of float32 of shape (n_texts, n_features)
        One row per text. A text that is empty, or has no word that 'english' knows, has a row of zeros, and therefore
        no neighbours. A text that is too long for the model is truncated by the model.

    Raises
    ------
    InputError
        If the corpus has no texts, the model cannot be found, or it does not return one vector per text.
    ServiceError
        If a service cannot be reached, or does not return one vector per text.
    ImportError
        If the library that runs the model is not installed.

    See Also
    --------
    LTM : Topics that use embeddings.
    Endpoint : A service that computes embeddings.
    knn_graph : A graph of nearest neighbours.

    Examples
    --------
    >>> from topicfold import embed
    >>> vectors = embed(["The striker scored twice", "goals in the football match", "stocks fell on Wall Street"])
    >>> bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
    True
    >>> embed(["red", "", "blue sky"], lambda texts: [[len(text), 1] for text in texts]).tolist()
    [[3.0, 1.0], [0.0, 0.0], [8.0, 1.0]]
    """
    text_list = _texts(texts)
    # the vectors that come with the package are computed faster than they are read
    stored = None if cache is None or _is_built_in(model) else VectorCache(_cache_folder(model, cache))
    if not any(text.strip() for text in text_list):
        raise InputError("all texts are empty: there is nothing to embed")
    rows_of: dict[bytes, list[int]] = {}  # of each different text
    for row, digest in enumerate(text_digests(text_list)):
        if text_list[row].strip():
            rows_of.setdefault(digest, []).append(row)
    n_features = None if stored is None else stored.n_features
    vectors = None if n_features is None else np.zeros((len(text_list), n_features), np.float32)
    missing = list[bytes]()
    for digest, rows in rows_of.items():
        vector = None if stored is None else stored.get(digest)
        if vector is None or vectors is None:
            missing.append(digest)
        else:
            vectors[rows] = vector
    encode = encoder_of(model) if missing else None
    with progress(f"Embedding {len(missing):,} texts", len(missing), verbose=verbose) as move:
        for first in range(0, len(missing), _BATCH):
            batch = missing[first : first + _BATCH]
            assert encode is not None
            size = None if vectors is None else vectors.shape[1]
            part = _checked(encode([text_list[rows_of[digest][0]] for digest in batch]), len(batch), size)
            if vectors is None:
                vectors = np.zeros((len(text_list), part.shape[1]), np.float32)
            if stored is not None:
                stored.add(batch, part)
            for digest, vector in zip(batch, part):
                vectors[rows_of[digest]] = vector
            move(first + len(batch))
    assert vectors is not None
    return vectors


def _cache_folder(model: EmbeddingModel, folder: str | Path) -> Path:
    """The folder of the vectors by a model, in the folder of the user."""
    if not isinstance(model, str | Path | Endpoint):
        raise InputError("cache needs a model by name, folder or address: functions cannot be identified")
    if not Path(folder).is_dir():
        raise FileError(f"cache: there is no folder {folder}")
    digest = hashlib.blake2b(json.dumps(_identity(model)).encode(), digest_size=8)
    return Path(folder) / f"embeddings-{digest.hexdigest()}"


def _texts(texts: Corpus | Iterable[str]) -> Sequence[str]:
    if isinstance(texts, Corpus):
        if texts.texts is None:
            raise InputError("the corpus has no texts to embed: read it with keep_texts=True")
        return texts.texts
    check_texts(texts)
    text_list = list(texts)
    for row, text in enumerate(text_list):
        if not isinstance(text, str):
            raise InputError(f"text {row} is {text!r:.40}: expected a string")
    if not text_list:
        raise InputError("there are no texts to embed")
    return text_list


def _identity(model: str | Path | Endpoint) -> list[Any]:
    """What identifies a model: its name, its address, or its folder and the files in it."""
    if _is_address(model):
        model = Endpoint.from_address(str(model))
    if isinstance(model, Endpoint):
        return [model.url, model.model]
    folder = Path(model)
    if not folder.is_dir():
        return [str(model)]
    files = sorted(file for file in folder.iterdir() if file.is_file())
    return [str(folder.resolve()), *([file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files)]


def encoder_of(model: EmbeddingModel) -> Encoder:
    """Load a model, and return its function from texts to vectors."""
    if isinstance(model, Endpoint) or _is_address(model):
        return _service_encoder(model if isinstance(model, Endpoint) else Endpoint.from_address(str(model)))
    if _is_built_in(model):
        return english_vectors().of_texts
    if hasattr(model, "encode") and not isinstance(model, str | Path):
        return model.encode
    if callable(model):
        return model
    if not isinstance(model, str | Path):
        raise InputError(
            f"model={model!r:.60}: expected a name, a folder, an address, a function, or an object with encode"
        )
    folder = Path(model)
    if folder.exists():
        return _static_encoder(model) if _is_static(folder) else _sentence_encoder(model)
    if str(model).startswith((".", "/", "~")) or "\\" in str(model) or str(model).count("/") > 1:
        raise FileError(f"there is no folder {model}")
    if not str(model).startswith(_STATIC):
        if find_spec("sentence_transformers") is not None:
            return _sentence_encoder(model)
        if find_spec("fastembed") is not None:
            return _onnx_encoder(model)
    return _static_encoder(model)


def _is_built_in(model: EmbeddingModel) -> bool:
    return isinstance(model, str) and model == ENGLISH


def _is_address(model: EmbeddingModel) -> bool:
    return isinstance(model, str) and model.lower().startswith(_ADDRESSES)


def _is_static(folder: Path) -> bool:
    """Whether a folder contains static vectors of words, not a neural network."""
    expected = "a folder with config.json and weights"
    place = folder / "config.json"
    config = read_json(place, expected) if place.exists() else None
    if not isinstance(config, dict):
        raise FileError(f"{folder} contains no model: expected {expected}")
    # the configuration of a neural network has the sizes of its layers, that of static vectors does not
    static = config.get("model_type") == "model2vec" or "StaticModel" in config.get("architectures", ())
    return static or not {"architectures", "hidden_size"} & config.keys()


def _static_encoder(model: str | Path) -> Encoder:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    library = import_extra("model2vec", "embed", f"the model {str(model)!r}")
    loaded = _loaded(model, lambda: library.StaticModel.from_pretrained(model, force_download=False))
    return lambda texts: loaded.encode(texts, use_multiprocessing=False)


def _sentence_encoder(model: str | Path) -> Encoder:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if find_spec("sentence_transformers") is None:
        raise MissingExtraError(
            f"the model {str(model)!r} does not have static embeddings: it needs pip install sentence-transformers"
        )
    library = import_module("sentence_transformers")
    loaded = _loaded(model, lambda: library.SentenceTransformer(str(model)))
    return lambda texts: loaded.encode(texts, show_progress_bar=False)


def _onnx_encoder(model: str | Path) -> Encoder:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    library = import_extra("fastembed", "fastembed", f"the model {str(model)!r}")
    loaded = _loaded(model, lambda: library.TextEmbedding(str(model)))
    return lambda texts: list(loaded.embed(texts))


def _service_encoder(endpoint: Endpoint) -> Encoder:
    def encode(texts: list[str]) -> np.ndarray:
        parts = [texts[first : first + _PER_REQUEST] for first in range(0, len(texts), _PER_REQUEST)]
        rows = [row for part in parts for row in _embedded_by(endpoint, part)]
        try:
            return _checked(rows, len(texts), None)
        except InputError as error:
            raise ServiceError(f"{endpoint.url}: {error}") from None

    return encode


def _embedded_by(endpoint: Endpoint, texts: list[str]) -> list[Any]:
    """The vectors of texts by a service, in the order of the texts."""
    answer = endpoint.post("embeddings", {"input": texts, "encoding_format": "float"})
    data = answer.get("data")
    expected = f"{endpoint.url} did not answer with embeddings"
    if not isinstance(data, list) or not all(isinstance(row, dict) and "embedding" in row for row in data):
        raise ServiceError(f"{expected}: expected an object with 'data', a list of objects with 'embedding'")
    if len(data) != len(texts):
        raise ServiceError(f"{expected} of all texts: it has {len(data)} for {len(texts)} texts")
    places = [row.get("index", number) for number, row in enumerate(data)]
    if {place for place in places if isinstance(place, int)} != set(range(len(texts))):
        raise ServiceError(f"{expected} of all texts: the values of 'index' are not 0 to {len(texts) - 1}")
    vector_at = {place: row["embedding"] for place, row in zip(places, data)}
    return [vector_at[place] for place in range(len(texts))]


def _loaded(model: str | Path, load: Callable[[], Any]) -> Any:
    """Load a model, or raise a one-line error: libraries raise many kinds of errors if there is no network."""
    try:
        return load()
    except Exception as error:  # the libraries do not document what they raise
        reason = (" ".join(str(error).split()) or type(error).__name__)[:160]
        where = "cannot be loaded" if Path(model).exists() else "is not on this disk and cannot be downloaded"
        raise FileError(f"the model {str(model)!r} {where}: {reason}; name the folder of a model on disk") from None


def _checked(vectors: Any, n_texts: int, n_features: int | None) -> np.ndarray:
    try:
        array = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"the model did not return a matrix of numbers: {error}") from None
    if array.ndim != 2 or len(array) != n_texts or array.shape[1] == 0:
        raise InputError(
            f"the model returned an array of shape {array.shape} for {n_texts} texts: expected one row per text"
        )
    if n_features is not None and array.shape[1] != n_features:
        raise InputError(f"the model returned vectors of length {n_features} and {array.shape[1]}: expected one length")
    if not np.isfinite(array).all():
        raise InputError("the model returned NaN or infinite numbers")
    return array

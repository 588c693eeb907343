"""Embeddings of texts: by a model on disk or by name, or by any function; with an optional cache on disk.

The network is used only to download a model by name that is not on this disk.
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
from ..engine.extras import import_extra
from ..engine.npy_file import read_npy
from ..engine.progress import progress
from ..engine.small_files import read_json
from ..errors import FileError, InputError, MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DEFAULT_MODEL", "EmbeddingModel", "cached_vectors", "embed", "encoder_of"]

DEFAULT_MODEL = "minishlab/potion-base-8M"  # 30 MB, without torch; static vectors of words
Encoder: TypeAlias = "Callable[[list[str]], ArrayLike]"
EmbeddingModel: TypeAlias = "str | Path | Encoder | Any"  # Any: an object with a method `encode`
_BATCH = 1024
_STATIC = "minishlab/"  # models with static vectors of words


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
    model : str, Path, callable or object with a method `encode`, default='minishlab/potion-base-8M'
        Folder of a model, or its name on the Hugging Face Hub; or a function from a list of texts to a matrix, for any
        other library or service. Static embeddings are computed by model2vec (the extra topicfold[embed]), all others
        by sentence-transformers, which must be installed.
    cache : str, Path or None, default=None
        Folder in which vectors are stored by the content of the texts and the model, to be read the next time. Only for
        models by name or folder, because functions cannot be identified.
    verbose : bool or None, default=None
        Whether to show progress. None shows it only on a terminal.

    Returns
    -------
    ndarray of float32 of shape (n_texts, n_features)
        One row per text. An empty text has a row of zeros, and therefore no neighbours. A text that is too long for the
        model is truncated by the model.

    Raises
    ------
    InputError
        If the corpus has no texts, the model cannot be found, or it does not return one vector per text.
    ImportError
        If the library that runs the model is not installed.

    See Also
    --------
    LTM : Topics that use embeddings.
    knn_graph : A graph of nearest neighbours.

    Examples
    --------
    >>> from topicfold import embed
    >>> embed(["red", "", "blue sky"], lambda texts: [[len(text), 1] for text in texts]).tolist()
    [[3.0, 1.0], [0.0, 0.0], [8.0, 1.0]]
    """
    text_list = _texts(texts)
    file = None if cache is None else cached_vectors(text_list, model, cache)
    if file is not None and file.exists():
        return _read_vectors(file, len(text_list))
    filled = [row for row, text in enumerate(text_list) if text.strip()]
    if not filled:
        raise InputError("all texts are empty: there is nothing to embed")
    encode = encoder_of(model)
    vectors: np.ndarray | None = None
    with progress(f"Embedding {len(filled):,} texts", len(filled), verbose=verbose) as move:
        for first in range(0, len(filled), _BATCH):
            rows = filled[first : first + _BATCH]
            size = None if vectors is None else vectors.shape[1]
            part = _checked(encode([text_list[row] for row in rows]), len(rows), size)
            if vectors is None:
                vectors = np.zeros((len(text_list), part.shape[1]), np.float32)
            vectors[rows] = part
            move(first + len(rows))
    assert vectors is not None
    if file is not None:
        _write_vectors(file, vectors)
    return vectors


def cached_vectors(texts: Sequence[str], model: EmbeddingModel, folder: str | Path) -> Path:
    """The cache file of the vectors of texts by a model."""
    if not isinstance(model, str | Path):
        raise InputError("cache needs a model by name or folder: functions cannot be identified")
    if not Path(folder).is_dir():
        raise FileError(f"cache: there is no folder {folder}")
    digest = hashlib.blake2b(json.dumps(_identity(model)).encode(), digest_size=16)
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "little") + raw)
    return Path(folder) / f"embeddings-{digest.hexdigest()}.npy"


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


def _identity(model: str | Path) -> list[Any]:
    """What identifies a model: its name, or its folder and the files in it."""
    folder = Path(model)
    if not folder.is_dir():
        return [str(model)]
    files = sorted(file for file in folder.iterdir() if file.is_file())
    return [str(folder.resolve()), *([file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files)]


def encoder_of(model: EmbeddingModel) -> Encoder:
    """Load a model, and return its function from texts to vectors."""
    if hasattr(model, "encode") and not isinstance(model, str | Path):
        return model.encode
    if callable(model):
        return model
    if not isinstance(model, str | Path):
        raise InputError(f"model={model!r:.60}: expected a name, a folder, a function, or an object with encode")
    folder = Path(model)
    if folder.exists():
        return _static_encoder(model) if _is_static(folder) else _sentence_encoder(model)
    if str(model).startswith((".", "/", "~")) or "\\" in str(model) or str(model).count("/") > 1:
        raise FileError(f"there is no folder {model}")
    if str(model).startswith(_STATIC) or find_spec("sentence_transformers") is None:
        return _static_encoder(model)
    return _sentence_encoder(model)


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


def _read_vectors(file: Path, n_texts: int) -> np.ndarray:
    try:
        vectors = read_npy(file)
    except FileError as error:
        raise FileError(f"{error}; delete it, and the vectors are computed again") from None
    if len(vectors) != n_texts or vectors.dtype != np.float32:
        raise FileError(f"{file} does not contain the vectors of these texts: delete it")
    return vectors


def _write_vectors(file: Path, vectors: np.ndarray) -> None:
    unfinished = file.with_name(f".{file.stem}-{os.getpid()}.npy")
    np.save(unfinished, vectors)
    unfinished.replace(file)

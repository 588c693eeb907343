"""Ways to embed 10,000 short texts: their speed, and the topics that LTM and DTM find with the vectors.

Static embeddings are computed here, from the outputs of all-MiniLM-L6-v2 for its single word pieces: principal
components, weighted by how rare a piece is. Nothing is downloaded.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topicfold import embed
from topicfold.analysis.embedding import DEFAULT_MODEL
from topicfold.baselines.kmeans import kmeans_on_rows
from topicfold.corpus.corpus import Corpus

from .. import Experiment, Measure, Method, make_estimator
from ..corpora import load_benchmark
from ..dot_plots import Dots
from ..priors.held_out_text import nmi
from .minilm import MODEL, MiniLM, cache_folder

__all__ = ["EXPERIMENTS", "static_model"]

CORPORA = {"short_searchsnippets": 8, "short_stackoverflow": 20, "short_googlenews": 150}
WORDS, STATIC, NETWORK = "no embeddings, graph of words", "static embeddings (model2vec)", f"{MODEL}, in numpy"
PACKAGE = "word vectors of the package"
_DIMENSIONS = 256
_BEGINNING, _END = 101, 102  # word pieces at the beginning and the end of a text


class Texts(NamedTuple):
    """Texts with their counts and classes."""

    texts: tuple[str, ...]
    counts: Corpus
    labels: np.ndarray


class Data(NamedTuple):
    """The corpora, and the folder of the static model."""

    corpora: dict[str, Texts]
    static: Path


def prepare(folder: Path, protocol: Mapping[str, Any]) -> Data:
    """Texts drawn with a fixed seed, and a static model."""
    corpora = {}
    for name in CORPORA:
        whole = load_benchmark(name, folder, stop_words="english", keep_texts=True)
        rows = np.sort(np.random.default_rng(0).permutation(len(whole))[: protocol["documents"]])
        texts = tuple((whole.texts or ())[row] for row in rows)
        counted = Corpus.from_texts(texts, preprocessing=whole.preprocessing, min_df=protocol["min_df"], max_df=1.0)
        corpora[name] = Texts(texts, counted, whole.label_array()[rows])
    place = cache_folder() / f"static-{MODEL}-{protocol['word pieces'] or 'all'}"
    if not place.exists():
        static_model(place, protocol["word pieces"])
    return Data(corpora, place)


def static_model(place: Path, n_pieces: int | None = None) -> None:
    """Save a model of static embeddings of MiniLM's word pieces, or of the first `n_pieces`."""
    from model2vec import StaticModel

    model = MiniLM()
    tokenizer = model.tokenizer
    words = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    n_known = len(words) if n_pieces is None else min(n_pieces, len(words))
    vectors = np.zeros((len(words), 384), np.float32)
    marked = np.array([[_BEGINNING, number, _END] for number in range(n_known)])
    for first in range(0, n_known, 64):
        some = marked[first : first + 64]
        vectors[first : first + len(some)] = model.embed_pieces(some)
    centred = vectors - vectors[:n_known].mean(axis=0)
    axes = np.linalg.svd(centred[:n_known], full_matrices=False)[2][:_DIMENSIONS]
    # the pieces are numbered by frequency; by Zipf's law a piece's share is about 1 / its number
    weights = 1e-3 / (1e-3 + 1 / (np.arange(len(words)) + 2) / np.log(len(words)))
    static = StaticModel((centred @ axes.T * weights[:, None]).astype(np.float32), tokenizer, normalize=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")
    static.save_pretrained(unfinished)
    unfinished.rename(place)


_computed: dict[tuple[str, int], tuple[np.ndarray, dict[str, float]]] = {}


def _vectors(data: Data, way: str, corpus: str) -> tuple[np.ndarray, dict[str, float]]:
    """Vectors of the texts, and the time for the first and the second call; computed once per process."""
    texts = data.corpora[corpus].texts
    key = (f"{way} {corpus}", len(texts))
    if key not in _computed:
        model: Any = {STATIC: data.static, PACKAGE: DEFAULT_MODEL}.get(way) or MiniLM().embed_many
        with tempfile.TemporaryDirectory() as folder:
            cache = folder if way == STATIC else None  # vectors from a function are not cached
            started = time.perf_counter(), time.process_time()
            vectors = embed(texts, model, cache=cache)
            wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
            speed = {"per second": len(texts) / wall, "per CPU second": len(texts) / cpu, "numbers": vectors.shape[1]}
            if cache is not None:
                again = time.perf_counter()
                embed(texts, model, cache=cache)
                speed["second time"] = time.perf_counter() - again
        _computed[key] = vectors, speed
    return _computed[key]


def measure(
    data: Data, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Speed, and NMI of k-means on the vectors, of LTM and of DTM."""
    name, n_topics = setting["corpus"], setting["n_topics"]
    texts = data.corpora[name]
    measures: dict[str, float] = {}
    fit_arguments: dict[str, np.ndarray] = {}
    if method.name != WORDS:
        vectors, speed = _vectors(data, method.name, name)
        fit_arguments, measures = {"embeddings": vectors}, dict(speed)
        rows = vectors[np.linalg.norm(vectors, axis=1) > 0]
        labels = texts.labels[np.linalg.norm(vectors, axis=1) > 0]
        clusters = kmeans_on_rows(rows, n_topics, 3, 100, np.random.RandomState(seed)).labels_
        measures["k-means"] = nmi(labels, np.eye(n_topics)[clusters])
    for model in ("LTM", "DTM"):
        fitted = make_estimator(Method(model, model), n_topics, seed)
        started = time.process_time()
        fitted.fit(texts.counts, **fit_arguments)
        measures |= {f"{model} cpu": time.process_time() - started, model: nmi(texts.labels, fitted.doc_topic_)}
    return measures


ABOUT = """\
Static embeddings are much cheaper to compute than those of a sentence model. Are they good enough for topic models? \
Three corpora: short_searchsnippets (search result snippets in 8 domains), short_stackoverflow (titles of questions \
with 20 tags) and short_googlenews (titles of news in 152 stories). The speed columns give texts per second of wall \
time and of CPU time; the NMI columns compare clusters, or the largest topics of LTM and DTM on a graph of the \
embeddings, with the classes. For both, higher is better."""
NOTES = f"""Static embeddings: vectors of word pieces, computed here from {MODEL} ({_DIMENSIONS} principal components, \
weighted by rarity), in the way model2vec distils them; published models of this kind are trained further and should \
be better. The second call reads them from the cache.
The word vectors of the package come from {MODEL}, too, moved by a regression so that their sums predict its vectors \
of whole texts (scripts/build_word_vectors.py).
{MODEL} runs in numpy, with texts of the same length in one batch; sentence-transformers, on torch, was not installed \
and is not measured.
LTM and DTM are at the defaults of the package, with about as many topics as there are classes; NMI compares the \
largest topics with the classes. At most 10,000 texts of each corpus, drawn once; words in fewer than 5 texts are left \
out."""

EXPERIMENTS = (
    Experiment(
        name="embedding-ways",
        title="Embedding 10,000 short texts: speed, and the topics of LTM and DTM",
        source="none; our own comparison",
        about=ABOUT,
        data=tuple(CORPORA),
        methods=(Method(WORDS), Method(PACKAGE), Method(STATIC), Method(NETWORK)),
        settings=tuple({"corpus": name, "n_topics": size} for name, size in CORPORA.items()),
        measures={
            "per second": Measure("texts per second", 0),
            "per CPU second": Measure("texts per CPU second", 0),
            "second time": Measure("second call, from the cache, s", 3),
            "numbers": Measure("numbers per text", 0),
            "k-means": Measure("k-means, NMI"),
            "LTM": Measure("LTM, NMI"),
            "DTM": Measure("DTM, NMI"),
            "LTM cpu": Measure("LTM, CPU s", 1),
            "DTM cpu": Measure("DTM, CPU s", 1),
        },
        protocol={"seeds": 2, "documents": 10000, "min_df": 5, "word pieces": None},
        quick={"seeds": 1, "documents": 300, "word pieces": 2000},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"per second": "texts per second", "LTM": "NMI of LTM", "DTM": "NMI of DTM"}, log=("per second",)),
    ),
)

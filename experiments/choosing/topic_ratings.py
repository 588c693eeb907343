"""Which measure of coherence agrees with people? Tested on 300 topics judged by people, from Hoyle et al. (2021).

Measures were chosen on the topics of Wikitext; those of the New York Times were kept for the report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topicfold.metrics.coherence import coherence

from .. import Experiment, Measure, Method
from ..dot_plots import Dots
from ..embeddings.minilm import embed
from .reference import REFERENCE, reference_tokens

__all__ = ["EXPERIMENTS"]

FOLDER = "topic_ratings"
PUBLISHED = {"published NPMI": "c_npmi_10_full", "published c_v": "c_v_full", "published u_mass": "u_mass_full"}
BOTH = "c_v, 10 words of the reference, and embeddings of the words"
EMBEDDED = "cosine of the words' embeddings, 10 words"


class Half(NamedTuple):
    """The topics of one corpus: words (best first), mean judgements, published measures, and the reference."""

    topics: list[list[int]]
    words: list[str]
    rating: np.ndarray
    intrusion: np.ndarray
    published: dict[str, np.ndarray]
    tokens: tuple[np.ndarray, np.ndarray]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Half]:
    """The judged topics, and the reference as a stream of their words."""
    path = folder / FOLDER / "topics.json"
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    topics = json.loads(path.read_text(encoding="utf-8"))
    halves = {}
    for corpus in ("wikitext", "nytimes"):
        mine = [topic for topic in topics if topic["corpus"] == corpus][: protocol["topics"]]
        words = sorted({word for topic in mine for word in topic["words"]})
        column = {word: place for place, word in enumerate(words)}
        published = {name: np.array([topic["published"][key] for topic in mine]) for name, key in PUBLISHED.items()}
        rating, intrusion = (
            np.array([topic["published"][f"{task}_scores_avg"] for topic in mine]) for task in ("ratings", "intrusion")
        )
        listed = [[column[word] for word in topic["words"]] for topic in mine]
        halves[corpus] = Half(listed, words, rating, intrusion, published, reference_tokens(folder, words))
    return halves


def measure(
    data: Mapping[str, Half], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Spearman's correlation with both judgements, with a 95 % bootstrap interval over topics."""
    half = data[setting["topics of"]]
    values = _values(half, method)
    measures: dict[str, float] = {"unseen": float(np.isnan(values).mean())}
    values = np.where(np.isnan(values), np.nanmean(values), values)
    rng = np.random.default_rng(seed)
    draws = rng.integers(len(values), size=(protocol["draws"], len(values)))
    for name, judged in (("rating", half.rating), ("intrusion", half.intrusion)):
        measures[name] = _spearman(values, judged)
        low, high = np.quantile([_spearman(values[rows], judged[rows]) for rows in draws], [0.025, 0.975])
        measures |= {f"{name} low": float(low), f"{name} high": float(high)}
    return measures


def _values(half: Half, method: Method) -> np.ndarray:
    if method.name in half.published:
        return half.published[method.name]
    if method.name == EMBEDDED:
        return _cosines(half, 10)
    if method.name == BOTH:
        from scipy.stats import rankdata

        counted = _coherence(half, {"measure": "c_v", "words": 10, "skip_unseen": True})
        return rankdata(np.nan_to_num(counted, nan=np.nanmean(counted))) + rankdata(_cosines(half, 10))
    return _coherence(half, method.parameters)


def _coherence(half: Half, settings: Mapping[str, Any]) -> np.ndarray:
    options = dict(settings)
    n_words = options.pop("words")
    skip = options.get("skip_unseen", False)
    in_reference = np.zeros(len(half.words), bool)
    in_reference[half.tokens[0][half.tokens[0] >= 0]] = True
    # the first `n_words` of the words that the reference has, not what is left of the first `n_words`
    topics = [[word for word in topic if in_reference[word] or not skip][:n_words] for topic in half.topics]
    if options["measure"] == "u_mass":
        return coherence(topics, counts=_documents(half), measure="u_mass")
    return coherence(topics, tokens=half.tokens, **options)


def _documents(half: Half) -> Any:
    import scipy.sparse as sp

    words, ends = half.tokens
    documents = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    known = words >= 0
    shape = (len(ends) - 1, len(half.words))
    return sp.csr_array((np.ones(known.sum()), (documents[known], words[known])), shape)


def _cosines(half: Half, n_words: int) -> np.ndarray:
    vectors = embed(half.words)
    cosines = []
    for topic in half.topics:
        rows = vectors[topic[:n_words]]
        cosines.append((rows @ rows.T)[np.tril_indices(len(rows), -1)].mean())
    return np.array(cosines)


def _spearman(one: np.ndarray, other: np.ndarray) -> float:
    from scipy.stats import rankdata

    if len(np.unique(one)) < 2 or len(np.unique(other)) < 2:
        return 0.0
    return float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])


ABOUT = """\
Which automatic measure of coherence agrees best with people? In the study of Hoyle et al. people rated topics of \
models fitted to Wikitext and the New York Times, and searched for an intruder among the words of a topic. The columns \
give Spearman's correlation of each measure with these ratings and with the share of people who found the intruder; \
higher is better. Low and high are the ends of the 95 % interval of the number before them. A number after a slash is \
the one published in the paper."""
NOTES = f"""Spearman's correlation over 150 topics of each corpus (MALLET, D-VAE and ETM, 50 each) with people's mean \
ratings (1 to 3), and with the share of people who found the intruder among the words. Low and high are the 95 % \
interval from a bootstrap over topics.
"Of the reference" means that words which do not occur in the reference, {REFERENCE}, are left out: 8 of 100.
Developed on Wikitext: windows, numbers of words, smoothing, and leaving out unseen words were compared there. For the \
New York Times, results of plain c_npmi, c_v and u_mass had been seen once before; those of the other rows had not. \
Leaving out unseen words helped on Wikitext but not on the New York Times; the gain from combining counts and \
embeddings held up there.
Published measures are those that the authors computed on the corpora of the models."""

EXPERIMENTS = (
    Experiment(
        name="topic-ratings",
        title="Measures of coherence and human judgements of topics",
        source="Hoyle et al. (2021), Is automated topic model evaluation broken?",
        about=ABOUT,
        data=(FOLDER, REFERENCE),
        methods=(
            *(Method(name) for name in PUBLISHED),
            Method("u_mass, 10 words", None, {"measure": "u_mass", "words": 10}),
            Method("c_npmi, 10 words", None, {"measure": "c_npmi", "words": 10}),
            Method("c_v, 10 words", None, {"measure": "c_v", "words": 10}),
            Method("c_v, 5 words", None, {"measure": "c_v", "words": 5}),
            Method("c_npmi, 10 words of the reference", None, {"measure": "c_npmi", "words": 10, "skip_unseen": True}),
            Method("c_v, 5 words of the reference", None, {"measure": "c_v", "words": 5, "skip_unseen": True}),
            Method("c_v, 10 words of the reference", None, {"measure": "c_v", "words": 10, "skip_unseen": True}),
            Method("c_v, 15 words of the reference", None, {"measure": "c_v", "words": 15, "skip_unseen": True}),
            Method(EMBEDDED),
            Method(BOTH),
        ),
        settings=({"topics of": "wikitext"}, {"topics of": "nytimes"}),
        measures={
            "rating": Measure("correlation with ratings"),
            "rating low": Measure("low"),
            "rating high": Measure("high"),
            "intrusion": Measure("correlation with intrusion"),
            "intrusion low": Measure("low"),
            "intrusion high": Measure("high"),
            "unseen": Measure("share of topics without a value"),
        },
        protocol={"seeds": 1, "topics": None, "draws": 2000},
        quick={"topics": 40, "draws": 100},
        prepare=prepare,
        measure=measure,
        published={
            ("published NPMI", "topics of=wikitext", "rating"): 0.43,
            ("published NPMI", "topics of=nytimes", "rating"): 0.39,
        },
        notes=NOTES,
        figure=Dots({"rating": "correlation with ratings"}, interval={"rating": ("rating low", "rating high")}),
    ),
)

"""HLTA (Liu, Zhang and Chen 2014): coherence of topics (Table 7), and the hierarchy itself (Tables 2 to 4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold.corpus.corpus import Corpus
from topicfold.metrics.coherence import coherence
from topicfold.models.hlta.latent_tree import state_marginals, words_given_states
from topicfold.models.hlta.tree_topics import best_words, discerning_index, words_below
from topicfold.topics.ranking import top_word_columns

from .. import Experiment, Measure, Method
from ..dot_plots import Dots
from ..few_labels import remembered
from ..grids import paired_lines
from .presence_data import BI, HLDA_PARAMETERS, MIN_DF, NIPS, SOURCE, Texts, fitted, prepare, presence, whole

__all__ = ["EXPERIMENTS", "average_coherence", "hlta_topics"]

ALL_LEVELS, PAPER_LEVELS, EFFECTIVE = "all levels", "HLTA, the paper's levels", "HLTA, effective words"
BELOW, BELOW_PAPER_LEVELS = "HLTA, words below", "HLTA, words below, the paper's levels"
BI_PAPER_LEVELS = "HLTA, bi, words below, the paper's levels"
LDA_PRESENCE, LDA_INFORMATION = "LDA, presence", "LDA, words by information"
LEVELS = range(1, 5)
LENGTHS = (4, 10)
Levels = tuple[int, Sequence[int]]  # the level of a topic, and the columns of its words, best first


# ---- coherence ------------------------------------------------------------------------------------------------------


def hlta_topics(model: Any, words: str = "shown") -> list[Levels]:
    """The topics of all levels: the words they show, the words below them, or the effective ones, best first."""
    if words == "below":
        scores = _discerning(model)
    else:
        scores = model.topic_information_ if words == "shown" else model.topic_effective_
    cuts = list(zip(scores.indptr[:-1], scores.indptr[1:]))
    order = [np.lexsort((scores.indices[low:high], -scores.data[low:high])) for low, high in cuts]
    columns = [scores.indices[low:high][best].tolist() for (low, high), best in zip(cuts, order)]
    return list(zip(model.topic_level_.tolist(), columns))


def _discerning(model: Any) -> sp.csr_array:
    """Discerning index of each word below the latent of each topic, topics x columns."""
    tree = model._tree()
    if model.emission == "counts":
        tree = replace(tree, word_table=-np.expm1(-tree.word_table))
    on, prior, below = words_given_states(tree, 1), state_marginals(tree), words_below(tree)
    columns, values = [], []
    for latent, state in zip(model.topic_latent_, model.topic_state_):
        words, states = below[latent], tree.n_states[latent]
        probability = on[latent, :states][:, words].astype(np.float64)
        columns.append(model.word_columns_[words])
        values.append(discerning_index(probability, prior[latent, :states])[state])
    indptr = np.cumsum([0, *map(len, columns)])
    return sp.csr_array((np.concatenate(values), np.concatenate(columns), indptr), model.topic_word_.shape)


def average_coherence(topics: Sequence[Sequence[int]], counts: sp.csr_array, n_words: int) -> dict[str, float]:
    """Mean of the paper's formula 4 over the topics with `n_words` words, their number, and how many have fewer."""
    long = [topic[:n_words] for topic in topics if len(topic) >= n_words]
    measures = {"topics": float(len(long)), "left out": float(len(topics) - len(long))}
    if long:
        measures["coherence"] = float(coherence(long, counts=counts, measure="u_mass").mean())
    return measures


def measure_table7(
    data: Mapping[str, Texts], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Coherence of the topics of one method. Flat methods have as many topics as HLTA has with at least M words."""
    texts, n_words = data[NIPS], setting["M"]
    corpus = whole(texts, NIPS, protocol)
    if method.name.startswith("HLTA"):
        kind = "effective" if method.name == EFFECTIVE else "below" if "words below" in method.name else "shown"
        is_shown = _levels(method.name, n_words)
        ours = _hlta_topics_of_seed(method, texts, seed, protocol)[kind]
        topics = [words for level, words in ours if is_shown(level)]
    else:
        ours = _hlta_topics_of_seed(Method("HLTA", "HLTA"), texts, seed, protocol)["shown"]
        n_topics = sum(len(words) >= n_words for _, words in ours)
        topics = _best_words(method, texts, n_topics, n_words, seed, protocol)
    return {**average_coherence(topics, corpus.counts, n_words), **_company(topics, corpus.counts, n_words)}


def _best_words(
    method: Method, texts: Texts, n_topics: int, n_words: int, seed: int, protocol: Mapping[str, Any]
) -> list[Sequence[int]]:
    """The first words of `n_topics` topics of LDA, or of the topics that HLDA finds."""
    if n_topics == 0:
        return []
    counts = whole(texts, NIPS, protocol).counts
    documents = presence(counts) if method.name == LDA_PRESENCE else counts
    fit = remembered(
        texts.cache,
        (method.estimator, method.name == LDA_PRESENCE, method.estimator == "GibbsLDA" and n_topics, seed),
        lambda: fitted(method, documents, n_topics, seed, protocol),
    )
    scores = fit.topic_word_ if method.estimator == "GibbsLDA" else fit.node_word_
    if method.name == LDA_INFORMATION:
        scores = best_words(presence(counts), fit.doc_topic_, n_words).toarray()
    if method.name == "HLDA-s":
        scores = scores[np.random.default_rng(seed).permutation(len(scores))[:n_topics]]
    return [top_word_columns(row, n_words).tolist() for row in scores]


def _company(topics: Sequence[Sequence[int]], counts: sp.csr_array, n_words: int) -> dict[str, float]:
    """NPMI of the first words with documents as windows, and the mean share of documents that have such a word."""
    long = [topic[:n_words] for topic in topics if len(topic) >= n_words]
    if not long:
        return {}
    share = np.bincount(counts.indices, minlength=counts.shape[1]) / counts.shape[0]
    npmi = coherence(long, counts=counts, measure="c_npmi").mean()
    return {"npmi": float(npmi), "frequency": float(share[np.array(long)].mean())}


def _hlta_topics_of_seed(
    method: Method, texts: Texts, seed: int, protocol: Mapping[str, Any]
) -> dict[str, list[Levels]]:
    """Topics with the words they show, those below them, and the effective ones."""

    def make() -> dict[str, list[Levels]]:
        model = fitted(method, presence(whole(texts, NIPS, protocol).counts), 0, seed, protocol)
        return {kind: hlta_topics(model, kind) for kind in ("shown", "below", "effective")}

    return remembered(texts.cache, ("HLTA", method.parameters.get("method"), seed), make)


def _levels(name: str, n_words: int) -> Callable[[int], bool]:
    """The levels that a row of HLTA includes; the paper left out the first and, with 10 words, the second."""
    if name.endswith("the paper's levels"):
        return lambda level: level >= (2 if n_words < 10 else 3)
    if ", level " in name:
        return lambda level: level == int(name.rpartition(" ")[2])
    return lambda level: True


def extra_table7(results: Mapping[str, Any]) -> list[str]:
    """Paired differences by the number of words."""
    lines = ["## Paired differences of the average coherence", ""]
    for n_words in LENGTHS:
        lines += [f"The first {n_words} words:", ""]
        claims = [("HLTA", other) for other in ("LDA", LDA_PRESENCE, LDA_INFORMATION, "HLDA")]
        title = {"coherence": f"coherence, M={n_words}", "npmi": f"NPMI, M={n_words}"}
        lines += paired_lines(results, claims, title, claim="the order in the paper", settings=[{"M": n_words}])
        lines.append("")
    return lines[:-1]


# ---- the hierarchy itself -------------------------------------------------------------------------------------------


def measure_tables(
    data: Mapping[str, Texts], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Topics and coherence of a level. The topics themselves are stored as names of further numbers, their sizes."""
    texts = data[NIPS]
    corpus = whole(texts, NIPS, protocol)
    model = remembered(texts.cache, ("model", seed), lambda: _model_with_words(corpus, seed, protocol))
    level = None if method.name == ALL_LEVELS else int(method.name.rpartition(" ")[2])
    topics = [words for topic_level, words in hlta_topics(model) if level in (None, topic_level)]
    if not topics:
        return {}
    effective = [len(words) for topic_level, words in hlta_topics(model, "effective") if level in (None, topic_level)]
    measures = {"topics": float(len(topics)), "words": float(np.mean(effective))}
    for n_words in LENGTHS:
        scores = average_coherence(topics, corpus.counts, n_words)
        measures |= {f"{name} {n_words}": value for name, value in scores.items() if name != "topics"}
    return measures | (_topic_lines(model.topic_tree(repeat=True), protocol["shown words"]) if level is None else {})


def _model_with_words(corpus: Corpus, seed: int, protocol: Mapping[str, Any]) -> Any:
    known = Corpus.from_counts(presence(corpus.counts), corpus.vocabulary)
    return fitted(Method("HLTA", "HLTA"), known, 0, seed, protocol)


_TOPIC = "topic "


def _topic_lines(tree: Any, n_shown: int) -> dict[str, float]:
    """A name for each topic: its id, its parent, the level, and words with P(w|topic) and P(w|elsewhere)."""
    overall = dict(zip(tree.vocabulary, tree.word_frequency / len(tree.doc_topic)))
    topic_lines = {}
    for topic, above, level, size in zip(tree.ids, tree.parent, tree.level, tree.size):
        words = []
        for word in tree.words(int(topic), n_shown):
            elsewhere = max(overall[word.word] - size * word.probability, 0.0) / max(1 - size, 1e-9)
            words.append([word.word, round(word.probability, 2), round(float(min(elsewhere, 1.0)), 2)])
        topic_lines[_TOPIC + json.dumps([int(topic), int(above), int(level), words])] = float(size)
    return topic_lines


def extra_tables(results: Mapping[str, Any]) -> list[str]:
    """The whole hierarchy, and the topics most similar to those of the paper's Table 4."""
    cells = [cell["measures"] for cell in results["cells"] if cell["method"] == ALL_LEVELS]
    topics = {
        topic: (above, level, words, size)
        for name, size in (cells[0] if cells else {}).items()
        if name.startswith(_TOPIC)
        for topic, above, level, words in [json.loads(name[len(_TOPIC) :])]
    }
    lines = ["## Compared with the topics of Table 4", "", "| the paper | our most similar topic |", "|---|---|"]
    for published in TABLE4.splitlines():
        theirs = published.partition(": ")[2].split()
        likeness = {topic: _likeness(theirs, words) for topic, (_, _, words, _) in topics.items()}
        alike = max(likeness, key=likeness.__getitem__, default=None)
        ours = "none has any of these words"
        if alike is not None and likeness[alike] > 0:
            _, level, words, size = topics[alike]
            shown = " ".join(f"{word} {p:.2f} ({elsewhere:.2f})" for word, p, elsewhere in words)
            ours = f"{alike} (level {level}, {size:.0%}): {shown}"
        lines.append(f"| {published} | {ours} |")
    lines += ["", "## The hierarchy", ""]

    def add(topic: int, depth: int) -> None:
        _, level, words, size = topics[topic]
        lines.append(f"{'  ' * depth}- {topic} (level {level}, {size:.0%}) {' '.join(word for word, *_ in words)}")
        for child in sorted((one for one in topics if topics[one][0] == topic), key=lambda one: -topics[one][3]):
            add(child, depth + 1)

    for topic in sorted((one for one in topics if topics[one][0] == -1), key=lambda one: -topics[one][3]):
        add(topic, 0)
    return lines


def _likeness(published: Sequence[str], words: Sequence[Sequence[Any]]) -> float:
    """Words in common over the mean number of words."""
    ours = [word for word, *_ in words]
    return 2 * len({*published} & {*ours}) / (len(published) + len(ours))


# ---- the declarations -----------------------------------------------------------------------------------------------

PUBLISHED_TABLE7 = {
    **dict.fromkeys((PAPER_LEVELS, BELOW_PAPER_LEVELS, BI_PAPER_LEVELS), ((-5.89, 140), (-47.26, 47))),
    "LDA": ((-7.81, 140), (-55.38, 47)),
    "HLDA": ((-7.98, 179), (-63.32, 179)),
    "HLDA-s": ((-7.97, 140), (-62.83, 47)),
}
TABLE4 = """\
Z301=S1, 34 %: likelihood bayesian statistical conditional posterior density probabilistic log bayes mixture prior \
estimate distributions priors
Z203=S1: probabilistic distributions probabilities bayesian prior posterior bayes priors inference carlo monte
Z203=S2: bayesian monte carlo posterior inference prior priors bayes probabilistic distributions probabilities
Z113=S1, 19 %: mixture mixtures latent fit
Z303=S1, 30 %: classification classifier classifiers class classes handwritten discriminant digit
Z211=S1, 13 %: handwritten digit character digits characters
Z145=S1, 12 %: handwritten digit digits
Z146=S1, 9 %: character characters handwriting
Z304=S1, 25 %: regression validation regularization generalization risk empirical svm boosting machines vapnik margin \
kernels kernel
Z304=S2, 7 %: machines svm vapnik margin boosting kernel kernels regression validation generalization regularization \
empirical risk
Z213=S1, 19 %: validation cross stopping pruning prediction predictions
Z156=S1, 3 %: boosting adaboost weak
"""
ABOUT_TABLE7 = """\
Do the first words of a topic belong together? The topics of HLTA, LDA and HLDA on NIPS papers are compared by the \
coherence of their first M words, M=4 and M=10. Average coherence (the paper's measure) and NPMI are better when \
higher, that is, nearer to 0 for the former; "topics left out" have fewer than M words. "Share of documents per word" \
is the mean share of documents that have a word: common words raise the paper's measure. A number after a slash is the \
one published in the paper."""
ABOUT_TABLES = """\
What does the topic hierarchy of HLTA on NIPS papers look like? The page shows topics similar to those printed in the \
paper, the whole hierarchy, and a table with the number of topics on each level and the coherence of their first M \
words (higher, that is, nearer to 0, is better). The percentage after a topic is the share of documents in it."""
NOTES_TABLE7 = """\
All methods are fitted to all 1,740 documents over the same 1,000 words (by mean tf-idf, in at least 10 documents), \
and coherence is counted in the same documents, as in the paper; nothing is held out.
Coherence is the sum of formula 4 over the pairs of the first M words. The words of HLTA are those of the whole tree \
that tell most about whether a document is in the topic, as the package shows them; "words below" are those below the \
latent of a topic (its semantic base), by discerning index, as in the paper; "effective words" uses only those of the \
effective semantic base (95 %). The words of LDA and HLDA are ranked by P(w|z), and for "words by information" like \
those of HLTA. Topics with fewer than M words are left out and counted.
Formula 4 rewards frequent words, which occur together in most documents. The last two columns, not in the paper, show \
that: NPMI of the same words, which frequency does not raise, and the mean share of documents that have a word.
"HLTA" has the topics of all levels; the paper leaves out the first level and, with M=10, the second, as in the row \
"the paper's levels". The structure learner of the paper is bi; our default is the other one, pem.
LDA has as many topics as HLTA has with at least M words, for the same seed. HLDA finds its own number of topics, and \
the root and all other nodes count; HLDA-s is a sample of as many as HLTA has, or all if there are not more. With \
tomotopy's default gamma, 0.1, HLDA ends with four nodes; 5 was chosen from 0.1, 1, 5 and 20 by the number of nodes \
alone.
LDA and HLDA are fitted to counts as in the paper, "LDA, presence" to the presence of words, which is what HLTA sees.
Decided after trial runs on these data had been seen: the last two columns were added when HLTA had come out behind \
LDA at M=10 with the words below its topics, and the words of the whole tree when they had been seen to be better. \
The rows of bi were also added then.
"""
NOTES_TABLES = """\
One fit (seed 0) to all documents over 1,000 words. A topic is any state of a latent except the first (background): \
its size is P(Z=s), and its words are those that tell most about whether a document is in it, up to the number of \
shown words in the protocol.
In the table: P(word present | topic), and in brackets P(word present | elsewhere). Next to each topic of the paper is \
the topic of ours with the largest share of words in common; it may be on another level. Two sizes are illegible in \
our copy of the paper.
The paper's tree, by the other structure learner, had 279, 72, 21, 8 and 2 latents on five levels.
"""
COHERENCE_MEASURES = {
    "coherence": Measure("average coherence", 2),
    "topics": Measure("topics", 0),
    "left out": Measure("topics left out", 0),
    "npmi": Measure("NPMI"),
    "frequency": Measure("share of documents per word", 2),
}

EXPERIMENTS = (
    Experiment(
        name="hlta-table7",
        title="Coherence of topics on NIPS: HLTA, LDA and HLDA",
        source=f"{SOURCE}, Table 7",
        about=ABOUT_TABLE7,
        data=(NIPS,),
        methods=(
            Method("HLTA", "HLTA"),
            Method(PAPER_LEVELS, "HLTA"),
            Method(BELOW, "HLTA"),
            Method(BELOW_PAPER_LEVELS, "HLTA"),
            Method(EFFECTIVE, "HLTA"),
            *(Method(f"HLTA, level {level}", "HLTA") for level in LEVELS),
            Method("HLTA, bi", "HLTA", BI),
            Method(BI_PAPER_LEVELS, "HLTA", BI),
            Method("LDA", "GibbsLDA"),
            Method(LDA_PRESENCE, "GibbsLDA"),
            Method(LDA_INFORMATION, "GibbsLDA"),
            Method("HLDA", "HLDA", HLDA_PARAMETERS),
            Method("HLDA-s", "HLDA", HLDA_PARAMETERS),
        ),
        settings=tuple({"M": n_words} for n_words in LENGTHS),
        measures=COHERENCE_MEASURES,
        protocol={
            "seeds": 5,
            "documents": None,
            "words": {NIPS: 1000},
            "min_df": MIN_DF,
            "LDA sweeps": 500,
            "HLDA sweeps": 300,
        },
        quick={"seeds": 1, "words": {NIPS: 200}, "LDA sweeps": 50, "HLDA sweeps": 40},
        prepare=prepare,
        measure=measure_table7,
        published={
            (method, f"M={n_words}", measure): value
            for method, rows in PUBLISHED_TABLE7.items()
            for n_words, row in zip(LENGTHS, rows)
            for measure, value in zip(("coherence", "topics"), row)
        },
        notes=NOTES_TABLE7,
        extra=extra_table7,
        figure=Dots({"coherence": "average coherence", "npmi": "NPMI"}),
    ),
    Experiment(
        name="hlta-tables",
        title="The topic hierarchy that HLTA finds on NIPS",
        source=f"{SOURCE}, Tables 2 to 4",
        about=ABOUT_TABLES,
        data=(NIPS,),
        methods=(Method(ALL_LEVELS, "HLTA"), *(Method(f"level {level}", "HLTA") for level in LEVELS)),
        settings=({"corpus": NIPS},),
        measures={
            "topics": Measure("topics", 0),
            "words": Measure("effective words per topic", 1),
            **{
                f"{name} {n_words}": Measure(f"{name}, M={n_words}", digits)
                for n_words in LENGTHS
                for name, digits in (("coherence", 2), ("left out", 0))
            },
        },
        protocol={"seeds": 1, "documents": None, "words": {NIPS: 1000}, "min_df": MIN_DF, "shown words": 10},
        quick={"words": {NIPS: 200}},
        prepare=prepare,
        measure=measure_tables,
        notes=NOTES_TABLES,
        extra=extra_tables,
        figure=Dots({"topics": "topics", "coherence 4": "coherence, 4 words", "coherence 10": "coherence, 10 words"}),
    ),
)

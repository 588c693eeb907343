"""The worked example of the R package stm: political blogs of 2008 by rating (Liberal, Conservative) and day.

The authors of the vignette read their topics by hand and report in words what they find. Here each topic they name is
matched to the topic of ours that has most of its words; signs and sizes are compared with what the vignette says.
"""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold import LDA, Corpus, contrast, effects

from .. import Experiment, Measure, Method

__all__ = ["EXPERIMENTS", "read"]

FOLDER = "poliblog5k"
FORMULA = "~ rating + bs(day, df=10)"
LEFT, RIGHT = "Liberal", "Conservative"
ALONE, BLOGS = "independent posts", "clustered by blog"
NAMED = {
    "Bush": ("bush", "presid", "administr", "hous"),
    "vice-presidential candidates": ("palin", "sarah", "biden", "alaska"),
    "Guantanamo": ("tortur", "detaine", "court", "justic", "interrog"),
}
SAID = {
    "Bush": "largely associated with liberal writers",
    "vice-presidential candidates": "slightly conservative; peaks when Palin joins the ticket (end of August, day 242)",
    "Guantanamo": "liberals emphasise torture, conservatives court language such as illegal and law",
    "most conservative": "one more topic is strongly conservative",
}
EXPECTED = {"Bush": 1, "vice-presidential candidates": -1}
WORDS = {"tortur": LEFT, "court": RIGHT, "illeg": RIGHT, "law": RIGHT}
_TOPIC, _CURVE = "topic ", "curve "


def read(folder: Path) -> Corpus:
    """The posts with rating, day and blog."""
    home = folder / FOLDER
    for name in ("counts.npz", "vocab.txt", "meta.tsv"):
        if not (home / name).is_file():
            raise FileNotFoundError(f"no such file: {home / name}")
    counts = sp.csr_array(sp.load_npz(home / "counts.npz"))
    words = (home / "vocab.txt").read_text(encoding="utf-8").splitlines()
    with open(home / "meta.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = {name: [row[name] for row in rows] for name in ("rating", "day", "blog")}
    return Corpus.from_counts(counts, words, metadata=columns)


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Any]:
    """The corpus, in a dictionary to which `measure` adds the last fit."""
    corpus = read(folder)
    return {"corpus": corpus.subset(slice(protocol["documents"]))}


def measure(
    data: dict[str, Any], method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Liberal minus Conservative for the topics the vignette names; for the first fit also all topics and curves."""
    corpus: Corpus = data["corpus"]
    if data.get("seed") != seed:
        model = LDA(protocol["topics"], random_state=seed, verbose=False).fit(corpus)
        data |= {"seed": seed, "tree": model.topic_tree(corpus)}
    tree = data["tree"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="only .* clusters by 'blog'")
        estimates = effects(tree, corpus, FORMULA, cluster="blog" if setting["errors"] == BLOGS else None)
    table = estimates.contrast("rating", LEFT, RIGHT).set_index("topic")
    measures = {"significant": float(((table.low > 0) | (table.high < 0)).sum())}
    named = {name: _topic_of(tree, words) for name, words in NAMED.items()}
    for name, topic in {**named, "most conservative": int(table.estimate.idxmin())}.items():
        row = table.loc[topic]
        measures |= {name: 100 * row.estimate, f"{name} low": 100 * row.low, f"{name} high": 100 * row.high}
    curve = estimates.predict("day", 74, topics=[named["vice-presidential candidates"]])
    measures["peak"] = float(curve.value[curve.share.idxmax()])
    if setting["errors"] == ALONE:
        spoken = contrast(tree, corpus, "rating", groups=(LEFT, RIGHT), topics=[named["Guantanamo"]])
        z = spoken.scores(named["Guantanamo"], LEFT)[3]
        measures |= {f"z {word}": float(z[tree.vocabulary.index(word)]) for word in WORDS if word in tree.vocabulary}
    if seed == 0:
        measures |= _written_down(tree, estimates, table, named)
    return measures


def _topic_of(tree: Any, words: tuple[str, ...]) -> int:
    """The topic with the largest share of the probability of these words."""
    columns = [tree.vocabulary.index(word) for word in words if word in tree.vocabulary]
    lift = tree.topic_word[:, columns] / np.maximum(tree.topic_word[:, columns].sum(axis=0), 1e-12)
    return int(tree.ids[lift.sum(axis=1).argmax()])


def _written_down(tree: Any, estimates: Any, table: Any, named: Mapping[str, int]) -> dict[str, float]:
    """All topics, and the curves of the named ones, as measures whose names are JSON."""
    lines: dict[str, float] = {}
    for topic, row in table.iterrows():
        words = [word.word for word in tree.words(int(topic), 6)]
        lines[_TOPIC + json.dumps([int(topic), words, round(row.low, 5), round(row.high, 5)])] = row.estimate
    for name, topic in named.items():
        for point in estimates.predict("day", 74, topics=[topic]).itertuples():
            lines[_CURVE + json.dumps([name, round(point.value, 2), round(point.low, 5), round(point.high, 5)])] = (
                point.share
            )
    return lines


# ---- the page -------------------------------------------------------------------------------------------------------


def extra(results: Mapping[str, Any]) -> list[str]:
    """What the vignette says next to our results over all fits, and the topics of the first fit."""
    runs = {
        errors: [
            cell["measures"] for cell in results["cells"] if cell["setting"] == {"errors": errors} and not cell["error"]
        ]
        for errors in (ALONE, BLOGS)
    }
    lines = [
        "## Compared with the vignette",
        "",
        (
            f"{LEFT} minus {RIGHT}, in percentage points: mean ± standard deviation over the fits. The next column "
            "counts the fits with the sign that the vignette reports; the last two, those whose interval excludes 0."
        ),
        "",
        f"| topic | the vignette | ours | sign as reported | excludes zero, {ALONE} | excludes zero, {BLOGS} |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_beside(name, runs) for name in SAID]
    first = runs[ALONE]
    peaks = [run["peak"] for run in first]
    if first:
        lines += ["", f"The topic of the vice-presidential candidates peaks on day {_mean_sd(peaks, 0)}.", ""]
        for word, side in WORDS.items():
            z = [run[f"z {word}"] if side == LEFT else -run[f"z {word}"] for run in first if f"z {word}" in run]
            if z:
                lines.append(f"- Guantanamo, the word {word!r}: z-score of {side} writers {_mean_sd(z, 1)}")
    return [*lines, "", *_first_topics(runs)]


def _beside(name: str, runs: Mapping[str, list[Mapping[str, float]]]) -> str:
    sign = EXPECTED.get(name)
    values = [run[name] for run in runs[ALONE]]
    as_said = "-" if sign is None else f"{sum(value * sign > 0 for value in values)} of {len(values)}"
    sure = [
        f"{sum(run[f'{name} low'] > 0 or run[f'{name} high'] < 0 for run in runs[errors])} of {len(runs[errors])}"
        for errors in (ALONE, BLOGS)
    ]
    return f"| {name} | {SAID[name]} | {_mean_sd(values, 2)} | {as_said} | {' | '.join(sure)} |"


def _mean_sd(values: list[float], digits: int) -> str:
    if not values:
        return "-"
    spread = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"


def _first_topics(runs: Mapping[str, list[Mapping[str, float]]]) -> list[str]:
    rows: dict[int, list[Any]] = {}
    for errors in (ALONE, BLOGS):
        for run in runs[errors][:1]:
            for name, estimate in run.items():
                if name.startswith(_TOPIC):
                    topic, words, low, high = json.loads(name[len(_TOPIC) :])
                    rows.setdefault(topic, [estimate, words]).append(f"{100 * low:.1f} to {100 * high:.1f}")
    lines = [
        "## All topics of the first fit",
        "",
        "The difference in percentage points, and its 95 % interval with either kind of standard errors.",
        "",
        f"| topic | words | {LEFT} minus {RIGHT} | {ALONE} | {BLOGS} |",
        "|---|---|---|---|---|",
    ]
    for topic, (estimate, words, *intervals) in sorted(rows.items(), key=lambda item: -item[1][0]):
        lines.append(f"| {topic} | {' '.join(words)} | {100 * estimate:.1f} | {' | '.join(intervals)} |")
    return lines


def figure(results: Mapping[str, Any], path: Path) -> None:
    """Shares of the named topics over the days of 2008 in the first fit, with 95 % bands."""
    from topicfold.plots.style import COLOURS, PALE, new_figure, tidy

    picture = new_figure(10, 2.8)
    panels = picture.subplots(1, len(NAMED), sharex=True)
    for cell in results["cells"]:
        points = [
            (*json.loads(name[len(_CURVE) :]), share)
            for name, share in cell["measures"].items()
            if name.startswith(_CURVE)
        ]
        clustered = cell["setting"] == {"errors": BLOGS}
        for axes, name in zip(panels, NAMED):
            curve = np.array([point[1:] for point in points if point[0] == name])
            if len(curve):
                colour = PALE if clustered else COLOURS[0]
                axes.fill_between(
                    curve[:, 0],
                    100 * curve[:, 1],
                    100 * curve[:, 2],
                    color=colour,
                    alpha=0.3,
                    linewidth=0,
                    zorder=1 - clustered,
                )
                axes.plot(curve[:, 0], 100 * curve[:, 3], color=COLOURS[0], linewidth=1.4)
    for axes, name in zip(panels, NAMED):
        axes.set_title(name, loc="left", fontsize=10)
        tidy(axes)
    picture.supxlabel("day of 2008 (95 % bands: blue, independent posts; grey, clustered by blog)", fontsize=10)
    picture.supylabel("share (%)", fontsize=10)
    picture.savefig(path, dpi=160)


ABOUT = """\
How do the topics of political blogs in the election year 2008 differ between liberal and conservative blogs? The data \
and the question are those of the worked example (vignette) of the R package stm; here `effects` is used with LDA. The \
columns named after a topic give its share in liberal posts minus its share in conservative posts, in percentage \
points; a positive number means that liberal blogs write more about it. The two tables at the end differ in the \
standard errors: posts taken as independent, or clustered by blog."""
_LISTED = "; ".join(f"{name}: {' '.join(words)}" for name, words in NAMED.items())
NOTES = f"""The vignette fits stm with 20 topics to 13,246 posts, with prevalence by rating and a spline of day. Here \
LDA with 20 topics at its defaults is fitted to the 5,000 posts that come with the package, and `{FORMULA}` is \
estimated. The vignette shows its results as plots, so there are no published numbers to compare with ours, only \
words.
Rating is constant within each of the six blogs, three on each side. Standard errors clustered by blog allow for what \
is peculiar to a blog: with six clusters that leaves five degrees of freedom and wide intervals.
For each topic that the vignette names, we take the topic of ours that has most of its words: {_LISTED}. The most \
conservative topic is chosen by its estimate, so its sign says nothing; its size does."""

EXPERIMENTS = (
    Experiment(
        name="effects-poliblog",
        title="Political blogs of 2008: topics by rating and day",
        source="Roberts, Stewart and Tingley (2019), stm: an R package for structural topic models (vignette)",
        about=ABOUT,
        data=(FOLDER,),
        methods=(Method("LDA", "LDA"),),
        settings=({"errors": ALONE}, {"errors": BLOGS}),
        measures={
            "Bush": Measure("Bush", 2),
            "vice-presidential candidates": Measure("vice-presidential candidates", 2),
            "Guantanamo": Measure("Guantanamo", 2),
            "most conservative": Measure("most conservative topic", 2),
            "significant": Measure("topics that differ, out of 20", 1),
            "peak": Measure("peak day of the vice-presidential topic", 0),
        },
        protocol={"seeds": 10, "topics": 20, "documents": None},
        quick={"seeds": 1, "topics": 5, "documents": 500},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=figure,
        extra=extra,
    ),
)

"""The page of the prevalence experiment: paired gains with intervals, and the conclusion from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t

__all__ = ["AFTER", "DEFAULT", "IN_FIT", "OBSERVED", "PLAIN", "STRENGTH", "UNIGRAM", "Gain", "conclusion", "gain_of"]

OBSERVED: Mapping[str, int | None] = {"half": None, "20 tokens": 20, "5 tokens": 5, "nothing": 0}
UNIGRAM, DEFAULT, PLAIN = "unigram", "LDA, defaults", "LDA"
STRENGTH = ("LDA, strength as for metadata", "LDA, strength as for finer metadata")
AFTER = ("metadata afterwards", "finer metadata afterwards")
IN_FIT = ("metadata in the fit", "finer metadata in the fit", "shuffled metadata in the fit")
OVER_LDA, OVER_AFTER = "gain", "beyond"
_COMPARED = (
    (IN_FIT[0], OVER_LDA, PLAIN),
    (AFTER[0], OVER_LDA, PLAIN),
    (IN_FIT[0], OVER_AFTER, AFTER[0]),
    (STRENGTH[0], OVER_LDA, PLAIN),
    (IN_FIT[2], OVER_LDA, PLAIN),
    (IN_FIT[1], OVER_LDA, PLAIN),
    (AFTER[1], OVER_LDA, PLAIN),
    (IN_FIT[1], OVER_AFTER, AFTER[1]),
    (STRENGTH[1], OVER_LDA, PLAIN),
)
_HOW = """Nats per predicted token, by how much of a document is observed: mean over the splits ± half of the 95 % \
interval, first the interval over splits, then the one from a bootstrap over documents. A * marks a gain above zero by \
more than both."""
_OTHER = """The difference from "LDA, defaults", the estimator of the package at its defaults, which draws another \
start, decides itself when to stop and has A = 1: mean over the splits ± half of the 95 % interval over splits. The \
rule above compares fits from the same start; this table shows whether the gain is larger than the effect of all these \
changes."""
_RULE = """The rule, set before the run: metadata goes into the fit of LDA if it beats plain LDA, with half of each \
document observed, by more than the interval, on every corpus and with every number of topics. By this rule it"""


class Gain(NamedTuple):
    """A mean difference over splits, and half of its 95 % interval: over splits, and over documents."""

    mean: float
    splits: float
    documents: float

    @property
    def sure(self) -> bool:
        """Whether it is above zero, also when rounded, by more than both intervals; never true with a single split."""
        return round(self.mean, 4) > 0 and self.mean > self.splits and self.mean > self.documents

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ± {self.splits:.4f}, {self.documents:.4f}" + (" *" if self.sure else "")


def gain_of(cells: Sequence[Mapping[str, float]], measure: str) -> Gain | None:
    """The gain over all splits. No document is in the test part of two splits."""
    gains = [(cell[measure], cell[f"{measure} se"]) for cell in cells if measure in cell]
    if not gains:
        return None
    values, errors = np.array(gains).T
    return Gain(values.mean(), _over_splits(values), 1.96 * float(np.sqrt((errors**2).sum())) / len(values))


def _over_splits(values: np.ndarray) -> float:
    n = len(values)
    return float(t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan


def conclusion(results: Mapping[str, Any]) -> list[str]:
    """Whether metadata in the fit wins, its gains over LDA, and its gains over metadata added afterwards."""
    cells: dict[tuple[str, int, str], list[Mapping[str, float]]] = {}
    for cell in results["cells"]:
        if cell["error"] is None:
            key = (cell["setting"]["corpus"], cell["setting"]["n_topics"], cell["method"])
            cells.setdefault(key, []).append(cell["measures"])
    lines = ["## Conclusion", "", *_answers(cells)]
    lines += ["", "## Compared with another fit of LDA", "", *_other_fit(results["cells"])]
    lines += ["", "## Gain over LDA", "", _HOW, ""]
    lines += _table(cells, OVER_LDA, (STRENGTH[0], AFTER[0], IN_FIT[0], STRENGTH[1], AFTER[1], *IN_FIT[1:]))
    lines += ["", "## Gain of metadata in the fit over metadata added afterwards", ""]
    return lines + _table(cells, OVER_AFTER, IN_FIT[:2])


def _other_fit(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Differences from LDA at its defaults, which has another start: how much the start matters, and the metadata."""
    fits: dict[tuple[str, int], dict[tuple[str, int], Mapping[str, float]]] = {}
    for cell in cells:
        if cell["error"] is None:
            pair = (cell["setting"]["corpus"], cell["setting"]["n_topics"])
            fits.setdefault(pair, {})[cell["method"], cell["seed"]] = cell["measures"]
    lines = [_OTHER, "", f"| corpus | topics | method | {' | '.join(OBSERVED)} |", "|---" * (3 + len(OBSERVED)) + "|"]
    for (corpus, n_topics), by_method in fits.items():
        for method in (PLAIN, IN_FIT[0]):
            row = []
            for name in OBSERVED:
                pairs = [
                    (by_method.get((method, seed)), fit) for (other, seed), fit in by_method.items() if other == DEFAULT
                ]
                values = np.array([ours[name] - fit[name] for ours, fit in pairs if ours and name in ours])
                row.append(f"{values.mean():+.4f} ± {_over_splits(values):.4f}" if len(values) else "-")
            lines.append(f"| {corpus} | {n_topics} | {method} | {' | '.join(row)} |")
    return lines


def _table(
    cells: Mapping[tuple[str, int, str], Sequence[Mapping[str, float]]], kind: str, methods: Sequence[str]
) -> list[str]:
    lines = [f"| corpus | topics | method | {' | '.join(OBSERVED)} |", "|---" * (3 + len(OBSERVED)) + "|"]
    for corpus, n_topics in dict.fromkeys(key[:2] for key in cells):
        for method in methods:
            gains = [gain_of(cells.get((corpus, n_topics, method), ()), f"{kind} {name}") for name in OBSERVED]
            said = ["-" if gain is None else str(gain) for gain in gains]
            lines.append(f"| {corpus} | {n_topics} | {method} | {' | '.join(said)} |")
    return lines


def _answers(cells: Mapping[tuple[str, int, str], Sequence[Mapping[str, float]]]) -> list[str]:
    """The answer by the rule that was set before the run, and how large the gains are."""
    settings = list(dict.fromkeys(key[:2] for key in cells))
    lines, sure = [], {}
    for method, kind, other in _COMPARED:
        for name in OBSERVED:
            tried = {pair: gain_of(cells.get((*pair, method), ()), f"{kind} {name}") for pair in settings}
            gains = {pair: gain for pair, gain in tried.items() if gain is not None}
            if gains:
                sure[method, kind, name] = sum(gain.sure for gain in gains.values())
                low, high = (pick(gain.mean for gain in gains.values()) for pick in (min, max))
                row = [method, other, name, f"{sure[method, kind, name]} of {len(gains)}"]
                row += [f"{low:+.4f} to {high:+.4f}", _part(cells, gains)]
                lines.append(f"| {' | '.join(row)} |")
    wins = sure.get((IN_FIT[0], OVER_LDA, "half")) == len(settings)
    adds = sure.get((IN_FIT[0], OVER_AFTER, "half"), 0)
    head = ["| method | against | observed | settings with a sure gain | gain | share of LDA's gain over the unigram |"]
    head += ["|---" * 6 + "|"]
    said = f"{_RULE} **{'wins' if wins else 'does not win'}**. Compared with LDA whose prior gets the same metadata "
    said += f"afterwards, metadata in the fit gains more than the interval in {adds} of {len(settings)} settings."
    said += " The table shows the smallest and the largest gain over the settings, in nats per predicted token."
    return [said, "", *head, *lines]


def _part(
    cells: Mapping[tuple[str, int, str], Sequence[Mapping[str, float]]], gains: Mapping[tuple[str, int], Gain]
) -> str:
    """The gain as a share of what LDA gains over the unigram model when half is observed."""
    parts = []
    for pair, gain in gains.items():
        ours, base = (cells.get((*pair, method)) for method in (PLAIN, UNIGRAM))
        if ours and base:
            whole = np.mean([cell["half"] for cell in ours]) - np.mean([cell["half"] for cell in base])
            parts.append(100 * gain.mean / whole)
    return f"{min(parts):.1f} to {max(parts):.1f} %" if parts else "-"

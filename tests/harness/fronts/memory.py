"""Many fits in one process: what it takes does not grow."""

from __future__ import annotations

import gc
import resource
from pathlib import Path

from topicfold import Corpus, load

from ..cases import Case, Draw, Front, Run
from ..small_models import VARIANTS, fit_options, small_corpus, small_model

__all__ = ["FRONT"]

_WARM_UP, _FITS = 20, 100
_MOST = 3 << 20  # bytes that may come on top: 30 kB a fit, a tenth of what a fit takes


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize()


def _use(variant: str, corpus: Corpus, path: Path, seed: int) -> None:
    model = small_model(variant, random_state=seed)
    model.fit(corpus, **fit_options(variant, len(corpus)))
    model.transform(corpus.counts)
    model.score(corpus)
    model.save(path)
    str(load(path).topic_tree())


def _run(variant: str, corpus: Corpus, folder: Path) -> dict[str, int]:
    for seed in range(_WARM_UP):
        _use(variant, corpus, folder / "model", seed)
    before = _resident()
    for seed in range(_FITS):
        _use(variant, corpus, folder / "model", seed)
    grown = _resident() - before
    if grown > _MOST:
        raise MemoryError(f"{variant}: {grown / 1e6:.1f} MB more after {_FITS} fits")
    return {"fits": _FITS + _WARM_UP, "kB more in the end, all models together": max(grown, 0) // 1024}


def _draw(number: int) -> Case:
    variant = VARIANTS[number % len(VARIANTS)]
    return Case(f"{variant}, {_WARM_UP} fits and {_FITS} more", variant)


def _prepare() -> tuple[Draw, Run]:
    corpus = small_corpus()
    for variant in VARIANTS:
        small_model(variant).fit(corpus, **fit_options(variant, len(corpus)))
    return _draw, lambda variant, folder: _run(variant, corpus, folder)


FRONT = Front("many fits in one process", _prepare, n_cases=len(VARIANTS), seconds=300)

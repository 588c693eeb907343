"""The page of the prevalence experiment: paired gains with intervals, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["AFTER", "FINER", "IN_FIT", "OBSERVED", "PLAIN", "conclusion"]

OBSERVED: Mapping[str, int | None] = {"half": None, "20 tokens": 20, "5 tokens": 5, "nothing": 0}
PLAIN = "LDA"
AFTER = ("metadata afterwards", "finer metadata afterwards")
IN_FIT = ("metadata in the fit", "finer metadata in the fit")
FINER = {"finer": True}


def conclusion(results: Mapping[str, Any]) -> list[str]:
    return []

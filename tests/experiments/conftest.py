"""What tests of figures share."""

from __future__ import annotations

import pytest


@pytest.fixture
def figures(monkeypatch):
    """The figures that are drawn, in order."""
    from topicfold.plots import style

    made = []
    make = style.new_figure
    monkeypatch.setattr(style, "new_figure", lambda *size: made.append(make(*size)) or made[-1])
    return made

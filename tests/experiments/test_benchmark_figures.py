"""Figures of the benchmark pages."""

from __future__ import annotations

import pytest

from benchmarks.common import Row, at_least, seconds
from benchmarks.figures import draw_ratios, draw_scale

pytest.importorskip("matplotlib", reason="matplotlib comes with the extra `plots`")


def test_bars_are_ratios_of_the_rows_with_such_a_goal(figures, tmp_path):
    rows = [
        at_least("fit, against a peer (3 runs)", 2.0, 8.0, 3, seconds),
        at_least("read, against a peer", 2.0, 4.0, 3, seconds),
        Row("a busy machine", "1 s", "2 s", "2.00x", ">= 3x", None, "not measurable"),
        Row("memory", "1 MB", "2 MB", "0.5x", "<= 1x", True),
    ]
    assert draw_ratios(rows, tmp_path / "ratios.png")
    (axes,) = figures[0].axes
    assert [bar.get_width() for bar in axes.patches] == [4.0, 2.0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["fit, against a peer", "read, against a peer"]
    assert [tuple(line.get_xdata()) for line in axes.lines] == [(3.0, 3.0)] * 2
    assert len({bar.get_facecolor() for bar in axes.patches}) == 2  # one goal is met, the other is not
    assert not draw_ratios(rows[:1], tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


def test_growth_has_a_line_per_method_and_a_mark_per_peer(figures, tmp_path):
    done = {
        ("PLSA", 100): {"cpu": 1.0, "peak": 10.0},
        ("PLSA", 1000): {"cpu": 9.0, "peak": 30.0},
        ("a peer", 1000): {"cpu": 20.0, "peak": 50.0},
    }
    draw_scale(done, tmp_path / "scale.png")
    assert (tmp_path / "scale.png").exists()
    time, memory = figures[0].axes
    assert [list(line.get_ydata()) for line in time.lines] == [[1.0, 9.0], [20.0]]
    assert [list(line.get_ydata()) for line in memory.lines] == [[10.0, 30.0], [50.0]]
    assert time.get_xscale() == time.get_yscale() == "log"

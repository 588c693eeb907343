"""Figures of results: what is drawn is what the summary holds."""

import pickle

import pytest

from experiments import EXPERIMENTS, load_experiment
from experiments.dot_plots import Dots, DotsOverCorpora

pytest.importorskip("matplotlib", reason="matplotlib comes with the extra `plots`")


def result(method, corpus, mean, sd=0.1, published=None):
    measure = {"mean": mean, "sd": sd, "n": 3, "published": published}
    low, high = ({**measure, "mean": mean + off} for off in (-0.3, 0.5))
    return {
        "method": method,
        "setting": {"corpus": corpus},
        "measures": {"nmi": measure, "low": low, "high": high, "never": {**measure, "n": 0}},
    }


@pytest.fixture
def drawn(figures, tmp_path):
    """A function that draws a figure of results, and returns it."""

    def draw(figure, rows):
        figure({"results": rows}, tmp_path / "picture.png")
        assert (tmp_path / "picture.png").stat().st_size > 1000
        return figures[-1]

    return draw


def lines(axes, marker):
    return [tuple(line.get_xdata()) for line in axes.lines if line.get_marker() == marker]


def test_a_panel_per_setting_with_means_spreads_and_published_numbers(drawn):
    rows = [result("LDA", "a", 0.5, published=0.4), result("NMF", "a", 0.7), result("LDA", "b", 0.6)]
    first, second = drawn(Dots({"nmi": "NMI"}, log=("nmi",), target={"nmi": 0.95}), rows).axes
    assert lines(first, "o") == [(0.5,), (0.7,)]
    assert lines(first, "D") == [(0.4,)]
    assert lines(second, "o") == [(0.6,)]
    assert (0.4, 0.6) in lines(first, "None")  # one standard deviation on each side
    assert (0.95, 0.95) in [tuple(line.get_xdata()) for line in first.lines]
    assert first.get_xscale() == "log"
    assert [label.get_text() for label in first.get_yticklabels()] == ["LDA", "NMF"]
    assert [label.get_text() for label in second.get_yticklabels()] == ["", ""]  # the names stand at the left
    assert second.get_title(loc="left") == "NMI\ncorpus=b"


def test_methods_can_be_left_out_and_bars_can_be_intervals(drawn):
    rows = [result("LDA", "a", 0.5), result("majority", "a", 9.0)]
    figure = drawn(Dots({"nmi": "NMI", "never": "-"}, interval={"nmi": ("low", "high")}, left_out=("majority",)), rows)
    (axes,) = figure.axes  # a measure without a value has no panel
    assert lines(axes, "o") == [(0.5,)]
    assert (0.2, 1.0) in lines(axes, "None")
    assert figure.get_supxlabel() == "dot: our mean; line: 95 % interval"


def test_means_over_corpora(drawn):
    rows = [result("LDA", "a", 0.25), result("LDA", "b", 0.75)]
    (axes,) = drawn(DotsOverCorpora({"nmi": "NMI"}), rows).axes
    assert lines(axes, "o") == [(0.25, 0.75), (0.5,)]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_a_figure_and_goes_to_other_processes(name):
    experiment = load_experiment(name)
    assert experiment.figure is not None
    assert pickle.loads(pickle.dumps(experiment)).name == name

"""Figures: the right panels, bars, labels and scales; matplotlib's global state is left alone."""

import io
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from topicfold import PLSA, Corpus, plots
from topicfold.analysis.over_time import TopicsOverTime
from topicfold.analysis.recommendation import Selection, SelectionRow
from topicfold.topics.tree import TopicTree

pytest.importorskip("matplotlib")


def row(model="PLSA", score=-7.0, topics=None, **params):
    return SelectionRow(
        model,
        params,
        score=score,
        score_error=0.5,
        behind_error=0.02,
        coherence=0.2,
        coherence_error=0.01,
        stability=0.8,
        topics=topics or params.get("n_topics", 3),
    )


def chosen(*rows, number=0):
    return Selection(rows, number, "because.", "nats per token", 3, 2)


def drawn(figure):
    """Draw it: labels that cannot be set, fonts that are missing and layouts that fail show only then."""
    figure.savefig(io.BytesIO(), format="png")
    return figure


@pytest.fixture(scope="module")
def model():
    texts = ["cat dog cat", "dog cat", "sun moon", "moon star sun", "star moon"]
    return PLSA(2, random_state=0).fit(Corpus.from_texts(texts))


@pytest.fixture
def tree():
    """Two topics under one, the words of which matplotlib could take for formulas."""
    return TopicTree(
        ids=np.arange(3),
        parent=np.array([2, 2, -1]),
        level=np.array([1, 1, 2]),
        size=np.array([0.2, 0.3, 0.5]),
        topic_word=np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.9, 0.1], [0.25, 0.25, 0.25, 0.25]]),
        doc_topic=np.full((10, 3), 0.3),
        word_frequency=np.ones(4),
        vocabulary=("$x^$", "_b_", "$", "word"),
        document_ids=tuple(map(str, range(10))),
        names={1: "costs $5 or $6"},
    )


# ---- selection ------------------------------------------------------------------------------------------------------


def test_selection_over_one_parameter():
    rows = [row(n_topics=size, score=-7 - size / 100) for size in (5, 10, 80)]
    failed = SelectionRow("PLSA", {"n_topics": 900}, failed="too many")
    figure = drawn(chosen(*rows, failed, number=1).plot())
    panels = figure.axes
    assert [panel.get_ylabel().split("\n")[0] for panel in panels] == ["held-out score", "coherence", "stability"]
    assert "nats per token" in panels[0].get_ylabel()
    assert panels[2].get_xlabel() == "n_topics"
    assert panels[2].get_xscale() == "log"
    assert [tick.get_text() for tick in panels[2].get_xticklabels()] == ["5", "10", "80"]
    assert "n_topics=10" in panels[0].get_title(loc="left")
    rings = [line for panel in panels for line in panel.lines if line.get_gid() == "recommended"]
    assert [line.get_xdata()[0] for line in rings] == [10, 10, 10]
    assert figure.legends == []


def test_error_bars_are_those_of_the_rule():
    figure = plots.selection(chosen(row(n_topics=5), row(n_topics=10, score=-7.1)))
    (_, _, (bars,)) = figure.axes[0].containers[0]
    heights = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
    np.testing.assert_allclose(heights, 2 * 0.02)


def test_selection_over_two_parameters_has_a_line_each():
    rows = [row(n_themes=j, n_topics=k, score=-7 - j / k) for j in (2, 3) for k in (2, 3, 4)]
    figure = drawn(plots.selection(chosen(*rows)))
    assert figure.axes[2].get_xlabel() == "n_themes"
    assert figure.axes[2].get_xscale() == "linear"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["n_topics=2", "n_topics=3", "n_topics=4"]
    assert len(figure.axes[0].containers) == 3


def test_many_lines_have_colours_of_their_own():
    rows = [row(n_topics=k, smoothing=s / 100) for k in (2, 3) for s in range(12)]
    figure = drawn(plots.selection(chosen(*rows)))
    assert len({tuple(container[0].get_color()) for container in figure.axes[0].containers}) == 12


def test_selection_between_models_is_over_the_number_of_topics():
    rows = [row("PLSA", n_topics=2), row("PLSA", n_topics=4), row("Tree", depth=2, topics=3.5)]
    figure = drawn(plots.selection(chosen(*rows)))
    assert figure.axes[2].get_xlabel() == "number of topics"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["PLSA", "Tree, depth=2"]


def test_selection_over_names():
    figure = drawn(plots.selection(chosen(row(init="nmf"), row(init="kmeans", score=-8))))
    assert [tick.get_text() for tick in figure.axes[2].get_xticklabels()] == ["nmf", "kmeans"]


def test_selection_of_one_point():
    drawn(plots.selection(chosen(row(n_topics=5))))


# ---- a model and its topics -----------------------------------------------------------------------------------------


def test_convergence(model):
    (axes,) = drawn(plots.convergence(model)).axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), model.history_)
    assert axes.get_xlabel() == "iteration"
    assert axes.get_ylabel() == "objective (nats per token)"
    assert axes.get_title(loc="left").startswith(f"PLSA: {model.n_iter_} iterations")


def test_convergence_needs_a_fitted_model():
    with pytest.raises(ValueError, match="this PLSA has no history_: fit it first"):
        plots.convergence(PLSA())


def test_topic_words_of_a_model(model):
    tree = model.topic_tree()
    figure = drawn(plots.topic_words(tree, n_words=3))
    assert len(figure.axes) == 2
    for axes, topic in zip(figure.axes, tree.children()):
        words = tree.words(topic, 3)
        assert [tick.get_text() for tick in axes.get_yticklabels()] == [word.word for word in words]
        np.testing.assert_allclose([bar.get_width() for bar in axes.patches], [word.probability for word in words])
    assert figure.get_supxlabel() == "P(word | topic)"


def test_topic_words_shows_leaves_by_size_with_their_names(tree):
    figure = drawn(plots.topic_words(tree))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["costs $5 or $6\ntopic 1, 30.0%", "topic 0, 20.0%"]


def test_topic_words_of_chosen_topics(tree):
    figure = drawn(plots.topic_words(tree, [2, 0, 1, 2, 0], n_words=2))
    assert [axes.get_visible() for axes in figure.axes] == [True] * 5 + [False] * 3
    assert len(figure.axes[0].patches) == 2


@pytest.mark.parametrize(
    ("topics", "n_words", "message"), [([], 5, "at least one"), ([0], 0, "at least one"), ([9], 5, "no topic 9")]
)
def test_topic_words_bad_arguments(tree, topics, n_words, message):
    with pytest.raises(ValueError, match=message):
        plots.topic_words(tree, topics, n_words)


def test_topic_sizes(tree):
    (axes,) = drawn(plots.topic_sizes(tree)).axes
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], [50, 30, 20])
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels[0].startswith("2: ")
    assert labels[1] == "    1: costs $5 or $6"
    assert axes.get_xlabel() == "share of 10 documents (%)"


# ---- hierarchies ----------------------------------------------------------------------------------------------------


def many_topics(levels, parents, edges=None, names=None):
    """A tree of as many topics as there are levels, each half as large as the one before it."""
    n = len(levels)
    return TopicTree(
        ids=np.arange(n),
        parent=np.asarray(parents),
        level=np.asarray(levels),
        size=0.5 ** np.arange(1, n + 1),
        topic_word=np.full((n, 4), 0.25),
        doc_topic=np.eye(n)[np.arange(3 * n) % n],
        word_frequency=np.ones(4),
        vocabulary=("$x^$", "_b_", "$", "word"),
        document_ids=tuple(map(str, range(3 * n))),
        edges=edges,
        names=names or {},
    )


def joined(axes):
    """The pairs of topics that a line joins, with its width."""
    return {tuple(map(int, line.get_gid().split("-"))): line.get_linewidth() for line in axes.lines}


def test_hierarchy_is_indented_under_the_parents(tree):
    (axes,) = drawn(plots.hierarchy(tree, n_words=2)).axes
    assert [text.get_text() for text in axes.texts] == ["$x^$ _b_  50.0%", "costs $5 or $6  30.0%", "$x^$ _b_  20.0%"]
    assert set(joined(axes)) == {(2, 1), (2, 0)}
    places = np.vstack([dots.get_offsets() for dots in axes.collections])
    np.testing.assert_array_equal(places, [[0, 0], [1, 1], [1, 2]])
    areas = [dots.get_sizes()[0] for dots in axes.collections]
    assert areas == sorted(areas, reverse=True)
    assert areas[0] > areas[2]


def test_hierarchy_of_a_flat_tree_has_no_lines(model):
    (axes,) = drawn(plots.hierarchy(model.topic_tree())).axes
    assert len(axes.texts) == 2
    assert len(axes.lines) == 0


def test_hierarchy_of_many_topics_shows_the_upper_levels():
    levels, parents = [3] * 2 + [2] * 6 + [1] * 150, [-1] * 2 + [0, 1] * 3 + [2, 3, 4, 5, 6, 7] * 25
    (axes,) = drawn(plots.hierarchy(many_topics(levels, parents))).axes
    assert len(axes.texts) == 8
    assert axes.get_title(loc="left") == "8 of 158 topics: only levels 3 to 2"
    (axes,) = drawn(plots.hierarchy(many_topics([1] * 130, [-1] * 130))).axes
    assert len(axes.texts) == 100
    assert axes.get_title(loc="left") == "100 of 130 topics: the largest of level 1"


def test_hierarchy_with_edges_joins_two_columns_by_weight():
    edges = (np.array([0, 0, 1, 1]), np.array([2, 3, 3, 4]), np.array([0.8, 0.2, 0.4, 0.6]))
    tree = many_topics([2, 2, 1, 1, 1], [-1, -1, 0, 1, 1], edges, {4: "_hidden"})
    (axes,) = drawn(plots.hierarchy(tree)).axes
    widths = joined(axes)
    assert set(widths) == {(0, 2), (0, 3), (1, 3), (1, 4)}
    assert widths[0, 2] == pytest.approx(4 * widths[0, 3])
    assert widths[1, 3] == pytest.approx(2 * widths[0, 3])
    assert len(axes.texts) == 5
    right = [dots.get_offsets()[0] for dots in axes.collections if dots.get_offsets()[0][0] == 1]
    assert len(right) == 3
    few = tree.drop([2, 3, 4])  # no parts are left
    assert joined(drawn(plots.hierarchy(few)).axes[0]) == {}


def test_two_columns_are_sorted_so_that_few_lines_cross():
    """A chain 5-0-6-2-4-1-3, which has an order without any crossing: 0 2 1 beside 5 6 4 3."""
    edges = (np.array([0, 0, 2, 2, 1, 1]), np.array([5, 6, 6, 4, 4, 3]), np.full(6, 0.5))
    (axes,) = plots.hierarchy(many_topics([2] * 3 + [1] * 4, [-1] * 3 + [1, 1, 0, 0], edges)).axes
    lines = [line.get_ydata() for line in axes.lines]
    assert set(joined(axes)) == {(0, 5), (0, 6), (2, 6), (2, 4), (1, 4), (1, 3)}
    assert not any((a[0] - b[0]) * (a[1] - b[1]) < 0 for a in lines for b in lines)


def test_hierarchy_bad_arguments(tree):
    with pytest.raises(ValueError, match="0 topics and n_words=5"):
        plots.hierarchy(tree.drop([0, 1, 2]))
    with pytest.raises(ValueError, match="n_words=0"):
        plots.hierarchy(tree, 0)


# ---- over time ------------------------------------------------------------------------------------------------------


def test_over_time_has_one_scale_and_hides_no_point():
    share = np.array([[0.05, 0.35, 0.3, 0.3], [0.25, 0.25, 0.1, 0.4], [0.4, 0.12, 0.15, 0.33]])
    periods = np.array(["2001", "2002", "2003"], "datetime64[Y]")
    table = TopicsOverTime(periods, share, np.full(3, 9), ("rises $", "falls", "dips", "stays"))
    figure = drawn(plots.over_time(table, n_topics=4))
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [r"rises \$", "falls", "dips", "stays"]
    for axes in shown:
        low, high = axes.get_ylim()
        assert low == 0
        assert axes.lines[0].get_ydata().max() < high < 45
    dates = [any(label.get_text() for label in axes.get_xticklabels() if label.get_visible()) for axes in shown]
    assert dates == [False, True, True, True]  # two panels of the upper row have none below


# ---- maps -----------------------------------------------------------------------------------------------------------


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_document_map_colours_the_largest_topics():
    tree = many_topics([1] * 10, [-1] * 10, names={k: f"_{k}$" for k in range(10)})
    tree = replace(tree, doc_topic=np.eye(10)[np.repeat(np.arange(10), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])])
    tree.doc_topic[0] = 0
    positions = np.random.default_rng(0).normal(size=(45, 2))
    figure = drawn(plots.document_map(positions, replace(tree, document_ids=tuple(map(str, range(45))))))
    assert sorted(legend_of(figure)[:7]) == [f"_{k}$" for k in range(7)]
    assert legend_of(figure)[7] == "2 other topics"
    grey, *groups = figure.axes[0].collections
    assert len(grey.get_offsets()) == 4
    assert [len(group.get_offsets()) for group in groups] == [8, 8, 7, 6, 5, 4, 3]
    assert len({tuple(group.get_facecolor()[0]) for group in (grey, *groups)}) == 8
    assert figure.axes[0].get_aspect() == 1


def test_document_map_of_labels(model):
    tree = model.topic_tree()
    positions = np.arange(10.0).reshape(5, 2)
    figure = drawn(plots.document_map(positions, tree, ["sky", "", "sky", None, "land"]))
    assert legend_of(figure) == ["sky", "land", "no label"]
    np.testing.assert_array_equal(figure.axes[0].collections[1].get_offsets(), positions[[0, 2]])
    of_corpus = drawn(plots.document_map(positions, tree, (("sky", "blue"), (), ("sky",), (), ("land",))))
    assert legend_of(of_corpus) == legend_of(figure)
    assert legend_of(drawn(plots.document_map(positions, tree))) == [tree.name(topic) for topic in tree.children()]


def test_document_map_takes_the_highest_level_or_the_parts_of_topics(tree):
    positions = np.zeros((10, 2))
    assert legend_of(drawn(plots.document_map(positions, tree))) == [tree.name(2)]
    assert legend_of(drawn(plots.document_map(positions, tree.select_levels([1])))) == [tree.name(0)]
    with_parts = replace(tree, edges=(np.array([2, 2]), np.array([0, 1]), np.array([0.5, 0.5])))
    assert legend_of(drawn(plots.document_map(positions, with_parts))) == [tree.name(0)]
    assert legend_of(drawn(plots.document_map(positions, tree.drop([0, 1, 2])))) == ["no topic"]


def test_document_map_bad_arguments(tree):
    with pytest.raises(ValueError, match=r"positions have shape \(3, 2\): expected \(10, 2\)"):
        plots.document_map(np.zeros((3, 2)), tree)
    with pytest.raises(ValueError, match="2 labels for 10 documents"):
        plots.document_map(np.zeros((10, 2)), tree, ["a", "b"])


# ---- matplotlib -----------------------------------------------------------------------------------------------------


def test_says_which_extra_is_missing(monkeypatch, model):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"a plot needs matplotlib: pip install 'topicfold\[plots\]'"):
        plots.convergence(model)


def test_no_pyplot():
    code = """
import sys
from topicfold import plots
from topicfold.analysis.recommendation import SelectionRow, Selection
figures = {"coherence": 0.1, "coherence_error": 0, "stability": 1}
rows = [SelectionRow("PLSA", {"n_topics": n}, -7, 0, 0, 0.1, **figures) for n in (2, 4)]
assert "matplotlib" not in sys.modules
plots.selection(Selection(tuple(rows), 0, "", "nats per token", 3, 2))
assert "matplotlib.figure" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_trace_has_a_line_a_chain(sampled):
    from topicfold import LDCC

    fitted = LDCC(2, 3, n_sweeps=12, burn_in=5, lag=2, n_chains=2, random_state=0, verbose=False).fit(sampled)
    axes = plots.trace(fitted).axes[0]
    drawn = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) == 12]
    assert np.array_equal(drawn, fitted.chain_history_)
    assert len(axes.get_legend().get_texts()) == 2


def test_trace_is_for_samplers(model):
    with pytest.raises(ValueError, match="trace is for a fitted LDCC"):
        plots.trace(model)

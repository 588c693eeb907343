"""Draw the figures of the model pages into docs/images/models: schematic drawings, not data. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from schematic import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    Point,
    arrow,
    box,
    canvas,
    chip,
    dot,
    grid,
    label,
    line,
    page,
    pie,
    shares,
    topic_cards,
    triangle,
)

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images" / "models"
STYLE = {
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "topicfold",
    "svg.fonttype": "path",
    "mathtext.fontset": "dejavusans",
}


def draw_plsa() -> Figure:
    """A mix of topics, the words of the topics and a document; EM goes back from the document to the topics."""
    figure, axes = canvas(8, 3.1)
    shares(axes, 30, 157, 150, 28, (0.6, 0.3, 0.1))
    label(axes, 112, 284, "a document's mix of topics", 10.5)
    label(axes, 105, 138, "$P(z|d)$", 11)
    for middle, width in ((233, 2.6), (151, 1.8), (69, 0.9)):
        arrow(axes, (190, 171), (318, middle), width=width)
    label(axes, 400, 284, "topics: which words", 10.5)
    topic_cards(axes, 325, (267, 185, 103))
    for middle, width in ((233, 2.6), (151, 1.8), (69, 0.9)):
        arrow(axes, (482, middle), (612, 171), width=width)
    lines = ((BLUE, BLUE, ORANGE), (BLUE, ORANGE, BLUE, BLUE), (GREEN, BLUE, ORANGE), (BLUE, BLUE, ORANGE, BLUE))
    page(axes, 620, 101, 140, 140, lines)
    label(axes, 690, 284, "its words, counted", 10.5)
    label(axes, 545, 62, "$P(w|z)$", 11)
    arrow(axes, (690, 90), (105, 118), PURPLE, bend=-0.3, width=1.8)
    label(axes, 85, 38, "EM finds both tables\nfrom the counts", 9.5, PURPLE)
    return figure


def draw_lda() -> Figure:
    """The topic of a token comes from the other tokens of its document and from the prior."""
    figure, axes = canvas(8, 2.9)
    box(axes, 20, 185, 330, 80, face=PALE)
    label(axes, 185, 250, "a title: the topic of one token is asked for", 9.5)
    for x, word, colour in ((62, "two", GREY), (138, "player", BLUE), (214, "chess ?", INK), (298, "game", BLUE)):
        chip(axes, x, 213, word, colour, 66)
    for y, title, note, parts in (
        (120, "the other tokens", "3 tokens, itself left out", (0.75, 0.15, 0.1)),
        (70, "prior: alpha", "1 token, as in the corpus", (0.4, 0.3, 0.3)),
        (20, "main topic: focus", "3 tokens of one topic", (0.94, 0.03, 0.03)),
    ):
        label(axes, 22, y + 22, title, 9.5, ha="left", weight="bold")
        label(axes, 22, y + 6, note, 8.5, GREY, ha="left")
        shares(axes, 190, y + 4, 110, 20, parts)
        arrow(axes, (308, y + 14), (392, 86), width=1.1)
    arrow(axes, (214, 183), (214, 150), width=1.1)
    shares(axes, 400, 73, 120, 26, (0.84, 0.09, 0.07))
    label(axes, 460, 119, "topics of this token", 9.5)
    label(axes, 460, 55, r"$\times\ P(w|z)$", 11)
    for top in (230, 148, 66):
        line(axes, (608, top), (526, 86), "#c3cad0", 1.2)
    topic_cards(axes, 610, (270, 187, 104))
    return figure


NODES: dict[str, Point] = {
    "a": (50, 150), "b": (115, 185), "c": (105, 110), "d": (185, 150), "e": (250, 110), "f": (240, 190), "g": (310, 150)
}  # fmt: skip
EDGES = ("ab", "ac", "bc", "bd", "de", "df", "ef", "eg", "fg")


def draw_ltm() -> Figure:
    """Documents on a graph: each on its own, and drawn towards their neighbours."""
    figure, axes = canvas(8, 2.6)
    alone = {
        "a": (0.8, 0.1, 0.1), "b": (0.5, 0.1, 0.4), "c": (0.45, 0.5, 0.05), "d": (0.34, 0.33, 0.33),
        "e": (0.1, 0.75, 0.15), "f": (0.4, 0.5, 0.1), "g": (0.05, 0.5, 0.45),
    }  # fmt: skip
    together = {
        "a": (0.76, 0.12, 0.12), "b": (0.68, 0.15, 0.17), "c": (0.66, 0.22, 0.12), "d": (0.38, 0.48, 0.14),
        "e": (0.14, 0.7, 0.16), "f": (0.22, 0.64, 0.14), "g": (0.1, 0.68, 0.22),
    }  # fmt: skip
    for shift, mixes, title in ((20, alone, "words alone"), (420, together, "words and neighbours")):
        for start, end in EDGES:
            line(axes, (NODES[start][0] + shift, NODES[start][1]), (NODES[end][0] + shift, NODES[end][1]), INK)
        for name, (x, y) in NODES.items():
            pie(axes, (x + shift, y), 23, mixes[name])
        label(axes, shift + 180, 240, title, 11, weight="bold")
    arrow(axes, (368, 150), (432, 150), INK, width=2.2)
    label(axes, 400, 168, "graph", 10)
    label(axes, 400, 130, "weight", 10, style="italic")
    label(
        axes,
        400,
        50,
        "a circle is a document, its slices are its topics; edges join neighbours, links or equal labels",
        9.5,
        GREY,
    )
    label(
        axes,
        400,
        25,
        "documents that disagree with their neighbours give way, as far as their own words allow",
        9.5,
        GREY,
    )
    return figure


def draw_lapplsi() -> Figure:
    """A document takes its best place between where its words put it and the mean of its neighbours."""
    figure, axes = canvas(8, 2.9)
    place = triangle(axes, 45, 45, 290)
    neighbours = [place(0.62, 0.2, 0.18), place(0.5, 0.14, 0.36), place(0.74, 0.14, 0.12)]
    centre = place(0.62, 0.16, 0.22)
    position = place(0.06, 0.66, 0.28)
    for neighbour in neighbours:
        line(axes, position, neighbour, GREY, 1, ":")
        dot(axes, neighbour, GREEN, edge="white")
    best = (position[0] + 0.6 * (centre[0] - position[0]), position[1] + 0.6 * (centre[1] - position[1]))
    gap = 8 / ((best[0] - position[0]) ** 2 + (best[1] - position[1]) ** 2) ** 0.5
    step = (gap * (best[0] - position[0]), gap * (best[1] - position[1]))
    arrow(axes, (position[0] + step[0], position[1] + step[1]), (best[0] - step[0], best[1] - step[1]), INK)
    dot(axes, position, INK, 6)
    dot(axes, best, "white", 6)
    axes.plot(*centre, marker="x", ms=9, mew=2.2, color=GREEN, zorder=4)
    notes = (
        (INK, INK, "where the words put the document (PLSA)"),
        ("white", INK, "its best place: words and neighbours weighed up"),
        (GREEN, "white", "its neighbours in the graph"),
    )
    for row, (face, edge, text) in enumerate(notes):
        dot(axes, (395, 215 - 36 * row), face, 6, edge)
        label(axes, 413, 215 - 36 * row, text, 10, ha="left")
    axes.plot(395, 107, marker="x", ms=9, mew=2.2, color=GREEN)
    label(axes, 413, 107, "their mean", 10, ha="left")
    label(
        axes,
        383,
        62,
        "objective = log-likelihood\n                 − weight × squared distances along edges",
        10,
        GREY,
        ha="left",
    )
    return figure


def draw_dtm() -> Figure:
    """Neighbours are drawn together, all others pushed apart."""
    figure, axes = canvas(8, 2.9)
    before = (
        (0.5, 0.24, 0.26),
        (0.4, 0.38, 0.22),
        (0.3, 0.42, 0.28),
        (0.22, 0.5, 0.28),
        (0.36, 0.2, 0.44),
        (0.26, 0.24, 0.5),
    )
    after = (
        (0.86, 0.07, 0.07),
        (0.78, 0.14, 0.08),
        (0.14, 0.8, 0.06),
        (0.07, 0.86, 0.07),
        (0.13, 0.08, 0.79),
        (0.06, 0.07, 0.87),
    )
    colours = (BLUE, BLUE, ORANGE, ORANGE, GREEN, GREEN)
    for left, mixes, title in ((40, before, "before"), (475, after, "after")):
        place = triangle(axes, left, 45, 285)
        points = [place(*mix) for mix in mixes]
        for first in (0, 2, 4):
            line(axes, points[first], points[first + 1], INK, 2.4)
        for point, colour in zip(points, colours, strict=True):
            dot(axes, point, colour, 8, "white")
        label(axes, left + 20, 252, title, 11, weight="bold", ha="left")
    arrow(axes, (345, 130), (455, 130), INK, width=2.2)
    label(axes, 400, 168, "neighbours together", 9.5)
    label(axes, 400, 152, "all others apart", 9.5)
    label(axes, 400, 104, "as far as the\nlikelihood allows", 9.5, GREY)
    label(axes, 400, 10, "a line joins neighbours", 9.5, GREY)
    return figure


def draw_ttmm() -> Figure:
    """Documents have one theme each, themes mix topics."""
    figure, axes = canvas(8, 3.0)
    mixes = ((0.8, 0.15, 0.05), (0.1, 0.65, 0.25), (0.33, 0.34, 0.33), (0.05, 0.15, 0.8))
    tops = (244, 188, 132, 76)
    for row, (top, mix) in enumerate(zip(tops, mixes, strict=True)):
        box(axes, 290, top - 42, 170, 42)
        label(axes, 300, top - 13, f"theme {row + 1}", 9.5, ha="left", weight="bold")
        shares(axes, 300, top - 35, 150, 13, mix)
    documents = ((225, 0), (185, 1), (145, 0), (105, 3), (65, 2))
    for y, theme in documents:
        box(axes, 60, y - 12, 90, 24, face=PALE)
        label(axes, 105, y - 1, "document", 9)
        arrow(axes, (156, y), (284, tops[theme] - 21), width=1.3)
    for top in tops:
        for card in (216, 134, 52):
            line(axes, (462, top - 21), (608, card + 14), "#c3cad0", 1)
    topic_cards(axes, 610, (264, 182, 100))
    for x, title, note in (
        (105, "one theme each", "$P(h|d)$"),
        (375, "a theme mixes topics", "$P(t|h)$"),
        (685, "topics", "$P(w|t)$"),
    ):
        label(axes, x, 284, title, 10.5)
        label(axes, x, 15, note, 11)
    return figure


def draw_ldcc() -> Figure:
    """Paragraphs have a document-topic each, which mixes word-topics."""
    figure, axes = canvas(8, 3.0)
    paragraphs = (
        ((BLUE, BLUE, BLUE), (BLUE, ORANGE, BLUE)),
        ((GREEN, GREEN, ORANGE), (GREEN, GREEN)),
        ((BLUE, BLUE), (BLUE, BLUE, GREEN)),
    )
    box(axes, 25, 38, 165, 222, face="white")
    for row, (lines, target) in enumerate(zip(paragraphs, (215, 95, 215), strict=True)):
        bottom = 190 - 70 * row
        page(axes, 35, bottom, 145, 58, lines)
        arrow(axes, (186, bottom + 29), (293, target), width=1.3)
    for y, name, mix in ((215, "document-topic A", (0.82, 0.1, 0.08)), (95, "document-topic B", (0.08, 0.17, 0.75))):
        box(axes, 300, y - 32, 175, 64, edge=PURPLE)
        label(axes, 387, y + 17, name, 10, PURPLE, weight="bold")
        shares(axes, 312, y - 18, 150, 16, mix)
        for card in (216, 134, 52):
            line(axes, (477, y), (608, card + 14), "#c3cad0", 1)
    topic_cards(axes, 610, (264, 182, 100), ("word-topic 1", "word-topic 2", "word-topic 3"))
    label(axes, 107, 280, "a document of paragraphs", 10.5)
    label(axes, 387, 280, "one per paragraph", 10.5)
    label(axes, 685, 280, "one per token", 10.5)
    label(axes, 107, 18, "mixes A and B", 10, GREY)
    label(axes, 387, 18, r"$\alpha$: how it mixes word-topics", 10)
    label(axes, 685, 18, "$P(w|z)$", 11)
    return figure


def draw_hlta() -> Figure:
    """A tree: words below latents, latents below latents."""
    figure, axes = canvas(8, 3.2)
    groups = (
        (BLUE, (("team", "season", "league"), ("hockey", "nhl"))),
        (GREEN, (("orbit", "shuttle", "nasa"), ("moon", "earth"))),
        (ORANGE, (("video", "card", "driver"), ("image", "jpeg"))),
    )
    x, tops = 44.0, []
    for colour, islands in groups:
        latents = []
        for words in islands:
            places = [x + 50 * number for number in range(len(words))]
            middle = sum(places) / len(places)
            for place, word in zip(places, words, strict=True):
                line(axes, (middle, 150), (place, 80), colour, 1.4)
                label(axes, place, 68, word, 9.5, rotation=30)
            dot(axes, (middle, 150), colour, 11, "white")
            latents.append(middle)
            x = places[-1] + 52
        top = sum(latents) / 2
        for latent in latents:
            line(axes, (top, 240), (latent, 150), colour, 1.8)
        dot(axes, (top, 240), colour, 15, "white")
        tops.append(top)
    for first, second, bend in ((0, 1, -0.25), (1, 2, -0.25)):
        axes.add_patch(
            FancyArrowPatch(
                (tops[first] + 12, 250),
                (tops[second] - 12, 250),
                arrowstyle="-",
                color=GREY,
                lw=1.6,
                connectionstyle=f"arc3,rad={bend}",
            )
        )
    label(axes, 400, 305, "top level: few, broad topics, joined to one tree", 10.5)
    label(axes, 400, 196, "latents that go together", 9.5, GREY, bbox={"fc": "white", "ec": "none", "pad": 1.5})
    label(axes, 400, 114, "words that occur together", 9.5, GREY, bbox={"fc": "white", "ec": "none", "pad": 1.5})
    label(
        axes,
        400,
        22,
        "a latent is on or off in a document: “on” is a topic, and a document is in any number of them",
        10,
    )
    return figure


def draw_graphs() -> Figure:
    """Where edges come from and which models use them."""
    figure, axes = canvas(8, 2.7)
    sources = (
        ("words", "nearest by tf-idf"),
        ("embeddings", "nearest by cosine"),
        ("links", "citations, hyperlinks"),
        ("labels", "the few that are known"),
    )
    for row, (name, note) in enumerate(sources):
        y = 230 - 58 * row
        box(axes, 20, y - 22, 175, 44, face=PALE)
        label(axes, 107, y + 7, name, 10.5, weight="bold")
        label(axes, 107, y - 10, note, 9, GREY)
        arrow(axes, (200, y), (272, 150 + (y - 143) * 0.35), width=1.2)
    for start, end in EDGES:
        line(
            axes,
            (NODES[start][0] * 0.62 + 270, NODES[start][1] * 0.9 + 8),
            (NODES[end][0] * 0.62 + 270, NODES[end][1] * 0.9 + 8),
            INK,
            1.4,
        )
    for name, (x, y) in NODES.items():
        dot(axes, (x * 0.62 + 270, y * 0.9 + 8), BLUE if name in "abc" else ORANGE, 11, "white")
    label(axes, 382, 222, "one graph of documents", 10.5, weight="bold")
    label(axes, 382, 72, "a sparse matrix W;\nedges from several sources add up", 9.5, GREY)
    models = (
        ("LapPLSI", "squared distance costs"),
        ("LTM", "divergence costs"),
        ("DTM", "and others are pushed apart"),
    )
    for row, (name, note) in enumerate(models):
        y = 215 - 72 * row
        arrow(axes, (492, 143), (572, y), width=1.2)
        box(axes, 578, y - 24, 202, 48, edge=PURPLE)
        label(axes, 679, y + 8, name, 10.5, PURPLE, weight="bold")
        label(axes, 679, y - 10, note, 9, GREY)
    return figure


def draw_baselines() -> Figure:
    """Four kinds of baselines: factor, cluster, cut, co-cluster."""
    figure, axes = canvas(8, 2.3)
    pale = "#ccd5dc"
    grid(axes, 18, 150, 8, 6, lambda r, c: BLUE if (r < 4) == (c < 3) else pale)
    label(axes, 95, 116, "≈", 13)
    grid(axes, 108, 150, 8, 2, lambda r, c: BLUE if (r < 4) == (c < 1) else pale)
    grid(axes, 138, 127, 2, 6, lambda r, c: BLUE if (r < 1) == (c < 3) else pale)
    points = (
        (245, 150, BLUE),
        (262, 132, BLUE),
        (240, 122, BLUE),
        (310, 150, ORANGE),
        (330, 138, ORANGE),
        (295, 88, GREEN),
        (318, 84, GREEN),
        (275, 80, GREEN),
    )
    for x, y, colour in points:
        dot(axes, (x, y), colour, 8, "white")
    ring = {"a": (430, 145), "b": (455, 118), "c": (428, 95), "d": (520, 145), "e": (545, 118), "f": (515, 95)}
    for start, end in ("ab", "bc", "ac", "de", "ef", "df"):
        line(axes, ring[start], ring[end], INK, 1.6)
    line(axes, ring["b"], ring["f"], GREY, 1, ":")
    for name, place in ring.items():
        dot(axes, place, BLUE if name in "abc" else ORANGE, 8, "white")
    line(axes, (487, 165), (484, 75), PURPLE, 2, "--")
    grid(axes, 636, 155, 9, 11, lambda r, c: (BLUE, ORANGE, GREEN)[(r // 3 + c // 4) % 3] if r // 3 == c // 4 else pale)
    for y in (133, 100):
        line(axes, (632, y), (761, y), INK, 1.6)
    for x in (680, 724):
        line(axes, (x, 64), (x, 169), INK, 1.6)
    titles = (
        (112, "factor", "NMF, LSI, PCA"),
        (288, "cluster", "k-means"),
        (487, "cut the graph", "NCut"),
        (697, "cluster both sides", "ITCC, MOC, MOCC"),
    )
    for x, title, names in titles:
        label(axes, x, 200, title, 11, weight="bold")
        label(axes, x, 40, names, 10, GREY)
    label(axes, 400, 13, "sampled topic models: GibbsLDA (flat), HLDA (a tree)", 9.5, GREY)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "baselines": draw_baselines,
    "dtm": draw_dtm,
    "graphs": draw_graphs,
    "hlta": draw_hlta,
    "lapplsi": draw_lapplsi,
    "lda": draw_lda,
    "ldcc": draw_ldcc,
    "ltm": draw_ltm,
    "plsa": draw_plsa,
    "ttmm": draw_ttmm,
}


def main() -> None:
    """Draw all figures; the files have the same bytes each time."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, draw in FIGURES.items():
            draw().savefig(IMAGES / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

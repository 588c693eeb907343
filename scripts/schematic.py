"""Parts of schematic drawings: boxes, arrows, pages, topics; drawn with matplotlib in hundredths of an inch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle, Wedge

BLUE, ORANGE, GREEN, PURPLE = "#3b7dba", "#e08a1e", "#2f9e77", "#8a63b0"  # safe for colour-blind readers
INK, GREY, PALE = "#263238", "#78828a", "#eef1f4"
COLOURS = (BLUE, ORANGE, GREEN)
WORDS = (("game", "chess", "player"), ("sound", "audio", "midi"), ("network", "server", "proxy"))

Point = tuple[float, float]


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A white figure whose data units are hundredths of an inch."""
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width * 100)
    axes.set_ylim(0, height * 100)
    axes.axis("off")
    return figure, axes


def label(axes: Axes, x: float, y: float, text: str, size: float = 10, colour: str = INK, **options: object) -> None:
    """Text centred at a point."""
    axes.text(x, y, text, **{"ha": "center", "va": "center", "fontsize": size, "color": colour, **options})  # type: ignore[arg-type]


def box(axes: Axes, x: float, y: float, width: float, height: float, face: str = "white", edge: str = GREY) -> None:
    """A rounded box whose lower left corner is at x and y."""
    shape = FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=7", fc=face, ec=edge, lw=1.3)
    axes.add_patch(shape)


def arrow(axes: Axes, start: Point, end: Point, colour: str = GREY, bend: float = 0, width: float = 1.5) -> None:
    """An arrow from one point to another."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=12,
            color=colour,
            lw=width,
            shrinkA=0,
            shrinkB=0,
            connectionstyle=f"arc3,rad={bend}",
        )
    )


def line(axes: Axes, start: Point, end: Point, colour: str = GREY, width: float = 1.3, style: str = "-") -> None:
    """A line above boxes and below documents."""
    axes.plot((start[0], end[0]), (start[1], end[1]), color=colour, lw=width, ls=style, zorder=1.2)


def chip(axes: Axes, x: float, y: float, text: str, colour: str, width: float = 58, size: float = 9.5) -> None:
    """A word on a coloured background, centred at a point."""
    box(axes, x - width / 2, y - 10, width, 20, face=colour, edge=colour)
    label(axes, x, y - 0.5, text, size, "white")


def shares(axes: Axes, x: float, y: float, width: float, height: float, parts: Sequence[float]) -> None:
    """A bar divided by the shares of the topics."""
    for part, colour in zip(parts, COLOURS, strict=True):
        axes.add_patch(Rectangle((x, y), width * part, height, fc=colour, ec="white", lw=1))
        x += width * part


def pie(axes: Axes, centre: Point, radius: float, parts: Sequence[float]) -> None:
    """A document as a circle divided by the shares of its topics."""
    angle = 90.0
    for part, colour in zip(parts, COLOURS, strict=True):
        axes.add_patch(Wedge(centre, radius, angle - 360 * part, angle, fc=colour, ec="white", lw=0.8, zorder=3))
        angle -= 360 * part
    axes.add_patch(Circle(centre, radius, fc="none", ec=INK, lw=1.1, zorder=3))


def topic_cards(
    axes: Axes, x: float, tops: Sequence[float], names: Sequence[str] = ("topic 1", "topic 2", "topic 3")
) -> None:
    """One card per topic, with a bar for each word."""
    for top, colour, words, name in zip(tops, COLOURS, WORDS, names, strict=True):
        box(axes, x, top - 68, 150, 68, edge=colour)
        label(axes, x + 10, top - 12, name, 9, colour, ha="left", weight="bold")
        for rank, word in enumerate(words):
            y = top - 28 - 15 * rank
            axes.add_patch(Rectangle((x + 72, y - 4), 66 - 17 * rank, 8, fc=colour, alpha=0.75))
            label(axes, x + 66, y, word, 9, ha="right")


def page(axes: Axes, x: float, y: float, width: float, height: float, lines: Sequence[Sequence[str]]) -> None:
    """A document: lines of words, each word in the colour of its topic."""
    box(axes, x, y, width, height, face=PALE)
    step = height / (len(lines) + 1)
    for row, colours in enumerate(lines):
        left, room = x + 10, (width - 20) / len(colours)
        for place, colour in enumerate(colours):
            shape = Rectangle(
                (left + place * room, y + height - (row + 1) * step - 3), room - 5, 6, fc=colour, ec="none"
            )
            axes.add_patch(shape)


def triangle(axes: Axes, x: float, y: float, side: float) -> Callable[[float, float, float], Point]:
    """The simplex of three topics; returns a function that gives the position of a mix in it."""
    height = side * 0.75
    corners = ((x, y), (x + side, y), (x + side / 2, y + height))
    axes.add_patch(Polygon(corners, closed=True, fc=PALE, ec=GREY, lw=1.2))
    for (cx, cy), colour, text, (dx, dy) in zip(
        corners, COLOURS, ("topic 1", "topic 2", "topic 3"), ((-4, -14), (4, -14), (0, 12)), strict=True
    ):
        label(axes, cx + dx, cy + dy, text, 9.5, colour, weight="bold")

    def place(first: float, second: float, third: float) -> Point:
        parts = zip((first, second, third), corners, strict=True)
        points = [(share * cx, share * cy) for share, (cx, cy) in parts]
        return sum(p[0] for p in points), sum(p[1] for p in points)

    return place


def dot(axes: Axes, centre: Point, face: str = INK, radius: float = 7, edge: str = INK) -> None:
    """A document as a dot."""
    axes.add_patch(Circle(centre, radius, fc=face, ec=edge, lw=1.2, zorder=3))


def grid(
    axes: Axes, x: float, y: float, rows: int, columns: int, colours: Callable[[int, int], str], size: float = 11
) -> None:
    """A table of small squares."""
    for row in range(rows):
        for column in range(columns):
            shape = Rectangle(
                (x + column * size, y - row * size), size, size, fc=colours(row, column), ec="white", lw=0.8
            )
            axes.add_patch(shape)

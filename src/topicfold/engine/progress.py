"""Progress bars on stderr: on a terminal or on request, and not for work that is done at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]

_SHOW_AFTER_SECONDS = 1.5
_REDRAW_SECONDS = 0.1

Move = Callable[..., None]


@contextmanager
def progress(title: str, total: int, *, done: int = 0, unit: str = "", verbose: bool | None = None) -> Iterator[Move]:
    """A progress bar with speed and time left. Yields `move(to, note="")`, to be called with the progress so far.

    `verbose` True always shows it, False never, None on a terminal if the work takes a while. `unit` is shown after the
    speed; 'MB' counts bytes in millions.
    """
    if not (sys.stderr.isatty() if verbose is None else verbose):
        yield lambda to, note="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    scale = 1e6 if unit == "MB" else 1
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[speed]}"),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    started, first, drawn = time.monotonic(), done, 0.0
    last: tuple[int, str] = (done, "")
    with Progress(*columns, console=Console(stderr=True), transient=not verbose) as bar:
        task = bar.add_task(title, total=total, completed=done, speed="", note="", visible=bool(verbose))

        def draw(seconds: float) -> None:
            to, note = last
            speed = (to - first) / scale / max(seconds, 1e-9)
            shown = bool(verbose) or seconds > _SHOW_AFTER_SECONDS
            bar.update(task, completed=to, visible=shown, speed=f"{speed:.3g} {unit}".strip() + "/s", note=note)

        def move(to: int, note: str = "") -> None:
            nonlocal drawn, last
            last = (to, note)
            seconds = time.monotonic() - started
            if seconds - drawn >= _REDRAW_SECONDS:
                drawn = seconds
                draw(seconds)

        yield move
        draw(time.monotonic() - started)

"""What the tests of the command line share."""

from __future__ import annotations

import json

from page_data import data_of

TEXTS = ["cat dog cow", "dog cow cat", "cow cat", "sun moon star", "moon star sun", "star sun"]


def shown_on(page):
    """The report in a page."""
    return data_of(page.read_text(encoding="utf-8"))


def lines_of(texts, **columns):
    rows = [{"text": text, **{name: values[d] for name, values in columns.items()}} for d, text in enumerate(texts)]
    return "".join(json.dumps(row) + "\n" for row in rows)

"""A Report, and the HTML file it is written to.

Nothing in a report is trusted: texts, titles, labels, and names of topics and files may come from strangers. It is
stored as JSON in which `<`, `>` and `&` are escaped, so that no text can end the block it is in; the scripts put it on
the page only as text nodes; and the page's Content-Security-Policy runs only the scripts and styles whose hashes it
lists. Documents, which take up most of a page, are stored as compressed JSON in base64.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine.store import atomic_write
from .web_files import joined_scripts, web_file

__all__ = ["D3", "Report", "html_page"]

_LARGEST_IN_NOTEBOOK = 20_000_000  # bytes: a notebook file contains what it shows
_DOCUMENTS_PER_BLOCK = 5_000  # unpacked one after the other, so that a browser needs little extra memory
D3 = "vendor/d3-7.9.0.min.js"
_DOCUMENTS = '<script type="application/octet-stream" class="documents">{}</script>\n'


@dataclass(frozen=True, repr=False)
class Report:
    """Contents of the explorer, as plain JSON values; made by `build_report`.

    A notebook shows a report as the interactive page.

    Parameters
    ----------
    data : dict
        The contents of the page.

    See Also
    --------
    build_report : Makes a report.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, build_report
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> report = build_report(PLSA(2, random_state=0).fit(corpus), corpus, name="pets & planets")
    >>> report
    Report on pets & planets: 2 topics, 4 documents
    >>> "<title>pets &amp; planets: topics</title>" in report.to_html()
    True
    """

    data: dict[str, Any]

    def __repr__(self) -> str:
        topics, corpus = self.data["topics"], self.data["corpus"]
        return f"Report on {self.data['name']}: {len(topics):,} topics, {corpus['documents']:,} documents"

    def to_json(self) -> str:
        """Return the contents as JSON.

        Returns
        -------
        str
            A JSON object.
        """
        return _json(self.data)

    def to_html(self) -> str:
        """Return the page.

        Returns
        -------
        str
            One HTML document that needs no other file and no network.
        """
        scripts = [web_file(D3), joined_scripts("explorer.js")]
        data = _json({key: value for key, value in self.data.items() if key != "documents"})
        documents = "".join(map(_DOCUMENTS.format, _packed(self.data["documents"])))
        title = f"{self.data['name']}: topics"
        return html_page("template.html", "explorer.css", scripts, title, data, documents=documents)

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks; for a large page, a hint to save it."""
        content = self._content()
        if len(content) > _LARGEST_IN_NOTEBOOK:
            size = f"{len(content) / 1e6:,.0f} MB"
            return f"<p>{html.escape(repr(self))} ({size}, too large to show here): report.save('report.html')</p>"
        # the frame has its own origin: the page cannot access the notebook, and the notebook's styles do not apply
        return (
            f'<iframe title="{html.escape(repr(self))}" sandbox="allow-scripts allow-downloads allow-popups" '
            f'width="100%" height="700" style="border: 0" srcdoc="{html.escape(content.decode())}"></iframe>'
        )

    def _content(self) -> bytes:
        return self.to_html().encode("utf-8", "replace")  # half of a surrogate pair cannot be written

    def save(self, path: str | Path) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : str or Path
            The .html file. If writing fails, an earlier file stays unchanged.
        """
        content = self._content()
        with atomic_write(path) as unfinished:
            Path(unfinished).write_bytes(content)


def html_page(template: str, style: str, scripts: Sequence[str], title: str, data: str, **parts: str) -> str:
    """A page that runs only these scripts and styles; template and style are files in web/, data is JSON.

    `parts` are further parts of the template, which are inserted unchanged.
    """
    css = web_file(style)
    policy = "; ".join(
        [
            "default-src 'none'",
            "script-src " + " ".join(map(_hash, scripts)),
            "style-src " + _hash(css),
            "img-src data:",
            "require-trusted-types-for 'script'",  # text used as markup is an error
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    parts |= {
        "policy": html.escape(policy),
        "title": html.escape(title),
        "style": css,
        "data": _safe_json(data),
        "scripts": "".join(f"<script>{script}</script>\n" for script in scripts),
    }
    # the template is split first, so that nothing inside a part is replaced
    pieces = web_file(template).split("{{")
    page = [pieces[0]]
    for piece in pieces[1:]:
        name, following = piece.split("}}", 1)
        page += [parts[name], following]
    return "".join(page)


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _packed(documents: dict[str, list[Any] | None]) -> Iterator[str]:
    """The columns, split into blocks of documents; each block is JSON, deflated, in base64."""
    columns = {name: column for name, column in documents.items() if column is not None}
    for start in range(0, max(len(columns["id"]), 1), _DOCUMENTS_PER_BLOCK):
        block = {name: column[start : start + _DOCUMENTS_PER_BLOCK] for name, column in columns.items()}
        yield base64.b64encode(zlib.compress(_json(block).encode("utf-8", "replace"), 9)).decode()


def _safe_json(text: str) -> str:
    """JSON that no HTML parser takes for markup, whatever strings it contains."""
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text

"""The explorer: topics, documents and a map of them in one HTML file that needs no network.

`build_report(model, corpus)` returns a Report, plain JSON; `Report.save` puts it into the page, whose parts are the
files in web/: template.html, explorer.css, explorer.js with the modules it imports, and d3.
"""

from .contents import build_report
from .page import Report

__all__ = ["Report", "build_report"]

"""The report that a page holds, read as the page itself reads it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

__all__ = ["data_of", "document_blocks"]

_REPORT = re.compile(r'<script type="application/json" id="report">(.*?)</script>', re.DOTALL)
_BLOCK = re.compile(r'<script type="application/octet-stream" class="documents">(.*?)</script>')


def document_blocks(source: str) -> list[str]:
    """The packed blocks of documents."""
    return _BLOCK.findall(source)


def data_of(source: str) -> dict[str, Any]:
    """The report; columns that it does not have are left out."""
    (report,) = _REPORT.findall(source)
    documents: dict[str, list[Any]] = {}
    for block in document_blocks(source):
        for name, column in json.loads(zlib.decompress(base64.b64decode(block, validate=True))).items():
            documents.setdefault(name, []).extend(column)
    return {**json.loads(report), "documents": documents}

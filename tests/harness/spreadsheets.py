"""Small spreadsheets, written by hand: .xlsx and .ods files, and an .xls file."""

from __future__ import annotations

import base64
import datetime
import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

__all__ = ["OLD_WORKBOOK", "open_document", "workbook"]

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_EPOCH = datetime.datetime(1899, 12, 30)  # day 0 of a spreadsheet
_STYLES = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'  # the second is for dates

# Rows of id, text and when: a, 'cat dog', 3 February 2001; b, 'sun moon', 4 March 2002; c, 3, nothing
OLD_WORKBOOK = zlib.decompress(
    base64.b85decode(
        b"c-rk)O=uHA6#iy6|F-#QQ=t_?C|I?&2l3*;cB@o-N~wDA2SM|Pme#Dqh(8Cd)*J=Flj5aN4_>NX{6P<T^B`38AP7RDM^A!^hc@e*"
        b"msw3TLIYZ{?6=IDnfK<Kd6{`LJJ}cWk<!fFt}=eYAaqnLKRh)$LCJ4d!XUe4$)cV6C|M5vEBJl1kRCT4wLbUCHI(aJhK4(?rzC-Q"
        b"ln&xJM$KF{zKqz;J|u<oVSuE-4blYB$zHXwOtWlfd7E24W;w)~%Pa?|ZAl!!yfNClMMd#Gt($E@$bRoL=M8H%p##rk6raB$s%_oa"
        b"mLE?}t`tMe)q+{jN{?i7*}SZWa1#MwKcPR7=pP;~Axcp&i_caZ_+)SQCviu=ym|rBf34Shf1~%&A~w?d8|bfUE?^4QVcu0mtim3b"
        b"wCFG=GYi<t$GA+iA;vRgDr8R=C_8mDo1<V#Qt+gcg?Pq1LbVh%JaIA?KW3WJm=4HS1Rp8kx+A5Pw^|Fy3_@Iv@P-T1NDH?<zD%UX"
        b"j6<xM;<2kQo3+waShye=L=Liry(M>nUS@1$d69cv!{siPQ3`s>d&W9cVdpfrxy05U8fP=(m9eg-yq?O%54#@3itmjLRGu3tpN-DF"
        b"HfGRG)0rW@e5TPS`o#5X5)TbK7wTYo%d+#AL&~RxmG72%qlU03cON0bvRad~Bfi%(HCK`?8n6Ykb=6)lTh7rrP1ZE>>C2GDY^?!X"
        b"W42qdt1IJCY>l3F#73%Yoqefi>&*75_BylWDh+CFxF@@&!}tdRaNxj!0|yQqIB@WfA*vUBzR1Z-qg!3rz3RKpBBhG+nPkOcH%xj8"
        b"^dE5ta+K$Brm6T@4Y#oS5=-RR-wP%7(&%|iAjN)6G#$V6hfCD{o+T5*e{KskJAS1ZKmYRh-vI0*<&p"
    )
)


def workbook(sheets: Mapping[str, Sequence[Sequence[Any]] | str], *, hidden: Sequence[str] = ()) -> bytes:
    """An .xlsx file with these sheets, each of rows of cells, or of XML; empty cells are None."""
    numbered = list(enumerate(sheets, 1))
    states = {name: "hidden" if name in hidden else "visible" for name in sheets}
    listed = "".join(f'<sheet name="{name}" sheetId="{k}" state="{states[name]}" r:id="r{k}"/>' for k, name in numbered)
    targets = "".join(
        f'<Relationship Id="r{k}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>' for k, _ in numbered
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{targets}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{_STYLES}</styleSheet>',
    }
    for k, name in numbered:
        content = sheets[name]
        inside = content if isinstance(content, str) else _rows(content)
        parts[f"xl/worksheets/sheet{k}.xml"] = f'<worksheet xmlns="{_MAIN}">{inside}</worksheet>'
    return _zipped(parts)


def open_document(rows: Sequence[Sequence[Any]]) -> bytes:
    """An .ods file with one sheet of texts."""
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{escape(str(value))}</text:p></table:table-cell>'
            for value in row
        )
        + "</table:table-row>"
        for row in rows
    )
    names = "".join(f' xmlns:{name}="{_OASIS}{name}:1.0"' for name in ("office", "table", "text"))
    table = f'<table:table table:name="A">{cells}</table:table>'
    content = (
        f"<office:document-content{names}><office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{_OASIS}manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return _zipped({"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})


def _rows(rows: Sequence[Sequence[Any]]) -> str:
    lines = []
    for number, row in enumerate(rows, 1):
        cells = "".join(_cell(f"{chr(ord('A') + k)}{number}", value) for k, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    return f"<sheetData>{''.join(lines)}</sheetData>"


def _cell(place: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, datetime.datetime):
        return f'<c r="{place}" s="1"><v>{(value - _EPOCH) / datetime.timedelta(days=1)!r}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def _zipped(parts: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # the same bytes at any time
    return file.getvalue()

"""Damaged files of every format that `Corpus.read` and `read_graph` know."""

from __future__ import annotations

import contextlib
import datetime
import gzip
import io
import json
import os
import random
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold import Corpus
from topicfold.graph.files import read_graph

from ..cases import Case, Draw, Front, Run, SilentChange, check_finite, generator
from ..damage import CHECKSUM_TELLS, damaged
from ..processes import fork, write_files
from ..rewriting import changed_array
from ..spreadsheets import OLD_WORKBOOK, open_document, workbook

__all__ = ["FRONT"]

_ROWS = [
    ("a", "The cat saw a dog.\n\nSun and moon, naïve café.", "x;y", "2001-02-03", 1.5, "b;c"),
    ("b", 'Moon "star" sun, dog', "x", "1999", -2, "a"),
    ("c", "", "", "", 0, ""),
    ("d", "東京 звезда cat cat dog", "z", "2020-01-01 10:00", 7, "zzz"),
    ("e", "star moon tree leaf", "y", "17 May 2011", 3, "a;b"),
]
_NAMES = ("id", "text", "kind", "when", "size", "refers")
_COUNTS = np.random.default_rng(0).poisson(0.8, (6, 5))
_WORDS = b"cat\ndog\nsun\nmoon\nstar\n"
_ENDINGS = (".csv", ".tsv", ".jsonl", ".csv.gz", ".jsonl.gz", ".parquet", ".mtx", ".mtx.gz", ".ldac", ".svm", ".npz",
            ".svm.gz", ".ldac.gz", ".txt", ".safetensors", ".json", ".json.gz", ".zip", ".xlsx", ".ods",
            ".arrow")  # fmt: skip
_TABLES = ("a.", "bom", "crlf", "wide", "nul", "none", "snappy", "gzip", "plain", "pretty", "lines", "packed", "stream")
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "ascii", "cp1252")
_IDS = list("abcdef")


def _table(separator: str, end: str = "\n") -> str:
    def cell(value: Any) -> str:
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if set(text) & set('",\t\n') else text

    return "".join(separator.join(map(cell, row)) + end for row in (_NAMES, *_ROWS))


def _text_files() -> dict[str, bytes]:
    objects = [dict(zip(_NAMES, row)) for row in _ROWS]
    lines = "".join(json.dumps(item) + "\n" for item in objects)
    found = {
        "a.csv": _table(",").encode(),
        "bom.csv": b"\xef\xbb\xbf" + _table(",").encode(),
        "crlf.csv": _table(",", "\r\n").encode(),
        "wide.csv": _table(",").encode("utf-16"),
        "nul.csv": _table(",").replace("moon", "mo\0on").encode(),
        "a.tsv": _table("\t").encode(),
        "a.jsonl": lines.encode(),
        "wide.jsonl": lines.encode("utf-16"),
        "a.json": json.dumps(objects).encode(),
        "pretty.json": json.dumps({"page": 1, "data": objects}, indent=1, ensure_ascii=False).encode(),
        "lines.json": lines.encode(),
        "strings.json": json.dumps([row[1] for row in _ROWS]).encode(),
        "wide.json": json.dumps(objects).encode("utf-16"),
        "texts.txt": "".join(f"{row[1]}\r\n" for row in _ROWS).encode(),
    }
    compressed = ("a.csv", "a.tsv", "a.jsonl", "a.json", "texts.txt")
    return found | {f"{name}.gz": gzip.compress(found[name], mtime=0) for name in compressed}


def _archives() -> dict[str, bytes]:
    """Spreadsheets, and zip files with texts."""
    rows = [_NAMES, *_ROWS]
    typed = [(*row[:3], datetime.datetime(2001, 2, 3) if row[3] else None, *row[4:]) for row in _ROWS]
    found = {
        "a.xlsx": workbook({"Title": [["All texts"]], "Texts": [["Texts of 2001"], _NAMES, *typed], "More": rows}),
        "a.ods": open_document(rows),
        "old.xls": OLD_WORKBOOK,
    }
    for name, compression in (("a", zipfile.ZIP_DEFLATED), ("b", zipfile.ZIP_BZIP2), ("c", zipfile.ZIP_LZMA)):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", compression) as archive:
            for row in _ROWS:
                archive.writestr(zipfile.ZipInfo(f"{row[2]}/{row[0]}.txt"), row[1], compression)
        found[f"{name}.zip"] = file.getvalue()
    return found


def _count_files() -> dict[str, bytes]:
    counts, n_rows, n_columns = sp.coo_array(_COUNTS), *_COUNTS.shape
    cells = list(zip(counts.row.tolist(), counts.col.tolist(), counts.data.tolist()))
    triples = "".join(f"{row + 1} {column + 1} {value}\n" for row, column, value in cells)
    banner, size = "%%MatrixMarket matrix", f"{n_rows} {n_columns} {len(cells)}\n"
    ldac = "".join(
        f"{(row > 0).sum()} " + " ".join(f"{j}:{v}" for j, v in enumerate(row) if v) + "\n" for row in _COUNTS
    )
    svm = "".join(
        f"{d % 2} " + " ".join(f"{j}:{v}" for j, v in enumerate(row, 1) if v) + "\n" for d, row in enumerate(_COUNTS)
    )
    pattern = "".join(f"{row + 1} {column + 1}\n" for row, column, _ in cells)
    dense = "".join(f"{value}\n" for value in _COUNTS.T.ravel())
    found = {
        "a.mtx": f"{banner} coordinate integer general\n% a comment\n{size}{triples}",
        "real.mtx": f"{banner} coordinate real general\n{size}{triples}",
        "pattern.mtx": f"{banner} coordinate pattern general\n{size}{pattern}",
        "symmetric.mtx": f"{banner} coordinate integer symmetric\n3 3 3\n1 1 2\n2 1 1\n3 3 4\n",
        "dense.mtx": f"{banner} array integer general\n{n_rows} {n_columns}\n{dense}",
        "a.ldac": ldac,
        "docword.a.txt": f"{n_rows}\n{n_columns}\n{len(cells)}\n{triples}",
        "a.svm": svm,
    }
    packed = {
        f"{name}.gz": gzip.compress(found[name].encode(), mtime=0)
        for name in ("a.mtx", "docword.a.txt", "a.svm", "a.ldac")
    }
    return {name: text.encode() for name, text in found.items()} | packed


def _matrices() -> dict[str, bytes]:
    square = np.random.default_rng(1).poisson(0.5, (6, 6))
    found = {}
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        for packed in (True, False):
            file = io.BytesIO()
            sp.save_npz(file, sp.csr_array(square).asformat(form), compressed=packed)
            found[f"{form}{packed:d}.npz"] = file.getvalue()
    return found


def _edge_files() -> dict[str, bytes]:
    edges = [("a", "b", 1), ("b", "c", 0.5), ("d", "e", 2), ("f", "a", 1e-3)]
    return {
        "edges.csv": b"from,to,weight\n" + "".join(f"{a},{b},{w}\n" for a, b, w in edges).encode(),
        "edges.tsv": "".join(f"{a}\t{b}\n" for a, b, _ in edges).encode(),
        "edges.txt": "".join(f"{a} {b} {w}\n" for a, b, w in edges).encode(),
        "rows.txt": b"0 1\n1 2\n3 4\n",
    }


def _parquet_and_corpus(folder: Path) -> None:
    """Write what libraries with threads of their own write; in a process that ends with it."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    table = arrow.table({name: [str(row[k]) for row in _ROWS] for k, name in enumerate(_NAMES)})
    table = table.append_column("many", arrow.array([["x", "y"], [], None, ["z"], ["x"]]))
    table = table.append_column("number", arrow.array([1, 2, None, 4, 5]))
    for packing in ("none", "snappy", "gzip"):
        parquet.write_table(table, folder / f"{packing}.parquet", compression=packing)
    parquet.write_table(table, folder / "plain.parquet", use_dictionary=False, write_statistics=False, row_group_size=2)
    for name, options in (("a.arrow", {}), ("packed.feather", {"compression": "zstd"})):
        with arrow.ipc.new_file(folder / name, table.schema, options=arrow.ipc.IpcWriteOptions(**options)) as file:
            file.write_table(table, max_chunksize=2)
    with arrow.ipc.new_stream(folder / "stream.arrow", table.schema) as file:
        file.write_table(table)
    Corpus.from_texts([row[1] for row in _ROWS], ids="abcde", keep_texts=True).save(folder / "a.safetensors")


def _valid_files() -> dict[str, bytes]:
    import pyarrow.parquet  # noqa: F401  so that no child has to import it

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        assert os.waitpid(fork(lambda: _parquet_and_corpus(folder)), 0)[1] == 0
        made = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        found = _text_files() | _archives() | _count_files() | _matrices() | made | {"folder/": b""}
        for name, content in found.items():
            if not name.endswith(("parquet", "arrow", "feather")):
                options = {"encoding": "utf-16"} if "wide" in name else {}
                files = _beside(name, content)
                write_files(files, folder)
                with contextlib.suppress(Exception):  # which the cases will tell
                    Corpus.read(folder / name, **options)
    return found | _edge_files()


def _beside(name: str, content: bytes) -> dict[str, bytes]:
    """A file and what belongs to it; the texts of a folder."""
    if name == "folder/":
        texts = {f"folder/{'sub/' if d % 2 else ''}{row[0]}.txt": row[1].encode() for d, row in enumerate(_ROWS)}
        return texts | {"folder/wide.txt": "cat sun".encode("utf-16")[2:]}
    if name.startswith("docword."):
        return {name: content, "vocab.a.txt": _WORDS}
    return {name: content}


def _options(name: str, rng: random.Random) -> dict[str, Any]:
    """Options of `Corpus.read`, some of them at random."""
    options: dict[str, Any] = {"encoding": "utf-16" if "wide" in name else "utf-8"}
    if rng.random() < 0.2:
        options["encoding"] = rng.choice(_ENCODINGS)
    if rng.random() < 0.3:
        options["min_df"] = rng.choice((1, 2, 0.5, 3))
    if name.startswith(_TABLES) and _is_text(name) and not name.endswith(".zip"):
        known = {"labels": "kind", "timestamp": "when", "links": "refers", "title": "id", "separator": ";"}
        known |= {"metadata": ("size",)}
        options |= {key: value for key, value in known.items() if rng.random() < 0.3}
    if _is_text(name):
        options |= {"keep_texts": rng.random() < 0.5, "errors": rng.choice(("strict", "strict", "replace"))}
        if rng.random() < 0.2:
            options["segments"] = rng.choice(("paragraphs", "sentences", 3))
    if name.endswith((".xlsx", ".ods", ".xls")) and rng.random() < 0.2:
        options["format"] = rng.choice(("excel:Texts", "excel:More", "excel:A", "excel:Nothing"))
    if name.endswith(("parquet", "arrow", "feather")) and rng.random() < 0.2:
        options["labels"] = "many"
    return options


def _is_text(name: str) -> bool:
    endings = (".csv", ".tsv", ".json", ".parquet", ".arrow", ".feather", ".xlsx", ".ods", ".xls", ".zip", "texts.txt")
    return any(ending in name for ending in (*endings, "folder"))


def _read(path: Path, options: dict[str, Any]) -> Any:
    """What is in a file; a graph where its name says so."""
    if path.name.startswith(("edges", "rows", "graph")):
        graph = read_graph(path, None if path.name.startswith("rows") else _IDS)
        check_finite("the graph", graph.data)
        return graph
    corpus = Corpus.read(path, **options)
    counts = corpus.counts
    fits = counts.shape[0] == len(corpus.ids) and (
        corpus.vocabulary is None or len(corpus.vocabulary) == counts.shape[1]
    )
    inside = counts.nnz == 0 or (counts.indices.min() >= 0 and counts.indices.max() < counts.shape[1])
    if not (fits and inside and (counts.data > 0).all()):
        raise SilentChange("the corpus that was read does not hold together")
    return counts


def _ending(name: str) -> str:
    return name.partition(".")[2] or name


def _damaged_inside(name: str, content: bytes, rng: random.Random) -> tuple[bytes, list[str]]:
    """A compressed file in order, with something in it that is not."""
    if name.endswith(".gz"):
        changed, done = damaged(gzip.decompress(content), rng)
        return gzip.compress(changed, 1, mtime=0), [*done, "packed"]
    if not name.endswith(".npz"):
        member = rng.choice(zipfile.ZipFile(io.BytesIO(content)).namelist())
        return _with_damaged_member(content, member, rng)
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    key = rng.choice(sorted(arrays))
    if rng.random() < 0.7:
        arrays[key] = changed_array(arrays[key], rng)
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        return packed.getvalue(), [f"another {key}"]
    return _with_damaged_member(content, f"{key}.npy", rng)


def _with_damaged_member(content: bytes, member: str, rng: random.Random) -> tuple[bytes, list[str]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    entries[member], done = damaged(entries[member], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for entry, inner in entries.items():
            archive.writestr(zipfile.ZipInfo(entry), inner)
    return packed.getvalue(), [*done, f"in {member}"]


def _draw(files: dict[str, bytes], number: int) -> Case:
    rng = generator("readers", number)
    ending = rng.choice(sorted({_ending(name) for name in files}))
    name = rng.choice([name for name in files if _ending(name) == ending])
    parts = _beside(name, files[name])
    hurt = rng.choice(list(parts))
    # inside: what is packed is damaged, the packing is not
    inside = hurt.endswith((".gz", ".npz", ".zip", ".xlsx", ".ods")) and rng.random() < 0.6
    content, done = _damaged_inside(hurt, parts[hurt], rng) if inside else damaged(parts[hurt], rng)
    path, options = name.rstrip("/"), _options(name, rng)
    if name != "folder/" and rng.random() < 0.1:
        other = rng.choice(("a", "edges", "rows", "docword")) + rng.choice(_ENDINGS)
        parts = {other if file == name else file: value for file, value in parts.items()}
        hurt, path = (other if hurt == name else hurt), other
    elif name.endswith(".npz") and rng.random() < 0.3:
        parts, hurt, path = {f"graph{name}": parts[name]}, f"graph{name}", f"graph{name}"
    if rng.random() < 0.1 and not _is_text(path):
        parts["vocab.txt"] = damaged(_WORDS, rng)[0]
    signed = not inside and path == name and hurt.endswith((".gz", ".npz")) and set(done) <= CHECKSUM_TELLS
    what = {"path": path, "options": options, "damaged": hurt}
    files = {**parts, hurt: content}
    if signed and content != parts[hurt]:  # it has a checksum: it may only be read as what it was
        what["whole"], files["whole/file"] = True, parts[hurt]
    return Case(f"{path}, {hurt} damaged by {', '.join(done)}; {options}", what, files, hurt)


def _run(what: dict[str, Any], folder: Path) -> None:
    path, options = folder / what["path"], what["options"]
    actual = _read(path, options)
    if "whole" in what:
        (folder / what["damaged"]).write_bytes((folder / "whole/file").read_bytes())
        expected = _read(path, options)
        if actual.shape != expected.shape or (actual != expected).nnz:
            raise SilentChange(f"{what['damaged']} has a checksum, was damaged, and was read as something else")


def _prepare() -> tuple[Draw, Run]:
    files = _valid_files()
    return lambda number: _draw(files, number), _run


FRONT = Front("damaged files of every format that is read", _prepare, n_cases=20_000, batch=200)

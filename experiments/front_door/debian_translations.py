"""Descriptions of Debian packages in several languages, with their sections as classes, from the files of apt.

The files come from any mirror; a folder of its own leaves the system as it is (on Debian, as root):

    mkdir -p LISTS/partial
    apt-get -o Dir::State::Lists=LISTS -o Acquire::GzipIndexes=false \
        -o Acquire::Languages="de,es,fr,it,ja,ko,nl,pl,pt_BR,ru,en" update
    python -m experiments.front_door.debian_translations --lists LISTS --out DATA/debian_translations

This writes one file LANGUAGE.jsonl.gz per language: id, text, labels. The translations are by volunteers of the Debian
Description Translation Project; each is under the licence of its package.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from topicfold.corpus.tokenizers import has_unspaced

__all__ = ["FOLDER", "read_translations", "write_translations"]

FOLDER = "debian_translations"

# sections about the form of a package rather than its subject
_SKIPPED_SECTIONS = frozenset(
    ("debug", "doc", "introspection", "libdevel", "libs", "localization", "metapackages", "misc", "oldlibs", "tasks")
)
_SKIPPED_NAME = re.compile(
    r"-(doc|docs|dbg|dbgsym|dev|data|common|examples?|tests?|locales?|l10n|i18n|lang|transitional|dummy|all)\b"
    r"|-(l10n|i18n|locale|lang|langpack)-|^(task|education|hunspell|aspell|myspell|hyphen|mythes)-"
)
_LEAST_LETTERS = {"ja": 80, "ko": 80, "zh_CN": 60}
_LEAST_LETTERS_ELSEWHERE = 200
_LEAST_PACKAGES = 40  # of a section
_MOST_REPEATS = 5  # a paragraph of more source packages than this is boilerplate


def write_translations(lists: Path, out: Path) -> dict[str, int]:
    """Write a file for each language that apt has fetched, and return the numbers of documents."""
    indexes = sorted(lists.glob("*_main_binary-*_Packages"), key=lambda path: path.stat().st_size)
    if not indexes:
        raise FileNotFoundError(f"no package index in {lists}: expected a file ..._main_binary-..._Packages")
    packages = indexes[-1]  # the others have updates
    stanzas = list(_stanzas(packages))
    out.mkdir(parents=True, exist_ok=True)
    numbers = {}
    for file in sorted(lists.glob(packages.name.partition("_main_")[0] + "_main_i18n_Translation-*")):
        language = file.name.rpartition("-")[2].replace("%5f", "_")
        documents = _documents(stanzas, file, language)
        lines = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
        (out / f"{language}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
        numbers[language] = len(documents)
    return numbers


def read_translations(folder: Path, language: str) -> tuple[list[str], list[str]]:
    """The texts in a language, and their sections."""
    path = folder / FOLDER / f"{language}.jsonl.gz"
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path} (experiments/front_door/debian_translations.py makes it)")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    return [document["text"] for document in documents], [document["labels"][0] for document in documents]


def _documents(packages: Iterable[dict[str, str]], file: Path, language: str) -> list[dict[str, object]]:
    """The longest description of each source package, in sections that enough packages are in."""
    field = f"Description-{language}"
    translated = {
        (stanza["Package"], stanza["Description-md5"]): _paragraphs(stanza[field])
        for stanza in _stanzas(file)
        if field in stanza
    }
    longest: dict[str, tuple[str, str, list[str]]] = {}
    for stanza in packages:
        name, section = stanza["Package"], stanza.get("Section", "")
        paragraphs = translated.get((name, stanza.get("Description-md5", "")))
        if paragraphs is None or section in _SKIPPED_SECTIONS or _SKIPPED_NAME.search(name):
            continue
        source = stanza.get("Source", name).split()[0]
        if source not in longest or len("".join(paragraphs)) > len("".join(longest[source][2])):
            longest[source] = (name, section, paragraphs)
    repeats = Counter(paragraph for _, _, paragraphs in longest.values() for paragraph in set(paragraphs))
    documents = []
    for name, section, paragraphs in longest.values():
        text = "\n\n".join(paragraph for paragraph in paragraphs if repeats[paragraph] <= _MOST_REPEATS)
        if sum(map(str.isalpha, text)) >= _LEAST_LETTERS.get(language, _LEAST_LETTERS_ELSEWHERE):
            documents.append((name, section, text))
    sizes = Counter(section for _, section, _ in documents)
    return [
        {"id": name, "text": text, "labels": [section]}
        for name, section, text in sorted(documents)
        if sizes[section] >= _LEAST_PACKAGES
    ]


def _paragraphs(description: str) -> list[str]:
    """The paragraphs of a description: its first line, and the parts between lines with a dot alone."""
    parts = [list[str]()]
    first, *lines = description.split("\n")
    for line in lines:
        if line.strip() == ".":
            parts.append([])
        else:
            parts[-1].append(line.strip())
    return [first.strip(), *(_joined(part) for part in parts if part)]


def _joined(lines: list[str]) -> str:
    """Wrapped lines as one: scripts without spaces are wrapped within words."""
    text = lines[0]
    for line in lines[1:]:
        within_word = text and line and has_unspaced(text[-1]) and has_unspaced(line[0])
        text += line if within_word else f" {line}"
    return " ".join(text.split())


def _stanzas(path: Path) -> Iterator[dict[str, str]]:
    """The stanzas of a Debian control file; continuation lines stay in the value, without their first space."""
    fields: dict[str, str] = {}
    name = ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if not line:
                if fields:
                    yield fields
                fields = {}
            elif line.startswith((" ", "\t")):
                fields[name] += "\n" + line[1:]
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
    if fields:
        yield fields


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m experiments.front_door.debian_translations", description=__doc__)
    parser.add_argument("--lists", type=Path, required=True, help="the folder of apt's lists")
    parser.add_argument("--out", type=Path, required=True, help=f"the folder to write to, DATA/{FOLDER}")
    options = parser.parse_args()
    for found_language, number in write_translations(options.lists, options.out).items():
        print(f"{found_language}: {number:,} packages")

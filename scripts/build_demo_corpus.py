"""Build the demo corpus (Debian package descriptions) from the package index that apt keeps.

Run on a Debian 12 (bookworm) system; the first command needs root and makes apt fetch the long descriptions:

    apt-get update -o Acquire::Languages=en
    python scripts/build_demo_corpus.py

The same index always gives the same file, byte for byte.
"""

import argparse
import gzip
import hashlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "src" / "topicfold" / "datasets" / "debian_packages.jsonl.gz"

SKIPPED_SECTIONS = {"debug", "doc", "introspection", "libdevel", "localization", "metapackages", "oldlibs", "tasks"}
POOR_SECTIONS = {"golang", "haskell", "misc"}  # hardly any tags or links left, or no common subject
SKIPPED_NAME = re.compile(
    r"-(doc|docs|dbg|dbgsym|dev|data|common|examples?|tests?|locales?|l10n|i18n|lang|transitional|dummy|all)\b"
    r"|-(l10n|i18n|locale|lang|langpack)-|^(task|education|hunspell|aspell|myspell|hyphen|mythes)-"
)
SKIPPED_DESCRIPTION = re.compile(
    r"\b(transition(al)?|dummy|empty|virtual) (dummy )?package\b|\bdummy transition|\bmeta-?\s?package\b"
    r"|\bdebug(ging)? symbols\b|\b(can|may) (be )?safely (be )?removed\b|\blanguage pack\b"
    r"|\bdepends on (all|the latest)\b|\(documentation\)"
    r"|[\w.+-]@[\w-]+\.\w|\bpypi\.\w",  # the last two: e-mail addresses and addresses of package indexes
    re.IGNORECASE,
)
LINK_FIELDS = ("Pre-Depends", "Depends", "Recommends", "Suggests")
BULLET = re.compile(r"\s*(?:[*+•·-]|o(?=\s+[A-Z]))\s+")

MIN_WORDS = 40
MAX_WORDS = 500
RICH_WORDS = 60
BOILERPLATE_REPEATS = 5  # a paragraph shared by this many source packages does not count as a package's own words
MIN_PER_SECTION = 40
MAX_PER_SECTION = 125
HUB_LINKS = 150  # a package that more packages than this need (such as an interpreter) says nothing about them
SELECTION_ROUNDS = 10


def read_index(path: Path) -> str:
    """An index file of apt as text, whatever its compression."""
    return subprocess.run(
        ["/usr/lib/apt/apt-helper", "cat-file", str(path)], check=True, capture_output=True, encoding="utf-8"
    ).stdout


def parse_stanzas(text: str) -> Iterator[dict[str, str]]:
    """The stanzas of a Debian control file; continuation lines stay in the value, without their first space."""
    for stanza in re.split(r"\n{2,}", text.strip("\n")):
        fields: dict[str, str] = {}
        name = ""
        for line in stanza.split("\n"):
            if line.startswith((" ", "\t")):
                fields[name] += "\n" + line[1:]
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        yield fields


def format_description(long_description: str) -> str:
    """Join the wrapped lines of every paragraph; keep list items and other indented lines on separate lines."""
    paragraphs = re.split(r"\n\s*\.\s*(?=\n|$)", "\n" + long_description)
    formatted = ("\n".join(join_wrapped_lines(paragraph.split("\n"))) for paragraph in paragraphs)
    return "\n\n".join(paragraph for paragraph in formatted if paragraph)


def join_wrapped_lines(lines: Iterable[str]) -> list[str]:
    joined: list[str] = []
    in_list = item_is_indented = False
    for line in lines:
        words = " ".join(line.split())
        if not words:
            continue
        is_indented = line.startswith(" ")
        is_bullet = BULLET.match(line) is not None
        is_verbatim = is_indented and not in_list
        ends_item = item_is_indented and not is_indented
        if is_bullet or is_verbatim or ends_item or not joined:
            joined.append(words)
            in_list, item_is_indented = is_bullet, is_indented
        else:
            joined[-1] += " " + words
    return joined


def package_names(relations: str) -> list[str]:
    """The package names in a dependency field, alternatives included."""
    parts = re.split(r"[,|]", relations)
    names = (re.match(r"[a-z0-9][a-z0-9+.-]*", part.strip()) for part in parts)
    return [name.group() for name in names if name]


def parse_tags(tags: str) -> list[str]:
    """The debtags in a Tag field, without the placeholders that reviewers leave ("use::TODO")."""
    return sorted({tag for tag in re.split(r"[\s,]+", tags) if "::" in tag and not tag.endswith("::TODO")})


def count_words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def read_packages(packages_text: str, translation_text: str) -> list[dict]:
    """Every package with its long description, as a record of the corpus plus its source package."""
    descriptions = {
        (stanza["Package"], stanza["Description-md5"]): stanza["Description-en"]
        for stanza in parse_stanzas(translation_text)
    }
    records = []
    for stanza in parse_stanzas(packages_text):
        name = stanza["Package"]
        description = descriptions.get((name, stanza.get("Description-md5", "")), "")
        synopsis, _, long_description = description.partition("\n")
        links = {link for field in LINK_FIELDS for link in package_names(stanza.get(field, ""))}
        records.append(
            {
                "id": name,
                "title": f"{name}: {synopsis}",
                "text": format_description(long_description),
                "label": stanza.get("Section", ""),
                "tags": parse_tags(stanza.get("Tag", "")),
                "links": sorted(links - {name}),
                "source": stanza.get("Source", name).split()[0],
            }
        )
    return records


def add_own_words(records: list[dict]) -> None:
    """Count the words of each text, without the paragraphs that many source packages share."""
    paragraphs = {(record["source"], paragraph) for record in records for paragraph in record["text"].split("\n\n")}
    repeats = Counter(paragraph for _, paragraph in paragraphs)
    for record in records:
        own_paragraphs = (text for text in record["text"].split("\n\n") if repeats[text] < BOILERPLATE_REPEATS)
        record["own_words"] = sum(map(count_words, own_paragraphs))


def is_rich(record: dict) -> bool:
    """Whether a package has a useful description: not a helper package, not too short and not too long."""
    return (
        record["label"] not in SKIPPED_SECTIONS | POOR_SECTIONS
        and not SKIPPED_NAME.search(record["id"])
        and not SKIPPED_DESCRIPTION.search(record["title"] + "\n" + record["text"])
        and MIN_WORDS <= record["own_words"] <= MAX_WORDS
    )


def name_hash(record: dict) -> str:
    return hashlib.sha256(record["id"].encode()).hexdigest()


def keep_best(records: Iterable[dict], key: str) -> list[dict]:
    """One record per value of the key: the one with the name of its source, else the one with the longest text."""
    best: dict[str, dict] = {}
    ranked = sorted(records, key=lambda r: (r["id"] == r["source"], len(r["text"]), name_hash(r)), reverse=True)
    for record in ranked:
        best.setdefault(record[key], record)
    return sorted(best.values(), key=lambda record: record["id"])


def drop_small_sections(records: list[dict]) -> list[dict]:
    sizes = Counter(record["label"] for record in records)
    return [record for record in records if sizes[record["label"]] >= MIN_PER_SECTION]


def neighbours_of(records: list[dict]) -> dict[str, set[str]]:
    """The linked records of each record, in either direction; links to hubs do not count."""
    ids = {record["id"] for record in records}
    needed_by = Counter(link for record in records for link in record["links"])
    neighbours: dict[str, set[str]] = {name: set() for name in ids}
    for record in records:
        for link in record["links"]:
            if link in ids and needed_by[link] <= HUB_LINKS:
                neighbours[record["id"]].add(link)
                neighbours[link].add(record["id"])
    return neighbours


def choose(candidates: list[dict]) -> list[dict]:
    """Up to MAX_PER_SECTION packages per section: those with links to other chosen ones, tags and a long text first.

    Which links count depends on which packages are chosen, so the choice is repeated a fixed number of times.
    """
    neighbours = neighbours_of(candidates)
    chosen = {record["id"] for record in candidates}

    def rank(record: dict) -> tuple:
        links_inside = len(neighbours[record["id"]] & chosen)
        is_long = record["own_words"] >= RICH_WORDS
        return (min(links_inside, 3) + 2 * bool(record["tags"]) + is_long, name_hash(record))

    for _ in range(SELECTION_ROUNDS):
        sizes: Counter[str] = Counter()
        next_chosen = set()
        for record in sorted(candidates, key=rank, reverse=True):
            sizes[record["label"]] += 1
            if sizes[record["label"]] <= MAX_PER_SECTION:
                next_chosen.add(record["id"])
        chosen = next_chosen
    return [record for record in candidates if record["id"] in chosen]


def build_corpus(packages: list[dict]) -> list[dict]:
    add_own_words(packages)
    candidates = [record for record in packages if is_rich(record)]
    candidates = keep_best(keep_best(candidates, "source"), "text")
    chosen = choose(drop_small_sections(candidates))
    ids = {record["id"] for record in chosen}
    fields = ("id", "title", "text", "label", "tags")
    return [
        {**{field: record[field] for field in fields}, "links": [link for link in record["links"] if link in ids]}
        for record in chosen
    ]


def write_corpus(corpus: Iterable[dict], path: Path) -> None:
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in corpus)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=9, fileobj=raw, mtime=0) as packed:
        packed.write(lines.encode())


def summary(corpus: list[dict], path: Path) -> str:
    sections = Counter(record["label"] for record in corpus)
    linked = {record["id"] for record in corpus if record["links"]} | {x for record in corpus for x in record["links"]}
    tagged = sum(bool(record["tags"]) for record in corpus)
    link_count = sum(len(record["links"]) for record in corpus)
    words = sum(count_words(record["text"]) for record in corpus)
    size = len(corpus)
    return "\n".join(
        [
            f"{size} packages in {len(sections)} sections, {words / size:.0f} words on average",
            f"{link_count} links, {len(linked) / size:.1%} of the packages linked, {tagged / size:.1%} tagged",
            ", ".join(f"{name} {count}" for name, count in sections.most_common()),
            f"{path.name}: {path.stat().st_size:,} bytes",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=Path, default=Path("/var/lib/apt/lists"), help="where apt keeps its indexes")
    parser.add_argument("--release", default="bookworm", help="Debian release to take (default: bookworm)")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()

    [packages_file] = options.lists.glob(f"*_dists_{options.release}_main_binary-amd64_Packages*")
    [translation_file] = options.lists.glob(f"*_dists_{options.release}_main_i18n_Translation-en*")
    corpus = build_corpus(read_packages(read_index(packages_file), read_index(translation_file)))
    write_corpus(corpus, options.out)
    print(summary(corpus, options.out))


if __name__ == "__main__":
    main()

"""Are the marks of topics right? `python -m experiments.choosing.junk_topics --data FOLDER`.

Every marked topic is listed with its words and the judgement of a reader, who read its typical documents, too; so are
topics that a reader would have marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from topicfold import LDA
from topicfold.corpus.corpus import Corpus
from topicfold.datasets import load_demo
from topicfold.topics.tree import TopicTree

from ..corpora import load_benchmark
from ..results_page import write_page

PREFACE = """The package marks topics that a reader should know about. Are these marks right? LDA at its defaults was
fitted to samples of {n_corpora} corpora (seed 0), and a reader looked at the words and typical documents of all topics.
Each marked topic is listed with its size (its share of the corpus), its words and the judgement; so is each topic
without a mark that the reader would have marked. *Raw* texts are not cleaned. Run on {date}.

The bounds for markup and boilerplate were chosen on the first eight corpora, those for words that few documents repeat
and for repeated texts on others before. So only the other corpora are blind, except that planting texts in another
language (the last three) is how that mark was first tried."""


class Sample(NamedTuple):
    """Documents of a corpus, how they become words, and how many topics are fitted."""

    name: str
    documents: int
    topics: int
    options: Mapping[str, Any] = MappingProxyType({})
    reading: Mapping[str, Any] = MappingProxyType({})
    planted: tuple[str, int] | None = None  # another corpus, and the number of its documents


RAW = {"clean": False}
SEEN = {
    "News in English, raw": Sample("agnews", 4000, 30, RAW),
    "News in Spanish, raw": Sample("noticias_es", 5000, 30, RAW),
    "20 Newsgroups, raw": Sample("20newsgroups_raw", 5000, 30, RAW),
    "Search snippets": Sample("short_searchsnippets", 5000, 30),
    "Reuters": Sample("reuters21578_raw", 6000, 30),
    "Chinese titles": Sample("thucnews_zh", 4000, 30),
    "Wikipedia for schools": Sample("wikipedia_schools2007", 1200, 30),
    "Demo corpus": Sample("demo", 4096, 30),
}
BLIND = {
    "Titles of Stack Overflow": Sample("short_stackoverflow", 5000, 50),
    "Titles of news": Sample("short_googlenews", 5000, 50),
    "20 Newsgroups, without headers, quotes and signatures": Sample(
        "20newsgroups_raw", 5000, 50, reading={"headers": "strip"}
    ),
    "NIPS papers": Sample("nips12_raw", 500, 30),
    "News in English with 150 in Spanish": Sample("agnews", 3000, 20, planted=("noticias_es", 150)),
    "News in Spanish with 60 in English": Sample("noticias_es", 3000, 20, planted=("agnews", 60)),
    "Reuters with 50 in Spanish": Sample("reuters21578_raw", 3000, 20, planted=("noticias_es", 50)),
}
# The judgement of a reader about a topic, by its first three words: whether a mark is right, and why.
JUDGED: dict[str, tuple[bool, str]] = {
    "scientists africa species": (False, "science, though broad"),
    "lt gt href": (True, "links to stock quotes"),
    "premio premios princesa": (True, "reports on prizes, again and again"),
    "personas salud fenómeno": (True, "no subject"),
    "sevilla edición festival": (False, "culture in Seville, though broad"),
    "li ul article": (True, "lists and captions"),
    "españa país crecimiento": (True, "words of press releases"),
    "amendment federal firearms": (True, "a few long texts of laws"),
    "turkish armenia turks": (True, "posts of one person, with the same phrases in each"),
    "war gulf military": (True, "a few long posts"),
    "ei d9 m9": (True, "binaries as text"),
    "shr vs net": (True, "forms of earnings"),
    "div record qtly": (True, "forms of dividends"),
    "utc gdp tld": (True, "boxes of facts about countries"),
    "animalia phylum genus": (True, "boxes of facts about animals"),
    "mol cas chemical": (True, "boxes of facts about elements"),
    "aves chordata animalia": (True, "boxes of facts about birds"),
    "dinosauria sauropsida superorder": (True, "boxes of facts about dinosaurs"),
    "node js event": (True, "the same sentence about Node.js"),
    "taylor prince swift": (True, "titles of one story"),
    "deleted oh maybe": (True, "no subject"),
    "nuclear naval ships": (True, "one long text, posted twice"),
    "police weapons ccw": (True, "a few long texts of laws"),
    "gun senate handguns": (True, "a few long lists of laws"),
    "echo file bin": (True, "scripts"),
    "ei d9 gk": (True, "binaries as text"),
    "mitsuo suzuki kawato": (True, "names and addresses of one institute"),
    "trial court judge": (False, "courts and hurricanes, mixed"),
    "un españa al": (True, "the Spanish texts"),
    "periódico millones crecimiento": (False, "the economy, though broad"),
    "vida inteligencia artificial": (True, "no subject"),
    "the of to": (True, "the English texts"),
    "corp terms assets": (False, "companies bought and sold"),
    "record div pay": (True, "forms of dividends"),
    "de el en": (True, "the Spanish texts"),
}
# Topics that a reader would have marked, by their first three words: with which mark.
MISSED: dict[str, str] = {
    "mellon carnegie cmu": "boilerplate: headers",
    "sweden de germany": "boilerplate: headers",
    "uiuc cso illinois": "boilerplate: headers",
    "geb banks dsl": "boilerplate: a signature",
    "may7 sep7 mar8": "repeated texts: tables of prices",
    "note shr net": "repeated texts: forms of earnings",
    "发 布 发现": "vague: no subject",
    "raster mali liberia": "boilerplate: boxes of facts about countries",
    "values module value": "vague: no subject",
    "get give real": "vague: no subject",
    "embed nstableview tell": "few documents: it is the main topic of hardly any",
    "path subclass action": "vague: no subject",
    "way better core": "vague: no subject",
    "method updating particular": "vague: no subject",
    "oort coradeschi excrement": "vague: no subject",
    "mother corpse shouted": "few documents: long reports, posted again and again",
    "chi stl que": "repeated texts: tables of results",
    "chastity n3jxp gordon": "boilerplate: a signature, with medicine",
    "whoever bertrand claire": "vague: no subject",
    "thanks please advance": "vague: how people ask for help",
    "list mail mailing": "vague: how people ask for mail",
    "reflect opinions employer": "boilerplate: disclaimers",
    "apr may7 mar8": "repeated texts: tables of prices",
    "francia elecciones information": "boilerplate: captions, with elections",
}


class Listed(NamedTuple):
    """A topic, as listed on the page."""

    size: float
    words: str
    mark: str


def read(sample: Sample, folder: Path) -> Corpus:
    """The corpus of a sample, with its texts."""
    if sample.name == "demo":
        return load_demo()
    texts = texts_of(sample.name, sample.documents, folder, sample.reading)
    if sample.planted is not None:
        texts += texts_of(*sample.planted, folder, {})
    return Corpus.from_texts(texts, keep_texts=True, **sample.options)


def texts_of(name: str, n_documents: int, folder: Path, reading: Mapping[str, Any]) -> list[str]:
    """Texts of a benchmark corpus, drawn at random."""
    texts = load_benchmark(name, folder, keep_texts=True, **reading).texts or ()
    rows = np.sort(np.random.RandomState(5).permutation(len(texts))[:n_documents])
    return [texts[row] for row in rows]


def topics_of(tree: TopicTree) -> Iterator[Listed]:
    """The topics of a tree."""
    for topic in tree.ids.tolist():
        words = " ".join(word.word for word in tree.words(topic, 8))
        yield Listed(tree.size_of(topic), words, tree.marks.get(topic, ""))


def page(folder: Path) -> str:
    """The page with all marked and missed topics, and how many marks are right."""
    lines = ["# Marks of topics", "", "    python -m experiments.choosing.junk_topics --data DATA", ""]
    today = datetime.now(UTC).date().isoformat()
    lines += [PREFACE.format(date=today, n_corpora=len(SEEN) + len(BLIND))]
    details, totals = [], {"seen": Counter[tuple[str, str]](), "blind": Counter[tuple[str, str]]()}
    n_topics = {"seen": 0, "blind": 0}
    for title, sample in (SEEN | BLIND).items():
        part = "seen" if title in SEEN else "blind"
        corpus = read(sample, folder)
        tree = LDA(sample.topics, random_state=0, verbose=False).fit(corpus).topic_tree(corpus)
        n_topics[part] += len(tree)
        details += ["", f"## {title}: {len(corpus):,} documents, {len(tree)} topics", ""]
        rows = []
        for topic in topics_of(tree):
            key = " ".join(topic.words.split()[:3])
            kind = (topic.mark or MISSED.get(key, "")).split(":")[0]
            if topic.mark:
                right, why = JUDGED.get(key, (None, "not judged"))
                verdict = {True: "right", False: "wrong", None: ""}[right]
                said = f"{verdict}: {why}"
            elif key in MISSED:
                verdict, said = "missed", f"missed: {MISSED[key]}"
            else:
                continue
            totals[part][kind, verdict] += 1
            cells = [topic.mark or "none", f"{topic.size:.1%}", topic.words, said]
            rows.append("| " + " | ".join(cell.replace("|", "¦") for cell in cells) + " |")
        head = ["| mark | size | words | judgement |", "|---" * 4 + "|"]
        details += head + rows if rows else ["No topic is marked, and none was missed."]
        print("\n".join(details[-len(rows) - 3 :]), flush=True)
    for part, heading in (("seen", "The first eight corpora"), ("blind", "The other corpora")):
        lines += ["", f"{heading}, {n_topics[part]} topics:", "", "| mark | right | wrong | missed |", "|---" * 4 + "|"]
        for kind in sorted({kind for kind, _ in totals[part]}):
            numbers = [totals[part][kind, verdict] for verdict in ("right", "wrong", "missed")]
            lines.append(f"| {kind} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines + details) + "\n"


if __name__ == "__main__":
    write_page("junk.md", page, __doc__)

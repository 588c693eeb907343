"""Are the topics that are marked as junk really junk? `python -m experiments.choosing.junk_topics --data FOLDER`.

Every marked topic is listed with its words, its best documents, and the judgement of a reader.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from topicfold import LDA
from topicfold.corpus.corpus import Corpus

from ..corpora import data_folder, load_benchmark

PREFACE = """The package marks topics that look like junk. Are these marks right? For LDA at its defaults (seed 0), with
20, 50 and 100 topics, each marked topic is listed with its size (its share of the corpus), its words, the beginnings of
its best documents, and the judgement of a reader who read it with these documents. Run on {date}.

The thresholds were chosen on the demo corpus, search snippets, titles of Stack Overflow questions, news titles, NIPS,
an encyclopaedia for schools, and training posts of 20 Newsgroups with their headers. Two were made stricter after a
first look at the corpora below, where topics had been marked that are dominated by a few long documents, or that
contain some repeated stories: so this is not blind. Templates, such as forms and tables, count as junk."""
SIZES = (20, 50, 100)
CORPORA = {
    "20 Newsgroups, without headers, quotes and signatures": ("20newsgroups_raw", {"headers": "strip"}),
    "20 Newsgroups, test posts, whole": ("20newsgroups_raw", {"split": "test"}),
    "Reuters": ("reuters21578_raw", {}),
}
# The judgement of a reader about a topic, by its first three words: whether it is junk, and why.
JUDGED = {
    "thanks please anyone": (True, "how people ask for help"),
    "people think say": (False, "debates about morals and religion, though broad"),
    "marvel avengers comics": (True, "binaries as text, and a list of comics"),
    "file char int": (True, "one contest with its programs, posted again and again"),
    "problem problems polygon": (False, "geometry, where everything is a problem"),
    "number phone bmug": (True, "no subject"),
    "think people really": (True, "no subject"),
    "islam posts question": (False, "talk about posts, many of them on Islam"),
    "bxn bhjn ei0l": (True, "binaries as text"),
    "stuff deleted plastic": (True, "no subject"),
    "go oh yeah": (True, "exclamations"),
    "get buy hiram": (False, "things for sale"),
    "uudecode xall xand": (True, "the same contest"),
    "think like something": (True, "no subject"),
    "ago years months": (False, "illnesses, and how long ago they began"),
    "baalke kelvin spacecraft": (True, "a program, and one poster's mission reports"),
    "xb e1 ry": (True, "binaries as text"),
    "mail please thanks": (True, "how people ask for mail"),
    "v6 v8 vx": (True, "bitmaps as text, and engines"),
    "v8 v6 vx": (True, "bitmaps as text, and engines"),
    "div qtly pay": (True, "forms that announce dividends"),
    "div record qtly": (True, "forms that announce dividends"),
    "apr futures may7": (True, "tables of prices"),
    "may7 dec7 mar8": (True, "tables of prices"),
}


class Marked(NamedTuple):
    """A marked topic, as listed on the page."""

    size: float
    words: str
    mark: str
    documents: list[str]


def read(name: str, folder: Path, options: dict[str, str]) -> Corpus:
    """A corpus without words in fewer than five documents or in more than half of them."""
    whole = load_benchmark(name, folder, stop_words="english", keep_texts=True, **options)
    return Corpus.from_texts(
        whole.texts or (), preprocessing=whole.preprocessing, min_df=5, max_df=0.5, keep_texts=True
    )


def marked_topics(corpus: Corpus, n_topics: int) -> Iterator[Marked]:
    """The marked topics of LDA at its defaults."""
    model = LDA(n_topics, random_state=0).fit(corpus)
    tree = model.topic_tree(corpus)
    row = {name: place for place, name in enumerate(corpus.ids)}
    for topic, mark in tree.marks.items():
        best = [" ".join((corpus.texts or ())[row[name]].split())[:70] for name, _ in tree.documents(topic, 3)]
        words = " ".join(word.word for word in tree.words(topic, 8))
        yield Marked(tree.size_of(topic), words, mark, best)


def page(folder: Path) -> str:
    """The page with all marked topics, and how many of them a reader judged to be junk."""
    lines = ["# Topics marked as junk", "", "    python -m experiments.choosing.junk_topics --data DATA", ""]
    lines += [PREFACE.format(date=datetime.now(UTC).date().isoformat())]
    for title, (name, options) in CORPORA.items():
        corpus = read(name, folder, dict(options))
        lines += ["", f"## {title}: {len(corpus):,} documents", ""]
        lines += [
            "| topics in the model | mark | size | words | beginnings of the best documents | junk? |",
            "|---" * 6 + "|",
        ]
        right = total = 0
        for n_topics in SIZES:
            for topic in marked_topics(corpus, n_topics):
                junk, why = JUDGED.get(" ".join(topic.words.split()[:3]), (None, "not judged"))
                right, total = right + bool(junk), total + (junk is not None)
                said = f"{'yes' if junk else 'no'}: {why}" if junk is not None else why
                cells = [str(n_topics), topic.mark, f"{topic.size:.1%}", topic.words, " / ".join(topic.documents), said]
                lines.append("| " + " | ".join(cell.replace("|", "¦") for cell in cells) + " |")
        lines += ["", f"{right} of {total} marks are right, out of {sum(SIZES)} topics in all."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page, and write it to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the benchmark corpora; default: TOPICFOLD_DATA")
    parser.add_argument("--out", default="docs/results", help="folder for the page")
    options = parser.parse_args()
    text = page(data_folder(options.data))
    Path(options.out, "junk.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

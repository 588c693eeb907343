"""Are default names of topics those a person would give? `python -m experiments.choosing.topic_names --data FOLDER`.

Names are listed side by side with the three best words, with the verdict of a reader on each.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from topicfold import LDA
from topicfold.corpus.corpus import Corpus
from topicfold.corpus.preprocessing import Preprocessing
from topicfold.topics.terms import same_stem
from topicfold.topics.tree import TopicTree

from ..corpora import load_benchmark
from ..front_door.debian_translations import read_translations
from ..results_page import write_page

PREFACE = """The default name of a topic is made of up to three words and phrases that are learned from the texts. Is
it a better name than the three best words? For LDA at its defaults ({n_topics} topics, seed 0; 20 for the German
texts), {n_judged} topics of each corpus, drawn at random, are listed with both, with the best words, and with the
verdict of a reader, who saw both names and the words. A name that differs only in capitals or in the order of its words
is the same. Run on {date}.

The rules were settled on the corpora under "Seen before"; names of topics of the others had not been seen when the
rules were settled. "Class" is the share of all topics whose name has a word of the label that most of their documents
have. "Repeated" counts names in which two words have the same stem, and "twins" the lists of ten words with two forms
of a word. CPU times are in seconds: learning the phrases, the names of all topics, and the fit of LDA."""
SEEN = ("20newsgroups_raw", "agnews", "reuters21578_raw")
MEASURED = ("short_stackoverflow", "short_searchsnippets")  # without verdicts; seen before, too
UNSEEN = ("noticias_es", "debian_de", "short_googlenews", "nips12_raw")
DOCUMENTS, TOPICS, FEWER_TOPICS, JUDGED_TOPICS = 4000, 30, 20, 9
LANGUAGES = {"noticias_es": "spanish", "debian_de": "german"}
_TAGS = (
    "wordpress oracle svn apache excel matlab visual-studio cocoa osx bash spring hibernate scala sharepoint ajax qt "
    "drupal linq haskell magento"
)
_SUBJECTS = (
    "business",
    "computers",
    "culture arts",
    "education science",
    "engineering",
    "health",
    "politics society",
    "sports",
)
# The words of classes whose labels do not say what they are about.
CLASS_WORDS: dict[str, dict[str, str]] = {
    "20newsgroups_raw": {
        "autos": "car",
        "politics": "government",
        "med": "medical doctor",
        "crypt": "encryption",
    },
    "short_stackoverflow": {str(number): tag for number, tag in enumerate(_TAGS.split(), start=1)},
    "short_searchsnippets": {str(number): words for number, words in enumerate(_SUBJECTS, start=1)},
}
BETTER, SAME, WORSE = "better", "same", "worse"
# The verdict of a reader on a name, by corpus and name.
VERDICTS = {
    "20newsgroups_raw": {
        "newsgroup, mailing list, posting": BETTER,
        "hard drive, SCSI, disk": BETTER,
        "gun control, weapons, Constitution": BETTER,
        "video card, drivers, mode": BETTER,
        "National, San Jose, CA": SAME,
        "health insurance, Canada, Germany": SAME,
    },
    "agnews": {
        "EU, European Union, Airbus": BETTER,
        "PeopleSoft Inc, Oracle Corp": SAME,
        "quarterly profit, percent, sales": BETTER,
        "Athens Olympics, gold medal": BETTER,
        "Airlines, Delta Air Lines": WORSE,
        "President Bush, John Kerry": BETTER,
        "oil prices, stocks": BETTER,
        "Gaza Strip, Palestinian leader": SAME,
    },
    "reuters21578_raw": {
        "Agriculture Department, wheat, corn": BETTER,
        "mln dlr contract, Air": WORSE,
        "first quarter, chief executive": BETTER,
        "mln tonnes, sugar, export": SAME,
        "common shares, Exchange Commission": SAME,
        "crude oil, Iran, Iraq": BETTER,
        "stock split, shareholders, dividend": BETTER,
        "Motors Corp, car sales": SAME,
    },
    "noticias_es": {
        "Real Madrid, fichaje, club": BETTER,
        "Wimbledon, Carlos Alcaraz, Djokovic": BETTER,
        "Eurocopa, España": SAME,
        "millones, euros, Consejo de Ministros": SAME,
        "Samsung Galaxy, Apple Watch": WORSE,
        "PP y Vox, Gobierno, Castilla": BETTER,
        "elecciones legislativas, Francia, Macron": BETTER,
        "Premio Nacional, Ministerio de Cultura": BETTER,
        "Banco de España, Carlos Cuerpo": BETTER,
    },
    "debian_de": {
        "Perl-Modul, Klasse": BETTER,
        "IP-Adressen, Netzwerk, TCP": BETTER,
        "Audio-CDs, MP3-Dateien": SAME,
        "GNU, Paket enthält, Compiler": WORSE,
        "DNA-Sequenzen, Alignments, Protein": BETTER,
        "Debian-Pakete, apt, Wörterbuch": SAME,
        "Java-Bibliothek, Ruby, PHP": SAME,
    },
    "short_googlenews": {
        "san andreas, alec baldwin": BETTER,
        "hiv, aid, typhoon haiyan": BETTER,
        "china air, zone, defense": WORSE,
        "nokia lumia, tablet": BETTER,
        "bronco patriot, wes welker": SAME,
        "pope francis, thai protester": BETTER,
        "basel chelsea, champion league": BETTER,
        "motorola moto, review homefront": SAME,
        "peace talk, northern illinois": SAME,
    },
    "nips12_raw": {
        "ocular dominance, visual cortex": BETTER,
        "regression, Optimal Brain Damage": WORSE,
        "visual cortex, receptive field": BETTER,
    },
}


class Named(NamedTuple):
    """The names of the topics of a corpus, and what was measured."""

    before: list[str]
    now: list[str]
    words: list[str]
    judged: list[int]
    measures: dict[str, tuple[float, float]]  # before, now
    seconds: tuple[float, float, float]  # phrases, names, fit


def read(name: str, folder: Path) -> Corpus:
    """At most so many documents of a corpus, drawn once, with their texts and labels."""
    if name == "debian_de":
        texts, labels = read_translations(folder, "de")
        known: list[tuple[str, ...]] = [(label,) for label in labels]
    else:
        options = {"headers": "strip"} if name == "20newsgroups_raw" else {}
        whole = load_benchmark(name, folder, keep_texts=True, **options)
        texts, known = list(whole.texts or ()), list(whole.labels or [()] * len(whole))
    filled = [row for row, text in enumerate(texts) if text.strip()]
    rows = np.sort(np.random.RandomState(0).permutation(filled)[:DOCUMENTS]).tolist()
    preprocessing = Preprocessing(stop_words=LANGUAGES.get(name, "english"))
    return Corpus.from_texts(
        [texts[row] for row in rows],
        labels=[known[row] for row in rows],
        preprocessing=preprocessing,
        min_df="auto",
        max_df="auto",
        keep_texts=True,
    )


def named_topics(name: str, corpus: Corpus) -> Named:
    """The names of the topics of LDA, as they were before phrases, and as they are now."""
    model = LDA(FEWER_TOPICS if name == "debian_de" else TOPICS, random_state=0)
    model.fit(replace(corpus, texts=None))  # compiles what is compiled
    times = [time.process_time()]
    model.fit(replace(corpus, texts=None))
    times.append(time.process_time())
    _ = corpus._phrases
    times.append(time.process_time())
    tree = model.fit(corpus).topic_tree(corpus)
    plain = replace(tree, wording=None)
    topics = tree.ids.tolist()
    before = [plain.name(topic) for topic in topics]
    named_at = time.process_time()
    now = [tree.name(topic) for topic in topics]
    seconds = times[2] - times[1], time.process_time() - named_at, times[1] - times[0]
    classes = _class_words(name, corpus, tree)
    measures = {
        "class": (_share_with(before, classes), _share_with(now, classes)),
        "repeated": (sum(map(_repeats, before)), sum(map(_repeats, now))),
        "twins": (_twins(plain, corpus), _twins(tree, corpus)),
        "equal": (len(before) - len(set(before)), len(now) - len(set(now))),
    }
    order = np.random.RandomState(1).permutation(len(topics))[:JUDGED_TOPICS]
    words = [", ".join(word.word for word in plain.words(topic, 8)) for topic in topics]
    return Named(before, now, words, np.sort(order).tolist(), measures, seconds)


def _class_words(name: str, corpus: Corpus, tree: TopicTree) -> list[set[str]]:
    """The words of the label that most documents of each topic have."""
    largest = tree.doc_topic.argmax(axis=1)
    replaced = CLASS_WORDS.get(name, {})
    words = []
    for row in range(len(tree)):
        labels = Counter(
            label for document in np.flatnonzero(largest == row) for label in (corpus.labels or ())[document]
        )
        label = labels.most_common(1)[0][0].lower() if labels else ""
        parts = re.findall(r"\w+", label)
        words.append({word for part in parts for word in [part, *re.findall(r"\w+", replaced.get(part, ""))]})
    return words


def _words_of(name: str) -> list[str]:
    return re.findall(r"\w{2,}", name.lower())


def _share_with(names: Iterable[str], classes: list[set[str]]) -> float:
    has = [any(same_stem(word, of) for word in _words_of(name) for of in words) for name, words in zip(names, classes)]
    return float(np.mean(has))


def _repeats(name: str) -> bool:
    words = _words_of(name)
    return any(same_stem(one, other) for place, one in enumerate(words) for other in words[:place])


def _twins(tree: TopicTree, corpus: Corpus) -> int:
    """Lists of ten words with two words of the same stem."""
    languages = corpus.preprocessing._languages() if corpus.preprocessing is not None else frozenset()
    stem = Preprocessing(stop_words=None, stemmer=min(languages))._stem
    lists = [[stem(part) for term in tree.terms(topic, 10) for part in term.split()] for topic in tree.ids.tolist()]
    return sum(len(set(words)) < len(words) for words in lists)


def page(folder: Path) -> str:
    """The page with the names, the verdicts and the measures."""
    lines = ["# Names of topics", "", "    python -m experiments.choosing.topic_names --data DATA", ""]
    date = datetime.now(UTC).date().isoformat()
    lines += [PREFACE.format(n_topics=TOPICS, n_judged=JUDGED_TOPICS, date=date), ""]
    found = {name: named_topics(name, read(name, folder)) for name in (*SEEN, *MEASURED, *UNSEEN)}
    lines += [
        "| corpus | class: before | now | repeated: before | now | twins: before | now | equal names: before | now "
    ]
    lines[-1] += "| phrases, s | names, s | fit, s |"
    lines += ["|---" * 12 + "|"]
    for name, named in found.items():
        cells = [f"{value:.3g}" for pair in named.measures.values() for value in pair]
        lines.append(f"| {name} | {' | '.join([*cells, *(f'{seconds:.2f}' for seconds in named.seconds)])} |")
    for title, names in (("Seen before", SEEN), ("Not seen before", UNSEEN)):
        verdicts = Counter(_verdict(name, found[name], row) for name in names for row in found[name].judged)
        said = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in (BETTER, SAME, WORSE))
        lines += ["", f"## {title}: {said}"]
        for name in names:
            lines += [
                "",
                f"### {name}",
                "",
                "| the three best words | the name now | the best words | the name now is |",
            ]
            lines += ["|---" * 4 + "|"]
            for row in found[name].judged:
                cells = [found[name].before[row], found[name].now[row], found[name].words[row]]
                cells = [cell.replace("|", "¦") for cell in cells]
                lines.append(f"| {' | '.join(cells)} | {_verdict(name, found[name], row)} |")
    return "\n".join(lines) + "\n"


def _verdict(name: str, named: Named, row: int) -> str:
    if sorted(_words_of(named.before[row])) == sorted(_words_of(named.now[row])):
        return SAME
    return VERDICTS.get(name, {}).get(named.now[row], "not judged")


if __name__ == "__main__":
    write_page("names.md", page, __doc__)

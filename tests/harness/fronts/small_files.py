"""Damaged small files that a user or topicfold itself has written: edits, keys, answers, caches, vectors, labels."""

from __future__ import annotations

import io
import json
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from topicfold import Corpus, NameCommand, TopicToName, embed, judgement_tasks, read_judgements
from topicfold.analysis.judgement_tasks import JudgementTasks
from topicfold.analysis.vector_cache import VectorCache, text_digests
from topicfold.analysis.zero_shot import ZeroShotClassifier, described_labels
from topicfold.cli.option_values import stop_words_from
from topicfold.engine.npy_file import read_npy
from topicfold.engine.small_files import read_json

from ..cases import Case, Draw, Front, Run, SilentChange, check_finite, each_of, generator
from ..damage import damaged
from ..rewriting import change_json, changed_array
from ..small_models import small_corpus, small_model

__all__ = ["FRONT"]

_TEXTS = ["red sky", "", "blue sea"]
_TOPIC = TopicToName(1, ("cat", "dog"), (), (), None)
_EDITS = [{"rename": 1, "name": "space"}, {"merge": [0, 1], "name": "all"}, {"group": [0, 2], "name": "one"},
          {"drop": [2]}]  # fmt: skip


class _Uses:
    """What is done with each kind of file."""

    def __init__(self, folder: Path) -> None:
        self.corpus = small_corpus()
        self.tree = small_model("PLSA").fit(self.corpus).topic_tree(self.corpus)
        self.tasks = judgement_tasks(self.tree, self.corpus, seed=1)
        self.right_answers = folder / "answers"
        self.right_answers.write_bytes(self.whole()["answers"][0])

    def whole(self) -> dict[str, tuple[bytes, ...]]:
        """Files that are in order, by their kind."""
        with tempfile.TemporaryDirectory() as place:
            self.tasks.save_key(Path(place, "key"))
            key = Path(place, "key").read_bytes()
        lines = [f"{self.tasks.id},Ann,{number},0\n" for number in range(1, len(self.tasks.tasks) + 1)]
        edits = {"format": "topicfold edits 1", "edits": _EDITS}
        vectors = np.random.default_rng(0).normal(size=(len(_TEXTS), 4)).astype(np.float32)
        return {
            "edits": (json.dumps(edits).encode(), b'{"1": "space", "2": "earth"}'),
            "key": (key,),
            "answers": (("tasks,rater,task,answer\n" + "".join(lines)).encode(),),
            "names": (json.dumps("NAME: pets\nABOUT: cats and dogs").encode(),),
            "vectors": (_cached(vectors),),
            "matrix": (_npy(vectors), _npy(np.asfortranarray(vectors, np.float64)), _npy(np.eye(3, dtype=np.int8))),
            "labels": (b'{"pets": "cat dog", "space": "sun moon"}', b'["cat", "sun"]'),
            "stop words": (b"cat dog\nsun", "\ufeffcat\u2028caf\u00e9".encode()),
        }

    def edits(self, path: Path) -> None:
        self.tree.apply(path).to_json()

    def key(self, path: Path) -> None:
        loaded = JudgementTasks.load_key(path)
        each_of([loaded.to_csv, lambda: str(read_judgements(loaded, [self.right_answers]))])

    def answers(self, path: Path) -> None:
        judged = read_judgements(self.tasks, [path])
        each_of([lambda: str(judged), judged.to_json, judged.topic_table])

    def names(self, path: Path) -> None:
        with mock.patch.object(NameCommand, "_file", return_value=path):
            NameCommand("/no/such/program")(_TOPIC)

    def vectors(self, path: Path) -> None:
        cached = path.with_suffix(".safetensors")  # the only file of a cache
        cached.write_bytes(path.read_bytes())
        module = "topicfold.analysis.embedding"
        with (
            mock.patch(f"{module}._cache_folder", return_value=path.parent),
            mock.patch(f"{module}.encoder_of", return_value=_of_one_length),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # a damaged file is a warning: its vectors are computed again
            computed = embed(_TEXTS, "some model", cache=path.parent, verbose=False)
        check_finite("the vectors", computed)
        if computed.ndim != 2 or len(computed) != len(_TEXTS):
            raise SilentChange(f"vectors of shape {computed.shape} for {len(_TEXTS)} texts")

    def matrix(self, path: Path) -> None:
        check_finite("the matrix", read_npy(path))

    def labels(self, path: Path) -> None:
        ZeroShotClassifier(described_labels(read_json(path, "labels")), max_iter=1).fit(self.corpus)

    def stop_words(self, path: Path) -> None:
        Corpus.from_texts(["cat dog sun", "star moon"], stop_words=stop_words_from(str(path)))

    def use(self, kind: str, path: Path) -> None:
        getattr(self, kind.replace(" ", "_"))(path)


def _of_one_length(texts: list[str]) -> np.ndarray:
    return np.ones((len(texts), 4))


def _cached(vectors: np.ndarray) -> bytes:
    """The file of a cache with vectors of the texts."""
    with tempfile.TemporaryDirectory() as place:
        VectorCache(Path(place)).add(text_digests(_TEXTS), vectors)
        [file] = Path(place).iterdir()
        return file.read_bytes()


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _changed(kind: str, content: bytes, rng: Any) -> tuple[bytes, list[str]]:
    """The content with its bytes damaged, or whole with something else in it."""
    if rng.random() < 0.5 and content[:1] in b"{[":
        values = json.loads(content)
        done = [change_json(values, rng) for _ in range(rng.choice((1, 1, 2)))]
        return json.dumps(values).encode(), done
    if rng.random() < 0.5 and content.startswith(b"\x93NUMPY"):
        return _npy(changed_array(np.load(io.BytesIO(content)), rng)), ["another array"]
    return damaged(content, rng)


def _draw(whole: Mapping[str, tuple[bytes, ...]], number: int) -> Case:
    rng = generator("small_files", number)
    kind = rng.choice(sorted(whole))
    content, done = _changed(kind, rng.choice(whole[kind]), rng)
    return Case(f"{kind}, changed by {', '.join(done)}", kind, {"file": content}, "file")


def _prepare() -> tuple[Draw, Run]:
    folder = Path(tempfile.mkdtemp(prefix="harness-inputs-"))
    uses = _Uses(folder)
    whole = uses.whole()
    for kind, contents in whole.items():
        for content in contents:
            (folder / "file").write_bytes(content)
            uses.use(kind, folder / "file")
    return lambda number: _draw(whole, number), lambda kind, place: uses.use(kind, place / "file")


FRONT = Front("damaged edits, keys, answers, caches, vectors, labels", _prepare, n_cases=5000, batch=100)

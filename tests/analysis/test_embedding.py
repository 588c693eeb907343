"""embed: models on disk, functions, objects; the cache; and what is said where it does not work."""

import json
import sys

import numpy as np
import pytest

from topicfold import LTM, Corpus, FileError, embed, load
from topicfold.analysis import embedding
from topicfold.analysis.assign import assign_file
from topicfold.cli import main, options

WORDS = ["[UNK]", "cat", "dog", "pet", "sun", "moon", "star"]
TEXTS = ["cat dog", "dog pet cat", "sun moon", "moon star", "cat pet", "star sun"] * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of static embeddings, tiny, as model2vec saves them: animals one way, the sky another."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.array([[0, 0, 1]] + [[1, 0.1, 0]] * 3 + [[0.1, 1, 0]] * 3, dtype=np.float32)
    place = tmp_path_factory.mktemp("models") / "tiny"
    StaticModel(vectors, tokenizer, normalize=True).save_pretrained(place)
    return place


def ran(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return left.value.code


def test_the_command_line_and_the_function_have_one_default():
    assert options.DEFAULT_EMBEDDING == embedding.DEFAULT_MODEL


def test_a_model_on_disk(folder):
    vectors = embed(["cat dog", "sun", "  "], folder)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 3)
    assert vectors[0] @ vectors[1] < 0.3
    assert not vectors[2].any()
    assert np.array_equal(
        embed(Corpus.from_texts(["cat dog", "sun", "moon"], keep_texts=True), str(folder))[:2], vectors[:2]
    )


def test_functions_and_objects_in_batches(monkeypatch):
    monkeypatch.setattr(embedding, "_BATCH", 2)
    asked = []

    class Model:
        def encode(self, texts):
            asked.append(len(texts))
            return np.array([[len(text), 1] for text in texts])

    texts = ["a", "bb", "", "dddd", "eeeee"]
    assert embed(texts, Model()).tolist() == [[1, 1], [2, 1], [0, 0], [4, 1], [5, 1]]
    assert asked == [2, 2]
    assert np.array_equal(embed(texts, Model().encode), embed(texts, Model()))


def test_vectors_are_kept_by_the_content_of_texts_and_model(folder, tmp_path):
    first = embed(TEXTS, folder, cache=tmp_path)
    assert np.array_equal(embed(TEXTS, str(folder), cache=tmp_path), first)
    assert len(list(tmp_path.iterdir())) == 1
    config = folder / "config.json"
    config.write_text(config.read_text() + " ")  # another model, by its files
    embed(TEXTS, folder, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_the_vectors_of_the_package_need_nothing(tmp_path, monkeypatch):
    for library in ("model2vec", "sentence_transformers", "fastembed", "tokenizers"):
        monkeypatch.setitem(sys.modules, library, None)
    texts = ["The striker scored twice", "", "goals in the football match", "stocks fell on Wall Street", "Привет!"]
    vectors = embed(texts, cache=tmp_path)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1, 1, 0])
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[3] + 0.2
    assert not list(tmp_path.iterdir())  # they are computed faster than they are read
    corpus = Corpus.from_texts(texts[2:], keep_texts=True)
    assert np.array_equal(embed(corpus, "english"), vectors[2:])


@pytest.mark.parametrize(
    ("texts", "model", "said"),
    [
        ("one text", len, "texts is one string"),
        ([1], len, "text 0 is 1: expected a string"),
        ([], len, "no texts to embed"),
        (["", " "], len, "all texts are empty"),
        (["a"], 5, "expected a name, a folder, an address, a function"),
        (["a", "b"], lambda texts: [[1.0]], r"shape \(1, 1\) for 2 texts"),
        (["a"], lambda texts: [["x"]], "did not return a matrix of numbers"),
        (["a"], lambda texts: [[np.nan]], "NaN or infinite"),
        (["a"], "./no-such-folder", "there is no folder"),
    ],
)
def test_what_cannot_be_embedded(texts, model, said):
    with pytest.raises(ValueError, match=said):
        embed(texts, model)


def test_vectors_of_one_size(monkeypatch):
    monkeypatch.setattr(embedding, "_BATCH", 1)
    with pytest.raises(ValueError, match="vectors of length 1 and 2"):
        embed(["a", "bb"], lambda texts: [[1.0] * len(texts[0])])


def test_corpora_without_texts_and_caches_of_functions(tmp_path):
    with pytest.raises(ValueError, match="no texts to embed: read it with keep_texts=True"):
        embed(Corpus.from_texts(["cat dog"]), len)
    with pytest.raises(ValueError, match="cache needs a model by name, folder or address"):
        embed(["a"], len, cache=tmp_path)
    with pytest.raises(FileError, match="there is no folder"):
        embed(["a"], "name/model", cache=tmp_path / "none")


def test_a_model_that_is_neither_on_disk_nor_to_be_had(monkeypatch, tmp_path):
    import model2vec

    def offline(*_, **__):
        raise ConnectionError("Failed to resolve\n the host")

    monkeypatch.setattr(model2vec.StaticModel, "from_pretrained", offline)
    with pytest.raises(
        ValueError,
        match=r"'minishlab/none' is not on this disk and cannot be downloaded: Failed to resolve the host",
    ):
        embed(["a"], "minishlab/none")
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(ImportError, match=r"needs model2vec: pip install 'topicfold\[embed\]'"):
        embed(["a"], "minishlab/none")


def test_folders_of_other_models(tmp_path):
    with pytest.raises(ValueError, match=r"contains no model: expected a folder with config.json"):
        embed(["a"], tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertModel"]}))
    with pytest.raises(ImportError, match="does not have static embeddings: it needs pip install sentence"):
        embed(["a"], tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    with pytest.raises(ValueError, match="cannot be loaded: "):
        embed(["a"], tmp_path)


def test_sentence_transformers_where_it_is_installed(tmp_path, monkeypatch):
    class SentenceTransformer:
        def __init__(self, name):
            self.name = name

        def encode(self, texts, show_progress_bar):
            return [[len(self.name), len(text)] for text in texts]

    module = type(sys)("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(embedding, "find_spec", lambda name: object())
    assert embed(["ab"], "some/model").tolist() == [[10, 2]]


def test_fastembed_where_it_is_installed(monkeypatch):
    class TextEmbedding:
        def __init__(self, model_name):
            if model_name == "no/model":
                raise ValueError(f"Model {model_name} is not supported")
            self.name = model_name

        def embed(self, documents):
            return (np.array([len(self.name), len(text)]) for text in documents)

    module = type(sys)("fastembed")
    module.TextEmbedding = TextEmbedding
    monkeypatch.setitem(sys.modules, "fastembed", module)
    monkeypatch.setattr(embedding, "find_spec", lambda name: object() if name == "fastembed" else None)
    assert embed(["ab", "c"], "some/model").tolist() == [[10, 2], [10, 1]]
    with pytest.raises(FileError, match="cannot be downloaded: Model no/model is not supported"):
        embed(["ab"], "no/model")


def test_a_model_of_another_size_than_at_the_fit(folder):
    corpus = Corpus.from_texts(TEXTS)
    model = LTM(2, random_state=0, graph_weight=1.0).fit(corpus, embeddings=embed(TEXTS, folder))
    with pytest.raises(ValueError, match="3"):
        model.transform(corpus, embeddings=np.ones((len(TEXTS), 5)))


def test_the_command_line_embeds_and_keeps_the_vectors_beside_the_input(folder, tmp_path, capsys):
    table = tmp_path / "texts.csv"
    table.write_text("text\n" + "".join(f"{text}\n" for text in TEXTS))
    fit = ["fit", table, "-p", "n_topics=2", "-p", "graph_weight=1", "--embed", folder, "--out", tmp_path / "model"]
    assert ran(*fit) == 0
    said = capsys.readouterr().err
    assert f"24 texts embedded by {folder}: 3 numbers each, kept in {tmp_path}" in said
    assert len(list(tmp_path.glob("embeddings-*/*.safetensors"))) == 1
    model = load(tmp_path / "model")
    assert type(model).__name__ == "LTM"
    assert model.neighbors_by_ == "embeddings"
    assert ran(*fit, "--embeddings", table) == 2
    assert "give only one" in capsys.readouterr().err
    assert ran("fit", table, "--model", "plsa", "--embed", folder, "--out", tmp_path / "other") == 2
    assert "--embed are for lapplsi, ltm and dtm" in capsys.readouterr().err
    Corpus.from_texts(TEXTS).save(tmp_path / "corpus.safetensors")
    assert ran("fit", tmp_path / "corpus.safetensors", "--embed", folder, "--out", tmp_path / "other") == 2
    assert "has no texts" in capsys.readouterr().err
    grid = ["-p", "n_topics=[2,3]", "-p", "graph_weight=1", "--splits", "2", "--seeds", "1"]
    assert ran("select", table, *grid, "--embed", folder) == 0
    assert f"--embed {folder}" in capsys.readouterr().err


def test_new_documents_are_assigned_by_their_embeddings(folder, tmp_path, capsys):
    table, new = tmp_path / "texts.csv", tmp_path / "new.jsonl"
    table.write_text("text\n" + "".join(f"{text}\n" for text in TEXTS))
    new.write_text("".join(json.dumps({"text": text}) + "\n" for text in ["pet", "", "moon moon", " "]))
    fit = ["fit", table, "-p", "n_topics=2", "-p", "graph_weight=1", "--embed", folder, "--out", tmp_path / "model"]
    assert ran(*fit) == 0
    capsys.readouterr()
    rows = {}
    for batch in (1, 10):  # a batch of one empty text has nothing to embed
        assert ran("assign", tmp_path / "model", new, "--embed", folder, "--batch", batch, "--to", "jsonl") == 0
        rows[batch] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["topic"] for row in rows[1]] == [row["topic"] for row in rows[10]]
    assert rows[10][0]["topic"] != rows[10][2]["topic"]
    model = load(tmp_path / "model")
    fresh = model.topic_tree().rename({0: "first"})
    fresh.save(tmp_path / "tree")
    assert ran("assign", tmp_path / "model", new, "--embed", folder, "--tree", tmp_path / "tree", "--to", "jsonl") == 0
    assert "first" in capsys.readouterr().out
    LTM(2, graph_weight=1.0, random_state=0).fit(Corpus.from_texts(TEXTS)).save(tmp_path / "words")
    assert ran("assign", tmp_path / "words", new, "--embed", folder) == 2
    assert "this LTM was not fitted on embeddings" in capsys.readouterr().err
    with pytest.raises(ValueError, match="embeddings have 5 columns: expected 3, as in the fit"):
        assign_file(model, new, tmp_path / "out.csv", embed=lambda texts: np.ones((len(texts), 5)))

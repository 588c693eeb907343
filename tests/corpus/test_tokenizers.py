"""Scripts without spaces, and tokenizers by name."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from text_cases import counted

from topicfold import LDA, Corpus, Preprocessing, load
from topicfold.corpus import tokenizers
from topicfold.corpus.preprocessing import token_spans
from topicfold.errors import MissingExtraError


@pytest.fixture(autouse=True)
def _fresh_tokenizers():
    tokenizers.named_tokenizer.cache_clear()
    yield
    tokenizers.named_tokenizer.cache_clear()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我爱北京", "我 我爱 爱 爱北 北 北京 京"),
        ("北京，大学", "北 北京 京 大 大学 学"),
        ("iPhone手机x", "iphone 手 手机 机"),
        ("手机iPhone 6S壳", "手 手机 机 iphone 壳"),
        ("データベースの管理", "データベース 管理"),
        ("ありがとう", ""),
        ("食べる人々", "人々"),
        ("ภาษาไทย", "ภา ภาษา ษา ษาไท ไท ไทย ย"),
        ("เรียน", "เรี เรีย ย ยน น"),
        ("ພາສາ", "ພາ ພາສາ ສາ"),
        ("မြန်မာ", "မြ မြန် န် န်မာ မာ"),
        ("ភាសាខ្មែរ", "ភា ភាសា សា សាខ្មែ ខ្មែ ខ្មែរ រ"),
        ("한국어 형태소", "한국어 형태소"),
        ("café и москва", "café москва"),
    ],
)
def test_scripts_without_spaces(text, words):
    preprocessing = Preprocessing()
    assert " ".join(preprocessing.words(text)) == words
    assert " ".join(preprocessing.tokens(text)) == words
    (counts,) = counted([text], preprocessing)
    assert counts.keys() == set(words.split())


def test_ngrams_of_characters_have_no_spaces_and_are_the_pairs():
    both = Preprocessing(ngrams=(1, 2))
    assert both.words("北京大学 in new york") == ["北", "京", "大", "学", "new", "york", "北京", "京大", "大学"] + [
        "学 new",
        "new york",
    ]
    assert Preprocessing(ngrams=(3, 3)).words("北京大学") == ["北京大", "京大学"]
    assert set(Preprocessing().words("北京大学")) == set(both.words("北京大学"))
    assert Preprocessing(ngrams=(1, 2), tokenizer=str.split).words("北京 大学") == ["北京", "大学", "北京 大学"]


def test_windows_of_characters():
    corpus = Corpus.from_texts(["北京大学"], segments=4)
    assert corpus.segments.counts.sum(1).tolist() == [4, 3]
    corpus = Corpus.from_texts(["北京大学"], segments=2, ngrams=(1, 2))
    words = [corpus.vocabulary[column] for column in corpus.segments.counts.indices]
    assert words == ["北", "京", "北京", "大", "学", "大学"]


def test_stop_words_of_chinese():
    words = Preprocessing(stop_words="zh").words("我们的大学")
    assert "的" not in words
    assert "我们" not in words
    assert "大学" in words


def test_spans_are_single_characters():
    _, spans = token_spans("Ein iPhone手机!", Preprocessing(stop_words="german"))
    assert spans == [(4, 10, "iphone"), (10, 11, "手"), (11, 12, "机")]
    _, spans = token_spans("ไทย", Preprocessing())
    assert spans == [(0, 2, "ไท"), (2, 3, "ย")]


def test_other_patterns_are_not_split():
    assert Preprocessing(token_pattern=r"\w+").words("北京 大学") == ["北京", "大学"]
    assert Preprocessing(tokenizer="characters").words("北京 iPhone") == ["北", "京", "iphone"]


def stand_ins():
    """Modules with as much of each tokenizer as is used: they split at spaces, and one kind of word is left out."""

    def noun(word):
        return "助詞" if word == "の" else "名詞"

    def sudachi(text):
        return [
            SimpleNamespace(surface=lambda word=word: word, part_of_speech=lambda word=word: (noun(word),))
            for word in text.split()
        ]

    def mecab(text):
        return [SimpleNamespace(surface=word, feature=SimpleNamespace(pos1=noun(word))) for word in text.split()]

    def kiwi(text):
        return [SimpleNamespace(form=word, tag="JX" if word == "の" else "NNG") for word in text.split()]

    def thai(text, keep_whitespace):
        return [word for word in text.split() if word != "の"]

    def spacy_words(text):
        return [SimpleNamespace(text=word) for word in text.split() if word != "の"]

    def load_model(name):
        if name != "ja_core_news_sm":
            raise OSError(f"[E050] Can't find model {name!r}.\nIt doesn't seem to be one.")
        return SimpleNamespace(make_doc=spacy_words)

    dictionary = SimpleNamespace(create=lambda: SimpleNamespace(tokenize=sudachi))
    return {
        "sudachipy": SimpleNamespace(),
        "sudachipy.dictionary": SimpleNamespace(Dictionary=lambda dict: dictionary),
        "sudachidict_core": SimpleNamespace(),
        "fugashi": SimpleNamespace(Tagger=lambda: mecab),
        "unidic_lite": SimpleNamespace(),
        "kiwipiepy": SimpleNamespace(Kiwi=lambda num_workers: SimpleNamespace(tokenize=kiwi)),
        "rjieba": SimpleNamespace(cut=str.split),
        "pythainlp": SimpleNamespace(),
        "pythainlp.tokenize": SimpleNamespace(word_tokenize=thai),
        "spacy": SimpleNamespace(blank=lambda code: SimpleNamespace(make_doc=spacy_words), load=load_model),
    }


NAMES = ["fugashi", "kiwi", "pythainlp", "rjieba", "spacy:ja", "spacy:ja_core_news_sm", "sudachi"]


@pytest.mark.parametrize("name", NAMES)
def test_a_tokenizer_is_stored_by_name(monkeypatch, tmp_path, name):
    for module, stand_in in stand_ins().items():
        monkeypatch.setitem(sys.modules, module, stand_in)
    preprocessing = Preprocessing(tokenizer=name)
    assert preprocessing.words("東京 の 大学 x 42 、 AI") == ["東京", "大学", "ai"]
    assert preprocessing.to_json()["tokenizer"] == name
    assert Preprocessing.from_json(json.loads(json.dumps(preprocessing.to_json()))) == preprocessing
    assert token_spans("東京 の 大学", preprocessing)[1] == [(0, 2, "東京"), (5, 7, "大学")]
    texts = ["東京 の 大学", "大阪 の 大学", "東京 大阪", "海 山"]
    corpus = Corpus.from_texts(texts, tokenizer=name, keep_texts=True)
    model = LDA(n_topics=2, random_state=0).fit(corpus)
    model.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.transform(texts), model.transform(texts))


@pytest.mark.parametrize("name", NAMES)
def test_a_tokenizer_that_is_not_installed_names_its_extra(monkeypatch, name):
    for module in stand_ins():
        monkeypatch.setitem(sys.modules, module, None)
    loaded = Preprocessing.from_json(Preprocessing(tokenizer=name).to_json())  # reading a file needs no extra
    extra = name.partition(":")[0]
    with pytest.raises(MissingExtraError, match=rf"tokenizer='{name}' needs .*pip install 'topicfold\[{extra}\]'"):
        loaded.words("東京")


REAL = [
    ("sudachi", "sudachidict_core", "東京の国立大学で研究が始まった", ["東京", "国立大学", "研究", "始まっ"]),
    ("fugashi", "unidic_lite", "東京の国立大学で研究が始まった", ["東京", "国立", "大学", "研究", "始まっ"]),
    ("kiwi", "kiwipiepy", "한국어 형태소를 분석합니다", ["한국어", "형태소", "분석"]),
    ("rjieba", "rjieba", "我来到北京清华大学", ["来到", "北京", "清华大学"]),
    ("pythainlp", "pythainlp", "ภาษาไทยไม่มีช่องว่าง", ["ภาษาไทย", "ไม่", "มี", "ช่องว่าง"]),
    ("spacy:de", "spacy", "Die Häuser, 3 Stück.", ["häuser", "stück"]),
]


@pytest.mark.parametrize(("name", "module", "text", "words"), REAL)
@pytest.mark.filterwarnings("ignore")  # of these packages
def test_real_tokenizers(name, module, text, words):
    pytest.importorskip(module, reason=f"the extra of the tokenizer {name} is optional")
    assert Preprocessing(tokenizer=name, stop_words="german").words(text) == words


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        ("sudachy", "unknown tokenizer 'sudachy'; did you mean 'sudachi'"),
        ("os", "unknown tokenizer 'os'; available: characters, fugashi, "),
        ("", "unknown tokenizer ''"),
        ("spacy:../evil", "tokenizer='spacy:../evil': expected spacy:LANGUAGE or spacy:MODEL"),
        ("spacy:os", None),
        ("spacy:my_package", "expected spacy:LANGUAGE or spacy:MODEL"),
        (5, "tokenizer=5: expected a name or a function"),
    ],
)
def test_unknown_tokenizers_are_named(tokenizer, message):
    if message is None:  # the form of a language; only its name reaches spaCy
        assert Preprocessing(tokenizer=tokenizer).tokenizer == tokenizer
        return
    with pytest.raises(ValueError, match=message) as raised:
        Preprocessing(tokenizer=tokenizer)
    assert "\n" not in str(raised.value)


def test_a_spacy_model_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", stand_ins()["spacy"])
    with pytest.raises(ValueError, match=r"tokenizer='spacy:de_core_news_lg': \[E050\] Can't find model .*to install"):
        Preprocessing(tokenizer="spacy:de_core_news_lg").words("Haus")


def test_a_file_with_an_unknown_tokenizer_imports_nothing():
    values = Preprocessing().to_json()
    with pytest.raises(ValueError, match="unknown tokenizer 'antigravity'"):
        Preprocessing.from_json({**values, "tokenizer": "antigravity"})
    custom = Preprocessing.from_json({**values, "tokenizer": "antigravity:fly"})
    with pytest.raises(ValueError, match="pass it again"):
        custom.words("a text")
    assert "antigravity" not in sys.modules
    assert custom.with_tokenizer("characters").words("北京") == ["北", "京"]

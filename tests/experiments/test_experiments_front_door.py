"""The experiments on dirty files, scripts without spaces, and stems, on invented texts."""

import gzip
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from experiment_runs import run_with_results

from experiments import load_experiment
from experiments.front_door import debian_translations, stems
from experiments.front_door.debian_translations import read_translations, write_translations
from experiments.front_door.dirty_files import DIRTY_FILES, MARKUP, led_by_markup, tweets, web_site
from topicfold import Preprocessing

SUBJECTS = {
    "sea": ["harbour", "sails", "anchor", "captain", "voyage"],
    "board": ["bishop", "castle", "pawn", "gambit", "opening"],
    "sky": ["comet", "planet", "orbit", "galaxy", "telescope"],
}
CHINESE = {"sea": "港口船帆锚船长航程", "board": "主教城堡兵卒开局棋盘", "sky": "彗星行星轨道银河望远镜"}


KOREAN = {"sea": ["항구", "선장", "항해", "바다"], "board": ["주교", "성곽", "체스"], "sky": ["혜성", "행성", "궤도"]}


def records(n_documents, seed=0):
    rng = np.random.default_rng(seed)
    subjects = rng.choice(list(SUBJECTS), n_documents)
    return [
        {"id": row, "text": f"{' '.join(rng.choice(SUBJECTS[name], 8))} & more.", "labels": [name], "title": f"t{row}"}
        for row, name in enumerate(subjects)
    ]


def write(folder, rows):
    folder.mkdir(parents=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "docs.jsonl.gz").write_bytes(gzip.compress(lines.encode()))


def write_language(folder, language, rows):
    home = folder / debian_translations.FOLDER
    home.mkdir(exist_ok=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (home / f"{language}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))


def of_characters(n_documents):
    """Phrases without spaces, each of characters of one subject."""
    rng = np.random.default_rng(0)
    subjects = rng.choice(list(CHINESE), n_documents)
    phrases = ["".join(rng.choice(list(CHINESE[name]), 12)) for name in subjects]
    return [{"id": row, "text": text, "labels": [name]} for row, (text, name) in enumerate(zip(phrases, subjects))]


def in_korean(n_documents):
    """Nouns of one subject, each with a particle."""
    rng = np.random.default_rng(0)
    subjects = rng.choice(list(KOREAN), n_documents)
    texts = [" ".join(rng.choice(KOREAN[name]) + rng.choice(list("은를의")) for _ in range(9)) for name in subjects]
    return [{"id": row, "text": text, "labels": [name]} for row, (text, name) in enumerate(zip(texts, subjects))]


# ---- dirty files ----------------------------------------------------------------------------------------------------


def test_markup_leads_by_its_first_word_or_by_three():
    assert led_by_markup(["lt", "oil", "price"])
    assert led_by_markup(["oil", "gt", "price", "quot", "div"])
    assert not led_by_markup(["oil", "gt", "price", "quot"])
    assert not led_by_markup(["div", "dividend", "net"])  # abbreviations of business news
    assert not led_by_markup([])


@pytest.mark.parametrize(
    ("rules", "dirt"), [(web_site, "<p"), (web_site, "&lt;h1"), (tweets, "t.co"), (tweets, "RT @")]
)
def test_cleaning_undoes_the_rules(rules, dirt):
    texts = [row["text"].replace(" & more", "") for row in records(200)]
    dirty = rules(texts, np.random.default_rng(0))
    assert dirty == rules(texts, np.random.default_rng(0))
    assert any(dirt in text for text in dirty)
    plain = Preprocessing(stop_words=None)
    words = [Counter(plain.words(text)) for text in texts]
    assert all(not count - Counter(plain.words(text)) for count, text in zip(words, dirty))
    assert added_words(plain, words, dirty) & MARKUP <= {"newsletter", "via"}  # which are in sentences
    assert added_words(replace(plain, clean=False), words, dirty) & {"href", "https", "amp"}


def added_words(preprocessing, words, dirty):
    return set().union(*(Counter(preprocessing.words(text)) - count for count, text in zip(words, dirty)))


@pytest.fixture(scope="module")
def dirty_run(tmp_path_factory):
    folder, out = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("out")
    for name in {file.corpus for file in DIRTY_FILES.values()}:
        write(folder / name, records(150))
    experiment = load_experiment("front-door")
    chosen = [{**setting, "n_topics": 3} for setting in experiment.settings if setting["n_topics"] != 4]
    settings = [*dict.fromkeys(json.dumps(one) for one in chosen), '{"file": "agnews with copies", "n_topics": 3}']
    experiment = replace(experiment, settings=tuple(map(json.loads, settings)))
    return run_with_results("front-door", experiment, data=folder, out=out, quick=True)


def test_what_one_call_makes_of_dirty_files(dirty_run):
    text, results = dirty_run
    assert results["failures"] == []
    found = {(row["setting"]["file"], row["method"]): row["measures"] for row in results["results"]}
    assert {name for name, _ in found} == {*DIRTY_FILES, "agnews with copies"}
    for (name, method), measures in found.items():
        assert ("nmi" in measures) == (name != "noticias_es")
        if method == "default" and name not in ("noticias_es", "agnews with copies"):
            assert measures["nmi"]["mean"] > 0.9, name
            assert measures["led"]["mean"] == 0, name
    assert found["web site", "as in 0.2.0.dev0"]["led"]["mean"] >= 1
    copies = {method: found["agnews with copies", method]["documents"]["mean"] for _, method in found}
    assert copies["default, without copies"] < copies["default"]
    assert "| default, without copies |" in text


# ---- scripts --------------------------------------------------------------------------------------------------------


def test_scripts_without_spaces(tmp_path):
    write(tmp_path / "thucnews_zh", of_characters(200))
    write_language(tmp_path, "ja", of_characters(200))
    write_language(tmp_path, "ko", in_korean(200))
    experiment = load_experiment("scripts")
    methods = tuple(method for method in experiment.methods if "dictionary" not in method.name)
    _, results = run_with_results(
        "scripts", replace(experiment, methods=methods), data=tmp_path, out=tmp_path / "out", quick=True
    )
    assert results["failures"] == []
    for row in results["results"]:
        if not row["measures"]:
            assert "Korean" in row["setting"]["corpus"] or row["method"] == "particles removed"
            continue
        nmi, share = row["measures"]["nmi"]["mean"], row["measures"]["characters"]["mean"]
        is_korean = "Korean" in row["setting"]["corpus"]
        if "phrases" in row["method"] and not is_korean:
            assert nmi < 0.5
        else:
            assert nmi > 0.9
        assert (share == 1) == (row["method"] == "characters")
        assert (share == 0) == (is_korean or "phrases" in row["method"] or row["method"] == "pairs and words")


def test_particles_are_removed_from_korean_nouns():
    from experiments.front_door.scripts import _without_particles

    assert _without_particles("파일을 관리하는 apt 도구의 의 말") == ["파일", "관리", "apt", "도구"]


def test_a_dictionary_for_another_language_is_left_out(tmp_path):
    from experiments.front_door.scripts import CHINESE, KOREAN, SECOND, measure

    method = next(method for method in load_experiment("scripts").methods if method.name == "second dictionary")
    assert method.parameters["tokenizer"] == SECOND
    assert [measure({}, method, {"corpus": name}, 0, {}) for name in (CHINESE, KOREAN)] == [{}, {}]


# ---- translations ---------------------------------------------------------------------------------------------------

PACKAGES = """Package: alpha
Section: games
Description-md5: 1

Package: alpha-doc
Section: doc
Description-md5: 2

Package: alpha-tiny
Source: alpha (1.0)
Section: games
Description-md5: 3
"""
TRANSLATION = """Package: alpha
Description-md5: 1
Description-ja: 帆船の
 港に入る船の
 帆と sails and
 ropes
 .
 次の段落

Package: alpha-doc
Description-md5: 2
Description-ja: 文書

Package: alpha-tiny
Description-md5: 3
Description-ja: 小さい
"""


def test_translations_are_read_from_the_files_of_apt(tmp_path, monkeypatch):
    monkeypatch.setattr(debian_translations, "_LEAST_PACKAGES", 1)
    monkeypatch.setattr(debian_translations, "_LEAST_LETTERS", {"ja": 5})
    start = "mirror_debian_dists_stable"
    (tmp_path / f"{start}_main_binary-amd64_Packages").write_text(PACKAGES, encoding="utf-8")
    (tmp_path / f"{start}-updates_main_binary-amd64_Packages").write_text("", encoding="utf-8")
    (tmp_path / f"{start}_main_i18n_Translation-ja").write_text(TRANSLATION, encoding="utf-8")
    out = tmp_path / "data" / debian_translations.FOLDER
    assert write_translations(tmp_path, out) == {"ja": 1}
    texts, labels = read_translations(tmp_path / "data", "ja")
    assert texts == ["帆船の\n\n港に入る船の帆と sails and ropes\n\n次の段落"]
    assert labels == ["games"]
    with pytest.raises(FileNotFoundError, match=r"de\.jsonl\.gz"):
        read_translations(tmp_path / "data", "de")
    with pytest.raises(FileNotFoundError, match="no package index"):
        write_translations(tmp_path / "data", out)


# ---- stems ----------------------------------------------------------------------------------------------------------


def test_stems_unite_inflected_words(tmp_path, monkeypatch):
    monkeypatch.setattr(stems, "CORPORA", {"German": stems.Source(debian_translations.FOLDER, "german", "de")})
    rng = np.random.default_rng(0)
    endings = ["", "e", "en", "es"]
    roots = {name: [f"{word}t" for word in words] for name, words in SUBJECTS.items()}
    subjects = rng.choice(list(roots), 240)
    rows = [
        {"text": " ".join(f"{rng.choice(roots[name])}{rng.choice(endings)}" for _ in range(12)), "labels": [name]}
        for name in subjects
    ]
    write_language(tmp_path, "de", rows)
    experiment = load_experiment("stems")
    experiment = replace(
        experiment,
        methods=tuple(method for method in experiment.methods if method.name != stems.LEMMAS),
        settings=tuple({"corpus": "German", "part": part} for part in stems.PARTS),
    )
    text, results = run_with_results("stems", experiment, data=tmp_path, out=tmp_path / "out", quick=True)
    assert results["failures"] == []
    found = {row["method"]: row["measures"] for row in results["results"] if row["setting"]["part"] == "validation"}
    assert found["words"]["twins"]["mean"] > 0.2
    assert found["stems"]["twins"]["mean"] == 0
    assert found["stems"]["words"]["mean"] == len({word for words in SUBJECTS.values() for word in words})
    assert found["words"]["real"]["mean"] == 1
    assert all(measures["nmi"]["mean"] > 0.6 for measures in found.values())
    assert "| German | stems |" in text
    assert (tmp_path / "out" / "stems-quick.png").stat().st_size > 0


def test_the_rule_needs_a_gain_larger_than_its_error():
    assert stems._is_better([0.02, 0.03, 0.025], [0.0, 0.001, -0.001])
    assert not stems._is_better([0.005, 0.006, 0.007], [0.0, 0.0, 0.0])  # too small
    assert not stems._is_better([0.2, -0.1, 0.0], [0.0, 0.0, 0.0])  # could be chance
    assert not stems._is_better([0.02, 0.03, 0.025], [-0.05, -0.06, -0.05])  # halves agree less
    assert not stems._is_better([], [0.1])


def test_decision_compares_ways_on_the_same_draws():
    setting = {"corpus": "German, Debian", "part": "validation"}
    cells = [
        {"method": way, "setting": setting, "seed": seed, "measures": {"nmi": nmi + seed, "halves": 0.5}, "error": None}
        for way, nmi in (("words", 0.1), ("stems", 0.15))
        for seed in (0, 1)
    ]
    lines = stems.decision({"cells": cells})
    assert "| German | stems | +0.050 ± 0.000 | +0.000 ± 0.000 | - | - | yes | no |" in lines
    assert "| French | stems | - | - | - | - | no | no |" in lines

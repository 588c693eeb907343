"""The front door: a dirty table that nobody prepared is read, checked, explored and fitted, and nothing stops."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from cli.cli_cases import shown_on
from dirty_csv import BOILERPLATE, dirty_table
from tests import naive
from topicfold import Corpus, InputError
from topicfold.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # what they say is also in the check

N_ROWS = 700


@pytest.fixture(scope="module")
def table():
    return dirty_table(N_ROWS)


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    return table.write(tmp_path_factory.mktemp("dirty") / "news.csv")


def read(path, **options):
    columns = {"text": ["title", "body"], "id": "ref_id", "timestamp": "posted", "metadata": ["stars", "country"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # also in a fixture of the module
        return Corpus.read(path, **columns, labels="section", keep_texts=True, **options)


@pytest.fixture(scope="module")
def corpus(path):
    return read(path)


@pytest.fixture
def run(capsys):
    """Run a command in this process: stdout and stderr; it must succeed unless a code is expected."""

    def command(*words, code=0):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert ended.value.code == code, err
        return out, err

    return command


# ---- what is counted -------------------------------------------------------------------------------------------------


def test_the_table_is_dirty_enough(table):
    languages = set(table.languages)
    assert languages == {"english", "german", "french", "chinese", "unknown"}
    assert min(map(len, (table.empty, table.exact_copies, table.near_copies, table.failed_dates))) >= 10
    assert min(map(len, (table.missing_dates, table.failed_numbers, table.removed))) >= 7
    assert table.n_boilerplate >= 50
    assert dirty_table(40, seed=1).rows == dirty_table(40, seed=1).rows != dirty_table(40, seed=2).rows


def test_the_check_counts_everything(table, corpus):
    check = corpus.check()
    assert (check.n_documents, check.n_sampled, check.n_empty) == (N_ROWS, N_ROWS, len(table.empty))
    assert check.n_wordless == len(table.empty)
    assert check.removed == table.removed
    assert check.texts_cleaned == table.texts_cleaned
    assert check.languages == {name: table.languages.count(name) for name in check.languages}
    assert check.scripts == {
        "latin": sum(name in ("english", "german", "french") for name in table.languages),
        "han": table.languages.count("chinese"),
        "none": len(table.empty),
    }
    assert check.repeated_lines == ((BOILERPLATE, table.n_boilerplate),)
    others = [row for row, name in enumerate(table.languages) if name not in ("english", "unknown")]
    assert check.other_language == tuple(corpus.ids[row] for row in others[:3])
    assert json.loads(json.dumps(check.to_json()))["removed"] == table.removed


def test_copies(table, corpus):
    first, n_exact, n_near = naive.copies(corpus.counts, corpus.texts)
    assert corpus.copies.first.tolist() == first
    assert (corpus.copies.n_exact, corpus.copies.n_near) == (n_exact, n_near)
    assert n_exact == len(table.exact_copies)
    assert all(first[row] == first[source] for row, source in table.exact_copies.items())
    long_enough = [row for row in table.near_copies if np.diff(corpus.counts.indptr)[row] > 15]
    assert len(long_enough) >= 10
    assert all(first[row] == first[table.near_copies[row]] for row in long_enough)
    assert n_near >= len(long_enough)


def test_dates_and_numbers(table, corpus):
    dates = corpus.notes["dates"]
    n_failed, n_missing = len(table.failed_dates), len(table.missing_dates)
    assert (dates["n_failed"], dates["n_missing"]) == (n_failed, n_missing)
    assert dates["n_read"] == N_ROWS - n_failed - n_missing
    assert [row for row, _ in dates["examples"]] == [row + 1 for row in table.failed_dates[:3]]
    assert np.flatnonzero(np.isnat(corpus.timestamps)).tolist() == sorted(table.failed_dates + table.missing_dates)
    for row in set(range(N_ROWS)) - set(table.failed_dates + table.missing_dates):
        assert str(corpus.timestamps[row])[:10] == table.rows[row]["changed"][:10]
    stars = corpus.metadata["stars"]
    assert corpus.notes["columns_failed"]["stars"]["n_failed"] == len(table.failed_numbers)
    assert np.flatnonzero(np.isnan(stars)).tolist() == table.failed_numbers
    assert corpus.metadata["country"].tolist() == [row["country"] for row in table.rows]


def test_texts_are_clean_and_words_are_words(table, corpus):
    debris = {"amp", "quot", "lt", "gt", "nbsp", "br", "href", "https", "www", "com", "x200b", "jo_doe", "rt"}
    assert not debris & set(corpus.vocabulary)
    assert not any(mark in text for text in corpus.texts for mark in ("<p>", "&amp;", "@jo", "\x07", "Ã", "\ufffd"))
    assert sum("I <3 it, meet @ noon" in text for text in corpus.texts) >= 20
    stop_words = corpus.preprocessing.stop_words.split(",")
    assert {"english", "german", "french"} <= set(stop_words)
    assert not {"the", "der", "und", "le", "dans"} & set(corpus.vocabulary)
    row = table.languages.index("chinese")
    assert corpus.counts[[row]].sum() > 50  # characters and pairs of them


def test_cleaning_in_processes_counts_the_same(path, corpus, monkeypatch):
    monkeypatch.setattr("topicfold.corpus.counted_chunks._CHUNK", 20_000)
    in_processes = read(path, n_jobs=2)
    assert (in_processes.counts != corpus.counts).nnz == 0
    assert in_processes.vocabulary == corpus.vocabulary
    assert in_processes.texts == corpus.texts
    assert in_processes.notes == corpus.notes


# ---- what is left out ------------------------------------------------------------------------------------------------


def test_other_languages_are_left_out(path, table):
    english = read(path, language="english")
    rows = [row for row, name in enumerate(table.languages) if name in ("english", "unknown")]
    assert english.ids == tuple(table.rows[row]["ref_id"] for row in rows)
    assert english.notes["left_out_by_language"] == N_ROWS - len(rows)


def test_copies_are_left_out(path, table):
    unique = read(path, unique=True)
    left_out = unique.notes["copies_left_out"]
    assert left_out["exact"] == len(table.exact_copies)
    assert len(unique) == N_ROWS - left_out["exact"] - left_out["near"]
    assert not {table.rows[row]["ref_id"] for row in table.exact_copies} & set(unique.ids)


def test_boilerplate_is_left_out(path, table):
    without = read(path, drop_lines="repeated")
    assert without.preprocessing.drop_lines == (BOILERPLATE,)
    assert without.notes["removed"]["repeated lines"] == table.n_boilerplate
    assert "newsletter" not in without.vocabulary
    assert without.check().repeated_lines == ()


# ---- the command line ------------------------------------------------------------------------------------------------


def test_check_on_the_command_line(run, path, table):
    out, err = run("check", path)
    assert "Traceback" not in err
    assert f"{len(table.empty)} empty, {len(table.exact_copies)} exact copies" in out
    unused = "Unnamed: 0: numbers of rows, changed: dates, but posted is the date, source: all values are the same"
    assert f"{unused}, blank: empty, token: 500 different values" in out
    n_failed = len(table.failed_dates)
    first = table.failed_dates[0]
    assert f"{n_failed} of {N_ROWS - len(table.missing_dates)} dates could not be read and are missing" in out
    assert f"{table.rows[first]['posted']!r} (row {first + 1})" in out
    assert f"{table.removed['tags']:,} tags" in out
    values, _ = run("check", path, "--json")
    assert json.loads(values)["removed"] == table.removed


@pytest.mark.parametrize("options", [[], ["--language", "english", "--unique", "--drop-lines", "repeated"]])
def test_explore_fit_assign_and_the_rest(run, path, table, tmp_path, options):
    page, model = tmp_path / "page.html", tmp_path / "model.safetensors"
    _, err = run("explore", path, "--no-open", "--out", page, *options)
    assert "text: title, body" in err
    assert "timestamp: posted" in err
    words = {word for topic in shown_on(page)["topics"] for word, *_ in topic.get("words", [])}
    assert not {"amp", "href", "https", "nbsp", "der", "und", "dans"} & words
    columns = ["--text", "title,body", "--id", "ref_id", "--timestamp", "posted", "--metadata", "stars,country"]
    _, err = run("fit", path, *columns, *options, "--topics", "4", "--out", model)
    assert "Traceback" not in err
    out, _ = run("assign", model, path)
    rows = out.strip().splitlines()[1:]
    assert len(rows) == N_ROWS  # not a model's choice: each row of the file gets an answer
    out, _ = run("search", model, path, "rocket telescope")
    assert "a0" in out


# ---- bad input: one clear line ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "content"], "no column 'content'"),
        (["--timestamp", "when"], "no column 'when'"),
        (["--metadata", "stars,colour"], "no column 'colour'"),
        (["--language", "klingon"], "klingon"),
        (["--tokenizer", "spacy:xx_not_there_sm"], "spacy"),
        (["--stop-words", "klingon"], "no stop words for 'klingon'"),
        (["--date-format", "soon"], "date_format"),
        (["--strict-dates"], "row"),
        (["--encoding", "ascii"], "ascii"),
    ],
)
def test_what_cannot_be_used_is_one_line(run, path, tmp_path, options, message):
    out, err = run("explore", path, "--no-open", "--out", tmp_path / "page.html", *options, code=2)
    last = err.strip().splitlines()[-1]
    assert message in last
    assert "Traceback" not in err
    assert out == ""


def csv_of(tmp_path, lines):
    path = tmp_path / "small.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_all_rows_are_empty(run, tmp_path):
    path = csv_of(tmp_path, ["text,stars", *('"",1', '" ",2', "<p></p>,3", "&nbsp;,4") * 5])
    _, err = run("fit", path, "--out", tmp_path / "m.safetensors", code=2)
    assert "no words" in err.strip().splitlines()[-1]
    with pytest.raises(InputError, match="no words"), pytest.warns(UserWarning, match="20 of 20 texts are empty"):
        Corpus.read(path)


def test_a_language_nobody_knows(run, tmp_path):
    rng = np.random.default_rng(0)
    syllables = ["qa", "tlh", "ingan", "vam", "puq", "loD", "Suv", "wI'", "ghom", "jaj", "moH", "ngan"]
    words = ["".join(rng.choice(syllables, 2)) for _ in range(80)]
    path = csv_of(tmp_path, ["text", *(" ".join(rng.choice(words, 12)) for _ in range(60))])
    out, _ = run("check", path)
    assert "unknown" in out
    _, err = run("explore", path, "--no-open", "--out", tmp_path / "page.html")
    assert "Corpus: 60 documents" in err


def test_a_date_column_without_a_date(run, tmp_path):
    texts = [f"the red fish swims in sea number {number} near the old harbour" for number in range(30)]
    path = csv_of(tmp_path, ["text,date", *(f"{text},soon" for text in texts)])
    out, _ = run("check", path)
    assert "date: 0 of 30 values are dates: 'soon' (row 1) is none" in out
    with pytest.warns(UserWarning, match="30 of 30 dates could not be read"):
        corpus = Corpus.read(path, timestamp="date")
    assert np.isnat(corpus.timestamps).all()

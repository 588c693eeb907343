"""Formulas: what they may hold, what they may not, and the designs they make."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold import Corpus
from topicfold.analysis.design import column_values, make_design
from topicfold.analysis.formula import formula_columns

pytest.importorskip("formulaic")


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    n = 40
    party = ["left", "right", "left", "green"] * 10
    party[3] = ""
    score = rng.normal(size=n)
    score[5] = np.nan
    return Corpus.from_counts(
        np.ones((n, 3), int),
        ["a", "b", "c"],
        labels=[["x"], ["y"]] * 20,
        timestamps=["2008-07-01"] * 39 + [None],
        metadata={
            "party": party,
            "score": score,
            "year": [1990 + d % 10 for d in range(n)],
            "word count": range(n),
            "one": ["same"] * n,
            "when": ["2001-01-01"] * n,
            "twice": [2 * (1990 + d % 10) for d in range(n)],
        },
    )


def design_of(formula, corpus, usable=None):
    return make_design(formula, corpus, np.ones(len(corpus), bool) if usable is None else usable)


def test_columns_of_a_formula():
    assert formula_columns("~ party * bs(year, df=4) + log(`word count` + 1)") == ("party", "year", "word count")
    assert formula_columns("party + I(year ** 2) - 1") == ("party", "year")
    assert formula_columns("~ C(year, contr.treatment(1990)) + center(score)") == ("year", "score")
    assert formula_columns("~ 1") == ()


def test_factors_numbers_and_missing_values(corpus):
    design = design_of("~ party + score", corpus)
    assert design.terms == ("Intercept", "party[T.left]", "party[T.right]", "score")
    assert (len(design.rows), 3 in design.rows, 5 in design.rows) == (38, False, False)
    assert design.factors == {"party"}
    expected = np.column_stack(
        [
            np.ones(38),
            corpus.metadata["party"][design.rows] == "left",
            corpus.metadata["party"][design.rows] == "right",
            corpus.metadata["score"][design.rows],
        ]
    )
    assert np.array_equal(design.matrix, expected.astype(float))
    assert design.typical() == {"party": "left", "score": pytest.approx(expected[:, 3].mean())}
    assert design.rows_for([{"party": "right", "score": 2.0}]).tolist() == [[1, 0, 1, 2]]
    usable = np.arange(40) < 20
    assert design_of("~ party", corpus, usable).rows.max() == 19


def test_labels_dates_and_categories_of_numbers(corpus):
    assert design_of("~ labels", corpus).terms == ("Intercept", "labels[T.y]")
    years = column_values(corpus, "date")
    assert years[0] == pytest.approx(2008 + 182 / 366)
    assert np.isnan(years[39])
    assert column_values(corpus, "when")[0] == 2001.0
    design = design_of("~ C(year)", corpus)
    assert design.factors == {"year"}
    assert design.levels("year") == list(range(1990, 2000))
    assert design.checked_value("year", "1995") == 1995
    assert len(design.terms) == 10


def test_splines_keep_their_knots(corpus):
    design = design_of("~ bs(year, df=5)", corpus)
    again = design.rows_for([{"year": float(year)} for year in design.frame["year"]])
    assert np.allclose(again, design.matrix)
    assert design.matrix.shape == (40, 6)


HOSTILE = [
    "~ {__import__('os').system('touch hacked')}",
    "~ {open('hacked', 'w')}",
    "~ I(year.__class__)",
    "~ log(year.to_csv('hacked'))",
    "~ {[x for x in (1).__class__.__base__.__subclasses__()]}",
    "~ {(lambda: 1)()}",
    "~ np.save('hacked', year)",
    "~ {year.values.tofile('hacked')}",
    "~ C(year, contr.__init__)",
    "~ C(year, contr.treatment.__globals__)",
    "~ I(9**9**9**9)",
    "~ I((9**9)**9)",
    "~ bs(year, df=100000000)",
    "~ bs(year, df=10*10000000)",
    "~ poly(year, 100000)",
    "~ {getattr(year, 'x')}",
    "~ Q('year')",
    "~ hashed(year, levels=3)",
    "~ bs(year, _state={})",
    "~ {f'{year}'}",
    "~ I(year if 1 else 2)",
    "~ I(year[0])",
    "~ {__builtins__}",
    "~ {__FORMULAIC_CONTEXT__}",
    "~ log(`' + open(1) + '`)",
]


@pytest.mark.parametrize("formula", HOSTILE)
def test_hostile_formulas_reach_nothing(corpus, formula, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError):
        design_of(formula, corpus)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("", "expected a formula such as"),
        (7, "expected a formula such as"),
        ("~ " + "year + " * 300 + "year", "expected a formula such as"),
        ("topic ~ party", "expected only a right-hand side"),
        ("~ party | year", "expected only a right-hand side"),
        ("~ (party", "cannot be read: "),
        ("~ party +", "cannot be read: "),
        (
            "~ party + colour",
            "no column 'colour'; it has party, score, year, word count, one, when, twice, labels, date",
        ),
        ("~ log(colour)", "no column 'colour'"),
        ("~ year.size", "no column 'year.size'"),
        ("~ one + year", "'one' has only one value, 'same', among 40 documents: leave it out"),
        ("~ C(when)", "'when' has only one value, '2001.0'"),
        ("~ when", "the term when is determined by the terms before it"),
        ("~ year + twice", "the term twice is determined by the terms before it"),
        ("~ log(`word count`)", r"log\(`?word count`?\) is not a finite number for 1 of 40 documents"),
        ("~ I(year * 1e-300)", r"I\(year \* 1e-300\) has values up to .*e-297: choose a unit"),
        ("~ I(year * 1e160)", r"has values up to .*e\+163: choose a unit"),
        ("~ C(`word count`)", "40 documents for 40 terms or more: expected more documents than terms"),
        ("~ C(`word count`) : C(year) : party", "39 documents for 685 terms or more"),
        ("~ bs(`word count`, df=40)", "40 documents for 41 terms: expected at least 43"),
        ("~ (party + year + score) ** 9", "has a power of terms: write interactions as a"),
        ("~ (party + year)^2", "has a power of terms"),
        ("~ " + "*".join("abcdefghijklmnop"), "is too large: expected at most 40 terms and 5 operators"),
        ("~ " + "+".join(f"a{number}" for number in range(60)), "is too large"),
        ("~ 0", "has no terms"),
        ("~ log(party)", "cannot be used: "),
        ("~ bs(year, df=2)", "cannot be used: "),
    ],
)
def test_bad_formulas_are_named_in_one_line(corpus, formula, message):
    with pytest.raises(ValueError, match=message) as caught:
        design_of(formula, corpus)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_no_documents_and_unknown_values(corpus):
    with pytest.raises(ValueError, match="no document has words and a value for each of party, year"):
        design_of("~ party + year", corpus, np.zeros(40, bool))
    design = design_of("~ party + year", corpus)
    with pytest.raises(ValueError, match="'party' has no value 'blue' among the documents used; it has green, left"):
        design.typical({"party": "blue"})
    with pytest.raises(ValueError, match="'year' is numeric: expected a number, not 'x'"):
        design.typical({"year": "x"})
    with pytest.raises(ValueError, match="does not use 'score'; it uses party, year"):
        design.typical({"score": 1})
    many = Corpus.from_counts(np.ones((3, 1), int), labels=[["a", "b"], ["a"], ["b"]])
    with pytest.raises(ValueError, match="has 2 labels"):
        column_values(many, "labels")
    with pytest.raises(ValueError, match="has no column 'x'; it has labels"):
        column_values(many, "x")

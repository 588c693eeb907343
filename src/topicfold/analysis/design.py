"""From a formula and the metadata of a corpus to a design matrix, by formulaic.

formulaic evaluates Python expressions in formulas. A formula may come from someone else, so each expression is read
first: columns, numbers, arithmetic and a short list of transforms are all that it may hold.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.extras import import_extra

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Design", "column_values", "formula_columns", "make_design"]

DATE, LABELS = "date", "labels"
_SPLINES = ("bs", "cr", "cs", "cc", "poly")
_TRANSFORMS = (*_SPLINES, "center", "scale", "C", "I", "log", "log2", "log10", "exp", "sqrt", "abs")
_CODINGS = ("treatment", "sum", "helmert", "diff", "poly")
_CONTEXT = {"sqrt": np.sqrt, "abs": np.abs}
_LONGEST = 1000  # letters of a formula
_MOST_DF = 100  # of a spline
_QUOTED = re.compile(r"`([^`]*)`")
_PLAIN = re.compile(r"[\w .:/%#-]+")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UAdd, ast.USub)


@dataclass(frozen=True, eq=False)
class Design:
    """A design matrix, and how to make rows of it for other values.

    Attributes
    ----------
    formula : str
    terms : tuple of str
        Names of the columns.
    matrix : ndarray of shape (n_rows, n_terms)
    frame : DataFrame
        The columns of the corpus that the formula uses, one row per document used.
    factors : frozenset of str
        Those of them that are categories.
    rows : ndarray of shape (n_rows,)
        The documents used.
    """

    formula: str
    terms: tuple[str, ...]
    matrix: np.ndarray
    frame: pd.DataFrame
    factors: frozenset[str]
    rows: np.ndarray
    spec: Any  # formulaic's ModelSpec

    def check_column(self, column: str) -> None:
        """Raise unless the formula uses the column."""
        if column not in self.frame.columns:
            used = ", ".join(self.frame.columns) or "no column"
            raise ValueError(f"the formula {self.formula!r} does not use {column!r}; it uses {used}")

    def levels(self, column: str) -> list[Any]:
        """The values of a factor, in order."""
        return sorted(self.frame[column].unique().tolist())

    def checked_value(self, column: str, value: Any) -> Any:
        """A value of a column as the design has it, or a ValueError: one of a factor's levels, or a number."""
        self.check_column(column)
        if column not in self.factors:
            try:
                return float(value)
            except (TypeError, ValueError):
                raise ValueError(f"{column!r} is a number, and {value!r} is none") from None
        levels = self.levels(column)
        found = next((level for level in levels if str(level) == str(value)), None)
        if found is None:
            shown = ", ".join(map(str, levels[:12])) + (", ..." if len(levels) > 12 else "")
            raise ValueError(f"{column!r} has no value {value!r} among the documents used; it has {shown}")
        return found

    def typical(self, at: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The mean of each numeric column, the most frequent value of each factor; `at` goes first."""
        values: dict[str, Any] = {}
        for column in self.frame.columns:
            series = self.frame[column]
            values[column] = series.mode().iloc[0] if column in self.factors else float(series.mean())
        for column, value in (at or {}).items():
            values[column] = self.checked_value(column, value)
        return values

    def rows_for(self, points: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Rows of the matrix for documents with these values."""
        pandas = import_extra("pandas", "effects", "effects")
        frame = pandas.DataFrame(list(points), columns=list(self.frame.columns), index=range(len(points)))
        frame = frame.astype({name: kind for name, kind in self.frame.dtypes.items() if kind == "category"})
        return np.asarray(self.spec.get_model_matrix(frame, context=_CONTEXT), np.float64)


def formula_columns(formula: str) -> tuple[str, ...]:
    """The columns that a formula uses, in order; a ValueError that says what is wrong with it.

    >>> formula_columns("~ party + bs(year, df=5)")
    ('party', 'year')
    """
    return _checked(formula)[1]


def column_values(corpus: Corpus, column: str) -> np.ndarray:
    """The values of a column: numbers with NaN where one is missing, or texts with None.

    'labels' is the one label of each document; 'date' its timestamp. Dates are numbers of years, such as 2008.5.
    """
    if column in corpus.metadata:
        values = corpus.metadata[column]
    elif column == LABELS and corpus.labels is not None:
        values = corpus.label_array().astype(object)
    elif column == DATE and corpus.timestamps is not None:
        values = corpus.timestamps
    else:
        more = [LABELS] * (corpus.labels is not None) + [DATE] * (corpus.timestamps is not None)
        known = ", ".join([*corpus.metadata, *more]) or "none: name some when reading, metadata=[...]"
        raise ValueError(f"the corpus has no column {column!r}; it has {known}")
    if values.dtype.kind == "M":
        return _as_years(values)
    if values.dtype.kind == "O":
        return np.array([value if value != "" else None for value in values], dtype=object)
    return values


def make_design(formula: str, corpus: Corpus, usable: np.ndarray) -> Design:
    """The design of the documents that are `usable` and have all columns; a ValueError where it cannot be used."""
    pandas = import_extra("pandas", "effects", "effects")
    parsed, columns, coded = _checked(formula)
    values = {column: column_values(corpus, column) for column in columns}
    known = usable.copy()
    for column in columns:
        known &= ~np.asarray(pandas.isna(values[column]))
    rows = np.flatnonzero(known)
    if len(rows) == 0:
        raise ValueError(f"no document has words and all of {', '.join(columns)}")
    frame = pandas.DataFrame({column: values[column][rows] for column in columns}, index=range(len(rows)))
    texts = [column for column in columns if values[column].dtype.kind == "O"]
    frame = frame.astype(dict.fromkeys(texts, "category"))  # which every version of pandas and formulaic takes for one
    factors = frozenset(column for column in columns if column in coded or column in texts)
    for column in sorted(factors):
        if frame[column].nunique() < 2:
            raise ValueError(
                f"{column!r} has one value only, {str(frame[column].iloc[0])!r}, among {len(rows):,} documents: "
                "leave it out of the formula"
            )
    matrix = _materialised(parsed, frame, formula)
    terms = tuple(map(str, matrix.model_spec.column_names))
    found = Design(formula, terms, np.asarray(matrix, np.float64), frame, factors, rows, matrix.model_spec)
    _check_matrix(found)
    return found


def _materialised(parsed: Any, frame: pd.DataFrame, formula: str) -> Any:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # log(0): said below
            return parsed.get_model_matrix(frame, context=_CONTEXT, na_action="ignore")
    except Exception as error:  # formulaic lets any error of a transform through
        raise ValueError(f"the formula {formula!r} cannot be used: {_first_line(error)}") from error


def _check_matrix(design: Design) -> None:
    matrix, terms = design.matrix, design.terms
    for column in np.flatnonzero(~np.isfinite(matrix).all(axis=0)):
        bad = int((~np.isfinite(matrix[:, column])).sum())
        raise ValueError(f"{terms[column]} is not a finite number for {bad:,} of {len(matrix):,} documents")
    n_documents, n_terms = matrix.shape
    if n_terms == 0:
        raise ValueError(f"the formula {design.formula!r} has no terms")
    if n_documents < n_terms + 2:
        raise ValueError(f"{n_documents:,} documents for {n_terms} terms: expected at least {n_terms + 2}")
    kept: list[np.ndarray] = []
    for term, values in zip(terms, matrix.T):  # Gram-Schmidt, so that the term that is too much can be named
        rest = values / max(float(np.linalg.norm(values)), 1e-300)
        for _ in range(2):
            for other in kept:
                rest = rest - other * (other @ rest)
        if np.linalg.norm(rest) < 1e-8:
            raise ValueError(f"the term {term} follows from the terms before it: leave one of them out of the formula")
        kept.append(rest / np.linalg.norm(rest))


# ---- reading a formula ----------------------------------------------------------------------------------------------


def _checked(formula: str) -> tuple[Any, tuple[str, ...], set[str]]:
    """The parsed formula, its columns, and those of them that C(...) makes factors."""
    if not isinstance(formula, str) or not formula.strip() or len(formula) > _LONGEST:
        raise ValueError(f"formula={formula!r:.60}: expected a formula such as '~ party + bs(year, df=5)'")
    formulaic = import_extra("formulaic", "effects", "a formula")
    try:
        parsed = formulaic.Formula(formula)
    except Exception as error:  # a syntax error of formulaic's or of Python's
        raise ValueError(f"the formula {formula!r} cannot be read: {_first_line(error)}") from error
    if not isinstance(parsed, formulaic.formula.SimpleFormula):
        raise ValueError(f"formula={formula!r}: expected one side, '~ ...'; what it explains are the topics")
    columns: dict[str, None] = {}
    coded: set[str] = set()
    for term in parsed:
        for factor in term.factors:
            if factor.eval_method.name == "LOOKUP":
                columns[factor.expr] = None
            elif factor.eval_method.name == "PYTHON":
                _read_expression(factor.expr, columns, coded)
    return parsed, tuple(columns), coded


def _read_expression(text: str, columns: dict[str, None], coded: set[str]) -> None:
    """Add the columns of a Python expression; raise where it holds anything but columns, numbers and transforms."""
    names: dict[str, str] = {}

    def alias(match: re.Match[str]) -> str:
        if not _PLAIN.fullmatch(match[1]):
            raise ValueError(f"{text}: the column {match[1]!r} cannot stand inside a transform")
        name = f"quoted_{len(names)}_"
        names[name] = match[1]
        return name

    try:
        tree = ast.parse(_QUOTED.sub(alias, text), mode="eval")
    except SyntaxError:
        raise ValueError(f"the formula's {text!r} is no expression") from None
    for node in ast.walk(tree.body):
        _check_node(node, text)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "C":
            coded |= {names.get(one.id, one.id) for one in ast.walk(node) if isinstance(one, ast.Name)}
    called = {id(node.func) for node in ast.walk(tree.body) if isinstance(node, ast.Call)}
    codings = {id(node.value) for node in ast.walk(tree.body) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree.body):
        if isinstance(node, ast.Name) and id(node) not in called | codings:
            columns[names.get(node.id, node.id)] = None


def _check_node(node: ast.AST, text: str) -> None:
    """Raise unless the node of an expression is harmless."""
    if isinstance(node, ast.Call):
        _check_call(node, text)
        return
    if isinstance(node, ast.Attribute):  # contr.treatment, and nothing else
        allowed = isinstance(node.value, ast.Name) and node.value.id == "contr" and node.attr in _CODINGS
    elif isinstance(node, ast.Constant):
        allowed = node.value is None or isinstance(node.value, bool | int | float | str)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        # of columns alone: 9**9**9 would take all memory
        power, base = node.right, ast.walk(node.left)
        small = isinstance(power, ast.Constant) and isinstance(power.value, int | float) and abs(power.value) <= 10
        allowed = small and any(isinstance(part, ast.Name) for part in base)
    else:
        harmless = (ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.keyword, ast.List, ast.Tuple, *_ARITHMETIC)
        allowed = isinstance(node, harmless)
    if allowed and isinstance(node, ast.Name):
        allowed = not node.id.startswith("__")
    if not allowed:
        raise ValueError(_refused(text))


def _check_call(node: ast.Call, text: str) -> None:
    if isinstance(node.func, ast.Attribute):
        return  # checked by itself
    if not isinstance(node.func, ast.Name) or node.func.id not in _TRANSFORMS:
        raise ValueError(_refused(text))
    if any(word.arg is None or word.arg.startswith("_") for word in node.keywords):
        raise ValueError(_refused(text))
    if node.func.id in _SPLINES:
        sizes = [*node.args, *(word.value for word in node.keywords if word.arg in ("df", "degree"))]
        for size in sizes:
            if isinstance(size, ast.Constant) and not (isinstance(size.value, int) and 0 < size.value <= _MOST_DF):
                raise ValueError(f"{text}: expected whole numbers from 1 to {_MOST_DF} as df and degree")
            if isinstance(size, ast.BinOp | ast.UnaryOp) and not any(isinstance(n, ast.Name) for n in ast.walk(size)):
                raise ValueError(_refused(text))


def _refused(text: str) -> str:
    return (
        f"the formula's {text!r} is not allowed: expected columns, numbers, + - * / ** and "
        f"{', '.join(_TRANSFORMS)}, contr.treatment"
    )


def _first_line(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0] or type(error).__name__
    return re.sub(r"\x1b\[[0-9;]*m", "", first)


def _as_years(dates: np.ndarray) -> np.ndarray:
    """Dates as years: the first of July 2008 is about 2008.5."""
    years = dates.astype("datetime64[Y]")
    start, end = (day.astype("datetime64[s]") for day in (years, years + 1))
    share = (dates.astype("datetime64[s]") - start) / (end - start)
    known = ~np.isnat(dates)
    return np.where(known, np.where(known, years.astype(np.int64), 0) + 1970 + np.where(known, share, 0), np.nan)

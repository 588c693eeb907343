"""Design matrix from a formula and the metadata of a corpus, with formulaic."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.extras import import_extra
from ..errors import InputError
from .formula import ParsedFormula, first_line, read_formula

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Design", "column_values", "make_design"]

DATE, LABELS = "date", "labels"
_CONTEXT = {"sqrt": np.sqrt, "abs": np.abs}
_MOST_TERMS = 2000
_LARGEST_VALUE = 1e100  # of a term, and 1e-100 the smallest: their squares are used


@dataclass(frozen=True, eq=False)
class Design:
    """A design matrix, and the means to compute its rows for other values.

    Attributes
    ----------
    formula : str
    terms : tuple of str
        Names of the columns.
    matrix : ndarray of shape (n_rows, n_terms)
    frame : DataFrame
        The columns of the corpus that the formula uses, one row per document used.
    factors : frozenset of str
        The columns among them that are categories.
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
        """Raise a ValueError unless the formula uses the column."""
        if column not in self.frame.columns:
            columns_used = ", ".join(self.frame.columns) or "no column"
            raise InputError(f"the formula {self.formula!r} does not use {column!r}; it uses {columns_used}")

    def levels(self, column: str) -> list[Any]:
        """The values of a factor, in order."""
        return sorted(self.frame[column].unique().tolist())

    def checked_value(self, column: str, value: Any) -> Any:
        """A value of a column in the form of the design: a level of a factor, or a number; otherwise a ValueError."""
        self.check_column(column)
        if column not in self.factors:
            try:
                return float(value)
            except (TypeError, ValueError, OverflowError):  # of float()
                raise InputError(f"{column!r} is numeric: expected a number, not {value!r}") from None
        levels = self.levels(column)
        match = next((level for level in levels if str(level) == str(value)), None)
        if match is None:
            shown = ", ".join(map(str, levels[:12])) + (", ..." if len(levels) > 12 else "")
            raise InputError(f"{column!r} has no value {value!r} among the documents used; it has {shown}")
        return match

    def typical(self, at: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The mean of each numeric column and the most frequent value of each factor; `at` overrides them."""
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


def column_values(corpus: Corpus, column: str) -> np.ndarray:
    """The values of a column: numbers, NaN if one is missing, or strings, None if one is missing.

    'labels' is the label of each document, at most one; 'date' is its timestamp. Dates are years, such as 2008.5.
    """
    if column in corpus.metadata:
        values = corpus.metadata[column]
    elif column == LABELS and corpus.labels is not None:
        values = corpus.label_array().astype(object)
    elif column == DATE and corpus.timestamps is not None:
        values = corpus.timestamps
    else:
        more = [LABELS] * (corpus.labels is not None) + [DATE] * (corpus.timestamps is not None)
        columns = ", ".join([*corpus.metadata, *more]) or "none: name the columns to keep when reading, metadata=[...]"
        raise InputError(f"the corpus has no column {column!r}; it has {columns}")
    if values.dtype.kind == "M":
        return _as_years(values)
    if values.dtype.kind == "O":
        return np.array([value if value != "" else None for value in values], dtype=object)
    return values


def make_design(formula: str, corpus: Corpus, usable: np.ndarray) -> Design:
    """The design of the documents that are `usable` and have values in all columns, or a ValueError."""
    pandas = import_extra("pandas", "effects", "effects")
    parsed_formula = read_formula(formula)
    columns = parsed_formula.columns
    values = {column: column_values(corpus, column) for column in columns}
    usable_rows = usable.copy()
    for column in columns:
        usable_rows &= ~np.asarray(pandas.isna(values[column]))
    rows = np.flatnonzero(usable_rows)
    if len(rows) == 0:
        raise InputError(f"no document has words and a value for each of {', '.join(columns)}")
    frame = pandas.DataFrame({column: values[column][rows] for column in columns}, index=range(len(rows)))
    texts = [column for column in columns if values[column].dtype.kind == "O"]
    frame = frame.astype(dict.fromkeys(texts, "category"))  # works in every version of pandas and formulaic
    factors = frozenset(column for column in columns if column in parsed_formula.coded or column in texts)
    for column in sorted(factors):
        if frame[column].nunique() < 2:
            raise InputError(
                f"{column!r} has only one value, {str(frame[column].iloc[0])!r}, among {len(rows):,} documents: "
                "leave it out of the formula"
            )
    _check_width(parsed_formula, frame, factors)
    matrix = _materialised(parsed_formula.parsed, frame, formula)
    terms = tuple(map(str, matrix.model_spec.column_names))
    design = Design(formula, terms, np.asarray(matrix, np.float64), frame, factors, rows, matrix.model_spec)
    _check_matrix(design)
    return design


def _check_width(formula: ParsedFormula, frame: pd.DataFrame, factors: frozenset[str]) -> None:
    """Raise a ValueError if factors have too many values for the number of documents, before a matrix is made."""
    total = 0
    for term in formula.parsed:
        width = 1
        for factor in term.factors:
            for column in factors & set(formula.columns_of.get(factor.expr, ())):
                width *= frame[column].nunique() - 1
        total += width
    if total > min(len(frame) - 2, _MOST_TERMS):
        most = f", and at most {_MOST_TERMS:,} terms" if total > _MOST_TERMS else ""
        raise InputError(
            f"{len(frame):,} documents for {total:,} terms or more: expected more documents than terms{most}"
        )


def _materialised(parsed: Any, frame: pd.DataFrame, formula: str) -> Any:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # log(0): reported below
            return parsed.get_model_matrix(frame, context=_CONTEXT, na_action="ignore")
    except Exception as error:  # of the user's formula: formulaic lets any error of a transform through
        raise InputError(f"the formula {formula!r} cannot be used: {first_line(error)}") from error


def _check_matrix(design: Design) -> None:
    matrix, terms = design.matrix, design.terms
    for column in np.flatnonzero(~np.isfinite(matrix).all(axis=0)):
        bad = int((~np.isfinite(matrix[:, column])).sum())
        raise InputError(f"{terms[column]} is not a finite number for {bad:,} of {len(matrix):,} documents")
    for term, largest in zip(terms, np.abs(matrix).max(axis=0, initial=0)):
        if largest and not 1 / _LARGEST_VALUE < largest < _LARGEST_VALUE:
            raise InputError(f"{term} has values up to {largest:g}: choose a unit in which they are nearer to 1")
    n_documents, n_terms = matrix.shape
    if n_terms == 0:
        raise InputError(f"the formula {design.formula!r} has no terms")
    if n_documents < n_terms + 2:
        raise InputError(f"{n_documents:,} documents for {n_terms} terms: expected at least {n_terms + 2}")
    basis: list[np.ndarray] = []
    for term, values in zip(terms, matrix.T):  # Gram-Schmidt, so that the redundant term can be named
        residual = values / max(float(np.linalg.norm(values)), 1e-300)
        for _ in range(2):
            for other in basis:
                residual = residual - other * (other @ residual)
        if np.linalg.norm(residual) < 1e-8:
            raise InputError(f"the term {term} is determined by the terms before it: leave out one of them")
        basis.append(residual / np.linalg.norm(residual))


def _as_years(dates: np.ndarray) -> np.ndarray:
    """Dates as years: 1 July 2008 is about 2008.5."""
    years = dates.astype("datetime64[Y]")
    start, end = (day.astype("datetime64[s]") for day in (years, years + 1))
    share = (dates.astype("datetime64[s]") - start) / (end - start)
    dated = ~np.isnat(dates)
    return np.where(dated, np.where(dated, years.astype(np.int64), 0) + 1970 + np.where(dated, share, 0), np.nan)

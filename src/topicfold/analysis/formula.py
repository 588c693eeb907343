"""Parse a formula, which may come from an untrusted source.

formulaic evaluates Python expressions in formulas. So each expression is checked first: it may contain only columns,
numbers, arithmetic and a short list of transforms.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..engine.extras import import_extra
from ..errors import InputError

__all__ = ["ParsedFormula", "first_line", "formula_columns", "read_formula"]

_SPLINES = ("bs", "cr", "cs", "cc", "poly")
_TRANSFORMS = (*_SPLINES, "center", "scale", "C", "I", "log", "log2", "log10", "exp", "sqrt", "abs")
_CODINGS = ("treatment", "sum", "helmert", "diff", "poly")
_LONGEST = 1000  # maximum number of characters of a formula
_MOST_DF = 100  # maximum degrees of freedom of a spline
_MOST_TERMS, _MOST_PRODUCTS = 40, 5
_QUOTED = re.compile(r"`([^`]*)`")
_PLAIN = re.compile(r"[\w .:/%#-]+")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UAdd, ast.USub)


class _TooLarge(Exception):
    """A formula whose terms would take too long to list."""


def formula_columns(formula: str) -> tuple[str, ...]:
    """The columns that a formula uses, in order, or a ValueError that says what is wrong with it.

    >>> formula_columns("~ party + bs(year, df=5)")
    ('party', 'year')
    """
    return read_formula(formula).columns


class ParsedFormula(NamedTuple):
    """The parsed formula, the columns of each of its factors, and the columns that C(...) turns into categories."""

    parsed: Any
    columns_of: dict[str, tuple[str, ...]]  # by the text of the factor
    coded: frozenset[str]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in order."""
        return tuple(dict.fromkeys(column for columns in self.columns_of.values() for column in columns))


def read_formula(formula: str) -> ParsedFormula:
    """The formula, parsed and checked, or a ValueError that says what is wrong with it."""
    if not isinstance(formula, str) or not formula.strip() or len(formula) > _LONGEST:
        raise InputError(f"formula={formula!r:.60}: expected a formula such as '~ party + bs(year, df=5)'")
    formulaic = import_extra("formulaic", "effects", "a formula")
    try:
        _check_size(formulaic.parser.DefaultFormulaParser().get_tokens(formula))
        parsed = formulaic.Formula(formula)
    except _TooLarge as error:
        raise InputError(f"the formula {formula!r} {error}") from None
    except Exception as error:  # formulaic does not document what it raises for a formula that it cannot read
        raise InputError(f"the formula {formula!r} cannot be read: {first_line(error)}") from error
    if not isinstance(parsed, formulaic.formula.SimpleFormula):
        raise InputError(f"formula={formula!r}: expected only a right-hand side, '~ ...': topics are the left side")
    columns_of: dict[str, tuple[str, ...]] = {}
    coded: set[str] = set()
    for term in parsed:
        for factor in term.factors:
            if factor.eval_method.name == "LOOKUP":
                columns_of[factor.expr] = (factor.expr,)
            elif factor.eval_method.name == "PYTHON":
                columns_of[factor.expr] = _expression_columns(factor.expr, coded)
    return ParsedFormula(parsed, columns_of, frozenset(coded))


def _check_size(tokens: Iterable[Any]) -> None:
    """Raise an error if a formula would expand to too many terms, before it is expanded."""
    operators = [str(token.token) for token in tokens if token.kind.name == "OPERATOR"]
    if "**" in operators or "^" in operators:
        raise _TooLarge("has a power of terms: write interactions as a * b, and powers of numbers as I(a ** 2)")
    if sum(name not in ("+", "-", "~") for name in operators) > _MOST_PRODUCTS or len(operators) > _MOST_TERMS:
        raise _TooLarge(f"is too large: expected at most {_MOST_TERMS} terms and {_MOST_PRODUCTS} operators * and :")


def _expression_columns(text: str, coded: set[str]) -> tuple[str, ...]:
    """The columns of a Python expression, or an error if it has anything but columns, numbers and transforms."""
    names: dict[str, str] = {}

    def alias(match: re.Match[str]) -> str:
        if not _PLAIN.fullmatch(match[1]):
            raise InputError(f"{text}: the column {match[1]!r} cannot be used inside a transform")
        name = f"quoted_{len(names)}_"
        names[name] = match[1]
        return name

    try:
        tree = ast.parse(_QUOTED.sub(alias, text), mode="eval")
    except SyntaxError:
        raise InputError(f"{text!r} in the formula is not an expression") from None
    for node in ast.walk(tree.body):
        _check_node(node, text)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "C":
            coded |= {
                names.get(argument.id, argument.id) for argument in ast.walk(node) if isinstance(argument, ast.Name)
            }
    called = {id(node.func) for node in ast.walk(tree.body) if isinstance(node, ast.Call)}
    codings = {id(node.value) for node in ast.walk(tree.body) if isinstance(node, ast.Attribute)}
    return tuple(
        names.get(node.id, node.id)
        for node in ast.walk(tree.body)
        if isinstance(node, ast.Name) and id(node) not in called | codings
    )


def _check_node(node: ast.AST, text: str) -> None:
    """Raise a ValueError unless the node of an expression is harmless."""
    if isinstance(node, ast.Call):
        _check_call(node, text)
        return
    if isinstance(node, ast.Attribute):  # contr.treatment, and nothing else
        allowed = isinstance(node.value, ast.Name) and node.value.id == "contr" and node.attr in _CODINGS
    elif isinstance(node, ast.Constant):
        allowed = node.value is None or isinstance(node.value, bool | int | float | str)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        # only powers of columns: 9**9**9 would use up all memory
        power, base = node.right, ast.walk(node.left)
        small = isinstance(power, ast.Constant) and isinstance(power.value, int | float) and abs(power.value) <= 10
        allowed = small and any(isinstance(part, ast.Name) for part in base)
    else:
        harmless = (ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.keyword, ast.List, ast.Tuple, *_ARITHMETIC)
        allowed = isinstance(node, harmless)
    if allowed and isinstance(node, ast.Name):
        allowed = not node.id.startswith("__")
    if not allowed:
        raise InputError(_refused(text))


def _check_call(node: ast.Call, text: str) -> None:
    if isinstance(node.func, ast.Attribute):
        return  # checked separately
    if not isinstance(node.func, ast.Name) or node.func.id not in _TRANSFORMS:
        raise InputError(_refused(text))
    if any(word.arg is None or word.arg.startswith("_") for word in node.keywords):
        raise InputError(_refused(text))
    if node.func.id in _SPLINES:
        sizes = [*node.args, *(word.value for word in node.keywords if word.arg in ("df", "degree"))]
        for size in sizes:
            if isinstance(size, ast.Constant) and not (isinstance(size.value, int) and 0 < size.value <= _MOST_DF):
                raise InputError(f"{text}: expected whole numbers from 1 to {_MOST_DF} as df and degree")
            if isinstance(size, ast.BinOp | ast.UnaryOp) and not any(isinstance(n, ast.Name) for n in ast.walk(size)):
                raise InputError(_refused(text))


def _refused(text: str) -> str:
    return (
        f"{text!r} is not allowed in a formula: expected columns, numbers, + - * / ** and "
        f"{', '.join(_TRANSFORMS)}, contr.treatment"
    )


def first_line(error: Exception) -> str:
    """The first line of an error, without colours."""
    first = str(error).strip().partition("\n")[0] or type(error).__name__
    return re.sub(r"\x1b\[[0-9;]*m", "", first)

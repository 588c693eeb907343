"""Checks of the data about documents: ids, titles, labels and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from narwhals.exceptions import NarwhalsError

from ..engine.arrays import checked_sparse, with_small_indices
from ..engine.extras import import_extra
from ..engine.warn import warn_user
from ..errors import InputError

__all__ = [
    "as_frame",
    "as_id",
    "as_ids",
    "as_label_tuple",
    "as_labels",
    "as_links",
    "as_text",
    "as_title",
    "as_titles",
    "check_texts",
    "check_unique",
    "checked_counts",
    "checked_text",
    "is_missing",
]

_FEW_LINKS = 0.05  # links found per link not found: at or below this, a cell probably contains several ids


def as_frame(data: Any) -> Any:
    """A data frame or column of any library as one of narwhals; anything else is returned unchanged.

    Narwhals knows the libraries. Others are read as Arrow: datasets of Hugging Face, and what has `__arrow_c_stream__`.
    """
    data = _rows_of_dataset(data)
    try:
        frame = nw.from_native(data, allow_series=True, pass_through=True)
    except NarwhalsError as error:  # two columns with one name, for example
        raise _unusable_frame(error) from None
    return _rows_of_stream(data) if frame is data and hasattr(data, "__arrow_c_stream__") else frame


def _rows_of_stream(data: Any) -> nw.DataFrame[Any]:
    """The rows of an object of the Arrow PyCapsule interface."""
    import_extra("pyarrow", "parquet", f"reading a {type(data).__name__}")
    try:
        return nw.from_arrow(data, backend="pyarrow")
    except (NarwhalsError, ValueError, TypeError, NotImplementedError) as error:  # a stream of columns, for example
        raise _unusable_frame(error) from None


def _unusable_frame(error: Exception) -> InputError:
    return InputError(f"the data frame cannot be used: {' '.join(str(error).split())}")


def _rows_of_dataset(data: Any) -> Any:
    """A dataset of Hugging Face as an Arrow table; anything else is returned unchanged."""
    kind = type(data)
    if kind.__module__.partition(".")[0] != "datasets":
        return data
    if isinstance(data, Mapping):
        splits = ", ".join(map(repr, data))[:200]
        raise InputError(f"a {kind.__name__} has several datasets: pass one of its splits, dataset[...]: {splits}")
    if kind.__name__ == "IterableDataset":
        raise InputError("an IterableDataset can be read only in order: pass a Dataset, loaded without streaming=True")
    return _with_class_names(data.with_format("arrow")[:], data.features) if kind.__name__ == "Dataset" else data


def _with_class_names(table: Any, features: Mapping[str, Any]) -> Any:
    """A table of Hugging Face with the names of classes instead of their numbers, of which -1 is a missing one."""
    arrow = import_extra("pyarrow", "parquet", "reading a Dataset")
    for place, (name, feature) in enumerate(features.items()):
        if type(feature).__name__ == "ClassLabel" and feature.names:
            names = arrow.array([*feature.names, None])
            classes = [len(feature.names) if number in (None, -1) else number for number in table[name].to_pylist()]
            table = table.set_column(place, name, names.take(arrow.array(classes)))
    return table


def check_texts(texts: Any) -> None:
    """Raise if what should be a list of texts is something else that can be iterated over."""
    if isinstance(texts, str):
        raise InputError("texts is one string: pass a list of texts, or Corpus.read(path) for a file")
    if isinstance(texts, Mapping):
        raise InputError("texts is a mapping: pass a list of texts, such as list(texts.values())")
    frame = as_frame(texts)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise InputError('texts is a data frame: pass one of its columns, or use Corpus.from_frame(frame, text="...")')


def check_unique(kind: str, values: Sequence[str]) -> None:
    if isinstance(values, tuple):
        several = len(set(values)) < len(values)
    else:  # strings in a file: compare their hashes, to save memory; two strings with the same hash are most unlikely
        several = len(np.unique(np.fromiter(map(hash, values), np.int64, len(values)))) < len(values)
    if several:
        earlier: set[str] = set()
        for value in values:
            if value in earlier:
                raise InputError(f"the {kind} {value!r} occurs more than once: expected each {kind} only once")
            earlier.add(value)


def checked_text(text: Any, number: int) -> str | Sequence[str]:
    if is_missing(text):
        return ""
    if isinstance(text, str) or (isinstance(text, list | tuple) and all(isinstance(part, str) for part in text)):
        return text
    raise InputError(f"text {number} is {text!r:.40}: expected a string, or a list of strings")


def as_text(value: Any) -> str:
    """A cell as text. 2.0 becomes '2': whole numbers become floats if a value is missing in their column."""
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)


def as_id(value: Any) -> str:
    if is_missing(value):
        raise InputError("a document has no id: expected one per document, or none at all")
    return as_text(value)


def as_ids(ids: Iterable[Any] | None) -> tuple[str, ...]:
    def checked_id(number: int, value: Any) -> str:
        if is_missing(value):
            raise InputError(f"document {number} has no id: expected one per document, or none at all")
        return as_text(value)

    return () if ids is None else tuple(checked_id(number, value) for number, value in enumerate(ids))


def as_title(value: Any) -> str:
    return "" if is_missing(value) else str(value)


def as_titles(titles: Iterable[Any] | None) -> tuple[str, ...] | None:
    return None if titles is None else tuple(map(as_title, titles))


def as_label_tuple(value: Any) -> tuple[str, ...]:
    if is_missing(value):
        return ()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(as_text(item) for item in value if not is_missing(item))
    return (as_text(value),)


def as_labels(labels: Iterable[Any] | None) -> tuple[tuple[str, ...], ...] | None:
    if labels is None:
        return None
    shared: dict[str, str] = {}  # one string object per distinct label, however many documents carry it
    return tuple(tuple(shared.setdefault(label, label) for label in as_label_tuple(value)) for value in labels)


def is_missing(value: Any) -> bool:
    """Whether a value is None, an empty string, or the missing value of a data frame (NaN, NaT, NA)."""
    if value is None or isinstance(value, str):
        return not value
    if isinstance(value, list | tuple | np.ndarray):
        return False
    try:
        return bool(value != value)  # NaN and NaT are not equal to themselves
    except TypeError:  # pandas.NA has no truth value
        return True


def as_links(links: Iterable[tuple[Any, Any]] | None, ids: Sequence[str]) -> np.ndarray | None:
    if links is None:
        return None
    row = {name: index for index, name in enumerate(ids)}
    pairs, outside, example = [], 0, None
    for source, target in links:
        ends = (row.get(as_text(source), -1), row.get(as_text(target), -1))
        if min(ends) >= 0:
            pairs.append(ends)
        else:
            outside += 1
            example = target if ends[1] < 0 else source
    if outside:
        hint = ""
        if len(pairs) <= _FEW_LINKS * outside and isinstance(example, str):
            hint = f"; one is {example!r:.60}: if it contains several ids, set separator="
        n_links = outside + len(pairs)
        warn_user(f"{outside:,} of {n_links:,} links point to ids that are not in the corpus and are left out{hint}")
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def checked_counts(counts: Any) -> sp.csr_array:
    if sp.issparse(counts):
        counts = checked_sparse(counts)
    else:
        counts = np.asarray(counts)
        if counts.dtype.kind not in "biuf":
            raise InputError(f"counts of type {counts.dtype}: expected numbers")
    matrix = sp.csr_array(counts)
    if matrix.ndim != 2 or matrix.shape[0] == 0 or matrix.shape[1] == 0:
        raise InputError(f"counts of shape {matrix.shape}: expected documents x words, at least one of each")
    matrix = with_small_indices(matrix)
    matrix = matrix.astype(np.int64) if matrix.dtype.kind in "biu" else matrix.astype(np.float64)
    matrix.sum_duplicates()
    values = matrix.data
    bad = ~np.isfinite(values) | (values < 0) | (values != np.floor(values))
    if bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise InputError(
            f"counts[{row}, {int(matrix.indices[at])}] is {values[at]:g}: expected non-negative whole numbers"
        )
    if values.size and values.max() > np.iinfo(np.int32).max:
        raise InputError(f"the count {values.max():g} is too large: expected less than 2**31")
    matrix = matrix.astype(np.int32)
    matrix.eliminate_zeros()
    return matrix

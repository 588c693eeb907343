"""The columns of a table that are read, by what they are used for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import InputError

__all__ = ["Columns"]


class Columns(NamedTuple):
    """The columns of a file or frame that are read, by name."""

    text: str | tuple[str, ...] = "text"  # several are joined by a blank line
    id: str | None = None
    title: str | None = None
    labels: str | None = None
    links: str | None = None
    timestamp: str | None = None
    metadata: tuple[str, ...] = ()
    separator: str | None = None  # what separates several labels or links in one cell
    date_format: str | None = None
    strict_dates: bool = False

    def names(self) -> list[str]:
        """All columns that are set."""
        single: tuple[Any, ...] = (*self.text_names(), self.id, self.title, self.labels, self.links, self.timestamp)
        for name in (*single, *self.metadata):
            if not isinstance(name, Hashable):
                raise InputError(f"{name!r:.60} is not the name of a column: expected one name")
        return list(dict.fromkeys([*filter(_is_name, single), *self.metadata]))

    def roles(self) -> list[tuple[str, str]]:
        """What each column that is set is used for: (role, name)."""
        single = [(role, getattr(self, role)) for role in ("id", "title", "labels", "links", "timestamp")]
        roles = [
            *single,
            *(("metadata", name) for name in self.metadata),
            *(("text", name) for name in self.text_names()),
        ]
        return [(role, str(name)) for role, name in roles if _is_name(name)]

    def to_json(self) -> dict[str, Any]:
        """The columns that are set and how to read them, as plain values."""
        defaults = Columns()._asdict()
        changed = {name: value for name, value in self._asdict().items() if name == "text" or value != defaults[name]}
        return {name: _plain(value) for name, value in changed.items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Columns:
        """The columns that `to_json` described; an InputError if they are something else."""
        if not isinstance(values, Mapping) or not values.keys() <= set(cls._fields):
            raise InputError(f"columns={values!r:.60}: expected {', '.join(cls._fields)}")
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        columns = cls(**fields)
        names = (*columns.text_names(), columns.id, columns.title, columns.labels, columns.links, columns.timestamp)
        plain = (*columns.metadata, columns.separator, columns.date_format)
        if not all(name is None or isinstance(name, str) for name in (*names, *plain)):
            raise InputError(f"columns={values!r:.60}: expected names of columns")
        return columns

    @classmethod
    def as_fitted(
        cls, fitted: Mapping[str, Any] | None, names: Sequence[str] | None, named: Mapping[str, Any]
    ) -> Columns:
        """The columns that are `named`, and for the others those of a fit (see `to_json`), if the file has them.

        `names` are the columns of the file, None if they are not known: then only the text is read as in the fit.
        """
        remembered = cls() if fitted is None else cls.from_json(fitted)
        values: dict[str, Any]
        if names is None:
            values = {name: getattr(remembered, name) for name in ("text", "separator", "date_format")}
        else:
            values = remembered._asdict()
            for role in ("id", "title", "labels", "links", "timestamp"):
                values[role] = values[role] if values[role] in names else None
            values["metadata"] = tuple(name for name in remembered.metadata if name in names)
            missing = [name for name in remembered.text_names() if name not in names]
            if fitted is not None and names and missing and "text" not in named:
                raise InputError(
                    f"there is no column {missing[0]!r:.60}, which had the texts in the fit; the columns are: "
                    f"{', '.join(names)}; name another one with text= (--text)"
                )
        values |= named
        if names is not None and "metadata" in named:
            values["metadata"] = tuple(dict.fromkeys([*named["metadata"], *values["metadata"]]))
        return cls(**values)

    def text_names(self) -> tuple[str, ...]:
        """The columns with texts."""
        return self.text if isinstance(self.text, tuple) else (self.text,)


def _plain(value: Any) -> Any:
    """One or several names of columns, which may be numbers, as text."""
    return list(map(str, value)) if isinstance(value, tuple) else value if isinstance(value, bool) else str(value)


def _is_name(name: Any) -> bool:
    """Whether a column is named: '' means none, and 0 may be the name of a column."""
    return name is not None and name != ""

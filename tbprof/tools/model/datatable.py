"""Tables as columns: the result of a tool, and the source of JSON and CSV.

The JSON is that of the Google DataTable, which scripts for the profile plugin already read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import Notice
from tbprof.base.records import dataclass, field

# Values are fractions that are shown as percentages.
PERCENT = "0.0%"

Numbers = NDArray[np.float64] | NDArray[np.int64]
Values = Sequence[str] | Numbers | NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Numbers are float64 or int64; NaN says "not measured".

    `role` is the role of a column in Google's charts, other than data: "tooltip", "interval".
    """

    id: str
    label: str
    type: Literal["number", "string", "boolean"]
    values: Values
    pattern: str = ""
    role: str = ""

    def cells(self) -> list[object]:
        """The values [n] as Python objects, None where not measured."""
        if not isinstance(self.values, np.ndarray):
            return list(self.values)
        cells: list[object] = self.values.tolist()
        known = np.isfinite(self.values)
        if known.all():
            return cells
        return [cell if ok else None for cell, ok in zip(cells, known.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, properties of the whole table, and warnings."""

    columns: tuple[Column, ...]
    properties: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def column(self, name: str) -> Column:
        """The column of this id; KeyError if there is none."""
        for column in self.columns:
            if column.id == name:
                return column
        raise KeyError(name)


def number(id_: str, label: str, values: Numbers | Sequence[float], pattern: str = "") -> Column:
    """A numeric column."""
    return Column(id_, label, "number", np.asarray(values), pattern)


def text(id_: str, label: str, values: Sequence[str]) -> Column:
    """A column of texts."""
    return Column(id_, label, "string", values)


def boolean(id_: str, label: str, values: NDArray[np.bool_] | Sequence[bool]) -> Column:
    """A column of truth values."""
    return Column(id_, label, "boolean", np.asarray(values, np.bool_))

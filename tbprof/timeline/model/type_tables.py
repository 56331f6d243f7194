"""The distinct kinds of event of all tracks of a timeline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.groups import group_rows
from tbprof.events.strings import Strings
from tbprof.timeline.model.store import TypeTable

UNNAMED = "(unnamed)"


class TypeCollector:
    """Gathers kinds of event, by their names and category."""

    def __init__(self, strings: Strings) -> None:
        self._strings = strings
        self._unnamed = int(strings.intern([UNNAMED])[0])
        self._columns: list[tuple[NDArray[np.int64], ...]] = []
        self._targets: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []

    def add(
        self,
        rows: NDArray[np.int64],
        size: int,
        name: NDArray[np.int32],
        full_name: NDArray[np.int32],
        category: NDArray[np.uint8],
    ) -> NDArray[np.int32]:
        """[size] the rows in `table()` of some tracks' kinds: filled by `table()`, -1 until then.

        The kinds in use are `rows` [n], -1 for the last; ids of their names, -1 for none.
        """
        type_of = np.full(size, -1, np.int32)
        label = np.where(name >= 0, name, full_name)
        shown_name = np.where(self._is_empty(label), self._unnamed, label)
        full = np.where(self._is_empty(full_name), shown_name, full_name)
        self._columns.append(
            (shown_name.astype(np.int64), full.astype(np.int64), category.astype(np.int64))
        )
        self._targets.append((type_of, rows))
        return type_of

    def _is_empty(self, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        return np.array([text == "" for text in self._strings.take(ids.tolist())], np.bool_)

    def table(self) -> TypeTable:
        """All kinds in the order in which they were added; completes what `add` has returned."""
        if not self._columns:
            return TypeTable([], [], np.zeros(0, np.uint8))
        columns = [np.concatenate(column) for column in zip(*self._columns, strict=True)]
        code, first = group_rows(columns)
        first_row = 0
        for type_of, rows in self._targets:
            type_of[rows] = code[first_row : first_row + rows.size]
            first_row += rows.size
        return TypeTable(
            self._strings.take(columns[0][first].tolist()),
            self._strings.take(columns[1][first].tolist()),
            columns[2][first].astype(np.uint8),
        )

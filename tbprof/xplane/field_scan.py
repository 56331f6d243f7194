"""The index of a message's fields, found by their length prefixes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.xplane.fields import FieldRows, index_fields
from tbprof.kernels.xplane.passes import FieldWalk
from tbprof.xplane.buffer import Buffer


@dataclass(frozen=True, slots=True)
class Field:
    """The fields of one message in wire order; a body is [begin, end), a scalar has begin -1."""

    number: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    value: NDArray[np.int64]
    stopped_at: int

    def bodies(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(begins, ends) of the length-delimited fields `number`."""
        rows = (self.number == number) & (self.begin >= 0)
        return self.begin[rows], self.end[rows]

    def scalar(self, number: int) -> int:
        """The last value of the scalar field `number`, 0 if it is absent."""
        rows = np.flatnonzero((self.number == number) & (self.begin < 0))
        return int(self.value[rows[-1]]) if rows.size else 0


def field_columns(
    buffer: Buffer, begin: int, end: int
) -> tuple[Field, int, tuple[int, int, int] | None]:
    """(fields of the message in [begin, end), offset of damage or -1, the field that was cut).

    The last is (field, begin, end) of a body that extends beyond the end, else None.
    """
    walk = FieldWalk(begin, end, 0)
    fields = _walk(buffer, walk, 64)
    if not walk.is_damaged:
        return fields, -1, None
    return fields, walk.at, (walk.cut_field, walk.cut_at, end) if walk.cut_field else None


def read_header(buffer: Buffer, begin: int, end: int, stop_field: int) -> Field:
    """The fields of a message before the first `stop_field`, which begins at `stopped_at`."""
    return _walk(buffer, FieldWalk(begin, end, stop_field), 8)


def _walk(buffer: Buffer, walk: FieldWalk, size: int) -> Field:
    parts: list[list[NDArray[np.int64]]] = []
    for window in buffer.along(walk):
        columns = [np.empty(size, np.int64) for _ in range(4)]
        rows = index_fields(window, walk, FieldRows(*columns))
        parts.append([column[:rows] for column in columns])
        if walk.has_ended:
            break
        size = min(size * 4, 1 << 20)
    columns = parts[0]
    if len(parts) > 1:  # few messages have so many fields
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    number, first, last, value = columns
    return Field(number, first, last, value, walk.at)

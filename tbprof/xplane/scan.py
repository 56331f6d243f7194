"""The index of a message's fields, found by their length prefixes."""

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import AT, FIELDS_CUT, FIELDS_CUT_AT, FIELDS_STOPPED
from tbprof.kernels.fields import index_fields
from tbprof.xplane.buffer import Buffer

# Slots of the state of `index_fields`, after those of every pass.

_DAMAGED = 2


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
        """The last value of the scalar field `number`, 0 where it is absent."""
        rows = np.flatnonzero((self.number == number) & (self.begin < 0))
        return int(self.value[rows[-1]]) if rows.size else 0


def field_columns(
    buffer: Buffer, begin: int, end: int
) -> tuple[Field, int, tuple[int, int, int] | None]:
    """The fields of the message in [begin, end), where it is damaged (-1: nowhere), what was cut.

    The last is (field, begin, end) of a body that is longer than what is there, else None.
    """
    fields, state = _walk(buffer, begin, end, 0, 64)
    if state[FIELDS_STOPPED] != _DAMAGED:
        return fields, -1, None
    cut = (int(state[FIELDS_CUT]), int(state[FIELDS_CUT_AT]), end) if state[FIELDS_CUT] else None
    return fields, int(state[AT]), cut


def read_header(buffer: Buffer, begin: int, end: int, stop_field: int) -> Field:
    """The fields of a message before the first `stop_field`, which begins at `stopped_at`."""
    fields, _ = _walk(buffer, begin, end, stop_field, 8)
    return fields


def _walk(
    buffer: Buffer, begin: int, end: int, stop_field: int, size: int
) -> tuple[Field, NDArray[np.int64]]:
    state = np.array([begin, 0, 0, 0, 0], np.int64)
    parts: list[list[NDArray[np.int64]]] = []
    for buf, base in buffer.along(state, end):
        columns = [np.empty(size, np.int64) for _ in range(4)]
        rows = index_fields(buf, base, state, end, stop_field, *columns)
        parts.append([column[:rows] for column in columns])
        if state[FIELDS_STOPPED]:
            break
        size = min(size * 4, 1 << 20)
    number, first, last, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Field(number, first, last, value, int(state[AT])), state

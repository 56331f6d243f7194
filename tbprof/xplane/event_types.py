"""Which type events have, by their bytes alone: for events that were decoded before."""

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.xplane.buffer import AT, REACH, Buffer
from tbprof.xplane.interning import in_file_order
from tbprof.xplane.lookup import find_row
from tbprof.xplane.metadata import Dictionary
from tbprof.xplane.parallel import in_parallel
from tbprof.xplane.wire import HEADER, VARINT, read_length, read_varint, skip_value

_PER_PASS = 1 << 16


def read_event_types(
    buffer: Buffer, dictionary: Dictionary, source: NDArray[np.int64]
) -> NDArray[np.int32]:
    """[n] the rows of the types of the events at the offsets `source` [n], -1 for none."""
    types = np.full(source.size, -1, np.int32)

    def read_part(begin: int) -> None:
        part = source[begin : begin + _PER_PASS]
        rows = in_file_order(part)
        state = np.zeros(2, np.int64)
        begins = part[rows]
        for buf, base in buffer.around(state, begins):
            find_types(
                buf, base, state, len(buffer), begins, rows + begin,
                dictionary.keys, dictionary.rows, types,
            )  # fmt: skip

    in_parallel(read_part, range(0, source.size, _PER_PASS), 16 * source.size)
    return types


@kernel
def find_types(buf, base, state, end, begins, targets, keys, rows, types):  # type: ignore[no-untyped-def]
    """Writes the types of messages, from `state[AT]` on up to the first beyond the window.

    As in the pass that decodes events, the last `metadata_id` counts, up to any damage.
    """
    end -= base
    for message in range(state[AT], begins.size):
        state[AT] = message
        at = begins[message] - base
        if at > buf.size - HEADER and end > buf.size:
            state[REACH] = base + at + HEADER
            return
        at, after = read_length(buf, at, end)
        if at >= 0 and after > buf.size:
            state[REACH] = base + after
            return
        metadata_id = np.int64(0)
        while 0 <= at < after:
            tag, value_at = read_varint(buf, at, after)
            if value_at < 0:
                break
            if tag == (1 << 3 | VARINT):
                metadata_id, at = read_varint(buf, value_at, after)
            else:
                at = skip_value(buf, value_at, after, tag & 7)
        types[targets[message]] = find_row(keys, rows, metadata_id)
    state[AT] = begins.size

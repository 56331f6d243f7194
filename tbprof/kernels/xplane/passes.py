"""Windows of a file's bytes, and the progress of passes over them."""

import cython
from cython.cimports.tbprof.kernels.types import Bytes, Ints, i64


@cython.final
@cython.cclass
class Window:
    """`size` bytes of a file that a pass can see; the first has the offset `base`."""

    def __init__(self, content: Bytes, base: i64) -> None:
        self.content = content
        self.base = base
        self.size = content.shape[0]


@cython.cclass
class Pass:
    """Where a pass continues in the next window: `at`, an offset or a row of messages.

    `end` is the offset where its input ends, `reach` the offset that its next window must reach, 0
    for any.
    """

    def __init__(self, at: i64, end: i64) -> None:
        self.at = at
        self.end = end
        self.reach = 0


@cython.final
@cython.cclass
class FieldWalk(Pass):
    """A pass over the fields of one message, up to the first numbered `stop_field`.

    It `has_ended` where that field begins (unread), at the end, or if it `is_damaged`: then `at` is
    the damaged field. If a body extends beyond `end`, `cut_field` is its number and `cut_at` its
    first byte, so that the existing part can be read.
    """

    def __init__(self, at: i64, end: i64, stop_field: i64) -> None:
        Pass.__init__(self, at, end)
        self.stop_field = stop_field
        self.has_ended = False
        self.is_damaged = False
        self.cut_field = 0
        self.cut_at = 0


@cython.final
@cython.cclass
class StatListing(Pass):
    """A pass that has `listed` this many stats, and `copied` this many bytes of texts."""

    def __init__(self, at: i64, end: i64) -> None:
        Pass.__init__(self, at, end)
        self.listed = 0
        self.copied = 0


@cython.final
@cython.cclass
class Writing:
    """The progress of a writer: it continues `at` a row, and `written` bytes are in the buffer.

    `needed` is the most room that the next row needs if it did not fit, else 0. `stamp` counts
    events, to find which stat names an event already has.
    """

    def __init__(self) -> None:
        self.at = 0
        self.written = 0
        self.needed = 0
        self.stamp = 0


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(before=i64, row=i64)
def is_ascending(offsets: Ints) -> cython.bint:
    """Whether each offset is greater than the one before, and the first is not negative."""
    with cython.nogil:
        before = -1
        for row in range(offsets.shape[0]):
            if offsets[row] <= before:
                return False
            before = offsets[row]
        return True

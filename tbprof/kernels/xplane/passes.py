"""What passes over the bytes of a file go along with: windows, and how far each pass has got."""

import cython
from cython.cimports.tbprof.kernels.types import Bytes, i64


@cython.final
@cython.cclass
class Window:
    """Bytes of a file that a pass is shown, `size` of them; the first lies at offset `base`."""

    def __init__(self, content: Bytes, base: i64) -> None:
        self.content = content
        self.base = base
        self.size = content.shape[0]


@cython.cclass
class Pass:
    """Where a pass goes on in the next window: `at`, an offset, or a row of messages.

    `end` is the offset where what it reads ends, `reach` the one that its next window has to reach,
    0 where any will do.
    """

    def __init__(self, at: i64, end: i64) -> None:
        self.at = at
        self.end = end
        self.reach = 0


@cython.final
@cython.cclass
class FieldWalk(Pass):
    """A pass over the fields of one message, up to the first numbered `stop_field`.

    It `has_ended` where that begins (left unread), at the end, or where it `is_damaged`: `at` stays
    on the damaged field. Where the length of a body runs past `end`, `cut_field` is its number and
    `cut_at` its first byte, so that the part that is there can be read.
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
    """A pass that has `listed` so many stats so far, and `copied` so many bytes of texts."""

    def __init__(self, at: i64, end: i64) -> None:
        Pass.__init__(self, at, end)
        self.listed = 0
        self.copied = 0


@cython.final
@cython.cclass
class Writing:
    """How far a writer has got: it goes on `at` a row, `written` bytes are in the buffer.

    `needed` is the room that the next row needs at most, where it did not fit, else 0; `stamp`
    counts events: which names of stats one has had.
    """

    def __init__(self) -> None:
        self.at = 0
        self.written = 0
        self.needed = 0
        self.stamp = 0

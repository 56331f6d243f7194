"""Typed key-value stats: one key as a dense column, or all stats of some messages as rows."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import ABSENT as ABSENT
from tbprof.kernels.codes import BYTES as BYTES
from tbprof.kernels.codes import DOUBLE as DOUBLE
from tbprof.kernels.codes import INT64 as INT64
from tbprof.kernels.codes import REFERENCE as REFERENCE
from tbprof.kernels.codes import TEXT as TEXT
from tbprof.kernels.codes import UINT64 as UINT64

# So many events have their stats read at once: few take little memory, and many need few calls,
# which wait for other threads.
STATS_PIECE = 1 << 16


class TextSource(Protocol):
    """Turns the raw values of text-like stats into ids of texts, and reads bytes values."""

    def text_ids(self, kind: NDArray[np.uint8], bits: NDArray[np.int64]) -> NDArray[np.int32]:
        """Ids [n] into the space's strings, -1 where the value is not a text."""

    def bytes_at(self, bits: int) -> memoryview:
        """The content of one bytes value; that of a file in memory is not copied."""


@dataclass(frozen=True, slots=True)
class StatColumn:
    """The values of one key for n events (or types); values of one name may differ in kind."""

    kind: NDArray[np.uint8]
    bits: NDArray[np.int64]
    source: TextSource

    @property
    def is_present(self) -> NDArray[np.bool_]:
        """[n] whether the key has a value, which may be 0."""
        return np.not_equal(self.kind, ABSENT)

    @property
    def is_integer(self) -> NDArray[np.bool_]:
        """[n] whether the value is a signed or unsigned integer."""
        return np.asarray((self.kind == INT64) | (self.kind == UINT64))

    def integers(self, default: int = 0) -> NDArray[np.int64]:
        """[n] the integers; the low 64 bits, so that int64 and uint64 spellings of an id agree."""
        return np.where(self.is_integer, self.bits, np.int64(default))

    def numbers(self, default: float = np.nan) -> NDArray[np.float64]:
        """[n] integers and doubles as float64, `default` where the value is not a number."""
        out = np.full(self.kind.size, default, np.float64)
        double = self.kind == DOUBLE
        out[double] = self.bits[double].view(np.float64)
        signed = self.kind == INT64
        out[signed] = self.bits[signed]
        unsigned = self.kind == UINT64
        out[unsigned] = self.bits[unsigned].view(np.uint64)
        return out

    def texts(self) -> NDArray[np.int32]:
        """[n] ids into the space's strings, -1 where the value is not a text."""
        return self.source.text_ids(self.kind, self.bits)

    def blob(self, row: int) -> bytes | None:
        """The content of a bytes (or text) value, None if it is neither."""
        content = self.view(row)
        return None if content is None else content.tobytes()

    def view(self, row: int) -> memoryview | None:
        """The same without a copy: it keeps the file in memory."""
        if self.kind[row] not in (BYTES, TEXT):
            return None
        return self.source.bytes_at(int(self.bits[row]))


@dataclass(frozen=True, slots=True)
class StatRows:
    """Every stat with a value of n events (or types), one row each.

    Rows `begin[i]:end[i]` are those of event i, in file order. `name` [m] are rows of `names`, -1
    for a stat whose name is not in the file; `names` [k] are ids into the space's strings. `bits`
    [m] are the 64 bits of the value; for a REFERENCE its row in `names` (or -1); for a TEXT its
    offset in `content`, which holds the raw bytes of texts, valid UTF-8 or not. `size` [m] is the
    length of a TEXT or BYTES in bytes.
    """

    names: NDArray[np.int32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    name: NDArray[np.int32]
    kind: NDArray[np.uint8]
    bits: NDArray[np.int64]
    size: NDArray[np.int64]
    content: NDArray[np.uint8]

    def __len__(self) -> int:
        return int(self.kind.size)

    def text(self, row: int) -> str:
        """The TEXT of a row, with U+FFFD for invalid UTF-8."""
        begin = int(self.bits[row])
        return (
            self.content[begin : begin + int(self.size[row])].tobytes().decode("utf-8", "replace")
        )

"""Stats that are read in the pass that decodes events, since all events need them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import HAS_RARE, IS_ODD


@dataclass(frozen=True, slots=True)
class MarkNames:
    """Integer stats that are read in the pass that decodes the events of some lines.

    `number` is usually small and not negative; "" for none. `flags`, at most `MOST_FLAGS`, are only
    compared with 0. `rare` stats are those that few events have.
    """

    number: str
    flags: tuple[str, ...]
    rare: tuple[str, ...]


@dataclass(slots=True)
class EventMarks:
    """The events' own stats that were read while decoding; `bits` [n] are those of `codes`.

    `number` [n] is -1 for none, and empty if it was not requested.
    """

    names: MarkNames
    number: NDArray[np.int32]
    bits: NDArray[np.uint8]

    def is_set(self, flag: str) -> NDArray[np.bool_]:
        """[n] whether a flag is not 0; unknown for odd rows."""
        bit = 1 << self.names.flags.index(flag)
        return (self.bits & bit).astype(np.bool_)

    def odd_rows(self, *, or_rare: bool = False) -> NDArray[np.int64]:
        """The rows whose stats must be read separately, since they are encoded unusually."""
        # The two highest bits; `flatnonzero` is fast on masks only.
        return np.flatnonzero(self.bits >= (HAS_RARE if or_rare else IS_ODD))

    def take_number(self) -> NDArray[np.int32] | None:
        """The numbers, once: the column is large, and the caller may change it."""
        number, self.number = self.number, np.empty(0, np.int32)
        return number if number.size == self.bits.size else None

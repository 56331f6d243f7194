"""Stats that are read on the way, in the pass that decodes events: those that are asked of all."""

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import HAS_RARE, IS_ODD


@dataclass(frozen=True, slots=True)
class MarkNames:
    """Integer stats that are read on the way, in the pass that decodes the events of some lines.

    `number` is small and not negative as a rule, "" for none; of `flags`, at most `MOST_FLAGS`, it
    matters whether they are 0; `rare` ones are looked for where few events have them.
    """

    number: str
    flags: tuple[str, ...]
    rare: tuple[str, ...]


@dataclass(slots=True)
class EventMarks:
    """What was read on the way of the events' own stats; `bits` [n] are those of `codes`.

    `number` [n] is -1 where there is none, and empty where it was not asked for.
    """

    names: MarkNames
    number: NDArray[np.int32]
    bits: NDArray[np.uint8]

    def is_set(self, flag: str) -> NDArray[np.bool_]:
        """[n] whether a flag is not 0, as far as is known: of odd rows it is not."""
        bit = 1 << self.names.flags.index(flag)
        return (self.bits & bit).astype(np.bool_)

    def odd_rows(self, *, or_rare: bool = False) -> NDArray[np.int64]:
        """The rows whose stats have to be read, for they are not written as most are."""
        return np.flatnonzero(self.bits & (IS_ODD | HAS_RARE if or_rare else IS_ODD))

    def take_number(self) -> NDArray[np.int32] | None:
        """The numbers, once: a column is large, and whoever has it may change it."""
        number, self.number = self.number, np.empty(0, np.int32)
        return number if number.size == self.bits.size else None

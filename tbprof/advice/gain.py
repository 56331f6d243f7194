"""How much shorter a step may become, and which phases that time comes from."""

from __future__ import annotations

from collections.abc import Mapping

from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass, field
from tbprof.base.values import sum_of


@dataclass(frozen=True, slots=True)
class Gain:
    """The most that a step could be shortened by; None if unknown.

    `ratio` is the same as a fraction of the step. `taken` is the percentage of step time from each
    phase, where other findings could promise the same time. `shared` is the percentage that is left
    out because earlier findings promise it.
    """

    ms: float | None
    ratio: float | None
    taken: Mapping[Phase, float] = field(default_factory=dict)
    shared: float = 0.0

    @property
    def own(self) -> float:
        """The percentage of step time that this finding promises and no other does."""
        return sum_of(self.taken.values())


UNKNOWN_GAIN = Gain(None, None)

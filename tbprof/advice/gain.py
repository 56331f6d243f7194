"""What a step may be shorter by, and the time of which phases that is."""

from collections.abc import Mapping

from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass, field
from tbprof.base.values import sum_of


@dataclass(frozen=True, slots=True)
class Gain:
    """The most that a step would be shorter by; None where that is not known.

    `ratio` is the same as a part of the step. `taken` is how many percent of the step's time it is
    of each phase, where other findings may be about the same time: no two promise it. `shared` is
    the percentage that it lacks because findings before it promise that.
    """

    ms: float | None
    ratio: float | None
    taken: Mapping[Phase, float] = field(default_factory=dict)
    shared: float = 0.0

    @property
    def own(self) -> float:
        """The percentage of the step's time that no other finding promises."""
        return sum_of(self.taken.values())


UNKNOWN_GAIN = Gain(None, None)

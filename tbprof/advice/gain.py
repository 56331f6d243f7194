"""How much shorter a step may become, and which phases that time comes from."""

from collections.abc import Mapping

from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass, field
from tbprof.base.values import sum_of


@dataclass(frozen=True, slots=True)
class Gain:
    """The most that a step could be shortened by; None if unknown.

    `ratio` is the same as a fraction of the step. `taken` is how many percent of step time come
    from each phase, for time that other findings may be about: no two promise it. `shared` is the
    percentage that is missing because earlier findings promise it.
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

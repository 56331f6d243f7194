"""What a finding is."""

import math
from typing import Literal

from tbprof.advice.gain import UNKNOWN_GAIN, Gain
from tbprof.advice.guides import NO_GUIDE, Guide
from tbprof.advice.pages import NO_PAGE, Page
from tbprof.base.records import dataclass

Severity = Literal["high", "moderate", "low", "good"]
SEVERITIES: tuple[Severity, ...] = ("high", "moderate", "low", "good")


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with its number, why it holds, what to do about it and what that would bring.

    `value` reached `threshold`, both in `unit`; NaN without a figure. `share` is the value as a
    part (0 to 1) of the memory that is in use, or of its capacity; None where it is of no memory.
    `gain` never exceeds the time that the finding is about, nor what findings before it leave of
    that, see `Evidence.gain_of`. `evidence` is the page that shows it, `next_page` the one to go on
    with, `NO_PAGE` where it is on the page itself. `code` can be copied; `stage` is the long name
    of the stage of an input pipeline that it is about. Both are "" without.
    """

    id: str
    severity: Severity
    title: str
    detail: str
    action: str
    guide: Guide = NO_GUIDE
    value: float = math.nan
    unit: str = ""
    threshold: float = math.nan
    share: float | None = None
    gain: Gain = UNKNOWN_GAIN
    evidence: Page = NO_PAGE
    next_page: Page = NO_PAGE
    code: str = ""
    stage: str = ""

    @property
    def gain_ms(self) -> float | None:
        """The gain in ms of a step, None where it is not known."""
        return self.gain.ms

    @property
    def gain_ratio(self) -> float | None:
        """The gain as a part of the step, None where it is not known."""
        return self.gain.ratio


def graded(value: float, moderate: float, high: float = math.inf) -> tuple[Severity, float] | None:
    """(severity, the threshold that was reached), None below both or where nothing is known."""
    if math.isnan(value) or value < moderate:
        return None
    return ("high", high) if value >= high else ("moderate", moderate)

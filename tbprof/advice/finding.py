"""What a finding is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypedDict

from tbprof.advice.gain import UNKNOWN_GAIN, Gain
from tbprof.advice.guides import NO_GUIDE, Guide
from tbprof.advice.pages import NO_PAGE, Page
from tbprof.base.records import dataclass

Severity = Literal["high", "moderate", "low", "good"]
SEVERITIES: tuple[Severity, ...] = ("high", "moderate", "low", "good")


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with its figure, its reason, an action, and what the action may gain.

    `value` reached `threshold`, both in `unit`; NaN if there is no figure. `share` is the value as
    a fraction (0 to 1) of the memory in use, or of its capacity; None if the finding is not about
    memory. `gain` never exceeds the time that the finding is about, less what earlier findings
    promise of it (`Evidence.gain_of`). `evidence` is the page that shows it, `NO_PAGE` if the
    finding is on that page itself; `next_page` the one to open next, None if it is the same.
    `code` can be copied; `stage` is the long name of the input pipeline's stage that the finding is
    about. Both are "" if there is none.
    """

    id: str
    severity: Severity
    title: str
    detail: str
    action: str
    guide: Guide = NO_GUIDE
    value: float = math.nan
    unit: str = "%"
    threshold: float = math.nan
    share: float | None = None
    gain: Gain = UNKNOWN_GAIN
    evidence: Page = NO_PAGE
    next_page: Page | None = None
    code: str = ""
    stage: str = ""

    @property
    def gain_ms(self) -> float | None:
        """The gain in ms of a step, None if unknown."""
        return self.gain.ms

    @property
    def gain_ratio(self) -> float | None:
        """The gain as a fraction of the step, None if unknown."""
        return self.gain.ratio


def as_memory_json(finding: Finding) -> dict[str, object]:
    """A finding about memory for the pages of memory; `bytes` is None if it has no figure."""
    return {
        "id": finding.id,
        "severity": finding.severity,
        "title": finding.title,
        "detail": finding.detail,
        "action": finding.action,
        "bytes": None if math.isnan(finding.value) else int(finding.value),
        "share": finding.share,
    }


class Grade(TypedDict):
    """What a finding says of a figure that has reached a threshold."""

    severity: Severity
    value: float
    threshold: float


def graded(
    share: float,
    low: float,
    high: float = math.inf,
    *,
    value: float | None = None,
    severities: tuple[Severity, Severity] = ("moderate", "high"),
) -> Grade | None:
    """The grade of a share, None if it is below both thresholds or unknown.

    `value` is the figure of the finding if that is not the share.
    """
    if math.isnan(share) or share < low:
        return None
    is_high = share >= high
    return {
        "severity": severities[is_high],
        "value": share if value is None else value,
        "threshold": high if is_high else low,
    }


def by_severity(advice: Sequence[Finding]) -> list[Finding]:
    """Advice on the bottleneck stays first; the rest is sorted by severity."""
    return [
        *advice[:1],
        *sorted(advice[1:], key=lambda finding: SEVERITIES.index(finding.severity)),
    ]

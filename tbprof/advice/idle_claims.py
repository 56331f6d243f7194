"""Uncovered step time, split by the finding that reports it, so that each is reported once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import OVERHEAD
from tbprof.advice.evidence import Evidence
from tbprof.advice.finding import Grade, graded
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.idle_shares import IdleShare, longest_share
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.values import sum_of

# A smaller percentage of step time is a low-severity finding.
_SMALL = 5.0


def graded_idle(share: float, value: float | None = None) -> Grade | None:
    """The grade of a percentage of uncovered step time, as `graded`."""
    grade = graded(share, *OVERHEAD, value=value)
    if grade is not None and share < _SMALL:
        grade["severity"] = "low"
    return grade


def dominant_function(evidence: Evidence) -> IdleShare | None:
    """The function or annotation of the driving thread that takes most of the uncovered time.

    None if it takes too little time for a finding.
    """
    first = longest_share(evidence.idle) if evidence.step_ms > 0 else None
    if first is None or graded(100 * first.ms / evidence.step_ms, *OVERHEAD) is None:
        return None
    return first


def callbacks_ps(evidence: Evidence) -> NDArray[np.int64]:
    """[rows of the job's steps] the time in which programs called Python, but not for input."""
    called = evidence.in_steps(
        [(callback.start_ps, callback.end_ps) for callback in evidence.callbacks]
    )
    without_input = evidence.job.duration_ps - evidence.job.phase_ps[:, Phase.INPUT]
    return np.where(called < without_input, called, without_input)


def callback_share(evidence: Evidence) -> float:
    """The percentage of step time in callbacks of compiled programs, NaN without steps."""
    return evidence.share_of_rows(callbacks_ps(evidence))


def is_in_callbacks(evidence: Evidence, share: IdleShare) -> bool:
    """Whether a function ran in callbacks, which have their own finding."""
    return callback_share(evidence) >= OVERHEAD[0] and any(
        share.name in callback.function for callback in evidence.callbacks
    )


def gap_shares(evidence: Evidence) -> tuple[float, float]:
    """(percentage of step time in gaps between steps, the unexplained part of it).

    Only the unexplained part excludes waits for input, time that other findings promise, calls of
    the runtime, in which ops may run without events, and the function that has its own finding. NaN
    without steps.
    """
    gap = evidence.share_of_rows(evidence.gap_ps)
    idle = evidence.share_of_rows(
        np.minimum(evidence.gap_ps, evidence.job.phase_ps[:, Phase.OTHER])
    )
    calls_ms = sum_of(
        ms
        for share in evidence.idle
        for part, ms in share.parts
        if share.kind == Activity.RUNTIME and (share.is_driver or part == names.RUNS_PROGRAM)
    )
    # Where calls take more than the uncovered time outside of gaps, the excess is in the gaps.
    other_share = evidence.share(Phase.OTHER)
    calls = max(0.0, idle + 100 * calls_ms / evidence.step_ms - other_share) if calls_ms else 0.0
    named = dominant_function(evidence)
    known_ms = calls_ms + (named.ms if named is not None else 0.0)
    rest = other_share - 100 * known_ms / evidence.step_ms if known_ms else other_share
    return gap, max(min(idle - calls, rest, evidence.unclaimed(Phase.OTHER)), 0.0)

"""The finding about the function or annotation that takes most of the uncovered step time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.evidence import Evidence, Rule, covered_elsewhere
from tbprof.advice.finding import Finding
from tbprof.advice.guides import PROFILER_GUIDE
from tbprof.advice.idle_claims import dominant_function, graded_idle
from tbprof.advice.pages import TRACE
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.idle_shares import IdleShare, named_shares, share_ps
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.python_frames import (
    describe_frame,
    wait_of,
    waits_for_result,
)
from tbprof.base.values import sum_of

# From this share of a function's time on, a call in it or another function is mentioned.
_NOTABLE = 0.1
# What this share of the steps do counts as done by every step.
_NEARLY_ALL = 0.9
# If other findings cover all but this share of a function's time, only those are reported.
_HIDDEN = 0.1
# It is unknown what a program waits for in these calls.
_TIMERS = ("$time sleep", "$builtins input")
# They copy data of the host, or read a result of a device: no frame shows which.
_CONVERSIONS = ("$numpy asarray", "$numpy array")


def python_overhead(evidence: Evidence) -> Iterator[Finding]:
    """The Python function, or the annotation, that takes most of the uncovered step time."""
    share = dominant_function(evidence)
    if share is None:
        return
    part = 100 * share.ms / evidence.step_ms
    gain = evidence.gain_of(part, Phase.OTHER)
    grade = graded_idle(gain.own, part)
    if grade is None or gain.own < _HIDDEN * part:
        return
    is_python = share.kind != Activity.ANNOTATION
    spent_ps = share_ps(evidence.job, evidence.idle_time, share)
    trace = TRACE.marking(f"whole:{share.event}", evidence.worst_row(spent_ps))
    yield Finding(
        id="python_overhead" if is_python else "annotation_overhead",
        **grade,
        title=f"{shortened(share.subject, 120)} takes {_how_long(evidence, share, spent_ps)}",
        detail=(
            f"{_no_work(evidence)} covers that time: {percent(part)} of an average step of "
            f"{milliseconds(evidence.step_ms)}.{covered_elsewhere(evidence, gain)}"
            f"{_other_functions(evidence, share)}"
        ),
        gain=gain,
        action=_advice(evidence, share),
        evidence=trace,
        guide=PROFILER_GUIDE,
    )


def _how_long(evidence: Evidence, share: IdleShare, spent_ps: NDArray[np.int64]) -> str:
    """Its time per step, or per step that contains it, and the call in it that takes the most."""
    job, means = evidence.job, evidence.means
    longest = np.zeros(len(job.label))
    np.maximum.at(longest, job.step, spent_ps)
    spent = longest[means.is_counted]
    count, steps = int((spent > 0).sum()), means.steps
    times, in_steps = 1.0, "of each step" if steps > 1 else "of the only recorded step"
    if count and count < _NEARLY_ALL * steps:
        typical = "typical " if evidence.outliers.step.size else ""
        times, in_steps = steps / count, f"in {count} of {steps} {typical}steps"
    elif count and (spent >= _NOTABLE * share.ms * 1e9).sum() < _NEARLY_ALL * steps:
        in_steps = "of an average step"
    name, ms = next(((name, ms) for name, ms in share.parts if name), ("", 0.0))
    text = f"{milliseconds(times * share.ms)} {in_steps}"
    if share.holds_more or ms < _NOTABLE * share.ms:
        return text
    return f"{text}, {milliseconds(times * ms)} of that in {shortened(describe_frame(name), 60)}"


def _other_functions(evidence: Evidence, share: IdleShare) -> str:
    """A sentence on the times of other functions, and a note if the caller is unknown."""
    functions = [
        f"{shortened(other.subject, 100)} {milliseconds(other.ms)}"
        for other in named_shares(evidence.idle)
        if other.name != share.name and other.ms >= _NOTABLE * share.ms
    ]
    text = f" Also: {', '.join(functions[:3])}." if functions else ""
    if wait_of(share.name):
        text += " Its caller began before the recording."
    return text


_NO_OPS = (
    "The trace has no ops, so this may also be the time of a compiled program. Record with a newer "
    "version of the framework, which records ops, or annotate the code that you suspect."
)

_ON_CONVERSIONS = (
    "The trace does not show what it converts. A result of a device must be computed and copied "
    "first: read it later, or only every few steps, several at a time. Convert other data ahead of "
    "time, in another thread during the previous step."
)


_OWN_CODE = (
    "Check in the timeline which events surround it, and annotate the code that you suspect. C++ "
    "methods have no frames, so their time counts as that of their caller."
)
_ARRAYS = " One such method waits for devices: block_until_ready of an array."
_NO_CALLS = (
    " Functions that it calls take less than half of that time: it computes in its own code, or "
    "waits in code without frames (C++ methods, locks)."
)
_LOCK = (
    " Other threads run Python, so it may also wait for Python's global interpreter lock (GIL): "
    "move their work to another process, or do it less often."
)


def _others_run_python(evidence: Evidence, ms: float) -> bool:
    """Whether Python on other threads takes at least half as long, besides this time."""
    others_ms = sum_of(
        other.ms for other in evidence.idle if other.kind == Activity.PYTHON and not other.is_driver
    )
    return 2 * others_ms >= ms


def _advice(evidence: Evidence, share: IdleShare) -> str:
    busy = sum_of(ms for name, ms in share.parts if name and not wait_of(name))
    if evidence.lacks_ops and busy < share.ms / 2:
        return _NO_OPS
    waits = {name or share.name: ms for name, ms in share.parts if wait_of(name or share.name)}
    if waits and sum_of(waits.values()) >= share.ms / 2:
        return _advice_on_waits(max(waits, key=lambda name: waits[name]))
    converted = sum_of(ms for name, ms in share.parts if (name or share.name) in _CONVERSIONS)
    if converted >= share.ms / 2:
        return _ON_CONVERSIONS
    if share.kind == Activity.ANNOTATION:
        return (
            "The trace does not show what happens in it: record with the Python tracer, or "
            "annotate its parts. Preparation and waiting can be done ahead of time, in another "
            "thread during the previous step."
        )
    if share.holds_more and not share.parts[0][0]:
        lock = _LOCK if _others_run_python(evidence, share.ms) else ""
        return f"{_OWN_CODE}{_ARRAYS if evidence.is_jax else ''}{lock}"
    advice = (
        "Do it ahead of time, in another thread or process during the previous step, or move it "
        "into a compiled function (tf.function, jax.jit). Run metrics, logging and callbacks only "
        "every few steps."
    )
    return advice if busy >= share.ms / 2 else f"{advice}{_NO_CALLS}"


def _advice_on_waits(name: str) -> str:
    """What to do about a wait, by the frame of the call that waits."""
    if waits_for_result(name):
        return (
            "It waits until results are computed and copied to the host: read them later, or only "
            "every few steps, several at a time."
        )
    if name in _TIMERS:
        return (
            "Find out what it waits for. Do that ahead of time, in another thread during the "
            "previous step (prefetching, a queue), or move it out of the loop."
        )
    return (
        "Another thread, process or connection makes it wait: check what takes the time there, "
        "speed that up, or divide it among more workers. Hold locks for a shorter time. If it "
        "waits for requests, no change is needed."
    )


def _no_work(evidence: Evidence) -> str:
    """The subject of the sentence on uncovered time, in which ops without events may have run."""
    if evidence.platform == "CPU":
        return "No recorded op"
    return "No device work and no recorded op"


IDLE_RULES: tuple[Rule, ...] = (python_overhead,)

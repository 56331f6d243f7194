"""The finding about step time that no op covers and that one function or annotation takes."""

from collections.abc import Iterator

import numpy as np

from tbprof.analysis.finding import (
    FUNCTION_GUIDE,
    PROFILER_GUIDE,
    TRACE,
    Evidence,
    Finding,
    Rule,
    milliseconds,
    percent,
    shortened,
)
from tbprof.analysis.findings_reads import hidden_share
from tbprof.analysis.host_activity import Activity
from tbprof.analysis.idle_claims import culprit, graded_idle, is_in_callbacks
from tbprof.analysis.idle_shares import IdleShare, named, share_ps
from tbprof.analysis.python_frames import spoken, wait_of

# From this part of the time on, what a function was busy with is worth saying.
_NOTABLE = 0.1
# What so many steps do, each does.
_NEARLY_ALL = 0.9
# Where another finding is about so much of what a function takes, that one is what to say.
_HIDDEN = 0.9


def python_overhead(evidence: Evidence) -> Iterator[Finding]:
    """The Python function, or the annotation, that most uncovered step time goes to."""
    share = culprit(evidence)
    if share is None:
        return
    part = 100 * share.ms / evidence.step_ms
    grade = graded_idle(part)
    if grade is None or hidden_share(evidence) >= _HIDDEN * part:
        return
    if is_in_callbacks(evidence, share):
        return
    gain_ms, gain_ratio = evidence.gain_of(part)
    name = shortened(spoken(share.name))
    is_python = share.kind != Activity.ANNOTATION
    spent_ps = share_ps(evidence.job, evidence.idle_time, share.name)
    trace = TRACE.marking(f"whole:{share.name}", evidence.worst_row(spent_ps))
    yield Finding(
        "python_overhead" if is_python else "annotation_overhead",
        grade[0],
        f"{name} takes {milliseconds(share.ms)} of {_which_steps(evidence, share)}"
        f"{_busy_with(share)}",
        f"In that time {nobody(evidence)}: {percent(part)} of an average step of "
        f"{milliseconds(evidence.step_ms)}.{_beside(evidence, share)}",
        part,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        _advice(share),
        trace,
        trace,
        FUNCTION_GUIDE if is_python else PROFILER_GUIDE,
    )


def _which_steps(evidence: Evidence, share: IdleShare) -> str:
    """Each step, or how many take part in the average."""
    job = evidence.job
    found = np.zeros(len(job.label), np.bool_)
    for at, host in enumerate(evidence.idle_time):
        mine = np.flatnonzero(job.worker_host[job.worker] == at)
        step_of = np.zeros(int(job.row[mine].max(initial=-1)) + 1, np.int64)
        step_of[job.row[mine]] = job.step[mine]
        is_it = np.array([name == share.name for name in host.name], bool)
        rows = is_it[host.activity] & (host.time_ps >= _NOTABLE * share.ms * 1e9)
        found[step_of[host.step[rows]]] = True
    count, of = int((found & evidence.means.is_counted).sum()), evidence.means.steps
    if not count or count >= _NEARLY_ALL * of:
        return "each step"
    return f"an average step, and is in {count} of {of}"


def _busy_with(share: IdleShare) -> str:
    """The call that most of it goes to, "" where there is none to speak of."""
    name, ms = next(((name, ms) for name, ms in share.parts if name), ("", 0.0))
    if ms < _NOTABLE * share.ms:
        return ""
    return f", {milliseconds(ms)} of them in {shortened(spoken(name), 60)}"


def _beside(evidence: Evidence, share: IdleShare) -> str:
    """What other functions take, and that a caller is not known where it is not."""
    others = [
        f"{shortened(spoken(one.name), 60)} {milliseconds(one.ms)}"
        for one in named(evidence.idle)
        if one.name != share.name and one.ms >= _NOTABLE * share.ms
    ]
    text = f" Beside it: {', '.join(others[:3])}." if others else ""
    if wait_of(share.name):
        text += " The function that calls it had begun before the recording."
    return text


def _advice(share: IdleShare) -> str:
    waits = sum(ms for name, ms in share.parts if wait_of(name or share.name))
    if waits >= share.ms / 2:
        return (
            "Find out what it waits for, and have that done ahead, on another thread, while the "
            "step before is computed (prefetching, a queue), or leave it out of the loop."
        )
    return (
        "Do it ahead, on another thread or process, while the step before is computed, or move it "
        "into a compiled function (tf.function, jax.jit); do metrics, logging and callbacks every "
        "few steps."
    )


def nobody(evidence: Evidence) -> str:
    """Who did nothing in time that is in no phase: ops may run that leave no event."""
    if evidence.platform == "CPU":
        return "no op of the step was recorded"
    return "no device worked and no op of the step was recorded"


IDLE_RULES: tuple[Rule, ...] = (python_overhead,)

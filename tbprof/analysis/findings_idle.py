"""Findings about step time that no op covers: what the host's threads did then, by name."""

from collections.abc import Iterator

import numpy as np

from tbprof.analysis.finding import (
    FUNCTION_GUIDE,
    PROFILER_GUIDE,
    TRACE,
    Evidence,
    Finding,
    Rule,
    graded,
    milliseconds,
    percent,
    shortened,
)
from tbprof.analysis.findings_reads import hidden_share
from tbprof.analysis.host_activity import Activity
from tbprof.analysis.idle_claims import IDLE, claimed_share, culprit, gap_share, is_in_callbacks
from tbprof.analysis.idle_shares import DID, IdleShare, named
from tbprof.analysis.phases import Phase
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
    grade = graded(part, *IDLE)
    if grade is None or hidden_share(evidence) >= _HIDDEN * part:
        return
    if is_in_callbacks(evidence, share):
        return
    gain_ms, gain_ratio = evidence.gain_of(part)
    name = shortened(spoken(share.name))
    is_python = share.kind != Activity.ANNOTATION
    trace = TRACE.marking(f"whole:{share.name}", evidence.worst_step_in(Phase.OTHER))
    yield Finding(
        "python_overhead" if is_python else "annotation_overhead",
        grade[0],
        f"{name} takes {milliseconds(share.ms)} of {_which_steps(evidence, share)}"
        f"{_busy_with(share)}",
        f"In that time {_nobody(evidence)} at work: {percent(part)} of an average step of "
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


def all_others(evidence: Evidence) -> Iterator[Finding]:
    """The rest of the step time that no op covers, and what threads did then."""
    share = evidence.share(Phase.OTHER) - claimed_share(evidence)
    gap = gap_share(evidence)
    if graded(gap, *IDLE) is not None:
        share -= gap
    grade = graded(share, *IDLE)
    if grade is None:
        return
    first = culprit(evidence)
    name = first.name if first is not None else ""
    rest = [one for one in evidence.idle if not (name and one.is_named and one.name == name)]
    sums = _by_kind(rest) or {Activity.UNCOVERED: evidence.means.mean_ms(Phase.OTHER)}
    total = sum(sums.values())
    most = max(sums, key=lambda kind: sums[kind])
    gain_ms, gain_ratio = evidence.gain_of(share)
    trace = TRACE.marking(place=evidence.worst_step_in(Phase.OTHER))
    if most == Activity.UNCOVERED and sums[most] >= total / 2:
        title = (
            f"In {percent(share)} of step time {_nobody(evidence)} at work, and no recorded event "
            f"covers {'all' if sums[most] > 0.9995 * total else percent(100 * sums[most] / total)} "
            "of that"
        )
    else:
        title = (
            f"In {percent(share)} of step time {_nobody(evidence)} at work; {DID[most]} in "
            f"{percent(100 * sums[most] / total)} of that"
        )
    yield Finding(
        "all_others",
        grade[0],
        title,
        f"Of {milliseconds(total)} per step: {_listed(sums)}.{_not_recorded(evidence, sums)}",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        _idle_action(evidence, most),
        trace,
        trace,
        PROFILER_GUIDE,
    )


def _by_kind(shares: list[IdleShare]) -> dict[Activity, float]:
    """ms by kind, longest first; what tf.data does goes together."""
    sums: dict[Activity, float] = {}
    for one in shares:
        kind = Activity.TF_DATA if one.kind == Activity.TF_DATA_FUNCTION else one.kind
        sums[kind] = sums.get(kind, 0.0) + one.ms
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _listed(sums: dict[Activity, float]) -> str:
    """The kinds with their times, which add up; small ones together."""
    total = sum(sums.values())
    shown = {kind: ms for kind, ms in list(sums.items())[:5] if ms >= 0.01 * total}
    texts = [f"{DID[kind]} for {milliseconds(ms)}" for kind, ms in shown.items()]
    left = total - sum(shown.values())
    if left > 0.0005 * total:
        texts.append(f"other things for {milliseconds(left)}")
    return ", ".join(texts)


def _not_recorded(evidence: Evidence, sums: dict[Activity, float]) -> str:
    if any(host.has_python for host in evidence.hosts) or Activity.UNCOVERED not in sums:
        return ""
    return " No frames of Python were recorded, which may show more."


def _nobody(evidence: Evidence) -> str:
    return "no op was" if evidence.platform == "CPU" else "neither a device nor an op was"


def _idle_action(evidence: Evidence, most: Activity) -> str:
    if most in (Activity.RUNTIME, Activity.EAGER, Activity.MEMORY):
        return (
            "Give the program more to do per call: a larger batch, the whole step in one compiled "
            "function, several steps per call."
        )
    if most == Activity.TF_DATA:
        return (
            "See in the timeline whether the program's thread waits for tf.data then; if so, make "
            "the input faster, else look for what that thread does."
        )
    if evidence.platform == "TPU":
        return (
            "Give the device more to do per call of the host: several steps in one compiled "
            "function, a larger batch, and input that is ready before it is asked for."
        )
    see = "See in the timeline what the program's thread does then"
    if any(host.has_python for host in evidence.hosts):
        return f"{see}; put annotations around what you suspect."
    return f"{see}; record it with the Python tracer, or with annotations around what you suspect."


IDLE_RULES: tuple[Rule, ...] = (python_overhead, all_others)

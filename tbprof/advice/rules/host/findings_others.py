"""The finding about the remaining uncovered step time: what threads did, by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tbprof.advice.bottlenecks import OVERHEAD
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, Grade, graded
from tbprof.advice.guides import PROFILER_GUIDE
from tbprof.advice.idle_claims import dominant_function, graded_idle
from tbprof.advice.pages import TRACE
from tbprof.advice.rules.host.findings_eager import single_ops_ps
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.single_ops import FEWEST_PER_STEP
from tbprof.analysis.job.idle_shares import ACTIVITY_CLAUSES, IdleShare, kind_label, without
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.python_frames import describe_frame
from tbprof.base.values import sum_of

# Kinds with a smaller share of the time are not named.
_NOTABLE = 0.02
# This share of a sum counts as all of it; the rest is rounding.
_NEARLY_ALL = 0.995
# Calls that convert arrays to tensors.
_CONVERSIONS = ("tf.constant", "convert_to_tensor")
# Python frames are suggested if no event covers at least this share of the time.
_MISSED = 0.1


def all_others(evidence: Evidence) -> Iterator[Finding]:
    """The rest of the step time that no op covers, and what threads did during it."""
    gain = evidence.gain_of(evidence.share(Phase.OTHER), Phase.OTHER)
    share = gain.own
    rest = without(evidence.idle, dominant_function(evidence))
    sums = _by_kind(rest) or {Activity.UNCOVERED: evidence.means.mean_ms(Phase.OTHER)}
    total = sum_of(sums.values())
    most = next(iter(sums))
    grade = _graded(share, most)
    if grade is None:
        return
    # If other findings cover a part of the time, what threads did is known only for all of it.
    is_all = share / 100 * evidence.step_ms >= _NEARLY_ALL * total
    trace = TRACE.marking(place=evidence.worst_step_in(Phase.OTHER))
    nothing = "op" if evidence.platform == "CPU" else "op or device work"
    which = "" if is_all else "another "
    start = f"No recorded {nothing} covers {which}{percent(share)} of step time"
    listed = _listed(sums, rest)
    yield Finding(
        id="all_others",
        **grade,
        title=f"{start}; {_main_activity(most, sums[most] / total)}" if is_all else start,
        detail=(
            (
                f"Of {milliseconds(total)} per step: {listed}."
                if is_all
                else f"Including the time of other findings, it is {milliseconds(total)} per step: "
                f"{listed}."
            )
            + _not_recorded(evidence, sums)
        ),
        gain=gain,
        action=_action(evidence, rest, most, sums[most]),
        evidence=trace,
        guide=PROFILER_GUIDE,
    )


def _graded(share: float, most: Activity) -> Grade | None:
    """The grade; at most moderate for calls of the runtime, which may wait for a processor."""
    grade = graded_idle(share)
    if grade is not None and grade["severity"] == "high" and most == Activity.RUNTIME:
        return graded(share, OVERHEAD[0])
    return grade


def _by_kind(shares: Sequence[IdleShare]) -> dict[Activity, float]:
    """ms by kind, longest first; work of tf.data is combined."""
    sums: dict[Activity, float] = {}
    for share in shares:
        sums[_kind(share)] = sums.get(_kind(share), 0.0) + share.ms
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _kind(idle_share: IdleShare) -> Activity:
    return Activity.TF_DATA if idle_share.kind == Activity.TF_DATA_FUNCTION else idle_share.kind


def _main_activity(most: Activity, part: float) -> str:
    """A clause on the activity that took most of the time."""
    if part > _NEARLY_ALL and most == Activity.UNCOVERED:
        return "nothing else was recorded during that time"
    return f"for {percent(100 * part)} of that, {ACTIVITY_CLAUSES[most]}"


def _listed(sums: dict[Activity, float], shares: Sequence[IdleShare]) -> str:
    """The kinds of activity with their times, small ones combined, and the first's main event."""
    total = sum_of(sums.values())
    notable = [kind for kind, ms in sums.items() if ms >= _NOTABLE * total]
    texts = [
        f"{kind_label(kind)} {milliseconds(sums[kind])}"
        + (_inside(shares, kind, sums[kind]) if index == 0 else "")
        for index, kind in enumerate(notable)
    ]
    remaining_ms = total - sum_of(sums[kind] for kind in notable)
    if remaining_ms > (1 - _NEARLY_ALL) * total:
        texts.append(f"other {milliseconds(remaining_ms)}")
    return ", ".join(texts)


def _inside(shares: Sequence[IdleShare], kind: Activity, total_ms: float) -> str:
    """The event that contains most of a kind's time, in parentheses; "" if none does."""
    name = _main_event(shares, kind, total_ms)
    return f" (most of it in {shortened(describe_frame(name), 60)})" if name else ""


def _main_event(shares: Sequence[IdleShare], kind: Activity, total_ms: float) -> str:
    """The name of the event that contains most of a kind's time, "" if none does."""
    ms_by_name: dict[str, float] = {}
    for share in shares:
        for part, ms in share.parts if _kind(share) == kind else ():
            name = share.name or part
            ms_by_name[name] = ms_by_name.get(name, 0.0) + ms
    ms_by_name.pop("", None)
    name = max(ms_by_name, key=lambda name: ms_by_name[name], default="")
    return name if name and ms_by_name[name] >= total_ms / 2 else ""


def _not_recorded(evidence: Evidence, sums: dict[Activity, float]) -> str:
    missed = sums.get(Activity.UNCOVERED, 0.0)
    if any(host.has_python for host in evidence.hosts) or missed < _MISSED * sum_of(sums.values()):
        return ""
    return " No Python frames were recorded; they may show more."


_SEE = "Check in the timeline what the program's thread does then"


def _action(evidence: Evidence, rest: Sequence[IdleShare], most: Activity, total_ms: float) -> str:
    if evidence.platform == "TPU" and most in (Activity.UNCOVERED, Activity.RUNTIME):
        return (
            "Give the device more to do per host call: several steps in one compiled function, a "
            "larger batch, and input that is ready before it is needed."
        )
    if most == Activity.RUNTIME:
        return f"{_IN_CALLS} {_FEW_CALLS if _calls_few(evidence) else _MANY_CALLS}"
    if most == Activity.PYTHON and _is_on_other_threads(rest, total_ms):
        return _OTHER_PYTHON
    if most in _ACTIONS:
        return _ACTIONS[most]
    if most == Activity.EAGER and single_ops_ps(evidence).any():
        compiler = "jax.jit" if evidence.is_jax else "tf.function"
        return f"Put ops that are dispatched individually into one compiled function ({compiler})."
    if most == Activity.EAGER and _main_event(rest, most, total_ms) in _CONVERSIONS:
        return (
            "Arrays are converted to tensors in each step, which copies them. Convert constant "
            "arrays once, before the loop, and let tf.data prepare batches ahead of time."
        )
    if most == Activity.EAGER:
        return (
            "Check in the timeline what these calls of functions and single ops wait for: a "
            "processor, or Python's global interpreter lock, which other running Python code "
            "holds, such as functions of the input pipeline (tf.py_function, tf.numpy_function)."
        )
    if any(host.has_python for host in evidence.hosts):
        return f"{_SEE}; annotate the code that you suspect."
    return f"{_SEE}; record with the Python tracer, or annotate the code that you suspect."


def _is_on_other_threads(shares: Sequence[IdleShare], total_ms: float) -> bool:
    """Whether most of the Python time is that of threads that do not drive the program."""
    own_ms = sum_of(
        share.ms for share in shares if share.kind == Activity.PYTHON and share.is_driver
    )
    return 2 * own_ms < total_ms


def _calls_few(evidence: Evidence) -> bool:
    """Whether a step calls only a few programs or functions; False if calls are unknown."""
    calls = sum(host.calls for host in evidence.hosts)
    return 0 < calls < FEWEST_PER_STEP * len(evidence.hosts) * len(evidence.job.label)


_OTHER_PYTHON = (
    "Most of it ran in other threads while the program's thread waited or recorded nothing. "
    "Threads share Python's global interpreter lock (GIL): move that work to another process, or "
    "do it less often."
)
_IN_CALLS = "Check in the timeline what happens in these calls outside of ops."
_FEW_CALLS = (
    "A step makes only a few of them. If they are short, do more in each: a larger batch, several "
    "steps per call. In a long call, threads may wait for a processor, or run ops that are not "
    "recorded."
)
_MANY_CALLS = (
    "If there are many short calls, do more in each: a larger batch, the whole step in one "
    "compiled function, several steps per call. In a long call, threads may wait for a processor, "
    "or run ops that are not recorded."
)
_ACTIONS = {
    Activity.TF_DATA: (
        f"{_SEE}: waiting for a batch would count as input, so the thread waits for something "
        "else, or does something that was not recorded."
    ),
    Activity.PYTHON: (
        "Check on this page which functions take this time. Do work that steps need not wait for "
        "only every few steps, or ahead of time in another thread."
    ),
    Activity.WAIT: (
        "Check in the timeline which thread or device the program's thread waits for, and what "
        "that does during the wait."
    ),
    Activity.COMPLETION: (
        "The program waits for its devices, which are idle until it goes on. Launch the next step "
        "before you wait for this one, or wait only every few steps."
    ),
    Activity.UNSTARTED: (
        "The devices may have worked for other processes, which are not in this trace: nvidia-smi "
        "or rocm-smi lists them. Or the work waited for the host: for a function or a copy before "
        "it in its stream."
    ),
    Activity.MEMORY: (
        "Check in the timeline what allocates memory. Fewer, larger calls allocate less often, and "
        "donated buffers are reused (donate_argnums in JAX). Allocation takes long if the driver "
        "allocates each buffer (in JAX, with XLA_PYTHON_CLIENT_ALLOCATOR=platform)."
    ),
    Activity.GARBAGE: (
        "Collect garbage less often: freeze long-lived objects once the program is set up "
        "(gc.freeze()), and collect only occasionally in the loop (gc.disable(), gc.collect())."
    ),
    Activity.TRANSFER: "Copy ahead of the step, in another thread, in a few large transfers.",
}


OTHERS_RULES: tuple[Rule, ...] = (all_others,)

"""The finding about ops that are dispatched individually, by their share of step time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import OVERHEAD
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import FUNCTION_GUIDE, JIT_GUIDE
from tbprof.advice.pages import TRACE
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.spans.layers import Spans
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names

# Names with a smaller share of the calls of the most frequent one are not listed.
_NOTABLE = 0.1
_NEARLY_ALL = 0.9
_NO_SPANS = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def single_ops_ps(evidence: Evidence) -> NDArray[np.int64]:
    """[rows of the job's steps] the time of sequences of individually dispatched ops on its host.

    Hosts with only a few such calls per step count as having none.
    """
    return _in_steps(evidence, lambda single_ops: (single_ops.start_ps, single_ops.end_ps))


def _in_steps(evidence: Evidence, spans: Callable[[SingleOps], Spans]) -> NDArray[np.int64]:
    steps = len(evidence.job.label)
    return evidence.in_steps(
        [
            spans(single_ops) if single_ops.is_many(steps) else _NO_SPANS
            for single_ops in evidence.single_ops
        ]
    )


def _phases(evidence: Evidence) -> tuple[Phase, ...]:
    """The phases that individual dispatch makes longer, without the ops' own computation."""
    phases = (Phase.INPUT, Phase.KERNEL_LAUNCH, Phase.OTHER)
    return phases if evidence.platform == "CPU" else (*phases, Phase.HOST_COMPUTE)


def single_op_calls(evidence: Evidence) -> Iterator[Finding]:
    """Steps in which Python dispatches many ops individually."""
    time = single_ops_ps(evidence)
    idle = _idle_ps(evidence, time)
    share, called_share = evidence.share_of_rows(idle), evidence.share_of_rows(time)
    grade = graded(share, *OVERHEAD)
    if grade is None:
        return
    counts: dict[str, int] = {}
    for single_op in evidence.single_ops:
        for name, count in zip(single_op.name, single_op.name_calls.tolist(), strict=True):
            counts[name] = counts.get(name, 0) + count
    top = sorted(counts, key=lambda name: (-counts[name], name))[:3]
    top = [name for name in top if counts[name] >= _NOTABLE * counts[top[0]]]
    # Ops that Python dispatches have several names, calls of a small jitted function have one.
    is_function = evidence.is_jax and counts[top[0]] >= _NEARLY_ALL * sum(counts.values())
    between = _between_share(evidence)
    other = np.minimum(time, evidence.job.phase_ps[:, Phase.OTHER])
    # In a part of that time, the calls sent data to devices.
    sent = _in_steps(evidence, lambda calls: (calls.sent_start_ps, calls.sent_end_ps))
    limits = {
        Phase.INPUT: evidence.share_of_rows(sent),
        Phase.OTHER: evidence.share_of_rows(other),
    }
    gain = evidence.gain_of(share, *_phases(evidence), limits=limits)
    event = names.JITTED if evidence.is_jax else names.EAGER_EXECUTE
    trace = TRACE.marking(event, evidence.worst_row(time))
    compiler = "jax.jit" if evidence.is_jax else "tf.function"
    yield Finding(
        id="eager_ops",
        **grade,
        title=f"{percent(share)} of step time goes to "
        + (
            f"small calls of {shortened(top[0], 60)}"
            if is_function
            else "ops that are dispatched individually"
        ),
        detail=(
            f"Of an average step of {milliseconds(evidence.step_ms)}, they take "
            f"{milliseconds(called_share / 100 * evidence.step_ms)}"
            f"{_without_work(evidence, share, called_share)}"
            ", and Python dispatches each one separately: "
            f"{sum(counts.values()):,} calls in total, most of them to "
            f"{', '.join(shortened(name, 60) for name in top)}. {percent(between)} of that time "
            "passes between calls."
        ),
        gain=gain,
        action=(
            "Do more in each call: compile the code that makes these calls as one function "
            "(jax.jit), with the loop in it (jax.lax.scan, jax.lax.fori_loop), or combine several "
            "calls into one batch (jax.vmap)."
            if is_function
            else f"Put them into one function that is compiled as a whole ({compiler}), so that "
            "the runtime can schedule them together."
        ),
        evidence=trace,
        guide=JIT_GUIDE if evidence.is_jax else FUNCTION_GUIDE,
    )


def _idle_ps(evidence: Evidence, time: NDArray[np.int64]) -> NDArray[np.int64]:
    """[rows] the most of the calls' time in which no device works; on CPUs, the ops are the work.

    A device that computes meanwhile does not wait for the calls.
    """
    if evidence.platform == "CPU":
        return time
    work: NDArray[np.int64] = evidence.job.phase_ps[:, evidence.work].sum(axis=1)
    idle: NDArray[np.int64] = np.minimum(time, evidence.job.duration_ps - work)
    return idle


def _without_work(evidence: Evidence, share: float, called_share: float) -> str:
    """How much of the calls' time devices do not work, "" if that is nearly all of it."""
    if share >= _NEARLY_ALL * called_share:
        return ""
    return f" (without device work: {milliseconds(share / 100 * evidence.step_ms)} at most)"


def _between_share(evidence: Evidence) -> float:
    """The percentage of the time of all such sequences that lies between their calls."""
    total_ms = sum(
        int((single_op.end_ps - single_op.start_ps).sum()) for single_op in evidence.single_ops
    )
    called = sum(int(single_op.called_ps.sum()) for single_op in evidence.single_ops)
    return 100 * (1 - called / total_ms)


EAGER_RULES: tuple[Rule, ...] = (single_op_calls,)

"""Findings about callbacks in compiled programs."""

from __future__ import annotations

from collections.abc import Iterator

from tbprof.advice.bottlenecks import OVERHEAD
from tbprof.advice.evidence import Evidence, Rule, covered_elsewhere
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import CALLBACKS_GUIDE, FUNCTION_GUIDE
from tbprof.advice.idle_claims import (
    callback_share,
    callbacks_ps,
    dominant_function,
    is_in_callbacks,
)
from tbprof.advice.pages import OPS, TRACE
from tbprof.advice.rules.devices.findings_tpu import grouped, showing_ops
from tbprof.advice.rules.host.findings_host import OUTSIDE_TYPES
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.hlo.host_channels import Peer
from tbprof.analysis.vocabulary.input_names import is_python_function
from tbprof.analysis.vocabulary.op_names import parse_op_name
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.python_frames import describe_frame


def host_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """Programs and functions that call Python in each step.

    In JAX: debug.print, pure_callback, io_callback; in TensorFlow: py_function, numpy_function.
    """
    share = callback_share(evidence)
    if not share >= OVERHEAD[0]:
        return
    # Waits in a callback are uncovered time, which then belongs to the callback.
    most = dominant_function(evidence)
    waits = most is not None and is_in_callbacks(evidence, most)
    phases = (Phase.OTHER, Phase.HOST_COMPUTE) if waits else (Phase.HOST_COMPUTE, Phase.OTHER)
    gain = evidence.gain_of(share, *phases)
    grade = graded(gain.own, *OVERHEAD, value=share)
    if grade is None:
        return
    names = sorted({name for callback in evidence.callbacks for name in callback.name})
    are_ops = all(map(is_python_function, names))
    called = sorted({parse_op_name(name).type for name in names}) if are_ops else names
    functions = [callback.function[0] for callback in evidence.callbacks if callback.function]
    doers = ", ".join(shortened(describe_frame(name)) for name in dict.fromkeys(functions))
    worst = evidence.worst_row(callbacks_ps(evidence))
    trace = TRACE.marking("/_callback|debug_print|PyFunc/", worst)
    yield Finding(
        id="host_callbacks",
        **grade,
        title=(
            f"{'Functions call' if are_ops else 'The compiled program calls'} Python for "
            f"{percent(share)} of step time"
        ),
        detail=(
            f"Of an average step of {milliseconds(evidence.step_ms)}, "
            f"{milliseconds(share / 100 * evidence.step_ms)} is spent in "
            f"{', '.join(shortened(name, 60) for name in called[:3])}, until Python "
            f"returns{f' from {doers}' if doers else ''}.{covered_elsewhere(evidence, gain)}"
        ),
        gain=gain,
        action=_ON_OPS if are_ops else _ON_INSTRUCTIONS,
        evidence=trace,
        guide=CALLBACKS_GUIDE if evidence.is_jax else FUNCTION_GUIDE,
    )


_ON_INSTRUCTIONS = (
    "Remove debug.print and callbacks from the compiled function once they are no longer needed, "
    "return the values that they need as results, or call them only every few steps."
)
_ON_OPS = (
    "Replace tf.py_function and tf.numpy_function by TensorFlow ops, do their work before the "
    "step (for example in tf.data), or do it only every few steps. Only one thread at a time can "
    "run Python."
)


def core_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """TPU cores that wait for code that the host runs for their program.

    TensorFlow's outside compilation has its own finding.
    """
    share = evidence.share(Phase.HOST_CALLBACK)
    grade = graded(share, *OVERHEAD)
    ops = evidence.tpu_ops
    if grade is None or (ops is not None and OUTSIDE_TYPES & set(ops.op_type)):
        return
    gain = evidence.gain_of(share, Phase.HOST_CALLBACK)
    rows = ops.longest(ops.peer == Peer.CALLBACK) if ops is not None else []
    called = list(dict.fromkeys(ops.op[row] for row in rows)) if ops is not None else []
    above_all = f", mostly in {grouped(called)}"
    yield Finding(
        id="host_callbacks",
        **grade,
        title=(f"The compiled program waits for host callbacks for {percent(share)} of step time"),
        detail=(
            f"Of an average step of {milliseconds(evidence.step_ms)}, the cores wait "
            f"{milliseconds(evidence.means.mean_ms(Phase.HOST_CALLBACK))} for code that the host "
            f"runs for them{above_all if called else ''}."
        ),
        gain=gain,
        action=(
            "Remove pure_callback, io_callback and debug.print from the compiled function, return "
            "the values that they need as results, or call them only every few steps."
        ),
        next_page=TRACE.marking("/send|recv/", evidence.worst_step_in(Phase.HOST_CALLBACK)),
        evidence=showing_ops(called) if called else OPS,
        guide=CALLBACKS_GUIDE,
    )


CALLBACK_RULES: tuple[Rule, ...] = (host_callbacks, core_callbacks)

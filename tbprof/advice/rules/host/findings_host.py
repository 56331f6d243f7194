"""Findings about the host: eager ops, retracing, compilation, ops outside of the program."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tbprof.advice.bottlenecks import OVERHEAD
from tbprof.advice.evidence import ON_CORES, Evidence, Rule, covered_elsewhere
from tbprof.advice.finding import Finding, graded
from tbprof.advice.gain import UNKNOWN_GAIN
from tbprof.advice.guides import FUNCTION_GUIDE, XLA_GUIDE
from tbprof.advice.pages import OPS, TRACE
from tbprof.advice.retracing import (
    EXPENSIVE,
    CostlyCalls,
    costly_functions,
    is_in_outliers,
    retraced_ms,
)
from tbprof.advice.rules.host.findings_eager import single_ops_ps
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.host.host_facts import HostFacts
from tbprof.analysis.host.single_ops import FEWEST_PER_STEP
from tbprof.analysis.job.step_means import used_rows
from tbprof.analysis.vocabulary.input_names import fetches_batch
from tbprof.analysis.vocabulary.phases import WORK, Phase
from tbprof.base.lazy import regex
from tbprof.base.texts import few
from tbprof.base.values import sum_of

# Percentages of op time on one side (host or device), and of device op time.
# Source: tools-steps.md, section 9; where it says "more than", these are slightly larger.
EAGER = (math.nextafter(10.0, 100.0), 50.0)
OUTSIDE = (math.nextafter(5.0, 100.0), 20.0)
# Percentages of the recorded time; ours, as for other overheads.
COMPILING = (3.0, 15.0)

# If there are fewer steps, all of them may belong to the warm-up.
_FEWEST_STEPS = 5

# The core phases that contain transfers of outside compilation; first those with nothing else.
_TRANSFERS = (Phase.HOST_CALLBACK, Phase.HOST_TRANSFER, Phase.INPUT, Phase.OUTPUT)
OUTSIDE_TYPES = frozenset({"XlaSendToHost", "XlaRecvFromHost"})


# Ops that write checkpoints and summaries, or make datasets, iterators and variables, do not belong
# in a compiled step.
_OUTSIDE_STEP = regex(
    r"Save|Restore|MergeV2Checkpoints|DisableCopyOnRead|ShardedFilename"
    r"|Write\w*Summary|FlushSummaryWriter|AsString"
    r"|MakeIterator|Anonymous\w*(?:Iterator|Generator)|Delete\w*(?:Iterator|Generator)"
    r"|\w+Dataset(?:V\d+)?\Z|VarHandleOp|VarIsInitializedOp|DestroyResourceOp"
)


def eager_shares(evidence: Evidence, *, of_all: bool = True) -> tuple[float, float]:
    """(host, device) percentages of op time in eagerly executed ops; NaN without ops.

    Ops without events count by the calls that ran them; waits for batches do not count. Without
    `of_all`, ops that do not belong in a compiled step do not count as eager.
    """
    ops = evidence.ops
    shares = []
    rows = np.flatnonzero(ops.is_eager).tolist()
    computes = {
        kind: not fetches_batch(kind) and (of_all or not _OUTSIDE_STEP.match(kind))
        for kind in dict.fromkeys(ops.type[row] for row in rows)
    }
    counts = np.zeros(len(ops.type), bool)
    counts[rows] = [computes[ops.type[row]] for row in rows]
    calls = sum(
        int(time)
        for host in evidence.hosts
        for name, time in zip(host.eager_name, host.eager_ps.tolist(), strict=True)
        if of_all or not _OUTSIDE_STEP.match(name)
    )
    for side, called in ((ops.is_host, calls), (ops.is_device, 0)):
        self_ps, is_eager = ops.self_ps[side].astype(np.float64), counts[side]
        eager, function = float(self_ps[is_eager].sum()), float(self_ps[~is_eager].sum())
        eager = max(eager, float(called))
        total_ps = eager + function
        shares.append(100 * eager / total_ps if total_ps > 0 else math.nan)
    return shares[0], shares[1]


def eager_ops(evidence: Evidence) -> Iterator[Finding]:
    """Ops that run eagerly rather than in a function."""
    if evidence.share_of_rows(single_ops_ps(evidence)) >= OVERHEAD[0]:
        return  # reported by its share of step time
    host, device = eager_shares(evidence, of_all=False)
    share = np.nanmax([host, device, 0.0])
    grade = graded(float(share), *EAGER)
    if grade is None:
        return
    names: dict[str, int] = {}
    count = 0
    for facts in evidence.hosts:
        calls = zip(
            facts.eager_name, facts.eager_count.tolist(), facts.eager_ps.tolist(), strict=True
        )
        for name, op_calls, time in calls:
            if not _OUTSIDE_STEP.match(name):
                count += op_calls
                names[name] = names.get(name, 0) + time
    if 0 < count < FEWEST_PER_STEP * len(evidence.job.label):
        return  # a step that is a function also makes a few other calls
    top = sorted(names, key=lambda name: -names[name])[:3]
    top_text = f" {count:,} calls, most time in {_listed(top)}." if top else ""
    sides = [f"{percent(side)} of op time on the {where}"
             for side, where in ((host, "host"), (device, "device")) if side > 0]  # fmt: skip
    yield Finding(
        id="eager_ops",
        **grade,
        title=f"{' and '.join(sides)} is spent in ops that run eagerly",
        detail=f"In eager execution, Python dispatches each op separately.{top_text}",
        action=(
            "Put the whole step into one tf.function, so that the runtime can schedule it as a "
            "graph."
        ),
        next_page=OPS,
        evidence=OPS.showing(eager="=Eager"),
        guide=FUNCTION_GUIDE,
    )


def retracing(evidence: Evidence) -> Iterator[Finding]:
    """Functions that spend much of their time retracing or running eagerly."""
    costly = costly_functions(evidence)
    share = sum_of(entry.share for entry in costly.values())
    grade = graded(share, *EXPENSIVE)
    if grade is None or is_in_outliers(evidence):
        return
    gain = UNKNOWN_GAIN
    if evidence.step_ms > 0:
        share_of_step = 100 * retraced_ms(evidence) / evidence.step_ms
        gain = evidence.gain_of(share_of_step, Phase.COMPILATION, Phase.OTHER)
    top = list(costly)
    costliest = "; ".join(_name_with_cost(name, costly[name]) for name in top[:3])
    more = f"; and {len(top) - 3} more" if len(top) > 3 else ""
    trace = TRACE.marking(f"whole:{top[0]}")
    yield Finding(
        id="retracing",
        **grade,
        title=(
            f"{percent(share)} of the time in tf.functions goes to "
            f"{_describe_modes(frozenset().union(*(entry.modes for entry in costly.values())))}"
        ),
        detail=f"{costliest}{more}.",
        gain=gain,
        action=(
            "Pass tensors rather than Python numbers, keep shapes the same (pad, or declare an "
            "input_signature), set reduce_retracing=True, and create functions outside of the loop."
        ),
        evidence=trace,
        guide=FUNCTION_GUIDE,
    )


def _name_with_cost(name: str, costly: CostlyCalls) -> str:
    """The calls of functions with one name, for a sentence; each function counts its tracings."""
    spent = f"{_times(costly.calls, 'call')}, {milliseconds(costly.ps / 1e9)}"
    if costly.functions > 1:
        return f"{shortened(name, 60)} ({costly.functions} tf.functions or more): {spent}"
    traced = f", traced {_times(costly.tracings, 'time')} so far" if costly.tracings else ""
    return f"{shortened(name, 60)}: {spent}{traced}"


def _times(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _describe_modes(modes: frozenset[str]) -> str:
    parts = {"traced": "calls that trace them", "eager": "running them eagerly"}
    return " and ".join(text for mode, text in parts.items() if mode in modes)


def compilation(evidence: Evidence) -> Iterator[Finding]:
    """Programs that were compiled while the trace was recorded."""
    worst = -1.0
    host = None
    for facts, environment in zip(evidence.hosts, evidence.environments, strict=True):
        if environment.window_ps > 0:
            share = 100 * facts.compile_ps / environment.window_ps
            if share > worst:
                worst, host = share, facts
    grade = graded(worst, *COMPILING)
    if grade is None or host is None or is_in_outliers(evidence):
        return
    spent = evidence.share(Phase.COMPILATION)
    gain = evidence.gain_of(spent, Phase.COMPILATION)
    if gain.own < COMPILING[0] <= spent:
        return  # other findings cover it
    if spent < COMPILING[0]:  # outside of steps it does not delay any of them
        grade["severity"] = "low"
    names_text = _listed(host.compile_name[:2])
    count = _times(host.compilations, "compilation")
    trace = TRACE.marking("category:compilation", _span(evidence, host))
    grade["value"] = min(worst, 100.0)
    title = f"Compilation was in progress for {percent(grade['value'])} of the recorded time"
    action = (
        "Start recording after the program has warmed up. If it keeps compiling, its shapes may "
        "change from step to step: pad them, or use only a few sizes. Keep compiled programs in "
        "a cache on disk (JAX: jax_compilation_cache_dir)."
    )
    compiling, steps = compiling_steps(evidence)
    if compiling:
        grade["value"] = spent
        title = f"{compiling} of {steps} steps compile: {percent(spent)} of step time"
        function = "jax.jit" if evidence.is_jax else "tf.function(jit_compile=True)"
        action = (
            "The program still compiles in its last steps, so this is not its warm-up. Create "
            f"functions for {function} once, outside of the loop: a new lambda, partial or nested "
            "function is compiled again. Keep shapes and static arguments constant: pad batches, "
            "or use only a few sizes."
        )
    yield Finding(
        id="compilation",
        **grade,
        title=title,
        detail=(
            f"{count}, {milliseconds(host.compile_ps / 1e9)} in total, from "
            f"{milliseconds(host.compile_first_ps / 1e9)} to "
            f"{milliseconds(host.compile_last_ps / 1e9)} of the trace "
            f"({names_text}).{_compiled_functions(host)}{covered_elsewhere(evidence, gain)}"
        ),
        gain=gain,
        action=action,
        evidence=trace,
        guide=XLA_GUIDE,
    )


def _compiled_functions(host: HostFacts) -> str:
    """A sentence on the functions in whose calls the compiler ran, "" if unknown."""
    if not host.compiled_name:
        return ""
    calls = zip(host.compiled_name, host.compiled_calls.tolist(), strict=True)
    listed = [f"{shortened(name, 60)} ({_times(count, 'call')})" for name, count in calls]
    return f" Compiled functions: {few(listed, 3)}."


def tracing(evidence: Evidence) -> Iterator[Finding]:
    """Steps that trace functions, such as those of new datasets, without another finding on it."""
    share = evidence.unclaimed(Phase.COMPILATION)
    grade = graded(share, *COMPILING)
    if grade is None:
        return
    gain = evidence.gain_of(share, Phase.COMPILATION)
    trace = TRACE.marking("category:compilation", evidence.worst_step_in(Phase.COMPILATION))
    yield Finding(
        id="compilation",
        **grade,
        title=f"Tracing and compiling functions take {percent(share)} of step time",
        detail=(
            f"In an average step of {milliseconds(evidence.step_ms)}, they take "
            f"{milliseconds(share / 100 * evidence.step_ms)} during which no op computes."
        ),
        gain=gain,
        action=(
            "Create functions for jax.jit once, outside of the loop."
            if evidence.is_jax
            else "Create tf.functions, and datasets with their functions, once, outside of the "
            "loop. Keras's predict() and evaluate() create a dataset in each call: for single "
            "batches, call the model itself or predict_on_batch()."
        ),
        evidence=trace,
        guide=FUNCTION_GUIDE,
    )


def compiling_steps(evidence: Evidence) -> tuple[int, int]:
    """(steps that compile, complete steps), (0, 0) unless most do and one of the last two does."""
    job = evidence.job
    rows = used_rows(job)
    steps = np.unique(job.step[rows])
    compile_ps = job.phase_ps[rows, Phase.COMPILATION]
    compiles = compile_ps > COMPILING[0] / 100 * job.duration_ps[rows]
    compiling = np.unique(job.step[rows][compiles])
    if steps.size < _FEWEST_STEPS or 2 * compiling.size < steps.size:
        return 0, 0
    return (compiling.size, steps.size) if compiling[-1] >= steps[-2] else (0, 0)


def _span(evidence: Evidence, facts: HostFacts) -> dict[str, str]:
    """The trace viewer parameters from a host's first compilation to its last."""
    hosts = evidence.job.hosts
    host_index = next(index for index, host in enumerate(evidence.hosts) if host is facts)
    place = {"hosts": hosts[host_index]} if len(hosts) > 1 else {}
    if facts.compile_first_ps >= 0:
        place["from_ms"] = f"{facts.compile_first_ps / 1e9:.9f}"
        place["to_ms"] = f"{facts.compile_last_ps / 1e9:.9f}"
    return place


def outside_compilation(evidence: Evidence) -> Iterator[Finding]:
    """Ops of a compiled program that run on the host while the device waits."""
    ops = evidence.ops
    device = float(ops.self_ps[ops.is_device].sum())
    outside = [
        row
        for row in np.flatnonzero(ops.is_device).tolist()
        if ops.type[row] in OUTSIDE_TYPES or ops.name[row].rpartition(":")[2] in OUTSIDE_TYPES
    ]
    if device <= 0 or not outside:
        return
    time = float(ops.self_ps[outside].sum())
    grade = graded(100 * time / device, *OUTSIDE)
    if grade is None:
        return
    # The cores run ops for a part of each step, including transfers to the host.
    share = time / device * evidence.share(*ON_CORES)
    gain = evidence.gain_of(share, *_TRANSFERS, *WORK)
    yield Finding(
        id="outside_compilation",
        **grade,
        title=(
            f"{percent(100 * time / device)} of device op time is spent exchanging data with ops "
            "on the host"
        ),
        detail=(
            "The host runs parts of the program that the device cannot run, which takes "
            f"{int(ops.occurrences[outside].sum()):,} transfers."
        ),
        gain=gain,
        action=(
            "Replace the ops that the device cannot run (prints, summaries, strings, py_function), "
            "or run them every few steps."
        ),
        next_page=OPS,
        evidence=OPS.showing(type="/XlaSendToHost|XlaRecvFromHost/"),
        guide=XLA_GUIDE,
    )


def _listed(names: list[str]) -> str:
    return ", ".join(shortened(name, 60) for name in names)


HOST_RULES: tuple[Rule, ...] = (eager_ops, outside_compilation)
COMPILATION_RULES: tuple[Rule, ...] = (retracing, compilation, tracing)

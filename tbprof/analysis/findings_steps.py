"""Findings from what steps are made of: output, launches, gaps, Python."""

from collections.abc import Iterator

from tbprof.analysis.bottlenecks import (
    HIGH,
    HIGHLY_INPUT_BOUND,
    MODERATE,
    MODERATELY_INPUT_BOUND,
)
from tbprof.analysis.finding import (
    FUNCTION_GUIDE,
    GPU_GUIDE,
    OPS,
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
from tbprof.analysis.host_facts import HostFacts
from tbprof.analysis.phases import Phase

# Percentages of step time, moderate and high; output weighs as input does.
WAITING = (MODERATELY_INPUT_BOUND, HIGHLY_INPUT_BOUND)
OVERHEAD = (MODERATE, HIGH)


def output_bound(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait while results go to the host."""
    share = evidence.share(Phase.OUTPUT)
    grade = graded(share, *WAITING)
    if grade is None:
        return
    gain_ms, gain_ratio = evidence.gain_of(share)
    place = evidence.worst_step_in(Phase.OUTPUT)
    is_gpu = evidence.platform == "GPU"
    trace = TRACE.marking("/^memcpyd(2|to)h/" if is_gpu else "category:output", place)
    yield Finding(
        "output_bound",
        grade[0],
        f"{percent(share)} of step time goes to results on their way to the host",
        f"Copies from device to host that nothing else hides take "
        f"{milliseconds(evidence.means.mean_ms(Phase.OUTPUT))} of a step.",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        "Fetch losses and metrics every few steps rather than in every one, keep them on the "
        "device in between, and read them without waiting.",
        trace,
        OPS.showing(type="MemcpyDToH") if is_gpu else trace,
        GPU_GUIDE,
    )


def kernel_launch(evidence: Evidence) -> Iterator[Finding]:
    """Devices that wait until the host has launched the next kernel."""
    share = evidence.share(Phase.KERNEL_LAUNCH)
    grade = graded(share, *OVERHEAD)
    if grade is None:
        return
    gain_ms, gain_ratio = evidence.gain_of(share)
    contention = ""
    if evidence.inputs is not None and evidence.inputs.has_tf_data:
        contention = (
            " tf.data runs on the same cores: threads of its own for each GPU "
            "(TF_GPU_THREAD_MODE=gpu_private) may shorten launches."
        )
    trace = TRACE.marking("category:launch", evidence.worst_step_in(Phase.KERNEL_LAUNCH))
    yield Finding(
        "kernel_launch",
        grade[0],
        f"{percent(share)} of step time goes to launching kernels",
        "In that time the devices were idle while the host was launching work for them: "
        f"{milliseconds(evidence.means.mean_ms(Phase.KERNEL_LAUNCH))} of a step.",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        "Launch fewer and larger kernels: fuse them with XLA (jit_compile=True), raise the batch "
        f"size, run several steps in one call.{contention}",
        trace,
        trace,
        GPU_GUIDE,
    )


def gap_between_steps(evidence: Evidence) -> Iterator[Finding]:
    """Time between the end of a step's own work and the start of the next one, with no work in it.

    Devices that still work after the marker has ended, on whatever, leave no gap.
    """
    share = evidence.means.share_of(evidence.means.gap_ps)
    grade = graded(share, *OVERHEAD)
    if grade is None:
        return
    gain_ms, gain_ratio = evidence.gain_of(share)
    name = evidence.job.marker
    after = f" with the event {shortened(name)}" if name else ""
    nobody = "no op computes" if evidence.platform == "CPU" else "no device works"
    place = evidence.worst_row(evidence.gap_ps)
    trace = TRACE.marking(f"whole:{name}" if name else "", place)
    yield Finding(
        "gap_between_steps",
        grade[0],
        f"{percent(share)} of step time passes idle between the end of a step and the next one",
        f"Once all work of a step has ended, {milliseconds(share / 100 * evidence.step_ms)} pass "
        f"on average until the next one begins{after}, in which {nobody}. Input that is fetched "
        "there counts as input only where the trace shows the wait.",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        "Look at what the program does between its steps: fetching the next batch, callbacks, "
        "logging, checkpoints. Do it every few steps, or on another thread.",
        trace,
        trace,
        PROFILER_GUIDE,
    )


def all_others(evidence: Evidence) -> Iterator[Finding]:
    """Step time that no event explains, and Python where its frames were recorded."""
    share = evidence.share(Phase.OTHER)
    grade = graded(share, *OVERHEAD)
    if grade is None:
        return
    gain_ms, gain_ratio = evidence.gain_of(share)
    traced = [host for host in evidence.hosts if host.has_python and host.python_span_ps > 0]
    thread = max(traced, key=lambda host: host.python_ps, default=None)
    python = 100 * thread.python_ps / thread.python_span_ps if thread is not None else 0.0
    place = evidence.worst_step_in(Phase.OTHER)
    idle = milliseconds(evidence.means.mean_ms(Phase.OTHER))
    if thread is not None and python >= OVERHEAD[0]:
        frames = ", ".join(
            f"{shortened(name, 60)} ({milliseconds(time / 1e9)})"
            for name, time in zip(
                thread.python_name[:3], thread.python_name_ps[:3].tolist(), strict=True
            )
        )
        trace = TRACE.marking(f"whole:{thread.python_name[0]}", place)
        yield Finding(
            "python_overhead",
            grade[0],
            f"Python may hold up {percent(share)} of step time",
            f"In {idle} of a step {_nobody(evidence)} at work. Python's own work takes "
            f"{percent(python)} of the thread {shortened(thread.python_thread, 40)}, most of it "
            f"in {frames}. It waits for {_waiting(thread)} of the time.",
            share,
            "%",
            grade[1],
            gain_ms,
            gain_ratio,
            "Move that work out of the loop or into a compiled function (tf.function, jax.jit), "
            "and do metrics, logging and callbacks every few steps.",
            trace,
            trace,
            FUNCTION_GUIDE,
        )
        return
    recorded = (
        "" if traced else " The Python tracer was off: with python_tracer_level 1 it would show."
    )
    yield Finding(
        "all_others",
        grade[0],
        f"Nothing was at work in {percent(share)} of step time",
        f"In {idle} of a step {_nobody(evidence)} at work: Python, input that leaves no events, "
        f"or waiting for something else.{recorded}",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        _idle_action(evidence),
        TRACE.marking(place=place),
        TRACE.marking(place=place),
        PROFILER_GUIDE,
    )


def _nobody(evidence: Evidence) -> str:
    return "no op was" if evidence.platform == "CPU" else "neither a device nor an op was"


def _waiting(thread: HostFacts) -> str:
    return percent(100 * thread.python_wait_ps / thread.python_span_ps)


def _idle_action(evidence: Evidence) -> str:
    if evidence.platform == "TPU":
        return (
            "Give the device more to do per call of the host: several steps in one compiled "
            "function, a larger batch, and input that is ready before it is asked for."
        )
    return (
        "See in the timeline what the program's thread does then; record it with the Python "
        "tracer, or with annotations around what you suspect."
    )


STEP_RULES: tuple[Rule, ...] = (
    output_bound,
    kernel_launch,
    gap_between_steps,
    all_others,
)

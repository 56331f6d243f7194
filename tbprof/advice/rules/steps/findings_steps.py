"""Findings about phases of steps: output, kernel launch, gaps between steps."""

from __future__ import annotations

from collections.abc import Iterator

from tbprof.advice.bottlenecks import OVERHEAD, WAITING, contends
from tbprof.advice.evidence import Evidence, Rule, covered_elsewhere
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import GPU_GUIDE, PROFILER_GUIDE
from tbprof.advice.idle_claims import gap_shares
from tbprof.advice.pages import OPS, TRACE
from tbprof.advice.rules.host.findings_reads import advice_on_checks, readers_in_words
from tbprof.advice.rules.steps.findings_input import (
    TO_HOST,
    average_bytes,
    copies_in_words,
    copies_take_little,
)
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.vocabulary.phases import Phase

# This share of a sum counts as all of it.
_NEARLY_ALL = 0.98
# Results of this many bytes are no losses or metrics.
_LARGE = 2**20
# A Python loop with markers takes several microseconds per step, whatever it does.
_LOOP_MS = 0.02


def output_bound(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait while results are copied to the host, or until the host has read them."""
    share = evidence.share(Phase.OUTPUT)
    gain = evidence.gain_of(share, Phase.OUTPUT)
    grade = graded(gain.own, *WAITING, value=share)
    if grade is None:
        return
    is_cpu = evidence.platform == "CPU"
    title, detail = _written(evidence) if is_cpu else _read(evidence)
    place = evidence.worst_step_in(Phase.OUTPUT)
    has_copies = evidence.platform == "GPU" and not copies_take_little(evidence, Phase.OUTPUT)
    trace = TRACE.marking("/^memcpyd(2|to)h/" if has_copies else "category:output", place)
    yield Finding(
        id="output_bound",
        **grade,
        title=f"{percent(share)} of step time goes to {title}",
        detail=detail,
        gain=gain,
        action=_WRITE_LESS if is_cpu else advice_on_checks(evidence) or _read_advice(evidence),
        next_page=trace,
        evidence=OPS.showing(type=TO_HOST) if has_copies else trace,
        guide=GPU_GUIDE,
    )


_WRITE_LESS = "Write them less often, or in another thread."


def _read_advice(evidence: Evidence) -> str:
    if average_bytes(evidence.gpus, TO_HOST) >= _LARGE:
        return (
            "Send less: reduce results on the device to what the host needs (sums, the largest "
            "values, narrower types), send them every few steps rather than in every step, and "
            "read them asynchronously."
        )
    return (
        "Fetch losses and metrics every few steps rather than in every step, keep them on the "
        "device in between, and read them asynchronously."
    )


def _written(evidence: Evidence) -> tuple[str, str]:
    """(end of the title, detail) of output without devices."""
    takes = milliseconds(evidence.means.mean_ms(Phase.OUTPUT))
    return (
        "output: checkpoints and summaries",
        f"Ops that write checkpoints and summaries, or return results, take {takes} per step.",
    )


def _read(evidence: Evidence) -> tuple[str, str]:
    """The same of results of devices, which are copied to the host."""
    takes = milliseconds(evidence.means.mean_ms(Phase.OUTPUT))
    readers = readers_in_words(evidence)
    if copies_take_little(evidence, Phase.OUTPUT):
        copies = copies_in_words(evidence.gpus, TO_HOST).rstrip(".")
        detail = (
            f"The devices are idle for {takes} per step while the host reads results. {_COPY} "
            f"({copies}). {_REST}{readers}"
        )
        return "reading results of devices", detail
    copying = "Copies from device to host that do not overlap with other work take"
    return "copying results to the host", f"{copying} {takes} per step.{readers}"


_COPY = "They copy data in a small part of that"
_REST = (
    "In the rest, the host notices that results are ready, starts the copies, and stores what "
    "arrives."
)


def kernel_launch(evidence: Evidence) -> Iterator[Finding]:
    """Devices that wait until the host has launched the next kernel."""
    share = evidence.share(Phase.KERNEL_LAUNCH)
    gain = evidence.gain_of(share, Phase.KERNEL_LAUNCH)
    grade = graded(gain.own, *OVERHEAD, value=share)
    if grade is None:
        return
    trace = TRACE.marking("category:launch", evidence.worst_step_in(Phase.KERNEL_LAUNCH))
    yield Finding(
        id="kernel_launch",
        **grade,
        title=f"{percent(share)} of step time goes to launching kernels",
        detail=(
            "During that time, the devices were idle while the host launched work for them: "
            f"{milliseconds(evidence.means.mean_ms(Phase.KERNEL_LAUNCH))} per "
            f"step.{_graph_updates(evidence)}{covered_elsewhere(evidence, gain)}"
        ),
        gain=gain,
        action=_launch_advice(evidence),
        evidence=trace,
        guide=GPU_GUIDE,
    )


# Updates of graphs are mentioned from this share of the time of launches on.
_NOTABLE_UPDATES = 0.1
_SAME_ADDRESSES = (
    " Arrays may stay at their addresses if arguments that are replaced are donated "
    "(donate_argnums)."
)


def _graph_updates(evidence: Evidence) -> str:
    """Sentences on updates of CUDA graphs, "" if they take little of the time of launches."""
    count = sum(host.graph_updates for host in evidence.hosts)
    update_ps = sum(host.graph_update_ps for host in evidence.hosts)
    if update_ps < _NOTABLE_UPDATES * int(evidence.job.phase_ps[:, Phase.KERNEL_LAUNCH].sum()):
        return ""
    if not count:
        return ""
    return (
        f" XLA updated CUDA graphs {count:,} times before launching them, in "
        f"{milliseconds(update_ps / 1e9)} in total. It does so if arrays are at other addresses "
        "than at the last launch, and always for some kinds of ops."
    )


def _launch_advice(evidence: Evidence) -> str:
    """How to launch less often, and how to keep other threads from competing for processors."""
    if any(host.is_xla for host in evidence.hosts):
        has_graphs = any(host.has_graphs for host in evidence.hosts)
        advice = (
            f"XLA already compiles the program{' and launches CUDA graphs' if has_graphs else ''}. "
            "Do more in each call: a larger batch, several steps per call (lax.scan in JAX, "
            "steps_per_execution in Keras)"
        )
        graphs = ", or let XLA launch many kernels at once (command buffers, CUDA graphs)"
        advice += "." if has_graphs else f"{graphs}."
        advice += _SAME_ADDRESSES if _graph_updates(evidence) else ""
    else:
        advice = (
            "Launch fewer and larger kernels: fuse them with XLA (jit_compile=True), raise the "
            "batch size, run several steps in one call (steps_per_execution in Keras)."
        )
    if evidence.platform == "GPU" and contends(evidence.means, evidence.inputs):
        advice += (
            " Two or more tf.data threads work at the same time. If they occupy all of the "
            "host's cores, give launches their own threads (TF_GPU_THREAD_MODE=gpu_private), "
            "tf.data fewer threads (options.threading.private_threadpool_size), and host ops "
            "fewer threads (tf.config.threading.set_intra_op_parallelism_threads and "
            "set_inter_op_parallelism_threads)."
        )
    return advice


def gap_between_steps(evidence: Evidence) -> Iterator[Finding]:
    """Idle time between the end of a step's own work and the start of the next step.

    If a device still does any work after the marker has ended, that is no gap. A function that
    takes most of the gap has its own finding.
    """
    share, unexplained = gap_shares(evidence)
    gain = evidence.gain_of(unexplained, Phase.OTHER)
    grade = graded(gain.own, *OVERHEAD, value=share)
    if grade is None or unexplained < share / 2:
        return
    # Where device work lags behind the host, steps do not begin with their markers.
    is_behind = any(part.is_behind for part in evidence.job.parts)
    name = "" if is_behind else evidence.job.marker
    after = f" with the event {shortened(name)}" if name else ""
    nobody = "no op computes" if evidence.platform == "CPU" else "no device works"
    rest = (
        f" Nothing else explains {milliseconds(unexplained / 100 * evidence.step_ms)} of that."
        if unexplained < _NEARLY_ALL * share
        else ""
    )
    place = evidence.worst_row(evidence.gap_ps)
    trace = TRACE.marking(f"whole:{name}" if name else "", place)
    yield Finding(
        id="gap_between_steps",
        **grade,
        title=(
            f"{percent(share)} of step time is idle time between the end of one step and the start "
            "of the next"
        ),
        detail=(
            f"After a step's work has ended, {milliseconds(share / 100 * evidence.step_ms)} pass "
            f"on average before the next step begins{after}; during that time, {nobody}. Fetching "
            f"input there counts as input only if the trace shows the wait.{rest}"
        ),
        gain=gain,
        action=(
            "Gaps this short are the cost of a Python loop and its markers. Do more in each step: "
            "a larger batch, or several steps in one compiled function."
            if share / 100 * evidence.step_ms < _LOOP_MS
            else "Check what the program does between its steps: fetching the next batch, "
            "callbacks, logging, checkpoints. Do this only every few steps, or in another thread."
        ),
        evidence=trace,
        guide=PROFILER_GUIDE,
    )


# Rules that know more about the time between steps run after the first and before the second.
WAITING_RULES: tuple[Rule, ...] = (output_bound, kernel_launch)
GAP_RULES: tuple[Rule, ...] = (gap_between_steps,)

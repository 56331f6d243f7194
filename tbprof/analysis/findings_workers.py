"""Findings about workers of one job: what they spend on each other, and who is late."""

from collections.abc import Iterator

from tbprof.analysis.bottlenecks import (
    HIGH,
    HIGHLY_INPUT_BOUND,
    MODERATE,
    MODERATELY_INPUT_BOUND,
)
from tbprof.analysis.finding import (
    GPU_GUIDE,
    OPS,
    POD,
    Evidence,
    Finding,
    Rule,
    graded,
    milliseconds,
    percent,
    shortened,
)
from tbprof.analysis.phases import Phase
from tbprof.analysis.stragglers import find_stragglers

# Percentages of step time, moderate and high; others wait for a late worker as for input.
TALKING = (MODERATE, HIGH)
LATE = (MODERATELY_INPUT_BOUND, HIGHLY_INPUT_BOUND)

# Names of ops that communicate, as the page of ops filters them.
_OPS = "/nccl|rccl|collective|all.?reduce|all.?gather|reduce.?scatter|all.?to.?all/"

_LABELS = {
    Phase.COLLECTIVES: "collectives",
    Phase.DEVICE_TO_DEVICE: "copies between devices",
    Phase.HOST_TRANSFER: "copies to and from the host's memory",
    Phase.INPUT: "waiting for input",
    Phase.OUTPUT: "output",
    Phase.COMPILATION: "compilation",
    Phase.KERNEL_LAUNCH: "kernel launch",
    Phase.HOST_COMPUTE: "host compute",
    Phase.OTHER: "nothing that was recorded",
}


def collectives(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait for communication among devices."""
    share = evidence.share(Phase.COLLECTIVES)
    grade = graded(share, *TALKING)
    if grade is None:
        return
    gain_ms, gain_ratio = evidence.gain_of_work(share, Phase.COLLECTIVES)
    yield Finding(
        "collectives",
        grade[0],
        f"{percent(share)} of step time goes to collective communication",
        "All-reduces and the like that no computation hides take "
        f"{milliseconds(evidence.means.mean_ms(Phase.COLLECTIVES))} of a step; waiting for late "
        "devices is part of it.",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        "Reduce gradients in fewer and larger pieces, in 16 bit, while the backward pass still "
        "runs; a larger batch per device communicates less often.",
        POD,
        OPS.showing(operation=_OPS),
        GPU_GUIDE,
    )


def stragglers(evidence: Evidence) -> Iterator[Finding]:
    """The worker that makes the others wait longest."""
    found = find_stragglers(evidence.job)
    if not found.worker.size:
        return
    share = 100 * float(found.share[0])
    grade = graded(share, *LATE)
    if grade is None:
        return
    worker = int(found.worker[0])
    job = evidence.job
    name = job.worker_name[worker]
    if len(job.hosts) > 1:
        name = f"{name} of {job.hosts[int(job.worker_host[worker])]}"
    late_ms = float(found.late_ps[0]) / 1e9
    others = f" {found.worker.size - 1} more are late." if found.worker.size > 1 else ""
    gain_ms, gain_ratio = evidence.gain_of_lateness(share)
    yield Finding(
        "straggler",
        grade[0],
        f"{shortened(name)} makes the others wait for {percent(share)} of step time",
        f"It needs {milliseconds(late_ms)} per step longer than the median of its peers, most of "
        f"it in {_LABELS.get(Phase(int(found.phase[0])), 'computation')}, and was the last in "
        f"{int(found.last_steps[0])} of {found.steps} steps.{others}",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        "Give every device equally much to do, and see what else runs on the late one's host.",
        POD,
        POD,
        GPU_GUIDE,
    )


WORKER_RULES: tuple[Rule, ...] = (collectives, stragglers)

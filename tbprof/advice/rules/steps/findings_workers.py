"""Findings about the workers of a job: communication, and late workers."""

from __future__ import annotations

from collections.abc import Iterator

from tbprof.advice.bottlenecks import OVERHEAD, WAITING
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import GPU_GUIDE, MULTISLICE_GUIDE, TPU_GUIDE
from tbprof.advice.outlier_causes import LABELS, what_takes_longer
from tbprof.advice.pages import OPS, POD, TRACE, Page
from tbprof.advice.rules.devices.findings_tpu import grouped, showing_ops
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.hlo.host_channels import Peer
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.stragglers import CONFIDENCE, Lateness, find_stragglers
from tbprof.analysis.tpu.tpu_ops import TpuOps
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.analysis.vocabulary.training import is_training

# Names of ops that communicate, as a filter of the op table.
_OPS = "/nccl|rccl|collective|all.?reduce|all.?gather|reduce.?scatter|all.?to.?all/"


def collectives(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait for communication among devices, without waits for a late worker.

    The late worker arrives last and waits for no other, so its collectives are communication only.
    """
    share = evidence.share(Phase.COLLECTIVES)
    late = _latest(evidence)
    remaining = share if late is None else min(share, _collective_share(evidence, late.worker))
    grade = graded(remaining, *OVERHEAD)
    if grade is None:
        return
    gain = evidence.gain_of(remaining, Phase.COLLECTIVES)
    title = f"{percent(share)} of step time goes to collective communication"
    waits = "this includes waiting for late devices."
    if late is not None and remaining < share:
        name = shortened(worker_name(evidence.job, late.worker, late.device))
        title += f", {percent(remaining)} without waiting for {name}"
        waits = f"{milliseconds(remaining / 100 * evidence.step_ms)} on {name}, which is late."
    ops = evidence.tpu_ops
    collective_ops = (
        [ops.op[row] for row in ops.longest(ops.is_collective)] if ops is not None else []
    )
    slices = ops is not None and bool((ops.peer == Peer.SLICES).any())
    yield Finding(
        id="collectives",
        **grade,
        title=title,
        detail=(
            "All-reduces and other collectives that do not overlap with computation take "
            f"{milliseconds(evidence.means.mean_ms(Phase.COLLECTIVES))} per step; "
            f"{waits}{_between_slices(evidence.tpu_ops)}"
        ),
        gain=gain,
        action=_communicate_less(evidence, has_slices=slices),
        next_page=POD,
        evidence=_evidence(evidence, collective_ops),
        guide=MULTISLICE_GUIDE
        if slices
        else TPU_GUIDE
        if evidence.platform == "TPU"
        else GPU_GUIDE,
    )


def _communicate_less(evidence: Evidence, *, has_slices: bool) -> str:
    """What to do about collectives: only programs that train have gradients."""
    how = (
        "Reduce gradients in fewer, larger transfers, with 16-bit types, and while the backward "
        "pass still runs."
        if is_training(evidence.ops.name)
        else "Communicate in fewer, larger transfers, with 16-bit types, and while other ops "
        "compute."
    )
    rest = "A larger batch per device communicates less often."
    return f"{how} {rest}{_NETWORK if has_slices else ''}"


def _evidence(evidence: Evidence, collective_ops: list[str]) -> Page:
    """The page that shows ops that communicate, or waits for other cores, which are not ops."""
    if collective_ops:
        return showing_ops(collective_ops)
    if evidence.tpu_ops is not None:
        return TRACE.marking("category:collectives", evidence.worst_step_in(Phase.COLLECTIVES))
    return OPS.showing(operation=_OPS)


_NETWORK = (
    " Between slices, exchange only gradients: keep mesh axes that split the model within a "
    "slice. Accumulate gradients over several batches to use the network less often."
)


def _latest(evidence: Evidence) -> Lateness | None:
    """The worker that others wait for longest, None if there is no finding about it.

    Simulated devices of a CPU have no collectives in the steps.
    """
    late = find_stragglers(evidence.job, evidence.means, evidence.couplings).late
    is_reported = late and late[0].device < 0 and graded(100 * late[0].share, *WAITING) is not None
    return late[0] if is_reported else None


def _collective_share(evidence: Evidence, worker: int) -> float:
    """The percentage of time in collectives in one worker's counted steps."""
    job = evidence.job
    rows = (job.worker == worker) & evidence.means.is_counted[job.step] & ~job.is_unrecorded
    total_ps = float(job.duration_ps[rows].sum())
    return (
        100 * float(job.phase_ps[rows, Phase.COLLECTIVES].sum()) / total_ps if total_ps > 0 else 0.0
    )


def _between_slices(ops: TpuOps | None) -> str:
    """A sentence on the share of op time in exchanges with other slices, "" without any."""
    rows = ops.longest(ops.peer == Peer.SLICES) if ops is not None else []
    if ops is None or not rows:
        return ""
    share = 100 * float(ops.self_ps[rows].sum()) / float(ops.self_ps.sum())
    op_names = grouped([ops.op[row] for row in rows])
    return (
        f" {percent(share)} of the cores' op time goes to exchanges with other slices over the "
        f"data center network ({op_names})."
    )


def stragglers(evidence: Evidence) -> Iterator[Finding]:
    """The worker that makes the others wait longest."""
    stragglers = find_stragglers(evidence.job, evidence.means, evidence.couplings)
    if not stragglers.late:
        return
    lateness = stragglers.late[0]
    share = 100 * lateness.share
    grade = graded(share, *WAITING)
    if grade is None:
        return
    name = shortened(worker_name(evidence.job, lateness.worker, lateness.device))
    peer = shortened(worker_name(evidence.job, lateness.reference, lateness.reference_device))
    lost_in = _lost_in(evidence, lateness)
    more = len(stragglers.late) - 1
    others = f" {more} more {'makes' if more == 1 else 'make'} others wait." if more else ""
    waited = 100 * lateness.wait_ps / 1e9 / evidence.step_ms
    gain = evidence.gain_of(min(share, waited), *_phases_of(lateness))
    yield Finding(
        id="straggler",
        **grade,
        title=f"{name} makes the others wait for {percent(share)} of step time",
        detail=(
            f"It takes {milliseconds(lateness.late_ps / 1e9)} longer per step "
            f"({100 * CONFIDENCE:.0f} % confidence: {interval(lateness)} over {lateness.steps} "
            f"steps) than {peer}, the median of its peers{lost_in}. Meanwhile, {peer} waits "
            f"{milliseconds(lateness.wait_ps / 1e9)} longer in collectives.{others}"
        ),
        gain=gain,
        action=(
            "Give every device the same amount of work, and check what else runs on the host of "
            "the slow one."
        ),
        next_page=POD,
        evidence=POD.choosing(worker=lateness.worker),
        guide=GPU_GUIDE,
    )


def _phases_of(lateness: Lateness) -> tuple[Phase, ...]:
    """The phases that get shorter if a late worker becomes faster, in the order that gains use.

    Other workers wait in collectives; the late one loses time mainly in `phase`, or in compute.
    """
    own_phases = (
        COMPUTE
        if lateness.phase in COMPUTE
        else (Phase(lateness.phase),)
        if lateness.phase >= 0
        else ()
    )
    first = (Phase.COLLECTIVES, *own_phases, *COMPUTE, Phase.HOST_COMPUTE, Phase.OTHER)
    return tuple(dict.fromkeys((*first, *Phase)))


def _lost_in(evidence: Evidence, lateness: Lateness) -> str:
    """A clause on the phase with most of a late worker's lost time, and on its cause if known."""
    if lateness.phase < 0:
        return ""
    cause = ""
    if lateness.phase == Phase.OTHER:
        workers = lateness.worker, lateness.reference
        job, means = evidence.job, evidence.means
        cause = what_takes_longer(job, means, evidence.idle_time, workers, lateness.late_ps)
    return f", most of it {LABELS[Phase(lateness.phase)]}" + (f" ({cause})" if cause else "")


def worker_name(job: JobSteps, worker: int, device: int) -> str:
    """The name of a worker in a sentence, with its host if there are several."""
    name = job.worker_name[worker] if device < 0 else f"CPU device {device}"
    several = len(job.hosts) > 1
    return f"{name} of {job.hosts[int(job.worker_host[worker])]}" if several else name


def interval(lateness: Lateness) -> str:
    """The interval of a lateness for a sentence: "3.2 ms to 5.1 ms"."""
    return f"{milliseconds(lateness.low_ps / 1e9)} to {milliseconds(lateness.high_ps / 1e9)}"


WORKER_RULES: tuple[Rule, ...] = (collectives, stragglers)

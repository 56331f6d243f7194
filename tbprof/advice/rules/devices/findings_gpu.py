"""Findings about kernels of GPUs: their size, their precision."""

from __future__ import annotations

from collections.abc import Iterator

from tbprof.advice.bottlenecks import LITTLE_16_BIT
from tbprof.advice.evidence import Evidence, Rule, covered_elsewhere
from tbprof.advice.finding import Finding, graded
from tbprof.advice.gain import Gain
from tbprof.advice.guides import PRECISION_GUIDE, XLA_GUIDE
from tbprof.advice.pages import KERNELS
from tbprof.advice.sentences import milliseconds, percent
from tbprof.analysis.devices.tensor_cores import CoreUse, core_name
from tbprof.analysis.gpu.gpu_facts import PAUSE_PS, SMALL_PS
from tbprof.analysis.job.step_means import StepMeans
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.base.records import replace

# Percentages of the time from a GPU's first event to its last; ours. They are low, since small
# kernels add to other findings.
SMALL = (10.0, 30.0)
_PAUSES = 3.0
# Percentages of the time of all kernels; ours.
ELIGIBLE = (10.0, 40.0)


def small_kernels(evidence: Evidence) -> Iterator[Finding]:
    """GPUs that run many kernels that are too short to hide the launch of the next one."""
    gpus = evidence.gpus
    window = float(gpus.window_ps.sum())
    if window <= 0 or not gpus.small_kernels.any():
        return
    gaps = float(gpus.small_gap_ps.sum())
    share = 100 * (float(gpus.small_ps.sum()) + gaps) / window
    grade = graded(share, *SMALL)
    if grade is None:
        return
    count, small = int(gpus.kernels.sum()), int(gpus.small_kernels.sum())
    gain = _gain_of_pauses(evidence, 100 * gaps / window)
    if gain.own < _PAUSES:  # launches cost the GPU nothing, however short its kernels are
        grade["severity"] = "low"
    yield Finding(
        id="small_kernels",
        **grade,
        title=(
            f"Kernels under {SMALL_PS // 10**6} µs and the pauses before them take "
            f"{percent(share)} of GPU time"
        ),
        detail=(
            f"{small:,} of {count:,} kernels are that short; the overall median is "
            f"{milliseconds(_median(evidence) / 1e9)}. Launching a kernel alone takes the host 5 "
            f"to 20 µs, so short kernels may leave the GPU idle: {milliseconds(gaps / 1e9)} is "
            f"spent in pauses of up to {PAUSE_PS // 10**6} µs.{covered_elsewhere(evidence, gain)}"
        ),
        gain=gain,
        action=(
            "XLA already compiles the program. Do more in each op: a larger batch, and fewer ops "
            "on small arrays one after another (jax.vmap in place of loops, lax.scan with unroll)."
            if any(host.is_xla for host in evidence.hosts)
            else "Fuse small kernels with XLA (jit_compile=True), and raise the batch size."
        ),
        next_page=KERNELS,
        evidence=KERNELS.showing(avg_duration_us=f"<{SMALL_PS // 10**6}"),
        guide=XLA_GUIDE,
    )


def _gain_of_pauses(evidence: Evidence, share: float) -> Gain:
    """The cost of pauses before kernels, without launches, which have their own finding.

    A pause is either a known launch, or time in which nothing was recorded.
    """
    launch_share = evidence.share(Phase.KERNEL_LAUNCH) - evidence.unclaimed(Phase.KERNEL_LAUNCH)
    phases = (Phase.KERNEL_LAUNCH, Phase.OTHER, Phase.HOST_COMPUTE)
    gain = evidence.gain_of(max(share - launch_share, 0.0), *phases)
    return replace(gain, shared=gain.shared + min(share, launch_share))


def _median(evidence: Evidence) -> int:
    """The median kernel duration on the GPU that ran most kernels, in ps."""
    gpus = evidence.gpus
    return int(gpus.median_ps[int(gpus.kernels.argmax())])


def no_mixed_precision(evidence: Evidence) -> Iterator[Finding]:
    """Kernels that could use the Tensor Cores of their GPU and are known not to."""
    kernels = evidence.kernels
    total = float(kernels.total_ps.sum())
    if total <= 0 or not _has_tensor_cores(evidence):
        return
    could = kernels.is_eligible & (kernels.core_use == CoreUse.NO)
    share = 100 * float(kernels.total_ps[could].sum()) / total
    low = low_precision_share(evidence.means)
    grade = graded(share, *ELIGIBLE)
    if grade is None or low >= LITTLE_16_BIT:
        return
    compute = evidence.share(*COMPUTE)
    # These cores are at least twice as fast, and 16-bit types halve the memory traffic.
    gain = evidence.gain_of_work(compute * share / 100 / 2, *COMPUTE)
    of_compute = (
        f" {percent(low)} of device compute uses 16-bit or narrower types." if low == low else ""
    )
    unknown = 100 * float(kernels.total_ps[kernels.core_use == CoreUse.UNKNOWN].sum()) / total
    not_known = f" For {percent(unknown)} of kernel time, this is unknown." if unknown > 0 else ""
    of_amd = evidence.is_amd
    cores = core_name(is_amd=of_amd)
    remedy = "bfloat16 arrays" if evidence.is_jax else "tf.keras.mixed_precision"
    sizes = "" if of_amd else " Keep sizes multiples of 8."
    yield Finding(
        id="no_mixed_precision",
        **grade,
        title=f"{percent(share)} of kernel time is in ops that could use {cores} but do not",
        detail=(
            "Their matrix products and convolutions run on ordinary "
            f"cores.{of_compute}{not_known} On {cores}, with 16-bit types, they may take half the "
            "time or less."
        ),
        gain=gain,
        action=f"Use mixed precision if the model's accuracy allows it ({remedy}).{sizes}",
        next_page=KERNELS,
        evidence=KERNELS.showing(is_op_tensor_core_eligible="yes", tensor_core_use="=no"),
        guide=PRECISION_GUIDE,
    )


def low_precision_share(means: StepMeans) -> float:
    """The percentage of compute of known precision in 16-bit or narrower types; NaN without any."""
    known_phases = [phase for phase in COMPUTE if phase != Phase.COMPUTE_UNKNOWN]
    known_ms = means.mean_ms(*known_phases)
    low = means.mean_ms(Phase.COMPUTE_16, Phase.COMPUTE_8)
    return 100 * low / known_ms if known_ms > 0 else float("nan")


def _has_tensor_cores(evidence: Evidence) -> bool:
    """Whether GPUs may have Tensor Cores: False only if the trace shows that they have none."""
    for environment in evidence.environments:
        details = dict(zip(environment.detail_name, environment.detail_value, strict=True))
        capability = details.get("Compute capability", "")
        if "(" in capability and int(capability.partition(".")[0]) < 7:
            return False
    return True


GPU_RULES: tuple[Rule, ...] = (small_kernels, no_mixed_precision)

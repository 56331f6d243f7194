"""Findings about what runs on GPUs: small kernels, copies of input, precision."""

from collections.abc import Iterator

import numpy as np

from tbprof.analysis.bottlenecks import LITTLE_16_BIT
from tbprof.analysis.finding import (
    GPU_GUIDE,
    KERNELS,
    OPS,
    PRECISION_GUIDE,
    TRACE,
    XLA_GUIDE,
    Evidence,
    Finding,
    Rule,
    graded,
    milliseconds,
    percent,
    size,
)
from tbprof.analysis.gpu_facts import PAUSE_PS, SMALL_PS
from tbprof.analysis.phases import COMPUTE, Phase
from tbprof.analysis.step_means import StepMeans
from tbprof.analysis.tensor_cores import CoreUse, core_name

# Percentages of the time from a GPU's first event to its last; ours, at half of what the
# statements about input take for moderate and high, as small kernels add up to other findings.
SMALL = (10.0, 30.0)
_PAUSES = 3.0
COPIES = (5.0, 20.0)
# Percentages of the time of all kernels; ours.
ELIGIBLE = (10.0, 40.0)


def small_kernels(evidence: Evidence) -> Iterator[Finding]:
    """GPUs that run many kernels too short to hide the launch of the next one."""
    gpus = evidence.gpus
    window = float(gpus.window_ps.sum())
    if window <= 0 or not gpus.small_kernels.any():
        return
    lost = float(gpus.small_gap_ps.sum())
    share = 100 * (float(gpus.small_ps.sum()) + lost) / window
    grade = graded(share, *SMALL)
    if grade is None:
        return
    count, small = int(gpus.kernels.sum()), int(gpus.small_kernels.sum())
    gain_ms, gain_ratio = evidence.gain_of(100 * lost / window)
    # Without pauses the GPU loses nothing to launches, however short its kernels are.
    yield Finding(
        "small_kernels",
        grade[0] if 100 * lost / window >= _PAUSES else "low",
        f"Kernels of less than {SMALL_PS // 10**6} µs, and the pauses before them, take "
        f"{percent(share)} of the GPUs' time",
        f"{small:,} of {count:,} kernels are that short; the median of all lasts "
        f"{milliseconds(_median(evidence) / 1e9)}. A launch takes the host 5 to 20 µs, so that "
        f"short kernels may leave the GPU idle: {milliseconds(lost / 1e9)} in pauses of up to "
        f"{PAUSE_PS // 10**6} µs.",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        "Fuse small kernels with XLA (jit_compile=True; JAX: more of the step in one jax.jit), "
        "and raise the batch size.",
        KERNELS,
        KERNELS.showing(avg_duration_us=f"<{SMALL_PS // 10**6}"),
        XLA_GUIDE,
    )


def _median(evidence: Evidence) -> int:
    """The median kernel of the GPU that ran most of them, in ps."""
    gpus = evidence.gpus
    return int(gpus.median_ps[int(gpus.kernels.argmax())])


def copies_to_device(evidence: Evidence) -> Iterator[Finding]:
    """GPUs to which the host copies for much of their time."""
    gpus = evidence.gpus
    is_input = np.array([kind == "MemcpyHToD" for kind in gpus.copy_kind], bool)
    window = float(gpus.window_ps.sum())
    if window <= 0 or not is_input.any():
        return
    time = float(gpus.copying_ps[is_input].sum())
    grade = graded(100 * time / window, *COPIES)
    if grade is None:
        return
    count = int(gpus.copies[is_input].sum())
    moved_ps = float(gpus.copy_ps[is_input].sum())
    sizes = gpus.copy_bytes[is_input]
    known = sizes[sizes >= 0]
    of_size = f" of {size(float(known.sum()) / count)} on average" if known.size else ""
    rate = f", {known.sum() / moved_ps * 1e3:.3g} GB/s" if known.size else ""
    pageable = int(gpus.pageable[is_input].sum())
    from_pageable = (
        f" {pageable:,} of them read memory that is not pinned, which the driver copies twice."
        if pageable
        else ""
    )
    # What computation hides costs nothing: no more can be gained than steps wait for input.
    share = min(100 * time / window, evidence.share(Phase.INPUT))
    gain_ms, gain_ratio = evidence.gain_of(share)
    yield Finding(
        "copies_to_device",
        grade[0],
        f"Copies from the host take {percent(100 * time / window)} of the GPUs' time",
        f"{count:,} {'copy' if count == 1 else 'copies'}{of_size}{rate}.{from_pageable}",
        100 * time / window,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        "Copy few large pieces rather than many small ones, in the type that the model computes "
        "in, and ahead of the step (prefetch to the device) from pinned memory.",
        TRACE.marking("/^memcpyh(2|to)d/", evidence.worst_step_in(Phase.INPUT)),
        OPS.showing(type="MemcpyHToD"),
        GPU_GUIDE,
    )


def no_mixed_precision(evidence: Evidence) -> Iterator[Finding]:
    """Products that are known to run beside the Tensor Cores of GPUs that have them."""
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
    # These cores are at least twice as fast, and 16 bit halves what has to be read.
    gain_ms, gain_ratio = evidence.gain_of_work(compute * share / 100 / 2, *COMPUTE)
    of_compute = f" {percent(low)} of device compute is in 16 bit or less." if low == low else ""
    unknown = 100 * float(kernels.total_ps[kernels.core_use == CoreUse.UNKNOWN].sum()) / total
    not_known = f" Of {percent(unknown)} of kernel time it is not known." if unknown > 0 else ""
    of_amd = evidence.is_amd
    cores = core_name(is_amd=of_amd)
    how = "bfloat16 arrays" if evidence.is_jax else "tf.keras.mixed_precision"
    sizes = "" if of_amd else " Keep sizes multiples of 8."
    yield Finding(
        "no_mixed_precision",
        grade[0],
        f"{percent(share)} of kernel time is in ops that could use {cores} and do not",
        f"Products and convolutions run on the ordinary cores.{of_compute}{not_known} On {cores}, "
        "in 16 bit, they may take half the time or less.",
        share,
        "%",
        grade[1],
        gain_ms,
        gain_ratio,
        f"Compute in mixed precision if the model's accuracy allows it ({how}).{sizes}",
        KERNELS,
        KERNELS.showing(is_op_tensor_core_eligible="yes", tensor_core_use="=no"),
        PRECISION_GUIDE,
    )


def low_precision_share(means: StepMeans) -> float:
    """The percentage of device compute in 16 bit or less, of what is known; NaN without any."""
    known = [phase for phase in COMPUTE if phase != Phase.COMPUTE_UNKNOWN]
    whole = means.mean_ms(*known)
    low = means.mean_ms(Phase.COMPUTE_16, Phase.COMPUTE_8)
    return 100 * low / whole if whole > 0 else float("nan")


def _has_tensor_cores(evidence: Evidence) -> bool:
    """False only where the trace tells that the GPUs are of a generation without."""
    for environment in evidence.environments:
        details = dict(zip(environment.detail_name, environment.detail_value, strict=True))
        capability = details.get("Compute capability", "")
        if "(" in capability and int(capability.partition(".")[0]) < 7:
            return False
    return True


GPU_RULES: tuple[Rule, ...] = (small_kernels, copies_to_device, no_mixed_precision)

"""What holds for every finding of every trace that any test opens.

`conftest.py` has the overview check each answer; `analysis/test_gains.py` goes through the recorded
and the shared traces. A promise that is added here is checked everywhere.
"""

import numpy as np
import pytest

from helpers.promises.sentences import check_sentence
from tbprof.advice.evidence import ON_CORES, Evidence
from tbprof.advice.finding import Finding
from tbprof.analysis.job.worker_groups import coupled_groups
from tbprof.analysis.vocabulary.phases import COMPUTE, WORK, Phase

# What findings on device work are about; all others are on time in which no device works.
ABOUT_WORK: dict[str, tuple[Phase, ...]] = {
    "device_to_device": (Phase.DEVICE_TO_DEVICE,),
    "host_transfers": (Phase.HOST_TRANSFER,),
    "collectives": (Phase.COLLECTIVES,),
    "no_mixed_precision": COMPUTE,
    "channels_last": COMPUTE,
    "bias_before_batch_norm": COMPUTE,
    "outside_compilation": ON_CORES,
    "host_callbacks": (Phase.HOST_CALLBACK, Phase.HOST_COMPUTE, Phase.OTHER),
}
ABOUT_TPU_WORK = "tpu_"
# These may be about any work of devices, and on a CPU about its ops.
ABOUT_OPS = (
    "wide_products", "small_products", "memory_bound", "moved_data", "command_buffers",
    "recomputation", "partial_tiles",
)  # fmt: skip


# Gains in steps that are not typical, by what these take more.
OF_ALL_STEPS = ("periodic_steps",)


def check_findings(evidence: Evidence, findings: list[Finding]) -> None:
    """Raises where a finding breaks a promise."""
    check_sums(evidence, findings)
    for finding in findings:
        check_gain(evidence, finding)
        for text in (finding.title, finding.detail, finding.action):
            check_sentence(text)


def check_gain(evidence: Evidence, one: Finding) -> None:
    """A gain is a part of the step, and no more than the time that the finding is about."""
    assert (one.gain_ms is None) == (one.gain_ratio is None), one.id
    if one.gain_ms is None or one.gain_ratio is None:
        return
    assert 0 <= one.gain_ratio <= 1, one.id
    # What recurs in some steps is not part of the typical one: of that and its cost it is a part.
    step_ms = evidence.step_ms
    if one.id in OF_ALL_STEPS:
        step_ms = evidence.outliers.typical_ps / 1e9 + one.gain_ms
    assert one.gain_ms == pytest.approx(one.gain_ratio * step_ms), one.id
    assert one.gain_ms <= bound_ms(evidence, one.id) * (1 + 1e-9) + 1e-12, one.id


def check_sums(evidence: Evidence, findings: list[Finding]) -> None:
    """No time is promised twice: of any phases no more than these have, nor of all idle time."""
    promising = [
        finding for finding in findings if finding.gain_ms and finding.id not in OF_ALL_STEPS
    ]
    if not promising:
        return
    for one in promising:
        of_computing = set(ABOUT_WORK.get(one.id, ())) == set(COMPUTE)
        is_of_ops = one.id.startswith(ABOUT_TPU_WORK) or one.id in ABOUT_OPS
        assert one.gain.taken or of_computing or is_of_ops, one.id
        assert sum(one.gain.taken.values()) in (0, pytest.approx(100 * (one.gain_ratio or 0)))
    for phase in Phase:
        promised = sum(one.gain.taken.get(phase, 0.0) for one in promising)
        assert promised <= evidence.share(phase) * (1 + 1e-9) + 1e-9, (phase, promised)
    idle = [phase for phase in Phase if phase not in evidence.work]
    within = [one for one in promising if one.gain.taken and set(one.gain.taken) <= set(idle)]
    assert sum(one.gain_ms or 0 for one in within) <= evidence.means.mean_ms(*idle) * (1 + 1e-9)


def bound_ms(evidence: Evidence, id_: str) -> float:
    """The time of an average step that a finding of this id is about."""
    means = evidence.means
    work = WORK if evidence.platform != "CPU" else (*WORK, Phase.HOST_COMPUTE)
    idle = means.mean_ms(*(phase for phase in Phase if phase not in work))
    if id_ in OF_ALL_STEPS:
        whole, outliers = means.whole.duration_ps, evidence.outliers.is_outlier
        return float((whole[outliers].max() - whole[means.is_whole & ~outliers].min()) / 3e9)
    if id_ in ABOUT_WORK:
        return means.mean_ms(*ABOUT_WORK[id_])
    if id_.startswith(ABOUT_TPU_WORK) or id_ in ABOUT_OPS:
        return means.mean_ms(*work)
    return waited_ms(evidence) if id_ == "straggler" else idle


def waited_ms(evidence: Evidence) -> float:
    """The most that a worker, or a device that a CPU plays, waits for others in a typical step."""
    is_counted = evidence.means.is_counted
    waits = [
        np.nanmean(group.wait_ps, axis=1).max() / 1e9
        for group in coupled_groups(evidence.job, is_counted, evidence.couplings)
    ]
    return float(max(waits, default=0.0))

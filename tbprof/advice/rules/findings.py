"""All findings of a run, largest gain first."""

from __future__ import annotations

import numpy as np

from tbprof.advice.bottlenecks import MODERATE
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import SEVERITIES, Finding
from tbprof.advice.guides import GPU_GUIDE, PROFILER_GUIDE
from tbprof.advice.pages import OPS, OVERVIEW, TRACE, Page
from tbprof.advice.rules.devices.findings_copies import COPY_RULES
from tbprof.advice.rules.devices.findings_gpu import GPU_RULES
from tbprof.advice.rules.devices.findings_layout import LAYOUT_RULES
from tbprof.advice.rules.devices.findings_memory import MEMORY_RULES
from tbprof.advice.rules.devices.findings_programs import PROGRAM_RULES
from tbprof.advice.rules.devices.findings_recomputation import RECOMPUTATION_RULES
from tbprof.advice.rules.devices.findings_tpu import TPU_RULES
from tbprof.advice.rules.host.findings_callbacks import CALLBACK_RULES
from tbprof.advice.rules.host.findings_eager import EAGER_RULES
from tbprof.advice.rules.host.findings_host import COMPILATION_RULES, HOST_RULES
from tbprof.advice.rules.host.findings_idle import IDLE_RULES
from tbprof.advice.rules.host.findings_others import OTHERS_RULES
from tbprof.advice.rules.host.findings_reads import READ_RULES
from tbprof.advice.rules.steps.findings_input import INPUT_RULES
from tbprof.advice.rules.steps.findings_outliers import OUTLIER_RULES
from tbprof.advice.rules.steps.findings_steps import GAP_RULES, WAITING_RULES
from tbprof.advice.rules.steps.findings_workers import WORKER_RULES
from tbprof.advice.sentences import milliseconds, percent
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.errors import CUT_HINT
from tbprof.base.records import replace

# A rule yields at most one finding. If two findings are about the same time, the first promises it,
# so rules that know more about the cause come first.
RULES: tuple[Rule, ...] = (
    *WORKER_RULES,
    *CALLBACK_RULES,
    *HOST_RULES,
    *COPY_RULES,
    *EAGER_RULES,
    *COMPILATION_RULES,
    *READ_RULES,
    *INPUT_RULES,
    *WAITING_RULES,
    *IDLE_RULES,
    *GPU_RULES,
    *GAP_RULES,
    *OTHERS_RULES,
    *OUTLIER_RULES,
    *LAYOUT_RULES,
    *TPU_RULES,
    *RECOMPUTATION_RULES,
    *PROGRAM_RULES,
    *MEMORY_RULES,
)


def find_findings(evidence: Evidence) -> list[Finding]:
    """The findings of all rules, by gain, then by severity.

    If none has more than low severity, there is a finding on what is good: after those on steps
    that were slow once, and before the others.
    """
    findings: list[Finding] = []
    remaining = evidence
    for rule in RULES:
        for claim in rule(remaining):
            findings.append(_graded_by_gain(claim))
            remaining = remaining.excluding(claim)
    findings.sort(
        key=lambda finding: (
            -(finding.gain_ms or 0.0),
            SEVERITIES.index(finding.severity),
            finding.id,
        )
    )
    if not evidence.step_ms > 0:  # without steps, or with steps of no length
        is_lost = bool(evidence.job.label) and not evidence.means.is_whole.any()
        return [*findings, _unrecorded(evidence) if is_lost else _no_steps(evidence)]
    is_unrecorded = evidence.job.is_step_unrecorded
    if is_unrecorded.any() and (is_unrecorded | evidence.job.is_step_truncated).all():
        return [_partly_recorded(evidence), *findings]
    # Neither small findings nor single events slow down a program.
    if any(finding.severity != "low" for finding in findings):
        return findings
    slow_steps = [finding for finding in findings if finding.id == "slow_steps"]
    others = [finding for finding in findings if finding.id != "slow_steps"]
    return [
        *slow_steps,
        _good(evidence, has_once=bool(slow_steps), has_small=bool(others)),
        *others,
    ]


def _graded_by_gain(finding: Finding) -> Finding:
    """The finding, with low severity if the step would hardly become shorter.

    Time that other findings promise counts, too.
    """
    gain = finding.gain
    is_small = gain.ratio is not None and 100 * gain.ratio + gain.shared < MODERATE
    graded: Finding = replace(finding, severity="low") if is_small else finding
    return graded


_NOTHING_ELSE = "no other figure exceeds its threshold."


def _no_steps(evidence: Evidence) -> Finding:
    is_cut = bool(evidence.job.ends_early)
    return Finding(
        id="no_steps",
        severity="low",
        title="No steps were found in the trace, so it is unknown where step time goes",
        detail=(
            evidence.job.note
            if is_cut
            else "No event marks steps, and no repeating execution could be used instead."
            if not evidence.means.steps
            else "The events that mark steps have no duration."
        ),
        value=0.0,
        unit="count",
        threshold=1.0,
        action=(
            f"{CUT_HINT.capitalize()}."
            if is_cut
            else "Choose an event that marks steps on this page, or annotate the loop: "
            "tf.profiler.experimental.Trace('train', step_num=step, _r=1) in TensorFlow, "
            "jax.profiler.StepTraceAnnotation('train', step_num=step) in JAX. Record several steps."
        ),
        next_page=TRACE,
        evidence=OVERVIEW,
        guide=PROFILER_GUIDE,
    )


def _unrecorded(evidence: Evidence) -> Finding:
    has_devices = any(part.silent_device or part.lost_devices for part in evidence.job.parts)
    if evidence.platform == "CPU" and not has_devices:
        title = (
            "The programs that the steps launched were not recorded, so it is unknown where step "
            "time goes"
        )
        detail = (
            "JAX launches a program and goes on, so the recording may have ended before the first "
            "of the launched programs did."
        )
        action = (
            "Wait for the results, with jax.block_until_ready, before the recording ends. If the "
            "programs ran on a GPU or TPU, make sure that it is traced."
        )
    else:
        title = (
            "Device activity in the steps was not recorded, so it is unknown where their time goes"
        )
        detail = "The host launched device work in each step, but the trace contains none of it."
        action = f"{_WAIT} {_SHORTER}"
    return _not_recorded(title, detail, action)


_WAIT = "Wait for results before the recording ends (jax.block_until_ready in JAX)."
_SHORTER = (
    "Record for a shorter time, and make sure that devices are traced: recorders keep a limited "
    "number of events, and may lack permission to trace devices."
)


def _partly_recorded(evidence: Evidence) -> Finding:
    """The work of devices or programs is missing from most steps, and from a part of the others."""
    job, is_cpu = evidence.job, evidence.platform == "CPU"
    count = int((~job.is_step_unrecorded).sum())
    work = "The work of programs" if is_cpu else "Device work"
    unrecorded = evidence.place_of(int(np.flatnonzero(job.is_step_unrecorded)[0]))
    return _not_recorded(
        f"{work} was recorded in only {count} of {len(job.label)} steps, and there only in part",
        "The host launched work in the other steps, too, but the trace contains none of it. "
        "Figures on this page cover only the recorded part.",
        f"{_WAIT} Otherwise, record for a shorter time: recorders keep a limited number of events.",
        TRACE.marking("" if is_cpu else "category:launch", unrecorded),
    )


def _not_recorded(title: str, detail: str, action: str, page: Page = TRACE) -> Finding:
    return Finding(
        id="steps_not_recorded",
        severity="moderate",
        title=title,
        detail=detail,
        value=0.0,
        unit="count",
        threshold=1.0,
        action=action,
        evidence=page,
        guide=PROFILER_GUIDE,
    )


def _good(evidence: Evidence, *, has_once: bool, has_small: bool) -> Finding:
    busy = evidence.share(*evidence.work)
    worker = "it computes" if evidence.platform == "CPU" else "its devices are busy"
    share = evidence.share(Phase.INPUT)
    waits = f"{percent(share)} is spent waiting for input" if share else "nothing waits for input"
    return Finding(
        id="no_bottleneck",
        severity="good",
        title=(
            f"{'Nothing else' if has_once else 'Nothing'} slows down the program: {worker} for "
            f"{percent(busy)} of step time"
        ),
        detail=(
            f"In a step of {milliseconds(evidence.step_ms)}, {waits}, and "
            + ("all other findings are small." if has_small else _NOTHING_ELSE)
        ),
        value=busy,
        threshold=0.0,
        action="Faster steps require faster ops: check which ops take the most time.",
        next_page=OPS,
        evidence=OVERVIEW,
        guide=GPU_GUIDE,
    )

"""The diagnosis of every input pipeline: its bottlenecks, and advice on the whole pipeline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from tbprof.advice.finding import Finding, Severity
from tbprof.advice.guides import DATA_ANALYSIS_GUIDE
from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.sentences import percent
from tbprof.advice.tf_data.tf_data_buffer_rules import BUFFER_RULES
from tbprof.advice.tf_data.tf_data_case import Case, PipelineFacts, StageRule, duration
from tbprof.advice.tf_data.tf_data_map_rules import MAP_RULES
from tbprof.advice.tf_data.tf_data_pipeline_rules import (
    ALWAYS,
    PIPELINE_RULES,
    ends_without_prefetch,
    prefetch_is_enough,
)
from tbprof.advice.tf_data.tf_data_pipelines import (
    SLOW_PS,
    Pipeline,
    Stage,
    StageWork,
    deciding_pipelines,
    find_stages,
    is_bound,
)
from tbprof.advice.tf_data.tf_data_plain_rules import plain
from tbprof.advice.tf_data.tf_data_source_rules import SOURCE_RULES
from tbprof.advice.tf_data.tf_data_stages import Kind
from tbprof.base.records import dataclass, replace

_STAGE_RULES: tuple[StageRule, ...] = (plain, *MAP_RULES, *SOURCE_RULES, *BUFFER_RULES)
_NONE = StageWork(0, 0, 0, -1, 0, 0, 0, is_critical=False)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The diagnosis of one pipeline: how slow it is, its bottlenecks, and advice.

    `usual` is the stage that holds up its calls longest in total, `slowest` the bottleneck of the
    slowest call that has a known one; None if no stage has self time. `case` is `usual` and the
    pipeline around it.
    """

    pipeline: Pipeline
    severity: Severity
    share: float
    slowest: Stage | None
    usual: Stage | None
    case: Case
    findings: tuple[Finding, ...]


def diagnose_pipelines(
    pipelines: Sequence[Pipeline], facts: Mapping[str, PipelineFacts], most: int | None = None
) -> list[Diagnosis]:
    """The diagnoses of pipelines, worst first: at most `most`.

    Those that hold up the program are first, then by total time. `facts` are by host. Device
    pipelines are left out if their host's own pipelines were recorded, since they wait for those.
    """
    ranked = sorted(
        deciding_pipelines(pipelines),
        key=lambda pipeline: (not is_bound(pipeline.severity()), -pipeline.total_ps),
    )
    return [_diagnose(pipeline, facts[pipeline.host]) for pipeline in ranked[:most]]


def _diagnose(pipeline: Pipeline, facts: PipelineFacts) -> Diagnosis:
    stages = find_stages(pipeline)
    severity = pipeline.severity()
    slowest = _stage_of(pipeline, stages)
    usual = max(stages, key=lambda stage: stage.overall.held_ps, default=None)
    if usual is not None and not usual.overall.held_ps:
        usual = None
    no_stage = Stage("", "", Kind.OTHER, ("",), 0, -1, {}, _NONE, _NONE)
    case = Case(pipeline, stages, usual or no_stage, severity, facts, is_slowest=False)
    advice = tuple(_advise(case, None if slowest is usual else slowest))
    return Diagnosis(pipeline, severity, pipeline.share(), slowest, usual, case, advice)


def _stage_of(pipeline: Pipeline, stages: Sequence[Stage]) -> Stage | None:
    """The stage that is the slowest call's bottleneck, None if there is none."""
    name = pipeline.long_name(pipeline.bottleneck)
    return next((stage for stage in stages if stage.long_name == name), None)


def _advise(case: Case, slowest: Stage | None) -> Iterator[Finding]:
    """Advice on a pipeline's bottleneck, then on that of the slowest call if it differs."""
    if case.severity == "good":
        yield _fine(case)
        yield from _ask(ALWAYS, case)
        return
    given_ids: set[str] = set()
    if prefetch_is_enough(case):
        for finding in ends_without_prefetch(case):  # one line of code hides the time of all stages
            given_ids.add(finding.id)
            yield finding
    if case.stage.overall.held_ps:
        for finding in _on_stage(case):
            given_ids.add(finding.id)
            yield finding
    if slowest is not None:
        of_call = replace(case, stage=slowest, is_slowest=True)
        yield from (finding for finding in _on_stage(of_call) if finding.id not in given_ids)
    yield from (
        finding for finding in _ask((*PIPELINE_RULES, *ALWAYS), case) if finding.id not in given_ids
    )


def _on_stage(case: Case) -> Iterator[Finding]:
    """The findings about the stage of the case."""
    for finding in _ask(_STAGE_RULES, case):
        yield replace(finding, stage=case.stage.long_name)


def _ask(rules: Sequence[StageRule], case: Case) -> Iterator[Finding]:
    for rule in rules:
        yield from rule(case)


def _fine(case: Case) -> Finding:
    pipeline = case.pipeline
    calls = f"its {pipeline.calls} calls" if pipeline.calls > 1 else "its only call"
    share = pipeline.share()
    of_the_time = (
        ""
        if math.isnan(share)
        else f"; together they took {percent(share)} of the time from the first to the last"
    )
    return Finding(
        id="fine",
        severity="good",
        title="This pipeline does not hold up the program",
        detail=(
            f"The slowest of {calls} took {duration(pipeline.max_ps)}{of_the_time}."
            if pipeline.calls > 1
            else f"{calls.capitalize()} took {duration(pipeline.max_ps)}."
        ),
        action=(
            "Nothing needs to be done here. If steps still wait for input, check in the input "
            "pipeline analyzer what happens between this pipeline and the device."
        ),
        guide=DATA_ANALYSIS_GUIDE,
    )


def verdict(diagnoses: Sequence[Diagnosis], cause: InputCause) -> str:
    """The summary of all pipelines, given their diagnoses, worst first, and the cause of waits."""
    worst = diagnoses[0]
    pipeline = worst.pipeline
    is_slow, is_device = has_slow_calls(diagnoses), is_of_devices(diagnoses)
    name = f"{pipeline.name} on {pipeline.host}"
    if not is_slow:
        return (
            "No tf.data input pipeline is slow: no call took longer than 50 µs, and the slowest "
            f"took {duration(pipeline.max_ps)}. If not all hosts were recorded, a pipeline on "
            "another "
            "host may be slow." + _devices_only(is_device)
        )
    slow = "all" if pipeline.slow_calls == pipeline.calls else str(pipeline.slow_calls)
    calls = (
        f"{slow} of its {pipeline.calls} calls are slower than 50 µs, and the slowest took "
        f"{duration(pipeline.max_ps)}"
        if pipeline.calls > 1
        else f"its only call took {duration(pipeline.max_ps)}"
    )
    time_text = (
        f"pipeline {name} is slow"
        if math.isnan(worst.share)
        else f"calls to pipeline {name} take {percent(worst.share)} of the time"
    )
    if not is_bound(worst.severity):
        return (
            f"tf.data does not hold up the program: {time_text}; {calls}.{_devices_only(is_device)}"
        )
    # Other causes are not about this pipeline.
    where = f" {cause.sentence}" if cause.kind in ("stage", "pipeline") else ""
    return f"The program waits for tf.data: {time_text}; {calls}.{where}"


def _devices_only(is_device: bool) -> str:
    if not is_device:
        return ""
    return (
        " Only device pipelines were recorded. They fetch from a host's pipeline, whose stages are "
        "not in the trace."
    )


def has_slow_calls(diagnoses: Sequence[Diagnosis]) -> bool:
    """Whether any call took longer than 50 µs."""
    return any(diagnosis.pipeline.max_ps > SLOW_PS for diagnosis in diagnoses)


def is_of_devices(diagnoses: Sequence[Diagnosis]) -> bool:
    """Whether only device pipelines were recorded."""
    return all(diagnosis.pipeline.is_device for diagnosis in diagnoses)

"""The tables of verdicts on tf.data pipelines: bottlenecks and advice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.finding import by_severity
from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.tf_data.tf_data_case import call_ms, stage_ms
from tbprof.advice.tf_data.tf_data_diagnosis import (
    Diagnosis,
    has_slow_calls,
    is_of_devices,
    verdict,
)
from tbprof.advice.tf_data.tf_data_pipelines import Pipeline, is_bound
from tbprof.tools.model.datatable import PERCENT, Table, boolean, number, text


def bottleneck_table(diagnoses: Sequence[Diagnosis], cause: InputCause) -> Table:
    """A row per judged pipeline, in that order; the properties are the verdict on all.

    Latencies are µs. `share` is the share of calls in the time from the first to the last one, null
    for a single call.
    """
    pipelines = [diagnosis.pipeline for diagnosis in diagnoses]
    slowest = [diagnosis.slowest for diagnosis in diagnoses]
    usual = [diagnosis.usual for diagnosis in diagnoses]
    return Table(
        (
            text("host", "Host", [pipeline.host for pipeline in pipelines]),
            text("input_pipeline", "Input Pipeline", [pipeline.name for pipeline in pipelines]),
            number("max_latency", "Max Latency (us)",
                   _us([pipeline.max_ps for pipeline in pipelines])),
            text("bottleneck", "Bottleneck", [_type(pipeline) for pipeline in pipelines]),
            text("suggestion", "Suggestion", [_suggestion(diagnosis) for diagnosis in diagnoses]),
            text("long_name", "Long Name",
                 [pipeline.long_name(pipeline.bottleneck) for pipeline in pipelines]),
            number("self_us", "Self Time (us)", _us([
                stage.slowest.self_ps if stage is not None else 0 for stage in slowest
            ])),
            number("latency_us", "Latency (us)", _us([
                stage.slowest.total_ps if stage is not None else 0 for stage in slowest
            ])),
            text("iterator_id", "Iterator Id", [
                str(int(pipeline.data.iterator_id[pipeline.bottleneck]))
                if pipeline.bottleneck >= 0 else ""
                for pipeline in pipelines
            ]),
            number("rank", "Rank", [pipeline.rank for pipeline in pipelines]),
            text("class", "Class", [
                stage.kind.value if stage is not None else "" for stage in slowest
            ]),
            text("severity", "Severity", [diagnosis.severity for diagnosis in diagnoses]),
            number("share", "Share of time in calls (%)",
                   [diagnosis.share / 100 for diagnosis in diagnoses], PERCENT),
            boolean("is_device", "Device", [pipeline.is_device for pipeline in pipelines]),
            text("usual_bottleneck", "Bottleneck of all calls", [
                stage.type_name if stage is not None else "" for stage in usual
            ]),
            text("usual_long_name", "Its Long Name", [
                stage.long_name if stage is not None else "" for stage in usual
            ]),
            number("usual_self_us", "Its Self Time in all calls (us)", _us([
                stage.overall.self_ps if stage is not None else 0 for stage in usual
            ])),
            number("usual_held_us", "Calls held up by it, on average (us)",
                   [1e3 * stage_ms(diagnosis.case) for diagnosis in diagnoses]),
            number("mean_latency", "Average Latency (us)",
                   [1e3 * call_ms(pipeline) for pipeline in pipelines]),
        ),
        _verdict(diagnoses, cause),
    )  # fmt: skip


def _us(values_ps: Sequence[int]) -> NDArray[np.float64]:
    return np.array(values_ps, np.float64) / 1e6


def _type(pipeline: Pipeline) -> str:
    return pipeline.data.type_name[pipeline.bottleneck] if pipeline.bottleneck >= 0 else ""


def _suggestion(diagnosis: Diagnosis) -> str:
    first = diagnosis.findings[0]
    return f"{first.title}. {first.action}"


def _verdict(diagnoses: Sequence[Diagnosis], cause: InputCause) -> dict[str, str]:
    """The verdict on all pipelines, worst first, and the cause of waits."""
    worst = diagnoses[0]
    return {
        "is_input_bound": "true" if is_bound(worst.severity) else "false",
        "severity": worst.severity,
        "summary_message": verdict(diagnoses, cause),
        "most_input_bound_host": worst.pipeline.host,
        "has_slow_calls": "true" if has_slow_calls(diagnoses) else "false",
        "is_device_only": "true" if is_of_devices(diagnoses) else "false",
        **cause.properties(),
    }


def advice_table(diagnoses: Sequence[Diagnosis]) -> Table:
    """A row per piece of advice, by pipeline in the same order, most helpful first."""
    rows = [
        (diagnosis.pipeline, place, finding)
        for diagnosis in diagnoses
        for place, finding in enumerate(by_severity(diagnosis.findings))
    ]

    def texts(of: str) -> list[str]:
        return [str(getattr(finding, of)) for _, _, finding in rows]

    types = {
        stage.long_name: stage.type_name
        for diagnosis in diagnoses
        for stage in diagnosis.case.stages
    }
    return Table(
        (
            text("host", "Host", [pipeline.host for pipeline, _, _ in rows]),
            text("input_pipeline", "Input Pipeline", [pipeline.name for pipeline, _, _ in rows]),
            number("rank_in_order", "Order", [rank + 1 for _, rank, _ in rows]),
            text("id", "Id", texts("id")),
            text("severity", "Severity", texts("severity")),
            text("title", "What", texts("title")),
            text("detail", "Why", texts("detail")),
            text("action", "What to do", texts("action")),
            text("code", "Code", texts("code")),
            text("guide_url", "Guide's address", [finding.guide.url for _, _, finding in rows]),
            text("iterator", "Iterator", [types.get(finding.stage, "") for _, _, finding in rows]),
            text("long_name", "Long Name", texts("stage")),
        )
    )

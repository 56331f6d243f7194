"""Why a program waits for its tf.data pipelines."""

from __future__ import annotations

import math

from tbprof.advice.guides import DATA_ANALYSIS_GUIDE
from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.sentences import milliseconds, percent
from tbprof.advice.summaries import Summaries
from tbprof.advice.tf_data.tf_data_case import PipelineFacts, call_ms, cause_sentence, stage_ms
from tbprof.advice.tf_data.tf_data_diagnosis import Diagnosis, diagnose_pipelines
from tbprof.advice.tf_data.tf_data_pipelines import find_pipelines, is_bound
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.input.input_ops import InputOps
from tbprof.analysis.input.tf_data import TfData


def diagnose(summaries: Summaries, most: int | None) -> list[Diagnosis]:
    """The diagnoses of all hosts' pipelines, worst first: at most `most`, or all."""
    pipelines = find_pipelines(summaries.hosts, summaries.take("tf_data", TfData))
    has_gpu = any(devices.gpus for devices in summaries.take("devices", Devices))
    facts = {
        host: PipelineFacts(len(summaries.hosts), has_gpu, inputs.python_ps)
        for host, inputs in zip(summaries.hosts, summaries.take("input_ops", InputOps), strict=True)
    }
    return diagnose_pipelines(pipelines, facts, most)


def cause_of(worst: Diagnosis) -> InputCause:
    """The cause of waits for input in the worst pipeline, or around its calls."""
    return _of_pipeline(worst) if is_bound(worst.severity) else _elsewhere(worst)


def _of_pipeline(worst: Diagnosis) -> InputCause:
    """The stage that is slow, or the pipeline if the trace does not show which stage is."""
    pipeline, stage = worst.pipeline, worst.usual
    first = worst.findings[0]
    lasts = call_ms(pipeline)
    if stage is None or pipeline.is_cut or pipeline.is_device:
        calls = f"Calls to pipeline {pipeline.name} take {milliseconds(lasts)} on average."
        why = (
            "It fetches from the host's pipeline, which was not recorded. A call counts as "
            "waiting only while a device is idle."
            if pipeline.is_device
            else "The trace does not show which of its stages is slow: their work began before the "
            "recording."
            if pipeline.is_cut
            else "None of its stages stands out."
        )
        return InputCause(
            "pipeline", pipeline.host, pipeline.name, "", "", math.nan, lasts, f"{calls} {why}",
            first.action, first.guide,
        )  # fmt: skip
    return InputCause(
        "stage", pipeline.host, pipeline.name, stage.long_name, worst.case.type,
        stage_ms(worst.case), lasts, cause_sentence(worst.case), first.action, first.guide,
    )  # fmt: skip


def _elsewhere(worst: Diagnosis) -> InputCause:
    """tf.data is fast: the waits occur around its calls."""
    pipeline, share = worst.pipeline, worst.share
    share_text = "" if math.isnan(share) else f", {percent(share)} of the time"
    return InputCause(
        "elsewhere", pipeline.host, pipeline.name, "", "", math.nan, call_ms(pipeline),
        f"The pipeline is not slow: calls to {pipeline.name} take "
        f"{milliseconds(call_ms(pipeline))} on average{share_text}.",
        "Check in the trace viewer what happens around calls to IteratorGetNext, such as copying "
        "batches to devices or processing them in Python.",
        DATA_ANALYSIS_GUIDE,
    )  # fmt: skip

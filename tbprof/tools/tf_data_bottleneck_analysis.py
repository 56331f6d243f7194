"""tf.data bottleneck analysis: which input pipeline is slow, which stage of it, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tbprof.advice.input.input_diagnosis import INPUT_PARTS, diagnose_input, find_cause
from tbprof.advice.summaries import Summaries
from tbprof.advice.tf_data.tf_data_diagnosis import Diagnosis
from tbprof.advice.tf_data.tf_data_pipelines import Pipeline, find_pipelines
from tbprof.analysis.input.tf_data import TfData
from tbprof.base.errors import Notice
from tbprof.base.records import replace
from tbprof.base.texts import whole_number
from tbprof.tools.model.datatable import Table
from tbprof.tools.tf_data.tf_data_tables import (
    ChosenCall,
    executions_table,
    graph_table,
    summary_table,
)
from tbprof.tools.tf_data.tf_data_verdicts import advice_table, bottleneck_table

PARTS = INPUT_PARTS

_NO_TABLE = Table(())


def build(summaries: Summaries) -> Sequence[Table]:
    """The tables, in order.

    0 graphs of executions, 1 pipelines, 2 their bottlenecks, the worst first, 3 advice,
    4 executions of the chosen pipeline.

    With the parameter `rank`, a number or "worst", 0 holds one execution of `input_pipeline` on
    `graph_host`, by default of the worst pipeline there. Without it, all.
    """
    parts = summaries.take("tf_data", TfData)
    pipelines = find_pipelines(summaries.hosts, parts)
    if not pipelines:
        return [_NO_TABLE] * 5
    diagnoses = diagnose_input(summaries)
    chosen = _choose(summaries.params, pipelines, diagnoses)
    graph = graph_table(pipelines, chosen)
    return [
        replace(graph, warnings=_notices(summaries.hosts, parts)),
        summary_table(pipelines),
        bottleneck_table(diagnoses, find_cause(summaries, diagnoses)),
        advice_table(diagnoses),
        executions_table(chosen),
    ]


def _choose(
    params: Mapping[str, str], pipelines: Sequence[Pipeline], diagnoses: Sequence[Diagnosis]
) -> ChosenCall:
    """The requested pipeline and rank; if they do not exist, the worst of each."""
    host, name = params.get("graph_host", ""), params.get("input_pipeline", "")
    ranked = [*(diagnosis.pipeline for diagnosis in diagnoses), *pipelines]
    pipeline = next(
        (
            pipeline
            for pipeline in ranked
            if host in ("", pipeline.host) and name in ("", pipeline.name)
        ),
        None,
    ) or next((pipeline for pipeline in ranked if host in ("", pipeline.host)), ranked[0])
    requested = params.get("rank")
    rank = whole_number(requested or "", 9)
    if rank is None or rank >= pipeline.calls:
        rank = pipeline.rank
    return ChosenCall(pipeline, rank, is_alone=requested is not None)


def _notices(hosts: Sequence[str], parts: Sequence[TfData]) -> tuple[Notice, ...]:
    """Notices on inconsistent iterators of each host."""
    notices = []
    for host, part in zip(hosts, parts, strict=True):
        if part.loops:
            calls = "call of an iterator" if part.loops == 1 else "calls of iterators"
            notices.append(
                Notice(
                    "iterator_loops",
                    f"{part.loops} {calls} led back to an earlier one and were left out",
                    host,
                )
            )
        if part.orphans:
            feed = "iterator feeds" if part.orphans == 1 else "iterators feed"
            notices.append(
                Notice(
                    "iterator_orphans",
                    f"{part.orphans} {feed} an iterator whose calls are not in the trace",
                    host,
                    "record longer than the slowest call takes",
                )
            )
    return tuple(notices)

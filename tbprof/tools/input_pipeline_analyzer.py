"""Input pipeline analyzer: whether steps wait for input, and which stage of it is slow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import MODERATELY_INPUT_BOUND
from tbprof.advice.input.input_diagnosis import INPUT_PARTS, diagnose_input, find_cause
from tbprof.advice.input.input_facts import CATEGORIES, dominant_category
from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.input.input_ops import NO_CATEGORY, InputOps, InputRole, merge_input_ops
from tbprof.analysis.job.idle_shares import callbacks_as_runtime, idle_shares
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.job_steps import JobSteps, merge_steps
from tbprof.analysis.job.step_choice import chosen_means
from tbprof.analysis.job.step_means import used_rows
from tbprof.analysis.steps.host_callbacks import HostCallbacks
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.input_names import InputCategory
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.values import ratio
from tbprof.tools.input.input_advice import input_advice_table
from tbprof.tools.model.datatable import PERCENT, Table, number, text
from tbprof.tools.steps.breakdown import breakdown_table, markers_table
from tbprof.tools.steps.diagnostics import diagnostics_table
from tbprof.tools.steps.step_properties import slowest_op
from tbprof.tools.steps.step_table import TPU, step_table

PARTS = ("steps", "idle_time", "host_callbacks", "single_ops", *INPUT_PARTS)

_NO_TABLE = Table(())


def build(summaries: Summaries) -> Sequence[Table]:
    """The tables, in order.

    0 the core that waited most per step (TPU), 1 steps, 2 input ops, 3 advice as plain texts,
    4 diagnostics, 5 advice, 6 working and waiting events, 7 what an average step is made of,
    8 events that could mark steps. All are empty if neither steps nor input were recorded.
    """
    job = merge_steps(summaries.hosts, summaries.take("steps", Steps))
    ops = merge_input_ops(summaries.take("input_ops", InputOps))
    gpus = any(devices.gpus for devices in summaries.take("devices", Devices))
    markers = markers_table(job)
    if not len(job.label) and not ops.name and not len(markers):
        return [_NO_TABLE] * 9
    diagnoses = diagnose_input(summaries, 1)
    cause = find_cause(summaries, diagnoses)
    means, outliers = chosen_means(job, summaries.params)
    waits = means.share(Phase.INPUT) >= MODERATELY_INPUT_BOUND
    advice = input_advice_table(ops, diagnoses, is_waited_for=waits)
    idle_time = summaries.take("idle_time", IdleTime)
    return [
        core_table(job),
        step_table(
            job,
            ops,
            "" if job.worker_kind or not gpus else "GPU",
            cause,
            (means, outliers),
            callbacks_as_runtime(
                idle_shares(job, means, idle_time),
                summaries.take("host_callbacks", HostCallbacks),
            ),
            idle_time,
        ),
        op_table(ops),
        _plain(advice),
        diagnostics_table(job, outliers),
        advice,
        activity_table(ops),
        breakdown_table(means),
        markers,
    ]


def core_table(job: JobSteps) -> Table:
    """A column per step: the TPU core that waited longest for input; empty for other devices."""
    if TPU not in job.worker_kind:
        return _NO_TABLE
    rows = used_rows(job)
    waiting = job.phase_ps[rows, Phase.INPUT]
    first = np.searchsorted(job.step[rows], np.arange(len(job.label) + 1))
    columns = [text("index", "Index", ["Step number", "Core name"])]
    for step, label in enumerate(job.label):
        waits = waiting[first[step] : first[step + 1]]
        name = "unknown"
        if waits.size and waits.max() > 0:
            worker = int(job.worker[rows[first[step] + int(waits.argmax())]])
            name = f"{job.hosts[job.worker_host[worker]]}:{job.worker_name[worker]}"
        columns.append(text(str(step), str(step), [label, name]))
    return Table(tuple(columns))


def op_table(ops: InputOps) -> Table:
    """A row per input op, longest self time first, then by name.

    Percentages are of the self time of all input ops, as in the profile plugin; waiting is a part
    of it. Work is self time minus waiting, plus the work of other threads for the op. The
    properties are work by category, in µs, as measured, and the waiting of all ops.
    """
    order = np.array(
        sorted(range(len(ops.name)), key=lambda row: (-int(ops.self_ps[row]), ops.name[row])),
        np.int64,
    )
    whole = float(ops.self_ps.sum())
    return Table(
        (
            text("opName", "Input Op", [ops.name[row] for row in order]),
            number("count", "Count", ops.count[order]),
            number("timeInMs", "Total Time (in ms)", ops.total_ps[order] / 1e9),
            number(
                "timeInPercent",
                "Total Time (as % of total input-processing time)",
                ratio(ops.total_ps[order].astype(np.float64), whole),
                PERCENT,
            ),
            number("selfTimeInMs", "Total Self Time (in ms)", ops.self_ps[order] / 1e9),
            number(
                "selfTimeInPercent",
                "Total Self Time (as % of total input-processing time)",
                ratio(ops.self_ps[order].astype(np.float64), whole),
                PERCENT,
            ),
            text("category", "Category", _labels(ops.category[order])),
            number("waitTimeInMs", "Waiting (in ms)", ops.wait_ps[order] / 1e9),
            number("workTimeInMs", "Work (in ms)", ops.work_ps[order] / 1e9),
        ),
        _op_properties(ops),
    )


def _op_properties(ops: InputOps) -> dict[str, str]:
    names = {category: id_ for category, id_, _ in CATEGORIES}
    out = {
        f"{name}_us": _us(ops.work_of(category))
        for category, name in names.items()
        if category != InputCategory.UNKNOWN
    }
    # The spelling of the profile plugin.
    out["unclassified_nonequeue_us"] = _us(ops.work_of(InputCategory.UNKNOWN))
    out["waiting_us"] = _us(int(ops.wait_ps.sum()))
    out["program_waiting_us"] = _us(ops.program_wait_ps)
    out["python_us"] = _us(ops.python_ps)
    dominant = dominant_category(ops)
    out["dominant_category"] = "" if dominant is None else names[dominant]
    slowest = slowest_op(ops)
    out["slowest_op"] = ops.name[slowest] if slowest >= 0 else ""
    out["slowest_op_us"] = _us(int(ops.work_ps[slowest])) if slowest >= 0 else ""
    out["has_tf_data"] = "true" if ops.has_tf_data else "false"
    return out


def _us(value_ps: int) -> str:
    return f"{value_ps / 1e6:.3f}"


def _labels(categories: NDArray[np.int64]) -> list[str]:
    return [
        "" if category == NO_CATEGORY else InputCategory(category).label
        for category in categories.tolist()
    ]


def activity_table(ops: InputOps) -> Table:
    """A row per activity, work before waiting, longest self time first."""
    role, own = ops.activity_role, ops.activity_self_ps
    key = [
        (int(role[row]), -int(own[row]), name, ops.activity_thread[row], int(ops.activity_op[row]))
        for row, name in enumerate(ops.activity_name)
    ]
    order = np.array(sorted(range(len(key)), key=key.__getitem__), np.int64)
    op = ops.activity_op[order].tolist()
    return Table(
        (
            text("name", "Activity", [ops.activity_name[row] for row in order]),
            text("role", "Role", [InputRole(value).name.lower() for value in role[order].tolist()]),
            number("count", "Count", ops.activity_count[order]),
            number("total_ms", "Total time (ms)", ops.activity_total_ps[order] / 1e9),
            number("self_ms", "Self time (ms)", own[order] / 1e9),
            text("category", "Category", _labels(ops.activity_category[order])),
            text("thread", "Thread", [ops.activity_thread[row] for row in order]),
            number("threads", "Threads", ops.activity_threads[order]),
            text("op", "For input op", [ops.name[of] if of >= 0 else "" for of in op]),
        )
    )


def _plain(advice: Table) -> Table:
    """The advice as plain texts, for scripts that read the profile plugin's table."""
    columns = (advice.column(name).cells() for name in ("label", "title", "advice"))
    rows = [f"{label}: {title}. {say}" for label, title, say in zip(*columns, strict=True)]
    urls = cast("Sequence[str]", advice.column("guide_url").values)
    return Table((text("link", "link", rows), text("url", "url", urls)))

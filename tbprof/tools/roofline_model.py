"""Roofline: how close programs and their instructions come to the limits of the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tbprof.advice.summaries import Summaries
from tbprof.analysis.bounds.op_work import GIBI, Values, above_roof, rates_of
from tbprof.analysis.devices.devices import Devices, merge_devices
from tbprof.analysis.devices.peaks import HBM, SHARED_MEMORY, Peaks, merge_peaks
from tbprof.analysis.job.job_steps import merge_steps
from tbprof.analysis.programs.program_ops import NOT_IN_HLO, ProgramOps
from tbprof.analysis.programs.program_ops_merging import merge_program_ops
from tbprof.analysis.steps.step_ops import StepOps
from tbprof.analysis.steps.steps import Steps
from tbprof.base.errors import BadRequest
from tbprof.base.records import NamedTuple
from tbprof.base.values import ratio
from tbprof.tools.model.datatable import Column, Table, boolean, number, text
from tbprof.tools.programs.roofline_rows import RooflineRows, is_feed, op_rows, program_rows
from tbprof.tools.programs.roofline_steps import step_rows

_ALWAYS, _OF_STEP = ("program_ops", "peaks", "devices"), ("steps", "step_ops")
PARTS = (*_ALWAYS, *_OF_STEP)

TOTAL = "Total"
# Ids of columns begin with the first, labels with the second. Scripts know GPUs' shared memory as
# the vector memory that is written.
_TPU_MEMORIES = {
    HBM: ("hbm", "HBM"),
    "CMEM read": ("cmem_read", "CMEM Read"),
    "CMEM write": ("cmem_write", "CMEM Write"),
    "VMEM read": ("vmem_read", "VMEM Read"),
    "VMEM write": ("vmem_write", "VMEM Write"),
}
_GPU_MEMORIES = {HBM: ("hbm", "HBM"), SHARED_MEMORY: ("vmem_write", "SHM/L1")}
_WHOLE = "The records cover the whole recording, including time between steps."
_OF_STEPS = "The records cover steps that were recorded completely."
_NO_STEPS = "No step was recorded completely."
_PER = ("op", "program", "step")


class RecordGroup(NamedTuple):
    """The subject of records: the whole recording with or without feeds, or steps.

    `labels` [n] are those of the rows.
    """

    labels: list[str]
    rows: RooflineRows
    has_feeds: bool


def parts_for(params: Mapping[str, str]) -> tuple[str, ...]:
    """Only records of steps need steps."""
    return PARTS if params.get("per", "") == "step" else _ALWAYS


def build(summaries: Summaries) -> Sequence[Table]:
    """Records, diagnostics, and roofs: a row per peak, with its source.

    Records come twice, with and without infeeds and outfeeds: first the programs together (rank 0),
    then the instructions by self time. Parameters choose some of them: `per` is "op" (usually),
    "program" for whole programs, or "step": then the average of the complete steps comes first, and
    each of them follows, once; without such steps there are no records. `feeds` is "1" or "0", of
    steps only "1".
    """
    ops = merge_program_ops(summaries.take("program_ops", ProgramOps))
    peaks = merge_peaks(summaries.take("peaks", Peaks))
    if all(category == NOT_IN_HLO for category in ops.category):
        return [Table(())] * 3
    devices = merge_devices(summaries.take("devices", Devices))
    properties = {
        "device_type": devices.type,
        **_properties(ops, peaks),
        "program_device": ops.device_type,
        "feed_ops": str(int(is_feed(ops).sum())),
    }
    per, has_feeds = _choices(summaries.params)
    if per == "step":
        groups = _of_steps(summaries, peaks)
        about = _OF_STEPS if groups else _NO_STEPS
    else:
        make = program_rows if per == "program" else op_rows
        tables = [(make(ops, peaks, has_feeds=is_fed), is_fed) for is_fed in has_feeds]
        groups = [RecordGroup([TOTAL] * len(rows), rows, is_fed) for rows, is_fed in tables]
        about = _WHOLE
    return [
        _records(groups, ops, peaks, properties),
        Table((text("severity", "Severity", ["WARNING"]), text("message", "Message", [about]))),
        _roofs(peaks),
    ]


def _choices(params: Mapping[str, str]) -> tuple[str, tuple[bool, ...]]:
    """(the subject of records, whether with and without feeds). Raises BadRequest."""
    per, feeds = params.get("per", ""), params.get("feeds", "")
    if per not in ("", *_PER):
        raise BadRequest(f"per cannot be {per[:40]!r}", f"it is {', '.join(_PER)}")
    if feeds not in ("", "0", "1"):
        raise BadRequest(f"feeds cannot be {feeds[:40]!r}", "use 1 to include them, or 0")
    if per == "step" and feeds == "0":
        raise BadRequest("steps include infeeds and outfeeds", "use feeds=1")
    return per, (True, False) if feeds == "" else (feeds == "1",)


def _of_steps(summaries: Summaries, peaks: Peaks) -> list[RecordGroup]:
    """One group, none if no step was recorded completely."""
    job = merge_steps(summaries.hosts, summaries.take("steps", Steps))
    hosts, ran = summaries.take("program_ops", ProgramOps), summaries.take("step_ops", StepOps)
    rows = step_rows(hosts, ran, job, peaks)
    return [RecordGroup(*rows, has_feeds=True)] if rows else []


def _memories(ops: ProgramOps) -> Mapping[str, tuple[str, str]]:
    return _GPU_MEMORIES if ops.device_type == "GPU" else _TPU_MEMORIES


def _properties(ops: ProgramOps, peaks: Peaks) -> dict[str, str]:
    """The peaks as scripts know them, 0 where unknown: GFLOP/s, GiB/s, operations per byte."""
    flops = peaks.most_gflops
    rates = {"peak_flop_rate": flops}
    for memory, (id_, _) in _memories(ops).items():
        peak = peaks.memory_peak(memory)
        rates[f"peak_{id_}_bw"] = peak / GIBI
        rates[f"{id_}_ridge_point"] = flops / peak if peak > 0 else 0.0
    texts = {name: f"{value:.6g}" if value > 0 else "0" for name, value in rates.items()}
    if ops.device_type != "GPU":
        has_cmem = peaks.memory_peak("CMEM read") > 0 or peaks.memory_peak("CMEM write") > 0
        texts |= {
            "megacore": str(int(peaks.has_megacore)),
            "has_cmem": str(int(has_cmem)),
            "has_merged_vmem": str(int(peaks.has_merged_vmem)),
            "time_scale_multiplier": "1",
        }
    return texts


def _records(
    groups: Sequence[RecordGroup], ops: ProgramOps, peaks: Peaks, properties: Mapping[str, str]
) -> Table:
    """The rows of all groups, one after another."""
    tables = [_columns(group, ops, peaks) for group in groups]
    columns = []
    for same in zip(*tables, strict=True):
        first = same[0]
        if isinstance(first.values, np.ndarray):
            values = np.concatenate([np.asarray(column.values) for column in same])
            columns.append(Column(first.id, first.label, first.type, values))
        else:
            texts = [cell for column in same for cell in column.values]
            columns.append(text(first.id, first.label, [str(cell) for cell in texts]))
    return Table(tuple(columns), properties)


def _columns(group: RecordGroup, ops: ProgramOps, peaks: Peaks) -> list[Column]:
    rows = group.rows
    rates = rates_of(rows.work, peaks)
    memories = _memories(ops)
    nothing = np.full(len(rows), np.nan)
    count = rows.occurrences.astype(np.float64)
    share = ratio(rows.self_ps, rows.whole_ps)
    share[0] = np.nan

    def of_memories(
        values: Mapping[str, Values], id_: str, label: str, unit: float = 1
    ) -> list[Column]:
        return [
            number(f"{key}_{id_}", f"{name} {label}", values.get(memory, nothing) / unit)
            for memory, (key, name) in memories.items()
        ]

    stalls = [
        number("dma_stall_percent", "%time stalled by DMA", ratio(rows.stalled_ps, rows.total_ps))
    ]
    return [
        text("step", "Step", group.labels),
        number("rank", "Rank", rows.rank),
        text("category", "Category", rows.category),
        text("operation", "Operation", rows.name),
        number("occurrences", "# Occurrences", rows.occurrences),
        number("total_time", "Total Time (us)", rows.total_ps / 1e6),
        number("avg_time", "Avg. time (us)", ratio(rows.total_ps / 1e6, count)),
        number("total_self_time", "Total self time (us)", rows.self_ps / 1e6),
        number("avg_self_time", "Avg. self time (us)", ratio(rows.self_ps / 1e6, count)),
        number("total_self_time_percent", "Total self time (%)", share),
        number(
            "cumulative_total_self_time_percent",
            "Cumulative total self time (%)",
            np.append(np.nan, np.cumsum(share[1:])),
        ),
        *(stalls if ops.device_type != "GPU" else []),
        number("measured_flop_rate", "Normalized FLOP Rate (GFLOP/s)", rates.gflops),
        number("model_flop_rate", "Model FLOP Rate (GFLOP/s)", rates.model_gflops),
        number("measured_memory_bw", "Memory BW (GiB/s)", rates.gbytes / GIBI),
        *of_memories(rates.memory_gbytes, "bw", "BW (GiB/s)", GIBI),
        number("operational_intensity", "Operational Intensity (FLOP/Byte)", rates.intensity),
        *of_memories(
            rates.memory_intensity, "operational_intensity", "Operational Intensity (FLOP/Byte)"
        ),
        number(
            "bottleneck_operational_intensity",
            "Bottleneck Operational Intensity (FLOP/Byte)",
            rates.bounding_intensity,
        ),
        text("bound_by", "Bound by", rates.bound_by),
        number(
            "total_time_per_core",
            "Total Time per core (us)",
            ratio(rows.total_ps / 1e6, float(rows.devices)),
        ),
        number("total_time_in_percentage", "Total Time (%)", ratio(rows.total_ps, rows.whole_ps)),
        number("optimal_flop_rate", "Optimal FLOP Rate (GFLOP/s)", rates.roof_gflops),
        number("roofline_efficiency", "Roofline efficiency (%)", rates.efficiency),
        number("compute_efficiency", "FLOP Rate / Peak (%)", rates.flop_share),
        number(
            "max_mem_bw_utilization",
            "Max memory BW utilization (among supported memories) (%)",
            rates.most_memory_share,
        ),
        boolean(
            "include_infeed_outfeed",
            "Include Infeed/Outfeed",
            np.full(len(rows), group.has_feeds),
        ),
        text("hlo_module_id", "Program ID", rows.program_id),
        text("source_info", "Source Info", rows.source_html),
        text("program", "Program", rows.program),
        text("dtype", "Element type", rows.dtype),
        text("roof", "Peak of type", rows.work.roof),
        text("source", "Source", rows.source),
        number("span_time", "Time of the work (us)", rows.work.span_ps / 1e6),
        number("unknown_time", "Time of unknown cost (us)", rows.unknown_ps / 1e6),
        text("cost_note", "Unknown cost", rows.cost_note),
        text("roof_note", "Above the roof", above_roof(rates, rows.is_computed)),
    ]


def _roofs(peaks: Peaks) -> Table:
    """The peaks that operations and bytes are compared with, per second and device."""
    kinds = ["compute"] * len(peaks.dtype) + ["memory"] * len(peaks.memory)
    return Table(
        (
            text("kind", "Kind", kinds),
            text("name", "Element type or memory", [*peaks.dtype, *peaks.memory]),
            number("peak", "Peak (GFLOP/s, GB/s)", np.append(peaks.gflops, peaks.gbytes)),
            text("source", "Source", [*peaks.flop_source, *peaks.memory_source]),
        )
    )

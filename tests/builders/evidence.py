"""What findings rest on, made by hand: ten steps of 1 ms, and what else a rule looks at."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from traces import drawn_space

from builders.couplings import coupling_of
from builders.job_steps import job_of
from tbprof.advice.evidence import Evidence
from tbprof.advice.finding import Finding
from tbprof.advice.guides import DATA_GUIDE
from tbprof.advice.input.input_cause import CauseKind, InputCause
from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.gpu.gpu_facts import GpuFacts
from tbprof.analysis.gpu.kernels import Kernels, find_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.host_facts import HostFacts, find_host_facts
from tbprof.analysis.input.input_ops import InputOps, find_input_ops
from tbprof.analysis.job.idle_shares import IdleShare
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.memory.memory_peaks import MemoryPeaks
from tbprof.analysis.ops.op_metrics import OpMetrics
from tbprof.analysis.run.environment import find_environment
from tbprof.analysis.vocabulary.input_names import InputCategory
from tbprof.analysis.vocabulary.phases import Phase

US, MS = 10**6, 10**9
NO_GPU = Devices(0, 0, "CPU", math.nan, math.nan)
GPU = Devices(1, 0, "GPU", math.nan, math.nan)
TPU = Devices(0, 4, "TPU", math.nan, math.nan)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def gpus(**columns: Sequence[Any]) -> GpuFacts:
    """One GPU, or as many as the columns have."""
    count = max(map(len, (columns.get("window_ps", ()), columns.get("kernels", ()))), default=0)
    copies = len(columns.get("copies", ()))
    fields: dict[str, Any] = {"name": [f"GPU:{index}" for index in range(count)]}
    for field in dataclasses.fields(GpuFacts):
        given = "copy_ps" if field.name == "copying_ps" else field.name
        if given in columns:
            value = columns[given]
            fields[field.name] = value if field.name == "copy_kind" else ints(*value)
        elif field.name == "copy_kind":
            fields[field.name] = ["MemcpyHToD"] * copies
        elif field.name != "name":
            is_copy = field.name.startswith("cop") or field.name == "pageable"
            fields[field.name] = np.zeros(copies if is_copy else count, np.int64)
    return GpuFacts(**fields)


NO_SENDS = (ints(), ints())
EMPTY = drawn_space({"/host:CPU": "t |"})
NO_HOST_FACTS = find_host_facts(EMPTY, Programs(EMPTY))
NO_ENVIRONMENT = dataclasses.replace(find_environment(EMPTY, Programs(EMPTY)), window_ps=1000 * MS)
NO_INPUT = find_input_ops(EMPTY, Programs(EMPTY))


def host(**fields: Any) -> HostFacts:
    return dataclasses.replace(NO_HOST_FACTS, **fields)


def memory(*rows: tuple[str, bool, int, int, float]) -> MemoryPeaks:
    """(name, is a device's, peak, capacity, fragmentation) of each allocator."""
    return MemoryPeaks(
        [row[0] for row in rows], np.array([row[1] for row in rows], bool),
        ints(*(row[2] for row in rows)), ints(*(row[3] for row in rows)),
        np.array([row[4] for row in rows], np.float64),
    )  # fmt: skip


def kernels(*rows: tuple[bool, int, int], of_amd: bool = False) -> Kernels:
    """(is eligible, `CoreUse`, total µs) of each kernel."""
    count = len(rows)
    nothing = np.zeros(count, np.int64)
    shape = np.ones((count, 3), np.int64)
    total = ints(*(row[2] * US for row in rows))
    return dataclasses.replace(
        find_kernels(EMPTY, Programs(EMPTY)),
        name=[f"kernel{index}" for index in range(count)],
        op=[f"op{index}" for index in range(count)],
        block=shape, grid=shape, registers=nothing, shared_bytes=nothing,
        is_eligible=np.array([row[0] for row in rows], bool),
        core_use=np.array([row[1] for row in rows], np.int8), occupancy_pct=np.zeros(count),
        occurrences=nothing + 1, total_ps=total, least_ps=total, most_ps=total,
        copy=[""] * count, is_amd=np.full(count, of_amd), dtype=[""] * count,
        is_product=np.zeros(count, bool), is_computed=np.zeros(count, bool),
    )  # fmt: skip


def ops(*rows: tuple[bool, str, str, int, bool]) -> OpMetrics:
    """(is on a device, name, type, self µs, is eager) of each op."""
    nothing = np.zeros(len(rows), np.int64)
    own = ints(*(row[3] * US for row in rows))
    return OpMetrics(
        np.array([row[0] for row in rows], bool), [row[1] for row in rows],
        [row[2] for row in rows], nothing + 1, own, own, nothing, nothing, nothing, nothing,
        nothing,
        np.array([row[4] for row in rows], bool), np.zeros(len(rows), bool),
        np.zeros(len(rows), bool),
    )  # fmt: skip


def inputs(**work_us: int) -> InputOps:
    """Ops of an input pipeline by name and the time that they worked."""
    names = [f"Iterator::Root::{name}" for name in work_us]
    work = ints(*(time * US for time in work_us.values()))
    nothing = np.zeros(len(names), np.int64)
    return dataclasses.replace(
        NO_INPUT, name=names, category=nothing + int(InputCategory.PREPROCESSING),
        count=nothing + 1, total_ps=work, self_ps=work, wait_ps=nothing, background_ps=nothing,
    )  # fmt: skip


def evidence(
    permille: dict[Phase, int] | None = None,
    *,
    gap: int = 0,
    devices: Devices = GPU,
    host_facts: HostFacts = NO_HOST_FACTS,
    **more: Any,
) -> Evidence:
    """Ten steps of 1 ms, split as `permille` says; the rest computes in 16 bit."""
    split = {Phase.COMPUTE_16: 1000 - sum((permille or {}).values()), **(permille or {})}
    worker = "GPU:0"
    job = job_of(
        [{worker: split}] * 10, gaps={(step, worker): gap for step in range(10)}, marker="train"
    )
    parts: dict[str, Any] = {
        "ops": ops(), "kernels": kernels(), "gpus": gpus(), "memory": memory(), **more,
    }  # fmt: skip
    return Evidence(
        job=job,
        means=step_means(job),
        devices=devices,
        environments=[NO_ENVIRONMENT],
        hosts=[host_facts],
        **parts,
    )


def finding_of(given: Evidence, id_: str) -> Finding | None:
    by_id = {finding.id: finding for finding in find_findings(given)}
    return by_id.get(id_)


def claim(given: Evidence, id_: str) -> Finding:
    """The finding of that id, which must be there."""
    finding = finding_of(given, id_)
    assert finding is not None, id_
    return finding


def severities(id_: str, *values: Evidence) -> list[str | None]:
    return [one.severity if (one := finding_of(value, id_)) else None for value in values]


LADDER = [None, "moderate", "moderate", "high", "high"]


def cause_of(
    kind: CauseKind = "stage", type_: str = "ParallelMap", stage_ms: float = 0.2
) -> InputCause:
    return InputCause(
        kind, "h0", "Host:0", "Iterator::Root::ParallelMapV2", type_, stage_ms, 0.3,
        "ParallelMap takes 200 µs.", "Make it cheaper.", DATA_GUIDE,
    )  # fmt: skip


def idle(kind: Activity, ms: float, name: str = "", **parts: float) -> IdleShare:
    """What the driving thread did; `parts` are frames of C functions and their ms."""
    within = {f"$time {part}": time for part, time in parts.items()}
    rest = {"": ms - sum(within.values())}
    ranked = tuple(sorted({**within, **rest}.items(), key=lambda one: -one[1]))
    return IdleShare(kind, name, kind != Activity.UNCOVERED, ms, ranked)


BATCH = "$train.py:14 batch"


def late(by: int) -> Evidence:
    """Two workers of steps of 100 µs: the first needs `by` µs longer, the other waits for it."""
    step = {
        "GPU:0": {Phase.COMPUTE_16: 50 + by, Phase.COLLECTIVES: 50 - by},
        "GPU:1": {Phase.COMPUTE_16: 50, Phase.COLLECTIVES: 50},
    }
    job = job_of([step] * 4)
    tied = [coupling_of(job.worker_name)]
    return dataclasses.replace(evidence(), job=job, means=step_means(job), couplings=tied)


def traced(share: int, mode: str = "traced-nonXla") -> Evidence:
    facts = host(
        function_name=["f", "g"], function_mode=[mode, "notTraced-nonXla"],
        function_calls=ints(2, 5), function_ps=ints(share * US, (1000 - share) * US),
        tracings=ints(7, 1), functions=ints(1, 1),
    )  # fmt: skip
    return evidence({Phase.OTHER: 50}, host_facts=facts)

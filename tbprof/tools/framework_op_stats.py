"""Op stats: every op of the framework, on hosts and devices, and calls of programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.summaries import Summaries
from tbprof.analysis.bounds.op_work import above_peaks
from tbprof.analysis.devices.devices import Devices, merge_devices
from tbprof.analysis.devices.tensor_cores import CoreUse, core_name
from tbprof.analysis.gpu.kernels import Kernels, merge_kernels
from tbprof.analysis.host.host_calls import HostCalls, merge_host_calls
from tbprof.analysis.ops.op_metrics import OpMetrics, merge_op_metrics
from tbprof.analysis.vocabulary.op_names import IDLE
from tbprof.analysis.vocabulary.training import is_training
from tbprof.base.values import ratio
from tbprof.tools.model.datatable import PERCENT, Column, Table, number, text

PARTS = ("ops", "devices", "kernels", "host_calls")

_GIBI = 2**30 / 1e9
# Where an op ran; SparseCores run in parallel with TensorCores, which are the device.
_DEVICE, _SPARSE_CORE, _HOST = "Device", "SparseCore", "Host"


def build(summaries: Summaries) -> Sequence[Table]:
    """Two tables, with and without idle time: a row per op, devices first, by self time.

    A third one has the calls of functions and the annotations of the program, which are not ops.
    Percentages are of the sum of the self times (and idle time) of the row's own side, over all
    ops: they add up to 1 on hosts and on devices, and are 0 on SparseCores. Idle time is not an op,
    so it has neither occurrences nor an average.
    """
    ops = merge_op_metrics(summaries.take("ops", OpMetrics))
    devices = merge_devices(summaries.take("devices", Devices))
    kernels = merge_kernels(summaries.take("kernels", Kernels))
    cores = _tensor_core_use(kernels)
    properties = {
        "task_type": "Training" if is_training(ops.name) else "Inference",
        "architecture_type": "Unknown",
        "device_type": devices.type,
    }
    if devices.gpus:
        properties["matrix_unit"] = core_name(is_amd=bool(kernels.is_amd.any()))
    labels = _Labels(ops)
    return [
        *(
            _table(_Rows(ops, labels, with_idle=with_idle), ops, devices, cores, properties)
            for with_idle in (True, False)
        ),
        _calls(merge_host_calls(summaries.take("host_calls", HostCalls))),
    ]


class _Labels:
    """Names and types of ops, followed by those of the idle rows; `rank` orders them by name."""

    def __init__(self, ops: OpMetrics) -> None:
        idle = [IDLE] * 3
        self.name = [*ops.name, *idle]
        self.type = [*(type_ or "Unknown" for type_ in ops.type), *idle]
        self.rank = _ranks(self.name)


class _Rows:
    """The rows of one table in order: op numbers, those below 0 for the idle rows of each side."""

    def __init__(self, ops: OpMetrics, labels: _Labels, *, with_idle: bool) -> None:
        sides = (
            (_DEVICE, ops.is_device, ops.device_idle_ps),
            (_SPARSE_CORE, ops.is_sparse_core, ops.sparse_core_idle_ps),
            (_HOST, ops.is_host, ops.host_idle_ps),
        )
        # The idle rows of the sides follow the ops.
        idle = np.array([with_idle and bool(is_here.any()) for _, is_here, _ in sides])
        side = np.append(np.select([ops.is_device, ops.is_sparse_core], [0, 1], 2), range(3))
        own_ps = np.append(ops.self_ps, np.array([idle_ps for _, _, idle_ps in sides], np.int64))
        number = np.append(np.arange(ops.self_ps.size), [-1, -2, -3])
        order = np.lexsort((labels.rank, -own_ps, side))
        order = order[np.append(np.ones(ops.self_ps.size, bool), idle)[order]]
        self.op = number[order]
        self.is_idle = self.op < 0
        self.is_device = side[order] == 0
        self.self_ps = own_ps[order].astype(np.float64)
        self.side = [sides[index][0] for index in side[order].tolist()]
        # Negative numbers, of idle rows, count from the end of the ops and sides.
        index = self.op.tolist()
        self.name = list(map(labels.name.__getitem__, index))
        self.type = list(map(labels.type.__getitem__, index))
        is_host = side[order] == 2
        self.device_share, self.device_cumulative = self._shares(self.is_device)
        self.host_share, self.host_cumulative = self._shares(is_host)

    def _shares(self, side: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(share, cumulative share) [n] of a side's self time; 0 for rows of the other side."""
        share = np.zeros(self.op.size)
        cumulative = np.zeros(self.op.size)
        own = self.self_ps[side]
        whole = own.sum()
        if whole > 0:
            share[side] = own / whole
            cumulative[side] = np.cumsum(own) / whole
        return share, cumulative

    def take(self, values: NDArray[Any], idle: float) -> NDArray[np.float64]:
        """[n] the op's value, `idle` for idle rows."""
        if not values.size:
            return np.full(self.op.size, idle)
        return np.where(self.is_idle, idle, values[np.maximum(self.op, 0)].astype(np.float64))


def _ranks(names: Sequence[str]) -> NDArray[np.int64]:
    """[n] the position of each among the sorted names; equal ones in their order."""
    out = np.empty(len(names), np.int64)
    out[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return out


def _table(
    rows: _Rows,
    ops: OpMetrics,
    devices: Devices,
    cores: dict[str, float],
    properties: dict[str, str],
) -> Table:
    is_eager = rows.take(ops.is_eager, 0)
    occurrences = rows.take(ops.occurrences, 0)
    total_us = np.where(rows.is_idle, rows.self_ps, rows.take(ops.total_ps, 0)) / 1e6
    self_us = rows.self_ps / 1e6
    work = _WorkRates(rows, ops, devices)
    columns = [
        number("rank", "Rank", np.arange(1, rows.op.size + 1)),
        text("host_or_device", "Host/device", rows.side),
        text("type", "Operation Type", rows.type),
        text("operation", "Operation Name", rows.name),
        number("occurrences", "#Occurrences", occurrences),
        number("total_time", "Total time (us)", total_us),
        number("avg_time", "Avg. time (us)", ratio(total_us, occurrences)),
        number("total_self_time", "Total self-time (us)", self_us),
        number("avg_self_time", "Avg. self-time (us)", ratio(self_us, occurrences)),
        _share(
            "device_total_self_time_percent", "Total self-time on Device (%)", rows.device_share
        ),
        _share(
            "device_cumulative_total_self_time_percent",
            "Cumulative total-self time on Device (%)",
            rows.device_cumulative,
        ),
        _share("host_total_self_time_percent", "Total self-time on Host (%)", rows.host_share),
        _share(
            "Host_cumulative_total_self_time_percent",
            "Cumulative total-self time on Host (%)",
            rows.host_cumulative,
        ),
        number("measured_flop_rate", "Normalized FLOP Rate (GFLOP/s)", work.flop_rate),
        number("model_flop_rate", "Model FLOP Rate (GFLOP/s)", work.model_flop_rate),
        number("measured_memory_bw", "Measured Memory BW (GiB/s)", work.bandwidth / _GIBI),
        number("operational_intensity", "Operational Intensity (FLOPs/Byte)", work.intensity),
        text("bound_by", "Bound by", work.bound_by),
        text(
            "eager",
            "Execution mode",
            np.where(is_eager, "Eager", "Function").tolist(),
        ),
        # The same column under an id without the capital letter that older scripts use.
        _share(
            "host_cumulative_total_self_time_percent",
            "Cumulative total-self time on Host (%)",
            rows.host_cumulative,
        ),
        text("roof_note", "Above the roof", work.above_peaks),
        number("span_time", "Time of the work (us)", work.span_us),
    ]
    if devices.gpus:
        use = np.array(
            [
                cores.get(name, np.nan) if is_device else 0.0
                for name, is_device in zip(rows.name, rows.is_device.tolist(), strict=True)
            ]
        )
        unit = properties["matrix_unit"].replace(" Cores", "Core")
        position = next(i for i, column in enumerate(columns) if column.id == "bound_by")
        columns.insert(
            position, _share("gpu_tensorcore_utilization", f"GPU {unit} utilization", use)
        )
    return Table(tuple(columns), properties)


def _calls(calls: HostCalls) -> Table:
    """A row per name and kind, by self time."""
    total_us = calls.total_ps / 1e6
    count = calls.occurrences.astype(np.float64)
    return Table(
        (
            text("type", "Kind", calls.kind),
            text("operation", "Name", calls.name),
            number("occurrences", "#Occurrences", calls.occurrences),
            number("total_time", "Total time (us)", total_us),
            number("avg_time", "Avg. time (us)", ratio(total_us, count)),
            number("total_self_time", "Total self-time (us)", calls.self_ps / 1e6),
        )
    )


def _share(id_: str, label: str, values: NDArray[np.float64]) -> Column:
    return number(id_, label, values, PERCENT)


class _WorkRates:
    """Rates of floating point work and memory traffic over the time that it took; NaN if unknown.

    `span_us` is the total time of an op, or of the transfer beside other ops that it awaits.
    `above_peaks` says why an op seems to exceed the device's peaks, "" if it does not.
    """

    def __init__(self, rows: _Rows, ops: OpMetrics, devices: Devices) -> None:
        time_ns = rows.take(ops.total_ps + ops.beside_ps, 0) / 1e3
        self.span_us = time_ns / 1e3
        flops = rows.take(ops.flops, 0)
        model = rows.take(ops.model_flops, 0)
        accessed = rows.take(ops.bytes_accessed, 0)
        known = (flops > 0) | (accessed > 0)
        self.flop_rate = np.where(known, ratio(flops, time_ns), np.nan)
        self.model_flop_rate = np.where(known, ratio(model, time_ns), np.nan)
        self.bandwidth = np.where(known, ratio(accessed, time_ns), np.nan)
        self.intensity = np.where(known, ratio(flops, accessed), np.nan)
        hbm_rate = np.where(known, ratio(rows.take(ops.hbm_bytes, 0), time_ns), np.nan)
        compute = self.flop_rate / devices.peak_gflops
        memory = hbm_rate / devices.peak_hbm_gbytes
        self.above_peaks = above_peaks(compute, memory, rows.take(ops.is_computed, 0) > 0)
        compute, memory = np.nan_to_num(compute), np.nan_to_num(memory)
        bound = np.where(memory > compute, "HBM", np.where(compute > 0, "Compute", "Unknown"))
        # The resource of whose peak each op uses the largest part.
        self.bound_by: list[str] = bound.tolist()


def _tensor_core_use(kernels: Kernels) -> dict[str, float]:
    """Per op the share of its kernels' time in kernels that use Tensor Cores.

    Only kernels with known use count; an op without any has no entry.
    """
    times: dict[str, list[int]] = {}
    columns = kernels.core_use.tolist(), kernels.total_ps.tolist()
    for op, use, total_ps in zip(kernels.op, *columns, strict=True):
        if use != CoreUse.UNKNOWN:
            time = times.setdefault(op, [0, 0])
            time[0] += total_ps if use == CoreUse.YES else 0
            time[1] += total_ps
    return {op: used / whole for op, (used, whole) in times.items() if whole}

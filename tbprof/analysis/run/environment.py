"""Where and how a trace was recorded: host, devices, versions, options, window."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo_messages.message_fields import (
    DamagedMessage,
    Fields,
    bytes_in,
    messages_in,
    number_in,
    read_fields,
    text_in,
)
from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.run.recording import dropped_events, environment_stats, stated_window
from tbprof.analysis.vocabulary.lines import gpu_planes, is_sparse_core, recorded_lines, tpu_planes
from tbprof.base import names
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.base.values import mean_known
from tbprof.events.space import Space, Value

# Few traces have both GPUs and TPUs.
_find_gpu_kinds = Later("tbprof.analysis.gpu.gpu_events.find_gpu_kinds")
_duty_cycle = Later("tbprof.analysis.tpu.duty_cycle.duty_cycle")

# Stats of planes. Source: xplane_schema.h (kMatrixUnitUtilizationPercent and the stats after it).
_MXU = "matrix_unit_utilization_percent"
_HBM = "hbm_utilization_percent"
_OPTIONS = "profile_options"

_VERSION = "_version"
_VERSION_LABELS = {
    "jax": "JAX",
    "jaxlib": "jaxlib",
    "tensorflow": "TensorFlow",
    "tf": "TensorFlow",
    "cuda": "CUDA",
    "cuda_runtime": "CUDA runtime",
    "cuda_driver": "CUDA driver",
    "libtpu": "libtpu",
}

# Source: NVIDIA, CUDA C++ programming guide, compute capabilities.
_GENERATIONS = (
    ((12, 0), "Blackwell"), ((10, 0), "Blackwell"), ((9, 0), "Hopper"), ((8, 9), "Ada Lovelace"),
    ((8, 0), "Ampere"), ((7, 5), "Turing"), ((7, 0), "Volta"), ((6, 0), "Pascal"),
    ((5, 0), "Maxwell"), ((3, 0), "Kepler"), ((2, 0), "Fermi"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of the run, according to the trace of one host.

    `kind`, `recorded` and `active` have one entry per kind of device ("GPU", "TPU", "SparseCore"):
    `recorded` counts its planes, `active` those with a recorded line. `detail_*` are further facts
    (name, value) as text, such as the compute capability. `start_epoch_ns` is 0 if not recorded.
    `window_ps` is the length of the recording; if `is_window_stated` is False, it is the time from
    the first event to the last. `dropped_events` is -1 and percentages are NaN if not recorded.
    `busy_ps` and `idle_ps` are those of the duty cycle, 0 without TPUs. `errors` and `warnings` are
    the recorder's own.
    """

    host_name: str
    kind: list[str]
    recorded: NDArray[np.int64]
    active: NDArray[np.int64]
    detail_name: list[str]
    detail_value: list[str]
    version_name: list[str]
    version_value: list[str]
    option_name: list[str]
    option_value: list[str]
    start_epoch_ns: int
    window_ps: int
    is_window_stated: bool
    dropped_events: int
    mxu_pct: float
    hbm_pct: float
    busy_ps: int
    idle_ps: int
    errors: list[str]
    warnings: list[str]


def find_environment(space: Space, programs: Programs) -> Environment:
    """The environment in which a trace was recorded."""
    devices = list(_devices(space))
    details = dict(_device_details(space))
    versions = dict(_versions(space))
    start, stop = stated_window(space)
    is_stated = 0 < start < stop
    options = _options(environment_stats(space).get(_OPTIONS))
    busy, idle = _duty_cycle(space) if tpu_planes(space) else (0, 0)
    return Environment(
        space.hostnames[0] if space.hostnames else "",
        [kind for kind, _, _ in devices],
        np.array([recorded for _, recorded, _ in devices], np.int64),
        np.array([active for _, _, active in devices], np.int64),
        list(details),
        list(details.values()),
        list(versions),
        list(versions.values()),
        [name for name, _ in options],
        [value for _, value in options],
        start,
        (stop - start) * 1000 if is_stated else _events_window(space, programs),
        is_stated,
        dropped_events(space),
        _percentage(space, _MXU),
        _percentage(space, _HBM),
        busy,
        idle,
        list(space.errors),
        list(space.warnings),
    )


def _devices(space: Space) -> Iterator[tuple[str, int, int]]:
    """(kind, planes, planes with lines) of each kind of device that has a plane."""
    tpus = tpu_planes(space)
    for kind, planes in (
        ("GPU", gpu_planes(space)),
        ("TPU", [plane for plane in tpus if not is_sparse_core(plane)]),
        ("SparseCore", [plane for plane in tpus if is_sparse_core(plane)]),
    ):
        if planes:
            yield kind, len(planes), sum(bool(recorded_lines(plane)) for plane in planes)


def _device_details(space: Space) -> Iterator[tuple[str, str]]:
    """(name, value) of what the first device plane with capabilities states."""
    gpu = next((plane for plane in gpu_planes(space) if plane.stats), None)
    if gpu is not None:
        major = _integer(gpu.stats.get(names.COMPUTE_MAJOR), -1)
        minor = _integer(gpu.stats.get(names.COMPUTE_MINOR), -1)
        if major >= 0 and minor >= 0:
            # AMD numbers its generations differently, so only the numbers are shown.
            vendor = str(gpu.stats.get(names.DEVICE_VENDOR, ""))
            generation = "" if vendor.lower() == "amd" else _generation(major, minor)
            yield (
                "Compute capability",
                f"{major}.{minor} ({generation})" if generation else f"{major}.{minor}",
            )
        cores = _integer(gpu.stats.get("core_count"))
        if cores > 0:
            yield "Multiprocessors per device", str(cores)
        memory = _integer(gpu.stats.get("memory_size"))
        if memory > 0:
            yield "Memory per device", f"{memory / 2**30:.1f} GiB"
    tpu = next((plane for plane in tpu_planes(space) if plane.stats), None)
    if tpu is not None and _integer(tpu.stats.get("has_megacore")):
        yield "Megacore", "two cores work as one device"


def _generation(major: int, minor: int) -> str:
    for least, name in _GENERATIONS:
        if (major, minor) >= least:
            return name if major <= _GENERATIONS[0][0][0] else ""
    return ""


def _versions(space: Space) -> Iterator[tuple[str, str]]:
    """(label, version) of every plane stat that is a version."""
    for plane in space.planes:
        for stat, value in plane.stats.items():
            if not stat.endswith(_VERSION) or isinstance(value, bytes):
                continue
            name = stat.removesuffix(_VERSION)
            text = _cuda(value) if name.startswith("cuda") else str(value)
            if text and text != name:  # `cpu_version` says "cpu" (observed)
                yield _VERSION_LABELS.get(name, name), text


# Fields of ProfileOptions. Source: profiler_options.proto.
_LEVELS = (("Host tracer level", 2), ("Device tracer level", 3), ("Python tracer level", 4))
_RECORDED = (("tf.data ops", 1), ("XLA programs (HLO)", 7))
_DURATION_MS, _SETTINGS = 9, 12


def _cuda(value: Value) -> str:
    """CUDA counts 1000 per major and 10 per minor version. Source: cudaRuntimeGetVersion."""
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if isinstance(number, int):
        return f"{number // 1000}.{number % 1000 // 10}" if number >= 1000 else ""
    return str(value)


def _options(value: Value | None) -> list[tuple[str, str]]:
    """(name, value) of the options that say what was recorded, [] if unknown."""
    if not isinstance(value, bytes):
        return []
    try:
        options = read_fields(value)
        settings = {
            text_in(entry, 1): read_fields(bytes_in(entry, 2))
            for entry in messages_in(options, _SETTINGS)
        }
    except DamagedMessage:
        return []
    rows = [(label, str(number_in(options, field))) for label, field in _LEVELS]
    for label, field in _RECORDED:
        rows.append((label, "recorded" if number_in(options, field) else "left out"))
    if duration_ms := number_in(options, _DURATION_MS):
        rows.append(("Requested duration", f"{duration_ms} ms"))
    return [*rows, *((name, _setting(settings[name])) for name in sorted(settings))]


def _setting(value: Fields) -> str:
    """An AdvancedConfigValue: a text, a bool or an integer, "" if it is none."""
    if 1 in value:
        return text_in(value, 1)
    if 2 in value:
        return str(bool(number_in(value, 2)))
    return str(number_in(value, 3)) if 3 in value else ""


def _events_window(space: Space, programs: Programs) -> int:
    """The time from the first recorded event of any plane to the last, in ps."""
    first, last = 2**63 - 1, -(2**63)
    for plane in space.planes:
        if not plane.lines.id.size:
            continue
        # These events are also decoded for other parts.
        if plane.name.startswith(names.HOST_PLANE):
            events = host_events(plane)
        elif plane.name.startswith(names.GPU_PREFIX):
            events = _find_gpu_kinds(plane, programs).events
        else:
            events = plane.events(recorded_lines(plane))
        if len(events):
            first = min(first, int(events.start_ps.min()))
            last = max(last, int((events.start_ps + events.duration_ps).max()))
    return max(last - first, 0)


def _percentage(space: Space, stat: str) -> float:
    """The mean over the planes that have the stat; NaN if none has it."""
    values = [plane.stats[stat] for plane in space.planes if stat in plane.stats]
    return mean_known(float(value) for value in values if isinstance(value, int | float))


def _integer(value: Value | None, default: int = 0) -> int:
    return value if isinstance(value, int) else default

"""The traces of a GPU job, written as recorders of V100 and MI350 do, and the truth of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from traces import Unsigned
from traces.space_writer import PlaneWriter, SpaceWriter, Stats, StatValue

from jobs.clocks import HostClock, host_clock
from jobs.drawn_job import CoreStep, DrawnJob, DrawnOp, Truth, Work
from jobs.gpu.gpu_job import GpuJob
from jobs.gpu.gpu_schedule import LAUNCH, US, GpuOp, GpuStep, schedule

_LINE_NS = 245_747
_PLANES: dict[str, Stats] = {
    "Nvidia": {
        "device_vendor": "Nvidia", "clock_rate": 1_530_000, "core_count": 80,
        "memory_bandwidth": Unsigned(898_048_000_000), "memory_size": Unsigned(16_945_512_448),
        "compute_cap_major": 7, "compute_cap_minor": 0,
    },
    "AMD": {
        "device_vendor": "AMD", "clock_rate": 2_400_000, "core_count": 256,
        "memory_bandwidth": Unsigned(4_096_000_000_000),
        "memory_size": Unsigned(309_220_868_096), "compute_cap_major": 9, "compute_cap_minor": 5,
    },
}  # fmt: skip
_DETAILS = {
    "Nvidia": "regs:38 static_shared:0 dynamic_shared:0 grid:160,1,1 block:1024,1,1 occ_pct:50",
    "AMD": " grid:160,1,1 block:1024,1,1 private_mem:0 group_mem:0 occ_pct:0",
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a kind of op is recorded: the event's name, by vendor, its stream, and its op."""

    nvidia: str
    amd: str
    stream: str
    launch: str
    op: str = ""


_KINDS = {
    "h2d": _Kind("MemcpyH2D", "MemcpyH2D", "Stream #15(MemcpyH2D)", "cuMemcpyHtoDAsync_v2"),
    "gemm": _Kind(
        "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32",
        "Stream #14(Compute)", "cuLaunchKernel", "model/layer{}/MatMul",
    ),
    "single": _Kind(
        "volta_sgemm_128x64_nn", "Cijk_Ailk_Bljk_SB_MT64x64x16",
        "Stream #14(Compute)", "cuLaunchKernel", "model/layer{}/Conv2D",
    ),
    "all_reduce": _Kind(
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
        "Stream #20(Compute)", "cuLaunchKernel", "model/AllReduce",
    ),
    "d2h": _Kind("MemcpyD2H", "MemcpyD2H", "Stream #16(MemcpyD2H)", "cuMemcpyDtoHAsync_v2"),
}  # fmt: skip
# Calls that copy are what they copy for.
_CALLS = {Work.INPUT: Work.INPUT, Work.OUTPUT: Work.OUTPUT}
_HIP = {
    "cuLaunchKernel": "hipModuleLaunchKernel",
    "cuMemcpyHtoDAsync_v2": "hipMemcpyHtoDAsync",
    "cuMemcpyDtoHAsync_v2": "hipMemcpyDtoHAsync",
}


def draw_gpu_job(job: GpuJob) -> DrawnJob:
    """The traces of the job and its truth."""
    files = {}
    rows: list[CoreStep] = []
    ops: dict[tuple[int, str], tuple[DrawnOp, ...]] = {}
    for host, steps in enumerate(schedule(job)):
        clock = host_clock(job.skew_us, job.drift_ppm, host)
        space = SpaceWriter()
        _Host(job, space.plane("/host:CPU"), clock).draw(steps)
        for device in range(job.devices):
            writer = _Gpu(job, space.plane(f"/device:GPU:{device}", device), clock, host, device)
            ops[host, f"/device:GPU:{device}"] = tuple(writer.draw(steps))
            rows += _rows(job, host, device, steps)
        space.plane("Task Environment").state(
            {
                "profile_start_time": Unsigned(clock.begin_ns),
                "profile_stop_time": Unsigned(
                    clock.begin_ns + clock.file_ps(steps[-1].end_ps) // 1000
                ),
            }
        )
        files[f"host{host}"] = space.bytes()
    late = [(host, f"/device:GPU:{device}") for host, device, factor in job.slow if factor > 1]
    return DrawnJob(files, Truth(tuple(rows), tuple(late), ops))


def _kind(op: str) -> tuple[_Kind, str]:
    """How an op is recorded, and the framework's op, "" for none."""
    name = op.rstrip("0123456789")
    kind = _KINDS.get(op) or _KINDS[name]
    return kind, kind.op.format(op[len(name) :])


class _Host:
    """Writes the threads of a host."""

    def __init__(self, job: GpuJob, plane: PlaneWriter, clock: HostClock) -> None:
        self._job = job
        self._plane = plane
        self._clock = clock
        self._python = plane.line("python", 4711, _LINE_NS)
        self._calls = plane.line("Host Threads/7", 7, _LINE_NS) if job.vendor == "AMD" else None

    def draw(self, steps: Sequence[GpuStep]) -> None:
        """Markers, waits for batches, calls of functions, and launches."""
        job = self._job
        for step in steps:
            launches = sorted(
                (op.launched_ps, device, at, op)
                for device, ops in enumerate(step.ops)
                for at, op in enumerate(ops)
            )
            last = launches[-1][0] + LAUNCH
            end = step.end_ps + job.idle_us * US if job.is_blocking else last + 20 * US
            if job.has_markers:
                stats: Stats = {"_r": 1, "step_num": job.first_number + step.step}
                self._write(self._python, job.marker, step.start_ps, end, stats)
            if job.input_us:
                begin, until = step.input
                self._write(self._python, "IteratorGetNext:IteratorGetNext", begin, until, {})
                self._write(self._python, "Iterator::Root", begin + US, until - US, {})
            call = "PjitFunction(step)" if job.vendor == "AMD" else "FunctionRun"
            self._write(self._python, call, step.input[1], last, {})
            for begin, device, at, op in launches:
                kind, _ = _kind(op.name)
                name = _HIP[kind.launch] if job.vendor == "AMD" else kind.launch
                own: Stats = {
                    "correlation_id": Unsigned(correlation(job, device, step.step, at)),
                    "device_id": Unsigned(device),
                }
                line = self._python if self._calls is None else self._calls
                self._write(line, name, begin, begin + LAUNCH, own)

    def _write(self, line: object, name: str, start: int, end: int, stats: Stats) -> None:
        begin = self._clock.file_ps(start)
        self._plane.event(line, name, begin, self._clock.file_ps(end) - begin, stats)


def correlation(job: GpuJob, device: int, step: int, at: int) -> int:
    """What a launch and its kernel share."""
    return 1 + (step * job.devices + device) * 100 + at


class _Gpu:
    """Writes the plane of a GPU."""

    def __init__(
        self, job: GpuJob, plane: PlaneWriter, clock: HostClock, host: int, device: int
    ) -> None:
        self._job = job
        self._plane = plane
        self._clock = clock
        self._host = host
        self._device = device
        plane.state(_PLANES[job.vendor])

    def draw(self, steps: Sequence[GpuStep]) -> list[DrawnOp]:
        """Writes the streams; answers the ops that were recorded."""
        job = self._job
        lines: dict[str, object] = {}
        out = []
        for step in steps:
            if (self._host, self._device, step.step) in job.lost:
                continue
            for at, op in enumerate(step.ops[self._device]):
                kind, framework = _kind(op.name)
                stats: dict[str, StatValue] = {
                    "correlation_id": Unsigned(correlation(job, self._device, step.step, at))
                }
                if op.work in (Work.INPUT, Work.OUTPUT):
                    stats["memcpy_details"] = f"size:4096 dest:{self._device} async:1"
                else:
                    stats["kernel_details"] = _DETAILS[job.vendor]
                    stats["tf_op"] = f"{framework}:{framework.rpartition('/')[2]}"
                name = kind.amd if job.vendor == "AMD" else kind.nvidia
                stream = kind.stream.partition("(")[0] if job.vendor == "AMD" else kind.stream
                if stream not in lines:
                    number = int(stream.partition("#")[2].partition("(")[0])
                    lines[stream] = self._plane.line(stream, number, _LINE_NS)
                start = self._clock.file_ps(op.start_ps)
                length = self._clock.file_ps(op.end_ps) - start
                self._plane.event(lines[stream], name, start, length, stats)
                own = op.end_ps - op.start_ps
                out.append(DrawnOp(framework or name, op.start_ps, op.end_ps, own))
        return out


def _rows(job: GpuJob, host: int, device: int, steps: Sequence[GpuStep]) -> list[CoreStep]:
    """The steps of a GPU: by the host's markers where it waits, else by its own first op."""
    out = []
    begins = [step.start_ps if job.is_blocking else step.ops[device][0].start_ps for step in steps]
    for at, one in enumerate(steps):
        mine = one.ops[device]
        end = one.end_ps + job.idle_us * US if job.is_blocking else mine[-1].end_ps
        until = begins[at + 1] if at + 1 < len(steps) else end
        is_there = (host, device, one.step) not in job.lost
        out.append(
            CoreStep(
                host,
                f"/device:GPU:{device}",
                "GPU",
                job.first_number + one.step,
                begins[at],
                until - begins[at],
                mine[-1].end_ps - begins[at],
                _work(one, mine, begins[at], until),
                is_there,
                is_there,
            )
        )
    return out


def _work(one: GpuStep, mine: Sequence[GpuOp], begin: int, end: int) -> dict[Work, int]:
    """What a GPU did, and where it did nothing the host: launches count for it as it waits."""
    layers = [(op.start_ps, op.end_ps, op.work) for op in mine]
    layers.append((*one.input, Work.INPUT))
    layers += [
        (op.launched_ps, op.launched_ps + LAUNCH, _CALLS.get(op.work, Work.LAUNCH))
        for ops in one.ops
        for op in ops
    ]
    cuts = sorted({begin, end, *(time for first, last, _ in layers for time in (first, last))})
    out: Counter[Work] = Counter()
    for first, last in pairwise(cuts):
        if begin <= first < end:
            covering = (work for start, until, work in layers if start <= first < until)
            out[next(covering, Work.IDLE)] += min(last, end) - first
    return dict(out)

"""The host's side of a drawn TPU job: the thread that runs the program, launches, input."""

from collections.abc import Sequence

from traces.space_writer import PlaneWriter, SpaceWriter, Stats

from jobs.clocks import HostClock
from jobs.tpu.tpu_job import TpuJob
from jobs.tpu.tpu_schedule import US, CoreSchedule, ProgramRun, launch_id

# How long a launch takes, and how much earlier than the program the marker begins where the host
# waits for each step; else the host is half a step ahead.
_CALL = 400 * US
LAUNCH = 460 * US
_MARK = 10 * US
_LINE_NS = 212_990


def draw_host(
    job: TpuJob, space: SpaceWriter, cores: Sequence[CoreSchedule], clock: HostClock
) -> set[int]:
    """Writes the plane of the host's threads; answers the steps of which the marker is there."""
    writer = _Host(job, space.plane("/host:CPU"), clock)
    runs = cores[0].runs
    if not job.is_blocking:
        writer.ahead = (runs[-1].end_ps - runs[0].start_ps) // job.steps // 2
    by_step: dict[int, list[tuple[int, ProgramRun]]] = {}
    for number, run in enumerate(runs):
        by_step.setdefault(run.step, []).append((number, run))
    for step, numbered in by_step.items():
        writer.step(step, numbered, cores)
    return writer.marked


class _Host:
    """Writes what the host did for each step."""

    def __init__(self, job: TpuJob, plane: PlaneWriter, clock: HostClock) -> None:
        self._job = job
        self._plane = plane
        self._clock = clock
        self._python = plane.line("python", 4711, _LINE_NS)
        self._queue = plane.line("tfrt-non-blocking-queue/4712", 4712, _LINE_NS)
        is_fed = job.framework == "tensorflow" and job.infeed_us
        self._input = plane.line("tf_Compute/4713", 4713, _LINE_NS) if is_fed else None
        self._free = -(10**12)
        self.marked: set[int] = set()
        self.ahead = LAUNCH - _MARK

    def step(
        self, step: int, runs: Sequence[tuple[int, ProgramRun]], cores: Sequence[CoreSchedule]
    ) -> None:
        """A step: its marker, and in it the launches of its programs, one after the other."""
        job = self._job
        call = "PjitFunction(train_step)" if job.framework == "jax" else "train_step"
        begins: list[int] = []
        for _, run in runs:
            begins.append(max(run.start_ps - self.ahead, self._free))
            self._free = begins[-1] + _CALL + 2 * _MARK
        if job.has_markers:
            number = job.first_number + step
            end = begins[-1] + _CALL + _MARK
            stats: Stats = {"_r": 1, "step_num": number}
            if self._write(self._python, job.marker, begins[0] - _MARK, end, stats):
                self.marked.add(step)
        for begin, (number, run) in zip(begins, runs, strict=True):
            name = call if run.program != "apply" else call.replace("train_step", "apply")
            self._write(self._python, name, begin, begin + _CALL, {})
            self._launch(begin + 20 * US, number, cores)
        if self._input is not None:
            # The cores are fed when the last one is there.
            begin = max(core.runs[runs[0][0]].start_ps for core in cores)
            fed = begin + (job.infeed_us - 100) * US
            self._write(self._input, "IteratorGetNext:IteratorGetNext", begin, fed, {})
            enqueue = "InfeedEnqueueTuple:InfeedEnqueueTuple"
            self._write(self._input, enqueue, fed + 10 * US, fed + 90 * US, {})

    def _launch(self, begin: int, run: int, cores: Sequence[CoreSchedule]) -> None:
        """The launch of a program, on all cores."""
        is_jax = self._job.framework == "jax"
        execute = "TfrtTpuLoadedExecutable::Execute" if is_jax else "TPUExecute:TPUExecute"
        link = 4_294_967_332 + run
        stats: Stats = {"_pt": 5, "_p": link} if self._job.is_linked else {}
        self._write(self._python, execute, begin, begin + 300 * US, stats)
        if not self._job.is_linked:
            return
        queued = begin + 30 * US
        end = queued + 20 * len(cores) * US + 10 * US
        self._write(self._queue, "tpu::System::Execute", queued, end, {"_ct": 5, "_c": link})
        for at, core in enumerate(cores):
            own = queued + (5 + 20 * at) * US
            launched: Stats = {
                "run_id": run + 1,
                "queue_id": 0,
                "device_ordinal": core.core,
                "core_type": 0,
                "_pt": 12,
                "_p": launch_id(core.host, core.core, run),
            }
            self._write(self._queue, "DoEnqueueProgram", own, own + 15 * US, launched)

    def _write(self, line: object, name: str, start: int, end: int, stats: Stats) -> bool:
        window = self._job.recorded_us
        if window and (start < window[0] * US or end > window[1] * US):
            return False
        begin = self._clock.file_ps(start)
        self._plane.event(line, name, begin, self._clock.file_ps(end) - begin, stats)
        return True

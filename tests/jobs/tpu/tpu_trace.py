"""The traces of a TPU job, written as TPU v6e recorders do, and the truth of it."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from random import Random
from statistics import median

from traces import Unsigned
from traces.space_writer import SpaceWriter, Stats

from jobs.clocks import CoreClock, HostClock, core_clock, host_clock
from jobs.drawn_job import CoreStep, DrawnJob, DrawnOp, Truth, Work
from jobs.tpu.tpu_host import LAUNCH, draw_host
from jobs.tpu.tpu_job import TpuJob
from jobs.tpu.tpu_program import hlo_proto, instructions, sparse_instruction
from jobs.tpu.tpu_schedule import (
    US,
    CoreSchedule,
    Piece,
    ProgramRun,
    launch_id,
    schedule,
    self_ps,
    work_of,
)
from tbprof._pb import message

PROGRAM_ID = {
    "train_step": 9_646_411_105_960_254_074,
    "micro_step": 9_646_411_105_960_254_075,
    "apply": 9_646_411_105_960_254_076,
    "embedding": 9_646_411_105_960_254_077,
}
# A pause of more than this share of a step is a part of it that counts.
_NOTABLE_PAUSE = 0.05
_PEAKS: Stats = {
    "device_type_string": "TPU v6 Lite",
    "peak_teraflops_per_second": 918.0,
    "peak_hbm_bw_gigabytes_per_second": 1637.993152512,
    "peak_vmem_rd_bw_gigabytes_per_second": 23296.0099876864,
    "peak_vmem_wr_bw_gigabytes_per_second": 16128.031693209601,
    "has_merged_vmem": 1,
}


def draw_tpu_job(job: TpuJob) -> DrawnJob:
    """The traces of the job and its truth."""
    cores = schedule(job)
    files = {}
    rows: list[CoreStep] = []
    ops: dict[tuple[int, str], tuple[DrawnOp, ...]] = {}
    for host in range(job.hosts):
        mine = [core for core in cores if core.host == host]
        space = SpaceWriter()
        clock = host_clock(job.skew_us, job.drift_ppm, host)
        marked = draw_host(job, space, mine, clock)
        for core in mine:
            recorders = [_Recorder(job, space, core)]
            lacks_pause = _lacks_pause(core, mine)
            if core.core % _per_chip(job) == 0:
                sparse = _sparse_schedule(job, core)
                recorders += [
                    _Recorder(job, space, sparse, number) for number in range(job.sparse_cores)
                ]
            for recorder in recorders:
                recorder.draw()
                rows += recorder.rows(marked, lacks_pause=lacks_pause and recorder is recorders[0])
                ops[host, recorder.device] = tuple(recorder.ops)
        _draw_programs(job, space, mine)
        space.plane("Task Environment").state(
            {
                "profile_start_time": Unsigned(clock.begin_ns),
                "profile_stop_time": Unsigned(clock.begin_ns + clock.file_ps(mine[0].now) // 1000),
            }
        )
        files[f"host{host}"] = space.bytes()
    return DrawnJob(files, Truth(tuple(rows), _late(job), ops))


def _per_chip(job: TpuJob) -> int:
    return 2 if job.megacore else 1


def _late(job: TpuJob) -> tuple[tuple[int, str], ...]:
    """Who keeps the others waiting, by how much in each step, worst first."""
    lateness: Counter[tuple[int, str]] = Counter()
    for host, core, factor in job.slow:
        extra = round((factor - 1) * (job.compute_us + job.elementwise_us))
        lateness[host, f"/device:TPU:{core}"] += extra
    for host, core, us in job.late:
        lateness[host, f"/device:TPU:{core}"] += us
    return tuple(who for who, us in lateness.most_common() if us > 0)


def _lacks_pause(core: CoreSchedule, cores: Sequence[CoreSchedule]) -> bool:
    """Whether a notable pause follows each step of a core but the last, in which its host's `cores`
    have nothing to do: how long the last one took is not known.
    """
    begins: dict[int, int] = {}
    for run in (run for one in cores for run in one.runs):
        begins[run.step] = min(begins.get(run.step, run.start_ps), run.start_ps)
    first, last = ({run.step: run for run in runs} for runs in (core.runs[::-1], core.runs))
    steps = [step for step in first if step + 1 in first]
    pauses = [max(begins[step + 1] - last[step].end_ps, 0) for step in steps]
    lengths = [first[step + 1].start_ps - first[step].start_ps for step in steps]
    return bool(steps) and median(pauses) > _NOTABLE_PAUSE * median(lengths)


def _sparse_schedule(job: TpuJob, core: CoreSchedule) -> CoreSchedule:
    """What a SparseCore of the core's chip does: an embedding's part of each step."""
    made = CoreSchedule(core.host, core.core)
    for run in core.runs:
        if run.program != "apply" and not (made.runs and made.run.step == run.step):
            made.now = run.start_ps
            made.begin("embedding", run.step)
            made.do("sparse_gather.1", made.now + job.sparse_us * US, Work.COMPUTE_OTHER)
            made.end()
    return made


def _draw_programs(job: TpuJob, space: SpaceWriter, cores: Sequence[CoreSchedule]) -> None:
    """The plane of compiled programs."""
    plane = space.plane("/host:metadata")
    if not job.has_hlo:
        return
    known = instructions(job)
    used: dict[str, dict[str, None]] = {}
    for run in cores[0].runs:
        named = (piece.name for piece in run.pieces if not piece.is_marker)
        used.setdefault(run.program, {}).update(dict.fromkeys(named))
    for program, names in used.items():
        number = PROGRAM_ID[program]
        proto = hlo_proto(f"jit_{program}", number, [known[name] for name in names])
        stats: Stats = {"Hlo Proto": proto}
        plane.kind(f"jit_{program}({number})", "", stats, number - 2**64)
    if job.sparse_cores:
        number = PROGRAM_ID["embedding"]
        proto = hlo_proto("jit_embedding", number, [sparse_instruction()])
        plane.kind(f"jit_embedding({number})", "", {"Hlo Proto": proto}, number - 2**64)


class _Recorder:
    """Writes the plane of a core, or of the SparseCore `sparse` of its chip."""

    def __init__(
        self, job: TpuJob, space: SpaceWriter, core: CoreSchedule, sparse: int = -1
    ) -> None:
        self._job = job
        self._core = core
        self._is_sparse = sparse >= 0
        self.device = f"/device:TPU:{core.core}"
        if self._is_sparse:
            self.device += f" SparseCore {sparse}"
        self._plane = space.plane(self.device, 2 + 8 * core.core + 1 + sparse)
        self._host_clock: HostClock = host_clock(job.skew_us, job.drift_ppm, core.host)
        self._clock: CoreClock = core_clock(job, core.host, core.core)
        self._known = instructions(job) | {"sparse_gather.1": sparse_instruction()}
        self._begins = [run.start_ps for run in core.runs]
        random = Random(f"{job.seed} error {core.host} {core.core}")
        self._errors = [
            random.randrange(job.file_error_us * US + 1) if number % 2 else 0
            for number in range(len(core.runs))
        ]
        self.ops: list[DrawnOp] = []
        self._recorded: Counter[int] = Counter()
        self._missing: Counter[int] = Counter()
        self._describe(sparse)

    def _describe(self, sparse: int) -> None:
        job, core = self._job, self._core
        per_chip = 2 if job.megacore else 1
        chip = core.core // per_chip
        details = message("tensorflow.profiler.CoreDetails")(
            hostname=f"host{core.host}",
            device_ordinal=core.core,
            core_num=sparse if self._is_sparse else core.core % per_chip,
            local_chip_id=chip,
            global_chip_id=core.host * (job.cores // per_chip) + chip,
            global_core_id=core.host * job.cores + core.core,
            is_sparse_core=self._is_sparse,
        )
        self._plane.state({"core_details": details.SerializeToString(), **_PEAKS})
        self._plane.state({"has_megacore": int(job.megacore)})
        if any((host, at) == (core.host, core.core) for host, at, _ in job.lost):
            self._plane.state({"dropped_traces": 1})

    def draw(self) -> None:
        """Writes the lines."""
        prefix = "Sparse Core " if self._is_sparse else ""
        plane = self._plane
        if self._job.steps_line != "none":
            steps = plane.line(f"{prefix}Steps", 1)
            for number, run in enumerate(self._core.runs):
                self._step(steps, number, run)
        modules = plane.line(f"{prefix}Modules" if prefix else "XLA Modules", 2)
        ops = plane.line(f"{prefix}Ops" if prefix else "XLA Ops", 3)
        moves = plane.line("Async XLA Ops", 4) if not prefix else None
        markers = plane.line("XLA TraceMe", 6) if not prefix else None
        for number, run in enumerate(self._core.runs):
            self._module(modules, number, run)
            for piece in run.pieces:
                if piece.is_marker:
                    is_there = self._write(markers, piece.name, piece, run.step, {}, is_timed=False)
                    self._missing[run.step] += not is_there
                else:
                    self._op(ops, run, piece)
            if moves is not None:
                self._async(moves, run)

    def _file_ps(self, time_ps: int) -> int:
        """The time in the file: right where every other run begins, wrong at the others.

        Recorders know single moments and put what lies between them on a line.
        """
        right = self._host_clock.file_ps(time_ps)
        if not self._job.file_error_us:
            return right
        at = max(bisect_right(self._begins, time_ps) - 1, 0)
        if at + 1 == len(self._begins):
            return right + self._errors[at]
        begin, end = self._begins[at : at + 2]
        share = min(max((time_ps - begin) / (end - begin), 0), 1)
        low, high = self._errors[at : at + 2]
        return right + round(low + share * (high - low))

    def _is_lost(self, piece: Piece, step: int) -> bool:
        job, core = self._job, self._core
        here = core.host, core.core
        if (*here, step) in job.lost or (*here, step, piece.name) in job.lost_ops:
            return True
        begins = [us for host, at, us in job.late_recording if (host, at) == here]
        if job.recorded_us is not None:
            begins.append(job.recorded_us[0])
            if piece.end_ps > job.recorded_us[1] * US:
                return True
        return any(piece.start_ps < us * US for us in begins)

    def _write(
        self,
        line: object,
        kind: int | str,
        piece: Piece,
        step: int,
        stats: Stats,
        *,
        is_timed: bool = True,
    ) -> bool:
        """Writes an event unless it was lost; whether it was written."""
        if self._is_lost(piece, step):
            return False
        start = self._file_ps(piece.start_ps)
        length = self._file_ps(piece.end_ps) - start
        own: Stats = {}
        if is_timed and self._job.has_core_clocks:
            begin = self._clock.ps(piece.start_ps)
            own = {
                "device_offset_ps": Unsigned(begin),
                "device_duration_ps": Unsigned(self._clock.ps(piece.end_ps) - begin),
            }
        self._plane.event(line, kind, start, length, {**own, **stats})
        return True

    def _step(self, line: object, number: int, run: ProgramRun) -> None:
        """A step as the recorder marks it: one for each run of a program."""
        job, host = self._job, self._core.host
        first = job.line_first[host] if host < len(job.line_first) else 0
        name = str(first + number) if job.steps_line == "numbers" else "step"
        piece = Piece(name, run.start_ps, run.end_ps, None)
        self._write(line, name, piece, run.step, {}, is_timed=False)

    def _module(self, line: object, number: int, run: ProgramRun) -> None:
        core = self._core
        stats: dict[str, str | bytes | int | float] = {
            "run_id": Unsigned(number + 1),
            "replica_id": 0,
            "queue_id": Unsigned(0),
            "core_type": Unsigned(int(self._is_sparse)),
        }
        if self._job.is_linked and not self._is_sparse:
            stats |= {"_ct": 12, "_c": launch_id(core.host, core.core, number)}
        name = f"jit_{run.program}({PROGRAM_ID[run.program]})"
        piece = Piece(name, run.start_ps, run.end_ps, None)
        self._write(line, name, piece, run.step, stats, is_timed=False)

    def _op(self, line: object, run: ProgramRun, piece: Piece) -> None:
        stats: dict[str, str | bytes | int | float] = {}
        if piece.name == "all-reduce.1":
            stats["all_reduce_unique_id"] = Unsigned(1 + 65_536 * run.step)
        kind = self._kind(piece.name, piece.name, run.program)
        if self._write(line, kind, piece, run.step, stats):
            self._recorded[run.step] += 1
            known = self._known[piece.name]
            name = known.tf_op.removesuffix(":") or known.name
            own = self_ps(run, piece)
            self.ops.append(DrawnOp(name, piece.start_ps, piece.end_ps, own, known.flops))
        else:
            self._missing[run.step] += 1

    def _kind(self, name: str, short: str, program: str) -> int:
        instruction = self._known[name]
        symbol = 1 + list(self._known).index(name)
        stats = instruction.stats(PROGRAM_ID[program], symbol)
        return self._plane.kind(instruction.title, short, stats)

    def _async(self, line: object, run: ProgramRun) -> None:
        """Copies that go on beside other ops: from where they begin to where they are awaited."""
        ends = {piece.name: piece for piece in run.pieces}
        for number in ("2", "3"):
            start, done = ends.get(f"copy-start.{number}"), ends.get(f"copy-done.{number}")
            if start is not None and done is not None:
                both = Piece("async-copy", start.start_ps, done.end_ps, None)
                kind = self._kind(start.name, "async-copy", run.program)
                stats: Stats = {"hlo_op": done.name, "_a": 1, "id": Unsigned(int(number))}
                self._write(line, kind, both, run.step, stats, is_timed=False)

    def rows(self, marked: set[int], *, lacks_pause: bool) -> list[CoreStep]:
        """The steps, as they truly were; the last one is not whole where it `lacks_pause`."""
        runs: dict[int, list[ProgramRun]] = {}
        for run in self._core.runs:
            runs.setdefault(run.step, []).append(run)
        out = []
        # Where the host's markers bound the steps, launches are a part of them.
        lead = LAUNCH if self._job.is_blocking and self._job.steps_line == "none" else 0
        for step, mine in runs.items():
            start, end = mine[0].start_ps - lead, mine[-1].end_ps
            following = runs[step + 1][0].start_ps - lead if step + 1 in runs else end
            work: Counter[Work] = Counter()
            for run in mine:
                work.update(dict(_added(run)))
            work[Work.IDLE] += following - start - sum(work.values())
            is_cut = bool(self._missing[step]) or (lacks_pause and step + 1 not in runs)
            out.append(
                CoreStep(
                    self._core.host,
                    self.device,
                    "SparseCore" if self._is_sparse else "TPU",
                    self._job.first_number + step,
                    start,
                    following - start,
                    end - start,
                    {kind: length for kind, length in work.items() if length},
                    self._recorded[step] > 0,
                    self._recorded[step] > 0 and not is_cut,
                    step in marked or not self._job.has_markers,
                )
            )
        return out


def _added(run: ProgramRun) -> Counter[Work]:
    out: Counter[Work] = Counter()
    for work, length in work_of(run):
        out[work] += length
    return out

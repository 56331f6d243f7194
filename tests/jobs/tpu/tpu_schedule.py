"""What each core of a drawn TPU job does when, by the job's own clock in ps."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from jobs.drawn_job import Work
from jobs.tpu.tpu_job import TpuJob

US = 1_000_000
# What begins or ends an asynchronous op takes the core so long, a barrier at least so long.
_START = 1 * US
_BARRIER = 2 * US


@dataclass(slots=True)
class Piece:
    """An event of a core: an instruction, or a moment of its own trace (`is_marker`).

    `work` is what its own time counts as; None for what children fill.
    """

    name: str
    start_ps: int
    end_ps: int
    work: Work | None
    is_marker: bool = False


@dataclass(slots=True)
class ProgramRun:
    """An execution of a program on a core, with its pieces in order, parents first."""

    program: str
    step: int
    start_ps: int
    end_ps: int = 0
    pieces: list[Piece] = field(default_factory=list)


@dataclass(slots=True)
class CoreSchedule:
    """The runs of one core. `now` is how far it got."""

    host: int
    core: int
    now: int = 0
    runs: list[ProgramRun] = field(default_factory=list)

    @property
    def run(self) -> ProgramRun:
        """The current one."""
        return self.runs[-1]

    def do(self, name: str, until: int, work: Work | None, *, is_marker: bool = False) -> None:
        """Spends the time until then on something."""
        if until > self.now:
            self.run.pieces.append(Piece(name, self.now, until, work, is_marker))
            self.now = until

    def begin(self, program: str, step: int) -> None:
        """Begins a run."""
        self.runs.append(ProgramRun(program, step, self.now))

    def end(self) -> None:
        """Ends the run."""
        self.run.end_ps = self.now


def schedule(job: TpuJob) -> list[CoreSchedule]:
    """The schedules of all cores, by host."""
    if job.hosts * job.cores % job.slices or (job.megacore and job.cores % 2):
        raise ValueError("slices divide all cores evenly, and a megacore has two")
    cores = [CoreSchedule(host, core) for host in range(job.hosts) for core in range(job.cores)]
    each = len(cores) // job.slices
    slices = [cores[start : start + each] for start in range(0, len(cores), each)]
    for step in range(job.steps):
        for core in cores:
            for host, late_core, us in job.late:
                if (host, late_core) == (core.host, core.core):
                    core.now += us * US
        _step(job, step, slices)
    return cores


def _step(job: TpuJob, step: int, slices: list[list[CoreSchedule]]) -> None:
    cores = [core for part in slices for core in part]
    for micro in range(job.micro_steps):
        is_last = micro == job.micro_steps - 1
        for core in cores:
            core.begin("train_step" if job.micro_steps == 1 else "micro_step", step)
        if job.has_barrier:
            for part in slices:
                _barrier(part)
        for core in cores:
            _compute(job, step, micro, core)
        if job.micro_steps > 1:
            for core in cores:
                core.end()
                core.now += _START
                if is_last:
                    core.begin("apply", step)
    for core in cores:
        core.now += job.idle_us * US
    _exchange(job, slices)
    for core in cores:
        core.do("outfeed.1", core.now + job.outfeed_us * US, Work.OUTPUT)
        core.end()
        core.now += job.gap_us * US


def _barrier(cores: list[CoreSchedule]) -> None:
    until = max(core.now for core in cores) + _BARRIER
    for core in cores:
        core.do("barrier-cores", until, Work.BARRIER, is_marker=True)


def _compute(job: TpuJob, step: int, micro: int, core: CoreSchedule) -> None:
    """The input and the computation of one (micro) step of one core."""
    parts = job.micro_steps
    core.do("infeed.1", core.now + job.infeed_us * US // parts, Work.INPUT)
    # The copy within the device ends first: it is what counts while both go on.
    if job.host_copy_us:
        core.do("copy-start.3", core.now + _START, Work.HOST_COPY)
    if job.vmem_copy_us:
        core.do("copy-start.2", core.now + _START, Work.COPY)
    loop = len(core.run.pieces)
    began = core.now
    factor = _factor(job, step, micro, core) / parts
    for layer in range(job.layers):
        _layer(job, layer, factor, core)
    if job.has_loop:
        core.run.pieces.insert(loop, Piece("while.1", began, core.now, None))
    core.do("copy.1", core.now + job.copy_us * US // parts, Work.COPY)
    core.do("copy-done.2", core.now + job.vmem_copy_us * US // parts, Work.COPY)
    core.do("copy-done.3", core.now + job.host_copy_us * US // parts, Work.HOST_COPY)


def _factor(job: TpuJob, step: int, micro: int, core: CoreSchedule) -> float:
    """How much longer than planned the computation takes."""
    factor = 1.0
    for host, at, slower in job.slow:
        factor *= slower if (host, at) == (core.host, core.core) else 1.0
    for number, slower in job.slow_steps:
        factor *= slower if number == step else 1.0
    noise = Random(f"{job.seed} {step} {micro} {core.host} {core.core}").uniform(-1, 1)
    return factor * (1 + job.jitter * noise)


def _layer(job: TpuJob, layer: int, factor: float, core: CoreSchedule) -> None:
    """A convolution, of which a megacore's first core waits for the second, and an addition."""
    before = len(core.run.pieces)
    began = core.now
    length = round(job.compute_us * US / job.layers * factor)
    core.do(f"fusion.{layer}", core.now + length, Work.COMPUTE_16)
    if job.megacore:
        wait = job.megacore_us * US // job.layers if core.core % 2 == 0 else 0
        core.now += wait
        piece = Piece(f"megacore_fusion.{layer}", began, core.now, Work.MEGACORE)
        core.run.pieces.insert(before, piece)
    length = round(job.elementwise_us * US / job.layers * factor)
    core.do(f"add_fusion.{layer}", core.now + length, Work.COMPUTE_32)


def _exchange(job: TpuJob, slices: list[list[CoreSchedule]]) -> None:
    """What cores do together: each begins when it is ready, all end together."""
    for part in slices:
        if job.all_reduce_us:
            until = max(core.now for core in part) + job.all_reduce_us * US
            for core in part:
                core.do("all-reduce.1", until, Work.COLLECTIVE)
    cores = [core for part in slices for core in part]
    if job.dcn_us:
        _transfer("1", Work.DCN, max(core.now for core in cores) + job.dcn_us * US, cores)
    for core in cores:
        if job.callback_us:
            _transfer("2", Work.CALLBACK, core.now + job.callback_us * US, [core])


def _transfer(number: str, work: Work, until: int, cores: list[CoreSchedule]) -> None:
    """A transfer by way of the host: nearly all of it is the wait for what comes back."""
    for core in cores:
        for opcode in ("recv", "send", "send-done"):
            core.do(f"{opcode}.{number}", core.now + _START, work)
        core.do(f"recv-done.{number}", max(until, core.now), work)


def work_of(run: ProgramRun) -> Iterator[tuple[Work, int]]:
    """(what, how long) a run did, in ps; they add up to its length."""
    covered = 0
    for piece in run.pieces:
        if piece.work is not None:
            own = self_ps(run, piece)
            covered += own
            yield piece.work, own
    yield Work.IDLE, run.end_ps - run.start_ps - covered


def self_ps(run: ProgramRun, piece: Piece) -> int:
    """How long a piece lasts without the others that it holds."""
    length = piece.end_ps - piece.start_ps
    if piece.work is None:
        return 0  # a loop, which its body fills
    if piece.work != Work.MEGACORE:
        return length
    inner = run.pieces[run.pieces.index(piece) + 1]
    return length - (inner.end_ps - inner.start_ps)


def launch_id(host: int, core: int, run: int) -> int:
    """What a launch and the run that it began share."""
    return 10**12 + (host * 1000 + core) * 10**6 + run

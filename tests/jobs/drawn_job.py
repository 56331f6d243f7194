"""A drawn job: its traces, and what is true of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from traces import write_run


class Work(Enum):
    """What a device does at an instant. `IDLE` is what nothing else covers, gaps included; `LAUNCH`
    and part of `INPUT` are what the host does while it has nothing to do.

    `DCN` is exchange between slices, `CALLBACK` waiting for a function of the host, `BARRIER`
    waiting for cores that begin later, `MEGACORE` one core's wait for the other of its chip,
    `HOST_COPY` a copy between the device's memory and the host's, `COPY` one within the device.
    """

    COMPUTE_16 = "compute, 16 bit"
    COMPUTE_32 = "compute, 32 bit"
    COMPUTE_OTHER = "compute of unknown precision"
    COLLECTIVE = "collectives"
    DCN = "exchange between slices"
    BARRIER = "wait for other cores"
    MEGACORE = "wait for the chip's other core"
    COPY = "copies within the device"
    HOST_COPY = "copies to and from the host"
    CALLBACK = "host callbacks"
    INPUT = "input"
    OUTPUT = "output"
    LAUNCH = "launches"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class CoreStep:
    """A step of one device: times in ps of the job's own clock, which no clock of a trace is.

    It lasts until the device's next one begins (the last one until its own work ends), so `work`
    adds up to `duration_ps`; `own_ps` is the time of its programs. What was not recorded is not
    in the trace: all of the step, or a part of it (`is_whole` is False for both, and for a last
    step without the pause that follows the others), or the marker that tells its number.
    """

    host: int
    device: str
    kind: str
    number: int
    start_ps: int
    duration_ps: int
    own_ps: int
    work: Mapping[Work, int]
    is_recorded: bool = True
    is_whole: bool = True
    is_marked: bool = True

    def ps(self, *kinds: Work) -> int:
        """How long it did work of these kinds."""
        return sum(self.work.get(kind, 0) for kind in kinds)


@dataclass(frozen=True, slots=True)
class DrawnOp:
    """An op that was recorded: the name it has in tables, when it ran, and its time without what
    nests in it.
    """

    name: str
    start_ps: int
    end_ps: int
    self_ps: int
    flops: int = 0


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a job: all steps of all devices, recorded or not, by (host, device, number).

    `late` are the (host, device) that the others wait for, worst first. `ops` are those that each
    (host, device) recorded, by start, parents first.
    """

    rows: tuple[CoreStep, ...]
    late: tuple[tuple[int, str], ...] = ()
    ops: Mapping[tuple[int, str], tuple[DrawnOp, ...]] = field(default_factory=dict)

    def of(self, host: int, device: str) -> list[CoreStep]:
        """The steps of one device, in order."""
        return [row for row in self.rows if row.host == host and row.device == device]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the steps that are in a trace, ascending."""
        return sorted({row.number for row in self.rows if row.is_recorded})

    @property
    def marked_numbers(self) -> list[int]:
        """Those of them that the program marked in a trace."""
        return sorted({row.number for row in self.rows if row.is_recorded and row.is_marked})

    @property
    def whole_numbers(self) -> list[int]:
        """The numbers of the steps that were recorded as a whole wherever they were recorded."""
        cut = {row.number for row in self.rows if row.is_recorded and not row.is_whole}
        return [number for number in self.numbers if number not in cut]

    def counted(self) -> list[CoreStep]:
        """The rows that averages are of: recorded ones of whole steps, without SparseCores."""
        whole = set(self.whole_numbers)
        return [
            row
            for row in self.rows
            if row.is_recorded and row.number in whole and row.kind != "SparseCore"
        ]

    def mean_ps(self, *kinds: Work) -> float:
        """The mean over `counted` of how long they did such work; of their length without kinds.

        A step's mean over its devices comes first, then that of all steps.
        """
        by_step: dict[int, list[int]] = {}
        for row in self.counted():
            by_step.setdefault(row.number, []).append(row.ps(*kinds) if kinds else row.duration_ps)
        means = [sum(values) / len(values) for values in by_step.values()]
        return sum(means) / len(means)


@dataclass(frozen=True, slots=True)
class DrawnJob:
    """The traces of a job, serialized XSpaces by host, and what is true of it."""

    files: Mapping[str, bytes]
    truth: Truth

    def write(self, logdir: Path, run: str = "drawn") -> str:
        """The name of the run that its files are, as a logdir holds them."""
        write_run(logdir, self.files, run)
        return run

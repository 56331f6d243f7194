"""The programs of all hosts, and the memory of the one that a request names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tbprof.analysis.program_memory.program_memory import ProgramMemory
from tbprof.analysis.program_memory.program_peaks import ProgramPeaks
from tbprof.base.errors import NoData
from tbprof.base.records import NamedTuple, dataclass
from tbprof.base.texts import whole_number

_EVER = "all"
_MOST_DIGITS = 9
_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class ProgramEntry:
    """A program that some hosts have, equal on all of them.

    `has_run` is None if no event names its program, `device_bytes` if its memory is not known.
    `spaces` are the peaks of its memory spaces, by their numbers.
    """

    name: str
    program_id: str
    digest: str
    hosts: tuple[str, ...]
    has_run: bool | None
    reason: str
    spaces: Mapping[int, int]
    device_bytes: int | None

    @property
    def title(self) -> str:
        """The name that distinguishes it from others: "jit_f(17)"."""
        return f"{self.name}({self.program_id})"


class ChosenProgram(NamedTuple):
    """The choice of a request: a program's memory, its host and its row, -1 for none."""

    memory: ProgramMemory
    host: str
    row: int


def merge_programs(hosts: Sequence[str], peaks: Sequence[ProgramPeaks]) -> list[ProgramEntry]:
    """The programs of the hosts: those that ran first, the largest in device memory first."""
    places_of: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for host, own in enumerate(peaks):
        for row, (title, digest) in enumerate(zip(own.title, own.digest, strict=True)):
            places_of.setdefault((title, digest), []).append((host, row))
    programs = [_listed(hosts, peaks, places) for places in places_of.values()]
    return sorted(
        programs,
        key=lambda program: (not program.has_run, -(program.device_bytes or 0), program.title),
    )


def _listed(
    hosts: Sequence[str], peaks: Sequence[ProgramPeaks], places: Sequence[tuple[int, int]]
) -> ProgramEntry:
    host, row = places[0]
    own = peaks[host]
    spaces = np.flatnonzero(own.program == row)
    device_bytes = int(own.device_bytes()[row])
    is_known = any(peaks[host].are_runs_known for host, _ in places)
    return ProgramEntry(
        own.name[row],
        own.program_id[row],
        own.digest[row],
        tuple(hosts[host] for host, _ in places),
        any(bool(peaks[host].has_run[place]) for host, place in places) if is_known else None,
        own.reason[row],
        dict(zip(own.space[spaces].tolist(), own.peak_bytes[spaces].tolist(), strict=True)),
        device_bytes if device_bytes >= 0 else None,
    )


def choose_memory(
    hosts: Sequence[str],
    memories: Sequence[ProgramMemory],
    programs: Sequence[ProgramEntry],
    params: Mapping[str, str],
) -> ChosenProgram:
    """The memory to show: of the host that the request names, else of the first that has it.

    If the request names no program, it is the first in the list of those that hosts would show.
    """
    rows = {
        (program.title, program.digest, host): row
        for row, program in enumerate(programs)
        for host in program.hosts
    }
    choices = [
        ChosenProgram(memory, host, rows.get((memory.title, memory.digest, host), -1))
        for host, memory in zip(hosts, memories, strict=True)
    ]
    known = [choice for choice in choices if choice.row >= 0]
    asked = [choice for choice in known if choice.host == params.get("program_host")]
    if not (params.get("program_id") or params.get("module_name")):
        known.sort(key=lambda choice: choice.row)
    return [*asked, *known, *choices][0]


def required_memory(chosen: ChosenProgram, programs: Sequence[ProgramEntry]) -> ProgramMemory:
    """The memory that is chosen. Raises NoData with the reason if there is none."""
    memory = chosen.memory
    if not memory.reason:
        return memory
    if chosen.row < 0:
        names = ", ".join(program.title for program in programs[:_MOST_NAMES])
        more = f" and {len(programs) - _MOST_NAMES:,} more" if len(programs) > _MOST_NAMES else ""
        raise NoData(memory.reason, f"its programs are {names}{more}")
    spaces = ", ".join(map(str, memory.spaces.tolist()))
    hint = f"its memory spaces are {spaces}" if spaces else "other programs may have one"
    raise NoData(f"{memory.title}: {memory.reason}", hint)


def chosen_event(memory: ProgramMemory, params: Mapping[str, str]) -> int:
    """The event whose memory is listed: the one requested, else the peak."""
    event = number_in(params, "instant", -1)
    return event if 0 <= event < memory.use.instruction.size else memory.use.peak


def shows_all(params: Mapping[str, str]) -> bool:
    """Whether all memory is listed, whenever it is in use."""
    return params.get("instant") == _EVER


def number_in(params: Mapping[str, str], name: str, default: int) -> int:
    """A parameter as a number, the default if it is none."""
    number = whole_number(params.get(name, ""), _MOST_DIGITS)
    return default if number is None else number

"""The program and the instruction of a request to the graph viewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tbprof.analysis.graphs.neighborhood import MOST_HOPS
from tbprof.analysis.graphs.node_facts import NodeTimes
from tbprof.analysis.graphs.program_links import ProgramLinks
from tbprof.analysis.graphs.program_source import ProgramList
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.base.errors import BadRequest
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple
from tbprof.base.texts import whole_number

_MASK = 2**64 - 1
_NUMBER = regex(r"-?[0-9]{1,20}")
_WITH_ID = regex(r"(.*)\(([0-9]{1,20})\)")
_MOST_LISTED = 5
DEFAULT_HOPS = 2


class ListedProgram(NamedTuple):
    """A program of a run, the first host that holds it, and its time there; 0 if it did not run."""

    program_id: str
    name: str
    host: str
    device_ps: int

    @property
    def title(self) -> str:
        """The name with the id: several programs may share a name."""
        return f"{self.name}({self.program_id})"


def list_programs(
    hosts: Sequence[str], lists: Sequence[ProgramList], ops: Sequence[ProgramOps]
) -> list[ListedProgram]:
    """The programs of all hosts, each once, those with most device time first."""
    listed: dict[tuple[str, str], ListedProgram] = {}
    for host, programs, ran in zip(hosts, lists, ops, strict=True):
        times: dict[str, int] = {}
        for program_id, self_ps in zip(ran.program_id, ran.self_ps.tolist(), strict=True):
            times[program_id] = times.get(program_id, 0) + self_ps
        for program_id, name in zip(programs.program_id, programs.name, strict=True):
            program = ListedProgram(program_id, name, host, times.get(program_id, 0))
            before = listed.get((program_id, name))
            if before is None or (not before.device_ps and program.device_ps):
                listed[program_id, name] = program
    return sorted(listed.values(), key=lambda program: -program.device_ps)


def choose_program(
    programs: Sequence[ListedProgram], params: Mapping[str, str]
) -> ListedProgram | None:
    """The program that a request names by `program_id` or `module_name`, else the first.

    Ids must match exactly. A module's name may contain the id ("jit_f(7)"), and must otherwise
    belong to a single program. Raises BadRequest.
    """
    program_id, module = params.get("program_id", ""), params.get("module_name", "")
    host = params.get("program_host", "")
    matching = [program for program in programs if program.host == host] if host else list(programs)
    if program_id:
        number = _NUMBER.fullmatch(program_id)
        wanted = str(int(program_id) & _MASK) if number else ""
        matching = [program for program in matching if program.program_id == wanted]
    elif module:
        titled = _WITH_ID.fullmatch(module)
        exact = [program for program in matching if program.title == module]
        named = [] if titled else [program for program in matching if program.name == module]
        matching = exact or named
        if len({program.program_id for program in matching}) > 1:
            titles = ", ".join(program.title for program in matching[:_MOST_LISTED])
            raise BadRequest(
                f"{len(matching)} programs are named {module[:80]!r}", f"use program_id: {titles}"
            )
    if not matching and programs:
        titles = ", ".join(program.title for program in programs[:_MOST_LISTED])
        raise BadRequest(
            f"program {(program_id or module or host)[:80]!r} is not in the trace",
            f"its programs with HLO are {titles}",
        )
    return matching[0] if matching else None


class Center(NamedTuple):
    """The instruction that a graph is drawn around; all of its computation if `is_computation`."""

    row: int
    is_computation: bool = False


def choose_center(
    links: ProgramLinks, times: Mapping[str, NodeTimes], node_name: str
) -> Center | None:
    """The instruction of that name, or the root of the computation of that name.

    Names may begin with "%"; a name that matches in case comes first. Without a name, the
    instruction with the most self time, else the result of the program; None if it has none. Raises
    BadRequest.
    """
    name = node_name.removeprefix("%")
    if not name:
        ran = [(node.self_ps, links.find(key)) for key, node in times.items()]
        known = [(self_ps, row) for self_ps, row in ran if row >= 0]
        if known:
            return Center(max(known, key=lambda pair: (pair[0], -pair[1]))[1])
        root = links.module.root_row(links.entry) if links.entry >= 0 else -1
        return Center(root) if root >= 0 else Center(0) if links.rows else None
    row = links.find(name)
    if row < 0:
        row = _find(links.names, name)
    if row >= 0:
        return Center(row)
    computation = _find(links.computation_names, name)
    root = links.module.root_row(computation) if computation >= 0 else -1
    if root < 0:
        raise BadRequest(
            f"the program has no instruction or computation named {name[:80]!r}",
            "search=… lists names that contain a text",
        )
    return Center(root, is_computation=True)


def _find(names: Sequence[str], name: str) -> int:
    if name in names:
        return names.index(name)
    folded = name.casefold()
    return next((row for row, other in enumerate(names) if other.casefold() == folded), -1)


def hops_of(params: Mapping[str, str]) -> int:
    """How far the graph reaches. Raises BadRequest."""
    text = params.get("graph_width", "")
    if not text:
        return DEFAULT_HOPS
    hops = whole_number(text, 4)
    if hops is None:
        raise BadRequest(f"graph_width={text[:40]!r} is not a number of hops", "use 0 to 4")
    return min(hops, MOST_HOPS)


def is_set(params: Mapping[str, str], name: str) -> bool:
    """Whether a switch of a request is on: "1" or "true"."""
    return params.get(name, "") in ("1", "true")


def search_names(
    links: ProgramLinks, times: Mapping[str, NodeTimes], query: str, most: int
) -> tuple[list[int], int]:
    """(rows, their total number): instructions whose name or opcode contains a text.

    Exact matches come first, then names that begin with the text, names that contain it, and
    opcodes that contain it; each by self time, then by order in the file.
    """
    wanted = query.removeprefix("%").casefold()
    ranks = np.full(links.rows, 4, np.int64)
    time = np.zeros(links.rows, np.int64)
    for row, name in enumerate(links.names):
        folded = name.casefold()
        place = folded.find(wanted)
        if folded == wanted:
            ranks[row] = 0
        elif place >= 0:
            ranks[row] = 1 if place == 0 else 2
        elif wanted in links.module.opcode(row):
            ranks[row] = 3
        if name in times:
            time[row] = -times[name].self_ps
    order = np.lexsort((time, ranks))
    count = int((ranks < 4).sum())
    return order[: min(count, most)].tolist(), count

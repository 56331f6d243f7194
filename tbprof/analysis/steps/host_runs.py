"""Runs of compiled programs on a host's own processors, and the steps that launched them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.host.host_roles import Role, host_types, role_without_device
from tbprof.analysis.host.late_ends import find_late_ends
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.layers import Spans, unite
from tbprof.analysis.steps.step_windows import hulls
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass, replace
from tbprof.base.values import join_tables, unique

# Calls that launch one run: of a program on one device, and of one on several.
# Source: xla, pjrt/common_pjrt_client.cc and pjrt/cpu/cpu_client.cc.
_LAUNCH = regex(
    r"\w+::ExecuteHelper(?:OnSingleDevice)?\Z|\w+Executable::Execute \((?P<program>[^()]*)\)\Z"
)
# The call that contains the first kind of launch, with the name of the function.
_CALL = regex(r"P(?:jit|map)Function\((?P<function>.*)\)\Z")
# `jit__lambda` is the program of `<lambda>`.
_COMPILED = regex(r"\A(?:jit|pmap)_")
# A launch waits until its arguments are free, not until they are computed.
_HOLDS = regex(r"Wait for \w+ holds\Z")
_NO_WORD = regex(r"\W+")
_DEEPEST = 8
_NO_OPS = (
    "The trace has no ops of the compiled programs that were launched; older versions of JAX "
    "record none on CPUs. What the programs compute is unknown, and a step may end before they do."
)
_TOO_EARLY = (
    "Nothing of the launched programs was recorded, so what they compute is unknown. JAX launches "
    "a program and goes on, so the recording may have ended before the first of them did: wait for "
    "its results before the recording ends, with jax.block_until_ready."
)
# Launches and runs are ignored if a smaller share of them match.
_LEAST_MATCHED = 0.9

_NONE: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class HostRuns:
    """Runs [n] of compiled programs: from the first of their instructions to the end of the last.

    `launch_ps` is when each run was launched, and `group` the group of the launch; for runs that
    were launched before the recording, they are the start of the run and -1. `lost_group` [m] holds
    the groups of launches whose run is not in the trace, because the recording ended first. All
    columns are empty if launches and runs do not match.
    """

    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    group: NDArray[np.int64]
    launch_ps: NDArray[np.int64]
    lost_group: NDArray[np.int64]

    def in_progress(self) -> Spans:
        """When runs were in progress: each from its launch, or from the end of the previous run."""
        order = np.argsort(self.start_ps)
        start, end = self.start_ps[order], (self.start_ps + self.duration_ps)[order]
        ended = np.append(np.iinfo(np.int64).min, np.maximum.accumulate(end)[:-1])
        waits_from = np.maximum(self.launch_ps[order], ended)
        return unite(np.minimum(waits_from, start), end)


NO_RUNS = HostRuns(_NONE, _NONE, _NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True)
class _Programs:
    """Runs or launches [n] in order of start, with the names of their programs and groups."""

    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    program: NDArray[np.object_]
    group: NDArray[np.int64]


def find_host_runs(hosts: Sequence[HostThreads]) -> HostRuns:
    """The runs of all hosts that launch programs for their own processors."""
    return join_tables([NO_RUNS, *map(_of_host, hosts)])


def program_doubts(hosts: Sequence[HostThreads]) -> list[str]:
    """A sentence if a host without devices launched programs, but none of their ops is recorded."""
    if any(names.HLO_OP in threads.plane.stat_names for threads in hosts):
        return []
    launching = [threads for threads in hosts if _has(threads, _is_launch)]
    if not launching:
        return []
    return [_NO_OPS if any(_has(threads, _shows_runs) for threads in launching) else _TOO_EARLY]


def _has(threads: HostThreads, is_wanted: Callable[[str], bool]) -> bool:
    """Whether the names of any events are wanted; a module-level function."""
    return bool(name_families(threads.plane).classify(is_wanted, np.bool_).any())


def _of_host(threads: HostThreads) -> HostRuns:
    if names.RUN_ID not in threads.plane.stat_names:
        return replace(NO_RUNS, lost_group=_launches_without_runs(threads))
    runs, launches = _runs(threads), _launches(threads)
    launch = np.full(runs.start_ps.size, -1, np.int64)
    lost = [_NONE]
    for rows, of_program in _same_program(runs, launches):
        index = match_launches(launches.start_ps[of_program], runs.start_ps[rows])
        launch[rows[index >= 0]] = of_program[index[index >= 0]]
        if index.size:
            lost.append(of_program[index[-1] + 1 :])
    is_known = launch >= 0
    matched = np.count_nonzero(is_known)
    if not matched or matched < _LEAST_MATCHED * min(launch.size, launches.start_ps.size):
        return NO_RUNS
    return HostRuns(
        runs.start_ps,
        runs.end_ps - runs.start_ps,
        np.where(is_known, launches.group[launch], -1),
        np.where(is_known, launches.start_ps[launch], runs.start_ps),
        launches.group[np.concatenate(lost)],
    )


def _launches_without_runs(threads: HostThreads) -> NDArray[np.int64]:
    """The groups of launches if the recording seems to have ended before the first program did.

    Then no thread ran a program, and none waited for one. Versions of JAX that record no ops leave
    waits in the trace.
    """
    if _has(threads, _shows_runs):
        return _NONE
    groups = unique(_launches(threads).group)
    return groups[groups >= 0]


def _shows_runs(text: str) -> bool:
    if text.startswith(names.PYTHON_FRAME):
        return text.endswith(" block_until_ready")  # other waits may be for anything
    waits = role_without_device(text) == Role.WAIT and not _HOLDS.match(text)
    return waits or text.startswith((names.RUNS_PROGRAM, names.READS_ARRAY))


def match_launches(launch_ps: NDArray[np.int64], run_ps: NDArray[np.int64]) -> NDArray[np.int64]:
    """[runs] the launch of each run of a program, -1 if it was before the recording.

    Both are in order of time. Runs begin in the order of their launches, each after its own, and
    every launch leads to one run. As few runs as possible count as launched before the recording.

        launches  |0 1  2 3
        runs      |aa.bb..ccc.ddd.e      a: before the recording; b: 0, c: 1, d: 2, e: 3
    """
    if not launch_ps.size or not run_ps.size:
        return np.full(run_ps.size, -1, np.int64)
    order = np.arange(run_ps.size)
    latest = np.searchsorted(launch_ps, run_ps, side="right") - 1
    index: NDArray[np.int64] = order + min(0, int(np.min(latest - order)))
    return np.maximum(index, -1)


def _same_program(
    runs: _Programs, launches: _Programs
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """(rows of runs, rows of launches) by program; last, those without a counterpart."""
    common = sorted({*runs.program.tolist()} & {*launches.program.tolist()})
    for name in common:
        yield np.flatnonzero(runs.program == name), np.flatnonzero(launches.program == name)
    yield _others(runs, common), _others(launches, common)


def _others(programs: _Programs, known: Sequence[str]) -> NDArray[np.int64]:
    is_known = [name in known for name in programs.program.tolist()]
    return np.flatnonzero(~np.array(is_known, np.bool_))


def _runs(threads: HostThreads) -> _Programs:
    """The runs whose instructions were recorded."""
    events = threads.events
    rows = events.rows_of(host_types(events, has_device=False).is_hlo)
    stats = events.stats([names.RUN_ID, names.HLO_MODULE], rows)
    number, module = stats[names.RUN_ID], stats[names.HLO_MODULE].texts()
    is_known = number.is_integer & (module >= 0)
    rows, module = rows[is_known], module[is_known]
    code, first_row = group_rows([number.bits[is_known], module])
    start = events.start_ps[rows]
    end = start + events.duration_ps[rows]
    late_rows, late = find_late_ends(threads.plane).among(events.select(rows))
    end[late_rows] += late.late_ps
    first, last = hulls(code, start, end, first_row.size)
    order = np.argsort(first, kind="stable")
    texts = threads.plane.strings.take(module[first_row[order]].tolist())
    return _Programs(first[order], last[order], _names(texts), np.full(order.size, -1, np.int64))


def _launches(threads: HostThreads) -> _Programs:
    """The calls that launch runs."""
    events = threads.events
    rows = events.rows_of(name_families(threads.plane).classify(_is_launch, np.bool_))
    rows = rows[np.argsort(events.start_ps[rows], kind="stable")]
    texts = [*threads.plane.types.full_names, ""]
    is_call = events.by_type(name_families(threads.plane).classify(_is_call, np.bool_))
    caller = rows.copy()
    for _ in range(_DEEPEST):
        goes_on = (caller >= 0) & ~is_call[caller]
        caller[goes_on] = threads.parent[caller[goes_on]]
    type_, caller_type = events.type[rows], np.where(caller >= 0, events.type[caller], -1)
    programs = [
        _program(texts[own], texts[calling])
        for own, calling in zip(type_.tolist(), caller_type.tolist(), strict=True)
    ]
    start = events.start_ps[rows]
    end = start + events.duration_ps[rows]
    return _Programs(start, end, _names(programs), threads.group[rows].astype(np.int64))


def _is_launch(text: str) -> bool:
    return _LAUNCH.match(text) is not None


def _is_call(text: str) -> bool:
    return _CALL.match(text) is not None


def _program(launch: str, caller: str) -> str:
    """The name of the program that a call launches, "" if unknown."""
    own, calling = _LAUNCH.match(launch), _CALL.match(caller)
    if own is not None and own["program"]:
        return str(own["program"])
    return str(calling["function"]) if calling is not None else ""


def _names(texts: Sequence[str]) -> NDArray[np.object_]:
    """[n] the names in a form that is equal for a function and its program."""
    name_of = {text: _NO_WORD.sub("_", _COMPILED.sub("", text)).strip("_") for text in {*texts}}
    return np.array([name_of[text] for text in texts], np.object_)

"""The steps of a trace that does not mark them: executions of a program, or a repeating pattern."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.driving_thread import find_driving_line, is_ahead, window_ps
from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.host.host_roles import HostTypes, Role, host_types, is_jitted
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.nesting import outermost
from tbprof.analysis.spans.repeats import find_repeats, rows_of
from tbprof.analysis.steps.sources.source_words import EXECUTIONS, INFERRED, PATTERN, quoted_name
from tbprof.analysis.steps.sources.step_doubts import (
    doubt_of_graphs,
    doubt_of_namesakes,
    doubt_of_rounds,
)
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.analysis.vocabulary.python_frames import is_library_frame
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass, replace
from tbprof.base.values import median, unique
from tbprof.events.space import Events

_LEAST_EXECUTIONS = 2
_LEAST_PERIODS = 3

_JAX = regex(r"PjitFunction\((.+)\)\Z")
_TENSORFLOW = regex(r"EagerLocalExecute: __inference_(.+?)(?:_\d+)?\Z")
# Executions that do not name their program; one step may hold several.
_UNNAMED = regex(r"(?:FunctionRun|SessionRun|RunGraph)\Z|[\w: ]*Executable::Execute\Z")
# Their time counts half, and only if they cover this share of the trace: runtimes also call
# helpers.
_UNNAMED_SHARE = 0.5
_UNNAMED_COVERAGE = 0.05
# A type of event is periodic if this share of the distances between its events, counted in events,
# is the same, ...
_REGULAR = 0.7
# ... and if its periods span this share of the thread's events.
_SPAN = 0.5
# A program that JAX runs op by op has more than this number of ops.
_LEAST_OTHER_OPS = 2
# No step is shorter on average, since even launching a single kernel takes longer.
_SHORTEST_PS = 10**6


@dataclass(frozen=True, slots=True)
class InferredSteps:
    """Inferred steps: one begins with each of the events at `row`, ascending.

    `source` is "executions" or "pattern". `plane` is an index into the given hosts, `line` a row of
    its `events.lines`. `name` is the name of the events, `program` the function that they execute
    ("" if unknown). `note` is a sentence on how the steps were found, `doubts` are sentences on
    what is uncertain about them.
    """

    source: str
    plane: int
    line: int
    name: str
    program: str
    row: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    note: str
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Choice:
    source: str
    weight: float
    line: int
    type: int
    program: str
    reason: str
    doubts: tuple[str, ...] = ()
    end_ps: int = -1  # of the last step, if that is later than the end of its event


def infer_steps(
    hosts: Sequence[HostThreads], programs: Programs | None = None
) -> InferredSteps | None:
    """The steps, None if nothing repeats; `programs` are the compiled programs.

    One step is one execution of the function or program that takes most time: the time of the
    calls, plus that of the compiled program's instructions if they ran on the host's own threads.
    Without executions, the thread on which the program runs is searched for a repeating pattern. A
    single op, even one that JAX compiled separately, marks steps only if nothing else repeats.
    Events that recur after less than a microsecond on average are not steps.
    """
    hosts = [_without_traced_calls(threads) for threads in hosts]
    executions = [_executions(threads) for threads in hosts]
    functions = [
        None if _is_op(choice, threads, programs) else choice
        for choice, threads in zip(executions, hosts, strict=True)
    ]
    for choices in (functions, None, executions):
        choices = [_pattern(threads) for threads in hosts] if choices is None else choices
        candidates = [(plane, choice) for plane, choice in enumerate(choices) if choice is not None]
        if candidates:
            plane, choice = max(candidates, key=lambda pair: pair[1].weight)
            return _steps(plane, hosts[plane], _with_namesakes(choice, programs))
    return None


def _without_traced_calls(threads: HostThreads) -> HostThreads:
    """The same threads; calls of compiled functions within such calls take no time.

    JAX makes them while it traces the outer function. They execute nothing.
    """
    events = threads.events
    is_call = events.by_type(name_families(threads.plane).classify(is_jitted, np.bool_))
    is_call[outermost(threads.parent, is_call)] = False
    if not is_call.any():
        return threads
    durations = np.where(is_call, 0, events.duration_ps)
    return replace(threads, events=replace(events, duration_ps=durations))


def _with_namesakes(choice: _Choice, programs: Programs | None) -> _Choice:
    """The choice, with a doubt if JAX compiled several functions with its name."""
    if programs is None or not choice.program:
        return choice
    key = _module_key(choice.program)
    modules = {name for _, name in programs.listed() if _program_key(name) == key}
    places = sorted({place for name in modules for place in programs.places(name)})
    doubts = doubt_of_namesakes(quoted_name(choice.program), places)
    return replace(choice, doubts=(*choice.doubts, *doubts))


def _steps(plane: int, threads: HostThreads, choice: _Choice) -> InferredSteps:
    events = threads.events
    rows = rows_of(events, choice.line, choice.type)
    duration = events.duration_ps[rows]
    duration[-1] = max(int(duration[-1]), choice.end_ps - int(events.start_ps[rows[-1]]))
    name = events.plane.strings[int(events.plane.types.name[choice.type])]
    return InferredSteps(
        choice.source, plane, choice.line, name, choice.program, rows,
        events.start_ps[rows], duration,
        f"{INFERRED} {choice.reason}",
        choice.doubts,
    )  # fmt: skip


def _executions(threads: HostThreads) -> _Choice | None:
    """The function or program whose executions take the most time."""
    events = threads.events
    types = host_types(events, has_device=False)
    texts = threads.plane.types.full_names
    programs: dict[int, str] = {}
    may_execute = name_families(threads.plane).classify(_may_execute, np.bool_) | types.is_function
    for type_ in np.flatnonzero(may_execute[:-1]).tolist():
        text = texts[type_]
        if types.is_function[type_]:
            programs[type_] = text
        elif match := _JAX.match(text) or _TENSORFLOW.match(text):
            programs[type_] = match[1]
        elif _UNNAMED.match(text):
            programs[type_] = ""
    wanted = np.zeros(len(texts), np.bool_)
    wanted[list(programs)] = True
    repeats = find_repeats(events, wanted, _LEAST_EXECUTIONS)
    instruction_ps = _program_times(threads, types)
    best: _Choice | None = None
    each_ps: dict[tuple[int, int], float] = {}
    ahead = is_ahead(events)
    least_unnamed = _UNNAMED_COVERAGE * window_ps(threads)
    for index, (line, type_) in enumerate(
        zip(repeats.line.tolist(), repeats.type.tolist(), strict=True)
    ):
        program, weight = programs[type_], float(repeats.total_ps[index])
        if ahead[line] or (not program and weight < least_unnamed):
            continue
        if repeats.last_ps[index] - repeats.first_ps[index] < _SHORTEST_PS * (
            repeats.count[index] - 1
        ):
            continue
        weight *= 1 if program else _UNNAMED_SHARE
        weight += instruction_ps.get(_module_key(program), 0)
        each_ps[line, type_] = weight / float(repeats.count[index])
        if best is None or weight > best.weight:
            name = quoted_name(program or texts[type_])
            described = f"{name}, which takes the most time" if program else name
            reason = (
                f"One step is one execution of {described}; {repeats.count[index]} were recorded."
            )
            best = _Choice(EXECUTIONS, weight, line, type_, program, reason)
    if best is None or not best.program:
        return best
    times = {
        type_: (events.start_ps[rows_of(events, line, type_)], each)
        for (line, type_), each in each_ps.items()
        if line == best.line and programs[type_]
    }
    main = times.pop(best.type)
    others = {
        quoted_name(programs[type_]): time
        for type_, time in times.items()
        if programs[type_] != best.program
    }
    doubts = (
        *doubt_of_rounds(quoted_name(best.program), *main, others),
        *doubt_of_graphs(quoted_name(best.program), *_graphs(threads, types, best)),
    )
    return replace(best, doubts=doubts)


def _graphs(
    threads: HostThreads, types: HostTypes, choice: _Choice
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(runs, total time in ps) of each graph or compiled program of the chosen function."""
    events, texts = threads.events, threads.plane.types.full_names
    matches = {type_: _TENSORFLOW.match(text) for type_, text in enumerate(texts)}
    rows = [
        rows_of(events, choice.line, type_)
        for type_, match in matches.items()
        if match is not None and match[1] == choice.program
    ]
    rows = [of_graph for of_graph in rows if of_graph.size]
    if rows:
        total_ps = [float(events.duration_ps[of_graph].sum()) for of_graph in rows]
        return np.array([of_graph.size for of_graph in rows]), np.array(total_ps)
    return _program_runs(threads, types, _module_key(choice.program))


def _program_runs(
    threads: HostThreads, types: HostTypes, key: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(runs, total time in ps) of each compiled program with that name on the host's threads."""
    events = threads.events
    wanted = [names.HLO_MODULE, names.PROGRAM_ID, names.RUN_ID]
    if not {*wanted} <= {*events.plane.stat_names}:
        return np.zeros(0, np.int64), np.zeros(0)
    rows = events.rows_of(types.is_hlo)
    stats = events.stats(wanted, rows)
    module, program, run = (stats[name] for name in wanted)
    codes = module.texts()
    alike = [
        code for code in unique(codes[codes >= 0]).tolist()
        if _program_key(events.plane.strings[code]) == key
    ]  # fmt: skip
    is_match = np.isin(codes, alike) & program.is_integer & run.is_integer
    code, _ = group_rows([program.bits[is_match]])
    _, first = group_rows([program.bits[is_match], run.bits[is_match]])
    total_ps = np.bincount(code, events.duration_ps[rows[is_match]].astype(np.float64))
    return np.bincount(code[first]).astype(np.int64), total_ps.astype(np.float64)


def _may_execute(text: str) -> bool:
    return any(pattern.match(text) for pattern in (_JAX, _TENSORFLOW, _UNNAMED))


def _is_op(choice: _Choice | None, threads: HostThreads, programs: Programs | None) -> bool:
    """Whether the choice is an op that JAX compiled separately, like others of the thread."""
    if choice is None or programs is None:
        return False
    events = threads.events
    begin, end = events.first_event[choice.line : choice.line + 2].tolist()
    types = unique(events.type[begin:end])
    texts = threads.plane.strings.take(threads.plane.types.name[types[types >= 0]].tolist())
    called = {match[1] for text in texts if (match := _JAX.match(text))}
    if choice.program not in called:
        return False
    keys = {_module_key(program) for program in called}
    ops = {key for key in map(_program_key, programs.single_ops()) if key in keys}
    return _module_key(choice.program) in ops and len(ops) > _LEAST_OTHER_OPS


def _program_key(module: str) -> str:
    return _module_key(module.removeprefix("jit_"))


def _module_key(program: str) -> str:
    """The common part of the names of a function and of its compiled program: `f` of `jit_f`."""
    return re.sub(r"\W", "_", program).strip("_")


def _program_times(threads: HostThreads, types: HostTypes) -> dict[str, float]:
    """The time of instructions of programs that ran on host threads, by `_module_key`."""
    events = threads.events
    if not types.is_hlo.any() or names.HLO_MODULE not in events.plane.stat_names:
        return {}
    rows = events.rows_of(types.is_hlo)
    module = events.stats([names.HLO_MODULE], rows)[names.HLO_MODULE].texts()
    total = np.bincount(module + 1, events.duration_ps[rows].astype(np.float64))
    times: dict[str, float] = {}
    for code in np.flatnonzero(total).tolist():
        key = _program_key(events.plane.strings[code - 1]) if code else ""
        times[key] = times.get(key, 0) + float(total[code])
    times.pop("", None)
    return times


def _pattern(threads: HostThreads) -> _Choice | None:
    """The event that begins each round of a thread that repeats the same work.

    Distances are counted in events, not in time: rounds differ in duration, but contain the same
    events. Events that occur once per round, or evenly within it, have equal distances. Each such
    type of event suggests a number of rounds; the number that most types suggest is used.

        abbcbabbcbabbcb      a, c: 3 times, every 5th event     ->   3 rounds, each begins with a
    """
    events = threads.events
    line = find_driving_line(threads)
    if line < 0:
        return None
    types = host_types(events, has_device=False)
    silent = (Role.WAIT, Role.BACKGROUND)
    begin, end = (int(places) for places in events.first_event[line : line + 2])
    rows = begin + np.flatnonzero(
        (events.duration_ps[begin:end] > 0) & (events.type[begin:end] >= 0)
    )
    kind = events.type[rows]
    order = np.argsort(kind, kind="stable")  # positions of each kind, ascending
    cuts = np.searchsorted(kind[order], np.arange(int(kind.max(initial=-1)) + 2))
    is_library = name_families(threads.plane).classify(is_library_frame, np.bool_)
    periodic: dict[int, int] = {}  # the number of rounds that each type suggests
    for type_ in np.flatnonzero(np.diff(cuts) >= _LEAST_PERIODS).tolist():
        places = order[cuts[type_] : cuts[type_ + 1]]
        may_mark = types.role[type_] not in silent and types.role[type_] != Phase.COMPILATION
        may_mark &= not is_library[type_]
        first, last = events.start_ps[rows[places[[0, -1]]]].tolist()
        may_mark &= last - first >= _SHORTEST_PS * (places.size - 1)
        if may_mark and _is_periodic(places) and places[-1] - places[0] >= _SPAN * rows.size:
            periodic[type_] = places.size
    if not periodic:
        return None
    counts = np.array(list(periodic.values()))
    agree = np.array([(np.abs(counts - count) <= 1).sum() for count in counts.tolist()])
    rounds = int(counts[np.lexsort((counts, agree))[-1]])
    starts = {
        type_: int(order[cuts[type_]]) for type_, count in periodic.items() if count == rounds
    }
    first = min(starts, key=lambda type_: (types.is_op[type_], starts[type_]))
    line_name = events.plane.strings[int(events.lines.name[line])]
    name = events.plane.strings[int(events.plane.types.name[first])]
    many = len(starts) > 1
    kinds = f"{len(starts)} kinds of event repeat" if many else "One kind of event repeats"
    reason = (
        f"{kinds} {rounds} times on the thread {quoted_name(line_name)}; "
        f"a step begins with each {quoted_name(name)}."
    )
    places = order[cuts[first] : cuts[first + 1]]
    end = _last_end(events, rows, kind, places)
    return _Choice(PATTERN, float(rows.size), line, first, "", reason, end_ps=end)


def _last_end(
    events: Events, rows: NDArray[np.int64], kind: NDArray[np.int32], begins: NDArray[np.int64]
) -> int:
    """The end of the last round in ps, -1 if it is incomplete.

    Rounds begin at the indices `begins` into `rows`. The last round is complete if it has the
    events of the round before it.
    """
    size = int(begins[-1] - begins[-2])
    last, before = (np.sort(kind[start : start + size]) for start in (begins[-1], begins[-2]))
    if not np.array_equal(last, before):
        return -1
    last_rows = rows[begins[-1] : begins[-1] + size]
    return int((events.start_ps[last_rows] + events.duration_ps[last_rows]).max())


def _is_periodic(positions: NDArray[np.int64]) -> bool:
    """Whether most distances equal the median one within 2 %."""
    gaps = np.diff(positions)
    usual = median(gaps)
    return bool((np.abs(gaps - usual) <= 0.02 * usual).mean() >= _REGULAR)

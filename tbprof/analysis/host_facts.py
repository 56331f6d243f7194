"""What held the host up: Python, ops run one by one, tracing of functions, compilation."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.groups import group_rows, reduce_groups
from tbprof.analysis.hlo import Programs
from tbprof.analysis.host_events import host_events, host_threads
from tbprof.analysis.layers import unite
from tbprof.analysis.lines import host_planes
from tbprof.analysis.nesting import inherit, nest, self_times
from tbprof.analysis.python_frames import Wait, wait_of
from tbprof.base import names
from tbprof.events.space import Events, Plane, Space

# The profiler itself, while it starts, stops and writes.
_PROFILER = re.compile(r"\$profiler(?:_v2)?\.py:")
# `backend_compile`, `PjRtCpuClient::Compile`, `XlaCompile`; no `…Compiler`, which is an object.
_COMPILE = re.compile(r"[Cc]ompil(?:e|ation)(?![a-z])")
# Ops that fetch a batch: the wait for input is no eager computation.
_INPUT_OPS = re.compile(r"IteratorGetNext|MultiDeviceIterator|OptionalGetValue")

# Python frames that a part keeps.
_FRAMES = 20

_K = TypeVar("_K", str, tuple[str, str])


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Sums over the threads of one host; times in ps.

    Python: frames of the thread that spent most in them, by own time without what they call, the
    profiler's own work left out; what only waits is in `python_wait_ps`. `python_span_ps` goes from
    that thread's first event to its last; `has_python` says whether frames were recorded at all.

    Eager: ops that ran one by one rather than in a function, by name, fetches of input left out.
    Functions: calls of `tf.function`s by (name, mode), time without other such calls inside;
    `tracings` is the highest count of tracings that a call reported, 0 where none did.

    Compilation: spans in which some thread compiled, their number and sum, and by event name.
    `compile_first_ps` and `compile_last_ps` count from the trace's first moment, -1 without any.
    """

    has_python: bool
    python_thread: str
    python_ps: int
    python_wait_ps: int
    python_span_ps: int
    python_name: list[str]  # those with most time
    python_name_ps: NDArray[np.int64]
    eager_name: list[str]
    eager_count: NDArray[np.int64]
    eager_ps: NDArray[np.int64]
    function_name: list[str]
    function_mode: list[str]
    function_calls: NDArray[np.int64]
    function_ps: NDArray[np.int64]
    tracings: NDArray[np.int64]
    compilations: int
    compile_ps: int
    compile_first_ps: int
    compile_last_ps: int
    compile_name: list[str]
    compile_count: NDArray[np.int64]
    compile_name_ps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Thread:
    name: str
    python_ps: int
    wait_ps: int
    span_ps: int
    frames: dict[str, int]


_NO_THREAD = _Thread("", 0, 0, 0, {})


def find_host_facts(space: Space, _programs: Programs) -> HostFacts:
    """The facts of a host, from all its threads."""
    thread = _NO_THREAD
    has_python = False
    eager: dict[str, tuple[int, ...]] = {}
    functions: dict[tuple[str, str], tuple[int, ...]] = {}
    compiled: dict[str, tuple[int, ...]] = {}
    spans: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for plane in host_planes(space):
        events = host_events(plane)
        texts = plane.strings.take(plane.types.name.tolist())
        for one in _python(plane, texts):
            has_python = True
            thread = max(thread, one, key=lambda thread: thread.python_ps)
        _add(eager, _eager(plane, events, texts))
        _add(functions, _functions(plane, events, texts))
        rows = _rows(events, [_is_compile(text) for text in texts])
        _add(compiled, _by_type(events, texts, rows))
        spans.append((events.start_ps[rows], (events.start_ps + events.duration_ps)[rows]))
    none = np.zeros(0, np.int64)
    begin, end = unite(
        np.concatenate([none, *(start for start, _ in spans)]),
        np.concatenate([none, *(stop for _, stop in spans)]),
    )
    frames = _ranked({name: (own,) for name, own in thread.frames.items()}, _FRAMES)
    eager, compiled = _ranked(eager), _ranked(compiled)
    functions = _ranked(functions)
    return HostFacts(
        has_python,
        thread.name,
        thread.python_ps,
        thread.wait_ps,
        thread.span_ps,
        list(frames),
        _column(frames, 0),
        list(eager),
        _column(eager, 1),
        _column(eager, 0),
        [name for name, _ in functions],
        [mode for _, mode in functions],
        _column(functions, 1),
        _column(functions, 0),
        _column(functions, 2),
        begin.size,
        int((end - begin).sum()),
        int(begin[0]) if begin.size else -1,
        int(end[-1]) if begin.size else -1,
        list(compiled),
        _column(compiled, 1),
        _column(compiled, 0),
    )


def _python(plane: Plane, texts: list[str]) -> Iterator[_Thread]:
    """What Python did on each thread of which frames were recorded."""
    is_frame = np.array([text.startswith(names.PYTHON_FRAME) for text in [*texts, ""]], bool)
    if not is_frame.any():
        return
    events, parent = host_threads(plane)
    own = self_times(parent, events.start_ps, events.duration_ps)
    works = [_is_work(text) for text in texts]
    compiles = np.array([*map(_is_compile, texts), False], bool)
    # What Python waits for while the compiler runs is told of as compilation.
    is_inside = inherit(parent, events.by_type(np.where(compiles, 1, -1))) == 1
    waits = np.array([wait_of(text) != Wait.NONE for text in [*texts, ""]], bool)
    does = events.by_type(np.array([*works, False], bool))
    kind = np.where(does & ~is_inside, events.type, np.int32(-1))
    line_names = plane.strings.take(events.lines.name.tolist())
    for row, name in enumerate(line_names):
        mine = slice(int(events.first_event[row]), int(events.first_event[row + 1]))
        if not is_frame[events.type[mine]].any():
            continue
        _, by_type, _, _ = reduce_groups(kind[mine], own[mine], len(texts))
        frames = {texts[at]: int(by_type[at]) for at in np.flatnonzero(by_type).tolist()}
        start, end = events.start_ps[mine], (events.start_ps + events.duration_ps)[mine]
        waited = int(own[mine][waits[events.type[mine]]].sum())
        span = int(end.max() - start.min())
        yield _Thread(name, sum(frames.values()), waited, span, frames)


def _is_work(text: str) -> bool:
    """Whether a frame is Python at work, rather than a wait or the profiler."""
    return (
        text.startswith(names.PYTHON_FRAME) and not wait_of(text) and _PROFILER.match(text) is None
    )


def _eager(plane: Plane, events: Events, texts: list[str]) -> dict[str, tuple[int, ...]]:
    """(time, count) by op that ran outside of any function.

    `EagerExecute` says which op it runs and whether that is a function; the ops that it runs leave
    no events of their own on CPU (observed, TF 2.21).
    """
    rows = _rows(events, [text == names.EAGER_EXECUTE for text in texts])
    if not rows.size:
        return {}
    stats = events.stats([names.IS_FUNCTION, names.EAGER_OP], rows)
    is_function = stats[names.IS_FUNCTION]
    is_op = is_function.is_integer & (is_function.bits == 0)
    rows, op = rows[is_op], stats[names.EAGER_OP].texts()[is_op]
    code, first = group_rows([op])
    count, total, _, _ = reduce_groups(code, events.duration_ps[rows], first.size)
    return {
        name: (int(total[at]), int(count[at]))
        for at, name in enumerate(plane.strings.take(op[first].tolist()))
        if not _INPUT_OPS.search(name)
    }


def _functions(
    plane: Plane, events: Events, texts: list[str]
) -> dict[tuple[str, str], tuple[int, ...]]:
    """(time without other calls inside, calls, tracings) by (function, mode of the call)."""
    if names.TF_FUNCTION_CALL not in plane.stat_names:
        return {}
    # Calls are named after Python functions: ops and the runtime's own events hold a colon.
    rows = _rows(events, [":" not in text and not text.startswith("$") for text in texts])
    mode = events.stats([names.TF_FUNCTION_CALL], rows)[names.TF_FUNCTION_CALL].texts()
    rows, mode = rows[mode >= 0], mode[mode >= 0]
    calls = events.select(rows)
    parent = nest(calls.first_event, calls.start_ps, calls.duration_ps)
    own = self_times(parent, calls.start_ps, calls.duration_ps)
    tracings = calls.stats([names.TRACING_COUNT])[names.TRACING_COUNT].integers()
    code, first = group_rows([calls.type.astype(np.int64), mode.astype(np.int64)])
    count, total, _, _ = reduce_groups(code, own, first.size)
    most = reduce_groups(code, np.maximum(tracings, 0), first.size)[3]
    return {
        (texts[kind] if kind >= 0 else "", plane.strings[how]): (
            int(total[at]),
            int(count[at]),
            int(most[at]),
        )
        for at, (kind, how) in enumerate(
            zip(calls.type[first].tolist(), mode[first].tolist(), strict=True)
        )
    }


def _is_compile(text: str) -> bool:
    return not text.startswith(names.PYTHON_FRAME) and _COMPILE.search(text) is not None


def _rows(events: Events, is_wanted: list[bool]) -> NDArray[np.int64]:
    """The events of the types that are wanted."""
    wanted = np.array([*is_wanted, False], bool)
    return events.rows_of(wanted)


def _by_type(
    events: Events, texts: list[str], rows: NDArray[np.int64]
) -> dict[str, tuple[int, ...]]:
    """(time, count) by event name."""
    count, total, _, _ = reduce_groups(events.type[rows], events.duration_ps[rows], len(texts))
    return {texts[at]: (int(total[at]), int(count[at])) for at in np.flatnonzero(count).tolist()}


def _add(table: dict[Any, tuple[int, ...]], more: Mapping[Any, tuple[int, ...]]) -> None:
    """Adds times and counts of equal keys; the third number is the highest."""
    for key, row in more.items():
        known = table.get(key)
        if known is None:
            table[key] = row
        else:
            sums = [one + other for one, other in zip(known[:2], row[:2], strict=True)]
            table[key] = (*sums, *map(max, known[2:], row[2:]))


def _ranked(
    table: Mapping[_K, tuple[int, ...]], most: int | None = None
) -> dict[_K, tuple[int, ...]]:
    """The `most` rows of most time (all by default), that first, equals by key."""
    return dict(sorted(table.items(), key=lambda item: (-item[1][0], item[0]))[:most])


def _column(table: Mapping[Any, tuple[int, ...]], at: int) -> NDArray[np.int64]:
    return np.array([row[at] for row in table.values()], np.int64)

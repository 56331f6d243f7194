"""Facts about delays on the host: eager ops, tracing of functions, compilation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import eager_calls, host_events, host_threads
from tbprof.analysis.host.host_roles import is_jitted, role_without_device
from tbprof.analysis.spans.groups import group_rows, reduce_groups
from tbprof.analysis.spans.layers import unite_all
from tbprof.analysis.spans.nesting import inherit, nest, outermost, self_times
from tbprof.analysis.vocabulary.input_names import fetches_batch
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.events.space import Events, Plane, Space

# Matches the runtime's `backend_compile`, `PjRtCpuClient::Compile` and `XlaCompile`, but not
# `…Compiler`, which is an object. Names of layers, ops and annotations may contain the word.
_COMPILE = regex(r"[Cc]ompil(?:e|ation)(?![a-z])")
# Runs of programs that XLA compiled: those of JAX, and of TensorFlow with jit_compile.
_XLA = regex(r"PjitFunction\(|ExecuteReplicated|[\w: ]*Executable::Execute|\w*XlaLaunch")
# Launches of CUDA graphs. Source: CUDA driver API, HIP API.
_GRAPH = regex(r"(?:cu|cuda|hip)GraphLaunch")
# Source: xla, backends/gpu/runtime/command_buffer_thunk.cc.
_GRAPH_UPDATE = "command_buffer::update"

# Calls of compiled programs and of functions of TensorFlow.
_CALL = regex(r"P(?:jit|map)Function\(|EagerLocalExecute: __|SessionRun\Z")

_K = TypeVar("_K", str, tuple[str, str])


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Sums over the threads of one host; times in ps.

    `has_python` says whether any Python frames were recorded, `is_xla` whether programs ran that
    XLA compiled, `has_graphs` whether any CUDA graph was launched. XLA updated a graph
    `graph_updates` times before it launched it, for `graph_update_ps` in total. `calls` counts
    calls of programs and functions without nested calls; it is also 0 if such calls were not
    recorded.

    Eager: ops that ran outside of functions, by name, without fetches of input.

    Functions: calls of `tf.function`s by (name, mode), excluding the time of nested calls.
    `tracings` is the highest tracing count that a call reported, 0 if none did. `functions` is the
    least possible number of functions with the name: each function counts its own tracings, so
    calls that traced and report the same count belong to different functions.

    Compilation: the number and the sum of the spans in which any thread compiled. `compile_name`
    holds the names of these events, the one with the most time first. `compile_first_ps` and
    `compile_last_ps` count from the start of the trace, -1 without any. `compiled_name` are the
    functions of JAX that called a compiler, with the number of such calls, most often first.
    """

    has_python: bool
    is_xla: bool
    has_graphs: bool
    graph_updates: int
    graph_update_ps: int
    calls: int
    eager_name: list[str]
    eager_count: NDArray[np.int64]
    eager_ps: NDArray[np.int64]
    function_name: list[str]
    function_mode: list[str]
    function_calls: NDArray[np.int64]
    function_ps: NDArray[np.int64]
    tracings: NDArray[np.int64]
    functions: NDArray[np.int64]
    compilations: int
    compile_ps: int
    compile_first_ps: int
    compile_last_ps: int
    compile_name: list[str]
    compiled_name: list[str]
    compiled_calls: NDArray[np.int64]


def find_host_facts(space: Space, _programs: Programs) -> HostFacts:
    """The facts of a host, from all its threads."""
    has_python = is_xla = has_graphs = False
    calls = graph_updates = graph_update_ps = 0
    eager: dict[str, tuple[int, ...]] = {}
    functions: dict[tuple[str, str], tuple[int, ...]] = {}
    compiled: dict[str, tuple[int, ...]] = {}
    compiling: dict[str, tuple[int, ...]] = {}
    spans: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for plane in host_planes(space):
        events = host_events(plane)
        texts = plane.types.full_names
        families = name_families(plane)
        has_python |= bool(families.classify(_is_frame, np.bool_).any())
        is_xla |= bool(families.classify(_XLA.match, np.bool_).any())
        has_graphs |= bool(families.classify(_GRAPH.match, np.bool_).any())
        updates = events.rows_of(families.classify(_GRAPH_UPDATE.__eq__, np.bool_))
        graph_updates += updates.size
        graph_update_ps += int(events.duration_ps[updates].sum())
        calls += _calls(plane)
        _add(eager, _eager(plane, events))
        _add(functions, _functions(plane, events, texts))
        rows = events.rows_of(families.classify(_is_compile, np.bool_))
        _add(compiled, _by_type(events, texts, rows))
        _add(compiling, _compiling_functions(plane))
        spans.append((events.start_ps[rows], (events.start_ps + events.duration_ps)[rows]))
    begin, end = unite_all(spans)
    eager, compiled, compiling = _ranked(eager), _ranked(compiled), _ranked(compiling)
    functions = _ranked(functions)
    return HostFacts(
        has_python,
        is_xla,
        has_graphs,
        graph_updates,
        graph_update_ps,
        calls,
        list(eager),
        _column(eager, 1),
        _column(eager, 0),
        [name for name, _ in functions],
        [mode for _, mode in functions],
        _column(functions, 1),
        _column(functions, 0),
        _column(functions, 2),
        _column(functions, 3),
        begin.size,
        int((end - begin).sum()),
        int(begin[0]) if begin.size else -1,
        int(end[-1]) if begin.size else -1,
        list(compiled),
        list(compiling),
        _column(compiling, 0),
    )


def _calls(plane: Plane) -> int:
    is_call = name_families(plane).classify(_is_call, np.bool_)
    if not is_call.any():
        return 0
    events, parent = host_threads(plane)
    return outermost(parent, events.by_type(is_call)).size


def _compiling_functions(plane: Plane) -> dict[str, tuple[int, ...]]:
    """(calls in which a compiler ran,) by function of JAX."""
    families = name_families(plane)
    is_compiled = families.classify(is_jitted, np.bool_)
    if not is_compiled.any():
        return {}
    events, parent = host_threads(plane)
    is_call = is_compiled[events.type]
    around = inherit(parent, np.where(is_call, np.arange(is_call.size), -1))
    compilers = events.rows_of(families.classify(_is_compile, np.bool_))
    calls = unique(around[compilers])
    type_, count = np.unique(events.type[calls[calls >= 0]], return_counts=True)
    texts = plane.types.full_names
    return {
        texts[row].removeprefix(names.JITTED)[:-1]: (times,)
        for row, times in zip(type_.tolist(), count.tolist(), strict=True)
    }


def _eager(plane: Plane, events: Events) -> dict[str, tuple[int, ...]]:
    """(time, count) by op that ran outside of any function.

    `EagerExecute` names the op that it runs and says whether that is a function; on CPUs, the ops
    themselves have no events (observed, TF 2.21).
    """
    rows = events.rows_of(name_families(plane).classify(names.EAGER_EXECUTE.__eq__, np.bool_))
    if not rows.size:
        return {}
    is_op, op = eager_calls(plane)
    rows, op = rows[is_op], op[is_op]
    code, first = group_rows([op])
    count, total, _, _ = reduce_groups(code, events.duration_ps[rows], first.size)
    return {
        name: (int(total[index]), int(count[index]))
        for index, name in enumerate(plane.strings.take(op[first].tolist()))
        if not fetches_batch(name)
    }


def _functions(
    plane: Plane, events: Events, texts: Sequence[str]
) -> dict[tuple[str, str], tuple[int, ...]]:
    """(time without inner calls, calls, tracings, functions) by (name, mode of the call)."""
    if names.TF_FUNCTION_CALL not in plane.stat_names:
        return {}
    rows = events.rows_of(name_families(plane).classify(_may_be_function, np.bool_))
    mode = events.stats([names.TF_FUNCTION_CALL], rows)[names.TF_FUNCTION_CALL].texts()
    rows, mode = rows[mode >= 0], mode[mode >= 0]
    calls = events.select(rows)
    parent = nest(calls.first_event, calls.start_ps, calls.duration_ps)
    self_ps = self_times(parent, calls.start_ps, calls.duration_ps)
    tracings = calls.stats([names.TRACING_COUNT])[names.TRACING_COUNT].integers()
    code, first = group_rows([calls.type.astype(np.int64), mode.astype(np.int64)])
    count, total, _, _ = reduce_groups(code, self_ps, first.size)
    most = reduce_groups(code, np.maximum(tracings, 0), first.size)[3]
    # Calls with the same name, mode and tracing count.
    equal, first_equal = group_rows([code.astype(np.int64), tracings])
    times = np.bincount(equal, minlength=first_equal.size) * (tracings[first_equal] > 0)
    alike = np.ones(first.size, np.int64)
    np.maximum.at(alike, code[first_equal], times)
    return {
        (texts[type_] if type_ >= 0 else "", plane.strings[call_mode]): (
            int(total[index]),
            int(count[index]),
            int(most[index]),
            int(alike[index]) if plane.strings[call_mode].startswith("traced") else 1,
        )
        for index, (type_, call_mode) in enumerate(
            zip(calls.type[first].tolist(), mode[first].tolist(), strict=True)
        )
    }


def _may_be_function(text: str) -> bool:
    """Whether a name may be a Python function: those of ops and runtime events contain a colon."""
    return ":" not in text and not text.startswith(names.PYTHON_FRAME)


def _is_frame(text: str) -> bool:
    return text.startswith(names.PYTHON_FRAME)


def _is_call(text: str) -> bool:
    return _CALL.match(text) is not None


def _is_compile(text: str) -> bool:
    if "ompil" not in text or _COMPILE.search(text) is None:
        return False
    return role_without_device(text) == Phase.COMPILATION


def _by_type(
    events: Events, texts: Sequence[str], rows: NDArray[np.int64]
) -> dict[str, tuple[int, ...]]:
    """(time, count) by event name."""
    count, total, _, _ = reduce_groups(events.type[rows], events.duration_ps[rows], len(texts))
    return {
        texts[type_]: (int(total[type_]), int(count[type_]))
        for type_ in np.flatnonzero(count).tolist()
    }


def _add(table: dict[Any, tuple[int, ...]], rows: Mapping[Any, tuple[int, ...]]) -> None:
    """Adds rows to a table: sums times and counts of equal keys, keeps the highest of others."""
    for key, row in rows.items():
        totals = table.get(key)
        if totals is None:
            table[key] = row
        else:
            sums = [total + added for total, added in zip(totals[:2], row[:2], strict=True)]
            table[key] = (*sums, *map(max, totals[2:], row[2:]))


def _ranked(table: Mapping[_K, tuple[int, ...]]) -> dict[_K, tuple[int, ...]]:
    """The rows by time, most first, equals by key."""
    return dict(sorted(table.items(), key=lambda item: (-item[1][0], item[0])))


def _column(table: Mapping[Any, tuple[int, ...]], column: int) -> NDArray[np.int64]:
    return np.array([row[column] for row in table.values()], np.int64)

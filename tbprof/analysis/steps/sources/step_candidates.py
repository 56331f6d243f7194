"""Repeated events, which could mark the steps of a program that does not mark them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.driving_thread import find_driving_line, is_ahead, window_ps
from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.host.host_roles import HostTypes, Role, host_types
from tbprof.analysis.spans.repeats import find_repeats, regularity
from tbprof.analysis.vocabulary.name_families import name_families, remembered
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple, dataclass

# Events with fewer occurrences do not repeat, and users cannot choose from more candidates.
_LEAST = 3
_MOST = 20
# How many of the best candidates are examined closely.
_FINALISTS = 40

# Weights by name, the first match counts. Executions of functions and programs are suited best;
# events that runtime threads repeat say little about the program.
_WEIGHTS = (
    (regex(r"PjitFunction\(|EagerLocalExecute: __inference_"), 2.0),
    (regex(r"(?:FunctionRun|SessionRun|RunGraph)\Z|[\w: ]*Executable::Execute\Z"), 1.0),
    (regex(r"EagerLocalExecute: |np\.asarray|ThunkExecutor::Execute\Z|__inference_"), 0.3),
    (
        regex(
            r"\w+::|void |Executor|TFE_|Eager|Validate|convert_to_tensor|tf\.constant"
            r"|ParseArguments|Handle |DevicePut|shard_args"
        ),
        0.05,
    ),
)
# A Python function in a file; other frames are built-in functions or generated code.
_PYTHON_FUNCTION = regex(r"\$[^<:]+\.py:\d+ [A-Za-z_]\w*\Z")
_LIBRARY_FRAME = regex(
    r"\$(?:contextlib|threading|profiler|_ufunc_config|inspect|functools|abc|tree_util|util|api"
    r"|pjit|core|array|traceback_util|def_function|polymorphic_function|traceback_utils)\.py"
)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Events that could mark steps, one row per name, best first; `line` is their thread's name.

    `coverage` (0-1) is the share of the trace that they cover.
    """

    name: list[str]
    line: list[str]
    count: NDArray[np.int64]
    median_ps: NDArray[np.int64]
    coverage: NDArray[np.float64]


class _Candidate(NamedTuple):
    score: float
    name: str
    line: str
    occurrences: int
    median_ps: int
    coverage: float
    is_op: bool


def find_candidates(hosts: Sequence[HostThreads]) -> Candidates:
    """Events that repeat at least 3 times on a thread without overlapping each other.

    Events with step numbers come first, then calls of the program itself, such as its functions and
    annotations, then events of the runtime. Within each of these, events that cover more of the
    trace and recur regularly come first. Single ops come last, since a step consists of several.
    """
    best: dict[str, _Candidate] = {}
    for threads in hosts:
        for candidate in _of_plane(threads):
            if candidate.name not in best or candidate.score > best[candidate.name].score:
                best[candidate.name] = candidate
    ranked = sorted(
        best.values(), key=lambda candidate: (candidate.is_op, -candidate.score, candidate.name)
    )[:_MOST]
    return Candidates(
        [candidate.name for candidate in ranked],
        [candidate.line for candidate in ranked],
        np.array([candidate.occurrences for candidate in ranked], np.int64),
        np.array([candidate.median_ps for candidate in ranked], np.int64),
        np.array([candidate.coverage for candidate in ranked], np.float64),
    )


def _of_plane(threads: HostThreads) -> list[_Candidate]:
    """The best candidates of one plane; several with one name if it repeats on several threads."""
    events = threads.events
    window = max(1, window_ps(threads))
    types = host_types(events, has_device=False)
    texts, weight = _weights(threads, types)
    repeats = find_repeats(events, weight[:-1] > 0, _LEAST)
    driving = find_driving_line(threads)
    thread_weight = np.where(is_ahead(events)[repeats.line], 0.0, 0.3)
    thread_weight[repeats.line == driving] = 1
    coverage = np.minimum(1, repeats.total_ps / window)
    extent = (repeats.last_ps - repeats.first_ps) / window
    score = weight[repeats.type] * thread_weight * extent * (0.1 + coverage)
    line_names = events.plane.strings.take(events.lines.name.tolist())
    order = np.lexsort((-score, types.is_op[repeats.type]))
    chosen = order[score[order] > 0][:_FINALISTS]
    median_ps, regular = regularity(events, repeats, chosen)
    return [
        _Candidate(
            float(score[index]) * (0.1 + float(regular[rank])),
            texts[int(repeats.type[index])],
            line_names[int(repeats.line[index])],
            int(repeats.count[index]),
            int(median_ps[rank]),
            float(coverage[index]),
            bool(types.is_op[int(repeats.type[index])]),
        )
        for rank, index in enumerate(chosen.tolist())
    ]


def _weights(threads: HostThreads, types: HostTypes) -> tuple[Sequence[str], NDArray[np.float64]]:
    """(names, the weight of each type of event as a step marker; 0 means unsuitable)."""
    texts = threads.plane.types.full_names
    weight = name_families(threads.plane).classify_with_roles(_weight, types.role, np.float64)
    weight[types.is_hlo] = 0.05
    weight[types.is_function] = 3
    weight[types.has_number] = 20
    weight[-1] = 0
    return texts, weight


@remembered
def _weight(text: str, role: int) -> float:
    if text.startswith("$"):
        if role != Role.FRAME or not _PYTHON_FUNCTION.match(text):
            return 0
        return 0.1 if _LIBRARY_FRAME.match(text) else 1
    if role in (Role.WAIT, Role.FRAME, Role.BACKGROUND, Phase.COMPILATION) or not text:
        return 0
    for pattern, weight in _WEIGHTS:
        if pattern.match(text):
            return weight
    return 2 if role in (Role.ACTIVITY, Role.WRAPPER) else 0.3

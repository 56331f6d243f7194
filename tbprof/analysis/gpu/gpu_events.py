"""The events of a GPU, grouped by distinct kinds; Python code runs once per kind."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.correlation import correlation_ids
from tbprof.analysis.gpu.driver_copies import KINDS, find_driver_copies
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.spans.groups import group_rows, reduce_groups
from tbprof.analysis.spans.intervals import busy_time
from tbprof.analysis.vocabulary.lines import gpus_with_lines, recorded_lines
from tbprof.analysis.vocabulary.op_names import (
    UNKNOWN_TYPE,
    OpCategory,
    OpName,
    copy_type,
    parse_provenance,
)
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.events.marks import MarkNames
from tbprof.events.space import Events, Plane

OP_STATS = (
    names.TF_OP,
    names.LEVEL_0,
    names.ANNOTATION,
    names.HLO_OP,
    names.HLO_MODULE,
    names.HLO_NAME,
    names.PROGRAM_ID,
)
# Stats that name the op that launched an event of no program; the first present one counts.
_BY_ANNOTATION = (names.TF_OP, names.LEVEL_0, names.ANNOTATION)
# The inputs of the framework op: `(half[4,384,1024];half[])`.
_SHAPES = "shape"
# Annotations around everything that XLA launches; they do not name an op.
_LAUNCHERS = ("XlaModule", "Thunk")
_NO_OP = OpName(OpCategory.UNKNOWN, "", "")


# Per-event numbers that are summed by kind.
_COUNTED = (names.IS_EAGER, names.FLOPS, names.BYTES_ACCESSED)


@dataclass(frozen=True, slots=True)
class GpuKinds:
    """The events on the recorded lines of one GPU plane, by distinct kind.

    Kinds differ in the event's name, its op, launch details or equation. `op` is the framework op
    that launched it (empty name if unknown), `details` its `kernel_details` (None for copies and
    memsets that are not kernels), `copy` the type of a copy or memset ("MemcpyDToD", or "Memcpy" if
    source and target are unknown), "" for kernels that compute. Times in ps. `busy_ps` is the union
    of all events, `window_ps` the time from the first start to the last end. `shapes` are those of
    the op's inputs as annotated by the recorder, `instruction` is the innermost HLO instruction in
    `module`; "" if unknown.

    `code` [n] is the kind of each of the plane's recorded `events`.
    """

    events: Events
    code: NDArray[np.int32]
    event_name: list[str]
    op: list[OpName]
    details: list[str | None]
    copy: list[str]
    equation: list[str]
    shapes: list[str]
    program_id: list[int]
    module: list[str]
    instruction: list[str]
    occurrences: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    least_ps: NDArray[np.int64]
    most_ps: NDArray[np.int64]
    eager: NDArray[np.int64]
    flops: NDArray[np.int64]
    bytes_accessed: NDArray[np.int64]
    busy_ps: int
    window_ps: int


def find_gpu_kinds(plane: Plane, programs: Programs) -> GpuKinds:
    """The kinds of the plane's events, computed once for ops, kernels and phases."""
    return plane.cache.get_or_compute("gpu kinds", lambda: _find(plane, programs))


def _find(plane: Plane, programs: Programs) -> GpuKinds:
    events = plane.events(recorded_lines(plane), _marks(plane))
    stat_names = plane.stat_names
    text_names = (*OP_STATS, names.KERNEL_DETAILS, names.EQUATION, _SHAPES)
    # These are needed later to assign threads to GPUs, and one pass reads all stats.
    more_names = (names.CORRELATION_ID,) if len(gpus_with_lines(programs.space)) > 1 else ()
    requested = [name for name in (*text_names, *_COUNTED, *more_names) if name in stat_names]
    # Annotation stacks differ from launch to launch, so they are read only as a last resort.
    last_resort = names.ANNOTATION in requested and (
        names.TF_OP in stat_names or names.LEVEL_0 in stat_names
    )
    if last_resort:
        requested.remove(names.ANNOTATION)
    stats = events.stats(requested, texts=text_names)
    if names.CORRELATION_ID in stats:
        correlation_ids(events, lambda: stats[names.CORRELATION_ID])
    keys: dict[str, NDArray[np.int64]] = {}
    for name in text_names:
        if name in stats:
            stat = stats[name]
            is_number = name == names.PROGRAM_ID
            keys[name] = stat.integers(-1) if is_number else stat.texts().astype(np.int64)
    if names.TF_OP in keys and names.LEVEL_0 in keys:
        keys[names.LEVEL_0] = np.where(keys[names.TF_OP] >= 0, -1, keys[names.LEVEL_0])
    if last_resort:
        keys[names.ANNOTATION] = _annotations(events, keys)
    copies = find_driver_copies(programs.space, plane, events)
    more = [] if copies is None else [copies]
    code, first = group_rows([events.type.astype(np.int64), *keys.values(), *more])
    occurrences, total, least, most = reduce_groups(code, events.duration_ps, first.size)
    busy, window = busy_time(events.first_event, events.start_ps, events.duration_ps)
    text = {
        name: plane.strings.take(column[first].tolist())
        for name, column in keys.items()
        if name != names.PROGRAM_ID
    }
    program = [-1] * first.size
    if names.PROGRAM_ID in keys:
        program = keys[names.PROGRAM_ID][first].tolist()
    nothing = [""] * first.size
    op_texts = {name: text.get(name, nothing) for name in OP_STATS}
    if names.HLO_OP in keys:
        ops = [
            launched_op(programs, number, dict(zip(OP_STATS, texts, strict=True)))
            for number, *texts in zip(program, *op_texts.values(), strict=True)
        ]
    else:
        ops = list(map(_annotated_op, *(op_texts[name] for name in _BY_ANNOTATION)))
    has_details = (
        (keys[names.KERNEL_DETAILS][first] >= 0).tolist()
        if names.KERNEL_DETAILS in keys
        else [False] * first.size
    )
    details = text.get(names.KERNEL_DETAILS, nothing)
    event_names = plane.types.full_names

    def summed(name: str) -> NDArray[np.int64]:
        if name not in stats:
            return np.zeros(first.size, np.int64)
        return reduce_groups(code, np.maximum(stats[name].integers(), 0), first.size)[1]

    event_name = [event_names[row] if row >= 0 else "" for row in events.type[first].tolist()]
    by_driver = [0] * first.size if copies is None else copies[first].tolist()
    return GpuKinds(
        events,
        code.astype(np.int32),
        event_name,
        ops,
        [detail if has else None for detail, has in zip(details, has_details, strict=True)],
        [KINDS[code] or copy_type(name) for code, name in zip(by_driver, event_name, strict=True)],
        text.get(names.EQUATION, nothing),
        text.get(_SHAPES, nothing),
        program,
        op_texts[names.HLO_MODULE],
        [instruction_of(path) for path in text[names.HLO_OP]] if names.HLO_OP in text else nothing,
        occurrences,
        total,
        least,
        most,
        summed(names.IS_EAGER),
        summed(names.FLOPS),
        summed(names.BYTES_ACCESSED),
        busy,
        window,
    )


def _marks(plane: Plane) -> MarkNames | None:
    """The group stat if steps will need it, so that it is read while events are decoded."""
    if names.GROUP_ID not in plane.stat_names.intersection(plane.expected_stats):
        return None
    is_shared = plane.types.stats([names.GROUP_ID])[names.GROUP_ID].is_present.any()
    return None if is_shared else MarkNames(names.GROUP_ID, (), ())


def _annotations(events: Events, keys: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """[n] ids of the annotation stacks of events without an op of their own, -1 for others."""
    is_bare = np.ones(len(events), bool)
    for name in (names.TF_OP, names.LEVEL_0):
        if name in keys:
            is_bare &= keys[name] < 0
    rows = np.flatnonzero(is_bare)
    out = np.full(len(events), -1, np.int64)
    out[rows] = events.stats([names.ANNOTATION], rows)[names.ANNOTATION].texts()
    return out


def launched_op(programs: Programs, program: int, text: Mapping[str, str]) -> OpName:
    """The op of one kind of event: by its program, else by its annotation.

    `text` are the stats `OP_STATS` except the program's id, "" for missing ones.
    """
    if text[names.HLO_OP]:
        instruction = instruction_of(text[names.HLO_OP])
        full = (
            programs.op_name(program, text[names.HLO_MODULE], instruction)
            or text[names.HLO_NAME]
            or ("" if text[names.TF_OP].startswith(_LAUNCHERS) else text[names.TF_OP])
        )
        op = parse_provenance(full)
        if op.category == OpCategory.UNKNOWN:
            type_ = op.type or programs.op_type(program, text[names.HLO_MODULE], instruction)
            return OpName(OpCategory.JAX, op.name or instruction, type_ or UNKNOWN_TYPE)
        return op
    return _annotated_op(*(text[name] for name in _BY_ANNOTATION))


def _annotated_op(op: str, level: str, annotation: str) -> OpName:
    """The op of an event that does not belong to a compiled program."""
    full = op or level or _outermost(annotation)
    return parse_provenance(full) if full else _NO_OP


def instruction_of(path: str) -> str:
    """The innermost instruction of an `hlo_op` path: "fusion.1" of "while.3::body::fusion.1"."""
    return path.rpartition("::")[2]


def _outermost(annotation: str) -> str:
    """The name of the outermost element of an annotation stack `name#key=value#::name…`."""
    return annotation.partition("#")[0] if "#" in annotation else annotation.partition("::")[0]


def op_or_event(op: OpName, event_name: str, copy: str) -> OpName:
    """The op, or the event itself if it belongs to no op, so that no device time is dropped.

    `copy` is that of `GpuKinds`.
    """
    if op.name:
        return op
    return OpName(OpCategory.UNKNOWN, event_name or "(unnamed)", copy or UNKNOWN_TYPE)

"""The events of a GPU, grouped by distinct kinds; Python code runs once per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.correlation import correlation_ids
from tbprof.analysis.gpu.driver_copies import KINDS, find_driver_copies
from tbprof.analysis.gpu.graph_kernels import find_graph_instructions
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.spans.groups import group_rows, reduce_groups, sums_of_groups
from tbprof.analysis.spans.intervals import busy_time
from tbprof.analysis.vocabulary.lines import gpus_with_lines, recorded_lines
from tbprof.analysis.vocabulary.op_names import (
    UNKNOWN_TYPE,
    OpCategory,
    OpName,
    copy_type,
    instruction_of,
    parse_provenance,
)
from tbprof.base import names
from tbprof.base.caches import computed_once
from tbprof.base.columns import empty_column
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass
from tbprof.events.marks import MarkNames
from tbprof.events.space import Events, Plane, Space
from tbprof.events.stats import STATS_PIECE, StatColumn

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
# The stats by which kinds differ; all but the program are texts.
_KEYS = (*OP_STATS, names.KERNEL_DETAILS, names.EQUATION, _SHAPES)
_TEXTS = tuple(name for name in _KEYS if name != names.PROGRAM_ID)
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
    `module`, that of a kernel in a CUDA graph where it is known; "" if unknown.

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


@computed_once
def find_gpu_kinds(plane: Plane, programs: Programs) -> GpuKinds:
    """The kinds of the plane's events, computed once for ops, kernels and phases."""
    events = plane.events(recorded_lines(plane), _marks(plane))
    copies = find_driver_copies(programs.space, plane, events)
    in_graphs = find_graph_instructions(plane, events, programs)
    more = [] if copies is None else [copies]
    more += [] if in_graphs is None else [in_graphs.code]
    kinds = _distinct_kinds(programs.space, events, more)
    keys, first = kinds.keys, kinds.first
    eager, flops, bytes_accessed = kinds.counted
    occurrences, total, least, most = reduce_groups(kinds.code, events.duration_ps, first.size)
    busy, window = busy_time(events.first_event, events.start_ps, events.duration_ps)
    nothing = [""] * first.size
    text = {name: plane.strings.take(keys[name].tolist()) for name in _TEXTS if name in keys}
    program = keys[names.PROGRAM_ID].tolist() if names.PROGRAM_ID in keys else [-1] * first.size
    op_texts = {name: text.get(name, nothing) for name in OP_STATS}
    op_texts[names.HLO_OP] = [instruction_of(path) for path in op_texts[names.HLO_OP]]
    if in_graphs is not None:
        in_graph = [in_graphs.names[code] for code in in_graphs.code[first].tolist()]
        op_texts[names.HLO_OP] = [
            known or stated for known, stated in zip(in_graph, op_texts[names.HLO_OP], strict=True)
        ]
    if names.HLO_OP in keys:
        ops = [
            launched_op(programs, number, dict(zip(OP_STATS, texts, strict=True)))
            for number, *texts in zip(program, *op_texts.values(), strict=True)
        ]
    else:
        ops = list(map(_annotated_op, *(op_texts[name] for name in _BY_ANNOTATION)))
    has_details = (
        (keys[names.KERNEL_DETAILS] >= 0).tolist()
        if names.KERNEL_DETAILS in keys
        else [False] * first.size
    )
    details = text.get(names.KERNEL_DETAILS, nothing)
    event_names = plane.types.full_names
    event_name = [event_names[row] if row >= 0 else "" for row in events.type[first].tolist()]
    by_driver = [0] * first.size if copies is None else copies[first].tolist()
    return GpuKinds(
        events,
        kinds.code,
        event_name,
        ops,
        [detail if has else None for detail, has in zip(details, has_details, strict=True)],
        [KINDS[code] or copy_type(name) for code, name in zip(by_driver, event_name, strict=True)],
        text.get(names.EQUATION, nothing),
        text.get(_SHAPES, nothing),
        program,
        op_texts[names.HLO_MODULE],
        op_texts[names.HLO_OP],
        occurrences,
        total,
        least,
        most,
        eager,
        flops,
        bytes_accessed,
        busy,
        window,
    )


def _marks(plane: Plane) -> MarkNames | None:
    """The group stat if steps will need it, so that it is read while events are decoded."""
    if names.GROUP_ID not in plane.stat_names.intersection(plane.expected_stats):
        return None
    is_shared = plane.types.stats([names.GROUP_ID])[names.GROUP_ID].is_present.any()
    return None if is_shared else MarkNames(names.GROUP_ID, (), ())


@dataclass(frozen=True, slots=True)
class _Distinct:
    """The kind `code` [n] of each event, and for each kind [k] its first event and its stats.

    `keys` are the values of the recorded `_KEYS`, texts as ids of the space's strings; `counted`
    are the sums [3, k] of `_COUNTED`.
    """

    code: NDArray[np.int32]
    first: NDArray[np.int64]
    keys: dict[str, NDArray[np.int64]]
    counted: NDArray[np.int64]


def _distinct_kinds(space: Space, events: Events, more: Sequence[NDArray[np.int64]]) -> _Distinct:
    """The kinds by type, `_KEYS` and `more` columns [n], numbered as they appear.

    They are found among the events of each piece, then among the kinds of all pieces: the stats of
    all events would take 200 bytes per event.
    """
    stat_names = events.plane.stat_names
    key_names = [name for name in _KEYS if name in stat_names]
    requested = [*key_names, *(name for name in _COUNTED if name in stat_names)]
    # Annotation stacks differ from launch to launch, so they are read only as a last resort.
    if names.ANNOTATION in requested and not {names.TF_OP, names.LEVEL_0}.isdisjoint(requested):
        requested.remove(names.ANNOTATION)
    # These are needed later to assign threads to GPUs, and one pass reads all stats.
    has_links = names.CORRELATION_ID in stat_names and len(gpus_with_lines(space)) > 1
    links = _room(events) if has_links else None
    requested += [names.CORRELATION_ID] if has_links else []
    code = np.empty(len(events), np.int32)

    def read(begin: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(first, keys [keys, kinds], counted [kinds, 3]) of a piece, which gets its own codes."""
        rows = np.arange(begin, min(begin + STATS_PIECE, len(events)))
        piece = slice(begin, begin + rows.size)
        stats = events.stats(requested, rows, _TEXTS)
        if links is not None:
            links.kind[piece] = stats[names.CORRELATION_ID].kind
            links.bits[piece] = stats[names.CORRELATION_ID].bits
        keys = _keys(events, rows, key_names, stats)
        columns = [events.type[piece], *keys, *(column[piece] for column in more)]
        code[piece], first = group_rows(columns)
        counted = np.zeros((len(_COUNTED), rows.size), np.int64)
        for column, name in zip(counted, _COUNTED, strict=True):
            if name in stats:
                np.maximum(stats[name].integers(), 0, out=column)
        distinct = np.empty((len(keys), first.size), np.int64)
        for column, key in zip(distinct, keys, strict=True):
            column[:] = key[first]
        return begin + first, distinct, sums_of_groups(code[piece], counted, first.size)

    # A stat takes about 16 bytes.
    begins = range(0, max(len(events), 1), STATS_PIECE)
    parts = in_parallel(read, begins, 16 * len(requested) * len(events))
    if links is not None:
        correlation_ids(events, lambda: links)
    rows = np.concatenate([first for first, _, _ in parts])
    keys = np.concatenate([distinct for _, distinct, _ in parts], axis=1)
    kind, first = group_rows([events.type[rows], *keys, *(column[rows] for column in more)])
    counted = np.concatenate([counted for _, _, counted in parts]).T
    before = 0
    for begin, (own_first, _, _) in zip(begins, parts, strict=True):
        piece = code[begin : begin + STATS_PIECE]
        piece[:] = kind[before:][piece]
        before += own_first.size
    return _Distinct(
        code,
        rows[first],
        dict(zip(key_names, keys[:, first], strict=True)),
        sums_of_groups(kind, counted, first.size).T,
    )


def _room(events: Events) -> StatColumn:
    """A column [n] of undefined content."""
    source = events.stats([names.CORRELATION_ID], np.zeros(0, np.int64))[names.CORRELATION_ID]
    return StatColumn(
        empty_column(len(events), np.uint8), empty_column(len(events), np.int64), source.source
    )


def _keys(
    events: Events,
    rows: NDArray[np.int64],
    key_names: Sequence[str],
    stats: Mapping[str, StatColumn],
) -> list[NDArray[np.int32] | NDArray[np.int64]]:
    """The columns [rows] of `key_names` by which kinds differ, -1 where a stat is missing."""
    keys: dict[str, NDArray[np.int32] | NDArray[np.int64]] = {
        name: stats[name].integers(-1) if name == names.PROGRAM_ID else stats[name].texts()
        for name in key_names
        if name in stats
    }
    if names.TF_OP in keys and names.LEVEL_0 in keys:
        keys[names.LEVEL_0] = np.where(keys[names.TF_OP] >= 0, -1, keys[names.LEVEL_0])
    if names.ANNOTATION in key_names and names.ANNOTATION not in keys:
        is_bare = np.ones(rows.size, np.bool_)
        for name in (names.TF_OP, names.LEVEL_0):
            if name in keys:
                is_bare &= keys[name] < 0
        stacks = np.full(rows.size, -1, np.int32)
        if is_bare.any():
            read = events.stats([names.ANNOTATION], rows[is_bare], [names.ANNOTATION])
            stacks[is_bare] = read[names.ANNOTATION].texts()
        keys[names.ANNOTATION] = stacks
    return [keys[name] for name in key_names]


def launched_op(programs: Programs, program: int, text: Mapping[str, str]) -> OpName:
    """The op of one kind of event: by its program, else by its annotation.

    `text` are the stats `OP_STATS` except the program's id, "" for missing ones, and the innermost
    instruction in place of its path.
    """
    if text[names.HLO_OP]:
        instruction = text[names.HLO_OP]
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

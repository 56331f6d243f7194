"""What ran on a GPU, grouped by what the recorder says of it; one Python step per distinct kind."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping import group_rows
from tbprof.analysis.hlo import Programs
from tbprof.analysis.lines import recorded_lines
from tbprof.analysis.op_names import UNKNOWN_TYPE, Category, OpName, copy_type, parse_provenance
from tbprof.base import names
from tbprof.events.space import Events, Plane
from tbprof.events.stats import StatColumn

_OP_STATS = (
    names.TF_OP,
    names.LEVEL_0,
    names.ANNOTATION,
    names.HLO_OP,
    names.HLO_MODULE,
    names.HLO_NAME,
    names.PROGRAM_ID,
)
# Stats that count only where a better one is missing.
_FALLBACKS = (
    (names.LEVEL_0, names.TF_OP),
    (names.ANNOTATION, names.TF_OP),
    (names.ANNOTATION, names.LEVEL_0),
)
# Annotations around whatever XLA launches: they name no op.
_LAUNCHERS = ("XlaModule", "Thunk")
_NO_OP = OpName(Category.UNKNOWN, "", "")


@dataclass(frozen=True, slots=True)
class GpuGroups:
    """The recorded events of one GPU plane by distinct kind.

    `code` [n] is each event's kind; `first` [kinds] an event of it, `event_name` its name, `op`
    the framework op that launched it (empty name where the trace does not say), `stats` the other
    columns that were asked for, per event.
    """

    events: Events
    code: NDArray[np.int64]
    first: NDArray[np.int64]
    event_name: list[str]
    op: list[OpName]
    stats: dict[str, StatColumn]


def group_gpu_events(
    plane: Plane, programs: Programs, texts: Sequence[str] = (), others: Sequence[str] = ()
) -> GpuGroups:
    """The events of the plane's recorded lines; kinds differ in name, op, or one of `texts`."""
    events = plane.events(recorded_lines(plane))
    known = plane.stat_names
    wanted = [name for name in (*_OP_STATS, *texts, *others) if name in known]
    stats = events.stats(list(dict.fromkeys(wanted)))
    keys: dict[str, NDArray[np.int64]] = {}
    for name in (*_OP_STATS, *texts):
        if name in stats:
            stat = stats[name]
            is_number = name == names.PROGRAM_ID
            keys[name] = stat.integers(-1) if is_number else stat.texts().astype(np.int64)
    # An event that has the op itself needs no fallback, whose stacks differ from launch to launch.
    for name, better in _FALLBACKS:
        if name in keys and better in keys:
            keys[name] = np.where(keys[better] >= 0, -1, keys[name])
    code, first = group_rows([events.type.astype(np.int64), *keys.values()])
    event_names = plane.strings.take(plane.types.name.tolist())
    kinds = [""] * first.size
    text = dict.fromkeys(_OP_STATS, kinds)
    for name, column in keys.items():
        if name != names.PROGRAM_ID:
            text[name] = plane.strings.take(column[first].tolist())
    program = (
        keys[names.PROGRAM_ID][first].tolist() if names.PROGRAM_ID in keys else [-1] * len(kinds)
    )
    ops = [
        _op(programs, program[kind], {name: text[name][kind] for name in _OP_STATS})
        for kind in range(len(kinds))
    ]
    return GpuGroups(
        events,
        code,
        first,
        [event_names[row] if row >= 0 else "" for row in events.type[first].tolist()],
        ops,
        stats,
    )


def _op(programs: Programs, program: int, text: dict[str, str]) -> OpName:
    """The op of one kind of event: through its program, else from its annotation."""
    if text[names.HLO_OP]:
        instruction = text[names.HLO_OP].rpartition("::")[2]
        full = (
            programs.op_name(program, text[names.HLO_MODULE], instruction)
            or text[names.HLO_NAME]
            or ("" if text[names.TF_OP].startswith(_LAUNCHERS) else text[names.TF_OP])
        )
        op = parse_provenance(full)
        if op.category == Category.UNKNOWN:
            return OpName(Category.JAX, op.name or instruction, op.type or UNKNOWN_TYPE)
        return op
    full = text[names.TF_OP] or text[names.LEVEL_0] or _outermost(text[names.ANNOTATION])
    return parse_provenance(full) if full else _NO_OP


def _outermost(annotation: str) -> str:
    """The name of the outermost element of an annotation stack `name#key=value#::name…`."""
    return annotation.partition("#")[0] if "#" in annotation else annotation.partition("::")[0]


def op_or_event(op: OpName, event_name: str) -> OpName:
    """The op, or for device time that no op claims the event itself, so that none is dropped."""
    if op.name:
        return op
    return OpName(
        Category.UNKNOWN, event_name or "(unnamed)", copy_type(event_name) or UNKNOWN_TYPE
    )

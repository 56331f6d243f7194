"""The data of the file on one event: its stats, its type's, its program, its op, its source."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from tbprof.analysis.gpu.gpu_events import (
    OP_STATS,
    find_gpu_kinds,
    launched_op,
    op_or_event,
)
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_text.hlo_instructions import EVENT
from tbprof.analysis.hlo_text.hlo_text import text_with_callees
from tbprof.analysis.tpu.tpu_kinds import TpuOpNames
from tbprof.analysis.vocabulary.op_names import (
    OpCategory,
    OpName,
    copy_type,
    instruction_of,
    parse_op_name,
    parse_provenance,
)
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.texts import cut
from tbprof.events.space import Plane, Value
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.search.stat_search import SOURCE_STATS

# The most lines that fit beside the other facts on an event.
_FORM = EVENT._replace(has_program_shapes=False, has_metadata=True, has_numbers=False)
_MOST_LINES, _MOST_LETTERS = 200, 2**14
# Kinds of tracks whose events belong to no op, or repeat those of other tracks.
_NO_OPS = ("steps", "modules", "scopes", "source", "async")


@dataclass(frozen=True, slots=True)
class Facts:
    """The stats of an event in file order, and the stats of its type that it does not have itself.

    For derived events, `plane` is None and there are no stats. `name` is the full name,
    `kind` that of the track, which belongs to a device if `is_device`. `instruction` is the HLO
    instruction that the event states, or that of its kernel in a CUDA graph; "" if unknown.
    """

    kind: str
    is_device: bool
    plane: Plane | None
    type_row: int
    name: str
    own: list[tuple[str, Value]]
    shared: list[tuple[str, Value]]
    instruction: str = ""

    @property
    def is_gpu(self) -> bool:
        """Whether the event is on a GPU."""
        return self.plane is not None and self.plane.name.startswith(names.GPU_PREFIX)

    @property
    def is_tpu(self) -> bool:
        """Whether the event is on a TPU core."""
        return self.plane is not None and self.plane.name.startswith(names.TPU_PREFIX)

    def get(self, key: str) -> Value | None:
        """The first value of a key."""
        return next((value for name, value in (*self.own, *self.shared) if name == key), None)

    def text(self, key: str) -> str:
        """The text of a key, "" if there is none."""
        value = self.get(key)
        return value if isinstance(value, str) else ""

    def integer(self, key: str) -> int:
        """The integer of a key, -1 if there is none."""
        value = self.get(key)
        return value if isinstance(value, int) else -1


def read_facts(open_timeline: OpenTimeline, event: int) -> Facts:
    """The data of the file on an event. Raises BadRequest if there is no such event."""
    track = open_timeline.track(open_timeline.row(event))
    timeline = open_timeline.timeline
    is_device = timeline.sections[track.section].kind == "device"
    type_ = int(timeline.type[event])
    name = timeline.types.full_name[type_] if type_ >= 0 else ""
    source = int(timeline.source[event])
    planes = open_timeline.space.planes if track.plane >= 0 and source >= 0 else ()
    if not 0 <= track.plane < len(planes):
        return Facts(track.kind, is_device, None, -1, name, [], [])
    plane = planes[track.plane]
    row = int(plane.event_types(np.array([source], np.int64))[0])
    own_stats = plane.details(source)
    keys = {key for key, _ in own_stats}
    shared = plane.types.details(row) if row >= 0 else []
    shared = [stat for stat in shared if stat[0] not in keys]
    facts = Facts(track.kind, is_device, plane, row, name, own_stats, shared)
    instruction = instruction_of(facts.text(names.HLO_OP))
    if facts.is_gpu and instruction.startswith(names.COMMAND_BUFFER):
        instruction = _graph_instruction(open_timeline, plane, source)
    return Facts(track.kind, is_device, plane, row, name, own_stats, shared, instruction)


def _graph_instruction(open_timeline: OpenTimeline, plane: Plane, source: int) -> str:
    kinds = find_gpu_kinds(plane, open_timeline.programs)
    [row] = np.flatnonzero(kinds.events.source == source).tolist()
    return kinds.instruction[int(kinds.code[row])]


def find_op(open_timeline: OpenTimeline, facts: Facts) -> OpName | None:
    """The op that tables list the event under, None if they do not list it."""
    if facts.kind == "ops":  # a line of ops, which was derived from kernels
        return parse_provenance(facts.name)
    if facts.plane is None or facts.kind in _NO_OPS:
        return None
    if facts.is_gpu:
        return op_or_event(_launched(open_timeline, facts), facts.name, copy_type(facts.name))
    if facts.is_tpu:
        is_op = facts.kind == "xla_ops" or is_hlo(facts)
        return TpuOpNames(facts.plane).op(facts.type_row) if is_op else None
    op = parse_op_name(facts.name)
    if op.category != OpCategory.UNKNOWN:
        return _staged(facts, op)
    if facts.text(names.HLO_OP) and not facts.name.startswith(names.THUNK_END):
        return _launched(open_timeline, facts)
    return None


def kernel_op(open_timeline: OpenTimeline, facts: Facts) -> OpName | None:
    """The op that launched a kernel, without a name if unknown; None for other events."""
    if not facts.is_gpu or facts.get(names.KERNEL_DETAILS) is None:
        return None
    return _launched(open_timeline, facts)


def _launched(open_timeline: OpenTimeline, facts: Facts) -> OpName:
    texts = {key: facts.text(key) for key in OP_STATS} | {names.HLO_OP: facts.instruction}
    return launched_op(open_timeline.programs, facts.integer(names.PROGRAM_ID), texts)


def _staged(facts: Facts, op: OpName) -> OpName:
    stage, category = facts.get(names.STAGE_ID), facts.text(names.STAGE_CATEGORY)
    if stage is None or not category:
        return op
    number = stage if isinstance(stage, int) else 0
    return OpName(op.category, f"{op.name} (stage {number})", category)


def is_hlo(facts: Facts) -> bool:
    """Whether the event's name is the text of an instruction, or it has a category of HLO."""
    return facts.name.startswith("%") or facts.get(names.HLO_CATEGORY) is not None


def find_hlo(open_timeline: OpenTimeline, facts: Facts) -> dict[str, Any] | None:
    """The event's instruction: module, instruction, text ("" if the program is not in the file)."""
    # The recorder's text contains more than the program.
    stated = facts.name if facts.is_tpu and " = " in facts.name else ""
    instruction = event_instruction(facts)
    if not instruction:
        return None
    module = program_of(open_timeline, facts)
    lines = _program_lines(module, instruction) if module else []
    text = "\n".join([stated or line for line in lines[:1]] + lines[1:]) or stated
    name = facts.text(names.HLO_MODULE) or (module.name if module else "")
    return {"module": name, "instruction": instruction, "text": text}


def _program_lines(module: Module, instruction: str) -> list[str]:
    """The program's text of an instruction, shortened if it is too long to read."""
    row = module.index.find(instruction)
    if row < 0:
        return []
    lines = list(islice(text_with_callees(module, row, _FORM), _MOST_LINES + 1))
    if len(lines) > _MOST_LINES:
        lines[-1] = "… (more is left out)"
    return [cut(line, _MOST_LETTERS) for line in lines]


def event_instruction(facts: Facts) -> str:
    """The name of the event's instruction, "" if it has none."""
    if facts.is_tpu and is_hlo(facts):
        return facts.name.partition(" ")[0].removeprefix("%")
    return facts.instruction


def program_of(open_timeline: OpenTimeline, facts: Facts) -> Module | None:
    """The event's program, None if the file does not hold it."""
    return open_timeline.programs.module(
        facts.integer(names.PROGRAM_ID), facts.text(names.HLO_MODULE)
    )


def find_source_location(open_timeline: OpenTimeline, facts: Facts) -> str | None:
    """The source location of the event: a stat, the instruction's line, a Python frame."""
    *stated, recorded = (facts.text(key) for key in SOURCE_STATS)
    source = next(filter(None, stated), "")
    if not source and facts.instruction:
        module = program_of(open_timeline, facts)
        proto = module.find(facts.instruction) if module else None
        if proto is not None and proto.metadata.source_file:
            source = f"{proto.metadata.source_file}:{proto.metadata.source_line}"
    if not source and facts.name.startswith(names.PYTHON_FRAME):
        file, _, line = facts.name[1:].partition(" ")[0].rpartition(":")
        source = f"{file}:{line}" if file and line.isdecimal() else ""
    return source or recorded or None

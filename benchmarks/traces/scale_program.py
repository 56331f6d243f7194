"""Makes a trace of a big program out of one of a small program.

    python -m benchmarks.traces.scale_program SOURCE TARGET INSTRUCTIONS [--varied]

Of the programs in the source, the one whose events name most instructions is repeated, with its
computations, schedule, buffers and heap, until it has as many instructions as wanted; and so is one
execution of each instruction. A copy takes the parameters of the first, or results of the one
before that have their shapes, as layers of a model do; it has names, ids and framework ops of its
own. With `--varied`, each has shapes and durations of its own, too, so that no two cost or take the
same.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.command_line import parser_of
from tbprof._pb import message

# Arrays of fewer elements along an axis keep them, such as the two numbers of a random key.
_UNVARIED = 8
# How much longer each execution of a varied copy takes than that of the copy before.
_PS_MORE = 1_337


class _Copy(NamedTuple):
    """One copy of a program: its number, and how far its ids are from those of the first."""

    number: int
    step: int
    is_varied: bool

    def id(self, id_: int) -> int:
        return id_ + self.number * self.step

    def name(self, name: str) -> str:
        return f"{name}.c{self.number}" if self.number and name else name


def scale_program(source: Path, target: Path, instructions: int, *, is_varied: bool) -> None:
    """Writes the trace with a program of at least so many instructions; replaces a file."""
    space = message("tensorflow.profiler.XSpace").FromString(source.read_bytes())
    by_program: dict[int, dict[str, tuple[Any, Any]]] = defaultdict(dict)
    for line, event, program, op in _executions(space):
        by_program[program].setdefault(op, (line, event))
    number = max(by_program, key=lambda id_: len(by_program[id_]))
    stat = _program_stat(space, number)
    content = stat.bytes_value
    module = message("xla.HloProto").FromString(content).hlo_module
    copies = -(-instructions // sum(len(part.instructions) for part in module.computations))
    step = 1 + max(
        max(part.id for part in module.computations),
        max(instruction.id for part in module.computations for instruction in part.instructions),
    )
    made = [_Copy(copy, step, is_varied) for copy in range(copies)]
    stat.bytes_value = _repeat_module(content, made) + _repeat_memory(content, made)
    _repeat_executions(space, by_program[number], made)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".part")
    partial.write_bytes(space.SerializeToString())
    partial.replace(target)


def _executions(space: Any) -> Iterator[tuple[Any, Any, int, str]]:
    """(line, event, id of the program, instruction) of events that name an instruction."""
    for plane in space.planes:
        keys = {entry.name: key for key, entry in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                stats = {stat.metadata_id: stat for stat in event.stats}
                op, program = stats.get(keys.get("hlo_op")), stats.get(keys.get("program_id"))
                if op is not None and program is not None:
                    name = plane.stat_metadata[op.ref_value].name
                    yield line, event, program.int64_value, name


def _program_stat(space: Any, number: int) -> Any:
    """The stat that holds the HloProto of a program."""
    for plane in space.planes:
        for metadata in plane.event_metadata.values():
            for stat in metadata.stats:
                if stat.bytes_value and metadata.name.endswith(f"({number})"):
                    return stat
    raise ValueError(f"program {number} is not in the trace")


def _repeat_module(content: bytes, copies: list[_Copy]) -> bytes:
    """The HloProto with the computations and the schedule of all copies."""
    proto = message("xla.HloProto").FromString(content)
    module = proto.hlo_module
    parts = [_copied(part) for part in module.computations]
    schedule = {
        key: list(sequence.instruction_ids) for key, sequence in module.schedule.sequences.items()
    }
    entry = next(_copied(part) for part in parts if part.id == module.entry_computation_id)
    shared = {
        instruction.id for instruction in entry.instructions if instruction.opcode == "parameter"
    }
    passed = _passed_on(entry)
    main = _copied(entry)
    del module.computations[:]
    for copy in copies:
        for part in parts:
            if part.id != entry.id:
                _add_computation(module, part, copy)
        # The instructions of all copies make one entry computation.
        for instruction in entry.instructions if copy.number else ():
            if instruction.id not in shared:
                _rename(main.instructions.add(), instruction, copy, shared, passed)
        for key, ids in schedule.items() if copy.number else ():
            into = key if key == entry.id else copy.id(key)
            kept = (copy.id(id_) for id_ in ids if id_ not in shared)
            module.schedule.sequences[into].instruction_ids.extend(kept)
    main.root_id = copies[-1].id(entry.root_id)
    module.computations.add().CopyFrom(main)
    return bytes(proto.SerializeToString())


def _copied(proto: Any) -> Any:
    made = type(proto)()
    made.CopyFrom(proto)
    return made


def _add_computation(module: Any, part: Any, copy: _Copy) -> None:
    made = module.computations.add()
    made.CopyFrom(part)
    made.name, made.id, made.root_id = copy.name(part.name), copy.id(part.id), copy.id(part.root_id)
    for instruction, original in zip(made.instructions, part.instructions, strict=True):
        _rename(instruction, original, copy, set(), {})


def _passed_on(entry: Any) -> dict[int, int]:
    """What the next copy takes in place of a parameter: a result of the same shape."""
    by_id = {instruction.id: instruction for instruction in entry.instructions}
    root = by_id[entry.root_id]
    results = [by_id[id_] for id_ in (root.operand_ids if root.opcode == "tuple" else [root.id])]
    passed: dict[int, int] = {}
    for one in entry.instructions:
        if one.opcode == "parameter":
            fitting = [result.id for result in results if result.shape == one.shape]
            passed.update({one.id: fitting[0]} if fitting else {})
    return passed


def _rename(
    made: Any, instruction: Any, copy: _Copy, shared: set[int], passed: dict[int, int]
) -> None:
    """Makes an instruction that of a copy, which takes the parameters `shared` of the first one.

    In place of those that are `passed` on, it takes results of the copy before.
    """
    made.CopyFrom(instruction)
    made.id, made.name = copy.id(instruction.id), copy.name(instruction.name)
    before = copy._replace(number=copy.number - 1)

    def taken(id_: int) -> int:
        if id_ in passed:
            return before.id(passed[id_])
        return id_ if id_ in shared else copy.id(id_)

    for ids in (made.operand_ids, made.control_predecessor_ids):
        ids[:] = map(taken, ids)
    made.called_computation_ids[:] = map(copy.id, instruction.called_computation_ids)
    if instruction.metadata.op_name:
        made.metadata.op_name = f"layer_{copy.number}/{instruction.metadata.op_name}"
    if copy.is_varied:
        _vary(made.shape, copy.number)


def _vary(shape: Any, more: int) -> None:
    shape.dimensions[:] = [size + more if size > _UNVARIED else size for size in shape.dimensions]
    for part in shape.tuple_shapes:
        _vary(part, more)


def _repeat_memory(content: bytes, copies: list[_Copy]) -> bytes:
    """The buffer assignment of all copies; parameters have one allocation."""
    proto = message("xla.HloMemoryProto").FromString(content)
    assigned = proto.buffer_assignment
    buffers, allocations = list(assigned.logical_buffers), list(assigned.buffer_allocations)
    traces = [(trace, list(trace.events)) for trace in assigned.heap_simulator_traces]
    step = 1 + max((buffer.id for buffer in buffers), default=0)
    for copy in copies[1:]:
        for one in buffers:
            made = assigned.logical_buffers.add()
            made.CopyFrom(one)
            made.id += copy.number * step
            place = made.defined_at
            place.instruction_id = copy.id(place.instruction_id) if place.instruction_id else 0
            place.instruction_name = copy.name(place.instruction_name)
        for one in allocations:
            if not one.is_entry_computation_parameter:
                made = assigned.buffer_allocations.add()
                made.CopyFrom(one)
                made.index += copy.number * len(allocations)
                for part in made.assigned:
                    part.logical_buffer_id += copy.number * step
        for trace, events in traces:
            for event in events:
                made = trace.events.add()
                made.CopyFrom(event)
                made.buffer_id += copy.number * step
                made.share_with_canonical_id += copy.number * step if event.kind == 2 else 0
                made.instruction_name = copy.name(event.instruction_name)
    return bytes(proto.SerializeToString())


def _repeat_executions(
    space: Any, executions: dict[str, tuple[Any, Any]], copies: list[_Copy]
) -> None:
    """Adds the executions of the copies, each after all other events of its line."""
    for plane in space.planes:
        lines = {id(line): line for line in plane.lines}
        ours = {op: pair for op, pair in executions.items() if id(pair[0]) in lines}
        hlo_op = next((k for k, entry in plane.stat_metadata.items() if entry.name == "hlo_op"), 0)
        key = max(plane.stat_metadata, default=0)
        ends = {
            number: max((event.offset_ps + event.duration_ps for event in line.events), default=0)
            for number, line in lines.items()
        }
        for copy in copies[1:]:
            for op, (line, event) in ours.items():
                key += 1
                plane.stat_metadata[key].id, plane.stat_metadata[key].name = key, copy.name(op)
                made = line.events.add()
                made.CopyFrom(event)
                made.offset_ps = ends[id(line)]
                made.duration_ps += _PS_MORE * copy.number if copy.is_varied else 0
                ends[id(line)] += made.duration_ps
                next(stat for stat in made.stats if stat.metadata_id == hlo_op).ref_value = key


def main() -> None:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("instructions", type=int)
    parser.add_argument("--varied", action="store_true")
    args = parser.parse_args()
    scale_program(args.source, args.target, args.instructions, is_varied=args.varied)


if __name__ == "__main__":
    main()

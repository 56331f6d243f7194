"""The HLO text of instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_text.hlo_attributes import own_attributes
from tbprof.analysis.hlo_text.hlo_devices import sharding_text, word_of
from tbprof.analysis.hlo_text.hlo_literals import ELIDED, FEW_ELEMENTS, literal_text
from tbprof.analysis.hlo_text.hlo_quoting import frontend_text, one_line, quoted, value_text
from tbprof.analysis.hlo_text.hlo_shape_text import numbered, shape_text
from tbprof.base.records import NamedTuple

# Attributes name the computations that instructions with these opcodes call.
_APPLIES = frozenset(
    {
        "all-reduce", "all-reduce-start", "call", "map", "reduce", "reduce-scatter",
        "reduce-window", "scatter", "sort", "topk",
    }
)  # fmt: skip
_ROLES = {
    "while": ("condition", "body"),
    "select-and-scatter": ("select", "scatter"),
}  # fmt: skip
# Inherited from the async-start that they belong to.
_SILENT = frozenset({"async-update", "async-done"})
_PRED = 1


class Form(NamedTuple):
    """The parts that a text includes; constants with more than `most_elements` become `{...}`.

    `has_percent` puts "%" before names, `has_operand_shapes` and `has_program_shapes` add the
    shapes of operands and of the parameters of computations, `has_numbers` numbers every fifth
    operand. Metadata is the framework op and its source location.
    """

    has_percent: bool = True
    has_operand_shapes: bool = False
    has_program_shapes: bool = True
    has_metadata: bool = False
    has_backend_config: bool = True
    has_control: bool = True
    has_numbers: bool = True
    most_elements: int = 2**12


# Like XLA's HloPrintOptions::ShortParsable, and like xprof's long form.
SHORT = Form(
    has_percent=False,
    has_program_shapes=False,
    has_control=False,
    has_numbers=False,
    most_elements=10,
)
LONG = Form()
# Like the names that TPU recorders give to types of events.
EVENT = Form(has_operand_shapes=True, has_backend_config=False, most_elements=FEW_ELEMENTS)
# Everything that is known about one instruction.
WHOLE = Form(has_operand_shapes=True, has_metadata=True)


def instruction_text(module: Module, row: int, form: Form = LONG) -> str:
    """An instruction as one line of HLO: "%a = f32[8]{0} negate(f32[8]{0} %b)".

    Operands that the file lacks are written "%?17", with their ids. Time and length are linear in
    the size of the instruction and in the number of its operands.
    """
    return InstructionWriter(module, form).line(row)


class InstructionWriter:
    """Writes the instructions of a module in one form."""

    def __init__(self, module: Module, form: Form = LONG) -> None:
        self.module = module
        self.form = form
        self.percent = "%" if form.has_percent else ""
        self._shapes: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._callees: dict[int, str] = {}

    def line(self, row: int) -> str:
        """The line of an instruction."""
        module = self.module
        proto: Any = module.message(row)
        rows = module.operand_rows(row)
        if len(rows) < len(proto.operand_ids):
            rows = list(map(module.index.ids.row, proto.operand_ids))
        attributes = "".join([f", {text}" for text in self._attributes(proto, rows)])
        call = f"{one_line(module.opcode(row))}({self._arguments(proto, rows)})"
        return f"{self._name(row)} = {self._shape(row)} {call}{attributes}"

    def _name(self, row: int) -> str:
        known = self._names.get(row)
        if known is None:
            known = self._names[row] = self.percent + one_line(self.module.name_of(row))
        return known

    def _shape(self, row: int) -> str:
        number = self.module.shapes.number(row)
        known = self._shapes.get(number)
        if known is None:
            known = shape_text(self.module.shapes.proto(row))
            if number >= 0:
                self._shapes[number] = known
        return known

    def _arguments(self, proto: Any, rows: Sequence[int]) -> str:
        form = self.form
        if proto.opcode == "constant":
            return (
                literal_text(proto.literal, proto.shape, form.most_elements)
                if proto.literal
                else ELIDED
            )
        if proto.opcode == "parameter":
            return str(proto.parameter_number)
        texts = [
            self._operand(row) if row >= 0 else f"{self.percent}?{number}"
            for number, row in zip(proto.operand_ids, rows, strict=True)
        ]
        return numbered(texts) if form.has_numbers else ", ".join(texts)

    def _operand(self, row: int) -> str:
        name = self._name(row)
        return f"{self._shape(row)} {name}" if self.form.has_operand_shapes else name

    def _attributes(self, proto: Any, rows: Sequence[int]) -> Iterator[str]:
        """Source of the order: XLA, HloInstruction::PrintExtraAttributes."""
        form = self.form
        known = [row for row in rows if row >= 0] if -1 in rows else rows
        yield from own_attributes(proto, self.module.messages(known))
        yield from self._called(proto, rows)
        if proto.HasField("sharding"):
            yield f"sharding={sharding_text(proto.sharding)}"
        if proto.HasField("result_accuracy"):
            yield from _accuracy(proto.result_accuracy)
        if proto.HasField("frontend_attributes") and proto.frontend_attributes.map:
            yield frontend_text(proto.frontend_attributes)
        if form.has_control and proto.control_predecessor_ids:
            names = map(self._name_by_id, proto.control_predecessor_ids)
            yield f"control-predecessors={{{', '.join(names)}}}"
        if form.has_metadata and proto.HasField("metadata"):
            yield from _metadata(proto.metadata)
        if form.has_backend_config and proto.backend_config:
            yield f"backend_config={value_text(proto.backend_config.decode('utf-8', 'replace'))}"

    def _name_by_id(self, number: int) -> str:
        row = self.module.index.ids.row(number)
        return self._name(row) if row >= 0 else f"{self.percent}?{number}"

    def _called(self, proto: Any, rows: Sequence[int]) -> Iterator[str]:
        """The attributes for the computations that an instruction calls, by role."""
        ids = proto.called_computation_ids
        if not ids or proto.opcode in _SILENT:
            return
        names = list(map(self._callee, ids))
        roles = _ROLES.get(proto.opcode, ())
        if proto.opcode == "conditional":
            if len(names) != 2 or not self._is_flag(rows):
                yield f"branch_computations={{{', '.join(names)}}}"
                return
            roles = ("true_computation", "false_computation")
        if proto.opcode == "while":
            names = names[::-1]  # the body comes first
        if len(roles) == len(names):
            yield from (f"{role}={name}" for role, name in zip(roles, names, strict=True))
        elif proto.opcode in _APPLIES:
            yield f"to_apply={', '.join(names)}"
        elif proto.opcode == "custom-call":
            yield f"called_computations={{{', '.join(names)}}}"
        else:
            yield f"calls={', '.join(names)}"

    def _is_flag(self, rows: Sequence[int]) -> bool:
        """Whether the first operand is a boolean."""
        if not rows or rows[0] < 0:
            return False
        return bool(self.module.message(rows[0]).shape.element_type == _PRED)

    def _callee(self, number: int) -> str:
        known = self._callees.get(number)
        if known is None:
            computation = self.module.computation(number)
            name = f"?{number}" if computation is None else one_line(computation.name)
            known = self._callees[number] = f"{self.percent}{name}"
        return known


def _accuracy(accuracy: Any) -> Iterator[str]:
    if accuracy.HasField("tolerance"):
        bounds = accuracy.tolerance
        yield (
            f"result_accuracy={{tolerance={{atol={bounds.atol:g},rtol={bounds.rtol:g},"
            f"ulps={bounds.ulps}}}}}"
        )
    elif accuracy.mode:
        yield f"result_accuracy={{mode={word_of(accuracy, 'mode').lower()}}}"


def _metadata(metadata: Any) -> Iterator[str]:
    fields = (
        ("op_type", quoted(metadata.op_type), metadata.op_type),
        ("op_name", quoted(metadata.op_name), metadata.op_name),
        ("source_file", quoted(metadata.source_file), metadata.source_file),
        ("source_line", metadata.source_line, metadata.source_line),
        ("source_end_line", metadata.source_end_line, metadata.source_end_line),
        ("source_column", metadata.source_column, metadata.source_column),
        ("source_end_column", metadata.source_end_column, metadata.source_end_column),
        ("deduplicated_name", quoted(metadata.deduplicated_name), metadata.deduplicated_name),
        ("stack_frame_id", metadata.stack_frame_id, metadata.stack_frame_id),
        ("scheduling_name", quoted(metadata.scheduling_name), metadata.scheduling_name),
    )
    text = " ".join(f"{name}={value}" for name, value, is_set in fields if is_set)
    has_op = metadata.op_type or metadata.op_name or metadata.source_file
    if has_op or metadata.scheduling_name:
        yield f"metadata={{{text}}}"

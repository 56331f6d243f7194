"""The HLO text of instructions, computations and modules."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tbprof.analysis.hlo.hlo import Module
from tbprof.analysis.hlo_text.hlo_attributes import (
    MOST_LETTERS,
    aliasing_text,
    own_attributes,
    quoted,
)
from tbprof.analysis.hlo_text.hlo_devices import sharding_text, word_of
from tbprof.analysis.hlo_text.hlo_literals import ELIDED, FEW_ELEMENTS, literal_text
from tbprof.analysis.hlo_text.hlo_shape_text import numbered, shape_text

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
    """What a text includes; constants of more than `most_elements` are written `{...}`.

    `has_percent` marks names, `has_operand_shapes` and `has_program_shapes` state those of operands
    and of the parameters of computations, `has_numbers` numbers every fifth operand. Metadata is
    the framework op and its source location.
    """

    has_percent: bool = True
    has_operand_shapes: bool = False
    has_program_shapes: bool = True
    has_metadata: bool = False
    has_backend_config: bool = True
    has_control: bool = True
    has_numbers: bool = True
    most_elements: int = 2**12


# As XLA's HloPrintOptions::ShortParsable and as xprof's long form.
SHORT = Form(
    has_percent=False,
    has_program_shapes=False,
    has_control=False,
    has_numbers=False,
    most_elements=10,
)
LONG = Form()
# As recorders of TPUs name the types of events.
EVENT = Form(has_operand_shapes=True, has_backend_config=False, most_elements=FEW_ELEMENTS)
# All that is known of one instruction.
WHOLE = Form(has_operand_shapes=True, has_metadata=True)


def instruction_text(module: Module, proto: Any, form: Form = LONG) -> str:
    """An instruction as one line of HLO: "%a = f32[8]{0} negate(f32[8]{0} %b)".

    Operands that the file does not hold are written "%?17", with their ids. Time and length are
    linear in the size of the instruction and in the number of its operands.
    """
    operands = [module.by_id(number) for number in proto.operand_ids]
    percent = "%" if form.has_percent else ""
    attributes = list(_attributes(module, proto, operands, percent, form))
    return (
        f"{percent}{one_line(proto.name)} = {shape_text(proto.shape)} "
        f"{one_line(proto.opcode)}({_arguments(proto, operands, percent, form)})"
        + "".join(f", {attribute}" for attribute in attributes)
    )


def computation_text(module: Module, computation: Any, form: Form = LONG) -> Iterator[str]:
    """The lines of a computation, in the order in which its instructions run if that is known."""
    percent = "%" if form.has_percent else ""
    entry = module.entry()
    is_entry = entry is not None and entry.id == computation.id
    head = f"{'ENTRY ' if is_entry else ''}{percent}{one_line(computation.name)} "
    if form.has_program_shapes:
        shape = computation.program_shape
        names = list(shape.parameter_names)
        parameters = ", ".join(
            f"{one_line(names[number]) if number < len(names) else number}: "
            + shape_text(part, has_layout=False)
            for number, part in enumerate(shape.parameters)
        )
        head += f"({parameters}) -> {shape_text(shape.result, has_layout=False)} "
    yield head + "{"
    for proto in module.in_order(computation):
        root = "ROOT " if proto.id == computation.root_id else ""
        yield f"  {root}{instruction_text(module, proto, form)}"
    thread = computation.execution_thread
    yield f"}}, execution_thread={quoted(thread)}" if thread not in ("", "main") else "}"


def module_text(module: Module, form: Form = LONG, most_letters: int = 2**27) -> Iterator[str]:
    """The lines of a module: its header and its computations, callees before their callers.

    After `most_letters` a last line says how many instructions are left out.
    """
    yield f"HloModule {', '.join(_header(module))}"
    yield ""
    letters = 0
    computations = module.computations()
    for number, computation in enumerate(computations):
        for line in computation_text(module, computation, form):
            letters += len(line)
            yield line
        yield ""
        if letters > most_letters and number + 1 < len(computations):
            left = sum(len(other.instructions) for other in computations[number + 1 :])
            yield f"// {left} more instructions in {len(computations) - number - 1} computations"
            return


def one_line(name: str) -> str:
    """A name without line breaks and other control characters, which no valid program has."""
    return name if name.isprintable() else quoted(name)[1:-1]


def _header(module: Module) -> Iterator[str]:
    header = module.header
    yield one_line(header.name)
    if header.HasField("schedule"):
        yield "is_scheduled=true"
    if header.input_output_alias.entries:
        yield "input_output_alias=" + aliasing_text(
            (
                entry.output_shape_index,
                entry.parameter_number,
                entry.parameter_shape_index,
                word_of(entry, "kind").lower().replace("_", "-"),
            )
            for entry in header.input_output_alias.entries
        )
    if header.buffer_donor.entries:
        donors = (
            f"({entry.parameter_number}, {{{', '.join(map(str, entry.parameter_shape_index))}}})"
            for entry in header.buffer_donor.entries
        )
        yield f"buffer_donor={{ {', '.join(donors)} }}"
    if header.HasField("host_program_shape"):
        shape = header.host_program_shape
        parameters = numbered(list(map(shape_text, shape.parameters)))
        yield f"entry_computation_layout={{({parameters})->{shape_text(shape.result)}}}"
    if header.frontend_attributes.map:
        yield _frontend(header.frontend_attributes)


def _arguments(proto: Any, operands: Sequence[Any], percent: str, form: Form) -> str:
    if proto.opcode == "constant":
        return (
            literal_text(proto.literal, proto.shape, form.most_elements)
            if proto.literal
            else ELIDED
        )
    if proto.opcode == "parameter":
        return str(proto.parameter_number)
    texts = []
    for number, operand in zip(proto.operand_ids, operands, strict=True):
        if operand is None:
            texts.append(f"{percent}?{number}")
            continue
        shape = f"{shape_text(operand.shape)} " if form.has_operand_shapes else ""
        texts.append(f"{shape}{percent}{one_line(operand.name)}")
    return numbered(texts) if form.has_numbers else ", ".join(texts)


def _attributes(
    module: Module, proto: Any, operands: Sequence[Any], percent: str, form: Form
) -> Iterator[str]:
    """Source of the order: XLA, HloInstruction::PrintExtraAttributes."""
    yield from own_attributes(proto, [part for part in operands if part is not None])
    yield from _called(module, proto, operands, percent)
    if proto.HasField("sharding"):
        yield f"sharding={sharding_text(proto.sharding)}"
    if proto.HasField("result_accuracy"):
        yield from _accuracy(proto.result_accuracy)
    if proto.frontend_attributes.map:
        yield _frontend(proto.frontend_attributes)
    if form.has_control and proto.control_predecessor_ids:
        before = (module.by_id(number) for number in proto.control_predecessor_ids)
        names = (
            f"{percent}?{number}" if part is None else f"{percent}{one_line(part.name)}"
            for number, part in zip(proto.control_predecessor_ids, before, strict=True)
        )
        yield f"control-predecessors={{{', '.join(names)}}}"
    if form.has_metadata and proto.HasField("metadata"):
        yield from _metadata(proto.metadata)
    if form.has_backend_config and proto.backend_config:
        yield f"backend_config={_value(proto.backend_config.decode('utf-8', 'replace'))}"


def _called(module: Module, proto: Any, operands: Sequence[Any], percent: str) -> Iterator[str]:
    """The computations that an instruction calls, by their roles."""
    ids = proto.called_computation_ids
    if not ids or proto.opcode in _SILENT:
        return
    names = [_callee(module, number, percent) for number in ids]
    roles = _ROLES.get(proto.opcode, ())
    if proto.opcode == "conditional":
        is_pair = bool(operands and operands[0] is not None) and (
            operands[0].shape.element_type == _PRED and len(names) == 2
        )
        if is_pair:
            roles = ("true_computation", "false_computation")
        else:
            yield f"branch_computations={{{', '.join(names)}}}"
            return
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


def _callee(module: Module, number: int, percent: str) -> str:
    computation = module.computation(number)
    return f"{percent}{f'?{number}' if computation is None else one_line(computation.name)}"


def _accuracy(accuracy: Any) -> Iterator[str]:
    if accuracy.HasField("tolerance"):
        bounds = accuracy.tolerance
        yield (
            f"result_accuracy={{tolerance={{atol={bounds.atol:g},rtol={bounds.rtol:g},"
            f"ulps={bounds.ulps}}}}}"
        )
    elif accuracy.mode:
        yield f"result_accuracy={{mode={word_of(accuracy, 'mode').lower()}}}"


def _frontend(attributes: Any) -> str:
    pairs = ",".join(
        f"{one_line(key)}={_value(attributes.map[key])}" for key in sorted(attributes.map)
    )
    return f"frontend_attributes={{{pairs}}}"


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
    is_told = metadata.op_type or metadata.op_name or metadata.source_file
    if is_told or metadata.scheduling_name:
        yield f"metadata={{{text}}}"


def _value(text: str) -> str:
    """A text in braces as it is, such as JSON or attributes of MLIR; others in quotes."""
    return text if len(text) <= MOST_LETTERS and _is_braced(text) else quoted(text)


def _is_braced(text: str) -> bool:
    """Whether a text is one pair of braces with what is inside. Source: XLA, LexesAsJsonDict."""
    if not text.startswith("{") or not text.isprintable():
        return False
    depth, is_quoted, is_escaped = 0, False, False
    for position, letter in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif is_quoted:
            is_escaped, is_quoted = letter == "\\", letter != '"'
        elif letter == '"':
            is_quoted = True
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
            if depth == 0:
                return position + 1 == len(text)
    return False

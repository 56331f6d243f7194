"""The HLO text of computations and modules."""

from __future__ import annotations

from collections.abc import Iterator

from tbprof.analysis.hlo.module import Computation, Module
from tbprof.analysis.hlo_text.hlo_attributes import aliasing_text
from tbprof.analysis.hlo_text.hlo_devices import word_of
from tbprof.analysis.hlo_text.hlo_instructions import LONG, Form, InstructionWriter
from tbprof.analysis.hlo_text.hlo_quoting import frontend_text, one_line, quoted
from tbprof.analysis.hlo_text.hlo_shape_text import numbered, shape_text


def computation_text(
    writer: InstructionWriter, computation: Computation, first_line: int = 0
) -> Iterator[str]:
    """The lines of a computation, in the order in which its instructions run if that is known.

    From the `first_line` on: one is its head, then each instruction has one, and one is its end.
    """
    module, index = writer.module, writer.module.index
    if first_line < 1:
        yield _opening(writer, computation)
    ids = index.instructions.id.data
    for row in module.rows_in_order(computation.row)[max(first_line - 1, 0) :]:
        root = "ROOT " if ids[row] == computation.root_id else ""
        yield f"  {root}{writer.line(row)}"
    thread = computation.execution_thread
    yield f"}}, execution_thread={quoted(thread)}" if thread not in ("", "main") else "}"


def _opening(writer: InstructionWriter, computation: Computation) -> str:
    form, is_entry = writer.form, computation.id == writer.module.index.entry_id
    head = f"{'ENTRY ' if is_entry else ''}{writer.percent}{one_line(computation.name)} "
    if form.has_program_shapes:
        shape = computation.program_shape
        names = list(shape.parameter_names)
        parameters = ", ".join(
            f"{one_line(names[number]) if number < len(names) else number}: "
            + shape_text(part, has_layout=False)
            for number, part in enumerate(shape.parameters)
        )
        head += f"({parameters}) -> {shape_text(shape.result, has_layout=False)} "
    return head + "{"


def text_with_callees(module: Module, row: int, form: Form = LONG) -> Iterator[str]:
    """The line of an instruction, and those of all computations that it calls, each once.

    %fusion.1 = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop, calls=%fused

    %fused {
      %a = f32[8]{0} parameter(0)
      ROOT %b = f32[8]{0} negate(f32[8]{0} %a)
    }
    """
    writer = InstructionWriter(module, form)
    yield writer.line(row)
    waiting, done = module.called_rows(row)[::-1], set()
    while waiting:
        called = waiting.pop()
        if called in done:
            continue
        done.add(called)
        yield ""
        yield from computation_text(writer, Computation(module, called))
        for inner in reversed(module.rows_in(called)):
            waiting += module.called_rows(inner)[::-1]


def module_text(module: Module, form: Form = LONG, most_letters: int = 2**27) -> Iterator[str]:
    """The lines of a module: its header and its computations, callees before their callers.

    After `most_letters`, a last line states how many instructions are omitted.
    """
    yield f"HloModule {', '.join(_header(module))}"
    yield ""
    letters = 0
    computations, writer = module.computations(), InstructionWriter(module, form)
    for number, computation in enumerate(computations):
        for line in computation_text(writer, computation):
            letters += len(line)
            yield line
        yield ""
        if letters > most_letters and number + 1 < len(computations):
            left = sum(len(other.instructions) for other in computations[number + 1 :])
            yield f"// {left} more instructions in {len(computations) - number - 1} computations"
            return


def lines_from(module: Module, first_line: int) -> Iterator[str]:
    """The lines of the same text from one on, for which those before it are not written."""
    lines = [f"HloModule {', '.join(_header(module))}", ""]
    yield from lines[first_line:]
    line, writer = len(lines), InstructionWriter(module)
    for computation in range(module.index.computations.id.size):
        end = line + len(module.rows_in(computation)) + 2  # with its head and its last line
        if end > first_line:
            part = Computation(module, computation)
            yield from computation_text(writer, part, first_line - line)
        if end >= first_line:
            yield ""
        line = end + 1


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
        yield frontend_text(header.frontend_attributes)

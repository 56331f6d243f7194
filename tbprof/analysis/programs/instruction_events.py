"""Which events a row of the table of instructions counts."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.gpu.gpu_events import find_gpu_kinds, instruction_of
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.cpu_program_ops import find_executions
from tbprof.analysis.programs.op_rows import id_text
from tbprof.analysis.programs.tpu_program_ops import OP_LINES, instruction_name
from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes, named_lines, tpu_planes
from tbprof.base import names
from tbprof.events.space import Plane, Space


def instruction_events(
    space: Space, programs: Programs, name: str, program_id: str | None
) -> Iterator[tuple[Plane, NDArray[np.int64]]]:
    """Of each plane the sources of events of the instruction, on GPUs of its kernels.

    `program_id` is as in `ProgramOps`, None for any. Those of the CPU count where no GPU or TPU ran
    anything.
    """
    has_devices = False
    for plane in gpu_planes(space):
        kinds = find_gpu_kinds(plane, programs)
        rows = zip(kinds.instruction, kinds.event_name, kinds.program_id, strict=True)
        is_wanted = [
            (instruction or event or "(unnamed)") == name
            and program_id in (None, id_text(number) if instruction else "")
            for instruction, event, number in rows
        ]
        has_devices |= bool(is_wanted)
        yield plane, kinds.events.source[np.array(is_wanted, np.bool_)[kinds.code]]
    for plane in tpu_planes(space):
        events = plane.events(named_lines(plane, *OP_LINES))
        types = int(plane.types.id.size)
        program = plane.types.stats([names.PROGRAM_ID])[names.PROGRAM_ID].integers(-1)
        wanted = np.zeros(types + 1, np.bool_)
        for row in events.used_types(types).tolist():
            is_of_program = program_id in (None, id_text(int(program[row])))
            wanted[row] = is_of_program and instruction_name(plane, row) == name
        wanted[-1] = instruction_name(plane, -1) == name and program_id in (None, "")
        has_devices |= bool(len(events))
        yield plane, events.source[events.rows_of(wanted)]
    for plane in host_planes(space) if not has_devices else ():
        executions, (op, _, program, _) = find_executions(plane)
        texts = {text: instruction_of(plane.strings[text]) for text in set(op.tolist())}
        ids = {number: id_text(number) for number in set(program.tolist())}
        keys = zip(op.tolist(), program.tolist(), strict=True)
        pairs = {key: texts[key[0]] == name and program_id in (None, ids[key[1]]) for key in keys}
        is_here = np.zeros(len(executions), np.bool_)
        for (text, number), is_meant in pairs.items():
            if is_meant:
                is_here |= (op == text) & (program == number)
        yield plane, executions.source[is_here]

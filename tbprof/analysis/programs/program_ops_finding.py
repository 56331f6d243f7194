"""The instructions that ran on the devices of a host."""

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.cpu_program_ops import cpu_program_ops
from tbprof.analysis.programs.gpu_program_ops import gpu_program_ops
from tbprof.analysis.programs.instruction_facts import InstructionReader
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.programs.program_ops_merging import add_up
from tbprof.analysis.programs.tpu_program_ops import tpu_program_ops
from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes, tpu_planes
from tbprof.events.space import Space


def find_program_ops(space: Space, programs: Programs) -> ProgramOps:
    """The instructions of all GPUs and TPU cores; of the CPU where none of these ran anything."""
    reader = InstructionReader(programs)
    found = [gpu_program_ops(plane, programs, reader) for plane in gpu_planes(space)]
    found += [tpu_program_ops(plane, programs, reader) for plane in tpu_planes(space)]
    if not any(part.name for part in found):
        found += [cpu_program_ops(plane, programs, reader) for plane in host_planes(space)]
    return add_up([part for part in found if part.name])

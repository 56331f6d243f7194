"""The instructions that ran on the devices of a host."""

from __future__ import annotations

import functools

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.programs.program_ops_merging import add_up
from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes, tpu_planes
from tbprof.base import names
from tbprof.base.lazy import Later
from tbprof.events.space import Space

# Most traces have no programs, and none has all kinds of devices.
_gpu_program_ops = Later("tbprof.analysis.programs.gpu_program_ops.gpu_program_ops")
_tpu_program_ops = Later("tbprof.analysis.programs.tpu_program_ops.tpu_program_ops")
_cpu_program_ops = Later("tbprof.analysis.programs.cpu_program_ops.cpu_program_ops")
_reader = Later("tbprof.analysis.programs.instruction_facts.InstructionReader")


def find_program_ops(space: Space, programs: Programs) -> ProgramOps:
    """The instructions of all GPUs and TPU cores, or of the CPU if none of these ran anything."""
    gpus, tpus = gpu_planes(space), tpu_planes(space)
    hosts = [plane for plane in host_planes(space) if names.HLO_OP in plane.stat_names]
    # Without XLA, the work of GPUs does not belong to compiled programs.
    is_compiled = any(names.HLO_OP in plane.stat_names for plane in gpus)
    if not tpus and not hosts and not is_compiled:
        return _nothing()
    finders = [(_gpu_program_ops, plane) for plane in gpus]
    finders += [(_tpu_program_ops, plane) for plane in tpus]
    reader = _reader(programs)
    parts = [find(plane, programs, reader) for find, plane in finders]
    if not any(part.name for part in parts):
        parts += [_cpu_program_ops(plane, programs, reader) for plane in hosts]
    return add_up([part for part in parts if part.name])


@functools.cache  # for each host of thousands
def _nothing() -> ProgramOps:
    return add_up([])

"""The compiled programs of a trace: which framework op each HLO instruction came from."""

import re
from collections.abc import Mapping

import numpy as np

from tbprof._pb import message
from tbprof.analysis.lines import metadata_planes
from tbprof.base import names
from tbprof.events.space import Space

# Longer numbers are no ids of 64 bits, and Python refuses to read very long ones.
_PROGRAM = re.compile(r"\(([0-9]{1,20})\)\Z")
_MASK = 2**64 - 1


class Programs:
    """The HLO modules of a space, each parsed when an instruction of it is first asked for."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._sources: dict[int, bytes] | None = None
        self._by_name: dict[str, int] = {}
        self._ops: dict[int, Mapping[str, str]] = {}

    def op_name(self, program_id: int, module: str, instruction: str) -> str:
        """The full name (`name:Type` or `name:`) of an instruction's framework op, "" if unknown.

        The program is found by its id (the low 64 bits), else by the module's name where that is
        the name of one program alone.
        """
        sources = self._load()
        program = program_id & _MASK
        if program not in sources:
            program = self._by_name.get(module, -1)
        if program < 0:
            return ""
        if program not in self._ops:
            self._ops[program] = _instruction_ops(sources[program])
        return self._ops[program].get(instruction, "")

    def _load(self) -> dict[int, bytes]:
        if self._sources is None:
            self._sources = {}
            for plane in metadata_planes(self._space):
                types = plane.types
                stats = types.stats([names.HLO_PROTO, names.PROGRAM_ID])
                texts = plane.strings.take(types.name.tolist())
                program_ids = stats[names.PROGRAM_ID].integers(-1).tolist()
                type_ids = types.id.tolist()
                for row in np.flatnonzero(stats[names.HLO_PROTO].is_present).tolist():
                    blob = stats[names.HLO_PROTO].blob(row)
                    if blob is None:
                        continue
                    program = _program_id(texts[row], program_ids[row], type_ids[row])
                    self._sources[program] = blob
                    module = _PROGRAM.sub("", texts[row])
                    # A name that two programs share says nothing about either.
                    self._by_name[module] = -1 if module in self._by_name else program
        return self._sources


def _program_id(name: str, stat: int, type_id: int) -> int:
    """The unsigned program id: the stat, else the number that ends the name, else the type's id."""
    if stat != -1:
        return stat & _MASK
    number = _PROGRAM.search(name)
    return int(number[1]) & _MASK if number else type_id & _MASK


def _instruction_ops(blob: bytes) -> Mapping[str, str]:
    from google.protobuf.message import DecodeError

    proto = message("xla.HloProto")()
    try:
        proto.ParseFromString(blob)
    except DecodeError:  # a damaged program names no ops; the instructions keep their own names
        return {}
    return {
        instruction.name: f"{instruction.metadata.op_name}:{instruction.metadata.op_type}"
        for computation in proto.hlo_module.computations
        for instruction in computation.instructions
        if instruction.metadata.op_name
    }

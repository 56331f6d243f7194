"""The compiled programs of a trace: their HLO instructions and framework ops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tbprof.analysis.vocabulary.lines import metadata_planes
from tbprof.analysis.vocabulary.op_names import parse_provenance
from tbprof.base import names
from tbprof.base.lazy import Later, regex
from tbprof.base.records import NamedTuple
from tbprof.events.space import Space
from tbprof.events.stats import BYTES, TEXT, StatColumn

if TYPE_CHECKING:
    from tbprof.analysis.hlo.instruction import Fusion, Instruction
    from tbprof.analysis.hlo.module import Module
    from tbprof.analysis.hlo.program_functions import Place
    from tbprof.analysis.hlo_messages.message_fields import Blob

# Many traces contain no programs.
_parse = Later("tbprof.analysis.hlo.module.Module")
_read_fusion = Later("tbprof.analysis.hlo.instruction.read_fusion")
_locate_functions = Later("tbprof.analysis.hlo.program_functions.locate_functions")
_places_of = Later("tbprof.analysis.hlo.program_functions.places_of")
_with_location = Later("tbprof.analysis.hlo.program_functions.with_location")

# Longer numbers cannot be 64-bit ids, and Python refuses to parse very long ones.
_PROGRAM = regex(r"\(([0-9]{1,20})\)\Z")
_MASK = 2**64 - 1
_T = TypeVar("_T")


# One op compiles to at most two instructions, such as a sum and a division for a mean.
_MOST_OF_ONE_OP = 2
_LARGEST_OF_ONE_OP = 2**16
_NO_WORK = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast")
# The number and size of programs that stay cached after their file is closed.
_PROGRAMS_CACHED, _LARGEST_CACHED = 128, 2**17
# Of the programs that share a name, only this many are searched for source locations.
_MOST_ALIKE = 256


class Programs:
    """The HLO modules of a space, each parsed when one of its instructions is first requested.

    Threads may share an object: its fields are only assigned complete values.
    """

    def __init__(self, space: Space) -> None:
        # The space whose modules these are.
        self.space = space
        self._known: _Sources | None = None
        self._places: dict[str, Mapping[int, str]] = {}
        self._ops: dict[tuple[int, str], str] = {}
        self._modules: dict[int, Module] = {}
        # The phases that `tpu_phases` found, by the ids of the texts that describe an op.
        self.phases: dict[tuple[int, ...], int] = {}

    def op_name(self, program_id: int, module: str, instruction: str) -> str:
        """The full name (`name:Type` or `name:`) of an instruction's framework op, "" if unknown.

        The program is found by its id (the low 64 bits), or else by the module's name if only one
        program has it. If two functions share a name, the names of their ops include the function's
        source location (`locate_functions`).
        """
        program = self._find(program_id, module)
        found = None if program < 0 else self.module(program, "")
        if found is None:
            return ""
        if (program, instruction) not in self._ops:
            row = found.index.find(instruction)
            metadata = None if row < 0 else found.metadata_of(row)
            op = ""
            if metadata is not None and metadata.op_name:
                place = self._place(program)
                op = f"{metadata.op_name}:{metadata.op_type}"
                op = _with_location(op, place) if place else op
            self._ops[program, instruction] = op
        return self._ops[program, instruction]

    def places(self, module: str) -> set[str]:
        """The source locations of the functions that share a name; empty for a single function."""
        return {*self._located(module).values()}

    def _place(self, program: int) -> str:
        """The source location of a program's function, "" if no other function has its name."""
        return self._located(self._load().name[program]).get(program, "")

    def _located(self, module: str) -> Mapping[int, str]:
        """The source locations of the programs with that name; empty for a single function."""
        if module not in self._places:
            sources = self._load().name
            alike = [program_id for program_id, name in sources.items() if name == module]
            several = alike[:_MOST_ALIKE] if len(alike) > 1 else []
            places = {program_id: _places(self.blob(program_id)) for program_id in several}
            self._places[module] = _locate_functions(places)
        return self._places[module]

    def op_type(self, program_id: int, module: str, instruction: str) -> str:
        """The type of an instruction without an op, "" if unknown: "transpose", "fusion".

        It is the type of the ops in a fusion if they share one, else the opcode.
        """
        program = self.module(program_id, module)
        proto = None if program is None else program.find(instruction)
        if program is None or proto is None:
            return ""
        inner_protos = (
            inner_proto
            for called in program.called_by(proto)
            for inner_proto in called.instructions
        )
        types = {
            parse_provenance(f"{inner_proto.metadata.op_name}:{inner_proto.metadata.op_type}").type
            for inner_proto in inner_protos
            if inner_proto.metadata.op_name
        } - {""}
        return types.pop() if len(types) == 1 else str(proto.opcode)

    def single_ops(self) -> set[str]:
        """The names of programs that consist of a single op.

        JAX compiles such programs for the functions of `jax.numpy`: `jit_multiply`.
        """
        is_single: dict[str, bool] = {}
        sources = self._load()
        for program, name in sources.name.items():
            blob = self.blob(program)
            is_small = len(blob) <= _LARGEST_OF_ONE_OP and is_single.get(name, True)
            is_single[name] = is_small and 0 < _count_work(blob) <= _MOST_OF_ONE_OP
        return {name for name, is_op in is_single.items() if is_op}

    def instruction(self, program_id: int, module: str, instruction: str) -> Instruction | None:
        """The instruction with that name, None if unknown; the program is found as in `op_name`."""
        program = self.module(program_id, module)
        return None if program is None else program.instruction(instruction)

    def fusion(self, program_id: int, module: str, instruction: str) -> Fusion | None:
        """The fusion with that name, None if it is unknown or none; otherwise as `instruction`."""
        program = self.module(program_id, module)
        row = -1 if program is None else program.index.find(instruction)
        return _read_fusion(program, row) if row >= 0 else None

    def module(self, program_id: int, module: str) -> Module | None:
        """The parsed program, None if unknown; it is found as in `op_name`."""
        program = self._find(program_id, module)
        if program < 0:
            return None
        if program not in self._modules:
            self._modules[program] = _module(self.blob(program))
        return self._modules[program]

    def name(self, program_id: int) -> str:
        """The name of the module with that id (the low 64 bits), "" if unknown."""
        return self._load().name.get(program_id & _MASK, "")

    def listed(self) -> list[tuple[int, str]]:
        """The id (unsigned) of each program and the name of its module, in the file's order."""
        return list(self._load().name.items())

    def sources(self) -> dict[str, bytes]:
        """The serialized programs (HloProto) by name and id: "jit_f(7)", as traces have them."""
        return {f"{name}({program})": bytes(self.blob(program)) for program, name in self.listed()}

    def blob(self, program_id: int) -> Blob:
        """The HloProto of a listed program, read from the file."""
        column, row = self._load().proto[program_id]
        return column.view(row) or b""

    def _find(self, program_id: int, module: str) -> int:
        sources = self._load()
        program = program_id & _MASK
        return program if program in sources.proto else sources.by_name.get(module, -1)

    def _load(self) -> _Sources:
        if self._known is None:
            self._known = _read_sources(self.space)
        return self._known


class _Sources(NamedTuple):
    """Programs by id: the location of their protos, their module names; ids by module name."""

    proto: dict[int, tuple[StatColumn, int]]
    name: dict[int, str]
    by_name: dict[str, int]  # -1 for a name that several programs share


def _read_sources(space: Space) -> _Sources:
    sources = _Sources({}, {}, {})
    for plane in metadata_planes(space):
        types = plane.types
        stats = types.stats([names.HLO_PROTO, names.PROGRAM_ID])
        texts = types.full_names
        program_ids = stats[names.PROGRAM_ID].integers(-1).tolist()
        type_ids = types.id.tolist()
        column = stats[names.HLO_PROTO]
        for row in np.flatnonzero((column.kind == TEXT) | (column.kind == BYTES)).tolist():
            program = _program_id(texts[row], program_ids[row], type_ids[row])
            module = _PROGRAM.sub("", texts[row])
            sources.proto[program] = column, row
            sources.name[program] = module
            sources.by_name[module] = -1 if module in sources.by_name else program
    return sources


def _program_id(name: str, stat: int, type_id: int) -> int:
    """The unsigned program id: the stat, else the number that ends the name, else the type's id."""
    if stat != -1:
        return stat & _MASK
    number = _PROGRAM.search(name)
    return int(number[1]) & _MASK if number else type_id & _MASK


def _count_work(blob: Blob) -> int:
    """The number of instructions in a program's entry computation that do any work."""
    module: Module = _parse(blob)
    entry = module.entry()
    rows = () if entry is None else entry.rows
    return sum(module.opcode(row) not in _NO_WORK for row in rows)


def _cached(read: Callable[[Blob], _T]) -> Callable[[Blob], _T]:
    """`read` with a cache for small programs, since the hosts of a job run the same programs.

    The cache keys are copies, so that they keep no file in memory.
    """
    cached = functools.lru_cache(_PROGRAMS_CACHED)(read)
    return lambda blob: cached(bytes(blob)) if len(blob) <= _LARGEST_CACHED else read(blob)


_module: Callable[[Blob], Module] = _cached(_parse)
_places: Callable[[Blob], set[Place]] = _cached(lambda blob: _places_of(_parse(blob)))

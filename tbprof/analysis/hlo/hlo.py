"""The compiled programs of a trace: what each HLO instruction does, and its framework op."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tbprof._pb import message
from tbprof.analysis.hlo.host_channels import HANDLER
from tbprof.analysis.hlo.host_copies import HOST_SPACE
from tbprof.analysis.hlo.program_functions import (
    Place,
    locate_functions,
    places_of,
    with_location,
)
from tbprof.analysis.vocabulary.dtypes import Tensor
from tbprof.analysis.vocabulary.lines import metadata_planes
from tbprof.analysis.vocabulary.op_names import parse_provenance
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.events.space import Space

# Longer numbers cannot be 64-bit ids, and Python refuses to parse very long ones.
_PROGRAM = regex(r"\(([0-9]{1,20})\)\Z")
_MASK = 2**64 - 1
_T = TypeVar("_T")


# Library calls that multiply matrices or convolve.
_PRODUCT_CALL = regex(r"gemm|matmul|conv|fmha|dot", re.IGNORECASE)
_PRODUCTS = ("dot", "convolution", "ragged-dot", "scaled-dot")
_CALLERS = ("fusion", "async-start", "async-update", "async-done", "call")
_TUPLE = 13  # PrimitiveType.TUPLE
# One op compiles to at most two instructions, such as a sum and a division for a mean.
_MOST_OF_ONE_OP = 2
_LARGEST_OF_ONE_OP = 2**16
_NO_WORK = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast")
# What is cached of programs after their file is closed.
_PROGRAMS_CACHED, _LARGEST_CACHED = 128, 2**17
# If more programs than this share a name, their functions are not distinguished.
_MOST_ALIKE = 256


class Instruction(NamedTuple):
    """An HLO instruction: what it computes from which tensors.

    `products` are the operands of the matrix products and convolutions in it or in its fusion.
    `wrapped` is the opcode that an asynchronous start, update or done stands for. `handler` serves
    the host's end of a transfer, and `op` is the framework op, "" if unknown. `is_in_host` says
    that an operand or a result lies in host memory, `fusion_kind` how a fusion is emitted
    ("kLoop").
    """

    opcode: str
    target: str
    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    products: tuple[Tensor, ...]
    wrapped: str
    is_host_transfer: bool
    is_in_host: bool = False
    fusion_kind: str = ""
    handler: str = ""
    op: str = ""


class Programs:
    """The HLO modules of a space, each parsed when one of its instructions is first requested.

    Threads may share an object: its fields are only assigned complete values.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._known: _Sources | None = None
        self._places: dict[str, Mapping[int, str]] = {}
        self._ops: dict[int, Mapping[str, str]] = {}
        self._modules: dict[int, Module] = {}
        # The phases that `tpu_phases` found, by the ids of the texts that describe an op.
        self.phases: dict[tuple[int, ...], int] = {}

    @property
    def space(self) -> Space:
        """The space whose modules these are."""
        return self._space

    def op_name(self, program_id: int, module: str, instruction: str) -> str:
        """The full name (`name:Type` or `name:`) of an instruction's framework op, "" if unknown.

        The program is found by its id (the low 64 bits), or else by the module's name if only one
        program has it. If two functions share a name, the names of their ops include the function's
        source location (`locate_functions`).
        """
        program = self._find(program_id, module)
        if program < 0:
            return ""
        if program not in self._ops:
            place = self._place(program)
            self._ops[program] = {
                name: with_location(op, place) if place else op
                for name, op in _instruction_ops(self._load().proto[program]).items()
            }
        return self._ops[program].get(instruction, "")

    def _place(self, program: int) -> str:
        """The source location of a program's function, "" if no other function has its name."""
        sources = self._load()
        module = sources.name[program]
        if module not in self._places:
            alike = [program_id for program_id, name in sources.name.items() if name == module]
            several = alike[:_MOST_ALIKE] if len(alike) > 1 else []
            places = {program_id: _places(sources.proto[program_id]) for program_id in several}
            self._places[module] = locate_functions(places)
        return self._places[module].get(program, "")

    def op_type(self, program_id: int, module: str, instruction: str) -> str:
        """What an instruction without an op is, "" if unknown: "transpose", "fusion".

        The type of the ops that a fusion was made of, if they share one; else the opcode.
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
        """The names of the programs that each do what one op does.

        JAX compiles such programs for the functions of `jax.numpy`: `jit_multiply`.
        """
        is_single: dict[str, bool] = {}
        sources = self._load()
        for program, blob in sources.proto.items():
            name = sources.name[program]
            is_small = len(blob) <= _LARGEST_OF_ONE_OP and is_single.get(name, True)
            is_single[name] = is_small and 0 < _count_work(blob) <= _MOST_OF_ONE_OP
        return {name for name, is_op in is_single.items() if is_op}

    def instruction(self, program_id: int, module: str, instruction: str) -> Instruction | None:
        """The instruction with that name, None if unknown. Finds the program as `op_name` does."""
        program = self.module(program_id, module)
        return None if program is None else program.instruction(instruction)

    def module(self, program_id: int, module: str) -> "Module | None":
        """The parsed program, None if unknown. Finds it as `op_name` does."""
        program = self._find(program_id, module)
        if program < 0:
            return None
        if program not in self._modules:
            self._modules[program] = _module(self._load().proto[program])
        return self._modules[program]

    def name(self, program_id: int) -> str:
        """The name of the module with that id (the low 64 bits), "" if unknown."""
        return self._load().name.get(program_id & _MASK, "")

    def sources(self) -> dict[str, bytes]:
        """The serialized programs (HloProto) by name and id: "jit_f(7)", as traces have them."""
        sources = self._load()
        return {f"{sources.name[program]}({program})": blob for program, blob in
                sources.proto.items()}  # fmt: skip

    def listed(self) -> list[tuple[int, str]]:
        """The id (unsigned) of each program and the name of its module, in the file's order."""
        return list(self._load().name.items())

    def blob(self, program_id: int) -> bytes:
        """The HloProto of a listed program."""
        return self._load().proto[program_id]

    def _find(self, program_id: int, module: str) -> int:
        sources = self._load()
        program = program_id & _MASK
        return program if program in sources.proto else sources.by_name.get(module, -1)

    def _load(self) -> "_Sources":
        if self._known is None:
            self._known = _read_sources(self._space)
        return self._known


class _Sources(NamedTuple):
    """Programs by id: their protos and the names of their modules; and ids by such names."""

    proto: dict[int, bytes]
    name: dict[int, str]
    by_name: dict[str, int]  # -1 for a name that several programs share


def _read_sources(space: Space) -> _Sources:
    sources = _Sources({}, {}, {})
    for plane in metadata_planes(space):
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
            module = _PROGRAM.sub("", texts[row])
            sources.proto[program] = blob
            sources.name[program] = module
            sources.by_name[module] = -1 if module in sources.by_name else program
    return sources


def _program_id(name: str, stat: int, type_id: int) -> int:
    """The unsigned program id: the stat, else the number that ends the name, else the type's id."""
    if stat != -1:
        return stat & _MASK
    number = _PROGRAM.search(name)
    return int(number[1]) & _MASK if number else type_id & _MASK


def _parse(blob: bytes) -> Any:
    """The parsed program, empty if the proto is damaged: its instructions keep their names."""
    from google.protobuf.message import DecodeError

    proto = message("xla.HloProto")()
    try:
        proto.ParseFromString(blob)
    except DecodeError:
        return message("xla.HloProto")()
    return proto


def _count_work(blob: bytes) -> int:
    """How many instructions of a program's entry computation do anything."""
    module = _parse(blob).hlo_module
    entry = (
        computation
        for computation in module.computations
        if computation.id == module.entry_computation_id
    )
    opcodes = (
        instruction.opcode for computation in entry for instruction in computation.instructions
    )
    return sum(opcode not in _NO_WORK for opcode in opcodes)


def _cached(read: Callable[[bytes], _T]) -> Callable[[bytes], _T]:
    """As `read`, but caches the result for small programs: hosts of one job run the same."""
    cached = functools.lru_cache(_PROGRAMS_CACHED)(read)
    return lambda blob: cached(blob) if len(blob) <= _LARGEST_CACHED else read(blob)


@_cached
def _places(blob: bytes) -> set[Place]:
    return places_of(_parse(blob).hlo_module)


@_cached
def _instruction_ops(blob: bytes) -> Mapping[str, str]:
    proto = _parse(blob)
    return {
        instruction.name: f"{instruction.metadata.op_name}:{instruction.metadata.op_type}"
        for computation in proto.hlo_module.computations
        for instruction in computation.instructions
        if instruction.metadata.op_name
    }


class Module:
    """A parsed program with its instructions by name and id.

    Instructions and computations are messages (HloInstructionProto, HloComputationProto), and so is
    `stack_frames` (StackFrameIndexProto), in which the instructions' ids count from 1.
    """

    def __init__(self, blob: bytes) -> None:
        proto = _parse(blob).hlo_module
        self.name = str(proto.name)
        self._proto = proto
        self._computations = {part.id: part for part in proto.computations}
        self._entry_id = proto.entry_computation_id
        self.stack_frames = proto.stack_frame_index
        self._users: dict[int, Mapping[int, Sequence[Any]]] = {}
        instructions = [
            part for computation in proto.computations for part in computation.instructions
        ]
        self._by_id = {part.id: part for part in instructions}
        self._by_name = {part.name: part for part in instructions}
        self._instructions: dict[str, Instruction] = {}

    def find(self, name: str) -> Any | None:
        """The instruction with that name, None if there is none."""
        return self._by_name.get(name)

    def instructions(self) -> Iterable[Any]:
        """All instructions of all computations, in the order of the file."""
        return self._by_id.values()

    def by_id(self, number: int) -> Any | None:
        """The instruction with that id, None if the file does not hold it."""
        return self._by_id.get(number)

    def computation(self, number: int) -> Any | None:
        """The computation with that id, None if the file does not hold it."""
        return self._computations.get(number)

    def computations(self) -> list[Any]:
        """All computations, in the order of the file: callees before their callers."""
        return list(self._computations.values())

    @property
    def header(self) -> Any:
        """The module without regard to its computations (HloModuleProto)."""
        return self._proto

    def in_order(self, computation: Any) -> Sequence[Any]:
        """The instructions of a computation in the order in which they run.

        If the schedule does not list them all, in the order of the file.
        """
        scheduled = self._proto.schedule.sequences
        if computation.id not in scheduled:
            return list(computation.instructions)
        by_id = {proto.id: proto for proto in computation.instructions}
        order = dict.fromkeys(scheduled[computation.id].instruction_ids)
        is_whole = len(order) == len(by_id) and order.keys() == by_id.keys()
        return [by_id[number] for number in order] if is_whole else list(computation.instructions)

    def operands_of(self, proto: Any) -> list[Any]:
        """The operands of an instruction in order, without those that the file does not hold."""
        operands = (self._by_id.get(number) for number in proto.operand_ids)
        return [operand for operand in operands if operand is not None]

    def called_by(self, proto: Any) -> list[Any]:
        """The computations that an instruction calls."""
        computations = (self._computations.get(number) for number in proto.called_computation_ids)
        return [computation for computation in computations if computation is not None]

    def root_of(self, computation: Any) -> Any | None:
        """The instruction that a computation returns."""
        return self._by_id.get(computation.root_id)

    def entry(self) -> Any | None:
        """The computation that the program begins with, None if the file does not hold it."""
        return self._computations.get(self._entry_id)

    def users_in(self, computation: Any, proto: Any) -> Sequence[Any]:
        """The instructions of a computation that take an instruction, each once."""
        if computation.id not in self._users:
            users: dict[int, list[Any]] = {}
            for user in computation.instructions:
                for number in set(user.operand_ids):
                    users.setdefault(number, []).append(user)
            self._users[computation.id] = users
        return self._users[computation.id].get(proto.id, ())

    def scheduled(self) -> Iterator[Any]:
        """The instructions that run by themselves, that is, outside of fusions."""
        fused = {
            number
            for proto in self._by_id.values()
            if proto.opcode == "fusion"
            for number in proto.called_computation_ids
        }
        for number, computation in self._computations.items():
            if number not in fused:
                yield from computation.instructions

    def instruction(self, name: str) -> Instruction | None:
        """What an instruction computes from which tensors, None if there is none with that name."""
        proto = self._by_name.get(name)
        if proto is None:
            return None
        if name not in self._instructions:
            start = self._start(proto)
            root = self._root(start)
            self._instructions[name] = Instruction(
                proto.opcode,
                proto.custom_call_target,
                self._operands(proto),
                tuple(_tensors(proto.shape)),
                tuple(self._products(start)),
                root.opcode if root is not None and proto.opcode.startswith("async-") else "",
                proto.is_host_transfer,
                any(_is_in_host(part.shape) for part in (proto, *self.operands_of(proto))),
                proto.fusion_kind,
                self._handler(proto),
                proto.metadata.op_name,
            )
        return self._instructions[name]

    def _start(self, proto: Any) -> Any:
        """What an `async-done` or `async-update` waits for; other instructions as they are."""
        for _ in range(64):  # a chain of updates
            if proto.opcode not in ("async-done", "async-update") or not proto.operand_ids:
                break
            proto = self._by_id.get(proto.operand_ids[0], proto)
        return proto

    def _handler(self, proto: Any) -> str:
        """What serves a transfer: the attribute of the instruction or the one that it completes."""
        for part in (proto, *self.operands_of(proto)):
            if HANDLER in part.frontend_attributes.map:
                return str(part.frontend_attributes.map[HANDLER])
        return ""

    def _root(self, proto: Any) -> Any | None:
        """What the first computation that an instruction calls returns."""
        if proto.opcode not in _CALLERS or not proto.called_computation_ids:
            return None
        called = self._computations.get(proto.called_computation_ids[0])
        return None if called is None else self._by_id.get(called.root_id)

    def _operands(self, proto: Any) -> tuple[Tensor, ...]:
        return tuple(
            tensor for operand in self.operands_of(proto) for tensor in _tensors(operand.shape)
        )

    def _products(self, proto: Any) -> Iterator[Tensor]:
        """The operands of the products in an instruction."""
        if proto.opcode in _PRODUCTS or (
            proto.opcode == "custom-call" and _PRODUCT_CALL.search(proto.custom_call_target)
        ):
            yield from self._operands(proto)
        elif proto.opcode in _CALLERS:
            for number in proto.called_computation_ids:
                called = self._computations.get(number)
                for part in called.instructions if called is not None else ():
                    if part.opcode in _PRODUCTS:
                        yield from self._operands(part)


def _is_in_host(shape: Any, depth: int = 0) -> bool:
    """Whether an array of a shape lies in host memory."""
    if shape.element_type == _TUPLE:
        return depth < 16 and any(_is_in_host(part, depth + 1) for part in shape.tuple_shapes)
    return bool(shape.layout.memory_space == HOST_SPACE)


def _tensors(shape: Any, depth: int = 0) -> Iterator[Tensor]:
    """The arrays of a shape, including those in its tuples."""
    if shape.element_type == _TUPLE:
        for part in shape.tuple_shapes if depth < 16 else ():
            yield from _tensors(part, depth + 1)
        return
    elements = 1
    for size in shape.dimensions:
        elements = min(elements * max(size, 0), 2**62)
    words = type(shape).DESCRIPTOR.fields_by_name["element_type"].enum_type.values_by_number
    word = words.get(shape.element_type)
    yield Tensor(word.name.lower() if word is not None else "", elements)


@_cached
def _module(blob: bytes) -> Module:
    return Module(blob)

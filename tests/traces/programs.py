"""Compiled programs made by hand, for tests."""

from typing import Any

from tbprof._pb import message
from tbprof.analysis.hlo.hlo_shapes import Shape, parse_shapes


class Program:
    """An HloProto being filled: instructions by name, in computations by name."""

    def __init__(self) -> None:
        self.proto = message("xla.HloProto")()
        self._computations: dict[str, Any] = {}
        self.named: dict[str, Any] = {}
        self._instructions = 0
        self.proto.hlo_module.entry_computation_id = self.computation("main").id

    def name(self, module: str, program_id: int) -> None:
        """Names the module and gives it an id."""
        self.proto.hlo_module.name = module
        self.proto.hlo_module.id = program_id & (2**63 - 1)

    def computation(self, name: str) -> Any:
        """The computation of that name, made where there is none."""
        if name not in self._computations:
            made = self.proto.hlo_module.computations.add(name=name)
            made.id = len(self._computations) + 1
            self._computations[name] = made
        return self._computations[name]

    def add(
        self,
        name: str,
        opcode: str,
        shape: str,
        *operands: str,
        calls: str = "",
        within: str = "main",
        op: str = "",
    ) -> Any:
        """An instruction, the last one of a computation its root; several shapes are a tuple."""
        place = self.computation(within)
        self._instructions = number = self._instructions + 1
        one = place.instructions.add(name=name, opcode=opcode, id=number)
        place.root_id = number
        arrays = parse_shapes(shape)
        if len(arrays) == 1:
            fill_shape(one.shape, arrays[0])
        else:
            one.shape.element_type = 13
            for array in arrays:
                fill_shape(one.shape.tuple_shapes.add(), array)
        one.operand_ids.extend(self.named[operand].id for operand in operands)
        if calls:
            one.called_computation_ids.append(self.computation(calls).id)
        one.metadata.op_name = op
        self.named[name] = one
        return one

    def bytes(self) -> bytes:
        """The program as a trace holds it."""
        return bytes(self.proto.SerializeToString())


def fill_shape(proto: Any, shape: Shape) -> None:
    """Writes a shape into a ShapeProto."""
    words = type(proto).DESCRIPTOR.fields_by_name["element_type"].enum_type.values_by_name
    proto.element_type = words[shape.dtype.upper()].number
    proto.dimensions.extend(shape.sizes)
    proto.layout.minor_to_major.extend(shape.minor_to_major)
    for tile in shape.tiles:
        proto.layout.tiles.add().dimensions.extend(tile)
    proto.layout.memory_space = shape.space
    proto.layout.element_size_in_bits = shape.width

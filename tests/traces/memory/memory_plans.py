"""Programs made by hand with the memory that a compiler planned for them."""

from collections.abc import Sequence
from typing import Any

from tbprof._pb import message
from traces import draw
from traces.programs import Program

_KINDS = {"+": 0, "-": 1}


class MemoryPlan:
    """An HloProto being filled: a program, its buffers by name, their allocations, and heaps."""

    def __init__(self, program: Program | None = None) -> None:
        self.program = program or Program()
        self._proto = message("xla.HloMemoryProto")()
        self.assigned = self._proto.buffer_assignment
        self._ids: dict[str, int] = {}

    def buffer(self, name: str, size: int, of: str = "", *index: int) -> int:
        """A buffer that instruction `of` defines, by default that of its name; its id."""
        number = 100 + len(self._ids)
        self._ids[name] = number
        one = self.assigned.logical_buffers.add(id=number, size=size)
        instruction = self.program.named.get(of or name)
        if instruction is not None:
            one.defined_at.instruction_id = instruction.id
        else:
            one.defined_at.instruction_name = of or name
        one.defined_at.shape_index.extend(index)
        return number

    def allocate(self, size: int, buffers: str, space: int = 0, **facts: Any) -> Any:
        """An allocation of "a b@512": buffers at offsets, 0 by default. `facts` are fields."""
        index = len(self.assigned.buffer_allocations)
        made = self.assigned.buffer_allocations.add(index=index, size=size, color=space, **facts)
        for word in buffers.split():
            name, _, offset = word.partition("@")
            number = self._ids[name]
            bytes_ = next(b.size for b in self.assigned.logical_buffers if b.id == number)
            made.assigned.add(logical_buffer_id=number, offset=int(offset or 0), size=bytes_)
        return made

    def parameter(self, name: str, size: int, shape: str, number: int = 0, **facts: Any) -> None:
        """A parameter of the program with its buffer and its allocation."""
        self.program.add(name, "parameter", shape)
        self.buffer(name, size)
        self.allocate(
            size, name, is_entry_computation_parameter=True, parameter_number=number, **facts
        )

    def heap(self, events: str, within: str = "main") -> None:
        """A trace of "+a b=a -a -b": allocates a, shares its memory with b, and frees both.

        The events of a buffer happen at the instruction of its name; "-a:b" frees a at b.
        """
        trace = self.assigned.heap_simulator_traces.add(whole_module_simulation=True)
        for word in events.split():
            event, _, at = word.partition(":")
            if "=" in event:
                name, _, shared = event.partition("=")
                trace.events.add(
                    kind=2,
                    buffer_id=self._ids[name],
                    share_with_canonical_id=self._ids[shared],
                    instruction_name=at or name,
                    computation_name=within,
                )
            else:
                name = event[1:]
                trace.events.add(
                    kind=_KINDS[event[0]],
                    buffer_id=self._ids.get(name, 99),
                    instruction_name=at or name,
                    computation_name=within,
                )

    def bytes(self) -> bytes:
        """The program as a trace holds it."""
        return self.program.bytes() + bytes(self._proto.SerializeToString())


def planned_trace(*programs: tuple[str, bytes], ran: Sequence[int] = ()) -> bytes:
    """A trace of a GPU with compiled programs, named as "jit_f(7)"; kernels of the ids `ran`."""
    kernels = [chr(ord("a") + index) for index in range(len(ran))]
    return draw(
        {
            "/device:GPU:0": f"Stream #1 |{''.join(kernels)}z",
            "/host:CPU": "python |z",
        },
        stats={
            letter: {"program_id": number, "hlo_op": "x"}
            for letter, number in zip(kernels, ran, strict=True)
        },
        programs=dict(programs),
    )


def train_step() -> MemoryPlan:
    """A step with a donated parameter, one that could be donated, padding, and a reused buffer.

    Device memory: 2 x 4096 of parameters, of which `w` holds a result, and a result `out` of the
    size of `x`. Its heap reserves 1200 for at most 1024 at once, at `dot`.
    """
    plan = MemoryPlan()
    program = plan.program
    program.name("jit_step", 7)
    plan.parameter("x", 4096, "f32[1024]{0}")
    plan.parameter("w", 4096, "f32[1024]{0}", 1, maybe_live_out=True)
    program.add("norm", "fusion", "f32[100]{0:T(128)}", "x", op="jit(step)/norm/mul")
    program.named["norm"].fusion_kind = "kLoop"
    program.named["norm"].metadata.source_file = "train.py"
    program.named["norm"].metadata.source_line = 12
    program.add("dot", "dot", "f32[128]{0}", "norm", "w", op="jit(step)/dot_general")
    program.add("act", "tanh", "f32[100]{0:T(128)}", "dot")
    program.add("out", "add", "f32[1024]{0}", "act", "norm")
    program.add("root", "tuple", "f32[1024]{0}, f32[1024]{0}", "out", "w")
    for name in ("norm", "dot", "act"):
        plan.buffer(name, 512)
    plan.buffer("out", 4096)
    plan.buffer("root", 16)
    plan.allocate(4096, "out", maybe_live_out=True)
    plan.allocate(16, "root", maybe_live_out=True, is_tuple=True)
    plan.allocate(1200, "norm dot@512 act@512")
    plan.heap("+norm +dot -dot:act act=dot -act:out -norm:out")
    return plan

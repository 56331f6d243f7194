"""The compiled program of a drawn TPU job: its instructions as a trace states them.

Structure: a JAX program on TPU v6e (categories, layouts, stats of event types), and for exchange
over DCN XLA's `_xla_host_transfer_handler_name` with the megascale runtime's attributes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from traces import Unsigned
from traces.programs import Program
from traces.space_writer import StatValue

from jobs.drawn_job import Work
from jobs.tpu.tpu_job import TpuJob

BF16 = "bf16[1024,4096]{1,0:T(8,128)(2,1)}"
F32 = "f32[1024,4096]{1,0:T(8,128)}"
IN_VMEM = "bf16[1024,4096]{1,0:T(8,128)(2,1)S(1)}"
IN_HOST = "f32[1024,4096]{1,0:T(8,128)S(5)}"

# What the convolutions and the elementwise fusions of a step do in all, and a SparseCore's op.
CONVOLUTION_FLOPS = 4_000_000_000_000
ELEMENTWISE_FLOPS = 4_000_000_000
SPARSE_FLOPS = 1_000_000
# What each op that moves data moves.
TENSOR_BYTES = 1_000_000_000

_MEGASCALE = {
    "_xla_host_transfer_handler_name": "xla_megascale_runtime",
    "_xla_host_transfer_rendezvous": "all-reduce.9",
    "_xla_megascale_transfer_type": "ALL_REDUCE",
}
_CALLBACKS = {"jax": "pjrt_rendezvous", "tensorflow": "tf_rendezvous"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """An instruction, the work that it is, and what the trace says of it."""

    name: str
    work: Work
    category: str
    shape: str
    opcode: str
    operands: str
    tail: str = ""
    tf_op: str = ""
    flops: int = 0
    bytes: int = 0
    channel: int = 0
    attributes: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[tuple[int, ...], ...] = ()

    @property
    def title(self) -> str:
        """The name of its events."""
        tail = self.tail
        if self.channel:
            tail = f", channel_id={self.channel}{tail}"
        if self.attributes:
            pairs = ",".join(f'{name}="{value}"' for name, value in self.attributes.items())
            tail += f", is_host_transfer=true, frontend_attributes={{{pairs}}}"
        return f"%{self.name} = {self.shape} {self.opcode}({self.operands}){tail}"

    def stats(self, program_id: int, symbol_id: int) -> dict[str, StatValue]:
        """The stats of its event type."""
        out: dict[str, StatValue] = {
            "hlo_category": self.category,
            "program_id": Unsigned(program_id),
            "symbol_id": Unsigned(symbol_id),
            "flops": self.flops,
            "model_flops": self.flops,
            "bytes_accessed": self.bytes,
            "raw_bytes_accessed": self.bytes,
            "shape_with_layout": self.shape,
        }
        return out | ({"tf_op": self.tf_op} if self.tf_op else {})


def replica_groups(job: TpuJob) -> tuple[tuple[int, ...], ...]:
    """The cores that exchange data with each other, as numbers over all hosts."""
    each = job.hosts * job.cores // job.slices
    return tuple(tuple(range(index * each, (index + 1) * each)) for index in range(job.slices))


def instructions(job: TpuJob) -> dict[str, Instruction]:
    """The instructions of a step, by name."""
    groups = replica_groups(job)
    listed = ",".join("{" + ",".join(map(str, group)) + "}" for group in groups)
    callback = {
        "_xla_host_transfer_handler_name": _CALLBACKS[job.framework],
        "_xla_host_transfer_rendezvous": "host_callback_1",
    }
    loop = f"(s32[]{{:T(128)}}, {BF16})"
    found = [
        Instruction(
            name="infeed.1", work=Work.INPUT, category="infeed",
            shape=f"({BF16}, token[])", opcode="infeed", operands="token[] %token",
        ),
        Instruction(
            name="while.1", work=Work.COMPUTE_OTHER, category="while",
            shape=loop, opcode="while", operands=f"{loop} %tuple.1",
            tail=", condition=%condition, body=%body",
        ),
        *_compute(job.layers),
        Instruction(
            name="copy.1", work=Work.COPY, category="copy", shape=BF16, opcode="copy",
            operands=f"{BF16} %p", bytes=TENSOR_BYTES,
        ),
        *_moves("2", Work.COPY, BF16, IN_VMEM),
        *_moves("3", Work.HOST_COPY, IN_HOST, F32),
        Instruction(
            name="all-reduce.1", work=Work.COLLECTIVE, category="all-reduce",
            shape=F32, opcode="all-reduce", operands=f"{F32} %add_fusion.0", channel=1,
            tail=f", replica_groups={{{listed}}}, use_global_device_ids=true, to_apply=%add",
            tf_op="jit(train_step)/jit(main)/psum:", flops=ELEMENTWISE_FLOPS,
            bytes=TENSOR_BYTES, groups=groups,
        ),
        *_transfer("1", Work.DCN, 7, _MEGASCALE),
        *_transfer("2", Work.CALLBACK, 9, callback),
        Instruction(
            name="outfeed.1", work=Work.OUTPUT, category="outfeed", shape="token[]",
            opcode="outfeed", operands=f"{F32} %loss, token[] %token",
        ),
    ]  # fmt: skip
    return {one.name: one for one in found}


def sparse_instruction() -> Instruction:
    """What a SparseCore does."""
    return Instruction(
        name="sparse_gather.1", work=Work.COMPUTE_OTHER, category="gather", shape=F32,
        opcode="gather", operands=f"{F32} %table, s32[1024]{{0}} %ids",
        tf_op="jit(train_step)/jit(main)/embedding/gather:", flops=SPARSE_FLOPS,
        bytes=TENSOR_BYTES,
    )  # fmt: skip


def _compute(layers: int) -> Iterable[Instruction]:
    """A convolution and an elementwise fusion of each layer, and what a megacore does of it."""
    for layer in range(layers):
        operands = f"{BF16} %p, {BF16} %p"
        scope = f"jit(train_step)/jit(main)/transpose(jvp(layer{layer}))"
        yield Instruction(
            name=f"fusion.{layer}", work=Work.COMPUTE_16, category="convolution fusion",
            shape=BF16, opcode="fusion", operands=operands,
            tail=f", kind=kOutput, calls=%fused_convolution.{layer}",
            tf_op=f"{scope}/dot_general:", flops=CONVOLUTION_FLOPS // layers, bytes=TENSOR_BYTES,
        )  # fmt: skip
        yield Instruction(
            name=f"add_fusion.{layer}", work=Work.COMPUTE_32, category="loop fusion",
            shape=F32, opcode="fusion", operands=f"{F32} %q",
            tail=f", kind=kLoop, calls=%fused_add.{layer}",
            tf_op=f"{scope}/add:", flops=ELEMENTWISE_FLOPS // layers, bytes=TENSOR_BYTES,
        )  # fmt: skip
        yield Instruction(
            name=f"megacore_fusion.{layer}", work=Work.MEGACORE, category="megacore fusion",
            shape=BF16, opcode="fusion", operands=operands,
            tail=f", kind=kCustom, calls=%megacore.{layer}",
        )  # fmt: skip


def _moves(number: str, work: Work, source: str, target: str) -> Iterable[Instruction]:
    """An asynchronous copy: what begins it and what waits for it."""
    both = f"({target}, {source}, u32[]{{:S(2)}})"
    yield Instruction(
        name=f"copy-start.{number}", work=work, category="copy-start", shape=both,
        opcode="copy-start", operands=f"{source} %w", bytes=TENSOR_BYTES,
    )  # fmt: skip
    yield Instruction(
        name=f"copy-done.{number}", work=work, category="copy-done", shape=target,
        opcode="copy-done", operands=f"{both} %copy-start.{number}", bytes=TENSOR_BYTES,
    )  # fmt: skip


def _transfer(
    number: str, work: Work, channel: int, attributes: Mapping[str, str]
) -> Iterable[Instruction]:
    """What a transfer by way of the host consists of, to it and back."""
    buffer = f"({F32}, u32[]{{:S(2)}}, token[])"
    for opcode, shape, operands, at in (
        ("recv", buffer, "token[] %token", channel + 1),
        ("send", buffer, f"{F32} %add_fusion.0, token[] %token", channel),
        ("send-done", "token[]", f"{buffer} %send.{number}", channel),
        ("recv-done", f"({F32}, token[])", f"{buffer} %recv.{number}", channel + 1),
    ):
        yield Instruction(
            name=f"{opcode}.{number}", work=work, category=f"host {opcode}", shape=shape,
            opcode=opcode, operands=operands, channel=at, attributes=attributes,
        )  # fmt: skip


def hlo_proto(module: str, program_id: int, used: Iterable[Instruction]) -> bytes:
    """The program of these instructions, as `/host:metadata` holds it."""
    program = Program()
    program.name(module, program_id)
    program.add("p", "parameter", "bf16[1024,4096]{1,0:T(8,128)(2,1)}")
    program.add("q", "parameter", "f32[1024,4096]{1,0:T(8,128)}")
    program.add("w", "parameter", IN_HOST)
    for one in used:
        _add(program, one)
    return program.bytes()


def _add(program: Program, one: Instruction) -> None:
    """Adds an instruction, with what it is fused of."""
    is_wide = one.work == Work.COMPUTE_32
    operand = "q" if is_wide else "p"
    calls = f"fused.{one.name}" if one.opcode == "fusion" else ""
    if calls:
        dtype, inner = ("f32", "add") if is_wide else ("bf16", "convolution")
        shape = f"{dtype}[1024,4096]{{1,0:T(8,128)}}"
        program.add(f"in.{one.name}", "parameter", shape, within=calls)
        operands = [f"in.{one.name}"] * 2
        program.add(f"out.{one.name}", inner, shape, *operands, within=calls)
    shape = one.shape.replace("token[]", "u32[]")
    fed = () if one.opcode in ("infeed", "recv") else (operand,)
    if one.opcode == "copy-start":
        fed = ("w" if one.work == Work.HOST_COPY else "p",)
    if one.opcode in ("copy-done", "send-done", "recv-done"):
        fed = (one.operands.rpartition("%")[2],)
    added = program.add(
        one.name, one.opcode, shape, *fed, calls=calls, op=one.tf_op.removesuffix(":")
    )
    if calls:
        added.fusion_kind = one.tail.partition("kind=")[2].partition(",")[0]
    added.channel_id = one.channel
    added.is_host_transfer = bool(one.attributes)
    added.frontend_attributes.map.update(one.attributes)
    for group in one.groups:
        added.replica_groups.add(replica_ids=group)
    added.use_global_device_ids = bool(one.groups)

"""The phases of the ops of TPU cores and SparseCores, and the segments in which they ran."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.device_clock import CoreOps, nesting_order
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.host_channels import Peer, is_exchange, peer_of
from tbprof.analysis.hlo.host_copies import ASYNC_PARTS, is_copy, is_host_copy
from tbprof.analysis.hlo.instruction import Instruction
from tbprof.analysis.hlo.precision import hlo_precision
from tbprof.analysis.vocabulary.collectives import is_collective_op
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.events.space import Plane
from tbprof.kernels.analysis.event_nesting import flatten_events

# Categories of HLO ops. Source: xla/tsl/profiler/convert/xla_op_utils.h; xprof, pod viewer.
_INPUT = frozenset(
    {
        "infeed", "sparsecorev0 infeed", "sparsecorev0 infeed wait",
        "sparsecorev0 infeed transform",
    }
)  # fmt: skip
_OUTPUT = frozenset({"outfeed", "sparsecorev0 outfeed"})
_OF_PEER = {
    Peer.SLICES: Phase.COLLECTIVES,
    Peer.CALLBACK: Phase.HOST_CALLBACK,
    Peer.HOST: Phase.HOST_TRANSFER,
}
_ASYNC = frozenset(f"async-{part}" for part in ASYNC_PARTS)
_ASYNC_COLLECTIVES = ("async-collective-start", "async-collective-done")
# The rest of an instruction's text, with its operand types, matters only if it moves data.
_LONGEST = 512
_MEGACORE = "megacore fusion"
# Control flow, whose self time has no element type.
_CONTROL = frozenset(
    {"while", "conditional", "call", "tuple", "get-tuple-element", "after-all", "barrier"}
)
_PRODUCTS = ("convolution", "dot", "output fusion", "matmul", "gemm")
# `%name = result opcode(operands), attributes`.
NAME = regex(r"%?([A-Za-z_][\w.\-]*)")
_OPCODE = regex(r"[\s})\]]([a-z][a-z0-9\-]*)\(")


def op_phase(
    category: str, text: str, label: str, instruction: Instruction | None, op: str = ""
) -> Phase:
    """The phase of an HLO op by its category, else its opcode.

    `text` is the event's name, which contains the instruction; `label` is its short name, `op` the
    name of the framework op. A wait for a collective or a copy has the same phase as that. A copy
    between the core's memory and host memory is a host transfer. An exchange with other slices
    through the host is a collective. The self time of a megacore fusion is one core's wait for the
    other one (xprof, profile_time_breakdown.h), so it counts as a collective, and so does a wait
    for all cores.
    """
    kind = op_kind(category, text, label, instruction)
    if kind in _INPUT:
        return Phase.INPUT
    if kind in _OUTPUT:
        return Phase.OUTPUT
    if is_exchange(kind):
        return _OF_PEER.get(op_peer(kind, text, instruction, op), Phase.DEVICE_TO_DEVICE)
    if kind in (_MEGACORE, names.CORE_BARRIER) or is_collective_op(kind):
        return Phase.COLLECTIVES
    is_host = is_host_copy(
        kind, text, is_in_host=instruction is not None and instruction.is_in_host
    )
    if kind in _ASYNC:
        phase = _async_phase(text, label, instruction)
        return phase if phase == Phase.COLLECTIVES or not is_host else Phase.HOST_TRANSFER
    if is_host:
        return Phase.HOST_TRANSFER
    if is_copy(kind):
        return Phase.DEVICE_TO_DEVICE
    if kind in ("custom-call", "custom fusion", "custom call") and is_collective_op(label):
        return Phase.COLLECTIVES
    if kind in _CONTROL:
        return Phase.COMPUTE_UNKNOWN
    return hlo_precision(instruction, text, is_product=any(map(kind.__contains__, _PRODUCTS)))


def op_kind(category: str, text: str, label: str, instruction: Instruction | None) -> str:
    """The kind of an op: the recorder's category, else the opcode."""
    return category.lower() or (instruction.opcode if instruction else "") or _opcode(text, label)


def op_peer(kind: str, text: str, instruction: Instruction | None, op: str) -> Peer:
    """The peer with which an op of a kind exchanges data through the host."""
    if instruction is None:
        return peer_of(kind, text, "", op)
    names_of_op = f"{op} {instruction.op}"
    is_host = instruction.is_host_transfer
    return peer_of(kind, text, instruction.handler, names_of_op, is_host=is_host)


def _async_phase(text: str, label: str, instruction: Instruction | None) -> Phase:
    """The phase of an asynchronous start or done: that of a collective, else that of a copy."""
    if instruction is not None and instruction.wrapped:
        is_collective = is_collective_op(instruction.wrapped)
    else:
        is_collective = is_collective_op(label) or is_collective_op(text)
        is_collective |= label.startswith(_ASYNC_COLLECTIVES)
    return Phase.COLLECTIVES if is_collective else Phase.DEVICE_TO_DEVICE


def _opcode(text: str, label: str) -> str:
    """The opcode in an instruction's text, else the short name without its number."""
    _, equals, definition = text.partition(" = ")
    match = _OPCODE.search(definition) if equals else None
    return match[1] if match else (label or text).lstrip("%").partition(".")[0]


def innermost_ops(
    first_event: NDArray[np.int64], start: NDArray[np.int64], duration: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(start, end, row) of disjoint segments: the innermost event at each instant of a line.

    Events are ordered by (line, start, longest first). If events overlap partly, the later one
    counts.

        |aaaaaaaa|     ->   a 0-2, b 2-4, a 4-6, c 6-8
        |..bb..cc|
    """
    out_start, out_end, row = (np.empty(2 * start.size, np.int64) for _ in range(3))
    stack = np.empty(int(np.diff(first_event).max(initial=0)), np.int64)
    rows = flatten_events(first_event, start, duration, out_start, out_end, row, stack)
    return out_start[:rows], out_end[:rows], row[:rows]


def find_op_segments(
    ops: CoreOps,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(start, duration, row) of the segments in which each op of a core was the innermost.

    They are by the device's own clock, which is exact.
    """
    first, begin, duration = ops.events.first_event, ops.begin, ops.end - ops.begin
    order = nesting_order(first, begin, duration)
    start, end, op = innermost_ops(first, begin[order], duration[order])
    return start, end - start, order[op]


def tpu_phases(
    plane: Plane, programs: Programs, types: NDArray[np.int64], *, is_precise: bool = True
) -> NDArray[np.int8]:
    """[n] the phase of each of the kinds of op `types`, rows of the plane's types.

    Unless `is_precise`, computation may have any precision, and programs are read only for ops that
    send, receive or copy.
    """
    stat_names = [names.HLO_CATEGORY, names.PROGRAM_ID, names.TF_OP, "shape_with_layout"]
    stats = plane.types.stats(stat_names)
    columns: list[NDArray[Any]] = [
        plane.types.name,
        plane.types.display_name,
        *(stats[name].texts() for name in (names.HLO_CATEGORY, "shape_with_layout", names.TF_OP)),
        stats[names.PROGRAM_ID].integers(-1),
    ]
    strings, known_phases = plane.strings, programs.phases
    out = np.full(types.size, Phase.COMPUTE_UNKNOWN, np.int8)
    is_typed = types >= 0
    rows = np.stack([column[types[is_typed]].astype(np.int64) for column in columns], axis=1)
    phases: list[int] = []
    for *texts, program in rows.tolist():
        key = (is_precise, program, *texts)
        phase = known_phases.get(key)  # cores of a host run the same programs
        if phase is None:
            phase = known_phases[key] = _phase(
                programs, program, *map(strings.__getitem__, texts), is_precise=is_precise
            )
        phases.append(phase)
    out[is_typed] = phases
    return out


def _phase(
    programs: Programs,
    program: int,
    text: str,
    label: str,
    category: str,
    shape: str,
    op: str,
    *,
    is_precise: bool,
) -> Phase:
    match = NAME.match(text)
    name = match[1] if match else label
    if " = " not in text:
        text = f"{text} = {shape}"
    kind = op_kind(category, text, label or name, None)
    instruction = None
    if is_precise or is_exchange(kind) or is_copy(kind) or kind in _ASYNC:
        instruction = programs.instruction(program, "", name)
    else:
        text = text[:_LONGEST]
    return op_phase(category, text, label or name, instruction, op)

"""The facts about an instruction in the node of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from tbprof.analysis.costs.program_costs import ProgramCosts
from tbprof.analysis.graphs.program_links import ProgramLinks
from tbprof.analysis.hlo.hlo_roles import opcodes_of
from tbprof.analysis.hlo_text.hlo_attributes import own_attributes
from tbprof.analysis.hlo_text.hlo_literals import literal_text
from tbprof.analysis.hlo_text.hlo_quoting import one_line
from tbprof.analysis.hlo_text.hlo_shape_text import shape_text
from tbprof.analysis.programs.instruction_facts import category_of, place_of
from tbprof.analysis.programs.program_ops import UNKNOWN, ProgramOps
from tbprof.base.records import NamedTuple
from tbprof.base.texts import cut

_MOST_SHAPE, _MOST_ATTRIBUTE, _MOST_ATTRIBUTES, _MOST_INSIDE = 160, 120, 3, 4
_MOST_ELEMENTS = 8
# Groups of opcodes. Source: XLA, HloDotDumper's GetInstructionColor.
_GROUPS: Mapping[str, Sequence[str]] = {
    "async": ("async-", "copy-start", "copy-done"),
    "collective": (
        "all-", "collective-", "reduce-scatter", "ragged-all", "send", "recv", "infeed", "outfeed",
        "partition-id", "replica-id",
    ),
    "product": ("dot", "convolution", "ragged-dot", "scaled-dot", "fft", "triangular-solve",
                "cholesky"),
    "call": ("call", "conditional", "custom-call", "while"),
    "fusion": ("fusion", "map", "domain"),
    "parameter": ("parameter", "constant"),
    "reduction": ("reduce", "scatter", "select-and-scatter", "gather", "batch-norm", "sort",
                  "topk"),
    "movement": (
        "copy", "concatenate", "slice", "dynamic-slice", "reshape", "dynamic-reshape", "reverse",
        "transpose", "bitcast", "tuple", "get-tuple-element", "pad", "broadcast",
        "dynamic-update-slice",
    ),
}  # fmt: skip


class NodeTimes(NamedTuple):
    """The executions of an instruction, their total and self times, and their work.

    `flops` and `bytes` are those of all executions, -1 if unknown.
    """

    occurrences: int
    total_ps: int
    self_ps: int
    flops: int
    bytes: int


def group_of(opcode: str) -> str:
    """The group of an opcode, by which nodes are colored; "elementwise" for others."""
    for group, opcodes in _GROUPS.items():
        for known in opcodes:
            if opcode == known or (known.endswith("-") and opcode.startswith(known)):
                return group
            if known in ("reduce", "batch-norm", "send", "recv") and opcode.startswith(f"{known}-"):
                return group
    return "elementwise"


def times_of(ops: ProgramOps, program_id: str) -> dict[str, NodeTimes]:
    """The times of a program's instructions on a host by name, summed over types of cores."""
    times: dict[str, NodeTimes] = {}
    for row, (program, name) in enumerate(zip(ops.program_id, ops.name, strict=True)):
        if program != program_id:
            continue
        own_times = NodeTimes(
            int(ops.occurrences[row]), int(ops.total_ps[row]), int(ops.self_ps[row]),
            int(ops.flops[row]), int(ops.bytes_accessed[row]),
        )  # fmt: skip
        other = times.get(name)
        times[name] = own_times if other is None else _add(own_times, other)
    return times


def _add(times: NodeTimes, other: NodeTimes) -> NodeTimes:
    pairs = zip(times, other, strict=True)
    return NodeTimes(*(UNKNOWN if UNKNOWN in pair else sum(pair) for pair in pairs))


class NodeReader:
    """Reads facts and costs of a program's instructions on request."""

    def __init__(self, links: ProgramLinks, times: Mapping[str, NodeTimes]) -> None:
        self._links = links
        self._times = times
        self._costs = ProgramCosts(links.module)

    def facts(self, row: int) -> dict[str, object]:
        """The facts of an instruction as JSON; unknown ones are None.

        `flops` and `bytes` are of one execution: recorded, else computed from the shapes. Times are
        of all executions in the trace, None if there were none.
        """
        links = self._links
        proto = links.module.message(row)
        source, _ = place_of(links.module, proto.metadata)
        times = self._times.get(proto.name)
        flops, bytes_ = self._work(proto, times)
        return {
            "name": one_line(proto.name),
            "opcode": one_line(proto.opcode),
            "shape": cut(shape_text(proto.shape), _MOST_SHAPE),
            "category": category_of(proto.opcode, proto.fusion_kind),
            "group": group_of(proto.opcode),
            "details": self._details(row, proto),
            "op_name": proto.metadata.op_name,
            "source": source,
            "flops": flops,
            "bytes": bytes_,
            "occurrences": times.occurrences if times else None,
            "total_ps": times.total_ps if times else None,
            "self_ps": times.self_ps if times else None,
        }

    def constant(self, row: int) -> str:
        """The value of a constant, or its shape if it has many elements."""
        proto = self._links.module.message(row)
        text = literal_text(proto.literal, proto.shape, _MOST_ELEMENTS) if proto.literal else ""
        shape = cut(shape_text(proto.shape, has_layout=False), _MOST_SHAPE)
        return f"{text} ({shape})" if text and text != "{...}" else shape

    def _work(self, proto: Any, times: NodeTimes | None) -> tuple[float | None, float | None]:
        """(operations, bytes) of one execution."""
        computed = self._costs.of(proto.name)
        is_known = computed is not None and computed.is_known
        flops: float | None = computed.all_flops if computed is not None and is_known else None
        bytes_: float | None = computed.bytes if computed is not None and is_known else None
        if times is not None and times.occurrences > 0:
            flops = times.flops / times.occurrences if times.flops != UNKNOWN else flops
            bytes_ = times.bytes / times.occurrences if times.bytes != UNKNOWN else bytes_
        return flops, bytes_

    def _details(self, row: int, proto: Any) -> list[str]:
        """The most important attributes, and the opcodes inside a fusion."""
        links = self._links
        if proto.opcode == "parameter":
            return [f"parameter {proto.parameter_number}"]
        operands = [links.module.message(operand) for operand in links.module.operand_rows(row)]
        attributes = islice(own_attributes(proto, operands), _MOST_ATTRIBUTES)
        details = [cut(text, _MOST_ATTRIBUTE) for text in attributes]
        if proto.opcode == "fusion":
            inside = sorted(opcodes_of(links.module, row))
            more = f" +{len(inside) - _MOST_INSIDE} more" if len(inside) > _MOST_INSIDE else ""
            details.append(", ".join(map(one_line, inside[:_MOST_INSIDE])) + more)
        elif links.module.called_rows(row):
            names = [one_line(links.part(part).name) for part in links.module.called_rows(row)]
            details.append(cut(f"calls {', '.join(names)}", _MOST_ATTRIBUTE))
        return [detail for detail in details if detail]

"""The tree of op_profile as scripts know it: programs, categories, groups of equal ops, ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.programs.program_ops import SPARSE_CORE, ProgramOps
from tbprof.base.records import NamedTuple
from tbprof.base.texts import whole_number
from tbprof.tools.programs.op_texts import expressions, scopes

Node = dict[str, Any]
# As xprof: below the levels that group ops, a node has at most so many children.
_MOST_CHILDREN = 100
_GROUP_LEVELS = {"program": 2, "category": 1, "provenance": 1 << 30}
GROUPINGS = tuple(_GROUP_LEVELS)
IDLE = "IDLE"
NO_PROGRAM = "not in a program"
_OPENING, _CLOSING = "([{", ")]}"


def profile_tree(ops: ProgramOps, peaks: Peaks, group_by: str, *, has_idle: bool) -> Node:
    """The root: `by_program`, `by_category` or `by_provenance`.

    Its children add up to it in self time, and so do those of programs and of parts of a scope.
    Deeper nodes state total times, as ops that contain others do. Shares of peaks are 0 where they
    are not known, since scripts expect numbers; `uncostedPs` says of how much time.
    """
    return _Tree(ops, peaks, group_by, has_idle=has_idle).root()


def program_label(program_id: str, program: str, core: str) -> str:
    """How a program is called: "jit_f(7)"; on SparseCores it is another one."""
    if not program_id and not program:
        name = NO_PROGRAM
    else:
        name = f"{program or 'main'}({program_id})" if program_id else program
    return f"{name} on SparseCores" if core == SPARSE_CORE else name


def scope_parts(scope: str) -> list[str]:
    """The parts of a scope: "jit(f)/jvp(a/b)/dot:" is jit(f), jvp(a/b), dot."""
    parts, depth, begin = [], 0, 0
    for position, letter in enumerate(scope):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth = max(depth - 1, 0)
        elif letter == "/" and not depth:
            parts.append(scope[begin:position])
            begin = position + 1
    last = scope[begin:]
    parts.append(last.rpartition(":")[0] if ":" in last else last)
    return [part for part in parts if part]


class _Sums(NamedTuple):
    """What a node states, summed over its rows."""

    self_ps: int
    total_ps: int
    span_ps: int
    flops: int
    model_flops: int
    moved: list[int]
    occurrences: int
    uncosted_ps: int


class _Tree:
    def __init__(self, ops: ProgramOps, peaks: Peaks, group_by: str, *, has_idle: bool) -> None:
        self._ops = ops
        self._group_by = group_by
        self._peaks = peaks
        self._has_idle = has_idle
        read = (ops.cmem_read_bytes, ops.vmem_read_bytes)
        written = (ops.cmem_written_bytes, ops.vmem_written_bytes)
        known = [np.maximum(column, 0) for column in (ops.hbm_bytes, *read, *written)]
        self._moved = (known[0], known[1] + known[2], known[3] + known[4])
        self._flops = np.maximum(ops.flops, 0)
        self._model_flops = np.maximum(ops.model_flops, 0)
        self._uncosted = np.where(ops.flops < 0, ops.self_ps, 0)
        self._expressions = expressions(ops)
        self._scopes = scopes(ops)
        self._own_ps = ops.self_ps.tolist()
        self._took_ps = ops.total_ps.tolist()
        self._op_ps = sum(self._own_ps)
        idle = ops.idle_ps + ops.sparse_core_idle_ps
        self._whole_ps = self._op_ps + (idle if has_idle else 0)

    def root(self) -> Node:
        rows = list(range(len(self._ops.name)))
        children = self._levels(rows, 0)
        idle_ps = self._whole_ps - self._op_ps
        if self._has_idle and rows:
            children.append(self._leaf(IDLE, idle_ps))
        sums = self._sums(rows, is_outer=True)
        metrics = self._metrics(sums, self._whole_ps, normal_ps=self._op_ps)
        metrics["occurrences"] = metrics["avgTimePs"] = 0
        return self._node(f"by_{self._group_by}", metrics, children, None, 0)

    def _levels(self, rows: list[int], level: int) -> list[Node]:
        """The children of the root."""
        if self._group_by == "category":
            return self._categories(rows, level + 1)
        label = self._program_label
        if self._group_by == "program":
            return [
                self._outer(name, of_name, self._categories(of_name, level + 2), level + 1)
                for name, of_name in _grouped(rows, label)
            ]
        return [
            self._outer(name, of_name, self._scoped(of_name, 0, level + 1), level + 1)
            for name, of_name in _grouped(rows, label)
        ]

    def _program_label(self, row: int) -> str:
        ops = self._ops
        return program_label(ops.program_id[row], ops.program[row], ops.core[row])

    def _scoped(self, rows: list[int], depth: int, level: int) -> list[Node]:
        """The next parts of scopes; ops whose scope has no more of them are grouped."""
        parts = {row: scope_parts(self._ops.scope[row]) for row in rows}
        ended = [row for row in rows if len(parts[row]) <= depth]
        deeper = [row for row in rows if len(parts[row]) > depth]
        nodes = self._categories(ended, level + 1) if ended else []
        for name, of_name in _grouped(deeper, lambda row: parts[row][depth]):
            inner = self._scoped(of_name, depth + 1, level + 1)
            nodes.append(self._outer(name, of_name, inner, level + 1))
        return nodes

    def _categories(self, rows: list[int], level: int) -> list[Node]:
        return [
            self._inner(name, of_name, self._groups(of_name, level + 1), level)
            for name, of_name in _grouped(rows, self._ops.category.__getitem__)
        ]

    def _groups(self, rows: list[int], level: int) -> list[Node]:
        """Ops that the compiler knows to be alike are one node, if there are several."""
        ops = self._ops
        nodes = []
        for _, of_name in _grouped(rows, lambda row: ops.deduplicated_name[row] or ops.name[row]):
            ranked = sorted(of_name, key=lambda row: -self._took_ps[row])
            if len(ranked) == 1:
                nodes.append(self._op(ranked[0]))
                continue
            first = ranked[0]
            name = f"{ops.name[first]} and its duplicate(s)"
            children = [self._op(row) for row in ranked]
            xla = self._xla(first)
            if ops.opcode[first] == "fusion":
                xla["provenance"] = ""
            nodes.append(self._inner(name, of_name, children, level, xla))
        return nodes

    def _op(self, row: int) -> Node:
        sums = self._sums([row])
        metrics = self._metrics(sums, sums.total_ps, span_ps=sums.span_ps)
        return self._node(self._ops.name[row], metrics, [], self._xla(row), 0)

    def _inner(
        self, name: str, rows: list[int], children: list[Node], level: int, xla: Node | None = None
    ) -> Node:
        sums = self._sums(rows)
        metrics = self._metrics(sums, sums.total_ps, span_ps=sums.span_ps)
        return self._node(name, metrics, children, xla, level)

    def _outer(self, name: str, rows: list[int], children: list[Node], level: int) -> Node:
        sums = self._sums(rows, is_outer=True)
        metrics = self._metrics(sums, sums.self_ps)
        metrics["occurrences"] = metrics["avgTimePs"] = 0
        return self._node(name, metrics, children, None, level)

    def _sums(self, rows: list[int], *, is_outer: bool = False) -> _Sums:
        """`is_outer`: the work of rows that contain others is that of these, and counts once."""
        ops, row = self._ops, np.array(rows, np.int64)
        working = row[~ops.has_inner[row]] if is_outer else row
        moved = [_total(column[working]) for column in self._moved]
        return _Sums(
            _total(ops.self_ps[row]), _total(ops.total_ps[row]), _total(ops.span_ps[row]),
            _total(self._flops[working]),
            _total(self._model_flops[working]), moved, _total(ops.occurrences[row]),
            _total(self._uncosted[row]),
        )  # fmt: skip

    def _metrics(
        self, sums: _Sums, raw_ps: int, *, span_ps: int | None = None, normal_ps: int | None = None
    ) -> Node:
        """`raw_ps` is the time that is stated, `span_ps` that over which bytes are moved."""
        moving_ps = raw_ps if span_ps is None else span_ps
        gflops = self._peaks.most_gflops
        memories = (
            self._peaks.hbm_gbytes, self._on_chip("read"), self._on_chip("write"),
        )  # fmt: skip
        rate = _share(sums.flops, raw_ps, gflops)
        part = raw_ps / self._whole_ps if self._whole_ps else 0.0
        shares = [
            min(_share(count, moving_ps, peak), 1.0)
            for count, peak in zip(sums.moved, memories, strict=True)
        ]
        return {
            "flops": min(rate, 1.0) * part,
            "uncappedFlops": rate * part,
            "bandwidthUtils": shares,
            "rawTime": raw_ps,
            "rawFlops": sums.model_flops,
            "bf16Flops": sums.flops,
            "rawBytesAccessedArray": sums.moved,
            "occurrences": sums.occurrences,
            "avgTimePs": raw_ps / sums.occurrences if sums.occurrences else 0,
            "normalizedTimePs": raw_ps if normal_ps is None else normal_ps,
            "uncostedPs": sums.uncosted_ps,
        }

    def _on_chip(self, way: str) -> float:
        peak = self._peaks.memory_peak(f"CMEM {way}")
        return peak if peak > 0 else self._peaks.memory_peak(f"VMEM {way}")

    def _leaf(self, name: str, took_ps: int) -> Node:
        nothing = _Sums(took_ps, took_ps, took_ps, 0, 0, [0, 0, 0], 0, 0)
        xla = _xla(category=name)
        return self._node(name, self._metrics(nothing, took_ps, normal_ps=0), [], xla, 0)

    def _xla(self, row: int) -> Node:
        ops = self._ops
        stack = int(ops.stack[row])
        return _xla(
            self._expressions[row], self._scopes[row], ops.category[row],
            ops.program_id[row] or "0", ops.source[row], ops.stacks[stack] if stack >= 0 else "",
        )  # fmt: skip

    def _node(
        self, name: str, metrics: Node, children: list[Node], xla: Node | None, level: int
    ) -> Node:
        kept = sorted(children, key=_raw_time, reverse=True)
        if level > _GROUP_LEVELS[self._group_by] - 1:
            kept = kept[:_MOST_CHILDREN]
        node: Node = {"name": name, "metrics": metrics}
        if xla is not None:
            node["xla"] = xla
        return {**node, "children": kept, "numChildren": len(children)}


def _raw_time(node: Node) -> int:
    time: int = node["metrics"]["rawTime"]
    return time


def _xla(
    expression: str = "",
    provenance: str = "",
    category: str = "",
    program_id: str = "0",
    source: str = "",
    stack: str = "",
) -> Node:
    file, _, line = source.rpartition(":")
    number = whole_number(line, 9)
    place = {
        "fileName": source if number is None else file,
        "lineNumber": number or 0,
        "stackFrame": stack,
    }
    return {
        "op": "", "expression": expression, "provenance": provenance, "category": category,
        "computationPrimitiveSize": 0, "fingerprint": "0", "programId": program_id,
        "sourceInfo": place, "xprofKernelMetadata": "",
    }  # fmt: skip


def _total(values: NDArray[np.int64]) -> int:
    """An exact sum: those of many hosts may exceed 64 bits."""
    return sum(values.tolist())


def _share(count: int, ps: int, peak: float) -> float:
    """The part of a peak of 10^9 per second that `count` in `ps` are, 0 where it is not known."""
    return count * 1e3 / (ps * peak) if ps > 0 and peak > 0 else 0.0


def _grouped(rows: Iterable[int], name_of: Callable[[int], str]) -> Sequence[tuple[str, list[int]]]:
    """Rows by name, in the order in which names first appear."""
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(name_of(row), []).append(row)
    return list(groups.items())

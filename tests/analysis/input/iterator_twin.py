"""The graphs of input pipelines in plain Python, call by call: the slow twin of `tf_data`."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

WAITING = {"Prefetch", "ParallelMapV2", "MapAndBatch"}


class Event(NamedTuple):
    """One event of a host; times in ps. A stat that an event lacks is None."""

    line: int
    start: int
    duration: int
    name: str
    id: Any = None
    parent_id: int | None = None
    element: int | None = None

    @property
    def end(self) -> int:
        return self.start + self.duration

    def holds(self, later: "Event") -> bool:
        return self.line == later.line and self.end >= later.end

    @property
    def stage(self) -> str:
        return re.sub(r"\[\d+\]", "", self.name)

    @property
    def is_call(self) -> bool:
        return self.name.startswith("Iterator::")

    @property
    def is_turn(self) -> bool:
        return self.name.endswith("Produce")

    @property
    def is_function(self) -> bool:
        return self.name.startswith("InstantiatedCapturedFunction::")

    @property
    def is_execution(self) -> bool:
        return self.name == "ExecutorState::Process"

    @property
    def is_root(self) -> bool:
        return self.name.count("::") == 1

    @property
    def is_device(self) -> bool:
        return set(self.stage.split("::")[1:]) <= {"Root", "Prefetch", "Generator"} and (
            self.stage.endswith("Generator")
        )

    @property
    def is_waiting(self) -> bool:
        return self.stage.rpartition("::")[2] in WAITING or self.is_device


@dataclass
class Node:
    """What one iterator did in one call."""

    parent: int | None
    stage: str
    start: int
    total: int = 0
    own: int = 0
    calls: int = 0
    is_critical: bool = False
    work: int = -1


@dataclass
class Call:
    """One call of a pipeline: its nodes by iterator, in the order of first visits."""

    root: int
    start: int
    duration: int
    nodes: dict[int, Node] = field(default_factory=dict)

    @property
    def bottleneck(self) -> int | None:
        """The first iterator of the critical stage with the largest self time."""
        own: dict[str, int] = defaultdict(int)
        first: dict[str, tuple[int, int]] = {}
        for at, (id_, node) in enumerate(self.nodes.items()):
            if node.is_critical:
                own[node.stage] += node.own
                first.setdefault(node.stage, (-at, id_))
        stages = [(own[one], *first[one]) for one in own if own[one] > 0]
        return max(stages)[2] if stages else None

    def share_critical(self) -> None:
        """A stage of which one copy is awaited is critical with all of them."""
        awaited = {node.stage for node in self.nodes.values() if node.is_critical}
        for node in self.nodes.values():
            node.is_critical = node.stage in awaited


def find_calls(events: Sequence[Event]) -> dict[int, list[Call]]:
    """The calls of each pipeline by its outermost iterator, longest first."""
    return _Twin(events).calls()


class _Twin:
    def __init__(self, events: Sequence[Event]) -> None:
        self.rows = sorted(events, key=lambda one: (one.line, one.start, -one.duration))
        rows = self.rows
        self.parent = [
            max((index for index in range(row) if rows[index].holds(rows[row])), default=-1)
            for row in range(len(rows))
        ]
        self.first: dict[int, Event] = {}
        for row in sorted((one for one in rows if one.is_call), key=lambda one: one.start):
            self.first.setdefault(row.id, row)
        self.runs = [self._run_of(row) for row in rows]
        self.served = [0] * len(rows)
        self._serve()
        self.fed: set[int] = set()
        self.above = self._above()
        self._adopt()
        self._cut(self.above)

    def _around(self, row: int, *claims: str) -> int:
        at = self.parent[row]
        while at >= 0 and not any(getattr(self.rows[at], claim) for claim in claims):
            at = self.parent[at]
        return at

    def _run_of(self, row: Event) -> int:
        if not row.is_execution:
            return -1
        return next(
            (at for at, one in enumerate(self.rows) if one.is_function and one.id == row.id), -1
        )

    def _serve(self) -> None:
        rows, served = self.rows, self.served
        for at, row in enumerate(rows):
            above = self._around(at, "is_call", "is_turn")
            if row.is_call and above >= 0 and rows[above].is_turn and row.parent_id:
                served[above] = served[above] or row.parent_id
        for at, row in enumerate(rows):
            above = self._around(at, "is_call", "is_turn")
            if row.name.endswith("RunAsync") and above >= 0:
                served[at] = rows[above].id if rows[above].is_call else served[above]
        for at in range(len(rows)):
            if self.runs[at] >= 0:
                served[at] = served[self.runs[at]]

    def _above(self) -> list[int]:
        rows = self.rows
        up = [run if run >= 0 else above for run, above in zip(self.runs, self.parent, strict=True)]
        for at, row in enumerate(rows):
            if row.is_turn and self.served[at] and row.element is not None:
                takers = [
                    (taken.end, place)
                    for place, taken in enumerate(rows)
                    if taken.name.endswith("Consume") and taken.element == row.element
                    and row.element >= 0 and taken.end >= row.start
                    and (above := self._around(place, "is_call")) >= 0
                    and rows[above].id == self.served[at]
                ]  # fmt: skip
                if takers:
                    up[at] = self._around(min(takers)[1], "is_call")
                    self.fed.add(up[at])
        self._cut(up)
        around = []
        for at in range(len(rows)):
            to = up[at]
            while to >= 0 and not rows[to].is_call:
                to = up[to]
            around.append(to)
        return around

    @staticmethod
    def _cut(up: list[int]) -> None:
        done: set[int] = set()
        for row in range(len(up)):
            path, at = set(), row
            while at >= 0 and at not in done and at not in path:
                path.add(at)
                if up[at] in path:
                    up[at] = -1
                at = up[at]
            done |= path

    def _up_the_iterators(self, id_: int) -> Iterator[Event]:
        seen = {id_}
        at = self.first[id_].parent_id
        while at and at in self.first and at not in seen:
            seen.add(at)
            yield self.first[at]
            at = self.first[at].parent_id

    def _adopt(self) -> None:
        rows = self.rows
        for at, row in enumerate(rows):
            loose = row.is_call and self.above[at] < 0 and self._around(at, "is_turn") < 0
            if not loose or self.first[row.id].is_root:
                continue
            for upper in self._up_the_iterators(row.id):
                ends = [
                    (one.end, place) for place, one in enumerate(rows)
                    if one.is_call and one.id == upper.id and one.end >= row.end
                ]  # fmt: skip
                if upper.is_waiting and ends:
                    place = min(ends)[1]
                    if rows[place].start < row.end and rows[place].line != row.line:
                        if place not in self.fed:
                            self.above[at] = place
                        break

    def calls(self) -> dict[int, list[Call]]:
        rows, above = self.rows, self.above
        tops = {}
        for id_ in self.first:
            chain = [id_, *(iterator.id for iterator in self._up_the_iterators(id_))]
            tops[id_] = chain[-1]
        for at, row in enumerate(rows):
            if row.is_call and above[at] >= 0:
                asker = self.first[rows[above[at]].id]
                if self.first[row.id].is_root and asker.is_device:
                    above[at] = -1
        inner = {row.id for at, row in enumerate(rows) if row.is_call and above[at] >= 0}
        names = {one.stage for one in self.first.values()}
        partial = {
            top
            for top in tops.values()
            if not self.first[top].is_root
            and (self.first[top].stage.rpartition("::")[0] not in names
                 or self.first[top].parent_id in self.first)
        }  # fmt: skip
        self.children = defaultdict(list)
        for at in range(len(rows)):
            if rows[at].is_call and above[at] >= 0:
                self.children[above[at]].append(at)
        found = defaultdict(list)
        for at, row in enumerate(rows):
            if row.is_call and above[at] < 0:
                is_root = self.first[row.id].is_root and row.id not in inner
                if is_root or row.id in partial:
                    found[row.id].append(self._call(at))
        for calls in found.values():
            calls.sort(key=lambda one: (-one.duration, one.start))
        return dict(found)

    def _call(self, at: int) -> Call:
        row = self.rows[at]
        call = Call(row.id, row.start, row.duration)
        self._visit(call, at, None, (), is_blocking=True)
        call.share_critical()
        for id_, node in call.nodes.items():
            node.work = self._work(id_, row.start, row.end)
        return call

    def _visit(
        self, call: Call, at: int, parent: int | None, path: tuple[int, ...], *, is_blocking: bool
    ) -> None:
        row = self.rows[at]
        stage = self.first[row.id].stage
        node = call.nodes.setdefault(row.id, Node(parent, stage, row.start))
        node.start = min(node.start, row.start)
        node.total += row.duration
        node.calls += 1
        node.is_critical |= is_blocking
        path = (*path, row.id)
        covered: set[int] = set()
        for below in sorted(self.children[at], key=lambda one: (self.rows[one].start, one)):
            child = self.rows[below]
            if child.id in path:
                continue
            overlap = range(max(row.start, child.start), min(row.end, child.end))
            covered.update(overlap)
            is_awaited = is_blocking and len(overlap) > 0
            self._visit(call, below, row.id, path, is_blocking=is_awaited)
        node.own += row.duration - len(covered)

    def _work(self, id_: int, begin: int, end: int) -> int:
        rows = self.rows
        work = [
            at for at, row in enumerate(rows)
            if (row.is_turn or row.is_execution) and self.served[at]
        ]  # fmt: skip
        if not any(self.served[at] == id_ for at in work):
            return -1
        total = 0
        for at, row in enumerate(rows):
            inside = max(0, min(row.end, end) - max(row.start, begin))
            above = self.parent[at]
            while above >= 0 and above not in work and not rows[above].is_call:
                above = self.parent[above]
            is_own = above >= 0 and rows[above].is_call and rows[above].id == id_
            if at in work and self.served[at] == id_ and not is_own:
                total += inside
            if (at in work or row.is_call) and above in work and self.served[above] == id_:
                total -= inside
        return max(total, 0)

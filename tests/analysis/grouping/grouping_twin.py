"""Grouping over again, event by event: slow, plain, and after the description of each rule."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from traces import COLUMN_PS as US
from traces.space_writer import SpaceWriter

CAPTURED = "InstantiatedCapturedFunction::Run"
EXECUTOR = "ExecutorState::Process"
NEXT = "IteratorGetNextOp::DoCompute"
RECORD = "ThreadpoolListener::Record"
START = "ThreadpoolListener::StartRegion"
STOP = "ThreadpoolListener::StopRegion"
EXECUTIONS = ("FunctionRun", "SessionRun", "RunGraph")
POOL = 15


@dataclass(frozen=True)
class Event:
    """What a file says of an event; times in µs."""

    name: str
    start: int
    duration: int
    stats: Mapping[str, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.start + self.duration


# One plane: events by line.
Plane = Sequence[Sequence[Event]]


def space_bytes(planes: Sequence[Plane], processes: Sequence[int | None]) -> bytes:
    """A serialized XSpace; planes after the first are those of subprocesses."""
    space = SpaceWriter()
    for number, (lines, process) in enumerate(zip(planes, processes, strict=True)):
        plane = space.plane(f"/host:CPU [{number}]" if number else "/host:CPU")
        if process is not None:
            plane.state({"process_id": process})
        for at, events in enumerate(lines, start=1):
            line = plane.line(f"thread {at}")
            for event in events:
                plane.event(line, event.name, event.start * US, event.duration * US, event.stats)
    return space.bytes()


class Node:
    """An event in the graph: its own edges, and no group yet."""

    def __init__(self, event: Event, plane: int, line: int, process: int) -> None:
        self.event, self.plane, self.line, self.process = event, plane, line, process
        self.parent: Node | None = None
        self.below: list[Node] = []
        self.caused: list[Node] = []
        self.group = -1
        self.stats = event.stats

    @property
    def children(self) -> list["Node"]:
        return self.below + self.caused


def slow_groups(
    planes: Sequence[Plane], processes: Sequence[int | None], *, follows_pools: bool = True
) -> tuple[list[list[int]], list[str]]:
    """(the group of each event of each plane, by line, start, longest first; the labels)."""
    lines = []
    for number, (plane, process) in enumerate(zip(planes, processes, strict=True)):
        for at, events in enumerate(plane):
            ordered = sorted(events, key=lambda event: (event.start, -event.duration))
            whose = -1 if process is None else process
            lines.append([Node(event, number, at, whose) for event in ordered])
    nodes = [node for line in lines for node in line]
    for line in lines:
        nest(line)
    link_contexts(nodes)
    link_keys(nodes)
    roots = find_roots(nodes)
    begun: list[Node] = []
    for root in roots:
        if root.group < 0:
            spread([root], len(begun))
            begun.append(root)
    if follows_pools:
        spread_to_pools(lines, begun)
    for node in nodes:
        if node.event.name in (RECORD, START, STOP):
            node.group = -1
    groups = [[node.group for node in nodes if node.plane == index] for index in range(len(planes))]
    return groups, [label(root, number) for number, root in enumerate(begun)]


def nest(line: Sequence[Node]) -> None:
    stack: list[Node] = []
    for node in line:
        if node.stats.get("_a"):
            continue
        while stack and stack[-1].event.end < node.event.end:
            stack.pop()
        if stack:
            node.parent = stack[-1]
            stack[-1].below.append(node)
        stack.append(node)


def link_contexts(nodes: Iterable[Node]) -> None:
    made, used = defaultdict(list), defaultdict(list)
    for node in nodes:
        stats = node.stats
        if node.event.name in (RECORD, START, STOP):
            continue
        if "_p" in stats and "_pt" in stats and stats["_pt"] != POOL:
            made[stats["_pt"], stats["_p"], node.process].append(node)
        if "_c" in stats and "_ct" in stats and stats["_ct"] != POOL:
            used[stats["_ct"], stats["_c"], stats.get("_pid", node.process)].append(node)
    for context, producers in made.items():
        if len(producers) < 64 or len(used[context]) < 64:
            for producer in producers:
                producer.caused.extend(used[context])


def link_keys(nodes: Sequence[Node]) -> None:
    for node in nodes:
        for other in nodes:
            if (
                node.event.name == EXECUTOR
                and other.event.name == NEXT
                and node.process == other.process
                and execution(node) is not None
                and execution(node) == execution(other)
            ):
                node.caused.append(other)


def execution(node: Node) -> tuple[int, int] | None:
    if "id" in node.stats and "iter_num" in node.stats:
        return node.stats["id"], node.stats["iter_num"]
    return None


def find_roots(nodes: Sequence[Node]) -> list[Node]:
    captured = {node.stats.get("id") for node in nodes if node.event.name == CAPTURED} - {None}
    roots = [node for node in nodes if "_r" in node.stats or node.event.name == "TraceContext"]
    if not roots:
        roots = [node for node in nodes if node.event.name in EXECUTIONS]
    roots = [node for node in roots if node.stats.get("id") not in captured]
    roots.sort(key=lambda node: (-node.stats.get("_r", 1), node.event.start))
    if all(node.event.name in EXECUTIONS for node in roots):
        loops = find_loops(nodes, captured)
        if loops and (
            len({key[0] for key in map(execution, loops) if key is not None}) < 3 or not roots
        ):
            for first, members in loops.items():
                first.caused.extend(members)
            return sorted(loops, key=lambda node: (node.event.start, nodes.index(node)))
    return roots


def find_loops(nodes: Sequence[Node], captured: set[int | None]) -> dict[Node, list[Node]]:
    """The first event of each iteration of a loop, and all of its events."""
    events = defaultdict(list)
    for node in nodes:
        key = execution(node)
        if node.event.name == EXECUTOR and key is not None and key[0] not in captured:
            events[key].append(node)
    looping = {run for run, iteration in events if iteration}
    return {
        min(members, key=lambda node: node.event.start): members
        for (run, _), members in events.items()
        if run in looping
    }


def spread(queue: list[Node], number: int) -> None:
    while queue:
        node = queue.pop(0)
        if node.group < 0:
            node.group = number
            queue.extend(node.children)


def spread_to_pools(lines: Sequence[Sequence[Node]], begun: Sequence[Node]) -> None:
    regions = [region for line in lines for region in find_regions(line)]
    handed: defaultdict[object, int] = defaultdict(int)
    run: defaultdict[object, int] = defaultdict(int)
    nodes = [node for line in lines for node in line]
    for node in nodes:
        if record_id(node) is not None:
            handed[node.plane, record_id(node)] += 1
    for mark, _, _ in regions:
        run[mark.plane, mark.stats["_c"]] += 1
    taken = set()
    for number in range(len(begun)):
        starts_before, ends_by = window(begun, number)
        goes_on = True
        while goes_on:
            goes_on = False
            for node in nodes:
                id_ = record_id(node)
                if node.group != number or id_ is None:
                    continue
                if handed[node.plane, id_] >= 64 and run[node.plane, id_] >= 64:
                    continue
                for at, (mark, stop, members) in enumerate(regions):
                    if (
                        at not in taken
                        and (mark.plane, mark.stats["_c"]) == (node.plane, id_)
                        and node.event.start <= mark.event.start < starts_before
                        and stop.event.start <= ends_by
                    ):
                        taken.add(at)
                        goes_on = True
                        fill_region(mark, members, number)


def record_id(node: Node) -> int | None:
    if node.event.name == RECORD and node.stats.get("_pt") == POOL:
        return node.stats.get("_p")
    return None


def find_regions(line: Sequence[Node]) -> list[tuple[Node, Node, list[Node]]]:
    """(start, stop, the events between them and those of the start's moment before it)."""
    opened, found = [], []
    for at, node in enumerate(line):
        if node.event.name == START:
            opened.append(at)
        elif node.event.name == STOP and opened:
            begin = mark = opened.pop()
            while (
                begin > max(mark - 16, 0) and line[begin - 1].event.start == line[mark].event.start
            ):
                begin -= 1
            if line[mark].stats.get("_ct") == POOL and "_c" in line[mark].stats:
                found.append((line[mark], node, list(line[begin:at])))
    return found


def fill_region(mark: Node, members: Sequence[Node], number: int) -> None:
    """Those that lie inside as a whole, up to the first that is cut, from the mark on."""
    inside = set(map(id, members))
    is_after = False
    for node in members:
        is_after |= node is mark
        if node.group >= 0 or node.stats.get("_a"):
            continue
        if all(id(other) in inside for other in descendants(node)):
            spread([node], number)
        elif is_after:
            break


def descendants(node: Node) -> list[Node]:
    return [node, *(descendant for child in node.below for descendant in descendants(child))]


def window(begun: Sequence[Node], number: int) -> tuple[float, float]:
    """A region of the group starts before the first of these times, and ends by the second."""
    own = begun[number]
    roots = [node for node in begun if (node.plane, node.line) == (own.plane, own.line)]
    roots.sort(key=lambda node: node.event.start)

    def following(node: Node) -> Node | None:
        later = roots[roots.index(node) + 1 :]
        return next((other for other in later if other.event.start >= node.event.end), None)

    steps = [
        after.event.start - node.event.start
        for node in roots
        if (after := following(node)) is not None
    ]
    if not steps:
        return float("inf"), float("inf")

    def limit(node: Node) -> float:
        after = following(node)
        end = after.event.start if after else node.event.start + max(steps)
        return max(end, node.event.end)

    after = following(own)
    return limit(own), limit(after) if after else limit(own) + max(steps)


def label(root: Node, number: int) -> str:
    """The name and the nearest iteration, else step number, else number of the group."""
    for key in ("iter_num", "step_num"):
        node: Node | None = root
        while node is not None and key not in node.stats:
            node = node.parent
        if node is not None:
            number = node.stats[key]
            break
    is_implicit = root.event.name in (*EXECUTIONS, EXECUTOR)
    return str(number) if is_implicit else f"{root.event.name} {number}"

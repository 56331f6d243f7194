"""Graphs of random calls agree with those of the plain twin."""

import random
from typing import Any

import pytest
from analysis.input.iterator_twin import Event, find_calls
from traces import Unsigned, listed, space_of

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.tf_data import TfData, find_tf_data

SEEDS = 120
STAGES = ["Prefetch", "ParallelMapV2", "Map", "BatchV2", "MapAndBatch", "Range"]
FUNCTIONS = ["InstantiatedCapturedFunction::Run", "InstantiatedCapturedFunction::RunAsync"]


def serialized(events: list[Event], chance: random.Random) -> bytes:
    """The events as a file has them; ids are written as signed, unsigned or text."""
    lines: dict[str, list[tuple[Any, ...]]] = {f"thread {index}": [] for index in range(4)}
    for event in events:
        stats: dict[str, Any] = {}
        for name, value in (("id", event.id), ("parent_id", event.parent_id)):
            if value is None:
                continue
            if event.is_call and chance.random() < 0.2:
                stats[name] = str(value)
            elif chance.random() < 0.5:
                stats[name] = Unsigned(value)
            else:
                stats[name] = value - 2**64 if value >= 2**63 else value
        if event.element is not None:
            stats["element_id"] = event.element
        lines[f"thread {event.line}"].append((event.name, event.start, event.duration, stats))
    return listed({"/host:CPU": lines})


def random_events(chance: random.Random) -> list[Event]:
    """Calls, turns, takings, functions and executions that nest at random on four threads."""
    iterators: dict[int, Any] = {}
    for at in range(chance.randint(2, 8)):
        above = chance.choice(list(iterators)[-2:]) if at and chance.random() < 0.9 else None
        name = "Iterator::Root" if above is None else f"{iterators[above][0]}::"
        if above is not None:
            name += "Generator" if chance.random() < 0.1 else chance.choice(STAGES)
            name += chance.choice(["", "", "[0]", "[1]"])  # of some stages there are copies
        iterators[chance.getrandbits(64)] = (name, above or 0)
    # Some iterators have no events of their own, some feed each other in a circle.
    ids = list(iterators)
    if chance.random() < 0.1:
        one = chance.choice(ids)
        iterators[one] = (iterators[one][0], chance.choice(ids))
    hidden = {one for one in ids[1:] if chance.random() < 0.1}
    runs = [chance.getrandbits(63) for _ in range(3)]
    events: list[Event] = []

    def fill(line: int, begin: int, end: int, depth: int, around: int) -> None:
        at = begin
        while at < end and len(events) < 40 * (line + 1):
            at += chance.randint(0, max((end - begin) // 8, 1))
            until = min(end, at + chance.randint(0, max(2 * (end - begin) // 3, 1)))
            if at >= end:
                return
            below = [one for one in ids if iterators[one][1] == around] or ids[1:]
            what, inner = chance.random(), around
            if (line and not depth and what < 0.9) or (what < 0.1 and around):
                element = chance.choice([None, 0, 1, 2, 3])
                events.append(Event(line, at, until - at, "PrefetchProduce", element=element))
                inner = around or chance.choice(ids)
            elif what < 0.65:
                inner = chance.choice(below if chance.random() < 0.9 else ids[1:])
                if inner not in hidden:
                    name, above = iterators[inner]
                    events.append(Event(line, at, until - at, name, inner, above))
            elif what < 0.8:
                element = chance.choice([None, -1, 0, 1, 2, 3])
                events.append(Event(line, at, until - at, "PrefetchConsume", element=element))
            elif what < 0.9:
                name, run = chance.choice(FUNCTIONS), chance.choice(runs)
                events.append(Event(line, at, until - at, name, run))
            else:
                run = chance.choice(runs)
                events.append(Event(line, at, until - at, "ExecutorState::Process", run))
            if until > at and depth < 7:
                fill(line, at, until, depth + 1, inner)
            at = until + chance.randint(0, 3)

    for line in range(4):
        fill(line, 0, 400, 0, 0)
    return events


def described(tf_data: TfData) -> dict[int, list[object]]:
    """Pipelines by root: (start, duration, bottleneck, nodes by iterator) of each call."""
    out: dict[int, list[object]] = {}
    for pipeline, root in enumerate(tf_data.root.tolist()):
        calls: list[object] = []
        for call in range(tf_data.first_call[pipeline], tf_data.first_call[pipeline + 1]):
            begin, end = tf_data.first_node[call], tf_data.first_node[call + 1]
            ids = [int(tf_data.iterator_id[tf_data.iterator[node]]) for node in range(begin, end)]
            nodes = {}
            for node in range(begin, end):
                parent = int(tf_data.parent[node])
                assert begin <= parent < node or (parent == -1 and node == begin)
                nodes[ids[node - begin]] = (
                    ids[parent - begin] if parent >= 0 else None,
                    int(tf_data.start_ps[node]),
                    int(tf_data.total_ps[node]),
                    int(tf_data.self_ps[node]),
                    int(tf_data.calls[node]),
                    bool(tf_data.is_critical[node]),
                    int(tf_data.worker_ps[node]),
                )
            assert len(nodes) == end - begin
            worst = int(tf_data.bottleneck[call])
            times = (int(tf_data.call_start_ps[call]), int(tf_data.call_duration_ps[call]))
            calls.append((*times, ids[worst - begin] if worst >= 0 else None, nodes))
        out[int(tf_data.iterator_id[root])] = calls
    return out


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_calls_agree_with_the_twin(seed: int):
    chance = random.Random(seed)
    events = random_events(chance)
    space = space_of(serialized(events, chance))
    expected = {
        root: [
            (
                call.start,
                call.duration,
                call.bottleneck,
                {
                    id_: (
                        node.parent, node.start, node.total, node.own, node.calls,
                        node.is_critical, node.work,
                    )
                    for id_, node in call.nodes.items()
                },
            )
            for call in calls
        ]
        for root, calls in find_calls(events).items()
    }  # fmt: skip
    assert described(find_tf_data(space, Programs(space))) == expected


def test_random_calls_reach_what_they_are_to_test():
    kinds = {"critical": 0, "ahead": 0, "work": 0, "nodes": 0}
    for seed in range(SEEDS):
        for calls in find_calls(random_events(random.Random(seed))).values():
            for call in calls:
                kinds["nodes"] += len(call.nodes)
                kinds["critical"] += sum(node.is_critical for node in call.nodes.values())
                kinds["ahead"] += sum(not node.is_critical for node in call.nodes.values())
                kinds["work"] += sum(node.work > 0 for node in call.nodes.values())
    assert all(count > 50 for count in kinds.values()), kinds

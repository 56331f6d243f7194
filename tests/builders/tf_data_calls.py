"""Input pipelines made by hand: what is known of a host, from calls that are written down."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tbprof.analysis.input.iterators import stages_of
from tbprof.analysis.input.tf_data import TfData
from tbprof.analysis.vocabulary.input_names import stage_name

US = 1_000_000
ROOT = "Iterator::Root"


class Node(NamedTuple):
    """An iterator in a call; times in µs, `worker` -1 where it has no threads.

    It held the call up as long as its own time says, where `held` says no other.
    """

    long_name: str
    total: int
    own: int
    calls: int = 1
    is_critical: bool = True
    worker: int = -1
    wait: int = 0
    queue: int = 0
    held: int = -1


@dataclass(frozen=True)
class Made:
    """A pipeline: its calls as (start in µs, nodes), nodes root first, iterators by long name.

    `cut` are the starts of calls whose elements were being made when recording began.
    """

    calls: Sequence[tuple[int, Sequence[Node]]]
    is_device: bool = False
    is_partial: bool = False
    source: int = -1
    cut: Sequence[int] = ()
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


def chain(*stages: str, root: str = ROOT) -> list[str]:
    """The long names of stages that feed one another, the root first."""
    return ["::".join((root, *stages[:length])) for length in range(len(stages) + 1)]


def made(*pipelines: Made, loops: int = 0, orphans: int = 0) -> TfData:
    """What is known of a host with these pipelines; a stage feeds that of the longest prefix."""
    names: list[str] = []
    iterator_of: dict[tuple[int, str], int] = {}
    parameters: list[str] = []
    parents: list[int] = []
    for number, pipeline in enumerate(pipelines):
        for _, nodes in pipeline.calls:
            for node in nodes:
                if (number, node.long_name) in iterator_of:
                    continue
                iterator_of[number, node.long_name] = len(names)
                names.append(node.long_name)
                given = pipeline.parameters.get(node.long_name, {})
                parameters.append(json.dumps(given))
                above = above_of(node.long_name, [one for at, one in iterator_of if at == number])
                parents.append(iterator_of.get((number, above), -1))
    stage, stages = stages_of(names)
    ids = np.arange(len(names), dtype=np.uint64) + np.uint64(2**63)
    first_call, first_node, starts, lengths, worst = [0], [0], [], [], []
    columns: list[tuple[int, int, int, Node]] = []
    for number, pipeline in enumerate(pipelines):
        for start, nodes in sorted(pipeline.calls, key=lambda one: (-one[1][0].total, one[0])):
            begin = len(columns)
            starts.append(start * US)
            lengths.append(nodes[0].total * US)
            at = {node.long_name: begin + place for place, node in enumerate(nodes)}
            columns += [
                (
                    iterator_of[number, node.long_name],
                    at.get(above_of(node.long_name, at), -1),
                    start + place,
                    node,
                )
                for place, node in enumerate(nodes)
            ]
            worst.append(_bottleneck(columns, begin))
            first_node.append(len(columns))
        first_call.append(len(starts))
    cut = {start * US for one in pipelines for start in one.cut}
    hosts = sum(not one.is_device for one in pipelines)
    numbers = [*range(hosts), *range(len(pipelines) - hosts)]

    def us(values: Sequence[int]) -> np.ndarray:
        return np.array([value * US if value >= 0 else -1 for value in values], np.int64)

    return TfData(
        iterator_id=ids,
        parent_id=np.array([ids[row] if row >= 0 else 0 for row in parents], np.uint64),
        type_name=[stages[row].rpartition("::")[2] for row in stage.tolist()],
        long_name=names,
        is_async=np.zeros(len(names), np.bool_),
        parameters=parameters,
        stage=stage,
        stage_name=stages,
        pipeline_name=[
            f"{'Device' if one.is_device else 'Host'}:{number}"
            for one, number in zip(pipelines, numbers, strict=True)
        ],
        is_device=np.array([one.is_device for one in pipelines], np.bool_),
        is_partial=np.array([one.is_partial for one in pipelines], np.bool_),
        root=np.array(
            [iterator_of[at, one.calls[0][1][0].long_name] for at, one in enumerate(pipelines)],
            np.int32,
        ),
        source=np.array([one.source for one in pipelines], np.int32),
        first_call=np.array(first_call, np.int64),
        call_start_ps=np.array(starts, np.int64),
        call_duration_ps=np.array(lengths, np.int64),
        call_thread=np.zeros(len(starts), np.int32),
        bottleneck=np.array(worst, np.int64),
        is_cut=np.array([start in cut for start in starts], np.bool_),
        first_node=np.array(first_node, np.int64),
        iterator=np.array([row[0] for row in columns], np.int32),
        parent=np.array([row[1] for row in columns], np.int64),
        start_ps=us([row[2] for row in columns]),
        total_ps=us([row[3].total for row in columns]),
        self_ps=us([row[3].own for row in columns]),
        worker_ps=us([row[3].worker for row in columns]),
        wait_ps=us([row[3].wait for row in columns]),
        queue_ps=us([row[3].queue for row in columns]),
        held_ps=us([held_by(row[3]) for row in columns]),
        calls=np.array([row[3].calls for row in columns], np.int64),
        is_critical=np.array([row[3].is_critical for row in columns], np.bool_),
        threads=["python"],
        loops=loops,
        orphans=orphans,
    )


def above_of(name: str, known: Sequence[str] | Mapping[str, int]) -> str:
    """The stage that one of this name feeds: the longest known one that it goes on from."""
    plain = name.replace("[0]", "").replace("[1]", "").replace("[2]", "")
    found = [
        one for one in known
        if one != name and plain.startswith(one.replace("[0]", "").replace("[1]", "") + "::")
    ]  # fmt: skip
    return max(found, key=len, default="")


def held_by(node: Node) -> int:
    return node.held if node.held >= 0 else node.own


def _bottleneck(columns: Sequence[tuple[int, int, int, Node]], begin: int) -> int:
    """The first row of the critical stage with the largest self time, copies added up."""
    own: dict[str, int] = {}
    first: dict[str, int] = {}
    for row, (_, _, _, node) in enumerate(columns[begin:], begin):
        if node.is_critical:
            name = stage_name(node.long_name)
            first.setdefault(name, row)
            own[name] = own.get(name, 0) + held_by(node)
    best = max(own, key=lambda name: own[name])
    return first[best] if own[best] > 0 else -1

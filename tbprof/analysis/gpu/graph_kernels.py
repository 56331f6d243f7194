"""The instructions of kernels in CUDA graphs.

XLA launches instructions that follow each other as one graph, a command buffer, and recorders state
the graph as the instruction of all its kernels. Source: OpenXLA,
command_buffer_conversion_pass.cc; observed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.gpu.launch_order import InstructionOrder
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.vocabulary.op_names import instruction_of
from tbprof.base import names
from tbprof.base.records import NamedTuple, dataclass
from tbprof.base.values import joined
from tbprof.events.space import Events, Plane
from tbprof.events.stats import STATS_PIECE, StatColumn

# The event of a whole graph, which hides its kernels. Source: OpenXLA, cupti_buffer_events.cc.
WHOLE_GRAPH = "CudaGraphExec:"
_TEXTS = (names.HLO_OP, names.HLO_MODULE)
_STATS = (*_TEXTS, names.PROGRAM_ID)
_NODE_STATS = (*_STATS, names.GRAPH_ID, names.GRAPH_NODE_ID, names.CORRELATION_ID)
_Column: TypeAlias = NDArray[np.int64] | NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class GraphInstructions:
    """The instruction `names[code]` of each event [n] in a graph; "" if unknown, or in no graph."""

    code: NDArray[np.int64]
    names: list[str]


class _Owner(NamedTuple):
    """What an event states: the program and the instruction, texts as ids of the space."""

    program: int
    module: int
    instruction: int


def find_graph_instructions(
    plane: Plane, events: Events, programs: Programs
) -> GraphInstructions | None:
    """The instructions of the kernels in graphs, None if the plane records no nodes of graphs."""
    if names.GRAPH_NODE_ID not in plane.stat_names or names.HLO_OP not in plane.stat_names:
        return None
    rows, outside = _split(plane, events)
    nodes = _read_nodes(plane, events, rows)
    of_program: dict[tuple[int, int], list[_RecordedGraph]] = defaultdict(list)
    for graph in nodes.graphs:
        of_program[graph.owner.program, graph.owner.module].append(graph)
    instruction = [""] * len(nodes.kernel)
    for (program, module_name), graphs in of_program.items():
        module = programs.module(program, plane.strings[module_name])
        if module is None:
            continue
        apart = [
            instruction_of(plane.strings[owner.instruction])
            for owner in outside
            if (owner.program, owner.module) == (program, module_name)
        ]
        buffers: dict[int, list[list[str]]] = defaultdict(list)
        for graph in graphs:
            buffers[graph.owner.instruction].append([nodes.kernel[node] for node in graph.nodes])
        places = InstructionOrder(module, buffers.values(), apart)
        for graph in graphs:
            placed = places.place([nodes.kernel[node] for node in graph.nodes])
            for node, name in zip(graph.nodes, placed, strict=True):
                instruction[node] = name
    distinct = {name: index for index, name in enumerate(dict.fromkeys(["", *instruction]))}
    code = np.zeros(len(events), np.int64)
    code[rows] = np.array([distinct[name] for name in instruction], np.int64)[nodes.code]
    return GraphInstructions(code, list(distinct))


def _split(plane: Plane, events: Events) -> tuple[NDArray[np.int64], set[_Owner]]:
    """(rows of the events in graphs, what the others state)."""
    is_hidden = [text.startswith(WHOLE_GRAPH) for text in plane.types.full_names]
    is_shown = ~events.by_type(np.array([*is_hidden, False], np.bool_))
    rows: list[NDArray[np.int64]] = []
    outside: set[_Owner] = set()
    for begin in range(0, len(events), STATS_PIECE):
        piece = np.arange(begin, min(begin + STATS_PIECE, len(events)))
        code, owners = _owners(events, piece)
        texts = plane.strings.take(owner.instruction for owner in owners)
        is_graph = [instruction_of(text).startswith(names.COMMAND_BUFFER) for text in texts]
        outside.update(owner for owner, inside in zip(owners, is_graph, strict=True) if not inside)
        rows.append(piece[np.array(is_graph, np.bool_)[code] & is_shown[piece]])
    return joined(rows), outside


def _owners(events: Events, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], list[_Owner]]:
    """(code [rows], the distinct owners)."""
    columns = _owner_columns(events.stats(_STATS, rows, _TEXTS))
    code, first = group_rows(columns)
    return code, _owners_at(columns, first)


def _owner_columns(stats: Mapping[str, StatColumn]) -> list[_Column]:
    """The fields of `_Owner` [n]."""
    program = stats[names.PROGRAM_ID].integers(-1)
    return [program, stats[names.HLO_MODULE].texts(), stats[names.HLO_OP].texts()]


def _owners_at(columns: Sequence[_Column], rows: NDArray[np.int64]) -> list[_Owner]:
    values = zip(*(column[rows].tolist() for column in columns), strict=True)
    return [_Owner(*value) for value in values]


class _RecordedGraph(NamedTuple):
    """What the kernels of a graph state, and its nodes in the order in which they ran."""

    owner: _Owner
    nodes: list[int]


class _GraphNodes(NamedTuple):
    """The node `code` [rows] of each event in a graph, the kernel of each node, and the graphs."""

    code: NDArray[np.int32]
    kernel: list[str]
    graphs: list[_RecordedGraph]


def _read_nodes(plane: Plane, events: Events, rows: NDArray[np.int64]) -> _GraphNodes:
    """The nodes of all graphs.

    Their order is that of the launch of which the most were recorded: a recording may begin or end
    within a launch.
    """
    stats = events.stats(_NODE_STATS, rows, _TEXTS)
    columns = _owner_columns(stats)
    graph, first = group_rows([*columns, stats[names.GRAPH_ID].integers(-1)])
    owners = _owners_at(columns, first)
    type_ = events.type[rows]
    code, first = group_rows([graph, stats[names.GRAPH_NODE_ID].integers(-1), type_])
    kernels = [*plane.types.full_names, ""]
    kernel = [kernels[row] for row in type_[first].tolist()]
    launch, first = group_rows([graph, stats[names.CORRELATION_ID].integers(-1)])
    by_size = np.argsort(np.bincount(launch, minlength=first.size), kind="stable")
    largest = np.zeros(len(owners), np.int64)
    largest[graph[first[by_size]]] = by_size  # the last one of a graph counts
    ran = np.flatnonzero(largest[graph] == launch)
    ran = ran[np.lexsort((events.start_ps[rows[ran]], graph[ran]))]
    nodes: dict[int, dict[int, None]] = defaultdict(dict)
    for number, node in zip(graph[ran].tolist(), code[ran].tolist(), strict=True):
        nodes[number][node] = None
    graphs = [_RecordedGraph(owners[number], list(nodes[number])) for number in nodes]
    return _GraphNodes(code, kernel, graphs)

"""The graph of all events that groups can contain: one column of rows, and their links."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.causality import (
    CAUSAL_KINDS,
    CausalStats,
    read_causal_stats,
)
from tbprof.analysis.grouping.context_links import CROWD, Ends, Links, join, link, merge_links
from tbprof.analysis.grouping.tpu_groups import Core, read_cores
from tbprof.analysis.host.host_events import kinds
from tbprof.analysis.vocabulary.lines import process_of
from tbprof.base.records import dataclass
from tbprof.base.values import joined, unique
from tbprof.events.space import Events, Space

Threads = Sequence[tuple[Events, NDArray[np.int32]]]

_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Graph:
    """The events of the hosts, one plane after the other, then those of TPU cores.

    Plane i has the rows `offsets[i]:offsets[i + 1]`; the rows of cores follow. `kind` [i] are the
    kinds of the events of plane i.
    """

    threads: Threads
    kind: list[NDArray[np.int8]]
    offsets: NDArray[np.int64]
    cores: list[Core]
    rows: int

    def take(
        self, rows: NDArray[np.int64], column: Callable[[Events], NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """[m] the values of a column of the host events at `rows`."""
        out = np.zeros(rows.size, np.int64)
        plane = np.searchsorted(self.offsets, rows, side="right") - 1
        for index, (events, _) in enumerate(self.threads):
            is_own = plane == index
            out[is_own] = column(events)[rows[is_own] - self.offsets[index]]
        return out

    def start_ps(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """[m] when the host events at `rows` began."""
        return self.take(rows, lambda events: events.start_ps)

    def duration_ps(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """[m] how long the host events at `rows` took."""
        return self.take(rows, lambda events: events.duration_ps)

    def lines(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """[m] numbers of the threads of the host events at `rows`, unique across planes."""
        first = [events.first_event[1:] + begin for (events, _), begin in self.planes()]
        ends_of_lines = joined(first)
        return np.searchsorted(ends_of_lines, rows, side="right")

    def planes(self) -> list[tuple[tuple[Events, NDArray[np.int32]], int]]:
        """((events, parent), first row) of each plane."""
        return list(zip(self.threads, self.offsets.tolist(), strict=False))


@dataclass(frozen=True, slots=True)
class Loops:
    """The events [m] of loop iterations (`row`), and each iteration's earliest event (`first`)."""

    row: NDArray[np.int64]
    first: NDArray[np.int64]


def read_graph(space: Space, threads: Threads) -> Graph:
    """The graph of a space with these host planes."""
    sizes = [len(events) for events, _ in threads]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    kind = [kinds(events, CAUSAL_KINDS) for events, _ in threads]
    # Cores do not state their process: it is that of the host.
    process = process_of(threads[0][0].plane) if threads else -1
    cores = read_cores(space, int(offsets[-1]), process)
    total = int(offsets[-1]) + sum(core.start_ps.size for core in cores)
    return Graph(threads, kind, offsets, cores, total)


def read_causal_stats_of_hosts(graph: Graph) -> list[CausalStats]:
    """The causal stats of each host plane."""
    return [
        read_causal_stats(events, kind, begin, process_of(events.plane))
        for ((events, _), begin), kind in zip(graph.planes(), graph.kind, strict=True)
    ]


def find_links(graph: Graph, stats: Sequence[CausalStats], loops: Loops) -> Links:
    """The links from causes to effects, by the stats of the host planes and of TPU cores."""

    def linked(made: Sequence[Ends], used: Sequence[Ends], crowd: int = CROWD) -> list[Links]:
        return [link(join(made), join(used), crowd)] if made and used else []

    sources: list[CausalStats | Core] = [*stats, *graph.cores]
    executor = [part.executor for part in stats]
    firsts = unique(loops.first)
    return merge_links([
        *linked([part.producers for part in sources], [part.consumers for part in sources]),
        *linked(executor, [part.next_call for part in stats], graph.rows + 1),
        *linked(executor, [part.tpu_call for part in stats]),
        *linked([part.enqueue for part in stats], [part.request for part in stats]),
        *linked(
            [part.launch for part in stats],
            [*(part.callback for part in stats), *(core.launched for core in graph.cores)],
        ),
        link(Ends(firsts, [firsts]), Ends(loops.row, [loops.first])),
    ])  # fmt: skip

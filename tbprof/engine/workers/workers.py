"""The interface of workers, which compute the parts of hosts outside of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from tbprof.base.errors import TbprofError
from tbprof.base.process.parallel import helpers, thread_pool
from tbprof.base.records import NamedTuple
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.parts import PartKey
from tbprof.storage.runs import TraceFile


class HostWork(NamedTuple):
    """Parts of a file to be computed."""

    file: TraceFile
    parts: tuple[PartKey, ...]


# The computed parts of a host, or why it cannot be read.
HostParts = Mapping[PartKey, PartResult] | TbprofError


class Workers(Protocol):
    """Other processes that compute parts. The parts of a file are a pure function of both.

    `SummaryCache` never requests a part twice at the same time. Workers that take one host at a
    time inherit `compute_hosts`.
    """

    # The parts of fewer hosts are computed in threads of this process.
    least_hosts: int = 1
    # For how many hosts `compute` should be called simultaneously, from threads.
    hosts_at_once: int
    # Whether they write their results to the result store of this process.
    keeps_results: bool

    def compute(
        self, file: TraceFile, requested: Sequence[PartKey], on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        """The requested parts; `on_work` is called with the name of each that is begun.

        Raises what reading the file raises, or why no worker could do it (TbprofError).
        """

    def compute_hosts(
        self, work: Sequence[HostWork], on_work: Callable[[TraceFile, str], None]
    ) -> Iterator[tuple[HostWork, HostParts]]:
        """The parts of several hosts, in any order; closing skips hosts that have not begun."""

        def one(asked: HostWork) -> HostParts:
            file = asked.file
            try:
                return self.compute(file, asked.parts, lambda name: on_work(file, name))
            except TbprofError as error:
                return error

        with helpers(min(self.hosts_at_once, len(work))) as threads:
            if threads < 2:
                yield from ((asked, one(asked)) for asked in work)
                return
            with thread_pool(threads) as pool:
                yield from zip(work, pool.map(one, work), strict=True)

    def warm_up(self) -> None:
        """Prepares what the first request would wait for."""
        return

    def expect(self, _files: Sequence[TraceFile], /) -> None:
        """Prepares for files, at least `least_hosts`, that may be requested soon."""
        return

    def decoded_ratio(self, _file: TraceFile, /) -> float:
        """How much of the events of a file has been decoded, 0 to 1; 0 if it is not known."""
        return 0.0


class BatchWorkers(Workers, Protocol):
    """Workers with their own `compute_hosts`, which also serves single hosts."""

    def compute(
        self, file: TraceFile, requested: Sequence[PartKey], on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        """The requested parts of one host."""
        work = [HostWork(file, tuple(requested))]
        ((_, parts),) = self.compute_hosts(work, lambda _file, name: on_work(name))
        if isinstance(parts, TbprofError):
            raise parts
        return parts

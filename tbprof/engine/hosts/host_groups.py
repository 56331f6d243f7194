"""Merges large parts of many hosts while other hosts are still computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from tbprof.base.caches import LatestCache
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.hosts.summary_cache import FoundParts
from tbprof.engine.parts import PartKey, bytes_of
from tbprof.storage.files import fingerprints
from tbprof.storage.runs import TraceFile

# How many hosts are held before they are merged; this bounds the memory of a page.
GROUP = 64


class HostGroups:
    """The parts of hosts as they arrive, in any order.

    Parts that all tools merge (`PartKind.merge`) are merged for `GROUP` neighboring hosts once all
    of these have arrived. The first host then has the merged part, the others have None. Merged
    parts that another page has made are taken from `known`.
    """

    def __init__(
        self,
        files: Sequence[TraceFile],
        wanted: Sequence[PartKey],
        known: LatestCache[Hashable, Any],
    ) -> None:
        self._files = files
        self._known = known
        self._place = {file: place for place, file in enumerate(files)}
        self._merges = {key: merge for key in wanted if (merge := key.kind.merge)}
        self._arrived: Counter[int] = Counter()
        self._found: dict[TraceFile, FoundParts] = {}

    def __len__(self) -> int:
        """How many hosts have arrived."""
        return len(self._found)

    def add(self, file: TraceFile, parts: FoundParts) -> None:
        """Adds the parts of a host, or why it cannot be read."""
        self._found[file] = parts
        group = self._place[file] // GROUP
        self._arrived[group] += 1
        if self._arrived[group] == GROUP:
            members = self._files[group * GROUP : (group + 1) * GROUP]
            hosts = {
                member: parts
                for member in members
                if isinstance(parts := self._found[member], dict)
            }
            for key, merge in self._merges.items() if hosts else ():
                self._merge(key, merge, hosts)

    def all(self) -> list[FoundParts]:
        """The parts or the error of each file."""
        return [self._found[file] for file in self._files]

    def _merge(
        self,
        key: PartKey,
        merge: Callable[[Sequence[Any]], Any],
        hosts: Mapping[TraceFile, dict[str, PartResult]],
    ) -> None:
        name = key.name
        merged: Any = self._known.get_or_compute(
            (key, fingerprints(hosts)),
            lambda: merge([parts[name].value for parts in hosts.values()]),
            bytes_of,
        )
        for parts in hosts.values():
            parts[name] = PartResult(merged, parts[name].notices)
            merged = None

"""The parts of the chosen hosts: the input of pages and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from tbprof.base.records import dataclass, field

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Summaries:
    """The parts that a tool requested, each with one entry per chosen host, in host order."""

    hosts: tuple[str, ...]
    parts: Mapping[str, Sequence[object]]
    params: Mapping[str, str] = field(default_factory=dict)

    def take(self, name: str, kind: type[_T]) -> list[_T]:
        """The parts with this name, one per host; TypeError if one has another type."""
        parts: list[_T] = []
        for part in self.parts[name]:
            if not isinstance(part, kind):
                raise TypeError(f"part {name!r} is a {type(part).__name__}, not a {kind.__name__}")
            parts.append(part)
        return parts

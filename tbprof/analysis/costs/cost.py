"""The cost of one execution of an instruction: operations and memory traffic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from tbprof.base.records import NamedTuple

_Key = TypeVar("_Key", str, int)


class Cost(NamedTuple):
    """Floating-point and integer operations by type of their elements ("bf16"), and traffic.

    `transcendentals` are not included in `flops`. `read` and `written` are bytes by memory space,
    where space 0 is the device's main memory. If not `is_known`, parts are unknown, and the cost is
    at least this. Costs are shared between instructions, and must not be modified.
    """

    flops: Counter[str]
    transcendentals: int
    read: Counter[int]
    written: Counter[int]
    is_known: bool = True

    @property
    def all_flops(self) -> int:
        """The operations of all types."""
        return sum(self.flops.values())

    @property
    def dtype(self) -> str:
        """The type of most operations, "" if there are none."""
        return max(self.flops, key=self.flops.__getitem__, default="")

    @property
    def bytes(self) -> int:
        """The bytes read and written in all memory spaces."""
        return sum(self.read.values()) + sum(self.written.values())

    def times(self, count: int) -> Cost:
        """The cost of `count` executions."""
        return Cost(
            _times(self.flops, count), self.transcendentals * count,
            _times(self.read, count), _times(self.written, count), self.is_known,
        )  # fmt: skip

    def moving(self, read: Counter[int], written: Counter[int]) -> Cost:
        """The same operations with other traffic."""
        return Cost(self.flops, self.transcendentals, read, written, self.is_known)


# Most costs have no operations, or no traffic.
_EMPTY: Counter[Any] = Counter()
NOTHING = Cost(_EMPTY, 0, _EMPTY, _EMPTY)
UNKNOWN = NOTHING._replace(is_known=False)


def add_costs(costs: Iterable[Cost], *, is_work: bool = False) -> Cost:
    """The sum of costs, known if all of them are; with `is_work`, without traffic."""
    costs = [cost for cost in costs if cost is not NOTHING]
    if len(costs) == 1 and not (is_work and (costs[0].read or costs[0].written)):
        return costs[0]
    flops: dict[str, int] = {}
    read: dict[int, int] = {}
    written: dict[int, int] = {}
    transcendentals, is_known = 0, True
    for cost in costs:
        for dtype, count in cost.flops.items():
            flops[dtype] = flops.get(dtype, 0) + count
        if not is_work:
            for space, size in cost.read.items():
                read[space] = read.get(space, 0) + size
            for space, size in cost.written.items():
                written[space] = written.get(space, 0) + size
        transcendentals += cost.transcendentals
        is_known &= cost.is_known
    return Cost(counter(flops), transcendentals, counter(read), counter(written), is_known)


def counter(counts: Mapping[_Key, int]) -> Counter[_Key]:
    """A counter with these counts; the constructor of Counter takes four times as long."""
    if not counts:
        return _EMPTY
    made: Counter[_Key] = Counter.__new__(Counter)
    dict.update(made, counts)
    return made


def most_of_each(costs: Iterable[Cost]) -> Cost:
    """The maximum of each figure, for branches of which only one runs."""
    most = NOTHING
    for cost in costs:
        most = Cost(
            most.flops | cost.flops, max(most.transcendentals, cost.transcendentals),
            most.read | cost.read, most.written | cost.written, most.is_known and cost.is_known,
        )  # fmt: skip
    return most


def _times(counts: Counter[_Key], count: int) -> Counter[_Key]:
    return counter({key: number * count for key, number in counts.items()})


def spaces(pairs: Iterable[tuple[int, int]]) -> Counter[int]:
    """The sums of (space, bytes) pairs by memory space."""
    out: Counter[int] = Counter.__new__(Counter)
    for space, size in pairs:
        if size:
            out[space] = out.get(space, 0) + size
    return out or _EMPTY

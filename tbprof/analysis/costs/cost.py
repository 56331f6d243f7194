"""What one execution of an instruction computes and moves."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

_Key = TypeVar("_Key", str, int)
_NO_BYTES: Counter[int] = Counter()


class Cost(NamedTuple):
    """Floating-point and integer operations by type of their elements ("bf16"), and traffic.

    `transcendentals` are not among the `flops`. `read` and `written` are bytes by memory space, 0
    for the device's main memory. Not `is_known`: some of it is not known, so it is at least this.
    Costs of one instruction are shared, and must not be changed.
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
    def bytes(self) -> int:
        """What is read and written in all memory spaces."""
        return sum(self.read.values()) + sum(self.written.values())

    def times(self, count: int) -> "Cost":
        """The cost of so many executions."""
        return Cost(
            _times(self.flops, count), self.transcendentals * count,
            _times(self.read, count), _times(self.written, count), self.is_known,
        )  # fmt: skip

    def work(self) -> "Cost":
        """The operations without the traffic."""
        return Cost(self.flops, self.transcendentals, _NO_BYTES, _NO_BYTES, self.is_known)


NOTHING = Cost(Counter(), 0, Counter(), Counter())
UNKNOWN = NOTHING._replace(is_known=False)


def add_costs(costs: Iterable[Cost]) -> Cost:
    """The sum of costs, of which all must be known for it to be known."""
    flops: Counter[str] = Counter()
    read: Counter[int] = Counter()
    written: Counter[int] = Counter()
    transcendentals, is_known = 0, True
    for cost in costs:
        _add(flops, cost.flops)
        _add(read, cost.read)
        _add(written, cost.written)
        transcendentals += cost.transcendentals
        is_known &= cost.is_known
    return Cost(flops, transcendentals, read, written, is_known)


def _add(sums: "Counter[_Key]", counts: "Counter[_Key]") -> None:
    """As `Counter.update`, which takes three times as long for one or two keys."""
    for key, count in counts.items():
        sums[key] = sums.get(key, 0) + count


def most_of_each(costs: Iterable[Cost]) -> Cost:
    """The most of each figure, for branches of which one runs."""
    most = NOTHING
    for cost in costs:
        most = Cost(
            most.flops | cost.flops, max(most.transcendentals, cost.transcendentals),
            most.read | cost.read, most.written | cost.written, most.is_known and cost.is_known,
        )  # fmt: skip
    return most


def _times(counts: "Counter[_Key]", count: int) -> "Counter[_Key]":
    return Counter({key: number * count for key, number in counts.items()})


def spaces(pairs: Iterable[tuple[int, int]]) -> Counter[int]:
    """Bytes by memory space of (space, bytes)."""
    out: dict[int, int] = {}
    for space, size in pairs:
        if size:
            out[space] = out.get(space, 0) + size
    return Counter(out) if out else _NO_BYTES

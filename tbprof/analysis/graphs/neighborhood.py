"""The neighborhood of an instruction in its program."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator

from tbprof.analysis.graphs.program_links import ProgramLinks
from tbprof.base.records import NamedTuple

MOST_HOPS = 4
# If there are more users than this, they are not followed. Source: XLA, HloGraphDumper's
# kMaxUsersToRender.
MOST_USERS = 16
# Opcodes whose computations can be drawn; others, such as the sum of a reduction, only define the
# operation of the instruction.
_OPENS = frozenset({"fusion", "call", "while", "conditional", "async-start", "custom-call"})
_FREE = "bitcast"


class Neighborhood(NamedTuple):
    """The rows near a center, nearest first, and the computations that are drawn in place.

    `hops` is the distance of each row from the center, or, in an opened computation, from its root.
    `opened` are pairs (row of the instruction, computation), owners before their contents;
    `left_out` counts the rows of a computation that are within the hops but not in `rows`.
    """

    rows: list[int]
    hops: list[int]
    opened: list[tuple[int, int]]
    left_out: dict[int, int]


def can_open(links: ProgramLinks, row: int) -> bool:
    """Whether the computations of an instruction can be drawn in its place."""
    return links.module.opcode(row) in _OPENS and bool(links.module.called_rows(row))


def find_neighborhood(
    links: ProgramLinks, center: int, hops: int, opened: Collection[int], most: int
) -> Neighborhood:
    """The rows at most `hops` from the center, and inside the `opened` ones; at most `most`.

    A hop leads to an operand or to a user; hops along operands from or to a bitcast are free. The
    search does not follow the operands of a tuple other than the center, the users of a constant,
    and users if there are more than `MOST_USERS`. Constants are shown in their users, so they are
    not in the rows unless one is the center. An opened computation is shown entirely, the rows
    nearest to its result first. Source: XLA, HloGraphDumper's MakeNodeRadiusAroundFilter.

        a -> b -> c -> d, center c, one hop: c, b, d
    """
    rows: dict[int, int] = {}
    left_out: dict[int, int] = {}
    _take(rows, left_out, links.computation_of(center), _near(links, center, hops), most)
    pairs: list[tuple[int, int]] = []
    waiting = deque(row for row in rows if row in opened and can_open(links, row))
    done: set[int] = set()
    while waiting:
        owner = waiting.popleft()
        for computation in links.module.called_rows(owner):
            # A damaged program may contain itself.
            if computation in done or computation == links.computation_of(center):
                continue
            done.add(computation)
            pairs.append((owner, computation))
            before = len(rows)
            _take(rows, left_out, computation, _inside(links, computation), most)
            waiting.extend(
                row for row in list(rows)[before:] if row in opened and can_open(links, row)
            )
    return Neighborhood(list(rows), list(rows.values()), pairs, left_out)


def _take(
    rows: dict[int, int],
    left_out: dict[int, int],
    computation: int,
    reached: Iterator[tuple[int, int]],
    most: int,
) -> None:
    """Adds rows with their hops while there is room, and counts the rest."""
    for row, distance in reached:
        if len(rows) < most:
            rows.setdefault(row, distance)
        elif row not in rows:
            left_out[computation] = left_out.get(computation, 0) + 1


def _near(links: ProgramLinks, center: int, most_hops: int) -> Iterator[tuple[int, int]]:
    """(row, hops) around a center in its computation, nearest first."""
    own_rows = links.module.rows_in(links.computation_of(center))
    # Bitcasts are free, so both ends of the queue are used, which keeps the order of distances.
    queue = deque([(center, 0)])
    done: set[int] = set()
    while queue:
        row, distance = queue.popleft()
        if row in done:
            continue
        done.add(row)
        if row == center or links.module.opcode(row) != "constant":
            yield row, distance
        if distance == most_hops:
            continue
        opcode = links.module.opcode(row)
        for operand in links.module.operand_rows(row) if row == center or opcode != "tuple" else ():
            if operand not in own_rows:
                continue
            if _FREE in (opcode, links.module.opcode(operand)):
                queue.appendleft((operand, distance))
            else:
                queue.append((operand, distance + 1))
        users = links.module.users_of(row)
        if opcode != "constant" and len(users) <= MOST_USERS:
            queue.extend((user, distance + 1) for user in users if user in own_rows)


def _inside(links: ProgramLinks, computation: int) -> Iterator[tuple[int, int]]:
    """(row, hops from the root) of a computation; rows that do not lead to the root come last."""
    own_rows = links.module.rows_in(computation)
    root = links.module.root_row(computation)
    queue = deque([(root, 0)] if root in own_rows else [])
    done: set[int] = set()
    while queue:
        row, distance = queue.popleft()
        if row in done or row not in own_rows:
            continue
        done.add(row)
        if row == root or links.module.opcode(row) != "constant":
            yield row, distance
        queue.extend((operand, distance + 1) for operand in links.module.operand_rows(row))
    for row in own_rows:
        if row not in done and links.module.opcode(row) != "constant":
            yield row, len(own_rows)

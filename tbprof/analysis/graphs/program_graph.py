"""The drawing of a neighborhood: nodes, edges, and clusters for opened computations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tbprof.analysis.graphs.neighborhood import Neighborhood
from tbprof.analysis.graphs.program_links import ProgramLinks
from tbprof.base.records import NamedTuple

_TUPLE_ELEMENT = "get-tuple-element"
_CONSTANT, _PARAMETER = "constant", "parameter"
# The greatest depth of nested tuple elements and of nested computations; deeper files are damaged.
_DEEPEST = 64
_MOST_COUNTED = 1000


class GraphNode(NamedTuple):
    """A drawn instruction: its row, its distance from the center, and its cluster.

    `constants` are pairs (operand index, row) that are shown inside the node. `left_operands` and
    `left_users` count operands and users that are not drawn, the latter up to 1000.
    """

    row: int
    hops: int
    cluster: int
    constants: list[tuple[int, int]]
    left_operands: int
    left_users: int


class GraphEdge(NamedTuple):
    """`target` takes `source`, or the element of it at `tuple_index` (-1: all of it).

    `operand` is the index of the operand, -1 for a control dependency.
    """

    source: int
    target: int
    operand: int
    tuple_index: int = -1


class GraphCluster(NamedTuple):
    """A computation that is drawn in place of its caller; `parent` is -1 for the outermost one.

    `owner` is the row of the caller, -1 for the outermost one. `left_out` counts rows that are not
    drawn.
    """

    computation: int
    owner: int
    parent: int
    left_out: int


class ProgramGraph(NamedTuple):
    """Nodes by row, nearest to the center first; a node's cluster is an index of `clusters`."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    clusters: list[GraphCluster]


def draw_graph(links: ProgramLinks, center: int, near: Neighborhood) -> ProgramGraph:
    """The graph of a neighborhood.

    Elements of tuples are drawn as edges from the tuple, unless they are the center or a result. An
    opened instruction is not a node: its operands lead to the parameters of its computations, and
    their results to its users.
    """
    return _Drawing(links, center, near).draw()


class _Drawing:
    def __init__(self, links: ProgramLinks, center: int, near: Neighborhood) -> None:
        self._links = links
        self._near = near
        self._opened: dict[int, list[int]] = {}
        for owner, computation in near.opened:
            self._opened.setdefault(owner, []).append(computation)
        self._drawn = {
            row
            for row in near.rows
            if row not in self._opened and (row == center or not self._is_passed(row))
        }

    def draw(self) -> ProgramGraph:
        near, links = self._near, self._links
        clusters: list[GraphCluster] = []
        number: dict[int, int] = {}
        first = links.computation_of(near.rows[0])
        for owner, computation in [(-1, first), *near.opened]:
            parent = -1 if owner < 0 else number.get(links.computation_of(owner), 0)
            number[computation] = len(clusters)
            left_out = near.left_out.get(computation, 0)
            clusters.append(GraphCluster(computation, owner, parent, left_out))
        nodes, edges = [], []
        for row, hops in zip(near.rows, near.hops, strict=True):
            if row not in self._drawn:
                continue
            taken, constants, left = self._taken(row)
            edges += taken
            cluster = number[links.computation_of(row)]
            nodes.append(GraphNode(row, hops, cluster, constants, left, self._left_users(row)))
        return ProgramGraph(nodes, list(dict.fromkeys(edges)), clusters)

    def _is_passed(self, row: int) -> bool:
        """Whether a row is drawn as an edge: a tuple's element that is not a result."""
        links = self._links
        if links.module.opcode(row) != _TUPLE_ELEMENT:
            return False
        return links.module.root_row(links.computation_of(row)) != row

    def _taken(self, row: int) -> tuple[list[GraphEdge], list[tuple[int, int]], int]:
        """The edges to a row, the constants that it takes, and how many operands are not drawn."""
        links = self._links
        is_parameter = links.module.opcode(row) == _PARAMETER
        operands: Iterable[int]
        operands = self._arguments(row) if is_parameter else links.module.operand_rows(row)
        edges, constants, left = [], [], 0
        for index, operand in enumerate(operands):
            source, element = self._source(operand)
            if source in self._drawn:
                edges.append(GraphEdge(source, row, index, element))
            elif source in self._opened:
                roots = list(self._results(source))
                edges += [GraphEdge(root, row, index, element) for root in roots]
                left += not roots
            elif links.module.opcode(source) == _CONSTANT:
                constants.append((index, source))
            else:
                left += 1
        before = (links.row_of(id_) for id_ in links.module.message(row).control_predecessor_ids)
        edges += [GraphEdge(other, row, -1) for other in before if other in self._drawn]
        return edges, constants, left

    def _source(self, row: int) -> tuple[int, int]:
        """(the tuple of which an operand is an element, its index), or (the operand, -1)."""
        element = -1
        for _ in range(_DEEPEST):
            if row in self._drawn or not self._is_passed(row):
                break
            operands = self._links.module.operand_rows(row)
            if not operands:
                break
            element = int(self._links.module.message(row).tuple_index)
            row = operands[0]
        return row, element

    def _results(self, owner: int, depth: int = 0) -> Iterator[int]:
        """The drawn results of an opened instruction."""
        for computation in self._opened[owner]:
            root = self._links.module.root_row(computation)
            if root in self._drawn:
                yield root
            elif root in self._opened and depth < _DEEPEST:
                yield from self._results(root, depth + 1)

    def _arguments(self, parameter: int) -> Iterator[int]:
        """The operands that are passed to a parameter of an opened computation."""
        links = self._links
        own_computation = links.computation_of(parameter)
        number = int(links.module.message(parameter).parameter_number)
        for owner, computation in self._near.opened:
            if computation != own_computation:
                continue
            operands = links.module.operand_rows(owner)
            opcode = links.module.opcode(owner)
            if opcode == "while":
                number = 0
            elif opcode == "conditional":
                # The first operand chooses the branch; branch b gets operand b + 1.
                number = 1 + links.module.called_rows(owner).index(computation)
            if 0 <= number < len(operands):
                yield operands[number]

    def _left_users(self, row: int) -> int:
        """The number of users that are not drawn; tuple elements count by their users."""
        count = 0
        waiting, done = list(self._links.module.users_of(row)), set()
        while waiting and count < _MOST_COUNTED:
            user = waiting.pop()
            if user in done:
                continue
            done.add(user)
            if user in self._drawn or user in self._opened:
                continue
            if self._is_passed(user):
                waiting.extend(self._links.module.users_of(user))
            else:
                count += 1
        return count

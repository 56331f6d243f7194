"""A program's graph in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tbprof.analysis.graphs.program_graph import ProgramGraph

# Source: XLA, HloDotDumper's color schemes.
_COLORS = {
    "async": "#bbdefb", "collective": "#bcaaa4", "product": "#5c85d6", "call": "#66bb6a",
    "fusion": "#cfd8dc", "parameter": "#ffb74d", "reduction": "#ce93d8", "movement": "#c5e1a5",
    "elementwise": "#fff9c4",
}  # fmt: skip


def dot_text(
    graph: ProgramGraph,
    title: str,
    describe: Callable[[int], tuple[list[str], str]],
    name_of: Callable[[int], str],
) -> Iterator[str]:
    """The lines of a graph in DOT.

    `describe(row)` are the lines of a node and its group of opcodes, `name_of(c)` the name of a
    computation. All texts are quoted: names are never markup.
    """
    yield "digraph G {"
    yield "rankdir = TB;"
    yield f"label = {_quoted(title)};"
    yield "labelloc = t;"
    yield "node [shape = box, style = filled];"
    children: dict[int, list[int]] = {}
    for number, cluster in enumerate(graph.clusters):
        children.setdefault(cluster.parent, []).append(number)
    # Not recursive, since computations in a file may be nested to any depth.
    waiting: list[int | str] = list(reversed(children.get(-1, [])))
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
            continue
        cluster = graph.clusters[item]
        if cluster.parent >= 0:
            yield f"subgraph cluster_{item} {{"
            yield f"label = {_quoted(name_of(cluster.computation))};"
            waiting.append("}")
        for node in graph.nodes:
            if node.cluster == item:
                lines, group = describe(node.row)
                color = _COLORS.get(group, "#ffffff")
                yield f'{node.row} [label = {_quoted(*lines)}, fillcolor = "{color}"];'
        waiting.extend(reversed(children.get(item, [])))
    for edge in graph.edges:
        label = str(edge.operand) if edge.operand >= 0 else ""
        if edge.tuple_index >= 0:
            label = f"{label} [{edge.tuple_index}]"
        style = ", style = dashed" if edge.operand < 0 else ""
        yield f"{edge.source} -> {edge.target} [label = {_quoted(label)}{style}];"
    yield "}"


def _quoted(*lines: str) -> str:
    """A quoted string in DOT, where backslashes must be escaped."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'

"""The documents of the graph viewer: a graph, one instruction, and search results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tbprof.analysis.graphs.neighborhood import can_open, find_neighborhood
from tbprof.analysis.graphs.node_facts import NodeReader, NodeTimes
from tbprof.analysis.graphs.program_graph import ProgramGraph, draw_graph
from tbprof.analysis.graphs.program_links import ProgramLinks
from tbprof.analysis.hlo_text.hlo_instructions import WHOLE, instruction_text
from tbprof.analysis.hlo_text.hlo_quoting import one_line
from tbprof.analysis.hlo_text.hlo_shape_text import shape_text
from tbprof.analysis.hlo_text.hlo_text import lines_from, module_text
from tbprof.analysis.programs.instruction_facts import place_of
from tbprof.base.errors import BadRequest
from tbprof.base.records import NamedTuple
from tbprof.base.texts import whole_number
from tbprof.tools.graph.graph_choice import Center, ListedProgram, search_names
from tbprof.tools.model.datatable import Numbers, Table, number, text

MOST_NODES = 400
_MOST_FOUND, _MOST_LISTED = 50, 64
# Of a part of a text: HLO text becomes a fifth at least when it is compressed.
_MOST_LETTERS = 1_200_000


class OpenProgram(NamedTuple):
    """A program, with the executions of its instructions on its host."""

    listed: ListedProgram
    links: ProgramLinks
    times: Mapping[str, NodeTimes]
    device_type: str

    def reader(self) -> NodeReader:
        """A reader of its instructions."""
        return NodeReader(self.links, self.times)


def graph_of(
    program: OpenProgram, center: Center, hops: int, opened: Collection[str], *, opens_all: bool
) -> ProgramGraph:
    """The graph around an instruction, with the named instructions opened, or all fusions."""
    links = program.links
    rows = {links.find(name) for name in opened} - {-1}
    if opens_all:
        rows |= {row for row in range(links.rows) if links.module.opcode(row) == "fusion"}
    if center.is_computation:
        hops = links.rows
    near = find_neighborhood(links, center.row, hops, rows, MOST_NODES)
    return draw_graph(links, center.row, near)


def graph_document(
    programs: Sequence[ListedProgram],
    program: OpenProgram,
    center: Center | None,
    hops: int,
    graph: ProgramGraph | None,
) -> dict[str, object]:
    """The graph as JSON. Nodes, edges and clusters refer to nodes and clusters by their `id`."""
    links, reader = program.links, program.reader()
    head: dict[str, object] = {
        "programs": [
            {"program_id": listed.program_id, "name": listed.name, "host": listed.host,
             "device_ps": listed.device_ps}
            for listed in programs
        ],
        "program_id": program.listed.program_id,
        "name": program.listed.name,
        "host": program.listed.host,
        "instructions": links.rows,
        "hops": hops,
        "device_type": program.device_type,
        "most_nodes": MOST_NODES,
    }  # fmt: skip
    if center is None or graph is None:
        return {**head, "center": None, "center_name": "", "nodes": [], "edges": [],
                "clusters": [], "omitted": 0}  # fmt: skip
    return {
        **head,
        "center": center.row,
        "center_name": one_line(links.module.message(center.row).name),
        "nodes": [
            {
                "id": node.row,
                **reader.facts(node.row),
                "hops": node.hops,
                "cluster": node.cluster,
                "can_open": can_open(links, node.row),
                "constants": [
                    {"operand": operand, "text": reader.constant(row)}
                    for operand, row in node.constants
                ],
                "left_operands": node.left_operands,
                "left_users": node.left_users,
            }
            for node in graph.nodes
        ],
        "edges": [
            {"from": edge.source, "to": edge.target, "operand": edge.operand,
             "tuple_index": edge.tuple_index}
            for edge in graph.edges
        ],
        "clusters": [
            {
                "id": number,
                "computation": one_line(links.part(cluster.computation).name),
                "owner": None if cluster.owner < 0 else reader.facts(cluster.owner),
                "parent": cluster.parent,
                "left_out": cluster.left_out,
                "is_entry": cluster.computation == links.entry,
                "callers": _names(links, links.callers_of(cluster.computation)),
            }
            for number, cluster in enumerate(graph.clusters)
        ],
        "omitted": sum(cluster.left_out for cluster in graph.clusters),
    }  # fmt: skip


def node_document(program: OpenProgram, row: int) -> dict[str, object]:
    """Everything known about one instruction, with its text."""
    links = program.links
    proto = links.module.message(row)
    _, stack = place_of(links.module, proto.metadata)
    computation = links.computation_of(row)
    return {
        "program_id": program.listed.program_id,
        **program.reader().facts(row),
        "shape": shape_text(proto.shape),
        "text": instruction_text(links.module, row, WHOLE),
        "computation": one_line(links.part(computation).name),
        "callers": _names(links, links.callers_of(computation)),
        "calls": [one_line(links.part(part).name) for part in links.module.called_rows(row)],
        "operands": _names(links, links.module.operand_rows(row)),
        "users": _names(links, links.module.users_of(row)),
        "user_count": len(links.module.users_of(row)),
        "stack": stack,
    }


def text_document(program: OpenProgram, first_line: str) -> dict[str, object]:
    """The long HLO text of the program; with a `first_line`, from there on as much as is sent soon.

    `next_line` is then the line after that, `null` after the last one. Raises BadRequest.
    """
    module = program.links.module
    if first_line == "":
        return {"text": "\n".join(module_text(module))}
    first = whole_number(first_line, 9)
    if first is None:
        raise BadRequest(f"there is no line {first_line[:40]!r}", "the first one is first_line=0")
    lines: list[str] = []
    letters = 0
    for line in lines_from(module, first):
        if letters > _MOST_LETTERS:
            return {"text": "\n".join(lines), "next_line": first + len(lines)}
        lines.append(line)
        letters += len(line)
    return {"text": "\n".join(lines), "next_line": None}


def found_document(program: OpenProgram, query: str) -> dict[str, object]:
    """The instructions that match a text, and their number."""
    links = program.links
    rows, count = search_names(links, program.times, query, _MOST_FOUND)
    return {
        "count": count,
        "found": [
            {
                "name": one_line(links.module.message(row).name),
                "opcode": one_line(links.module.opcode(row)),
                "shape": shape_text(links.module.message(row).shape, has_layout=False)[:100],
                "computation": one_line(links.part(links.computation_of(row)).name),
                "self_ps": self_of(program, row),
            }
            for row in rows
        ],
    }


def self_of(program: OpenProgram, row: int) -> int | None:
    """The self time of an instruction, None if it did not run."""
    times = program.times.get(program.links.module.message(row).name)
    return None if times is None else times.self_ps


def node_table(program: OpenProgram, graph: ProgramGraph | None) -> Table:
    """The nodes of a graph, for CSV."""
    reader = program.reader()
    facts = [reader.facts(node.row) for node in graph.nodes] if graph else []

    def texts(name: str) -> list[str]:
        return [str(fact[name]) for fact in facts]

    def numbers(name: str) -> Numbers:
        values = [fact[name] for fact in facts]
        return np.array([np.nan if value is None else value for value in values], np.float64)

    return Table(
        (
            text("program", "Program", [program.listed.title] * len(facts)),
            text("name", "Instruction", texts("name")),
            text("opcode", "Opcode", texts("opcode")),
            text("shape", "Shape", texts("shape")),
            text("op_name", "Op Name", texts("op_name")),
            text("source", "Source", texts("source")),
            number("hops", "Hops", np.array([node.hops for node in graph.nodes] if graph else [],
                                            np.int64)),
            number("occurrences", "Occurrences", numbers("occurrences")),
            number("total_us", "Total time (us)", numbers("total_ps") / 1e6),
            number("self_us", "Self time (us)", numbers("self_ps") / 1e6),
            number("flops", "FLOPs of one execution", numbers("flops")),
            number("bytes", "Bytes of one execution", numbers("bytes")),
        )
    )  # fmt: skip


def _names(links: ProgramLinks, rows: Sequence[int]) -> list[str]:
    return [one_line(links.module.message(row).name) for row in rows[:_MOST_LISTED]]

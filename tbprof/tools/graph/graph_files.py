"""The files of the graph viewer: texts, protos and DOT."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tbprof.analysis.graphs.dot_text import dot_text
from tbprof.analysis.graphs.program_graph import ProgramGraph
from tbprof.analysis.graphs.program_source import proto_text
from tbprof.analysis.hlo_text.hlo_instructions import LONG, SHORT
from tbprof.analysis.hlo_text.hlo_quoting import one_line
from tbprof.analysis.hlo_text.hlo_text import module_text
from tbprof.base.errors import BadRequest
from tbprof.tools.graph.graph_document import OpenProgram
from tbprof.tools.model.tool import Attachment

_TEXT, _BYTES = "text/plain; charset=utf-8", "application/octet-stream"
_SKIPPED = "get-tuple-element"
_DEEPEST = 64


def text_file(program: OpenProgram, kind: str, *, has_metadata: bool) -> Attachment:
    """The HLO text of the program, "short_txt" or "long_txt"."""
    form = (SHORT if kind == "short_txt" else LONG)._replace(has_metadata=has_metadata)
    lines = module_text(program.links.module, form)
    return _file(program, lines, f"{kind.removesuffix('_txt')}.txt")


def proto_file(program: OpenProgram, content: bytes, kind: str) -> Attachment:
    """The HloProto in the trace, or its text ("pbtxt") with unknown fields by number."""
    if kind == "pb":
        return Attachment(content, _BYTES, f"{program.listed.title}.hlo_proto.pb")
    return _file(program, [proto_text(content)], "pbtxt")


def dot_file(program: OpenProgram, graph: ProgramGraph) -> Attachment:
    """The graph as DOT."""
    reader, links = program.reader(), program.links

    def describe(row: int) -> tuple[list[str], str]:
        facts = reader.facts(row)
        details = facts["details"] if isinstance(facts["details"], list) else []
        return [str(facts["name"]), str(facts["opcode"]), *details, str(facts["shape"])], str(
            facts["group"]
        )

    center = graph.nodes[0].row if graph.nodes else 0
    title = f"{program.listed.title} around {one_line(links.module.message(center).name)}"
    lines = dot_text(graph, title, describe, lambda part: one_line(links.part(part).name))
    return _file(program, lines, "dot")


def neighbors_file(program: OpenProgram, row: int) -> Attachment:
    """The names of the operands and users of an instruction, skipping elements of tuples."""
    links = program.links

    def source(operand: int) -> int:
        for _ in range(_DEEPEST):
            operands = links.module.operand_rows(operand)
            if links.module.opcode(operand) != _SKIPPED or not operands:
                break
            operand = operands[0]
        return operand

    users: dict[int, None] = {}
    waiting, done = list(links.module.users_of(row))[::-1], {row}
    while waiting:
        user = waiting.pop()
        if user in done:
            continue
        done.add(user)
        if links.module.opcode(user) == _SKIPPED and links.module.users_of(user):
            waiting.extend(reversed(links.module.users_of(user)))
        else:
            users[user] = None
    content = {
        "consumer_names": [one_line(links.module.message(user).name) for user in users],
        "operand_names": [
            one_line(links.module.message(source(operand)).name)
            for operand in links.module.operand_rows(row)
        ],
    }
    encoded = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    return Attachment(encoded, "application/json; charset=utf-8", "adj_nodes.json")


def kernel_file(program: OpenProgram, row: int) -> Attachment:
    """What a custom call passes to its backend: the code of a kernel, or its configuration.

    Raises BadRequest if there is none.
    """
    proto = program.links.module.message(row)
    if proto.opcode != "custom-call" or not proto.backend_config:
        raise BadRequest(
            f"{one_line(proto.name)[:80]!r} is not a custom call with a configuration",
            "only its target says what it runs",
        )
    text = proto.backend_config.decode("utf-8", "replace")
    return Attachment(text.encode(), _TEXT, "custom_call.txt")


def _file(program: OpenProgram, lines: Iterable[str], suffix: str) -> Attachment:
    content = "\n".join(lines).encode("utf-8", "replace")
    return Attachment(content, _TEXT, f"{program.listed.title}.{suffix}")

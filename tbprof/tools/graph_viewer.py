"""Graph viewer: the operands and users of the instructions of a compiled program."""

from __future__ import annotations

import functools
from collections.abc import Callable

from tbprof.advice.summaries import Summaries
from tbprof.analysis.graphs.node_facts import times_of
from tbprof.analysis.graphs.program_links import ProgramLinks
from tbprof.analysis.graphs.program_source import ProgramList, ProgramSource
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.base.errors import BadRequest
from tbprof.tools.graph.graph_choice import (
    ListedProgram,
    choose_center,
    choose_program,
    hops_of,
    is_set,
    list_programs,
)
from tbprof.tools.graph.graph_document import (
    OpenProgram,
    found_document,
    graph_document,
    graph_of,
    node_document,
    node_table,
    text_document,
)
from tbprof.tools.graph.graph_files import (
    dot_file,
    kernel_file,
    neighbors_file,
    proto_file,
    text_file,
)
from tbprof.tools.model.datatable import Table
from tbprof.tools.model.tool import Attachment, Choice, Document

PARTS = ("program_list", "program_ops")
CHOSEN_PARTS = ("program_source",)
_TEXTS, _PROTOS = ("short_txt", "long_txt"), ("pb", "pbtxt")
_OF_NODES = ("adj_nodes", "custom_call", "node")
_TYPES = ("graph", "json", *_TEXTS, *_PROTOS, *_OF_NODES, "search", "text")


def choose(summaries: Summaries) -> Choice | None:
    """The host that holds the program. Raises BadRequest if none does."""
    program = choose_program(_programs(summaries), summaries.params)
    return None if program is None else Choice(program.host, {"program_id": program.program_id})


def build(summaries: Summaries) -> Document | Attachment:
    """A graph, or the document or file that `type` names. Raises BadRequest."""
    params = summaries.params
    kind = params.get("type", "") or "graph"
    if kind not in _TYPES:
        raise BadRequest(f"type={kind[:40]!r} is unknown", f"use {', '.join(_TYPES)}")
    sources = summaries.take("program_source", ProgramSource)
    listed = choose_program(_programs(summaries), params)
    if not sources or listed is None:
        return Document(dict, dict, lambda: Table(()), is_empty=True)
    program = _open(summaries, listed, sources[0])
    if kind in _TEXTS:
        return text_file(program, kind, has_metadata=is_set(params, "show_metadata"))
    if kind in _PROTOS:
        return proto_file(program, bytes(program.links.module.blob), kind)
    if kind == "text":
        first_line = params.get("first_line", "")
        return _document(lambda: text_document(program, first_line), program)
    if kind == "search":
        query = params.get("search", "")
        return _document(lambda: found_document(program, query), program)
    return _of_node(summaries, program, kind)


def _of_node(summaries: Summaries, program: OpenProgram, kind: str) -> Document | Attachment:
    params = summaries.params
    name = params.get("node_name", "")
    if kind in _OF_NODES and not name:
        raise BadRequest(f"type={kind} needs node_name", "search=… lists the names of a program")
    center = choose_center(program.links, program.times, name)
    if kind == "node" and center is not None:
        row = center.row
        return _document(lambda: node_document(program, row), program)
    if kind in _OF_NODES and center is not None:
        return (neighbors_file if kind == "adj_nodes" else kernel_file)(program, center.row)
    hops = hops_of(params)
    opened = params.get("opened", "").split(",")
    opens_all = params.get("merge_fusion", "") in ("0", "false")
    graph = None
    if center is not None:
        graph = graph_of(program, center, hops, opened, opens_all=opens_all)
    if params.get("format", "") == "dot" and graph is not None:
        return dot_file(program, graph)
    if params.get("format", "") not in ("", "json", "dot"):
        raise BadRequest(
            f"format={params['format'][:40]!r} is not supported",
            "use format=dot; the page itself draws the graph",
        )
    made = functools.cache(
        lambda: graph_document(_programs(summaries), program, center, hops, graph)
    )
    return Document(made, made, lambda: node_table(program, graph))


def _document(make: Callable[[], dict[str, object]], program: OpenProgram) -> Document:
    return Document(make, make, lambda: node_table(program, None))


def _programs(summaries: Summaries) -> list[ListedProgram]:
    return list_programs(
        summaries.hosts,
        summaries.take("program_list", ProgramList),
        summaries.take("program_ops", ProgramOps),
    )


def _open(summaries: Summaries, listed: ListedProgram, source: ProgramSource) -> OpenProgram:
    ops = summaries.take("program_ops", ProgramOps)[summaries.hosts.index(listed.host)]
    times = times_of(ops, listed.program_id)
    return OpenProgram(listed, _links(_Content(source)), times, ops.device_type)


class _Content:
    """The content of a part, compared by identity, since comparing bytes takes time and memory."""

    def __init__(self, source: ProgramSource) -> None:
        self.array = source.content

    def __hash__(self) -> int:
        return id(self.array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Content) and other.array is self.array


@functools.lru_cache(maxsize=2)
def _links(content: _Content) -> ProgramLinks:
    """The links of recently requested programs, since one click follows another."""
    return ProgramLinks(Module(content.array.data.toreadonly()))

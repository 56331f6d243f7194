"""The rows of other pages that count an event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tbprof.analysis.vocabulary.op_names import DATASET
from tbprof.base import names
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.questions.event_facts import (
    Facts,
    event_instruction,
    find_op,
    kernel_op,
    program_of,
)

# Longer names do not fit into an address.
_MOST_NAME = 4000
_MASK = 2**64 - 1


def find_page_links(
    open_timeline: OpenTimeline, facts: Facts, step: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """Links to other pages: the tool, what it shows there, and the view's parameters.

    Filters on a name are `=name`, as the pages' tables write them.
    """
    return [*_rows(open_timeline, facts), *_graph(open_timeline, facts), *_steps(facts, step)]


def _rows(open_timeline: OpenTimeline, facts: Facts) -> Iterator[dict[str, Any]]:
    launched_by = kernel_op(open_timeline, facts)
    if launched_by is not None:
        view = {"f.kernel_name": facts.name}
        if launched_by.name:
            view["f.op_name"] = launched_by.name
        yield from _link("kernel_stats", "Launches of this kernel", view)
    op = find_op(open_timeline, facts)
    if op is None:
        return
    side = "Device" if facts.is_device or facts.is_gpu or facts.is_tpu else "Host"
    view = {"f.operation": op.name, "f.host_or_device": side}
    yield from _link("framework_op_stats", f"Op {op.name}", view)
    if side == "Host" and op.type == DATASET:
        yield from _link("input_pipeline_analyzer", f"Input op {op.name}", {"f.opName": op.name})


def _graph(open_timeline: OpenTimeline, facts: Facts) -> Iterator[dict[str, Any]]:
    """The instruction in the graph of its program."""
    name, program_id = event_instruction(facts), facts.integer(names.PROGRAM_ID)
    if not 0 < len(name) <= _MOST_NAME or program_id == -1:
        return
    module = program_of(open_timeline, facts)
    if module is not None and module.find(name) is not None:
        view = {"program_id": str(program_id & _MASK), "node_name": name}
        yield {"tool": "graph_viewer", "label": f"Instruction {name}"[:200], "params": view}


def _link(tool: str, label: str, filters: dict[str, str]) -> Iterator[dict[str, Any]]:
    if all(len(name) <= _MOST_NAME for name in filters.values()):
        view = {key: f"={name}" for key, name in filters.items()}
        yield {"tool": tool, "label": label[:200], "params": {**view, "filters": "1"}}


def _steps(facts: Facts, step: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    if step is None:
        return
    view = {"step": str(step["number"])} if step["part"] == "derived" else {}
    tools = ("overview_page", "pod_viewer") if facts.kind == "steps" else ("overview_page",)
    for tool in tools:
        yield {"tool": tool, "label": f"Step {step['label']}", "params": view}

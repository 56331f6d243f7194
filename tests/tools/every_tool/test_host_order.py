"""What a tool says of several hosts does not depend on the order in which they are given."""

from collections.abc import Sequence
from typing import Any

import pytest
from helpers.drawn.computed_parts import compute_parts
from traces import space_of
from traces.memory.allocators import Tensor, memory_trace
from traces.runs import cpu_steps, gpu_steps

from tbprof.advice.summaries import Summaries
from tbprof.engine.encode import tables_of
from tbprof.engine.requests import find_tool
from tbprof.tools.model.datatable import Table
from tbprof.tools.model.tool import Tool

JOBS = {
    "cpu": [cpu_steps("iiioooeeff"), cpu_steps("iiiooooooo"), cpu_steps("oo", late=3)],
    "gpu": [gpu_steps("kkkmm.hhdd", "LLL"), gpu_steps("mm.kkkk.hh", "LL"), gpu_steps("kk", "L")],
    "memory": [
        memory_trace("main |x.X", x=Tensor(bytes_, "read", owner=0)) for bytes_ in (1, 300, 20)
    ],
}
PARTS = {job: [compute_parts(space_of(trace)) for trace in traces] for job, traces in JOBS.items()}
# The number of a worker begins with that of its host.
OF_ORDER = {"core_id"}
# Other tools name the first of hosts that are equally slow, as those drawn here are.
TOOLS_OF = {
    "cpu": ("framework_op_stats", "pod_viewer"),
    "gpu": ("framework_op_stats", "kernel_stats", "pod_viewer"),
    "memory": ("memory_profile",),
}
CASES = [(find_tool(name), job) for job, names in TOOLS_OF.items() for name in names]


def tables(tool: Tool, job: str, order: Sequence[int]) -> list[Any]:
    parts = {name: [PARTS[job][host][name] for host in order] for name in tool.parts}
    payload = tool.build(Summaries(tuple(f"h{host}" for host in order), parts, {}))
    return [(comparable(table), table.properties) for table in tables_of(tool, payload)]


def comparable(table: Table) -> list[str]:
    columns = [column for column in table.columns if column.id not in OF_ORDER]
    found = zip(*(map(rounded, list(column.values)) for column in columns), strict=True)
    return sorted(str(row) for row in found)


def rounded(value: Any) -> Any:
    """Sums of fractions depend on their order."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize(("tool", "job"), CASES, ids=[f"{tool.name}-{job}" for tool, job in CASES])
def test_a_tool_says_the_same_of_hosts_in_any_order(tool, job):
    expected = tables(tool, job, [0, 1, 2])
    assert expected[0][0]
    for order in ([2, 1, 0], [1, 2, 0]):
        assert tables(tool, job, order) == expected

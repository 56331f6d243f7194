"""Programs keep in memory what their compiler says."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from tbprof._pb import message
from tbprof.analysis.program_memory.buffer_assignment import BufferAssignment, read_assignment
from tbprof.analysis.program_memory.heap_use import use_heap
from tbprof.analysis.program_memory.memory_spaces import DEVICE_SPACE
from tbprof.analysis.program_memory.program_peaks import peak_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs(compiled: Callable[..., list[str]]) -> list[tuple[BufferAssignment, dict[str, Any]]]:
    """Buffer assignments, and the figures of `compiled.memory_analysis()`."""
    found = [json.loads(line) for line in compiled("memory_programs.py")]
    return [(_assignment(one["protos"][1]), one) for one in found]


def _assignment(encoded: str) -> BufferAssignment:
    proto = message("xla.HloMemoryProto")()
    proto.buffer_assignment.ParseFromString(base64.b64decode(encoded))
    return read_assignment(proto.SerializeToString())


def test_totals_are_those_of_the_compiler(programs):
    assert len(programs) == 24
    for assignment, said in programs:
        kinds, size = assignment.allocations, assignment.allocations.size_bytes
        found = {
            "argument": kinds.is_parameter,
            "output": kinds.is_output,
            "alias": kinds.is_parameter & kinds.is_output,
            "temp": kinds.is_planned,
        }
        assert {name: int(size[rows].sum()) for name, rows in found.items()} == {
            name: said[name] for name in found
        }
    assert sum(said["alias"] > 0 for _, said in programs) == 9


def test_without_a_heap_the_peak_is_that_of_the_compiler(programs):
    """The compiler does not write down its heap here, and counts no temporary memory either."""
    for assignment, said in programs:
        assert not assignment.heap.kind.size
        use = use_heap(assignment, DEVICE_SPACE, assignment.buffers.size_bytes)
        assert peak_of(assignment, use, DEVICE_SPACE) == said["peak"]

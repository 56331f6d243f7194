"""Programs keep in memory what their compiler says."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers.recordings import recorded

from tbprof._pb import message
from tbprof.analysis.program_memory.buffer_assignment import BufferAssignment, read_assignment
from tbprof.analysis.program_memory.heap_use import use_heap
from tbprof.analysis.program_memory.memory_spaces import DEVICE_SPACE
from tbprof.analysis.program_memory.program_peaks import peak_of

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "scripts" / "memory_programs.py"


@pytest.fixture(scope="module")
def programs(record_python: str) -> list[tuple[BufferAssignment, dict[str, Any]]]:
    """Buffer assignments, and the figures of `compiled.memory_analysis()`."""

    def record(folder: Path) -> None:
        command = [record_python, str(SCRIPT), str(folder / "programs")]
        subprocess.run(command, check=True, env={"JAX_PLATFORMS": "cpu", "PATH": ""})

    made = recorded(record_python, [SCRIPT.read_text()], record)
    with (made / "programs").open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
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

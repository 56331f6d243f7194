"""The memory viewer of xprof beside ours, for every program and memory space of real traces."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import document_of
from traces import write
from traces.memory.memory_plans import MemoryPlan, planned_trace, train_step

from tbprof.base.errors import NoData
from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir

pytestmark = [pytest.mark.parity, pytest.mark.slow]

TOOL = "memory_viewer"
SPACES = ("0", "1", "2", "5", "7")
# It writes the programs beside the trace when it is asked for its tools.
_SCRIPT = """
import json, os, sys
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
from pathlib import Path
from xprof.convert import raw_to_tool_data as convert
folder = Path(sys.argv[1])
paths = [str(path) for path in folder.glob("*.xplane.pb")]
convert.xspace_to_tool_names(paths)
found = {}
for path in sorted(folder.glob("*.hlo_proto.pb")):
    module = path.name.removesuffix(".hlo_proto.pb")
    for space in sys.argv[2:]:
        params = {"module_name": module, "memory_space": space}
        try:
            answer = convert.xspace_to_tool_data(paths, "memory_viewer", params)[0]
        except ValueError:
            answer = None
        found[f"{module} {space}"] = json.loads(answer) if answer else None
json.dump(found, out)
"""
# Its colors are those of its charts.
_PRESENTATION = "color"
# A trace and its answers by module and space: xprof's, and ours.
Answers = tuple[str, dict[str, Any], dict[str, Any]]
_kept: dict[str, Answers] = {}


def both(python: str, folder: Path, name: str, trace: bytes) -> Answers:
    """The answers for each program and memory space of a trace."""
    write(folder, trace)
    result = subprocess.run(
        [python, "-c", _SCRIPT, str(folder), *SPACES], capture_output=True, text=True, check=True
    )
    theirs = json.loads(result.stdout)
    engine = Engine(Logdir(str(folder / "host0.xplane.pb")))
    [run] = engine.runs()
    ours = {}
    for key in theirs:
        module, space = key.split(" ")
        params = {"module_name": module, "memory_space": space}
        try:
            ours[key] = document_of(engine, run, TOOL, params=params)
        except NoData:
            ours[key] = None
    return name, theirs, ours


@pytest.fixture(params=["jax_cpu_training", "tpu_trace", "amd_trace"])
def answers(
    request: pytest.FixtureRequest,
    xprof_python: str,
    tmp_path: Path,
    trace_of: Callable[[str], Path],
) -> Answers:
    name: str = request.param
    if name not in _kept:
        _kept[name] = both(xprof_python, tmp_path, name, trace_of(name).read_bytes())
    return _kept[name]


def without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in names}


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without what differs everywhere: colors, and when shared memory is freed."""
    blocks = [without(one, _PRESENTATION, "endStep") for one in record.get("bufferBlocks", ())]
    return without(record, "logicalBufferSpans") | ({"bufferBlocks": blocks} if blocks else {})


def test_programs_are_those_of_xprof(answers: Answers) -> None:
    """Peaks, what is in use at each event, the buffers at the peak, totals, and fixed memory."""
    name, theirs, ours = answers
    assert len(theirs) == {"jax_cpu_training": 14, "tpu_trace": 4, "amd_trace": 9}[name] * 5
    shown = 0
    for key, their in theirs.items():
        mine = ours[key]
        if mine is None:  # nothing is there, which xprof shows as zeros
            assert set(their) <= {"moduleName", "entryComputationName"}
            continue
        shown += 1
        lists = ("maxHeap", "maxHeapBySize", "maxHeapToBySize", "bySizeToMaxHeap")
        if key.startswith("jit_f(") and key.endswith(" 5"):
            # It lists fixed memory of the first memory space only.
            assert not {*lists} & {*their}
            assert len(mine["maxHeap"]) == 3
            mine = without(mine, *lists)
        assert plain(mine) == plain(their)
    assert shown == {"jax_cpu_training": 14, "tpu_trace": 9, "amd_trace": 9}[name]


def test_shared_memory_is_in_use_until_its_last_user_is_freed(answers: Answers) -> None:
    """Also where xprof's spans end: what it has in use does not become less there."""
    name, theirs, ours = answers
    longer = 0
    for key, their in theirs.items():
        mine = ours[key] or {}
        spans, of_ours = their.get("logicalBufferSpans", {}), mine.get("logicalBufferSpans", {})
        assert spans.keys() == of_ours.keys()
        for buffer, span in spans.items():
            assert of_ours[buffer].get("start", 0) == span.get("start", 0)
            if of_ours[buffer]["limit"] != span["limit"]:
                assert of_ours[buffer]["limit"] > span["limit"]
                before, after = their["heapSizes"][span["limit"] :][:2]
                assert before == after
                longer += 1
    assert (longer > 0) == (name == "jax_cpu_training")


def two_allocations(*heaps: str) -> bytes:
    """A program of two buffers with allocations of their own, and what its heaps simulate."""
    plan = MemoryPlan()
    plan.program.name("jit_f", 7)
    for name in ("a", "b"):
        plan.program.add(name, "add", "f32[16384]{0}")
        plan.buffer(name, 2**16)
        plan.allocate(2**16, name)
    for heap in heaps:
        plan.heap(heap)
    return planned_trace(("jit_f(7)", plan.bytes()), ran=[7])


def test_several_heaps_of_one_memory_space_are_one(xprof_python: str, tmp_path: Path) -> None:
    """xprof shows the first of them."""
    trace = two_allocations("+a -a:b", "+b -b")
    _, theirs, ours = both(xprof_python, tmp_path, "two", trace)
    assert theirs["jit_f(7) 0"]["heapSizes"] == [0, 2**-4, 0]
    assert ours["jit_f(7) 0"]["heapSizes"] == [0, 2**-4, 0, 2**-4, 0]


def test_a_heap_of_two_allocations_is_shown(xprof_python: str, tmp_path: Path) -> None:
    """xprof has no answer."""
    _, theirs, ours = both(xprof_python, tmp_path, "two", two_allocations("+a +b -a -b"))
    assert theirs["jit_f(7) 0"] is None
    assert ours["jit_f(7) 0"]["peakHeapMib"] == 2**-3


def test_a_drawn_program_is_that_of_xprof(xprof_python: str, tmp_path: Path) -> None:
    trace = planned_trace(("jit_step(7)", train_step().bytes()), ran=[7])
    _, theirs, ours = both(xprof_python, tmp_path, "step", trace)
    ours["jit_step(7) 0"].pop("entryComputationName")  # drawn programs do not state it
    assert plain(ours["jit_step(7) 0"]) == plain(theirs["jit_step(7) 0"])
    assert ours["jit_step(7) 0"]["peakHeapMib"] == 13328 / 2**20

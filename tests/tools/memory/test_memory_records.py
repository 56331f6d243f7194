"""Memory for scripts: the JSON that they read, tables, files, the command line."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from helpers.commands import run
from helpers.memory_pages import BEFORE, HOST_TRACE, TRACE, document, records
from traces import draw, write
from traces.memory.allocators import GPU, US, Tensor, memory_trace

import tbprof


def test_the_records_that_scripts_read():
    trace = memory_trace(
        """
        main  |a.b.A
        steps |3.3.3
        """,
        a=Tensor(100, "op", "output", 1, "[25]", requested=96),
        b=Tensor(100, "op", "output", 1, "[25]", requested=96),
        before={GPU: 600},
        lifetime={"A": 900},
    )
    state = {"stackReservedBytes": "0", "fragmentation": 0.25}
    kind = {
        "requestedBytes": "96",
        "allocationBytes": "100",
        "tfOpName": "op",
        "stepId": "0",
        "regionType": "output",
        "dataType": "float",
        "tensorShape": "[25]",
    }

    def snapshot(us: int, heap: int, letter: str, activity: str, most: int) -> dict[str, Any]:
        return {
            "timeOffsetPs": str(us * US),
            "aggregationStats": {
                **state,
                "heapAllocatedBytes": str(heap),
                "freeMemoryBytes": str(1000 - heap),
                "peakBytesInUse": str(most),
            },
            "activityMetadata": {
                **kind,
                "memoryActivity": activity,
                "address": str(4096 * ord(letter)),
            },
        }

    first, second, last = (
        snapshot(0, 700, "a", "ALLOCATION", 700),
        snapshot(2, 800, "b", "ALLOCATION", 800),
        snapshot(4, 700, "a", "DEALLOCATION", 900),
    )
    assert records(trace) == {
        "memoryProfilePerAllocator": {
            GPU: {
                "memoryProfileSnapshots": [first],
                "profileSummary": {
                    "peakBytesUsageLifetime": "900",
                    "peakStats": {
                        **state,
                        "heapAllocatedBytes": "800",
                        "freeMemoryBytes": "200",
                        "peakBytesInUse": "800",
                    },
                    "peakStatsTimePs": str(2 * US),
                    "memoryCapacity": "1000",
                    "numAllocations": "2",
                    "numDeallocations": "1",
                },
                "activeAllocations": [
                    {"snapshotIndex": "-1", "specialIndex": "0", "numOccurrences": "1"},
                    {"snapshotIndex": "0", "specialIndex": "-1", "numOccurrences": "2"},
                ],
                "specialAllocations": [
                    {
                        "memoryActivity": "ALLOCATION",
                        "requestedBytes": "600",
                        "allocationBytes": "600",
                        "address": "0",
                        "tfOpName": BEFORE,
                        "stepId": "0",
                        "regionType": "",
                        "dataType": "INVALID",
                        "tensorShape": "unknown",
                    }
                ],
                "sampledTimelineSnapshots": [first, second, last],
            }
        },
        "numHosts": 1,
        "memoryIds": [GPU],
        "version": 1,
        "hloModules": [],
    }


def test_records_of_several_hosts_have_their_names():
    modules = draw({"/device:TPU:0": "XLA Modules |.mm"}, names={"m": "jit_f(1)"})
    both = memory_trace("main |a", a=Tensor(1, owner=0))
    found = records(both, HOST_TRACE + modules)
    assert found["numHosts"] == 2
    assert found["memoryIds"] == ["host0: 0", "host1: cpu"]
    assert found["hloModules"] == [
        {
            "name": "jit_f(1)",
            "startTimePs": str(US),
            "endTimePs": str(3 * US),
            "id": "0",
            "planeName": "host1: TPU:0",
        }
    ]


def test_records_sample_the_timeline_alone():
    found = records(memory_trace(f"main |a{'bB' * 1000}", a=Tensor(5), b=Tensor(7)))
    one = found["memoryProfilePerAllocator"][GPU]
    assert len(one["sampledTimelineSnapshots"]) <= 1000
    summary = one["profileSummary"]
    assert (summary["numAllocations"], summary["numDeallocations"]) == ("1001", "1000")


def test_the_table_is_what_is_in_use_at_every_peak():
    table = document(HOST_TRACE, TRACE).table()
    assert table.column("memory_id").cells() == ["host0: cpu"] * 2 + [f"host1: {GPU}"] * 4
    relu, weights, scratch = "model/relu", "model/weights", "model/scratch"
    assert table.column("op_name").cells() == ["", "read", BEFORE, relu, weights, scratch]
    assert table.column("allocated_bytes").cells() == [20, 10, 550, 300, 100, 40]
    assert table.column("requested_bytes").cells() == [20, 10, 550, 300, 96, 40]
    assert table.column("occurrences").cells() == [1] * 6
    regions = ["", "", "", "output", "persist", "temp"]
    assert table.column("region_type").cells() == regions
    assert table.column("data_type").cells() == ["", "", "", "half", "float", ""]
    assert table.column("shape").cells() == ["", "", "", "[15,10]", "[5,5]", ""]
    ages = ["step", "step", "before", "step", "earlier", "earlier"]
    assert table.column("age").cells() == ages
    assert table.column("step").cells() == ["", "", "", "5", "", "4"]
    assert table.column("since_ms").cells() == [0.002, 0, None, 0.01, 0.001, 0.005]


def test_the_table_of_one_allocator_at_an_instant():
    table = document(HOST_TRACE, TRACE, memory_id=f"host1: {GPU}", at_ps=str(3 * US)).table()
    assert table.column("allocated_bytes").cells() == [600, 200, 100]
    assert len(document(TRACE, memory_id=GPU, at_ps="0").table()) == 0


def test_from_files_in_python_and_on_the_command_line(tmp_path: Path):
    path = str(write(tmp_path, TRACE))
    [view] = tbprof.open_logdir(path, cache=False).runs.values()
    chosen = {"memory_id": GPU, "at_ps": str(3 * US)}
    [table] = view.tool("memory_profile", params=chosen).tables
    assert table.column("op_name").cells() == [BEFORE, "model/relu", "model/weights"]
    command = ["export", path, "--tool", "memory_profile"]
    said = run(*command)
    assert said.exit_code == 0
    assert json.loads(said.stdout)["memoryIds"] == [GPU]
    choices = ["--param", f"memory_id={GPU}", "--param", "at_ps=0"]
    said = run(*command, "--format", "csv", *choices)
    assert said.exit_code == 0
    header, *lines = csv.reader(io.StringIO(said.stdout))
    assert (header[:3], lines) == (["Memory ID", "Op Name", "Allocation Size (bytes)"], [])

"""The pod viewer's records by hand, in each of its three layouts."""

import dataclasses
import gzip
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
import pytest
from builders.couplings import coupling_of
from builders.host_steps import host_steps
from traces import drawn_space

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.step_calls import NO_CALLS
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.tpu.cores import Cores
from tbprof.analysis.tpu.exchanges import Exchanges, find_exchanges
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.tools.model.tool import Document
from tbprof.tools.pod_viewer import EVENTS, build

US = 1_000_000


def host(*rows: tuple[int, int, int, dict[Phase, int]], kind: str = "GPU") -> Steps:
    """Rows (worker, step number, start, µs by phase), ordered by worker and start."""
    return host_steps(
        *rows,
        kind=kind,
        note="from one annotation to the next" if rows else "nothing marks steps",
        candidate_name=["train", "step"],
        candidate_line=["python", "python"],
        candidate_count=np.array([2, 9]),
        candidate_median_ps=np.array([5_000_000, 2_000_000]),
    )


NONE = Cores([], np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), [])

NOTHING = np.zeros(0, np.int64)
NO_IDLE_TIME = IdleTime(
    NOTHING, NOTHING, NOTHING, NOTHING, [], [], np.zeros(0, bool), NOTHING, NO_CALLS
)  # fmt: skip


def no_exchanges() -> Exchanges:
    """Those of a trace without cores."""
    space = drawn_space({"/host:CPU": "t |a"})
    return find_exchanges(space, Programs(space))


def document(
    *hosts: Steps,
    kind: str = "GPU",
    tied: bool = False,
    cores: Sequence[Cores] = (),
    **params: str,
) -> Any:
    """The `Document`; `tied` workers run the same collectives."""
    devices = [Devices(1, 0, kind, np.nan, np.nan) for _ in hosts]
    couplings = [coupling_of(one.worker_name if tied else []) for one in hosts]
    summaries = Summaries(
        tuple(f"host{index}" for index in range(len(hosts))),
        {
            "steps": hosts,
            "devices": devices,
            "coupling": couplings,
            "cores": cores or [NONE] * len(hosts),
            "exchanges": [no_exchanges()] * len(hosts),
            "idle_time": [NO_IDLE_TIME] * len(hosts),
        },
        params,
    )
    found = build(summaries)
    assert isinstance(found, Document)
    return found


ONE = host(
    (0, 3, 0, {Phase.COMPUTE_16: 4, Phase.COMPUTE_32: 2, Phase.INPUT: 1, Phase.OTHER: 3}),
    (0, 4, 10, {Phase.COMPUTE_8: 1, Phase.COLLECTIVES: 7, Phase.COMPILATION: 2}),
)
TWO = host((0, 4, 0, {Phase.OUTPUT: 2, Phase.KERNEL_LAUNCH: 2, Phase.HOST_COMPUTE: 2}))


def breakdown(**us: float) -> dict[str, float]:
    return {str(id_): us.get(f"_{id_}", 0.0) for id_, _, _ in EVENTS}


def record(
    host_name: str, total: float, bottleneck: str, step: int, **us: float
) -> dict[str, object]:
    return {
        "hostName": host_name,
        "chipId": 0,
        "nodeId": 0,
        "stepNum": step,
        "totalDurationUs": total,
        "bottleneck": bottleneck,
        "stepBreakdownUs": breakdown(**us),
        "workerName": "GPU:0",
        "isTruncated": False,
    }


def test_the_records_that_scripts_read():
    found = document(ONE, TWO).rows()
    assert found == {
        "podStatsSequence": {
            "podStatsMap": [
                {
                    "stepNum": 3,
                    "stepName": "train 3",
                    "podStatsPerCore": {
                        "1": record("host0", 10, "Device compute", 3, _1=6, _6=1, _9=3)
                    },
                    "channelDb": [],
                    "coreIdToReplicaIdMap": {},
                    "allReduceOpDb": [],
                },
                {
                    "stepNum": 4,
                    "stepName": "train 4",
                    "podStatsPerCore": {
                        "1": record(
                            "host0", 10, "Device collective communication", 4, _1=1, _3=7, _8=2
                        ),
                        # Of equal parts the larger name in byte order is the bottleneck.
                        "1001": record("host1", 6, "Output", 4, _4=2, _5=2, _7=2),
                    },
                    "channelDb": [],
                    "coreIdToReplicaIdMap": {},
                    "allReduceOpDb": [],
                },
            ]
        },
        "diagnostics": {"info": [], "warnings": [], "errors": []},
        "stepBreakdownEvents": [
            {"id": 1, "name": "Device compute"},
            {"id": 2, "name": "Device to device"},
            {"id": 10, "name": "Host transfer"},
            {"id": 11, "name": "Host callbacks"},
            {"id": 3, "name": "Device collective communication"},
            {"id": 4, "name": "Host compute"},
            {"id": 5, "name": "Kernel launch"},
            {"id": 6, "name": "Input"},
            {"id": 7, "name": "Output"},
            {"id": 8, "name": "Compilation"},
            {"id": 9, "name": "All others"},
        ],
        "deviceType": "GPU",
    }


def test_the_page_gets_every_cell_in_whole_units_and_thousandths():
    found = json.loads(
        orjson.dumps(document(ONE, TWO).columns(), option=orjson.OPT_SERIALIZE_NUMPY)
    )
    # The typical step has 10 µs, so a unit is a thousandth of 1 µs.
    assert found["unit_us"] == 0.001
    assert found["total"] == [10_000, 10_000, -1, 6_000]  # host1 has no step 3
    assert found["share_permille"] == {
        "1": [600, 100, -1, 0],
        "3": [0, 700, -1, 0],
        "4": [0, 0, -1, 333],
        "5": [0, 0, -1, 333],
        "6": [100, 0, -1, 0],
        "7": [0, 0, -1, 333],
        "8": [0, 200, -1, 0],
        "9": [300, 0, -1, 0],
    }
    assert found["steps"] == {
        "number": [3, 4],
        "label": ["train 3", "train 4"],
        "start_ms": [0.0, 0.0],
        "is_truncated": [False, False],
        "is_outlier": [False, False],
        "outlier_cause": ["", ""],
    }
    assert found["workers"] == {
        "core_id": [1, 1001],
        "name": ["GPU:0", "GPU:0"],
        "kind": ["GPU", "GPU"],
        "host": [0, 1],
        "chip_id": [None, None],
        "node_id": [None, None],
        "replica_id": [None, None],
    }
    assert found["hosts"] == ["host0", "host1"]
    assert found["stragglers"] == []
    # Nothing says that they wait for each other. Of their one common step the first has 10 µs.
    assert found["no_straggler"] == "uncoupled"
    assert found["compared"] == {
        "worker": 0,
        "device": None,
        "reference": 1,
        "reference_device": None,
        "late_us": 4.0,
        "low_us": None,
        "high_us": None,
        "wait_us": 0.0,
        "share": pytest.approx(4 / 9),
        "event": 3,
        "last_steps": 1,
        "steps": 1,
    }
    assert found["markers"] == {
        "name": ["train", "step"],
        "line": ["python", "python"],
        "count": [2, 9],
        "median_ms": [0.005, 0.002],
    }
    assert found["is_inferred"] is False


def test_a_step_of_days_beside_steps_of_picoseconds_has_an_exact_number_of_units():
    times = np.array([1, 6, 2**57 + 1])
    drawn = host(*((0, index, index, {Phase.OTHER: 1}) for index in range(3)))
    phases = drawn.phase_ps // US * times[:, None]
    steps = dataclasses.replace(drawn, duration_ps=times, own_ps=times, phase_ps=phases)
    found: Any = document(steps).columns()
    assert found["total"][2] * found["unit_us"] == pytest.approx(2**57 / 1e6, rel=1e-9)
    assert 2**49 < found["total"][2] < 2**53
    assert found["share_permille"]["9"].tolist() == [1000] * 3


def test_what_was_not_recorded_is_no_zero():
    lost = dataclasses.replace(ONE, is_unrecorded=np.array([False, True]))
    found = document(lost, TWO)
    records = found.rows()["podStatsSequence"]["podStatsMap"]
    assert [list(one["podStatsPerCore"]) for one in records] == [["1"], ["1001"]]
    columns = found.columns()
    assert columns["unrecorded"].tolist() == [1]
    assert columns["total"].tolist() == [10_000, -1, -1, 6_000]
    assert columns["diagnostics"] == [
        {
            "severity": "WARNING",
            "message": "host0: GPU:0: step train 4 was not recorded; averages exclude it.",
        }
    ]
    assert document(lost, TWO, step="1").columns()["worker"].tolist() == [1]
    table = {column.id: column.cells() for column in found.table().columns}
    assert table["total_us"] == [10, None, 6]
    assert table["is_unrecorded"] == [False, True, False]
    assert table["bottleneck"][1] == ""


def test_the_late_worker_and_how_much_the_others_wait():
    """The second worker takes 3 to 5 µs longer, and the first waits for it."""
    late = {
        at: [(at, step, 20 * step, {Phase.COMPUTE_16: 10 + by, Phase.COLLECTIVES: 8 - by})
             for step, more in enumerate((3, 4, 5, 4)) for by in (more * at,)]
        for at in (0, 1)
    }  # fmt: skip
    found = document(host(*late[0], *late[1]), tied=True).columns()
    assert found["no_straggler"] == ""
    assert found["compared"] is None
    (one,) = found["stragglers"]
    # t of 3 degrees of freedom is 3.182, the deviation of 3, 4, 5, 4 is 0.816.
    assert one == {
        "worker": 1,
        "device": None,
        "reference": 0,
        "reference_device": None,
        "late_us": 4.0,
        "low_us": pytest.approx(4 - 3.182 * 0.8165 / 2, rel=1e-3),
        "high_us": pytest.approx(4 + 3.182 * 0.8165 / 2, rel=1e-3),
        "wait_us": 4.0,
        "share": pytest.approx(4 / 18),
        "event": 1,
        "last_steps": 4,
        "steps": 4,
    }


def test_one_step_exactly():
    found = json.loads(
        orjson.dumps(document(ONE, TWO, step="1").columns(), option=orjson.OPT_SERIALIZE_NUMPY)
    )
    assert found["step"] == 1
    assert found["worker"] == [0, 1]
    assert found["start_ms"] == [0.01, 0]
    assert found["total_us"] == [10, 6]
    assert found["event_us"]["3"] == [7, 0]
    assert found["event_us"]["7"] == [0, 2]
    assert found["bottleneck"] == [3, 7]
    assert len(document(ONE, step="0").table()) == 1


def test_a_step_that_is_not_there_means_all_of_them():
    for step in ("2", "-1", "x", "", "9" * 30, "１"):
        assert "workers" in document(ONE, step=step).columns()


def test_no_steps_is_an_empty_table_with_the_reason():
    found = document(host())
    assert len(found.table()) == 0
    known = found.rows()["diagnostics"]
    assert known["warnings"][0].startswith("No step marker was found")
    assert found.columns()["total"].size == 0


def test_there_is_something_to_show_where_an_event_can_be_chosen():
    assert not document(host()).is_empty
    assert document(dataclasses.replace(host(), candidate_name=[])).is_empty
    assert not document(dataclasses.replace(ONE, candidate_name=[])).is_empty


def test_the_table_has_a_row_per_step_and_worker():
    table = document(ONE, TWO).table()
    assert table.column("step_name").cells() == ["train 3", "train 4", "train 4"]
    assert table.column("host").cells() == ["host0", "host0", "host1"]
    assert table.column("event_1_us").cells() == [6, 1, 0]
    assert table.column("bottleneck").cells() == [
        "Device compute",
        "Device collective communication",
        "Output",
    ]


def test_a_thousand_cores_and_a_hundred_steps_fit_in_a_megabyte():
    times = np.random.default_rng(1).normal(
        (60_000, 20_000, 3_000, 5_000), (900, 2_000, 900, 900), (256, 4, 100, 4)
    )
    hosts = []
    for of_host in np.maximum(times, 0).astype(int).tolist():
        rows = []
        for worker in range(4):
            for step in range(100):
                compute, wait, feed, idle = of_host[worker][step]
                rows.append(
                    (worker, step, step * 90_000, {
                        Phase.COMPUTE_16: compute, Phase.COLLECTIVES: wait,
                        Phase.INPUT: feed, Phase.OTHER: idle,
                    })
                )  # fmt: skip
        hosts.append(host(*rows, kind="TPU"))
    content = orjson.dumps(document(*hosts).columns(), option=orjson.OPT_SERIALIZE_NUMPY)
    assert len(gzip.compress(content, 5)) < 1_000_000


def test_chips_nodes_and_replicas_are_those_of_the_trace():
    cores = Cores(
        ["TPU:0", "TPU:1"], np.array([8, -1]), np.array([1, -1]), np.array([3, 2]),
        ["the core details of TPU:1 are ignored: they are those of device 7"],
    )  # fmt: skip
    steps = host((0, 3, 0, {Phase.OTHER: 4}), (1, 3, 0, {Phase.OTHER: 4}), kind="TPU")
    found = document(steps, kind="TPU", cores=[cores])
    rows = json.loads(json.dumps(found.rows()))
    [step] = rows["podStatsSequence"]["podStatsMap"]
    places = {key: (one["chipId"], one["nodeId"]) for key, one in step["podStatsPerCore"].items()}
    assert places == {"0": (8, 1), "1": (0, 0)}
    assert step["coreIdToReplicaIdMap"] == {"0": 3, "1": 2}
    assert rows["diagnostics"]["warnings"] == [f"host0: {cores.doubts[0]}"]
    page = found.columns()
    assert page["workers"]["chip_id"] == [8, None]
    assert page["workers"]["node_id"] == [1, None]
    assert {"severity": "WARNING", "message": f"host0: {cores.doubts[0]}"} in page["diagnostics"]

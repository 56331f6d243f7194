"""Groups, steps, ops that take longest, and environment of recorded traces: ours against xprof's.

What differs on purpose is listed with the reason; its own tests are named in docs/differences.md.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.payloads import document_of, rows
from helpers.tables import records
from parity.oracle import Compare
from traces import message_of

from tbprof.analysis.grouping.grouping import find_grouping
from tbprof.analysis.grouping.roots import names_at
from tbprof.engine.engine import DataRequest, Engine
from tbprof.tools.model.datatable import Table
from tbprof.xplane.reader import read_space

pytestmark = [pytest.mark.parity, pytest.mark.slow]

OVERVIEW, INPUT, POD, TRACE = TOOLS = (
    "overview_page", "input_pipeline_analyzer", "pod_viewer", "trace_viewer",
)  # fmt: skip
CPUS = ("tensorflow_cpu_training", "tensorflow_input_bound", "jax_cpu_training")
CASES = (*CPUS, "gpu", "tpu")
HOST_PID = 701  # of the trace viewer's first host


@dataclass(frozen=True)
class Pair:
    """Both tools' answers for one trace."""

    trace: Path
    theirs: dict[str, Any]
    engine: Engine

    def ours(self, tool: str) -> tuple[Table, ...]:
        return self.engine.tables(DataRequest("run", tool))

    def our_steps(self) -> list[dict[str, Any]]:
        """What the pod viewer knows of each step, exactly."""
        return [
            document_of(self.engine, "run", POD, layout="columns", params={"step": str(step)})
            for step in range(len(self.ours(OVERVIEW)[1]))
        ]

    def their_steps(self) -> list[dict[str, Any]]:
        """The records of xprof's pod viewer: of the one worker that it knows."""
        steps = self.theirs[POD]["podStatsSequence"]["podStatsMap"]
        return [step["podStatsPerCore"]["1"] for step in steps]


@pytest.fixture
def pair(case: str, compare: Compare, trace_of: Callable[[str], Path]) -> Pair:
    trace = trace_of(case if case in CPUS else f"{case}_trace")
    found = compare(trace.read_bytes(), tools=TOOLS)
    return Pair(trace, found.theirs, found.engine)


# Groups. The trace viewer shows the group of every event but those of these names.

UNSHOWN = ("MemoryAllocation", "MemoryDeallocation", "PrefetchConsume")


@pytest.mark.parametrize("case", [*CPUS, "gpu"])
def test_every_host_event_is_in_the_group_that_xprof_says(pair: Pair, case: str):
    """Without the work handed to pools of threads, which xprof does not follow."""
    theirs = Counter(
        (int(event["args"]["group_id"]), round(event["ts"] * 1e3), round(event["dur"] * 1e3))
        for event in pair.theirs[TRACE]["traceEvents"]
        if event.get("ph") == "X" and event["pid"] == HOST_PID
        and "group_id" in event.get("args", {})
    )  # fmt: skip
    grouping = find_grouping(read_space(pair.trace), follows_pools=False)
    [host] = grouping.hosts
    texts = np.array(names_at(host.events, np.arange(len(host.events))), object)
    found = np.flatnonzero((host.group >= 0) & ~np.isin(texts, UNSHOWN))
    ours = Counter(
        (int(grouping.ids[host.group[row]]), round(host.events.start_ps[row] / 1e3),
         round(host.events.duration_ps[row] / 1e3))
        for row in found.tolist()
    )  # fmt: skip
    assert sum(ours.values()) > 300
    assert ours == theirs


# Steps.


@pytest.mark.parametrize("case", CPUS)
def test_marked_steps_last_as_long_as_xprof_says(pair: Pair, case: str):
    """To 1 ns. xprof leaves out the first and the last of more than five, and the gaps between.

    What a step's threads still do after its marker has ended is the step's own here.
    """
    theirs = rows(pair.theirs[INPUT][1])
    numbers = [step["stepNum"] for step in pair.their_steps()]
    table = pair.ours(INPUT)[1]
    labels = table.column("stepnum").cells()
    steps = pair.our_steps()
    marker_ps = find_grouping(read_space(pair.trace)).roots.duration_ps

    assert labels == [f"train {number}" for number in range(8)]
    assert [row["stepnum"] for row in theirs] == labels[1:-1]
    assert numbers == list(range(1, 7))
    for row, number in zip(theirs, numbers, strict=True):
        [own_us] = steps[number]["own_us"]
        [total_us] = steps[number]["total_us"]
        assert marker_ps[number] / 1e6 == pytest.approx(row["stepTimeMs"] * 1e3, abs=1e-3)
        assert marker_ps[number] / 1e6 <= own_us <= total_us <= 1.01 * own_us
    averaged = [row["stepTimeMs"] for row in theirs]
    assert pair.theirs[INPUT][1]["p"]["steptime_ms_average"] == f"{np.mean(averaged):.1f}"


@pytest.mark.parametrize("case", CPUS[:2])
def test_waiting_for_input_is_that_of_xprof_and_a_little_more(pair: Pair, case: str):
    """xprof counts the op; the eager runtime's way into it counts here, too."""
    theirs = rows(pair.theirs[INPUT][1])
    ours = pair.ours(INPUT)[1].column("infeedTimeMs").cells()[1:-1]
    for row, mine in zip(theirs, ours, strict=True):
        assert row["infeedTimeMs"] - 1e-6 <= mine <= row["infeedTimeMs"] + 0.3


@pytest.mark.parametrize("case", ["gpu"])
def test_xprof_shows_the_longer_of_two_gpus(pair: Pair, case: str):
    """Worked by hand: the step of GPU:4 lasts 19,865.491 µs, that of GPU:6 21,310.352 µs.

    xprof's compute is that of either GPU while GPU:6 worked, with the copies.
    """
    [theirs], [ours] = pair.their_steps(), pair.our_steps()
    assert theirs["totalDurationUs"] == 21310.352
    assert ours["total_us"] == ours["own_us"] == [19865.491, 21310.352]
    assert theirs["stepBreakdownUs"]["1"] == 14875.539
    busy = [union_us(pair.trace, f"/device:GPU:{gpu}") for gpu in (4, 6)]
    assert ours["event_us"]["1"] == pytest.approx(busy, abs=1e-6)
    assert sum(value[1] for value in ours["event_us"].values()) == pytest.approx(21310.352)


def union_us(trace: Path, name: str) -> float:
    """How long kernels ran on a GPU within its step, read by protobuf and counted plainly."""
    space = message_of(trace.read_bytes())
    [plane] = [plane for plane in space.planes if plane.name == name]
    texts = {key: entry.name for key, entry in plane.event_metadata.items()}
    streams = [line for line in plane.lines if line.name.startswith("Stream")]
    [steps] = [line for line in plane.lines if line.name == "Steps"]

    def spans(line: Any) -> list[tuple[int, int, str]]:
        zero = line.timestamp_ns * 1000
        return [
            (zero + event.offset_ps, zero + event.offset_ps + event.duration_ps,
             texts[event.metadata_id])
            for event in line.events
        ]  # fmt: skip

    [(first, last, _)] = [span for span in spans(steps) if span[1] > span[0]]
    kernels = sorted(
        (max(start, first), min(end, last))
        for line in streams
        for start, end, text in spans(line)
        if not text.startswith(("Memcpy", "Memset"))
    )
    total, at = 0, first
    for start, end in kernels:
        total += max(0, end - max(start, at))
        at = max(at, end)
    return total / 1e6


@pytest.mark.parametrize("case", ["tpu"])
def test_xprof_finds_no_steps_of_a_tpu_that_wrote_none(pair: Pair, case: str):
    """100 executions of the main program are steps here, and it is said."""
    assert pair.their_steps() == []
    [warning] = pair.theirs[POD]["diagnostics"]["warnings"]
    assert warning.startswith("No step marker observed")
    table = pair.ours(INPUT)[1]
    assert len(table) == 100
    assert table.properties["step_source"] == "executions"
    assert table.properties["is_inferred"] == "true"
    assert "jit_f" in table.properties["step_note"]


# The overview.


@pytest.mark.parametrize("case", ["tpu"])
def test_the_ops_that_take_longest_are_those_of_xprof(pair: Pair, case: str):
    theirs, ours = rows(pair.theirs[OVERVIEW][0]), records(pair.ours(OVERVIEW)[0])
    assert len(theirs) == 10
    for their, our in zip(theirs, ours, strict=True):
        assert our["operation"] == their["operation"]
        for name in ("selfTimePercent", "cumulativeTimePercent"):
            assert our[name] == pytest.approx(their[name], rel=1e-12)
        if their["flopRate"] == 0:
            assert our["flopRate"] is None  # not measured
        else:
            assert our["flopRate"] == pytest.approx(their["flopRate"], rel=1e-12)
        if their["category"] == "Unknown":  # what the compiler added: its HLO category
            assert str(our["operation"]).startswith(str(our["category"]))
        else:
            assert our["category"] == their["category"]
    assert ours[4]["flopRate"] == pytest.approx(167.425, abs=1e-3)


@pytest.mark.parametrize("case", [*CPUS, "gpu"])
def test_xprof_has_no_top_ops_where_ops_ran_on_the_host_or_are_named_by_annotations(
    pair: Pair, case: str
):
    table = pair.ours(OVERVIEW)[0]
    assert rows(pair.theirs[OVERVIEW][0]) == []
    assert len(table) == 10
    assert table.properties["top_ops_side"] == ("device" if case == "gpu" else "host")


# Properties of xprof's first table that differ, by case, with the reason.
UNKNOWN, EXACT = "unknown", None
NOT_MEASURED = "nothing of the kind was recorded: that is not 0.0 %"
PROPERTIES: dict[str, tuple[tuple[str, ...], str | None, str]] = {
    "hbm_utilization_percent": (CASES, UNKNOWN, NOT_MEASURED),
    "mxu_utilization_percent": ((*CPUS, "gpu"), UNKNOWN, NOT_MEASURED),
    "device_op_time_eager_percent": (CPUS, UNKNOWN, NOT_MEASURED),
    "host_op_time_eager_percent": (("tpu",), UNKNOWN, NOT_MEASURED),
    "host_idle_time_percent": (("tpu",), UNKNOWN, NOT_MEASURED),
    "host_trace_level": (CASES, EXACT, "what the recorder's options say, if they are there"),
    "host_tf_op_percent": (("jax_cpu_training", "gpu", "tpu"), EXACT, "of all ops that ran"),
    "device_tf_op_percent": (("gpu", "tpu"), EXACT, "of all ops that ran"),
    "memory_bw_utilization_relative_to_hw_limit": (("tpu",), EXACT, "bytes and peaks are known"),
    "device_compute_16bit_percent": (("gpu",), EXACT, "by instructions and types, not by `half`"),
    "device_compute_32bit_percent": (("gpu",), EXACT, "by instructions and types, not by `half`"),
    "idle_time_high_confidence_ps": (("tpu",), "", "an intermediate result"),
}
OF_TPUS = ("device_duty", "device_idle", "flop_rate", "host_idle", "memory_bw")


@pytest.mark.parametrize("case", CASES)
def test_properties_of_the_overview_are_those_of_xprof(pair: Pair, case: str):
    theirs, ours = pair.theirs[OVERVIEW][0]["p"], pair.ours(OVERVIEW)[0].properties
    used = set()
    for name, value in theirs.items():
        if case in CPUS and name.startswith(OF_TPUS):
            assert name not in ours  # a CPU is no TPU at rest
        elif ours.get(name, "") != value:
            cases, instead, _ = PROPERTIES[name]
            assert case in cases, (name, value, ours.get(name))
            assert instead is EXACT or ours.get(name, "") == instead, name
            used.add(name)
    expected = {name for name, (cases, _, _) in PROPERTIES.items() if case in cases}
    assert used == expected


@pytest.mark.parametrize("case", ["tpu"])
def test_duty_cycle_and_idle_time_of_tpus(pair: Pair, case: str):
    """Worked by hand: busy 315,122,705,519,396 ps, idle 49,077,649,552,010 ps."""
    ours, theirs = pair.ours(OVERVIEW)[0].properties, pair.theirs[OVERVIEW][0]["p"]
    busy, idle = 315_122_705_519_396, 49_077_649_552_010
    assert f"{100 * busy / (busy + idle):.1f}%" == "86.5%"
    assert ours["device_duty_cycle_percent"] == theirs["device_duty_cycle_percent"] == "86.5%"
    assert ours["device_idle_time_percent"] == theirs["device_idle_time_percent"] == "13.4%"


@pytest.mark.parametrize("case", CASES)
def test_the_run_environment_is_that_of_xprof(pair: Pair, case: str):
    theirs, ours = dict(pair.theirs[OVERVIEW][2]["p"]), dict(pair.ours(OVERVIEW)[2].properties)
    training = theirs.pop("is_training"), ours.pop("is_training")
    assert {name: ours[name] for name in theirs} == theirs
    # xprof tells training by gradients among device ops; here those of the host count, too.
    expected = {"tpu": ("false", "false"), "jax_cpu_training": ("true", "true")}
    assert training == expected.get(case, ("false", "true"))


@pytest.mark.parametrize("case", CASES)
def test_columns_that_scripts_know_are_all_there(pair: Pair, case: str):
    shown: tuple[tuple[str, Callable[[int], bool]], ...] = (
        (OVERVIEW, lambda at: at in (1, 2, 4, 6)), (INPUT, lambda at: at in (1, 2, 4)),
    )  # fmt: skip
    for tool, is_compared in shown:
        for at, table in enumerate(pair.theirs[tool]):
            if not is_compared(at):
                continue
            ours = {column.id: column for column in pair.ours(tool)[at].columns}
            known = [column["id"] for column in table["cols"]]
            assert [name for name in ours if name in known] == known
            for column in table["cols"]:
                assert ours[column["id"]].type == column["type"], (tool, at, column["id"])

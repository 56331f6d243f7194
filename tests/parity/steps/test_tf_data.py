"""The tf.data page beside that of the profile plugin 2.19.0, the last release that has one.

It reads ids of iterators as signed, and those from 2^63 on as 0: they are halved in its copies.
"""

import re
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from helpers.patience import PATIENCE_S
from helpers.payloads import Row, document_of, rows
from parity.converters import PROFILE, convert
from parity.oracle import by
from traces import Unsigned, message_of
from traces.misread_pipelines import DRAWN, overlapping_children, stages, through_a_function

from tbprof.analysis.vocabulary.input_names import stage_name
from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir

pytestmark = [pytest.mark.parity, pytest.mark.slow]

TOOL = "tf_data_bottleneck_analysis"
GRAPH, SUMMARY, BOTTLENECKS = range(3)
ID_STATS = ("id", "parent_id")
NODE = re.compile(
    r"<b>(.*?)</b>.*Total Duration: (-?\d+) us.*Self Duration: (-?\d+) us.*# Calls: (\d+)"
)


class Both:
    """What the two say of one trace, as rows of each table."""

    def __init__(self, python: str, folder: Path, trace: bytes) -> None:
        # The plugin takes the name of a host from within the trace where it is there.
        hostnames = message_of(trace).hostnames
        path = folder / f"{hostnames[0] if hostnames else 'h0'}.xplane.pb"
        path.write_bytes(trace)
        out = folder / "answer.json"
        tool = f"{TOOL}^"
        self.theirs_json = convert(python, PROFILE, out, [tool], [str(path)])[tool]
        engine = Engine(Logdir(str(path)))
        self.ours_json = document_of(engine, engine.runs()[0], TOOL)

    def theirs(self, table: int) -> list[Row]:
        return rows(self.theirs_json[table]) if self.theirs_json[table].get("cols") else []

    def ours(self, table: int) -> list[Row]:
        return rows(self.ours_json[table])


def halved(trace: bytes) -> bytes:
    """The trace with the ids of its iterators in 62 bits; equal ones stay equal."""
    space = message_of(trace)
    for plane in space.planes:
        wanted = {row for row, entry in plane.stat_metadata.items() if entry.name in ID_STATS}
        iterators = {
            row
            for row, entry in plane.event_metadata.items()
            if entry.name.startswith("Iterator::")
        }
        for line in plane.lines:
            for event in line.events:
                if event.metadata_id not in iterators:
                    continue
                for stat in event.stats:
                    if stat.metadata_id in wanted:
                        value = stat.uint64_value or stat.int64_value % 2**64
                        stat.ClearField(stat.WhichOneof("value"))
                        stat.int64_value = value >> 2
    return bytes(space.SerializeToString())


Ask = Callable[[bytes], Both]


@pytest.fixture
def both(profile_python: str, tmp_path: Path) -> Ask:
    return lambda trace: Both(profile_python, tmp_path, trace)


PLAIN = stages(*DRAWN)


def test_graphs_and_latencies_of_a_plain_pipeline_agree(both: Ask) -> None:
    answers = both(PLAIN)
    check_all(answers)
    assert len(answers.ours(GRAPH)) == 6
    assert [row["type"] for row in answers.ours(GRAPH)] == [1, 1, 2, 1, 1, 2]
    for side in (answers.theirs_json, answers.ours_json):
        assert side[BOTTLENECKS]["p"]["is_input_bound"] == "true"


@pytest.mark.parametrize(
    ("run", "cut"), [("tensorflow_cpu_training", ()), ("tensorflow_input_bound", (2,))]
)
def test_recorded_pipelines_agree(
    both: Ask, trace_of: Callable[[str], Path], run: str, cut: Collection[int]
) -> None:
    """But for calls that were under way when recording began: see below."""
    check_all(both(halved(trace_of(run).read_bytes())), but_for=cut)


def test_what_was_made_since_before_the_recording_is_lost(
    both: Ask, trace_of: Callable[[str], Path]
) -> None:
    """The turn of the prefetch's thread began before; the stages that it called did not."""
    answers = both(halved(trace_of("tensorflow_input_bound").read_bytes()))
    theirs, ours = (
        [row["name"] for row in side(GRAPH) if row["rank"] == 2]
        for side in (answers.theirs, answers.ours)
    )
    assert len(theirs) == 2
    assert set(theirs) < set(ours)
    assert len(ours) >= 5


def test_device_pipelines_of_a_recorded_trace_agree(both: Ask, gpu_trace: Path) -> None:
    """But for the verdict: see below."""
    answers = both(halved(gpu_trace.read_bytes()))
    assert {row["input_pipeline"] for row in answers.ours(SUMMARY)} == {"Device:0", "Device:1"}
    key = ("num_calls", "num_slow_calls")
    # They number them in the order of a hash table, which differs from run to run.
    theirs = sorted((row["max"], *(row[one] for one in key)) for row in answers.theirs(SUMMARY))
    ours = sorted((int(row["max"]), *(row[one] for one in key)) for row in answers.ours(SUMMARY))
    assert ours == theirs


def check_all(answers: Both, but_for: Collection[int] = ()) -> None:
    """All that the two have in common: nodes of executions, latencies, the bottleneck."""
    key = ("host", "input_pipeline", "rank", "name")
    theirs, ours = (
        by([row for row in side(GRAPH) if row["rank"] not in but_for], *key)
        for side in (answers.theirs, answers.ours)
    )
    assert theirs
    assert theirs.keys() == ours.keys()
    told = texts_of(answers.theirs_json[GRAPH])
    for at, row in theirs.items():
        node = ours[at]
        assert (node["parent"], node["type"]) == (row["parent"], row["type"]), at
        assert told[at] == (
            node["iterator"], int(node["total_us"]), int(node["self_us"]), node["calls"],
        )  # fmt: skip
    which = ("host", "input_pipeline")
    theirs, ours = by(answers.theirs(SUMMARY), *which), by(answers.ours(SUMMARY), *which)
    assert theirs.keys() == ours.keys()
    for at, row in theirs.items():
        for name in ("min", "mean", "max", "num_calls", "num_slow_calls"):
            assert int(ours[at][name]) == row[name], name
    for row, their in zip(answers.ours(BOTTLENECKS), answers.theirs(BOTTLENECKS), strict=True):
        assert (row["host"], row["input_pipeline"]) == (their["host"], their["input_pipeline"])
        assert int(row["max_latency"]) == their["max_latency"]
        # They name one of the copies that repeat or interleave make of a stage.
        assert row["long_name"] in stage_name(their["bottleneck"])


def texts_of(table: dict[str, Any]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """(type, total, self, calls) as the plugin's text of each node says, in whole µs."""
    ids = [column["id"] for column in table["cols"]]
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in table["rows"]:
        cells = dict(zip(ids, row["c"], strict=True))
        match = NODE.search(cells["name"]["f"])
        assert match is not None
        kind, *numbers = match.groups()
        at = tuple(cells[key]["v"] for key in ("host", "input_pipeline", "rank", "name"))
        found[at] = (kind, *map(int, numbers))
    return found


# Where it is wrong, and what is right: the evidence of docs/differences.md.


def test_large_ids_are_read_as_zero(both: Ask) -> None:
    large = [2**63 + 1, 2**63 + 2, 2**63 + 3, 2**64 - 1]
    stats: dict[str, Any] = {
        letter: {"id": Unsigned(one), "parent_id": Unsigned(above)}
        for letter, one, above in zip("rbst", large, [0, *large], strict=False)
    }
    answers = both(stages(*DRAWN, **stats))
    assert {row["name"] for row in answers.theirs(GRAPH)} == {"0"}
    assert {row["name"] for row in answers.ours(GRAPH)} == {str(one) for one in large}
    assert answers.ours(BOTTLENECKS)[0]["bottleneck"] == "Map"


@pytest.mark.parametrize(
    ("name", "theirs", "ours"),
    [
        ("Batch", "outer parallelism", ".batch(batch_size, num_parallel_calls"),
        ("BatchV2", "", ".batch(batch_size, num_parallel_calls"),
        ("Interleave", "num_parallel_calls", "num_parallel_calls=tf.data.AUTOTUNE"),
        ("ParallelInterleaveV4", "", "cycle_length=32"),
        ("Shuffle", "", ".shuffle(1000)"),
        ("Zip", "", "tf.data.Dataset.zip("),
    ],
)
def test_names_with_versions_and_many_stages_have_general_advice_alone(
    both: Ask, name: str, theirs: str, ours: str
) -> None:
    trace = stages("r" * 200, "." + "b" * 190, names={"b": f"Iterator::Root::{name}"})
    answers = both(trace)
    assert theirs or "data_performance_analysis" in answers.theirs(BOTTLENECKS)[0]["suggestion"]
    assert theirs in answers.theirs(BOTTLENECKS)[0]["suggestion"]
    assert ours in answers.ours(BOTTLENECKS)[0]["suggestion"]


def test_without_a_pipeline_of_the_host_it_sees_no_activity(both: Ask, gpu_trace: Path) -> None:
    answers = both(gpu_trace.read_bytes())
    theirs, ours = (side[BOTTLENECKS] for side in (answers.theirs_json, answers.ours_json))
    assert answers.theirs(BOTTLENECKS) == []
    assert theirs["p"]["is_input_bound"] == "false"
    assert "No tf.data activity captured" in theirs["p"]["summary_message"]
    assert ours["p"]["is_input_bound"] == "true"
    assert "host's pipeline, which was not recorded" in ours["p"]["summary_message"]


def test_iterators_that_a_function_calls_are_lost(both: Ask) -> None:
    answers = both(through_a_function())
    assert {row["name"] for row in answers.theirs(GRAPH)} == {"1", "2"}
    assert {row["name"]: row["self_us"] for row in answers.ours(GRAPH)} == {
        "1": 10, "2": 20, "3": 170,
    }  # fmt: skip
    assert "Batch" in answers.theirs(BOTTLENECKS)[0]["bottleneck"]
    assert answers.ours(BOTTLENECKS)[0]["bottleneck"] == "Map"


def test_children_that_overlap_are_taken_off_twice(both: Ask) -> None:
    answers = both(overlapping_children())
    told = {at[3]: text[2] for at, text in texts_of(answers.theirs_json[GRAPH]).items()}
    assert told == {"1": 100 - 2 * 90, "2": 90, "3": 90}
    assert {row["name"]: row["self_us"] for row in answers.ours(GRAPH)} == {
        "1": 10,
        "2": 90,
        "3": 90,
    }


def test_copies_of_a_stage_are_judged_one_by_one(both: Ask) -> None:
    """Three readers of 30 µs each, of an interleave that takes 50 by itself."""
    interleave = "Iterator::Root::Interleave"
    copies = {letter: f"{interleave}[{number}]::TFRecord" for number, letter in enumerate("xyz")}
    answers = both(
        stages(
            "r" * 150, "." + "b" * 145, "." * 5 + "x" * 30 + "." + "y" * 30 + "." + "z" * 30,
            names={"b": interleave, **copies},
            **{letter: {"id": 10 + at, "parent_id": 2} for at, letter in enumerate("xyz")},
        )
    )  # fmt: skip
    assert len(answers.theirs(GRAPH)) == 5
    assert interleave in answers.theirs(BOTTLENECKS)[0]["bottleneck"]
    assert "TFRecord" not in answers.theirs(BOTTLENECKS)[0]["bottleneck"]
    assert [(row["iterator"], row["self_us"], row["iterators"]) for row in answers.ours(GRAPH)] == [
        ("Root", 5, 1), ("Interleave", 55, 1), ("TFRecord", 90, 3),
    ]  # fmt: skip
    assert answers.ours(BOTTLENECKS)[0]["bottleneck"] == "TFRecord"


def test_a_pipeline_whose_slow_calls_are_rare_is_input_bound(both: Ask) -> None:
    trace = stages(("r" * 60 + "." * 4000) * 3 + "r" * 20)
    answers = both(trace)
    assert answers.theirs_json[BOTTLENECKS]["p"]["is_input_bound"] == "true"
    ours = answers.ours_json[BOTTLENECKS]["p"]
    assert (ours["is_input_bound"], ours["has_slow_calls"]) == ("false", "true")


def test_pipelines_are_numbered_by_their_first_calls(both: Ask) -> None:
    """They number them in the order of a hash table."""
    names = dict.fromkeys("xyz", "Iterator::Root")
    stats = {"x": {"id": 77}, "y": {"id": 5}, "z": {"id": 1234}}
    answers = both(stages("x" * 10 + "." * 5 + "y" * 20 + "." * 5 + "z" * 30, names=names, **stats))
    shown = {row["input_pipeline"]: row["max"] for row in answers.ours(SUMMARY)}
    assert shown == {"Host:0": 10, "Host:1": 20, "Host:2": 30}
    assert sorted(row["max"] for row in answers.theirs(SUMMARY)) == [10, 20, 30]


def test_xprof_has_the_tool_no_more(xprof_python: str, tmp_path: Path) -> None:
    path = tmp_path / "h0.xplane.pb"
    path.write_bytes(PLAIN)
    script = (
        "import sys; from xprof.convert import raw_to_tool_data as r; "
        f"print(r.xspace_to_tool_data([sys.argv[1]], '{TOOL}', {{}})[0])"
    )
    result = subprocess.run(
        [xprof_python, "-c", script, str(path)], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert result.returncode != 0 or result.stdout.strip() == "None"

"""Recorded input pipelines of which one stage is slow by construction: it is the one named.

The machine may be busy: latencies are compared with what the program saw, not with what they ought
to be.
"""

import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.tables import records
from recorded.conftest import Shown
from tools.input.test_input_diagnosis import check_pages_agree

from tbprof.base.errors import NoData
from tbprof.tools.model.datatable import Table

pytestmark = pytest.mark.slow

Runs = Callable[[str], "Recorded"]
BATCHES = 10
NAME = "tf_data_bottleneck_analysis"
GRAPH, SUMMARY, BOTTLENECKS, ADVICE = range(4)


class Recorded:
    """What is shown of a case, beside what the program measured."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        return self._shown.tables(NAME)

    def waited_us(self, name: str = "waiting") -> np.ndarray[Any, np.dtype[np.float64]]:
        """[calls] how long each call took."""
        return self._measured_us(name)[:, 0]

    def delayed_us(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """[calls] for how long of that the program lacked a processor."""
        return self._measured_us("waiting")[:, 1]

    def _measured_us(self, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        path = self._shown.folder.parent / f"{self._shown.folder.name}.json"
        return 1e3 * np.array(json.loads(path.read_text(encoding="utf-8"))[name])

    def rows(self, table: int) -> list[dict[str, Any]]:
        return records(self.tables[table])

    @property
    def worst(self) -> dict[str, Any]:
        return self.rows(BOTTLENECKS)[0]

    @property
    def verdict(self) -> dict[str, str]:
        return dict(self.tables[BOTTLENECKS].properties)

    def check_pages_agree(self) -> None:
        check_pages_agree(*self._shown.opened)

    def processors(self) -> int:
        [root] = {row["parameters"] for row in self.rows(GRAPH)[:1]}
        return int(json.loads(root).get("cpu_budget", 1))

    def advice(self, pipeline: str = "Host:0") -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in self.rows(ADVICE) if row["input_pipeline"] == pipeline}


@pytest.fixture(scope="module")
def runs(recording_of: Callable[[str], Path]) -> Runs:
    """What is shown of a case of `record_tf_data.py`."""
    folder = recording_of("record_tf_data.py")
    return lambda case: Recorded(Shown(folder / case, {}))


def check_latencies(runs: Recorded) -> None:
    """Calls are as many as were made, and no longer than the program waited in them."""
    summary = runs.rows(SUMMARY)[0]
    waited = runs.waited_us()
    assert summary["num_calls"] == waited.size >= BATCHES
    assert summary["total_us"] <= waited.sum()
    assert summary["max"] <= waited.max()
    # What surrounds a call needs a processor for less than a millisecond.
    unexplained = 1000 * waited.size + runs.delayed_us().sum()
    assert summary["total_us"] >= 0.5 * waited.sum() - unexplained


def check_bound(runs: Recorded) -> None:
    assert runs.verdict["is_input_bound"] == "true"
    assert runs.verdict["severity"] == "high"
    assert runs.worst["share"] > 0.2
    check_latencies(runs)


@pytest.mark.parametrize(
    ("case", "stages", "advice"),
    [
        ("shuffle_bound", {"Shuffle"}, {"shuffle_fill"}),
        ("map_bound", {"MapAndBatch", "Map", "ParallelMapV2"}, {"cache_after_map"}),
        ("parallel_map_bound", {"MapAndBatch", "ParallelMapV2"}, {"map_few_threads"}),
        ("read_bound", {"TFRecord"}, {"reader", "storage"}),
        # The second is the dataset of each file: it also opens the file.
        ("interleave_bound", {"Interleave", "FlatMap"}, {"interleave_sequential", "small_inputs"}),
        ("python_bound", {"Generator"}, {"generator"}),
        ("python_map_bound", {"MapAndBatch", "ParallelMapV2"}, {"python_function"}),
    ],
)
def test_the_slow_stage_is_named(runs: Runs, case: str, stages: set[str], advice: set[str]):
    found = runs(case)
    check_bound(found)
    # On a busy machine the slowest call may be one that waited for a processor.
    assert {found.worst["bottleneck"], found.worst["usual_bottleneck"]} & stages
    found.check_pages_agree()
    if case == "parallel_map_bound" and found.processors() == 1:
        return  # one thread is what it can have
    if case == "shuffle_bound" and found.worst["bottleneck"] != "Shuffle":
        return  # it was filled while the machine did other things, too
    if case == "interleave_bound" and found.worst["bottleneck"] == "FlatMap":
        return
    waited = found.waited_us()
    if case == "shuffle_bound" and waited.argmax() != (waited - found.delayed_us()).argmax():
        return  # the slowest call did not fill the buffer, but waited for a processor
    assert advice <= found.advice().keys()


@pytest.mark.parametrize(
    ("case", "waits"), [("pool_filled", "Filter"), ("light_behind_heavy", "ParallelMapV2")]
)
def test_the_stage_that_fills_the_pool_is_named(runs: Runs, case: str, waits: str):
    """What another stage waits for a thread is the time of the one that fills it.

    How long functions take once they have a thread depends on what else the machine does.
    """
    found = runs(case)
    check_bound(found)
    name = str(found.worst["usual_long_name"])
    assert name.endswith(f"::{waits}::ParallelMapV2")
    found.check_pages_agree()
    nodes = found.rows(GRAPH)
    fills = [row for row in nodes if row["long_name"] == name]
    waiting = [row for row in nodes if row["long_name"] == name.rpartition("::")[0]]
    # Functions that were handed over before the recording began are those of no known stage.
    queued = 0.9 * sum(row["queue_us"] for row in waiting)
    assert queued > 0
    assert sum(row["held_us"] for row in fills) > queued
    assert sum(row["held_us"] for row in waiting) < sum(row["self_us"] for row in waiting) - queued


def test_a_shuffle_fills_its_buffer_in_few_calls(runs: Runs):
    """The first call of an epoch takes 20,000 elements more than the others."""
    nodes = [row for row in runs("shuffle_bound").rows(GRAPH) if row["iterator"] == "Range"]
    assert max(row["calls"] for row in nodes) > 20_000
    assert min(row["calls"] for row in nodes) < 20_000


def test_batches_that_are_there_are_fine(runs: Runs):
    found = runs("prefetched")
    check_latencies(found)
    waited = found.waited_us().sum() / 1e6
    if waited < 0.02 * BATCHES * 0.03:  # unless the machine was so busy that it did wait
        assert found.verdict["is_input_bound"] == "false"
        assert found.worst["severity"] in ("good", "low")
        assert "fine" in found.advice() or found.worst["severity"] == "low"
    assert found.worst["share"] <= waited / (0.02 * (BATCHES - 1)) + 0.01


def test_two_pipelines_at_once(runs: Runs):
    found = runs("two_pipelines")
    slow, fast = found.rows(SUMMARY)
    assert (slow["num_calls"], fast["num_calls"]) == (BATCHES, 2 * BATCHES)
    assert slow["total_us"] <= found.waited_us().sum()
    assert fast["total_us"] <= found.waited_us("second").sum()
    worst, other = found.rows(BOTTLENECKS)
    assert worst["input_pipeline"] == "Host:0"
    assert worst["severity"] == "high"
    assert worst["usual_bottleneck"] in ("MapAndBatch", "ParallelMapV2")
    assert other["share"] < worst["share"]


def test_devices_draw_from_the_hosts_pipeline(runs: Runs):
    found = runs("on_two_devices")
    by_name = {row["input_pipeline"]: row for row in found.rows(SUMMARY)}
    assert set(by_name) == {"Host:0", "Device:0", "Device:1"}
    assert by_name["Device:0"]["draws_from"] == by_name["Device:1"]["draws_from"] == "Host:0"
    assert {by_name[name]["num_calls"] for name in ("Device:0", "Device:1")} == {BATCHES}
    assert [row["input_pipeline"] for row in found.rows(BOTTLENECKS)] == ["Host:0"]
    assert found.worst["usual_bottleneck"] in ("MapAndBatch", "ParallelMapV2")


def test_tf_data_that_feeds_jax(runs: Runs):
    found = runs("feeds_jax")
    check_bound(found)
    assert found.worst["usual_bottleneck"] in ("MapAndBatch", "ParallelMapV2")


def test_jax_alone_does_not_record_tf_data_and_the_page_says_what_does(runs: Runs):
    with pytest.raises(NoData, match=r"no tf\.data events") as error:
        _ = runs("jax_alone").tables
    assert "tf.profiler.experimental.Profile" in error.value.hint


def test_files_that_are_interleaved_are_one_node(runs: Runs):
    """A graph of what the program says, not of the files that were opened."""
    nodes = [row for row in runs("interleave_bound").rows(GRAPH) if row["rank"] == 0]
    readers = [row for row in nodes if row["iterator"] == "TFRecord"]
    assert len(readers) == 1
    assert readers[0]["calls"] > 50
    assert len(nodes) < 12


def test_an_iterator_for_each_element_is_one_node(runs: Runs):
    found = runs("many_iterators")
    nodes = [row for row in found.rows(GRAPH) if row["rank"] == 0]
    assert len(nodes) < 20
    assert max(row["iterators"] for row in nodes) > 500
    assert len({row["name"] for row in nodes}) == len(nodes)

"""Which input pipelines hold a program up, and how much."""

import pytest
from builders.tf_data_calls import ROOT, Made, Node, made
from helpers.tables import columns
from helpers.tf_data_page import (
    ADVICE,
    BOTTLENECKS,
    DEVICE,
    PIPELINE,
    SUMMARY,
    fast,
    shown,
)


def test_a_pipeline_without_slow_calls_is_fine():
    table = shown(made(fast()))
    assert columns(table[BOTTLENECKS], "severity", "share") == {
        "severity": ["good"],
        "share": [pytest.approx(200 / 9020)],
    }
    verdict = table[BOTTLENECKS].properties
    assert verdict["is_input_bound"] == verdict["has_slow_calls"] == "false"
    assert "No tf.data input pipeline is slow" in verdict["summary_message"]
    assert table[ADVICE].column("id").cells() == ["fine"]


@pytest.mark.parametrize(
    ("longest", "severity", "is_bound"),
    [(40, "good", "false"), (60, "good", "false"), (100, "moderate", "true"),
     (500, "high", "true")],
)  # fmt: skip
def test_slow_calls_hold_a_program_up_by_their_share_of_the_time(
    longest: int, severity: str, is_bound: str
):
    """Calls every 2 ms: 60 µs of that are 3 %, 100 µs 5 %, 500 µs 25 %."""
    calls = [(index * 2000, [Node(ROOT, longest, longest)]) for index in range(10)]
    table = shown(made(Made(calls)))[BOTTLENECKS]
    assert table.column("severity").cells() == [severity]
    assert table.properties["is_input_bound"] == is_bound
    if longest == 60:
        assert "does not hold up the program" in table.properties["summary_message"]
        assert table.properties["has_slow_calls"] == "true"


def test_a_rare_stall_is_said():
    calls = [(index * 100_000, [Node(ROOT, 40, 40)]) for index in range(100)]
    calls[50] = (calls[50][0], [Node(ROOT, 20_000, 20_000)])
    table = shown(made(Made(calls)))
    assert table[BOTTLENECKS].column("severity").cells() == ["low"]
    assert table[BOTTLENECKS].properties["is_input_bound"] == "false"
    assert "rare_stall" in table[ADVICE].column("id").cells()


def test_a_single_call_fills_its_own_time():
    table = shown(made(Made([(0, [Node(ROOT, 60, 60)])])))[BOTTLENECKS]
    assert columns(table, "severity", "share") == {"severity": ["moderate"], "share": [None]}
    said = table.properties["summary_message"]
    assert "pipeline Host:0 on h0 is slow; its only call took 60 µs." in said


def test_what_holds_the_program_up_comes_first_and_then_the_slowest_call():
    rare = [(index * 100_000, [Node(ROOT, 2_000 if index == 5 else 40, 40)]) for index in range(10)]
    table = shown(made(fast(), Made(rare)), made(PIPELINE))[BOTTLENECKS]
    assert columns(table, "host", "input_pipeline", "max_latency") == {
        "host": ["h1", "h0", "h0"],
        "input_pipeline": ["Host:0", "Host:1", "Host:0"],
        "max_latency": [1000, 2000, 20],
    }
    assert table.properties["most_input_bound_host"] == "h1"


def test_device_pipelines_wait_for_the_hosts_and_are_not_judged_beside_it():
    tables = shown(made(PIPELINE, DEVICE))
    assert columns(tables[SUMMARY], "input_pipeline", "is_device", "draws_from") == {
        "input_pipeline": ["Host:0", "Device:0"],
        "is_device": [False, True],
        "draws_from": ["", "Host:0"],
    }
    assert tables[BOTTLENECKS].column("input_pipeline").cells() == ["Host:0"]


def test_a_host_with_device_pipelines_alone_is_judged_by_them():
    tables = shown(made(Made(DEVICE.calls, is_device=True)))
    table = tables[BOTTLENECKS]
    assert columns(table, "input_pipeline", "bottleneck", "class", "is_device") == {
        "input_pipeline": ["Device:0"],
        "bottleneck": ["Generator"],
        "class": ["device"],
        "is_device": [True],
    }
    assert table.properties["is_input_bound"] == table.properties["is_device_only"] == "true"
    said = table.properties["summary_message"]
    assert "It fetches from the host's pipeline, which was not recorded." in said
    assert tables[ADVICE].column("id").cells() == ["device_waits"]

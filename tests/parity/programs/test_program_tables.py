"""`hlo_stats` and `roofline_model` beside xprof's, cell by cell, on a TPU and on a GPU."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import Row, rows
from parity.oracle import Compare, by

pytestmark = pytest.mark.parity

TOOLS = ("hlo_stats", "roofline_model")
# Ours, theirs.
Pair = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture
def tables(compare: Compare, trace_of: Callable[[str], Path]) -> Callable[[str], Pair]:
    """Both tools' answers for the trace of a fixture."""

    def ask(fixture: str) -> Pair:
        found = compare(trace_of(fixture).read_bytes(), tools=TOOLS)
        return {tool: found.ours(tool) for tool in TOOLS}, found.theirs

    return ask


@pytest.fixture
def tpu(tables: Callable[[str], Pair]) -> Pair:
    return tables("tpu_trace")


@pytest.fixture
def amd(tables: Callable[[str], Pair]) -> Pair:
    return tables("amd_trace")


def records(answer: dict[str, Any]) -> dict[tuple[Any, ...], Row]:
    """Of the whole recording."""
    whole = [row for row in rows(answer["roofline_model"][0]) if row["step"] == "Total"]
    return by(whole, "include_infeed_outfeed", "hlo_module_id", "operation")


def instructions(answer: dict[str, Any]) -> dict[tuple[Any, ...], Row]:
    return by(rows(answer["hlo_stats"]), "program_id", "hlo_op_name")


def differing(
    ours: dict[tuple[Any, ...], Row], theirs: dict[tuple[Any, ...], Row], tolerance: float
) -> set[tuple[str, str]]:
    """(row, column) of cells that differ; what we do not know may be 0 there."""
    assert ours.keys() == theirs.keys()
    found = set()
    for key, row in theirs.items():
        for name, value in row.items():
            cell = ours[key][name]
            if isinstance(value, float) and isinstance(cell, int | float):
                is_same = math.isclose(cell, value, rel_tol=tolerance)
            else:
                is_same = cell == value or (cell is None and value == 0)
            if not is_same:
                found.add((str(key[-1]), name))
    return found


# How scripts get at the text and the source; ours are shorter, and name functions.
WRITTEN_OTHERWISE = {"hlo_op_expression", "source_info"}


@pytest.mark.parametrize("fixture", ["tpu_trace", "amd_trace"])
def test_columns_and_properties_are_those_of_xprof(
    fixture: str, tables: Callable[[str], Pair]
) -> None:
    ours, theirs = tables(fixture)

    def heads(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
        both = answer["hlo_stats"], answer["roofline_model"][0]
        return [tuple((c["id"], c["label"], c["type"]) for c in table["cols"]) for table in both]  # type: ignore[misc]

    for own, known in zip(heads(ours), heads(theirs), strict=True):
        assert own[: len(known)] == known
    properties = dict(theirs["roofline_model"][0]["p"])
    own_properties = ours["roofline_model"][0]["p"]
    if fixture == "amd_trace":
        assert properties.pop("device_type") == "AMD GPU - gfx950"
        assert own_properties["device_type"] == "AMD GPU"
    assert {name: own_properties[name] for name in properties} == properties


def test_instructions_of_a_tpu_agree_to_the_digit(tpu: Pair) -> None:
    ours, theirs = map(instructions, tpu)
    assert len(ours) == 17
    found = differing(ours, theirs, 1e-12)
    others = {(op, name) for op, name in found if name not in WRITTEN_OTHERWISE}
    # An exchange waits for the interconnect; pairs of a start and its end: see the next test.
    exchanges = {(op, name) for op, name in others if op == "all-reduce"}
    assert exchanges == {("all-reduce", "bound_by")}
    others -= exchanges
    assert {op.partition(".")[0] for op, _ in others} == {"copy-start", "copy-done"}
    assert {name for _, name in others} == {"measured_memory_bw", "hbm_bw", "bound_by"}
    order = [row["hlo_op_name"] for row in rows(tpu[0]["hlo_stats"])]
    assert order == [row["hlo_op_name"] for row in rows(tpu[1]["hlo_stats"])]


def test_a_copy_that_runs_beside_other_ops_moves_its_bytes_once(tpu: Pair) -> None:
    ours, theirs = map(instructions, tpu)
    program = "12190760917235803885"
    start, end = (program, "copy-start.4"), (program, "copy-done.4")
    # xprof: 5 GiB in 6 ns, and 5 GiB again in the time that the end waits.
    assert theirs[start]["hbm_bw"] > 8e8
    assert ours[start]["hbm_bw"] == 0
    # 400 copies of 5 GiB between start and end.
    moved = ours[end]["hbm_bw"] * ours[end]["span_time"] / 1e6
    assert moved == pytest.approx(400 * 5)
    assert ours[end]["span_time"] > ours[end]["total_time"]


def test_the_roofline_of_a_tpu_agrees_to_the_digit(tpu: Pair) -> None:
    ours, theirs = map(records, tpu)
    found = differing(ours, theirs, 1e-12)
    others = {
        (op, name)
        for op, name in found
        if name not in WRITTEN_OTHERWISE and not op.startswith("copy-")
    }
    # Bytes of pairs of a start and its end count twice there, and once here.
    of_pairs = {"measured_memory_bw", "operational_intensity"}
    # Most of the time copies wait for the link to the host, and the exchange for the interconnect,
    # whose peaks are not known.
    of_bound = {"bound_by", "roofline_efficiency", "optimal_flop_rate"}
    of_exchange = {("all-reduce", name) for name in of_bound}
    assert others == {("Program", name) for name in of_pairs | of_bound} | of_exchange


def test_instructions_of_a_gpu_agree_to_one_percent_but_for_what_is_listed(amd: Pair) -> None:
    ours, theirs = map(instructions, amd)
    found = differing(ours, theirs, 0.01)
    others = {(op, name) for op, name in found if name not in WRITTEN_OTHERWISE}
    for op, name in others:
        own, known = ours["17", op], theirs["17", op]
        if "attn" in op or op == "custom-call.1":
            # A cost where xprof knows none, and executions where it counts kernels.
            assert known["model_flop_rate"] == 0 < own["model_flop_rate"]
        else:
            # One operation per element and step of a reduction, not three.
            assert "gemm" not in op
            assert name in ("model_flop_rate", "normalized_flop_rate", "operational_intensity")
    assert {op for op, _ in others if "gemm" in op} == set()
    calls = ours["17", "te_fused_attn_backward_ffi.18"]
    assert (calls["occurrences"], calls["kernels"]) == (5, 25)


def test_the_roofline_of_a_gpu_differs_as_listed(amd: Pair) -> None:
    ours, theirs = map(records, amd)
    program, theirs_whole = (found[True, "0", "Program"] for found in (ours, theirs))
    assert program["total_time"] == pytest.approx(theirs_whole["total_time"], rel=1e-4)
    # One of eight planes has data: the time of a core is not an eighth of it.
    assert theirs_whole["total_time_per_core"] == pytest.approx(theirs_whole["total_time"] / 8)
    assert program["total_time_per_core"] == program["total_time"]
    # Attention and products by libraries have costs.
    assert program["measured_flop_rate"] > 1.6 * theirs_whole["measured_flop_rate"]
    product = True, "17", "gemm_fusion_dot"
    assert ours[product]["roofline_efficiency"] == pytest.approx(
        theirs[product]["roofline_efficiency"]
    )
    # Single precision is not held against the peak of half precision.
    fusion = True, "17", "loop_reduce_fusion.1"
    assert ours[fusion]["roof"] == "f32"
    assert ours[fusion]["compute_efficiency"] == pytest.approx(
        theirs[fusion]["compute_efficiency"] / 3 * 16
    )
    # Above its roof: xprof says that the most it could do is less than what it did.
    assert theirs[fusion]["optimal_flop_rate"] < theirs[fusion]["measured_flop_rate"]
    assert ours[fusion]["optimal_flop_rate"] is None
    assert ours[fusion]["roof_note"].endswith("caches served some of them")


def test_steps_that_were_not_found_have_no_record(tpu: Pair) -> None:
    ours, theirs = (rows(answer["roofline_model"][0]) for answer in tpu)
    average = [row for row in theirs if row["step"] == "Average"]
    assert [row["total_time"] for row in average] == [0, 0]
    assert {row["step"] for row in ours} == {"Total"}

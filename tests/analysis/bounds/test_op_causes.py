"""Why instructions take longer than they might, and what could be saved, counted by hand."""

from typing import Any

import pytest
from builders.program_ops import peaks, program_ops

from tbprof.analysis.bounds.causes import CAUSE_NAMES, Cause
from tbprof.analysis.bounds.op_causes import find_causes
from tbprof.analysis.bounds.op_work import rates_of, work_of
from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.devices.tensor_cores import CoreUse
from tbprof.analysis.programs.instruction_facts import COMMAND_BUFFER
from tbprof.analysis.vocabulary.instruction_roles import Move

# In 1 µs: 100,000 operations in 16 bit, 25,000 in TF32, 10,000 in 32 bit; 50,000 bytes.
PEAKS = peaks({"f16": 100, "tf32": 25, "f32": 10}, {"HBM": 50})
TPU_PEAKS = peaks({"f16": 100}, {"HBM": 50})
PRODUCT: dict[str, Any] = {
    "us": 10, "is_product": True, "dtype": "bf16", "product_dtype": "bf16", "flops": 100_000,
    "bytes_accessed": 1_000,
}  # fmt: skip
WIDE = {**PRODUCT, "dtype": "f32", "product_dtype": "f32"}
# 40,000 bytes in 1 µs: 80 % of the bandwidth.
WAITING: dict[str, Any] = {"us": 10, "flops": 1_000, "bytes_accessed": 400_000}


def cause_of(row: dict[str, Any], device: Peaks = PEAKS, **of_host: Any) -> tuple[Cause, float]:
    """The cause of an instruction, and how many µs of it could be saved."""
    ops = program_ops(row, **of_host)
    work = work_of(ops, device)
    causes = find_causes(ops, work, rates_of(work, device), device)
    assert causes.names == [CAUSE_NAMES[Cause(int(causes.cause[0]))]]
    return Cause(int(causes.cause[0])), float(causes.saved_ps[0]) / 1e6


def of_tpu(row: dict[str, Any]) -> tuple[Cause, float]:
    return cause_of(row, TPU_PEAKS, device_type="TPU")


def test_products_of_32_bit_numbers_on_a_gpu_could_be_held_against_a_higher_peak():
    # 1 µs at the 16-bit peak would save 9; four times the speed saves 7.5 of 10.
    assert cause_of(WIDE) == (Cause.WIDE_PRODUCT, pytest.approx(7.5))
    # 700,000 operations take 7 µs at that peak.
    assert cause_of({**WIDE, "flops": 700_000}) == (Cause.WIDE_PRODUCT, pytest.approx(3))
    # 400,000 bytes take 8 µs, half of them 4.
    assert cause_of({**WIDE, "bytes_accessed": 400_000}) == (Cause.WIDE_PRODUCT, pytest.approx(6))
    assert cause_of(PRODUCT) == (Cause.NONE, 0)
    # What runs on ordinary cores has the finding about these; unknown operations prove nothing.
    assert cause_of({**WIDE, "core_use": CoreUse.NO}) == (Cause.NONE, 0)
    assert cause_of({**WIDE, "core_use": CoreUse.YES})[0] == Cause.WIDE_PRODUCT
    assert cause_of({**WIDE, "flops": -1}) == (Cause.NONE, 0)
    assert cause_of(WIDE, peaks({"f32": 10}, {"HBM": 50})) == (Cause.NONE, 0)
    assert cause_of(WIDE, peaks({}, {})) == (Cause.NONE, 0)


def test_products_of_32_bit_numbers_on_a_tpu_count_if_they_take_several_passes():
    assert of_tpu({**WIDE, "product_passes": 6}) == (Cause.WIDE_PRODUCT, pytest.approx(10 * 5 / 6))
    assert of_tpu({**WIDE, "product_passes": 3}) == (Cause.WIDE_PRODUCT, pytest.approx(10 * 2 / 3))
    assert of_tpu({**WIDE, "product_passes": 1}) == (Cause.NONE, 0)  # as usual
    assert of_tpu({**WIDE, "product_passes": 0}) == (Cause.NONE, 0)  # unknown
    assert of_tpu({**PRODUCT, "product_passes": 6}) == (Cause.NONE, 0)  # of 16-bit numbers


def test_products_that_are_too_small_for_the_peak_wait_for_memory():
    # The peaks are 2 operations per byte apart: a dimension of 1 allows 1 per byte of 16 bit.
    small = {**WAITING, "is_product": True, "dtype": "bf16", "product_dtype": "bf16"}
    # 1,000 operations take 0.01 µs of the 10.
    assert cause_of({**small, "product_size": 1}) == (Cause.SMALL_PRODUCT, pytest.approx(9.99))
    assert cause_of({**small, "product_size": 2})[0] == Cause.MEMORY
    assert cause_of({**small, "product_size": -1})[0] == Cause.MEMORY
    assert cause_of({**small, "product_size": 1, "bytes_accessed": 240_000}) == (Cause.NONE, 0)


@pytest.mark.parametrize(
    ("bytes_", "cause"),
    [
        (249_000, Cause.NONE), (250_000, Cause.MEMORY), (500_000, Cause.MEMORY),
        (501_000, Cause.NONE),  # caches served some of them
    ],
)  # fmt: skip
def test_what_uses_half_of_the_bandwidth_or_more_waits_for_memory(bytes_, cause):
    assert cause_of({**WAITING, "bytes_accessed": bytes_})[0] == cause


def test_of_what_waits_for_memory_half_of_the_bytes_in_32_bit_could_be_saved():
    # 200,000 bytes in and 200,000 out.
    arrays = {"result": "f32[50000]{0}", "operands": "f32[50000]{0}"}
    assert cause_of({**WAITING, **arrays}) == (Cause.MEMORY, pytest.approx(5))
    mixed = {"result": "bf16[100000]{0}", "operands": "f32[50000]{0}"}
    assert cause_of({**WAITING, **mixed}) == (Cause.MEMORY, pytest.approx(2.5))
    # It reads a part of its arrays, or they are not all known: which bytes these are is unknown.
    assert cause_of({**WAITING, **arrays, "operands": "f32[60000]{0}"}) == (Cause.MEMORY, 0)
    assert cause_of({**WAITING, **arrays, "operands": "f32[50000]{0}, …"}) == (Cause.MEMORY, 0)
    compute = {"flops": 90_000, "dtype": "f32"}  # 90 % of the peak
    assert cause_of({**WAITING, **compute}) == (Cause.NONE, 0)


def test_of_64_bit_numbers_half_of_the_bytes_could_be_saved_too():
    for dtype, size in (("f64", 25_000), ("s64", 25_000), ("c64", 25_000)):
        arrays = {"result": f"{dtype}[{size}]{{0}}", "operands": f"{dtype}[{size}]{{0}}"}
        assert cause_of({**WAITING, **arrays}) == (Cause.MEMORY, pytest.approx(5))
    for dtype, size in (("s32", 50_000), ("bf16", 100_000)):
        arrays = {"result": f"{dtype}[{size}]{{0}}", "operands": f"{dtype}[{size}]{{0}}"}
        assert cause_of({**WAITING, **arrays}) == (Cause.MEMORY, 0)


@pytest.mark.parametrize(
    ("flops", "waste_ppm", "saved_us"),
    [
        (600_000, 250_000, 2.5), (600_000, 100_000, 1), (600_000, 99_999, None),
        # With a quarter outside, three eighths of the peak are half of it.
        (375_000, 250_000, 2.5), (374_000, 250_000, None),
        (1_000_000, 250_000, 2.5), (1_001_000, 250_000, None),  # more than the peak allows
    ],
)  # fmt: skip
def test_of_partial_tiles_what_lies_outside_could_be_saved(flops, waste_ppm, saved_us):
    row = {**PRODUCT, "flops": flops, "tile_waste_ppm": waste_ppm}
    expected = (Cause.NONE, 0) if saved_us is None else (Cause.PARTIAL_TILES, saved_us)
    assert cause_of(row) == pytest.approx(expected)
    # What waits for memory gains nothing from full tiles.
    assert cause_of({**row, "bytes_accessed": 520_000})[0] != Cause.PARTIAL_TILES


def test_what_moves_data_could_be_saved_as_a_whole():
    row = {"us": 10, "move": Move.TRANSPOSE, "bytes_accessed": 400_000}
    for move in (Move.TRANSPOSE, Move.RESHAPE, Move.LAYOUT):
        assert cause_of({**row, "move": move}) == (Cause.MOVE, 10)
    assert cause_of({**row, "move": Move.SLICE})[0] == Cause.MEMORY
    assert cause_of({**row, "move": Move.SPACE})[0] == Cause.MEMORY
    # A CPU has no peaks, and moves are moves.
    assert cause_of(row, peaks({}, {}), device_type="CPU") == (Cause.MOVE, 10)


def test_moves_of_padded_data_on_tpus_have_findings_of_their_own():
    row = {"us": 10, "move": Move.TRANSPOSE, "result": "f32[128,256]{1,0:T(8,128)}"}
    whole = {**row, "operands": "f32[256,128]{1,0:T(8,128)}"}
    assert of_tpu(whole) == (Cause.MOVE, 10)
    assert of_tpu({**whole, "scope": "m/x:SpaceToBatchND"}) == (Cause.NONE, 0)
    assert of_tpu({**row, "operands": "f32[100,2]{1,0:T(8,128)}"}) == (Cause.NONE, 0)
    assert of_tpu({**row, "operands": "…"}) == (Cause.NONE, 0)


def test_command_buffers_say_nothing_of_what_ran():
    row = {"us": 10, "category": COMMAND_BUFFER, "flops": -1, "bytes_accessed": -1}
    assert cause_of(row) == (Cause.COMMAND_BUFFER, 0)
    assert cause_of({**row, "program_id": ""}) == (Cause.NONE, 0)  # not of XLA


@pytest.mark.parametrize(
    "told",
    [
        {"opcode": "all-reduce"}, {"has_inner": True}, {"span_ps": 20_000_000}, {"self_ps": 0},
        {"core": "SparseCore"},
        {"opcode": "copy-done", "result": "f32[8]{0}", "operands": "f32[8]{0:S(5)}"},
    ],
)  # fmt: skip
def test_time_that_is_not_an_instructions_own_work_has_no_cause(told):
    assert cause_of({**WAITING, "move": Move.LAYOUT, **told}) == (Cause.NONE, 0)

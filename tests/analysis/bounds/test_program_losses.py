"""Losses by cause: what hosts add up to, and which instructions are named."""

import numpy as np
from builders.program_ops import peaks, program_ops
from helpers.drawn.computed_parts import compute_part
from traces import draw, drawn_space, space_of

from tbprof.analysis.bounds.causes import Cause
from tbprof.analysis.bounds.program_losses import (
    NAMED,
    NO_LOSSES,
    ProgramLosses,
    find_program_losses,
    merge_program_losses,
)
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.vocabulary.instruction_roles import Move

PEAKS = peaks({"f16": 100, "f32": 10}, {"HBM": 50})
SPACE = drawn_space({"/host:CPU": "t |"})


def losses(*rows: dict[str, object], **of_host: object) -> ProgramLosses:
    return find_program_losses(SPACE, Programs(SPACE), program_ops(*rows, **of_host), PEAKS)


def told(losses: ProgramLosses) -> list[tuple[int, str, int, str]]:
    columns = (losses.of.tolist(), losses.name, (losses.name_ps // 10**6).tolist(), losses.fact)
    return list(zip(*columns, strict=True))


MOVE = {"move": Move.TRANSPOSE}
WAITING = {"us": 10, "flops": 1_000, "bytes_accessed": 400_000, "result": "f32[100000]{0}"}


def test_times_by_cause_and_what_shows_them():
    lost = losses(
        {"name": "t.1", "us": 3, **MOVE, "is_of_argument": True},
        {"name": "t.2", "us": 4, "move": Move.RESHAPE},
        {"name": "f", **WAITING},
        {"name": "g", "us": 1, "is_of_argument": True},
        {"name": "s", "us": 100, "core": "SparseCore"},
    )
    us = 10**6
    assert lost.total_ps == 18 * us
    assert lost.cause.tolist() == [Cause.MOVE, Cause.MEMORY]
    assert lost.time_ps.tolist() == [7 * us, 10 * us]
    assert lost.saved_ps.tolist() == [7 * us, 5 * us]
    assert lost.argument_ps.tolist() == [3 * us, 0]
    assert told(lost) == [
        (Cause.MEMORY, "f", 10, "80 % of the bandwidth of HBM"),
        (Cause.MOVE, "t.2", 4, "reshapes"),
        (Cause.MOVE, "t.1", 3, "transposes"),
    ]


def test_facts_of_products():
    small = {"is_product": True, "product_dtype": "bf16", "dtype": "bf16", "product_size": 1}
    wide = {"is_product": True, "product_dtype": "f32", "flops": 10_000, "us": 9}
    lost = losses({"name": "s", **WAITING, **small}, {"name": "w", **wide})
    assert told(lost) == [
        (Cause.SMALL_PRODUCT, "s", 10, "its smallest dimension is 1"),
        (Cause.WIDE_PRODUCT, "w", 9, "f32"),
    ]
    assert losses({"name": "w", **wide, "product_passes": 6}, device_type="TPU").fact == [
        "f32 in 6 passes"
    ]


def test_hosts_add_up_and_the_longest_instructions_are_named():
    first = losses(
        *({"name": f"t.{index}", "us": 20 - index, **MOVE} for index in range(NAMED + 2))
    )
    second = losses({"name": "t.1", "us": 5, **MOVE}, {"name": "f", **WAITING})
    for parts in ([first, second], [second, first]):
        both = merge_program_losses(parts)
        assert both.total_ps == first.total_ps + second.total_ps
        assert both.cause.tolist() == [Cause.MOVE, Cause.MEMORY]
        assert both.time_ps.tolist() == [first.total_ps + 5_000_000, 10_000_000]
        moves = [(name, us) for cause, name, us, _ in told(both) if cause == Cause.MOVE]
        assert moves == [
            ("t.1", 24),
            ("t.0", 20),
            *((f"t.{index}", 20 - index) for index in range(2, 8)),
        ]
    alone = merge_program_losses([first, NO_LOSSES])
    assert told(alone) == told(first)
    assert alone.time_ps.tolist() == first.time_ps.tolist()


def test_traces_without_programs_have_none():
    trace = draw({"/host:CPU": "t |aa", "/device:GPU:0": "Stream #1 |k"})
    found: ProgramLosses = compute_part("program_losses", space_of(trace))
    assert found.total_ps == 0
    assert found.cause.size == found.of.size == 0
    assert np.array_equal(found.time_ps, NO_LOSSES.time_ps)

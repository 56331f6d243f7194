"""The sum of hosts: any order and grouping give the same, and nothing is lost."""

from typing import Any

import numpy as np
from helpers.drawn.computed_parts import compute_part
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import draw, space_of
from traces.programs import Program

from tbprof.analysis.programs.instruction_facts import InstructionFacts
from tbprof.analysis.programs.op_rows import InstructionWork, OpRows, ProgramName, Times
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.programs.program_ops_merging import add_up, merge_program_ops

NAMES = ("add.1", "dot.2", "while.3")


@st.composite
def hosts(draw_one: Any) -> ProgramOps:
    rows = OpRows()
    for _ in range(draw_one(st.integers(0, 5))):
        id_ = draw_one(st.sampled_from(["7", "8", ""]))
        digest = draw_one(st.sampled_from(["", "aa", "bb"]))
        total = draw_one(st.integers(0, 2**40))
        own = draw_one(st.integers(0, total))
        stack = draw_one(st.sampled_from(["", "f.py:1", "g.py:2\nh.py:3"]))
        work = InstructionWork(*(draw_one(st.integers(-1, 2**50)) for _ in range(9)))
        kernels = draw_one(
            st.lists(st.tuples(st.sampled_from(["k", "l"]), *(st.integers(1, 9),) * 2), max_size=3)
        )
        rows.add(
            ProgramName(id_, "jit_f", digest), draw_one(st.sampled_from(NAMES)),
            InstructionFacts("add", stack=stack), Times(1, 1, total, own), work, kernels,
        )  # fmt: skip
    devices = draw_one(st.integers(0, 4))
    return add_up([rows.table(device_type="GPU", devices=devices, window_ps=9, idle_ps=3)])


def figures(ops: ProgramOps) -> Any:
    """What a table says, without the order of its rows."""
    numbers = (
        "occurrences", "kernels", "total_ps", "self_ps", "span_ps", "flops", "model_flops",
        "transcendentals", "bytes_accessed", "hbm_bytes", "vmem_written_bytes", "has_inner",
    )  # fmt: skip
    rows = []
    for row, key in enumerate(
        zip(ops.program_id, ops.digest, ops.name, ops.core, ops.category, strict=True)
    ):
        some = slice(*ops.first_kernel[row : row + 2].tolist())
        kernels = zip(
            ops.kernel_name[some], ops.kernel_occurrences[some].tolist(),
            ops.kernel_total_ps[some].tolist(), strict=True,
        )  # fmt: skip
        values = [getattr(ops, name)[row].item() for name in numbers]
        rows.append((key, values, sorted(kernels)))
    return sorted(rows), ops.devices, ops.window_ps, ops.idle_ps


@settings(max_examples=20, deadline=None)
@given(st.lists(hosts(), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_and_grouping_of_hosts_do_not_matter(parts, random):
    at_once = figures(merge_program_ops(parts))
    one_by_one = parts[0]
    for part in parts[1:]:
        one_by_one = merge_program_ops([one_by_one, part])
    assert figures(one_by_one) == at_once
    shuffled = list(parts)
    random.shuffle(shuffled)
    assert figures(merge_program_ops(shuffled)) == at_once


@settings(max_examples=20, deadline=None)
@given(st.lists(hosts(), min_size=1, max_size=4))
def test_no_time_and_no_kernel_is_lost(parts):
    merged = merge_program_ops(parts)
    for name in ("occurrences", "total_ps", "self_ps", "kernel_occurrences", "kernel_total_ps"):
        expected = sum(int(getattr(part, name).sum()) for part in parts)
        assert int(getattr(merged, name).sum()) == expected
    keys = list(zip(merged.program_id, merged.digest, merged.name, strict=True))
    assert len(keys) == len(set(keys))


def test_sums_that_no_column_holds_are_limited():
    rows = OpRows()
    for _ in range(3):
        work = InstructionWork(2**62, 2**62, 0, 0, 0)
        rows.add(ProgramName("7"), "a", InstructionFacts(), Times(1, 1, 1, 1), work)
    assert add_up([rows.table()]).flops.tolist() == [2**63 - 1]


def test_programs_of_one_id_with_other_instructions_stay_apart():
    """Hosts that compiled different programs may give them the same number."""

    def host(shape: str) -> ProgramOps:
        made = Program()
        made.add("p", "parameter", shape)
        made.add("x", "negate", shape, "p")
        trace = draw(
            {"/device:GPU:0": "Stream #1 |x"},
            stats={"x": {"program_id": 7, "hlo_module": "jit_f", "hlo_op": "x"}},
            programs={"jit_f(7)": made.bytes()},
        )
        ops: ProgramOps = compute_part("program_ops", space_of(trace))
        return ops

    merged = merge_program_ops([host("f32[8]"), host("f32[9]"), host("f32[8]")])
    assert merged.occurrences.tolist() == [2, 1]
    assert merged.flops.tolist() == [16, 9]
    assert np.array_equal(merged.kernels, merged.occurrences)

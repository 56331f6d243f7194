"""What ops of GPUs computed, where only their programs say it."""

from pathlib import Path
from typing import Any

import pytest
from traces import drawn_space
from traces.programs import Program

from tbprof.analysis.devices.devices import find_devices
from tbprof.analysis.gpu.kernels import find_kernels, merge_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.op_metrics import OpMetrics, merge_op_metrics
from tbprof.analysis.ops.ops import find_ops
from tbprof.events.space import Space
from tbprof.xplane.reader import read_space

GPU = "/device:GPU:0"
# 128 × 256 by 256 × 64, and what is read and written of it in bfloat16.
DOT_FLOPS, DOT_BYTES = 2 * 128 * 256 * 64, 2 * (128 * 256 + 256 * 64 + 128 * 64)


def program() -> Program:
    """`d` multiplies, `c` is a call of which nothing is known, loop `w` multiplies by `e`."""
    made = Program()
    made.add("p", "parameter", "bf16[128,256]")
    made.add("q", "parameter", "bf16[256,64]")
    for name, within in (("d", "main"), ("e", "body")):
        dot = made.add(name, "dot", "bf16[128,64]", "p", "q", within=within, op=f"f/{name}")
        dot.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    made.add("c", "custom-call", "bf16[8]", "d", op="f/c").custom_call_target = "mine"
    loop = made.add("w", "while", "bf16[128,64]", "d", calls="body", op="f/w")
    loop.backend_config = b'{"known_trip_count":{"n":"4"}}'
    return made


def space_with(
    stream: str, names: dict[str, str], instructions: dict[str, str], **stats: Any
) -> Space:
    """Kernels that letters of a stream stand for, of these instructions."""
    launch = {"kernel_details": "grid:1,1,1 block:1,1,1", "program_id": 7, **stats}
    return drawn_space(
        {GPU: f"Stream #1 |{stream}"},
        names={**names},
        stats={letter: {**launch, "hlo_op": name} for letter, name in instructions.items()},
        programs={"jit_f(7)": program().bytes()},
    )


def ops_of(
    stream: str, names: dict[str, str], instructions: dict[str, str], **stats: Any
) -> OpMetrics:
    space = space_with(stream, names, instructions, **stats)
    return find_ops(space, Programs(space))


def work(ops: OpMetrics) -> dict[str, list[Any]]:
    """[operations, bytes, whether they are computed] by op."""
    columns = ops.flops.tolist(), ops.bytes_accessed.tolist(), ops.is_computed.tolist()
    return {name: figures for name, *figures in zip(ops.name, *columns, strict=True)}


def test_an_instruction_works_as_often_as_it_ran():
    ops = ops_of("a.a.a", {"a": "gemm"}, {"a": "d"})
    assert work(ops) == {"f/d": [3 * DOT_FLOPS, 3 * DOT_BYTES, True]}
    assert ops.hbm_bytes.tolist() == [3 * DOT_BYTES]


@pytest.mark.parametrize(
    ("stream", "executions"),
    [
        ("ab.ab.ab", 3),  # two kernels each time
        ("abb.abb.cab", 3),  # one of them twice, and another once in all
        ("a.a.a.a", 4),
        ("abb.abb", 2),
    ],
)
def test_kernels_of_one_instruction_share_its_work(stream, executions):
    ops = ops_of(
        stream, {"a": "split", "b": "sum", "c": "fill"}, dict.fromkeys(stream.replace(".", ""), "d")
    )
    assert work(ops) == {"f/d": [executions * DOT_FLOPS, executions * DOT_BYTES, True]}


def test_what_the_recorder_states_counts():
    ops = ops_of("a.a", {"a": "gemm"}, {"a": "d"}, flops=10, bytes_accessed=4)
    assert work(ops) == {"f/d": [20, 8, False]}


def test_a_call_of_unknown_cost_is_not_computed():
    ops = ops_of("aab", {"a": "mine", "b": "gemm"}, {"a": "c", "b": "d"})
    assert work(ops) == {"f/c": [0, 0, False], "f/d": [DOT_FLOPS, DOT_BYTES, True]}
    assert ops.uncosted_ps == 2_000_000
    assert merge_op_metrics([ops, ops]).uncosted_ps == 4_000_000


def test_a_loop_works_by_its_body_alone():
    ops = ops_of("wa.a.a.a", {"a": "gemm", "w": "Memcpy"}, {"a": "e", "w": "w"})
    assert work(ops)["f/e"] == [4 * DOT_FLOPS, 4 * DOT_BYTES, True]
    assert work(ops)["f/w"] == [0, 0, False]
    assert ops.uncosted_ps == 0


def test_instructions_that_the_program_does_not_hold_are_unknown():
    ops = ops_of("a", {"a": "gemm"}, {"a": "x"})
    assert (ops.flops.tolist(), ops.uncosted_ps) == ([0], 1_000_000)


def test_the_work_of_an_instinct(amd_trace: Path):
    """Five products by Triton and one by hipBLASLt, attention twice forward and twice backward."""
    space = read_space(amd_trace)
    ops = find_ops(space, Programs(space))
    product, score = 103_079_215_104, 2 * 2 * 16 * (2048 * 2049 // 2) * 128
    conversions = 25_165_824 + 8_388_608 + 2 * 12_582_912  # to bfloat16
    additions = 176_160_767 + 10  # in float32, and of positions
    step = 6 * product + 2 * (2 + 5) * score + conversions + additions
    assert ops.flops[ops.is_device].sum() == 5 * step
    assert ops.uncosted_ps == 0
    # 256 multiprocessors × 4096 operations × 2.4 GHz.
    assert find_devices(space, Programs(space)).peak_gflops == 2_516_582.4


def kernels_of(stream: str, instructions: dict[str, str], **stats: Any) -> dict[str, list[int]]:
    """[operations, bytes] of each kernel."""
    names = {letter: f"kernel {letter}" for letter in instructions}
    space = space_with(stream, names, instructions, **stats)
    kernels = find_kernels(space, Programs(space))
    columns = kernels.flops.tolist(), kernels.bytes.tolist()
    return {name: figures for name, *figures in zip(kernels.name, *columns, strict=True)}


def test_a_kernel_has_the_work_of_its_instruction():
    assert kernels_of("a.a", {"a": "d"}) == {"kernel a": [2 * DOT_FLOPS, 2 * DOT_BYTES]}
    # Bytes that are not stated are not known.
    assert kernels_of("a.a", {"a": "d"}, flops=5) == {"kernel a": [10, -1]}
    assert kernels_of("a.a", {"a": "d"}, bytes_accessed=5) == {"kernel a": [0, 10]}


def test_the_work_of_kernels_that_share_an_instruction_is_unknown():
    assert kernels_of("ab", {"a": "d", "b": "d"}) == {"kernel a": [-1, -1], "kernel b": [-1, -1]}
    assert kernels_of("a", {"a": "c"}) == {"kernel a": [-1, -1]}


def test_a_memset_beside_a_kernel_takes_no_work_from_it():
    names = {"m": "Memset 3", "a": "kernel a"}
    space = space_with("ma.ma", names, dict.fromkeys("ma", "d"))
    kernels = find_kernels(space, Programs(space))
    rates = dict(zip(kernels.name, kernels.flops.tolist(), strict=True))
    assert rates["kernel a"] == 2 * DOT_FLOPS
    assert rates.get("Memset 3", -1) == -1


def test_work_of_several_hosts_adds_up_and_unknown_work_stays_unknown():
    parts = []
    for instruction in "dc":
        space = space_with("a", {"a": "gemm"}, {"a": instruction})
        parts.append(find_kernels(space, Programs(space)))
    known, unknown = parts
    assert merge_kernels([known, known]).flops.tolist() == [2 * DOT_FLOPS]
    assert merge_kernels([unknown, unknown]).flops.tolist() == [-1]

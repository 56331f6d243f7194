"""The instructions that ran on threads of the host."""

from pathlib import Path
from typing import Any

import numpy as np
from builders.program_ops import by_name
from helpers.drawn.computed_parts import compute_part
from traces import draw, drawn_space, space_of
from traces.programs import Program

from tbprof.xplane.reader import read_space

HOST = "/host:CPU"
US = 1_000_000
SAMPLE = (
    Path(__file__).parents[3] / "examples/logdir/plugins/profile/jax_cpu_training/host0.xplane.pb"
)


def ran(name: str, device: int = 0, **stats: Any) -> dict[str, Any]:
    return {
        "hlo_op": name, "hlo_module": "jit_f", "program_id": 8, "run_id": 1,
        "device_ordinal": device, **stats,
    }  # fmt: skip


def test_a_loop_contains_its_body_and_markers_of_ends_are_nothing():
    made = Program()
    made.add("p", "parameter", "f32[10]")
    made.add("while.1", "while", "f32[10]", "p", calls="body")
    made.add("exp.2", "exponential", "f32[10]", "p", within="body")
    trace = draw(
        {
            "/host:metadata": "none |",
            HOST: """
                python      |ffffffffffffff
                tf_XLAEigen |.wwwwwwwww...e
                            |..bb.bbb.x
                other       |...bb.........e
            """,
        },
        names={"P": "jit_f(8)", "w": "while.1", "b": "exp.2", "x": "end: exp.2", "e": "end: b"},
        stats={"w": ran("while.1"), "b": ran("exp.2"), "x": ran("exp.2")},
        type_stats={"P": {"Hlo Proto": made.bytes(), "program_id": 8}},
    )
    ops = compute_part("program_ops", space_of(trace))
    columns = (
        "occurrences",
        "total_ps",
        "self_ps",
        "transcendentals",
        "has_inner",
        "kernels",
        "is_entry",
    )
    assert by_name(ops, *columns) == {
        "while.1": [1, 9 * US, 4 * US, -1, True, 0, True],
        "exp.2": [3, 7 * US, 7 * US, 30, False, 0, False],
    }
    assert (ops.device_type, ops.devices, ops.window_ps, ops.idle_ps) == ("CPU", 1, 9 * US, 0)
    assert (ops.program, ops.core) == (["jit_f"] * 2, [""] * 2)


def test_each_device_of_a_cpu_has_a_window():
    trace = draw({HOST: "a |x.x\nb |.....yyy.y"}, stats={"x": ran("x"), "y": ran("x", device=1)})
    ops = compute_part("program_ops", space_of(trace))
    assert by_name(ops, "occurrences", "total_ps") == {"x": [4, 6 * US]}
    assert (ops.devices, ops.window_ps, ops.idle_ps) == (2, 8 * US, 2 * US)


def test_launches_on_other_devices_are_no_work_of_the_cpu():
    trace = draw(
        {HOST: "a |x", "/device:GPU:0": "Stream #1 |"}, stats={"x": ran("x", correlation_id=5)}
    )
    assert compute_part("program_ops", space_of(trace)).name == []
    beside = draw({HOST: "a |x", "/device:GPU:0": "Stream #1 |k"}, stats={"x": ran("x")})
    assert compute_part("program_ops", space_of(beside)).name == ["k"]


def test_traces_without_programs_have_no_rows():
    ops = compute_part("program_ops", drawn_space({HOST: "a |x"}))
    assert (ops.name, ops.device_type, ops.devices) == ([], "", 0)


def test_the_sample_recorded_on_a_cpu_has_its_programs():
    space = read_space(SAMPLE)
    ops = compute_part("program_ops", space)
    assert ops.device_type == "CPU"
    assert {"jit_train_step", "jit__normal"} <= set(ops.program)
    assert all(ops.digest)
    row = ops.name.index("dot")
    # 64 × 4096 by 64 × 128, eight steps.
    assert (ops.flops[row], ops.occurrences[row]) == (8 * 2 * 64 * 4096 * 128, 8)
    assert ops.source[row] == "/opt/demo/record_jax.py:71"
    inner = np.flatnonzero(ops.has_inner).tolist()
    assert {ops.opcode[row] for row in inner} == {"call", "while"}
    loops = [row for row in inner if ops.opcode[row] == "while"]
    assert (ops.self_ps[loops] < ops.total_ps[loops]).all()

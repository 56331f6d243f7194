"""How often instructions ran in each step, counted in drawings."""

from typing import Any

from helpers.drawn.computed_parts import compute_parts
from traces import Unsigned, draw, space_of
from traces.planted_programs import planted_gpu
from traces.programs import Program

STEPS = {letter: {"_r": 1, "step_num": at} for at, letter in enumerate("stu")}
MARKS = dict.fromkeys("stu", "train")


def executions(content: bytes) -> dict[tuple[str, str], int]:
    """How often an instruction ran, by the step's label and its name."""
    parts: dict[str, Any] = compute_parts(space_of(content), "step_ops")
    ran, ops, steps = parts["step_ops"], parts["program_ops"], parts["steps"]
    keys = zip(ran.step.tolist(), ran.op.tolist(), strict=True)
    names = [(steps.label[step], ops.name[op]) for step, op in keys]
    assert len(set(names)) == len(names)
    return dict(zip(names, ran.executions.tolist(), strict=True))


def test_each_execution_is_in_the_step_in_which_it_begins():
    counts = executions(planted_gpu("memory_bound"))
    labels = ["train 0", "train 1", "train 2"]
    assert counts == {(label, name): 1 for label in labels for name in ("p", "d")}


def gpu(stream: str) -> bytes:
    """Steps of 10; `d` launches kernel a once and kernel b up to three times."""
    program = Program()
    program.add("d", "parameter", "f32[8]")
    ran = {"program_id": 7, "hlo_module": "jit_f", "hlo_op": "d", "kernel_details": "regs:8"}
    return draw(
        {
            "/host:CPU": "python |ssssssssssttttttttttuuuuuuuuuu",
            "/device:GPU:0": f"Stream #1 |{stream}",
        },
        names={**MARKS},
        stats={**STEPS, "a": ran, "b": ran},
        programs={"jit_f(7)": program.bytes()},
    )


def test_kernels_of_one_execution_count_once():
    counts = executions(gpu("a.b.b.....a.b.a.b.b.a.b......."))
    assert counts == {("train 0", "d"): 1, ("train 1", "d"): 2, ("train 2", "d"): 1}


def test_cores_of_a_tpu_have_steps_of_their_own():
    core = """
        Steps       |ssssssssssssssstttttttttttttttt
        XLA Modules |mmmmmmmmmmmmmm.mmmmmmmmmmmmmmm.
        XLA Ops     |.aaa.bbb.bbb....bbb.aaa..aaa...
    """
    counts = executions(
        draw(
            {"/device:TPU:0": core},
            names={
                "s": "4", "t": "5", "m": "jit_f(3)",
                "a": "%fusion.1 = f32[8]{0} fusion(f32[8]{0} %p)",
                "b": "%copy.2 = f32[8]{0} copy(f32[8]{0} %p)",
            },
            stats={"s": {"step_num": 4}, "t": {"step_num": 5}},
            type_stats={
                "a": {"program_id": Unsigned(3), "hlo_category": "loop fusion"},
                "b": {"program_id": Unsigned(3), "hlo_category": "copy"},
            },
        )
    )  # fmt: skip
    assert counts == {
        ("4", "fusion.1"): 1, ("4", "copy.2"): 2, ("5", "copy.2"): 1, ("5", "fusion.1"): 2,
    }  # fmt: skip


def test_a_host_may_have_gpus_and_tpus():
    ran = {"program_id": 7, "hlo_module": "jit_f", "hlo_op": "d", "kernel_details": "regs:8"}
    counts = executions(
        draw(
            {
                "/host:CPU": "python |ssssssssssttttttttttuuuuuuuuuu",
                "/device:GPU:0": "Stream #1 |.a.a.......a",
                "/device:TPU:0": "XLA Ops |.............b",
            },
            names={"b": "%copy.2 = f32[8]{0} copy(f32[8]{0} %p)", **MARKS},
            stats={**STEPS, "a": ran},
        )
    )
    assert counts == {("train 0", "d"): 2, ("train 1", "d"): 1}


def test_nothing_is_counted_without_programs_or_steps():
    trace = draw({"/host:CPU": "python |ssssstttttuuuuu"}, names=MARKS, stats=STEPS)
    assert executions(trace) == {}
    ran = {"program_id": 7, "hlo_module": "jit_f", "hlo_op": "d"}
    assert executions(draw({"/device:GPU:0": "Stream #1 |aa"}, stats={"a": ran})) == {}

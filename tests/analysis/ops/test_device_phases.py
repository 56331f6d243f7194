"""What GPUs did when, from drawn traces."""

import re

import numpy as np
import pytest
from helpers.drawn.drawn_devices import GPU, KERNEL, US, devices_of, phase_of, phases, rows
from traces import Ref, draw, drawn_space
from traces.programs import Program

from tbprof.analysis.hlo.hlo import Programs


def test_kernels_that_a_driver_copies_with_go_by_the_call_that_launched_them():
    """Where no call tells, a copy of unknown ends counts as one within the device."""
    (device,) = devices_of(
        draw(
            {"/host:CPU": "api |xyzu", GPU: "Stream #1 |aabbccddeekk"},
            names={
                "x": "hipMemcpyDtoDAsync", "y": "hipMemcpyHtoDAsync", "z": "hipMemcpyDtoH",
                "u": "hipMemcpyAsync", **dict.fromkeys("abcd", "__amd_rocclr_copyBuffer.kd"),
                "e": "__amd_rocclr_fillBufferAligned.kd", "k": "sgemm",
            },
            stats={
                letter: {"correlation_id": int(at), **(KERNEL if letter in "abcdek" else {})}
                for letter, at in zip("xyzuabcdek", "1234123456", strict=True)
            },
        )
    )  # fmt: skip
    assert [phase for _, _, phase, _ in rows(device)] == [
        "DEVICE_TO_DEVICE", "INPUT", "OUTPUT", "DEVICE_TO_DEVICE", "COMPUTE_UNKNOWN", "COMPUTE_32",
    ]  # fmt: skip
    assert device.is_kernel.tolist() == [False] * 5 + [True]


def test_events_of_all_streams_by_start():
    (device,) = devices_of(
        draw(
            {GPU: "Stream #1 |..kkk.c\nStream #2 |.hh.....d\nTensorFlow Ops |oooooo"},
            names={"k": "sgemm", "c": "MemcpyD2D", "h": "MemcpyH2D", "d": "MemcpyD2H"},
            stats={"k": KERNEL},
            line_ids={"TensorFlow Ops": -559038734},
        )
    )
    assert (device.name, device.kind, device.id) == ("GPU:0", "GPU", 0)
    assert rows(device) == [
        (1, 2, "INPUT", "MemcpyH2D"),
        (2, 3, "COMPUTE_32", "sgemm"),
        (6, 1, "DEVICE_TO_DEVICE", "MemcpyD2D"),
        (8, 1, "OUTPUT", "MemcpyD2H"),
    ]
    assert device.is_kernel.tolist() == [False, True, False, False]
    assert device.group.tolist() == [-1] * 4
    # Rows lead back to the events, of which the caller asks for groups.
    assert device.events.start_ps[device.row].tolist() == device.start_ps.tolist()
    assert device.phase.dtype == np.int8


def test_each_gpu_is_apart_and_those_without_events_are_left_out():
    devices = devices_of(
        draw({"/device:GPU:1": "Stream #1 |", GPU: "Stream #1 |a", "/device:GPU:7": "S |b.b"})
    )
    assert [(one.name, one.id, one.start_ps.size) for one in devices] == [
        ("GPU:0", 0, 1),
        ("GPU:7", 7, 2),
    ]
    assert devices_of(draw({"/host:CPU": "thread |aa"})) == []


@pytest.mark.parametrize(
    ("names", "phase"),
    [
        (
            """MemcpyH2D|MEMCPYHtoD|memcpyhtod|Memcpy HtoD (Pinned -> Device)|CopyHostToDevice
            MEMORY_COPY_HOST_TO_DEVICE|MemcpyHtoDAsync|UM_BYTES_TRANSFER_HTOD|MemcpyHtoA""",
            "INPUT",
        ),
        (
            """MemcpyD2H|MEMCPYDtoH|memcpydtoh|Memcpy DtoH (Device -> Pageable)|CopyDeviceToHost
            MEMORY_COPY_DEVICE_TO_HOST|UM_BYTES_TRANSFER_DTOH|MemcpyAtoH""",
            "OUTPUT",
        ),
        (
            """MemcpyD2D|MEMCPYDtoD|memcpydtod|MemcpyP2P|MemcpyPtoP|Memcpy DtoD (Device -> Device)
            CopyDeviceToDevice|MEMORY_COPY_DEVICE_TO_DEVICE|UM_BYTES_TRANSFER_DTOD|MemcpyOther
            memcpy32_post|Memcpy""",
            "DEVICE_TO_DEVICE",
        ),
        ("MemcpyH2H|MEMCPYHtoH|CopyHostToHost", "HOST_COMPUTE"),
        ("Memset|Memset 3|memset (Device)|FillBuffer|MEMSET", "COMPUTE_UNKNOWN"),
        ("copy_a_to_d|memcpyless_kernel|copy_fusion|MakeCopyH2D", "COMPUTE_UNKNOWN"),
    ],
)
def test_copies_in_all_spellings(names, phase):
    for name in re.split(r"\||\n\s*", names):
        assert (name, phase_of(name)) == (name, phase)


def test_the_details_of_a_copy_tell_where_its_name_does_not():
    def phase(source: str, destination: str, name: str = "MemcpyOther") -> str:
        details = f"kind_src:{source} kind_dst:{destination} size:8 dest:0 async:1"
        return phase_of(name, memcpy_details=details)

    assert phase("pageable", "device") == "INPUT"
    assert phase("pinned", "device_static") == "INPUT"
    assert phase("array", "pageable") == "OUTPUT"
    assert phase("device", "array") == "DEVICE_TO_DEVICE"
    assert phase("managed", "unknown") == "DEVICE_TO_DEVICE"
    assert phase("pinned", "pageable") == "HOST_COMPUTE"
    # The name is certain where it tells.
    assert phase("pageable", "device", "MemcpyD2H") == "OUTPUT"
    assert phase_of("MemcpyOther", memcpy_details="size:8 dest:4 async:0") == "DEVICE_TO_DEVICE"
    assert phase_of("MemcpyOther", memcpy_details=":: kind_src:") == "DEVICE_TO_DEVICE"


def test_what_the_recorder_adds_is_no_work():
    """How long memory was held lasts for all of a trace, and would hide every gap."""
    content = draw(
        {GPU: "Stream #0(MemoryResidency) |mmmmmmmm\nStream #1 |.k.\nCUPTI overhead |oo.u.i"},
        names={
            "m": "Memory Device", "k": "sgemm", "o": "BUFFER_FLUSH", "u": "UM_GPU_PAGE_FAULT",
            "i": "INSTRUMENTATION",
        },
    )  # fmt: skip
    (device,) = devices_of(content)
    assert rows(device) == [(1, 1, "COMPUTE_32", "sgemm")]
    # A kernel may be called anything.
    assert phase_of("COMPILER", **KERNEL) == "COMPUTE_UNKNOWN"


def test_collectives_are_kernels_by_name_or_by_their_instruction():
    assert phase_of("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…)", **KERNEL) == "COLLECTIVES"
    assert phase_of("some_kernel", hlo_op="all-reduce-start.1", **KERNEL) == "COLLECTIVES"
    assert phase_of("MemcpyP2P", hlo_op="f::collective-permute-start") == "COLLECTIVES"
    assert phase_of("MemcpyD2D", hlo_op="copy.3") == "DEVICE_TO_DEVICE"
    assert phase_of("MemcpyH2D", hlo_op="all-gather.1") == "INPUT"
    assert phase_of("Memset", hlo_op="all-gather.1") == "COMPUTE_UNKNOWN"


def test_kernels_are_what_has_launch_details_and_what_is_neither_copy_nor_memset():
    (device,) = devices_of(
        draw(
            {GPU: "Stream #1 |abcd"},
            names={"a": "k", "b": "memcpy32_post", "c": "Memset", "d": "MemcpyP2P"},
            stats={"b": KERNEL},
        )
    )
    assert device.is_kernel.tolist() == [True, True, False, False]


def test_kernels_of_one_name_differ_by_the_shapes_of_their_op():
    content = draw(
        {GPU: "Stream #1 |ab.c"},
        names=dict.fromkeys("abc", "AddKernel"),
        stats={
            "a": {"tf_op": "x:Add", "shape": "(half[8];half[8])"},
            "b": {"tf_op": "x:Add", "shape": Ref("(float[8];float[8])")},
            "c": {"tf_op": "x:Add"},
        },
    )
    assert phases(content) == ["COMPUTE_16", "COMPUTE_32", "COMPUTE_UNKNOWN"]


@pytest.mark.parametrize(("major", "phase"), [(8, "COMPUTE_TF32"), (7, "COMPUTE_16")])
def test_the_generation_of_the_device_counts(major, phase):
    content = draw(
        {GPU: "Stream #1 |a"},
        names={"a": "cutlass_tensorop_s1688gemm_128x128_16x5_nt_align4"},
        plane_stats={GPU: {"compute_cap_major": major, "compute_cap_minor": 5}},
    )
    assert phases(content) == [phase]


def program() -> bytes:
    """jit_f: fusion.1 (f32 in and out) multiplies matrices in 16 bit; add.2 adds f32."""
    made = Program()
    for name in ("p.0", "p.1"):
        made.add(name, "parameter", "bf16[8,8]", within="fused")
    made.add("dot.0", "dot", "f32[8,8]", "p.0", "p.1", within="fused")
    made.add("ag", "all-gather", "f32[8,8]", within="wrapped")
    made.add("x", "parameter", "f32[8,8]")
    made.add("fusion.1", "fusion", "f32[8,8]", "x", "x", calls="fused")
    made.add("async-start.1", "async-start", "f32[8,8]", "x", calls="wrapped")
    made.add("async-done.1", "async-done", "f32[8,8]", "async-start.1")
    made.add("add.2", "add", "f32[8,8]", "fusion.1", "x")
    return made.bytes()


def test_the_program_tells_the_types_of_an_instruction():
    content = draw(
        {GPU: "Stream #1 |abc"},
        names={"a": "gemm_fusion_dot_1", "b": "loop_add_fusion", "c": "other"},
        stats={
            "a": {"hlo_op": "while.1::fusion.1", "hlo_module": "jit_f", "program_id": 5},
            "b": {"hlo_op": "add.2", "hlo_module": "jit_f", "program_id": 6},
            "c": {"hlo_op": "nothing.3", "hlo_module": "jit_f", "program_id": 5},
        },
        programs={"jit_f(5)": program()},
    )
    assert phases(content) == ["COMPUTE_16", "COMPUTE_32", "COMPUTE_UNKNOWN"]


def test_instructions_of_programs():
    space = drawn_space(
        {},
        programs={"jit_f(5)": program(), "jit_g(6)": b"\xff damaged"},
    )
    programs = Programs(space)
    found = programs.instruction(5, "", "fusion.1")
    assert found is not None
    assert [found.operands, found.results, found.products] == [
        (("f32", 64), ("f32", 64)),
        (("f32", 64),),
        (("bf16", 64), ("bf16", 64)),
    ]
    add = programs.instruction(5, "", "add.2")
    assert add is not None
    assert (add.opcode, add.products, add.wrapped) == ("add", (), "")
    for name in ("async-start.1", "async-done.1"):
        one = programs.instruction(99, "jit_f", name)
        assert one is not None
        assert one.wrapped == "all-gather"
    assert programs.instruction(5, "", "missing") is None
    assert programs.instruction(6, "", "fusion.1") is None
    assert programs.instruction(7, "", "fusion.1") is None


def test_the_steps_and_programs_that_a_gpus_own_lines_tell():
    (device,) = devices_of(
        draw(
            {GPU: "Stream #1 |aa.aa\nSteps |ss.tt\nXLA Modules |mm.nn"},
            names={"s": "0", "t": "train 7", "m": "jit_f(1)", "n": "jit_g"},
            stats={
                "s": {"group_id": 0, "step_name": Ref("train 6")},
                "t": {"group_id": 4, "step_num": 9},
            },
            line_ids={"Steps": 0xDEADBEEF, "XLA Modules": 0xDEADBEEF + 4},
        )
    )
    steps = device.steps
    assert steps is not None
    assert (steps.start_ps.tolist(), steps.duration_ps.tolist()) == ([0, 3 * US], [2 * US] * 2)
    assert (steps.group.tolist(), steps.number.tolist()) == ([0, 4], [6, 9])
    assert steps.name == ["train 6", "train 7"]
    runs = device.executions
    assert [runs.name[kind] for kind in runs.kind] == ["jit_f(1)", "jit_g"]
    assert runs.start_ps.tolist() == [0, 3 * US]


def test_no_steps_line_is_none():
    (device,) = devices_of(draw({GPU: "Stream #1 |a\nSteps |"}))
    assert device.steps is None
    assert device.executions.start_ps.size == 0

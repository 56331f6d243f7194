"""What devices did when: GPUs, TPU cores and SparseCores, from drawn and recorded traces."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from traces import Ref, Unsigned, draw, space_of

from tbprof._pb import message
from tbprof.analysis.gpu.gpu_events import find_gpu_kinds
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.device_phases import DeviceIntervals, find_device_intervals
from tbprof.analysis.steps.recording_gaps import clock_doubts
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.events.space import Space
from tbprof.xplane.reader import read_space

GPU, TPU, SPARSE = "/device:GPU:0", "/device:TPU:0", "/device:TPU:0 SparseCore 1"
US = 1_000_000
KERNEL = {"kernel_details": "regs:32 shm:0 grid:1,1,1 block:32,1,1"}


def devices_of(content: bytes) -> list[DeviceIntervals]:
    space = space_of(content)
    return find_device_intervals(space, Programs(space))


def rows(device: DeviceIntervals) -> list[tuple[int, int, str, str]]:
    """(start µs, duration µs, phase, what it was) of the intervals."""
    return [
        (start // US, duration // US, Phase(phase).name, device.event_name[kind])
        for start, duration, phase, kind in zip(
            device.start_ps.tolist(),
            device.duration_ps.tolist(),
            device.phase.tolist(),
            device.event_kind.tolist(),
            strict=True,
        )
    ]


def phases(content: bytes) -> list[str]:
    (device,) = devices_of(content)
    return [phase for _, _, phase, _ in rows(device)]


def phase_of(name: str, **stats: str | int) -> str:
    """The phase of a GPU event of that name."""
    (phase,) = phases(draw({GPU: "Stream #1 |a"}, names={"a": name}, stats={"a": stats}))
    return phase


# GPUs.


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
    found = devices_of(
        draw({"/device:GPU:1": "Stream #1 |", GPU: "Stream #1 |a", "/device:GPU:7": "S |b.b"})
    )
    assert [(one.name, one.id, one.start_ps.size) for one in found] == [
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


F32, BF16 = 11, 16


def program(*, inner: int = BF16) -> bytes:
    """jit_f: fusion.1 (f32 in and out) multiplies matrices of the type `inner`; add.2 adds f32."""
    proto = message("xla.HloProto")()
    module = proto.hlo_module
    fused = module.computations.add(name="fused", id=2, root_id=23)
    main = module.computations.add(name="main", id=1, root_id=13)

    def instruction(computation, name, number, opcode, dtype, operands=(), called=()):
        one = computation.instructions.add(name=name, id=number, opcode=opcode)
        one.shape.element_type = dtype
        one.shape.dimensions.extend([8, 8])
        one.operand_ids.extend(operands)
        one.called_computation_ids.extend(called)

    instruction(fused, "p.0", 21, "parameter", inner)
    instruction(fused, "p.1", 22, "parameter", inner)
    instruction(fused, "dot.0", 23, "dot", F32, (21, 22))
    instruction(main, "x", 11, "parameter", F32)
    instruction(main, "fusion.1", 12, "fusion", F32, (11, 11), (2,))
    instruction(main, "add.2", 13, "add", F32, (12, 11))
    instruction(main, "async-start.1", 14, "async-start", F32, (11,), (3,))
    instruction(main, "async-done.1", 15, "async-done", F32, (14,))
    wrapped = module.computations.add(name="wrapped", id=3, root_id=31)
    instruction(wrapped, "ag", 31, "all-gather", F32)
    return bytes(proto.SerializeToString())


def test_the_program_tells_the_types_of_an_instruction():
    content = draw(
        {"/host:metadata": "none |", GPU: "Stream #1 |abc"},
        names={"P": "jit_f(5)", "a": "gemm_fusion_dot_1", "b": "loop_add_fusion", "c": "other"},
        stats={
            "a": {"hlo_op": "while.1::fusion.1", "hlo_module": "jit_f", "program_id": 5},
            "b": {"hlo_op": "add.2", "hlo_module": "jit_f", "program_id": 6},
            "c": {"hlo_op": "nothing.3", "hlo_module": "jit_f", "program_id": 5},
        },
        type_stats={"P": {"Hlo Proto": program()}},
    )
    assert phases(content) == ["COMPUTE_16", "COMPUTE_32", "COMPUTE_UNKNOWN"]


def test_instructions_of_programs():
    space = space_of(
        draw(
            {"/host:metadata": "none |"},
            names={"P": "jit_f(5)", "Q": "jit_g(6)"},
            type_stats={"P": {"Hlo Proto": program()}, "Q": {"Hlo Proto": b"\xff damaged"}},
        )
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
                "n": {"run_id": 12},
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
    assert runs.run_id.tolist() == [-1, 12]


def test_no_steps_line_is_none():
    (device,) = devices_of(draw({GPU: "Stream #1 |a\nSteps |"}))
    assert device.steps is None
    assert device.executions.start_ps.size == 0


# TPUs.


def test_a_loop_has_what_its_body_leaves():
    content = draw(
        {TPU: "XLA Ops |wwwwwwwwww.i\n        |.aaa.rrr.."},
        names={"a": "%add.1 = bf16[8]{0} add(bf16[8]{0} %x)", "w": "%while.1 = (bf16[8]) while()"},
        display_names={"a": "add.1", "w": "while.1"},
        type_stats={
            "w": {"hlo_category": "while"},
            "a": {"hlo_category": "non-fusion elementwise"},
            "r": {"hlo_category": "all-reduce"},
            "i": {"hlo_category": "infeed"},
        },
    )
    (device,) = devices_of(content)
    assert (device.name, device.kind, device.id) == ("TPU:0", "TPU", 0)
    assert rows(device) == [
        (0, 1, "COMPUTE_UNKNOWN", "while.1"),
        (1, 3, "COMPUTE_16", "add.1"),
        (4, 1, "COMPUTE_UNKNOWN", "while.1"),
        (5, 3, "COLLECTIVES", "r"),
        (8, 2, "COMPUTE_UNKNOWN", "while.1"),
        (11, 1, "INPUT", "i"),
    ]
    assert not device.is_kernel.any()
    at = device.events.type[device.row]
    texts = device.plane.strings.take(device.plane.types.name[at].tolist())
    assert texts[1] == "%add.1 = bf16[8]{0} add(bf16[8]{0} %x)"


def test_asynchronous_ops_go_on_beside_the_others():
    content = draw(
        {TPU: "XLA Ops |aa..d\nAsync XLA Ops |.sssss"},
        names={"a": "%a = f32[2]{0} add(f32[2]{0} %x)", "s": "%copy-start = (f32[2])"},
        type_stats={
            "s": {"hlo_category": "copy-start"},
            "d": {"hlo_category": "all-gather-done"},
        },
    )
    (device,) = devices_of(content)
    assert [row[:3] for row in rows(device)] == [
        (0, 2, "COMPUTE_32"),
        (1, 5, "DEVICE_TO_DEVICE"),
        (4, 1, "COLLECTIVES"),
    ]
    assert device.events.start_ps[device.row].tolist() == device.start_ps.tolist()


def test_cores_and_sparse_cores_are_apart():
    found = devices_of(
        draw(
            {
                TPU: "XLA Ops |aa\nSteps |sss\nXLA Modules |m",
                SPARSE: "Sparse Core Ops |.b\nSparse Core Steps |.t\nSparse Core Modules |.n",
                "/device:TPU:3": "XLA Ops |\nSteps |sss",
                "/device:TPU:4": "XLA Ops |",
            },
            names={"s": "11", "t": "12"},
            stats={"s": {"group_id": 5}},
        )
    )
    assert [(one.name, one.kind, one.id, one.start_ps.size) for one in found] == [
        ("TPU:0", "TPU", 0, 1),
        ("TPU:0 SparseCore 1", "SparseCore", 1_000_001, 1),
        ("TPU:3", "TPU", 3, 0),  # a core that only waited still had steps
    ]
    assert [one.executions.name for one in found] == [["m"], ["n"], []]
    steps = [one.steps for one in found]
    assert [one.number.tolist() for one in steps if one] == [[11], [12], [11]]
    assert [one.group.tolist() for one in steps if one] == [[5], [-1], [5]]


def test_ops_nest_by_the_devices_clock_and_lie_among_the_other_lines():
    """The device's clock started 100 µs earlier; b ends with a there, here 1 µs later."""
    content = draw(
        {TPU: "XLA Ops |aaaa.c\n        |..bbb\nSteps |ssssss"},
        stats={
            "a": {"device_offset_ps": 100 * US, "device_duration_ps": 4 * US},
            "b": {"device_offset_ps": Unsigned(102 * US), "device_duration_ps": 2 * US},
            "c": {"device_offset_ps": 105 * US, "device_duration_ps": US},
        },
    )
    (device,) = devices_of(content)
    assert [row[:2] for row in rows(device)] == [(0, 2), (2, 2), (5, 1)]
    assert device.steps is not None
    assert (device.steps.start_ps.tolist(), device.steps.duration_ps.tolist()) == ([0], [6 * US])


def steady(
    file_starts: list[float], drift_us: float = 0, jumps: Mapping[int, float] | None = None
) -> DeviceIntervals:
    """A core that runs a program of one op of half a second each second, as a file states it.

    Starts are in seconds; the clock of the device begins at 100 s and is slower by `drift_us` per
    second, and ahead by what `jumps` says from such an op on. The program lasts as long as its op,
    or where the next one is too early as long as fits.
    """
    space = message("tensorflow.profiler.XSpace").FromString(
        draw(
            {TPU: "XLA Ops |a.a.a\nXLA Modules |m.m.m\nAsync XLA Ops |s.s.s"},
            stats={"a": {"device_offset_ps": 0, "device_duration_ps": 0}},
        )
    )
    second = 10**12
    ops, modules, copies = space.planes[0].lines
    for line in (ops, modules, copies):
        while len(line.events) < len(file_starts):
            line.events.add().CopyFrom(line.events[0])
        del line.events[len(file_starts) :]
    for number, start in enumerate(file_starts):
        until = file_starts[number + 1] if number + 1 < len(file_starts) else 1e9
        for line in (ops, modules, copies):
            line.events[number].offset_ps = round(start * second)
            line.events[number].duration_ps = round(min(0.5, until - start) * second)
        clock = 100 * second + round(number * (second - drift_us * US))
        ahead = [by for first, by in (jumps or {}).items() if number >= first]
        clock += round(sum(ahead) * second)
        ops.events[number].stats[0].int64_value = clock
        ops.events[number].stats[1].int64_value = second // 2
    (device,) = devices_of(bytes(space.SerializeToString()))
    return device


def seconds(device: DeviceIntervals) -> list[float]:
    """The starts of a core's ops, after checking that its programs and copies agree with them."""
    is_op = ~np.isin(device.events.line[device.row], _lines(device, "Async XLA Ops"))
    runs = device.executions
    assert device.start_ps[is_op].tolist() == runs.start_ps.tolist()
    assert device.duration_ps[is_op].tolist() == runs.duration_ps.tolist()
    assert device.start_ps[~is_op].tolist() == runs.start_ps.tolist()
    assert np.abs(runs.duration_ps - 10**12 // 2).max() <= 10 * US
    return [start / 10**12 for start in runs.start_ps.tolist()]


def test_a_clock_that_drifts_is_followed():
    starts = [3 + number * (1 + 15e-6) for number in range(6)]
    assert seconds(steady([round(one, 6) for one in starts], drift_us=0)) == pytest.approx(starts)
    whole = [3.0 + number for number in range(200)]
    assert seconds(steady(whole, drift_us=15)) == pytest.approx(whole)


def test_programs_that_the_file_puts_wrong_are_put_right():
    """Two of five are late, and their ends are cut where the next one begins."""
    wrong = [2.0, 3.0, 4.7, 5.3, 6.0, 7.0, 8.8, 9.2, 10.0, 11.0]
    assert seconds(steady(wrong)) == pytest.approx(list(range(2, 12)), abs=1e-5)


@pytest.mark.parametrize("jumps", [{12: 5.0}, {12: -5.0}, {5: 1.0, 10: -1.0}, {0: 3.0, 15: 9.0}])
def test_a_clock_that_jumps_is_not_believed(jumps):
    starts = [2.0 + number for number in range(20)]
    device = steady(starts, jumps=jumps)
    assert seconds(device) == starts
    assert device.clock_jump_ps > 10**12 // 2
    (text,) = clock_doubts([device, steady(starts)])
    assert text.startswith("The clock of TPU:0 jumps by up to ")
    assert clock_doubts([steady(starts)]) == []


@pytest.mark.parametrize(
    ("jumps", "by"),
    [({12: 0.3}, 0.3), ({8: -0.02}, 0.02), ({5: 0.25, 13: -0.25}, 0.25), ({12: 0.005}, 0.0)],
)
def test_a_clock_that_jumps_by_less_than_recorders_err_is_seen_where_it_stays_so(jumps, by):
    """Each third program is put wrong by the recorder besides."""
    starts = [2.0 + number + (0.1 + 0.003 * number) * (number % 3 == 1) for number in range(20)]
    device = steady(starts, jumps=jumps)
    assert device.clock_jump_ps == pytest.approx(by * 10**12, abs=10**6)
    assert clock_doubts([device]) == [] or by
    if by:
        assert seconds(device) == starts
    assert steady(starts).clock_jump_ps == 0


def test_one_op_is_where_the_file_puts_it():
    assert seconds(steady([7.5])) == [7.5]


def test_ops_of_which_some_lack_the_devices_clock_keep_the_files():
    content = draw(
        {TPU: "XLA Ops |aa.bb"},
        stats={"a": {"device_offset_ps": 50 * US, "device_duration_ps": US}},
    )
    (device,) = devices_of(content)
    assert [row[:2] for row in rows(device)] == [(0, 2), (3, 2)]


def test_what_a_tpu_op_waits_for_and_computes_in_by_its_program():
    content = draw(
        {"/host:metadata": "none |", TPU: "XLA Ops |f.w"},
        names={
            "P": "jit_f(5)",
            "f": "%fusion.1 = f32[8,8]{1,0} fusion(f32[8,8]{1,0} %x, f32[8,8]{1,0} %x)",
            "w": "%async-done.1 = f32[8,8]{1,0} async-done(f32[8,8]{1,0} %async-start.1)",
        },
        type_stats={
            "P": {"Hlo Proto": program()},
            "f": {"hlo_category": "convolution fusion", "program_id": 5},
            "w": {"hlo_category": "async-done", "program_id": Unsigned(5)},
        },
    )
    assert phases(content) == ["COMPUTE_16", "COLLECTIVES"]


def test_a_shape_alone_tells_the_type():
    content = draw(
        {TPU: "XLA Ops |f"},
        names={"f": "fusion.1"},
        type_stats={"f": {"hlo_category": "loop fusion", "shape_with_layout": "bf16[8]{0}"}},
    )
    assert phases(content) == ["COMPUTE_16"]


@pytest.mark.parametrize("time", [2**63 - 1, -(2**63), 2**60])
@pytest.mark.parametrize("stat", ["device_offset_ps", "device_duration_ps"])
def test_impossible_device_times_are_not_believed(stat, time):
    clock = {"device_offset_ps": 9 * US, "device_duration_ps": US}
    content = draw({TPU: "XLA Ops |.aa.b"}, stats={"a": {**clock, stat: time}, "b": clock})
    (device,) = devices_of(content)
    is_negative_length = stat == "device_duration_ps" and time < 0
    assert is_negative_length or [row[:2] for row in rows(device)] == [(1, 2), (4, 1)]


# Recorded traces.


def find(path: Path) -> tuple[Space, list[DeviceIntervals]]:
    space = read_space(path)
    return space, find_device_intervals(space, Programs(space))


def sums(device: DeviceIntervals) -> dict[str, int]:
    return {
        Phase(phase).name: int(device.duration_ps[device.phase == phase].sum())
        for phase in np.unique(device.phase).tolist()
    }


def test_the_v100_trace(gpu_trace):
    space, devices = find(gpu_trace)
    assert [(one.name, one.start_ps.size, int(one.is_kernel.sum())) for one in devices] == [
        ("GPU:1", 19, 0),
        ("GPU:4", 759, 665),
        ("GPU:6", 778, 665),
    ]
    assert sums(devices[0]) == {"INPUT": 33_792_000}
    steps = [one.steps for one in devices]
    assert steps[0] is None
    assert [(int(one.start_ps[0]), int(one.duration_ps[0])) for one in steps if one] == [
        (1921299828000, 19865491000),
        (2568855601000, 21310352000),
    ]
    # What xprof shows, rebuilt: `half` in the shapes of the op's inputs, all other events 32 bit.
    half = other = copies = 0
    by_name = 0
    for device in devices:
        grouped = device.events.stats(["group_id"], device.row)["group_id"].integers(-1) >= 0
        kinds = find_gpu_kinds(device.plane, Programs(space))
        is_half = np.array(["half" in text for text in kinds.shapes], bool)[device.event_kind]
        assert set(device.phase[is_half].tolist()) <= {Phase.COMPUTE_16}
        half += int(device.duration_ps[grouped & is_half].sum())
        other += int(device.duration_ps[grouped & ~is_half & device.is_kernel].sum())
        copies += int((grouped & ~device.is_kernel).sum())
        is_more = grouped & ~is_half & (device.phase == Phase.COMPUTE_16)
        by_name += int(device.duration_ps[is_more].sum())
        named = {device.event_name[kind] for kind in device.event_kind[is_more].tolist()}
        assert all("half" in name for name in named)
    # 20656208000 in xprof are these and 12 copies, less 12256000 in which both overlap.
    assert (half, other, copies) == (9054156000, 20636592000, 12)
    # Its casts to float16 and random float16 numbers have no `half` among their inputs.
    assert by_name == 13119446000


def test_the_tpu_trace(tpu_trace):
    _, devices = find(tpu_trace)
    assert [(one.name, one.executions.start_ps.size) for one in devices] == [
        ("TPU:0", 105), ("TPU:1", 103), ("TPU:2", 103), ("TPU:3", 103),
    ]  # fmt: skip
    busy = 0
    for device in devices:
        runs = device.executions
        assert device.steps is None
        assert {"COMPUTE_32", "COLLECTIVES", "HOST_TRANSFER"} == set(sums(device))
        # Every op lies within an execution of its program. These take equally long, other than the
        # file has it (551 to 982 ms): it puts some of them where they were not.
        is_async = np.isin(device.events.line[device.row], _lines(device, "Async XLA Ops"))
        start, duration = device.start_ps[~is_async], device.duration_ps[~is_async]
        at = np.searchsorted(runs.start_ps, start, "right") - 1
        late = start + duration - (runs.start_ps + runs.duration_ps)[at]
        assert at.min() >= 0
        assert late.max() < 2 * US
        is_step = np.array([name.startswith("jit_f") for name in runs.name], bool)[runs.kind]
        steps = np.diff(runs.start_ps[is_step])[1:-1]
        assert 783_700 * US < steps.min() <= steps.max() < 784_500 * US
        is_op = np.isin(device.events.line[device.row], _lines(device, "XLA Ops"))
        busy += int(device.duration_ps[is_op].sum())
        assert (start[1:] >= (start + duration)[:-1]).all()
    # The sum of self times of all ops by the device's clock is 315117903706250.
    assert abs(busy - 315117903706250) / busy < 2e-5


def _lines(device: DeviceIntervals, name: str) -> list[int]:
    texts = device.plane.strings.take(device.events.lines.name.tolist())
    return [row for row, text in enumerate(texts) if text == name]

"""Kernels by kernel-op pair, from drawn traces."""

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import Ref, draw, listed, message_of, space_of
from traces.programs import Program

from tbprof.analysis.devices.tensor_cores import CoreUse
from tbprof.analysis.gpu.kernel_launch import Launch, parse_launch
from tbprof.analysis.gpu.kernels import Kernels, find_kernels, merge_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.xplane.reader import read_space

GPU, GPU1 = "/device:GPU:0", "/device:GPU:1"
US = 1_000_000
DETAILS = "regs:32 static_shared:16 dynamic_shared:512 grid:8,2,1 block:256,1,1 occ_pct:75"


def kernels_of(content: bytes) -> Kernels:
    space = space_of(content)
    return find_kernels(space, Programs(space))


def kernels(drawing: str, details: str = DETAILS, plane: str = GPU, **more) -> Kernels:
    stats = more.pop("stats", {})
    letters = {letter: {"kernel_details": details} | stats.get(letter, {}) for letter in "abcd"}
    return kernels_of(draw({plane: drawing}, stats=letters, **more))


def rows(kernels: Kernels) -> list[tuple[object, ...]]:
    """Every row as plain values, for comparison; NaN as None."""
    columns = [getattr(kernels, field.name) for field in fields(kernels)]
    plain = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
    return [
        tuple(None if cell != cell else tuple(cell) if isinstance(cell, list) else cell
              for cell in row)
        for row in zip(*plain, strict=True)
    ]  # fmt: skip


# Launch configurations.


@pytest.mark.parametrize(
    ("details", "launch"),
    [
        (DETAILS, Launch(32, 528, (256, 1, 1), (8, 2, 1), 75.0)),
        ("regs:38 shm:0 grid:160,1,1 block:1024,1,1", Launch(38, 0, (1024, 1, 1), (160, 1, 1))),
        ("regs:0\nblock:32\ngrid:4,5", Launch(0, None, (32, 1, 1), (4, 5, 1))),
        ("", Launch()),
        ("other:1 regs static_shared:8 dynamic_shared:", Launch(None, 8)),
        ("regs:17179869185 shm:7 grid:1,210453397508,0", Launch(None, 7)),  # garbage of 2020
        (f"regs:{2**32 - 1} shm:{2**32}", Launch(2**32 - 1, None)),
        ("regs:-1 occ_pct:nan block:a,b,c", Launch()),
        ("occ_pct:12.5 occ_pct:inf", Launch(occupancy_pct=None)),
        # AMD, whose recorder computes no occupancy.
        (
            "grid:16,2 block:256 private_mem:168 group_mem:30240 occ_pct:0",
            Launch(None, 30240, (256, 1, 1), (16, 2, 1)),
        ),
        ("regs:\u0663 grid:1,2,3,4", Launch(grid=(1, 2, 3))),
    ],
)
def test_details_are_parsed_by_token(details, launch):
    assert parse_launch(details) == launch


# Rows.


def test_a_row_is_a_kernel_with_its_op_and_its_times():
    table = kernels(
        "Stream #1 |aaa.a.bb",
        names={"b": "a"},
        stats={letter: {"tf_op": "x/Add:Add"} for letter in "ab"},
    )
    assert rows(table) == [
        (
            "a",
            "x/Add",
            (256, 1, 1),
            (8, 2, 1),
            32,
            528,
            False,
            0,
            75.0,
            3,
            6 * US,
            US,
            3 * US,
            "",
            False,
            -1,
            -1,
            -1,
            "",
            False,
            False,
        )
    ]


BASE = {"kernel_details": DETAILS, "tf_op": "x:X"}


@pytest.mark.parametrize(
    "other",
    [
        {"kernel_details": DETAILS.replace("regs:32", "regs:33")},
        {"kernel_details": DETAILS.replace("block:256", "block:128")},
        {"kernel_details": DETAILS.replace("grid:8,2", "grid:8,3")},
        {"kernel_details": DETAILS.replace("dynamic_shared:512", "dynamic_shared:0")},
        {"kernel_details": "grid:8,2,1 block:256,1,1"},
        {"tf_op": "y:X"},
        {"equation": "ij,jk->ik"},  # which makes the op eligible
    ],
)
def test_launches_that_differ_are_rows_of_their_own(other):
    trace = draw({GPU: "Stream #1 |aa.b"}, names={"b": "a"}, stats={"a": BASE, "b": BASE | other})
    assert kernels_of(trace).occurrences.tolist() == [1, 1]


@pytest.mark.parametrize(
    "other",
    [
        {"kernel_details": DETAILS.replace("occ_pct:75", "occ_pct:25")},
        {"kernel_details": DETAILS + " more:1"},
        {"correlation_id": 7},
        {"kernel_details": Ref(DETAILS)},
        # 16 + 512 bytes, whatever their split: a kernel's static part is its own.
        {"kernel_details": DETAILS.replace("dynamic_shared:512", "dynamic_shared:512 x:1")},
    ],
)
def test_what_is_no_part_of_a_launch_splits_no_row(other):
    trace = draw({GPU: "Stream #1 |aa.b"}, names={"b": "a"}, stats={"a": BASE, "b": BASE | other})
    kernels = kernels_of(trace)
    assert (kernels.occurrences.tolist(), kernels.total_ps.tolist()) == ([2], [3 * US])


def test_kernels_merge_over_streams_and_devices():
    stats = {"a": BASE}
    trace = draw({GPU: "Stream #1 |aa\nStream #2 |a", GPU1: "Stream #1 |aaaa"}, stats=stats)
    kernels = kernels_of(trace)
    assert (kernels.occurrences.tolist(), kernels.total_ps.tolist()) == ([3], [7 * US])
    assert (kernels.least_ps.tolist(), kernels.most_ps.tolist()) == ([US], [4 * US])


def test_tensor_core_flags_keep_devices_of_two_generations_apart():
    trace = draw(
        {GPU: "Stream #1 |a", GPU1: "Stream #1 |aa"},
        names={"a": "volta_h884gemm"},
        stats={"a": BASE},
        plane_stats={GPU: {"compute_cap_major": 7}, GPU1: {"compute_cap_major": 6}},
    )
    kernels = kernels_of(trace)
    assert kernels.uses_tensor_cores.tolist() == [True, False]
    assert kernels.total_ps.tolist() == [US, 2 * US]


def test_occupancy_is_the_mean_over_time():
    stats = {"b": {"kernel_details": DETAILS.replace("occ_pct:75", "occ_pct:25")}}
    table = kernels("Stream #1 |aaa.b", names={"b": "a"}, stats=stats)
    assert table.occupancy_pct.tolist() == [(3 * 75 + 1 * 25) / 4]


def test_what_was_not_recorded_is_unknown_not_zero():
    table = kernels("Stream #1 |a", "grid:1,1,1")
    assert (table.registers.tolist(), table.shared_bytes.tolist()) == ([-1], [-1])
    assert math.isnan(table.occupancy_pct[0])
    table = kernels("Stream #1 |a", "regs:0 shm:0 occ_pct:0")
    assert (table.registers.tolist(), table.shared_bytes.tolist()) == ([0], [0])
    assert table.occupancy_pct.tolist() == [0.0]


def test_durations_below_a_nanosecond_count():
    space = message_of(
        draw({GPU: "Stream #1 |a.b"}, names={"b": "a"}, stats={"a": BASE, "b": BASE})
    )
    for event, length in zip(space.planes[0].lines[0].events, (300, 1_200), strict=True):
        event.duration_ps = length
    kernels = kernels_of(space.SerializeToString())
    assert (kernels.total_ps.tolist(), kernels.least_ps.tolist()) == ([1_500], [300])


def test_copies_are_no_kernels():
    trace = draw({GPU: "Stream #1 |aa.m"}, stats={"a": BASE, "m": {"memcpy_details": "size:8"}})
    assert kernels_of(trace).name == ["a"]


def test_details_on_host_events_are_not_believed():
    trace = draw({"/host:CPU": "thread |aa", GPU: "Stream #1 |b"}, stats={"a": BASE, "b": BASE})
    assert kernels_of(trace).name == ["b"]


def test_derived_lines_do_not_count():
    table = kernels("Stream #1 |a\nKernels |a", line_ids={"Kernels": -559038734})
    assert table.occurrences.tolist() == [1]


def test_no_kernels_is_an_empty_table():
    assert rows(kernels_of(draw({GPU: "Stream #1 |m"}))) == []
    assert rows(kernels_of(draw({"/host:CPU": "t |m"}))) == []


# Tensor Cores.


@pytest.mark.parametrize(
    ("kernel", "stats", "eligible", "uses"),
    [
        ("volta_h884gemm", {"tf_op": "a/MatMul_1:MatMul"}, True, True),
        ("volta_sgemm", {"tf_op": "a/MatMul_1:MatMul"}, True, False),
        ("volta_h884gemm", {"tf_op": "a/Custom:Custom"}, True, True),  # what uses them could
        ("volta_h884gemm", {}, False, True),  # no op, so none is eligible
        ("k", {"tf_op": "a/Einsum:Einsum", "equation": "(ij,jk->ik)"}, True, False),
        ("k", {"tf_op": "a/Einsum:Einsum", "equation": "(ii->i)"}, False, False),
        ("k", {"tf_op": "a/Einsum:Einsum"}, True, False),
        ("k", {"tf_op": "a/Add:Add"}, False, False),
        ("gemm_fusion_dot_5", {"hlo_op": "gemm_fusion_dot.5", "name": "jit(f)/dot_general"},
         True, True),
    ],
)  # fmt: skip
def test_rows_say_what_could_and_what_does_use_tensor_cores(kernel, stats, eligible, uses):
    table = kernels("Stream #1 |a", names={"a": kernel}, stats={"a": stats})
    assert (table.is_eligible.tolist(), table.uses_tensor_cores.tolist()) == ([eligible], [uses])


@pytest.mark.parametrize(
    ("plane_stats", "uses"),
    [
        ({}, True),
        ({"device_vendor": "Nvidia"}, True),
        ({"device_vendor": "Nvidia", "compute_cap_major": 6}, False),
        ({"device_vendor": "AMD"}, False),
        ({"gpu_device_name": "AMD Instinct MI300X"}, False),
        ({"gpu_device_name": "NVIDIA H100"}, True),
    ],
)
def test_the_device_tells_whose_names_count(plane_stats, uses):
    table = kernels("Stream #1 |a", names={"a": "volta_h884gemm"}, plane_stats={GPU: plane_stats})
    assert table.uses_tensor_cores.tolist() == [uses]


def test_fusions_beside_a_product_are_not_eligible_by_its_name():
    """XLA adds what a split product left, in a loop fusion that has the product's name."""
    program = Program()
    program.add("x", "parameter", "bf16[4,8,16]{2,1,0}")
    program.add("p", "parameter", "bf16[8,16]{1,0}", within="dot")
    program.add("d", "dot", "f32[8,16]{1,0}", "p", "p", within="dot")
    program.add("r", "reduce", "f32[8]{0}", within="sum")
    program.add("gemm_fusion_dot.1", "fusion", "f32[8,16]{1,0}", "x", calls="dot", op="f/transpose")
    program.add("loop_fusion", "fusion", "f32[8]{0}", "gemm_fusion_dot.1", calls="sum",
                op="f/dot_general")  # fmt: skip
    program.named["gemm_fusion_dot.1"].fusion_kind = "kCustom"
    program.named["loop_fusion"].fusion_kind = "kLoop"
    launch = {"kernel_details": "grid:1,1,1 block:1,1,1", "program_id": 7}
    content = draw(
        {GPU: "Stream #1 |aa.b"},
        names={"a": "gemm_fusion_dot_1", "b": "loop_fusion"},
        stats={"a": {**launch, "hlo_op": "gemm_fusion_dot.1", "name": "f/transpose"},
               "b": {**launch, "hlo_op": "loop_fusion", "name": "f/dot_general"}},
        programs={"jit_f(7)": program.bytes()},
        plane_stats={GPU: {"device_vendor": "AMD"}},
    )  # fmt: skip
    kernels = kernels_of(content)
    assert kernels.name == ["gemm_fusion_dot_1", "loop_fusion"]
    assert kernels.core_use.tolist() == [CoreUse.YES, CoreUse.NO]
    assert kernels.is_eligible.tolist() == [True, False]
    assert kernels.is_amd.tolist() == [True, True]


def test_the_matrix_cores_of_an_instinct(amd_trace: Path):
    """Attention, products of Triton and of hipBLASLt in bfloat16: 10,553 of 12,134 µs."""
    space = read_space(amd_trace)
    kernels = find_kernels(space, Programs(space))
    assert kernels.total_ps.sum() == 12_133_585_000
    assert kernels.total_ps[kernels.uses_tensor_cores].sum() == 10_553_373_000
    assert not (kernels.core_use == CoreUse.UNKNOWN).any()
    assert not (kernels.is_eligible & ~kernels.uses_tensor_cores).any()


# Copies that the driver makes by kernels.

COPY = "__amd_rocclr_copyBuffer.kd"


def test_kernels_that_copy_say_between_what():
    """Of a call that names no ends, and without any, it is not known."""
    launch = {"kernel_details": "grid:1,1,1 block:256,1,1", "tf_op": "a/MatMul:MatMul"}
    content = draw(
        {"/host:CPU": "api |xyz", GPU: "Stream #1 |aabbccmmee"},
        names={"x": "hipMemcpyDtoDAsync", "y": "hipMemcpyHtoDAsync", "z": "hipMemcpyAsync",
               "a": COPY, "b": COPY, "c": COPY, "e": "__amd_rocclr_fillBufferAligned"},
        stats={"x": {"correlation_id": 1}, "y": {"correlation_id": 4}, "z": {"correlation_id": 3},
               "a": {**launch, "correlation_id": 1}, "b": {**launch, "correlation_id": 3},
               "c": {**launch, "correlation_id": 9}, "m": launch, "e": launch},
        plane_stats={GPU: {"device_vendor": "AMD"}},
    )  # fmt: skip
    kernels = kernels_of(content)
    by_copy = dict(zip(kernels.copy, kernels.total_ps.tolist(), strict=True))
    assert by_copy == {"MemcpyDToD": 2 * US, "Memcpy": 4 * US, "": 2 * US, "Memset": 2 * US}
    copies = [at for at, copy in enumerate(kernels.copy) if copy]
    assert not kernels.is_eligible[copies].any()
    assert kernels.core_use[copies].tolist() == [CoreUse.NO] * 3


# Several hosts.

ROW = st.tuples(
    st.sampled_from(["k1", "k2"]),
    st.sampled_from(["op1", "op2", ""]),
    st.sampled_from(["", " occ_pct:25", " occ_pct:75"]),
    st.sampled_from(["", " regs:8"]),
    st.integers(0, 5),
)


def host(rows_: dict[str, list[tuple[str, str, str, str, int]]]) -> Kernels:
    """The kernels of a host with the given launches on each plane."""
    planes: dict[str, dict[str, list[tuple[Any, ...]]]] = {}
    for plane, launches in rows_.items():
        stream = planes.setdefault(plane, {})["Stream #1"] = []
        for at, (kernel, op, occupancy, registers, length) in enumerate(launches):
            stats = {"kernel_details": f"grid:1{occupancy}{registers}"}
            if op:
                stats["tf_op"] = f"{op}:Op"
            stream.append((kernel, 10 * at, length, stats))
    return kernels_of(listed(planes))


@settings(max_examples=60)
@given(st.lists(ROW, max_size=6), st.lists(ROW, max_size=6), st.lists(ROW, max_size=6))
def test_hosts_merge_like_devices_of_one_host(one, two, three):
    apart = merge_kernels([host({GPU: one}), host({GPU: two}), host({GPU: three})])
    together = host({GPU: one, GPU1: two, "/device:GPU:2": three})
    found, expected = sorted(rows(apart), key=str), sorted(rows(together), key=str)
    assert [row[:8] + row[9:] for row in found] == [row[:8] + row[9:] for row in expected]


TIMED = st.tuples(
    st.sampled_from(["k1", "k2"]),
    st.just("op1"),
    st.sampled_from([" occ_pct:25", " occ_pct:75"]),
    st.just(""),
    st.integers(1, 5),
)


@settings(max_examples=40)
@given(st.lists(TIMED, max_size=6), st.lists(TIMED, max_size=6))
def test_occupancies_of_hosts_merge_by_time(one, two):
    apart = merge_kernels([host({GPU: one}), host({GPU: two})])
    for name, occupancy in zip(apart.name, apart.occupancy_pct.tolist(), strict=True):
        own = [launch for launch in one + two if launch[0] == name]
        weighted = sum(float(launch[2].removeprefix(" occ_pct:")) * launch[4] for launch in own)
        assert occupancy == pytest.approx(weighted / sum(launch[4] for launch in own))


@given(st.lists(ROW, max_size=8))
def test_sums_are_those_of_the_launches(launches):
    table = host({GPU: launches})
    expected: dict[tuple[str, str, str], list[int]] = {}
    for kernel, op, _, registers, length in launches:
        expected.setdefault((kernel, op, registers), []).append(length)
    assert {
        (row[0], row[1], " regs:8" if row[4] == 8 else ""): tuple(row[9:13]) for row in rows(table)
    } == {key: (len(times), sum(times), min(times), max(times)) for key, times in expected.items()}

"""The kernel table: columns, order and what was not recorded."""

import pytest
from helpers.tables import columns
from traces import draw, listed, space_of
from traces.programs import Program

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.peaks import find_peaks
from tbprof.analysis.gpu.kernels import find_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.tools.kernel_stats import build
from tbprof.tools.model.datatable import Table

GPU = "/device:GPU:0"
IMPLAUSIBLE = "more operations than the peak allows: the peak is implausible"


def table(*traces: bytes) -> Table:
    spaces = [space_of(trace) for trace in traces]
    parts = {
        name: [find(space, Programs(space)) for space in spaces]
        for name, find in (("kernels", find_kernels), ("peaks", find_peaks))
    }
    (found,) = build(Summaries(tuple("h" * len(traces)), parts))
    return found


def test_the_whole_table_of_a_drawn_trace():
    details = "regs:32 static_shared:16 dynamic_shared:512 grid:8,2,1 block:256,1,1 occ_pct:75"
    trace = draw(
        {GPU: "Stream #1 |aa.aaa.b.cccc"},
        names={"a": "volta_h884gemm", "b": "old", "c": "relu"},
        stats={
            "a": {"kernel_details": details, "tf_op": "x/MatMul:MatMul"},
            "b": {"kernel_details": "regs:8 shm:96"},
            "c": {
                "kernel_details": "grid:3,1,1",
                "tf_op": "x/Relu:Relu",
                "flops": 8000,
                "bytes_accessed": 2**11,
            },
        },
    )
    assert columns(table(trace)) == {
        "rank": [1, 2, 3],
        "kernel_name": ["volta_h884gemm", "relu", "old"],
        "registers_per_thread": [32, None, 8],
        "shmem_bytes": [528, None, 96],
        "block_dim": ["256,1,1", "1,1,1", "1,1,1"],
        "grid_dim": ["8,2,1", "3,1,1", "1,1,1"],
        "occupancy_pct": [75, None, None],
        "is_op_tensor_core_eligible": [True, False, False],
        "is_kernel_using_tensor_core": [True, False, False],
        "op_name": ["x/MatMul", "x/Relu", ""],
        "occurrences": [2, 1, 1],
        "total_duration_us": [5, 4, 1],
        "avg_duration_us": [2.5, 4, 1],
        "min_duration_us": [2, 4, 1],
        "max_duration_us": [3, 4, 1],
        "tensor_core_use": ["yes", "no", "no"],
        "driver_copy": ["", "", ""],
        "measured_flop_rate": [None, 2, None],
        "measured_memory_bw": [None, pytest.approx(0.512e9 / 2**30), None],
        "operational_intensity": [None, 8000 / 2**11, None],
        "bound_by": ["Unknown", "Unknown", "Unknown"],  # the peaks are not known
        "efficiency": [None, None, None],
        "roof_note": ["", "", ""],
    }


# 1 multiprocessor × 1 GHz × 1,024 16-bit operations, of 32-bit ones 128, and 100 GB/s.
VOLTA = {
    "compute_cap_major": 7, "compute_cap_minor": 0, "core_count": 1, "clock_rate": 1_000_000,
    "memory_bandwidth": 100_000_000_000,
}  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "size", "bound", "share", "note"),
    [
        # In 1 µs, 2 × 64³ operations are 524 GFLOP/s, and 3 × 64² numbers of 2 bytes 25 GB/s.
        ("bf16", 64, "Compute", 0.512, ""),
        ("bf16", 24, "HBM", 0.03456, ""),  # 28 GFLOP/s, 3.5 GB/s
        ("f32", 32, "Compute", 0.512, ""),  # 66 GFLOP/s of 128, 12 GB/s
        ("f32", 4, "HBM", 0.00192, ""),  # 0.13 GFLOP/s, 0.19 GB/s
        ("bf16", 96, "Compute", 1.728, IMPLAUSIBLE),  # 1,769 GFLOP/s, 55 GB/s
    ],
)
def test_a_kernel_is_bound_by_what_its_instruction_uses_most_of(dtype, size, bound, share, note):
    made = Program()
    array = f"{dtype}[{size},{size}]"
    made.add("p", "parameter", array)
    dot = made.add("d", "dot", array, "p", "p", op="f/d")
    dot.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    trace = draw(
        {GPU: "Stream #1 |a"},
        names={"a": "gemm"},
        stats={"a": {"kernel_details": "grid:1,1,1", "program_id": 7, "hlo_op": "d"}},
        programs={"jit_f(7)": made.bytes()},
        plane_stats={GPU: VOLTA},
    )
    cells = columns(table(trace, trace))  # of two hosts
    assert cells["bound_by"] == [bound]
    assert cells["efficiency"] == [pytest.approx(share)]
    assert cells["roof_note"] == [note]


def test_amds_matrix_cores_have_their_name():
    details = "grid:1,1,1 block:256,1,1"
    trace = draw(
        {GPU: "Stream #1 |aaa.bb.c"},
        names={"a": "Cijk_HHS_BH_MT128x128x16_MI32x32x8x1", "b": "gemm_fusion_dot_1",
               "c": "__amd_rocclr_copyBuffer"},
        stats={letter: {"kernel_details": details, "tf_op": "x/dot_general"} for letter in "abc"},
        plane_stats={GPU: {"device_vendor": "AMD"}},
    )  # fmt: skip
    found = table(trace)
    shown = columns(found)
    assert shown["tensor_core_use"] == ["yes", "unknown", "no"]
    assert shown["is_kernel_using_tensor_core"] == [True, False, False]
    assert shown["is_op_tensor_core_eligible"] == [True, True, False]
    assert shown["driver_copy"] == ["", "", "Memcpy"]
    assert found.properties == {"matrix_unit": "Matrix Cores"}
    labels = [column.label for column in found.columns]
    assert "Kernel uses MatrixCore" in labels
    assert not any("Tensor" in label for label in labels)


def launches(*kernels: tuple[str, str, str]) -> bytes:
    """Kernels of (name, op, details), 1 µs each."""
    return listed({GPU: {"Stream #1": [
        (name, at * 10**6, 10**6, {"kernel_details": details, "tf_op": op})
        for at, (name, op, details) in enumerate(kernels)
    ]}})  # fmt: skip


def test_ties_are_in_the_order_of_name_grid_block_registers_shared_memory_and_op():
    ordered = [
        ("a", "x:X", "grid:1 block:1 regs:1"),
        ("a", "x:X", "grid:1 block:2 regs:1"),
        ("a", "x:X", "grid:2 block:1"),
        ("a", "x:X", "grid:2 block:1 regs:1"),
        ("a", "x:X", "grid:2 block:1 regs:9"),
        ("a", "x:X", "grid:2 block:1 regs:9 shm:1"),
        ("a", "y:X", "grid:2 block:1 regs:9 shm:1"),
        ("a", "x:X", "grid:10 block:1"),  # by number, not by text
        ("b", "x:X", "grid:1"),
    ]
    expected = columns(table(launches(*ordered)))
    assert columns(table(launches(*reversed(ordered)))) == expected
    apart = [launches(one) for one in reversed(ordered)]
    assert columns(table(*apart)) == expected  # nor does the order of hosts show
    assert expected["grid_dim"][-2:] == ["10,1,1", "1,1,1"]
    assert expected["op_name"][6:8] == ["y", "x"]


def test_every_kernel_has_a_row():
    cells = columns(table(launches(*((f"kernel{i}", "x:X", "") for i in range(1500)))))
    assert cells["rank"] == list(range(1, 1501))
    assert len(set(cells["kernel_name"])) == 1500

"""Small traces on which xprof is wrong, and what is right: the evidence of docs/differences.md.

What xprof answers is asserted, too, so that an entry goes when xprof mends it.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from builders.program_ops import access
from helpers.drawn.small_runs import one_run
from helpers.payloads import Row, document_of, pick, rows
from parity.oracle import Compare, ask_xprof
from traces import draw, listed, write
from traces.misread_ops import DETAILS, GPU, gpu, host

from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore

pytestmark = [pytest.mark.parity, pytest.mark.slow]

Both = Callable[..., tuple[list[Row], list[Row]]]


@pytest.fixture
def both(compare: Compare) -> Both:
    """(xprof's rows, ours) of one tool; for TensorFlow stats those without idle, or with it."""

    def ask(tool: str, *traces: bytes, with_idle: bool = False) -> tuple[list[Row], list[Row]]:
        found = compare(*traces)
        theirs, ours = found.theirs[tool], found.ours(tool)
        if tool == "kernel_stats":
            return rows(theirs), rows(ours)
        at = 0 if with_idle else 1
        return rows(theirs[at]), rows(ours[at])

    return ask


OPS = "framework_op_stats"
TIMES = ("operation", "total_time", "total_self_time")


def test_a_child_that_ends_with_its_parent_is_lost(both: Both) -> None:
    trace = host("thread |aaaaaaaaaa\n       |.....bbbbb")
    theirs, ours = both(OPS, trace)
    assert pick(theirs, *TIMES) == [("a", 10.0, 10.0)]
    assert pick(ours, *TIMES) == [("a", 10.0, 5.0), ("b", 5.0, 5.0)]


def test_overlapping_siblings_lose_the_later_one(both: Both) -> None:
    trace = host("thread |aaaaaa\n       |...bbbbbb")
    theirs, ours = both(OPS, trace)
    assert pick(theirs, *TIMES) == [("a", 6.0, 6.0)]
    assert pick(ours, *TIMES) == [("a", 6.0, 6.0), ("b", 6.0, 6.0)]


def test_a_parent_written_after_its_child_vanishes(both: Both) -> None:
    child, parent = ("b:Op", 0, 5 * 10**6), ("a:Op", 0, 10 * 10**6)
    theirs, ours = both(OPS, listed({"/host:CPU": {"thread": [child, parent]}}))
    assert pick(theirs, *TIMES) == [("b", 5.0, 5.0)]
    assert pick(ours, *TIMES) == [("a", 10.0, 5.0), ("b", 5.0, 5.0)]


def test_allocations_count_as_executions(both: Both) -> None:
    trace = draw(
        {"/host:CPU": "thread |aaaa..\n       |.m...."},
        names={"a": "x/a:Op", "m": "MemoryAllocation"},
        stats={"m": {"tf_op": "x/a"}},
    )
    theirs, ours = both(OPS, trace)
    columns = ("operation", "occurrences", "avg_time")
    assert pick(theirs, *columns) == [("x/a", 2.0, 2.5)]
    assert pick(ours, *columns) == [("x/a", 1.0, 4.0)]


def test_streams_that_overlap_hide_idle_time(both: Both) -> None:
    trace = gpu(
        "Stream #1 |aaaaaaaaaa..........cccccccccc\nStream #2 |bbbbbbbbbb",
        {},
        {letter: {"tf_op": f"{letter}:Op"} for letter in "abc"},
    )
    theirs, ours = both(OPS, trace, with_idle=True)
    columns = ("operation", "total_self_time")
    assert sorted(pick(theirs, *columns)) == [("IDLE", 0.0), ("a", 10.0), ("b", 10.0), ("c", 10.0)]
    assert sorted(pick(ours, *columns)) == [("IDLE", 10.0), ("a", 10.0), ("b", 10.0), ("c", 10.0)]


def test_idle_time_of_threads_adds_up(both: Both) -> None:
    trace = host("one |a..a......\ntwo |..b......b")
    theirs, ours = both(OPS, trace, with_idle=True)
    columns = ("operation", "total_self_time")
    assert sorted(pick(theirs, *columns)) == [("IDLE", 8.0), ("a", 2.0), ("b", 2.0)]
    assert sorted(pick(ours, *columns)) == [("IDLE", 6.0), ("a", 2.0), ("b", 2.0)]


def test_occurrences_of_a_framework_op_are_those_of_its_busiest_kernel(both: Both) -> None:
    trace = gpu(
        "Stream #1 |a.a.b.c", {"c": "b"}, {letter: {"tf_op": "x/op:Op"} for letter in "abc"}
    )
    theirs, ours = both(OPS, trace)
    columns = ("operation", "occurrences", "avg_time")
    assert pick(theirs, *columns) == [("x/op", 2.0, 2.0)]
    assert pick(ours, *columns) == [("x/op", 4.0, 1.0)]


def test_old_recorders_spell_the_op_otherwise(both: Both) -> None:
    trace = gpu("Stream #1 |aaaa", {}, {"a": {"level 0": "x/op:Op"}})
    theirs, ours = both(OPS, trace)
    assert pick(theirs, "operation") == []
    assert pick(ours, *TIMES) == [("x/op", 4.0, 4.0)]


KERNELS = "kernel_stats"
USES = ("kernel_name", "is_kernel_using_tensor_core")


def test_tensor_cores_are_never_used_without_a_vendor(both: Both) -> None:
    trace = draw(
        {GPU: "Stream #1 |aaaa"},
        names={"a": "volta_h884gemm_128x128"},
        stats={"a": {"kernel_details": DETAILS}},
    )
    theirs, ours = both(KERNELS, trace)
    assert pick(theirs, *USES) == [("volta_h884gemm_128x128", False)]
    assert pick(ours, *USES) == [("volta_h884gemm_128x128", True)]


HOPPER = {
    "a": "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
    "b": "gemm_fusion_dot_5_0",
    "c": "cutlass3x_sm90_gemm_f16",
    "d": "fmha_cutlassF_f16_aligned_64x64_rf_sm80",
    "e": "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4",
}


def test_tensor_core_kernels_of_this_decade_are_not_known(both: Both) -> None:
    trace = gpu("Stream #1 |aaaaa.bbbb.ccc.dd.e", HOPPER, {letter: {} for letter in HOPPER})
    theirs, ours = both(KERNELS, trace)
    names = list(HOPPER.values())
    wrong = [False, False, False, False, True]  # the last one computes on ordinary cores: FFMA
    assert pick(theirs, *USES) == list(zip(names, wrong, strict=True))
    assert pick(ours, *USES) == list(zip(names, [not one for one in wrong], strict=True))


def test_pascal_has_tensor_cores(both: Both) -> None:
    trace = gpu("Stream #1 |aaaa", {"a": "conv1x1_fwd"}, {"a": {}}, compute_cap_major=6)
    theirs, ours = both(KERNELS, trace)
    assert (pick(theirs, *USES), pick(ours, *USES)) == (
        [("conv1x1_fwd", True)], [("conv1x1_fwd", False)]
    )  # fmt: skip


def test_a_kernel_has_a_row_for_each_host(both: Both) -> None:
    trace = gpu("Stream #1 |aaaa", {}, {"a": {"tf_op": "op:Op"}})
    theirs, ours = both(KERNELS, trace, trace)
    columns = ("kernel_name", "op_name", "occurrences", "total_duration_us")
    assert pick(theirs, *columns) == [("a", "op", 1.0, 4.0)] * 2
    assert pick(ours, *columns) == [("a", "op", 2, 8.0)]


def test_averages_are_cut_to_nanoseconds(both: Both) -> None:
    trace = gpu("Stream #1 |aa.b.c", {"b": "a", "c": "a"}, {letter: {} for letter in "abc"})
    theirs, ours = both(KERNELS, trace)
    assert pick(theirs, "avg_duration_us") == [(1.333,)]
    assert pick(ours, "avg_duration_us") == [(pytest.approx(4 / 3, rel=1e-15),)]


def test_occupancy_is_that_of_one_event(both: Both) -> None:
    other = {"kernel_details": DETAILS.replace("occ_pct:50", "occ_pct:100")}
    trace = gpu("Stream #1 |aaa.b", {"b": "a"}, {"a": {}, "b": other})
    theirs, ours = both(KERNELS, trace)
    assert pick(theirs, "occurrences", "occupancy_pct") == [(2.0, 50.0)]
    assert pick(ours, "occurrences", "occupancy_pct") == [(2, 62.5)]  # 3 µs at 50, 1 µs at 100


def test_shared_memory_of_old_recorders_is_ignored(both: Both) -> None:
    trace = gpu("Stream #1 |a", {}, {"a": {"kernel_details": "regs:8 shm:4096 grid:1,1,1"}})
    theirs, ours = both(KERNELS, trace)
    assert (pick(theirs, "shmem_bytes"), pick(ours, "shmem_bytes")) == ([(0.0,)], [(4096.0,)])


@pytest.mark.parametrize(
    "op", ["a/MatMul_1:MatMul", "MatMul:MatMul", "x/Conv2D_1:Conv2D", "a/einsum:Einsum"]
)
def test_numbered_products_are_not_eligible(both: Both, op: str) -> None:
    trace = gpu("Stream #1 |a", {}, {"a": {"tf_op": op}})
    theirs, ours = both(KERNELS, trace)
    column = "is_op_tensor_core_eligible"
    assert (pick(theirs, column), pick(ours, column)) == ([(False,)], [(True,)])


def test_an_einsum_that_is_no_product(both: Both) -> None:
    trace = gpu("Stream #1 |a", {}, {"a": {"tf_op": "a/Einsum:Einsum", "equation": "(ii->i)"}})
    theirs, ours = both(KERNELS, trace)
    column = "is_op_tensor_core_eligible"
    assert (pick(theirs, column), pick(ours, column)) == ([(False,)], [(False,)])


def test_rows_over_the_cap_vanish(both: Both) -> None:
    ops = [(f"op{number}:Op", number * 10**6, (number % 7 + 1) * 10**5) for number in range(1, 602)]
    theirs, ours = both(OPS, listed({"/host:CPU": {"thread": ops}}))
    assert (len(theirs), len(ours)) == (499, 601)
    cumulative = "Host_cumulative_total_self_time_percent"
    assert theirs[-1][cumulative] < 0.96
    assert ours[-1][cumulative] == pytest.approx(1, rel=1e-12)


def test_tpu_ops_without_a_symbol_vanish(both: Both) -> None:
    trace = draw(
        {"/device:TPU:0": "XLA Ops |aaaa.bb"},
        type_stats={"a": {"program_id": 1, "symbol_id": 1, "tf_op": "jit(f)/add:"},
                    "b": {"tf_op": "jit(f)/mul:"}},
    )  # fmt: skip
    theirs, ours = both(OPS, trace)
    assert pick(theirs, *TIMES) == [("jit(f)/add", 4.0, 4.0)]
    assert pick(ours, *TIMES) == [("jit(f)/add", 4.0, 4.0), ("jit(f)/mul", 2.0, 2.0)]


def test_kernels_of_programs_that_the_trace_lacks_vanish(both: Both) -> None:
    xla = {"hlo_op": "fusion.1", "hlo_module": "jit_f", "program_id": 3, "tf_op": "XlaModule:",
           "name": "jit(f)/add"}  # fmt: skip
    trace = gpu("Stream #1 |aaaa", {"a": "loop_fusion"}, {"a": xla})
    theirs, ours = both(OPS, trace)
    assert pick(theirs, "operation") == []
    assert pick(ours, *TIMES) == [("jit(f)/add", 4.0, 4.0)]


def test_an_unreadable_host_hides_the_others(compare: Compare, tmp_path: Path) -> None:
    good, bad = host("thread |aaaa"), b"not a trace"
    with pytest.raises(AssertionError):
        compare(good, bad)
    ours = document_of(one_run(tmp_path, h0=good, h1=bad), "run", OPS)
    assert pick(rows(ours[1]), *TIMES) == [("a", 4.0, 4.0)]
    assert [notice["host"] for notice in ours[0]["warnings"]] == ["h1"]


def test_a_changed_trace_shows_what_it_was(xprof_python: str, tmp_path: Path) -> None:
    """xprof reads the cache that it wrote beside the trace; tbprof writes none there."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    for name in ("old", "new"):
        trace = host("thread |aaaa", a=f"{name}:Op")
        shown = ask_xprof(xprof_python, theirs, {"h0": trace})[OPS][1]
        assert pick(rows(shown), "operation") == [("old",)]
        write(ours, trace, "h0")
        engine = Engine(Logdir(str(ours)), ResultStore(tmp_path / "store"))
        assert pick(rows(document_of(engine, "ours", OPS)[1]), "operation") == [(name,)]
    assert [path.name for path in ours.iterdir()] == ["h0.xplane.pb"]


def test_bytes_that_stay_on_the_core_bind_an_op_to_main_memory(both: Both) -> None:
    accessed = 4_000_000
    work = {"flops": accessed, "bytes_accessed": accessed, "program_id": 1, "symbol_id": 1,
            "memory_access_breakdown": access(1, 3, accessed), "tf_op": "x/a:"}  # fmt: skip
    core = "/device:TPU:0"
    peaks = {"peak_teraflops_per_second": 918.0, "peak_hbm_bw_gigabytes_per_second": 1638.0}
    trace = draw({core: "XLA Ops |aaaa"}, type_stats={"a": work}, plane_stats={core: peaks})
    theirs, ours = both(OPS, trace)
    assert (pick(theirs, "bound_by"), pick(ours, "bound_by")) == ([("HBM",)], [("Compute",)])

"""Known mistakes of the tables of ops and kernels."""

from typing import Any

import pytest
from helpers.payloads import Row, pick, rows
from jobs.pages import Pages
from traces import draw, listed
from traces.misread_ops import DETAILS, GPU, HOST, gpu, host

from mistakes.catalogue import Show, mistake
from tbprof.base.errors import NoData

OPS, KERNELS = "ops", "kernels"


def op_table(pages: Pages, *, with_idle: bool = False) -> list[Row]:
    """The ops of a run."""
    return rows(pages.document("framework_op_stats")[0 if with_idle else 1])


@mistake(
    OPS, "A child that ends with its parent is lost, as is the later of two siblings that overlap."
)
def children_that_end_with_their_parent(show: Show) -> str:
    table = op_table(show(host("thread |aaaaaaaaaa\n       |.....bbbbb")))
    found = pick(table, "operation", "total_self_time")
    assert found == [("a", 5), ("b", 5)]
    return "parent 5 µs of self time, child 5"


@mistake(OPS, "Percentages are fractions, GFLOP/s are labeled FLOP/s, and GiB/s GBytes/s.")
def units_are_what_columns_say(show: Show) -> str:
    trace = draw(
        {"/device:TPU:0": "XLA Ops |aaaa"},
        type_stats={"a": {"program_id": 1, "symbol_id": 1, "tf_op": "x/a:", "flops": 4_000_000,
                          "bytes_accessed": 4_294_967_296}},
    )  # fmt: skip
    document = show(trace).document("framework_op_stats")[1]
    labels = {column["id"]: column["label"] for column in document["cols"]}
    [row] = rows(document)
    assert row["measured_flop_rate"] == 1000
    label = labels["measured_flop_rate"]
    assert "GFLOP" in label
    return f"{row['measured_flop_rate']:g} under '{label}'"


@mistake(OPS, "Occurrences of an op are those of its busiest kernel.")
def occurrences_are_added(show: Show) -> str:
    own = {letter: {"tf_op": "x/op:Op"} for letter in "abc"}
    table = op_table(show(gpu("Stream #1 |a.a.b.c", {"c": "b"}, own)))
    assert pick(table, "occurrences", "avg_time") == [(4, 1)]
    return "4 kernels, 1 µs each"


@mistake(OPS, "Allocations that name an op count as its executions.")
def allocations_are_no_executions(show: Show) -> str:
    trace = draw(
        {HOST: "thread |aaaa..\n       |.m...."},
        names={"a": "x/a:Op", "m": "MemoryAllocation"},
        stats={"m": {"tf_op": "x/a"}},
    )
    assert pick(op_table(show(trace)), "occurrences", "avg_time") == [(1, 4)]
    return "1 execution of 4 µs"


@mistake(OPS, "Ops that old recorders name differently (`level 0`, annotations) are missing.")
def old_spellings_of_ops(show: Show) -> str:
    own = {"a": {"level 0": "x/op:Op"}, "b": {"annotation": "x/other:Op#id=1#"}}
    table = op_table(show(gpu("Stream #1 |aaaa.bb", {}, own)))
    assert pick(table, "operation") == [("x/op",), ("x/other",)]
    return "x/op, x/other"


@mistake(OPS, "Ops beyond the 500th are missing, and shares do not reach 100 %.")
def no_op_is_cut_off(show: Show) -> str:
    ops = [(f"op{number}:Op", number * 10**6, 10**5) for number in range(1, 602)]
    table = op_table(show(listed({HOST: {"thread": ops}})))
    assert len(table) == 601
    share = table[-1]["host_cumulative_total_self_time_percent"]
    assert abs(share - 1) < 1e-9
    return f"601 of 601 ops, {100 * share:g} % in total"


@mistake(OPS, "Idle time is summed over threads, and hidden by streams that overlap.")
def idle_time_is_wall_time(show: Show) -> str:
    own = {letter: {"tf_op": f"{letter}:Op"} for letter in "abc"}
    trace = gpu("Stream #1 |aaaaaaaaaa..........cccccccccc\nStream #2 |bbbbbbbbbb", {}, own)
    table = op_table(show(trace), with_idle=True)
    found = dict(pick(table, "operation", "total_self_time"))
    assert found["IDLE"] == 10
    return "10 of 30 µs"


@mistake(OPS, "`op_profile` calls a trace without device ops a program 'IDLE'.")
def no_program_is_called_idle(show: Show) -> str:
    pages = show(host("thread |aaaa"))
    assert pick(op_table(pages), "operation") == [("a",)]
    with pytest.raises(NoData, match="no instruction of a compiled program"):
        pages.document("op_profile")
    return "says that no instruction of a compiled program ran; op stats list the ops"


@mistake(
    OPS,
    "Tensor Core use is a fraction of the 1,000 longest kernels, and only if a device is a 'GPU'.",
)
def tensor_cores_of_all_kernels(show: Show) -> str:
    own: dict[str, dict[str, Any]] = {"a": {"tf_op": "x/a:MatMul"}, "b": {"tf_op": "x/b:Relu"}}
    trace = gpu("Stream #1 |aaa.b", {"a": "volta_h884gemm_128x128", "b": "relu"}, own)
    table = op_table(show(trace))
    used = dict(pick(table, "operation", "gpu_tensorcore_utilization"))
    assert used == {"x/a": 1, "x/b": 0}
    return "100 % for the product and 0 % for the other op, over all kernels"


@mistake(OPS, "Annotations of programs (`TraceAnnotation`, `PjitFunction`) have no rows.")
def annotations_are_rows(show: Show) -> str:
    trace = draw(
        {HOST: "python |ssssssssss.tttttttttt\n       |.pppppp...\n"},
        names={"s": "train", "t": "train", "p": "PjitFunction(step)"},
        stats={"s": {"_r": 1, "step_num": 0}, "t": {"_r": 1, "step_num": 1}},
    )
    table = rows(show(trace).document("framework_op_stats")[2])
    found = {row["operation"]: row["total_time"] for row in table}
    assert (found["train"], found["PjitFunction(step)"]) == (20, 6)
    return "train 20 µs, PjitFunction(step) 6"


def kernel_table(pages: Pages) -> list[Row]:
    """The kernels of a run."""
    return rows(pages.document("kernel_stats"))


@mistake(KERNELS, "Tensor Cores seem unused if no vendor is stated, and on Hopper.")
def tensor_cores_of_this_decade(show: Show) -> str:
    names = {"a": "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", "b": "volta_h884gemm_128x128"}
    trace = draw({GPU: "Stream #1 |aa.b"}, names=names,
                 stats={letter: {"kernel_details": DETAILS} for letter in "ab"})  # fmt: skip
    found = pick(kernel_table(show(trace)), "is_kernel_using_tensor_core")
    assert found == [(True,), (True,)]
    return "nvjet and volta_h884 use them"


@mistake(KERNELS, "A kernel has a row for each host.")
def kernels_of_all_hosts(show: Show) -> str:
    trace = gpu("Stream #1 |aaaa", {}, {"a": {"tf_op": "op:Op"}})
    table = kernel_table(show(trace, trace))
    assert pick(table, "occurrences", "total_duration_us") == [(2, 8)]
    return "one row: 2 launches, 8 µs"


@mistake(KERNELS, "Averages are truncated to nanoseconds, and occupancy is that of one launch.")
def averages_of_kernels(show: Show) -> str:
    other = {"kernel_details": DETAILS.replace("occ_pct:50", "occ_pct:100")}
    [row] = kernel_table(show(gpu("Stream #1 |aaa.b", {"b": "a"}, {"a": {}, "b": other})))
    assert (row["avg_duration_us"], row["occupancy_pct"]) == (2, 62.5)
    return "occupancy 62.5 %, weighted by time"


@mistake(KERNELS, "Numbered products (`MatMul_1`) are not eligible for Tensor Cores.")
def numbered_products(show: Show) -> str:
    [row] = kernel_table(show(gpu("Stream #1 |a", {}, {"a": {"tf_op": "a/MatMul_1:MatMul"}})))
    assert row["is_op_tensor_core_eligible"]
    return "a/MatMul_1 is eligible"


@mistake(KERNELS, "Kernels beyond the 1,000th are missing.")
def no_kernel_is_cut_off(show: Show) -> str:
    details = {"kernel_details": DETAILS}
    kernels = [(f"kernel_{number}", number * 10**6, 10**5, details) for number in range(1, 1331)]
    assert len(kernel_table(show(listed({GPU: {"Stream #1": kernels}})))) == 1330
    return "1330 of 1330 rows"

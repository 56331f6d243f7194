"""The tree of op_profile, and what its page is made of."""

from typing import Any

import pytest
from builders.program_ops import access
from helpers.drawn.computed_parts import compute_parts
from helpers.op_profile_page import find, page, rows_of
from helpers.tables import columns
from traces import Unsigned, draw, space_of
from traces.planted_programs import planted_gpu

from tbprof.advice.summaries import Summaries
from tbprof.base.errors import BadRequest
from tbprof.tools.model.tool import Document
from tbprof.tools.op_profile import build
from tbprof.tools.programs.op_profile_tree import scope_parts

TPU = "/device:TPU:0"
US = 1_000_000
# 1 TFLOP/s and 1 GB/s: 10^6 operations and 10^3 bytes in each µs.
PEAKS = {
    "peak_teraflops_per_second": 1.0,
    "peak_hbm_bw_gigabytes_per_second": 1.0,
    "device_type_string": "TPU v9",
}


def op(category: str, program: int = 7, **stats: Any) -> dict[str, Any]:
    return {"program_id": Unsigned(program), "hlo_category": category, **stats}


def trace() -> bytes:
    return draw(
        {
            TPU: """
                XLA Modules |mmmmmmmmmmmmm.nnn
                XLA Ops     |wwwwwwww.ccc..aab
                            |.bb..bbb
            """,
        },
        names={
            "m": "jit_f(7)", "n": "jit_g(8)", "w": "while.1", "b": "%dot.2 = f32[2] fusion(f32[8])",
            "c": "copy.3", "a": "%dot.4 = f32[2] fusion(f32[8])",
        },
        type_stats={
            "w": op("while", flops=9_000_000, bytes_accessed=90, tf_op="jit(f)/while:"),
            "b": op(
                "loop fusion", flops=500_000, model_flops=600_000, bytes_accessed=100,
                memory_access_breakdown=access(1, 1, 60) + access(2, 3, 40),
                deduplicated_name="dot", tf_op="jit(f)/while/body/dot:", source="f.py:3",
                source_stack="f.py:3\nmain.py:9\n",
            ),
            "c": op("copy", tf_op="jit(f)/copy:"),
            "a": op("loop fusion", flops=250_000, bytes_accessed=0, deduplicated_name="dot"),
        },
        plane_stats={TPU: PEAKS},
    )  # fmt: skip


def built(*traces: bytes, **params: str) -> Document:
    parts = [compute_parts(space_of(one), "program_ops", "peaks") for one in traces]
    summed = {name: [part[name] for part in parts] for name in ("program_ops", "peaks")}
    hosts = tuple(f"h{number}" for number in range(len(traces)))
    return build(Summaries(hosts, summed, params))


def figures(node: Any) -> Any:
    """A tree as [name, self or total time in µs, operations, [HBM, on chip], children]."""
    metrics = node["metrics"]
    time, moved = metrics["rawTime"] / US, metrics["rawBytesAccessedArray"]
    return [
        node["name"], time, metrics["rawFlops"], moved, [figures(one) for one in node["children"]]
    ]  # fmt: skip


def test_programs_contain_categories_groups_and_ops():
    answer = built(trace()).rows()
    assert set(answer) == {
        "byProgram", "byProgramExcludeIdle", "deviceType", "aggDvfsTimeScaleMultiplier",
    }  # fmt: skip
    assert answer["deviceType"] == "TPU"
    # The loop's own operations are those of its body.
    group = ["dot.2 and its duplicate(s)", 8, 2_050_000, [180, 120, 0], [
        ["dot.2", 6, 1_800_000, [180, 120, 0], []],
        ["dot.4", 2, 250_000, [0, 0, 0], []],
    ]]  # fmt: skip
    group[3] = [180, 0, 120]
    group[4][0][3] = [180, 0, 120]  # type: ignore[index]
    assert figures(answer["byProgramExcludeIdle"]) == ["by_program", 14, 2_050_000, [180, 0, 120], [
        ["jit_f(7)", 14, 2_050_000, [180, 0, 120], [
            ["while", 8, 9_000_000, [90, 0, 0], [["while.1", 8, 9_000_000, [90, 0, 0], []]]],
            ["loop fusion", 8, 2_050_000, [180, 0, 120], [group]],
            ["copy", 3, 0, [0, 0, 0], [["copy.3", 3, 0, [0, 0, 0], []]]],
        ]],
    ]]  # fmt: skip
    with_idle = figures(answer["byProgram"])
    assert with_idle[1] == 17
    assert with_idle[4][-1] == ["IDLE", 3, 0, [0, 0, 0], []]


def test_an_op_states_its_figures_and_what_it_is():
    root: Any = built(trace()).rows()["byProgram"]
    node = find(root, "jit_f(7)", "loop fusion", "dot.2 and its duplicate(s)", "dot.2")
    assert node["metrics"] == {
        # 1.5 of 6 million operations, and of 17 µs.
        "flops": pytest.approx(1.5 / 17),
        "uncappedFlops": pytest.approx(1.5 / 17),
        "bandwidthUtils": [pytest.approx(180 / 6000), 0, 0],
        "rawTime": 6 * US,
        "rawFlops": 1_800_000,
        "bf16Flops": 1_500_000,
        "rawBytesAccessedArray": [180, 0, 120],
        "occurrences": 3,
        "avgTimePs": 2 * US,
        "normalizedTimePs": 6 * US,
        "uncostedPs": 0,
    }
    assert node["xla"] == {
        "op": "",
        "expression": "%dot.2 = f32[2] fusion(f32[8])",
        "provenance": "jit(f)/while/body/dot:",
        "category": "loop fusion",
        "computationPrimitiveSize": 0,
        "fingerprint": "0",
        "programId": "7",
        "sourceInfo": {"fileName": "f.py", "lineNumber": 3, "stackFrame": "f.py:3\nmain.py:9"},
        "xprofKernelMetadata": "",
    }
    assert (node["children"], node["numChildren"]) == ([], 0)
    assert find(root, "jit_f(7)")["metrics"]["uncostedPs"] == 3 * US  # the copy
    assert root["metrics"]["occurrences"] == 0


def test_ops_are_grouped_by_category_and_by_scope_as_well():
    by_category: Any = built(trace(), group_by="category").rows()["byCategoryExcludeIdle"]
    assert [(one["name"], one["metrics"]["occurrences"]) for one in by_category["children"]] == [
        ("while", 1), ("loop fusion", 4), ("copy", 1),
    ]  # fmt: skip
    assert by_category["children"][0]["children"][0]["name"] == "while.1"
    by_scope: Any = built(trace(), group_by="provenance").rows()["byProvenanceExcludeIdle"]
    program = find(by_scope, "jit_f(7)")
    assert [one["name"] for one in program["children"]] == ["jit(f)", "loop fusion"]
    assert find(program, "jit(f)")["metrics"]["rawTime"] == 12 * US
    found = find(program, "jit(f)", "while", "body", "dot", "loop fusion", "dot.2")
    assert found["metrics"]["rawTime"] == 6 * US
    assert find(program, "jit(f)", "while", "while", "while.1")["metrics"]["rawTime"] == 8 * US


@pytest.mark.parametrize(
    ("scope", "parts"),
    [
        ("jit(f)/jit(main)/add:", ["jit(f)", "jit(main)", "add"]),
        ("jit(f)/jvp(a/b,c->d)/dot", ["jit(f)", "jvp(a/b,c->d)", "dot"]),
        ("jit(f)/x[a/b]/y:Type", ["jit(f)", "x[a/b]", "y"]),
        ("a/)b/c", ["a", ")b", "c"]),
        ("(a/b", ["(a/b"]),
        ("", []),
        ("//", []),
    ],
)
def test_scopes_are_cut_outside_of_brackets(scope, parts):
    assert scope_parts(scope) == parts


def test_requests_for_other_groups_or_rows_are_refused():
    with pytest.raises(BadRequest, match="'op'"):
        built(trace(), group_by="op")
    for params in ({"row": "99"}, {"row": "x"}, {"row": "-1"}, {"rows": "some"}):
        with pytest.raises(BadRequest):
            built(trace(), **params).columns()


def test_the_page_has_each_instruction_with_its_shares_and_its_wasted_time():
    answer = page(built(trace()))
    rows = {row["name"]: row for row in rows_of(answer)}
    assert list(rows) == ["dot.2", "while.1", "copy.3", "dot.4"]  # by self time
    dot = rows["dot.2"]
    assert (dot["program"], dot["group"], dot["source"]) == ("jit_f(7)", "dot", "f.py:3")
    assert dot["flop_share"] == pytest.approx(0.25)
    assert dot["hbm_share"] == pytest.approx(0.03)
    assert (dot["self_ps"], dot["wasted_ps"], dot["at_peak_ps"]) == (6 * US, 4.5 * US, 1.5 * US)
    # Not known: what a loop does apart from its body, and what a copy without figures does.
    assert [rows[name]["wasted_ps"] for name in ("while.1", "copy.3")] == [-1, -1]
    assert rows["copy.3"]["note"] != ""
    assert {(row["cause"], row["could_save_ps"]) for row in rows.values()} == {("", -1)}
    assert answer["instructions"] == 4
    assert (answer["device_type"], answer["idle_ps"]) == ("TPU", 3 * US)
    assert answer["peaks"]["flops"] == [
        {"dtype": "f16", "gflops": 1000, "source": "recorded by the device"}
    ]


def test_ops_above_a_peak_waste_nothing_and_say_so():
    fast = draw(
        {TPU: "XLA Ops |a.b"},
        type_stats={
            "a": op("dot", flops=3_000_000, bytes_accessed=1),
            "b": op("dot", flops=1, bytes_accessed=4000),
        },
        plane_stats={TPU: PEAKS},
    )
    rows = {row["name"]: row for row in rows_of(page(built(fast)))}
    assert (rows["a"]["flop_share"], rows["a"]["wasted_ps"]) == (3, 0)
    assert "the peak is implausible" in rows["a"]["note"]
    assert rows["b"]["hbm_share"] == 4
    assert "more bytes than the memory can move" in rows["b"]["note"]


def test_an_op_says_why_it_is_slow_and_what_that_costs():
    answer = page(built(planted_gpu("memory_bound")))
    causes = {row["name"]: (row["cause"], row["could_save_ps"]) for row in rows_of(answer)}
    # Half of the bytes of `p`, which takes 36 µs in all.
    assert causes == {"p": ("memory-bound", 18 * US), "d": ("", -1)}
    table = columns(built(planted_gpu("memory_bound")).table())
    assert list(zip(table["cause"], table["could_save"], strict=True)) == [
        ("memory-bound", 18), ("", None),
    ]  # fmt: skip


def test_the_kernels_of_an_op_are_those_that_took_longest():
    gpu = draw(
        {"/device:GPU:0": "Stream #1 |abb.abb.c"},
        stats={letter: {"program_id": 7, "hlo_module": "jit_f", "hlo_op": "x"} for letter in "ab"},
    )
    answer = page(built(gpu))
    kernels = answer["kernels"]
    names = [answer["texts"][number] for number in kernels["name"]]
    assert list(zip(kernels["place"], names, kernels["total_ps"], strict=True)) == [
        (0, "b", 4 * US), (0, "a", 2 * US),
    ]  # fmt: skip
    row = answer["rows"]["row"][0]
    details = page(built(gpu, row=str(row)))
    assert details["name"] == "x"
    assert [kernel["name"] for kernel in details["kernels"]] == ["b", "a"]


def test_details_are_whole_and_long_names_are_cut():
    name = "x" * 1000
    long = draw(
        {TPU: "XLA Ops |a"},
        names={"a": name},
        type_stats={"a": op("copy", tf_op="jit(f)/" + "s" * 999, source_stack="f.py:1\n")},
    )
    answer = page(built(long))
    assert max(map(len, answer["texts"])) == 301
    details = page(built(long, row="0"))
    assert (details["name"], len(details["scope"]), details["stack"]) == (name, 1006, "f.py:1")


def test_the_table_is_ordered_by_wasted_time():
    cells = columns(built(trace()).table())
    assert cells["operation"] == ["dot.2", "dot.4", "copy.3", "while.1"]
    assert cells["wasted_time"] == [4.5, 1.75, None, None]
    assert cells["self_time"] == [6, 2, 3, 3]
    assert cells["flops"] == [1_500_000, 250_000, None, 9_000_000]
    assert cells["flop_share"] == [0.25, 0.125, None, 1.125]
    assert cells["kernels"] == cells["occurrences"] == [3, 1, 1, 1]


def test_a_trace_without_programs_is_empty():
    assert built(draw({"/device:GPU:0": "Stream #1 |k"})).is_empty
    assert built(draw({"/host:CPU": "a |x"})).is_empty
    assert not built(trace()).is_empty


def test_programs_of_a_cpu_are_shown_without_shares():
    """xprof shows nothing of them."""
    cpu = draw(
        {"/host:CPU": "tf_XLAEigen |aa.bbb"},
        stats={
            letter: {"hlo_op": f"op.{letter}", "hlo_module": "jit_f", "program_id": 3}
            for letter in "ab"
        },
    )
    document = built(cpu)
    answer = document.rows()
    assert answer["deviceType"] == "CPU_ONLY"
    assert figures(answer["byProgram"])[:2] == ["by_program", 6]
    assert [row["flop_share"] for row in rows_of(page(document))] == [None, None]

"""The tree of op_profile, what its page is made of, and what neither loses."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.drawn.computed_parts import compute_parts
from helpers.tables import columns
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import Unsigned, draw, space_of
from traces.planted_programs import planted_gpu

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.programs.instruction_facts import InstructionFacts
from tbprof.analysis.programs.op_rows import OpRows, ProgramName, Times, Work
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.programs.program_ops_merging import add_up
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


def access(kind: int, space: int, count: int) -> bytes:
    return bytes([0x0A, 6, 0x08, kind, 0x10, space, 0x18, count])


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
    summed = {name: [one[name] for one in parts] for name in ("program_ops", "peaks")}
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


def find(node: Any, *path: str) -> Any:
    for name in path:
        node = next(one for one in node["children"] if one["name"] == name)
    return node


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


def page(document: Document) -> Any:
    from tbprof.engine.encode import encode_document

    return json.loads(encode_document(document, (), layout="columns"))


def rows_of(answer: Any) -> list[dict[str, Any]]:
    """The rows of a page with their texts."""
    names = (
        "program", "name", "category", "group", "scope", "source", "dtype", "roof", "cause", "note",
    )  # fmt: skip
    table = answer["rows"]
    return [
        {
            key: answer["texts"][values[place]] if key in names else values[place]
            for key, values in table.items()
        }
        for place in range(len(table["row"]))
    ]


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
    found = columns(built(trace()).table())
    assert found["operation"] == ["dot.2", "dot.4", "copy.3", "while.1"]
    assert found["wasted_time"] == [4.5, 1.75, None, None]
    assert found["self_time"] == [6, 2, 3, 3]
    assert found["flops"] == [1_500_000, 250_000, None, 9_000_000]
    assert found["flop_share"] == [0.25, 0.125, None, 1.125]
    assert found["kernels"] == found["occurrences"] == [3, 1, 1, 1]


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


CATEGORIES = ("loop fusion", "while", "copy")
NAMES = ("add.1", "dot.2", "while.3", "copy.4", "all-reduce.5")
NO_PEAKS = Peaks([], np.zeros(0), [], [], np.zeros(0), [])


@st.composite
def tables(draw_one: Any) -> ProgramOps:
    rows = OpRows()
    for _ in range(draw_one(st.integers(1, 25))):
        total = draw_one(st.integers(0, 2**44))
        own = draw_one(st.integers(0, total))
        facts = InstructionFacts(
            category=draw_one(st.sampled_from(CATEGORIES)),
            deduplicated_name=draw_one(st.sampled_from(["", "", "dot"])),
            scope=draw_one(st.sampled_from(["", "jit(f)/a/b:", "jit(f)/a", "jit(g)/c(x/y)/d"])),
        )
        rows.add(
            ProgramName(draw_one(st.sampled_from(["7", "8", ""])), "jit_f"),
            draw_one(st.sampled_from(NAMES)), facts, Times(1, 1, total, own),
            Work(*(draw_one(st.integers(-1, 2**40)) for _ in range(9))),
            core=draw_one(st.sampled_from(["TensorCore", "SparseCore"])),
        )  # fmt: skip
    idle = draw_one(st.integers(0, 2**40))
    return add_up([rows.table(device_type="TPU", devices=1, idle_ps=idle)])


@settings(max_examples=20, deadline=None)
@given(tables(), st.sampled_from(["program", "category", "provenance"]))
def test_children_add_up_to_their_parents(ops, group_by):
    """Programs in self time, categories and groups in total time: to the picosecond."""
    summaries = Summaries(
        ("h",), {"program_ops": [ops], "peaks": [NO_PEAKS]}, {"group_by": group_by}
    )
    answer: Any = build(summaries).rows()
    own_ps = int(ops.self_ps.sum())
    key = f"by{group_by.capitalize()}"
    for root, idle_ps in ((answer[key], ops.idle_ps), (answer[f"{key}ExcludeIdle"], 0)):
        assert root["metrics"]["rawTime"] == own_ps + idle_ps
        if group_by != "category":
            assert sum(map(raw_time, root["children"])) == own_ps + idle_ps
        categories = [one for one in nodes_of(root) if one["name"] in CATEGORIES]
        ops_ps = [raw_time(one) for one in nodes_of(root) if one["name"] in NAMES]
        assert sum(ops_ps) == sum(map(raw_time, categories)) == int(ops.total_ps.sum())
        for node in categories:
            for one in (node, *node["children"]):
                if one["children"]:
                    assert sum(map(raw_time, one["children"])) == raw_time(one)


def raw_time(node: Any) -> int:
    return int(node["metrics"]["rawTime"])


def nodes_of(node: Any) -> Iterator[Any]:
    yield node
    for one in node["children"]:
        yield from nodes_of(one)


def many(count: int) -> ProgramOps:
    rows = OpRows()
    for number in range(count):
        facts = InstructionFacts(category=("copy", "dot")[number % 2])
        work = Work(10, 10, 0, 20, 20) if number % 3 else Work()
        rows.add(ProgramName("7", "jit_f"), f"x.{number}", facts, Times(1, 1, 5, 5), work)
    return rows.table(device_type="TPU", devices=1)


def test_what_is_left_out_at_first_is_in_sums():
    ops = many(4100)
    parts: dict[str, list[object]] = {"program_ops": [ops], "peaks": [NO_PEAKS]}
    first = page(build(Summaries(("h",), parts)))
    whole = page(build(Summaries(("h",), parts, {"rows": "all"})))
    assert (len(first["rows"]["row"]), len(whole["rows"]["row"])) == (4002, 4100)
    assert sum(first["rows"]["count"]) == sum(whole["rows"]["count"]) == 4100
    for name in ("self_ps", "total_ps", "occurrences", "kernels"):
        assert sum(first["rows"][name]) == sum(whole["rows"][name]) == getattr(ops, name).sum()
    rest = rows_of(first)[4000:]
    assert {(row["category"], row["count"], row["row"]) for row in rest} == {
        ("copy", 50, -1), ("dot", 50, -1),
    }  # fmt: skip
    known = sum(number % 3 > 0 for number in range(4000, 4100))
    assert sum(row["flops"] for row in rest) == 10 * known


def test_of_very_many_equal_ops_scripts_get_a_hundred():
    tree: Any = build(Summaries(("h",), {"program_ops": [many(4100)], "peaks": [NO_PEAKS]})).rows()
    category = find(tree["byProgram"], "jit_f(7)", "copy")
    assert (len(category["children"]), category["numChildren"]) == (100, 2050)

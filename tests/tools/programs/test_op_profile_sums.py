"""Sums of op_profile: neither its tree nor its page loses anything."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from helpers.op_profile_page import find, page, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.programs.instruction_facts import InstructionFacts
from tbprof.analysis.programs.op_rows import InstructionWork, OpRows, ProgramName, Times
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.programs.program_ops_merging import add_up
from tbprof.tools.op_profile import build

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
            InstructionWork(*(draw_one(st.integers(-1, 2**40)) for _ in range(9))),
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
        work = InstructionWork(10, 10, 0, 20, 20) if number % 3 else InstructionWork()
        rows.add(ProgramName("7", "jit_f"), f"x.{number}", facts, Times(1, 1, 5, 5), work)
    return rows.table(device_type="TPU", devices=1)


def test_what_is_left_out_at_first_is_in_sums():
    ops = many(3100)
    parts: dict[str, list[object]] = {"program_ops": [ops], "peaks": [NO_PEAKS]}
    first = page(build(Summaries(("h",), parts)))
    whole = page(build(Summaries(("h",), parts, {"rows": "all"})))
    assert (len(first["rows"]["row"]), len(whole["rows"]["row"])) == (3002, 3100)
    assert sum(first["rows"]["count"]) == sum(whole["rows"]["count"]) == 3100
    for name in ("self_ps", "total_ps", "occurrences", "kernels"):
        assert sum(first["rows"][name]) == sum(whole["rows"][name]) == getattr(ops, name).sum()
    rest = rows_of(first)[3000:]
    assert {(row["category"], row["count"], row["row"]) for row in rest} == {
        ("copy", 50, -1), ("dot", 50, -1),
    }  # fmt: skip
    known = sum(number % 3 > 0 for number in range(3000, 3100))
    assert sum(row["flops"] for row in rest) == 10 * known


def test_all_rows_come_in_parts():
    parts: dict[str, list[object]] = {"program_ops": [many(6100)], "peaks": [NO_PEAKS]}
    found = [
        page(build(Summaries(("h",), parts, {"rows": str(begin)}))) for begin in (0, 3000, 6000)
    ]
    assert [len(part["rows"]["row"]) for part in found] == [3000, 3000, 100]
    assert [row["row"] for part in found for row in rows_of(part)] == list(range(6100))
    assert {row["name"] for row in rows_of(found[2])} == {f"x.{n}" for n in range(6000, 6100)}


def test_of_very_many_equal_ops_scripts_get_a_hundred():
    tree: Any = build(Summaries(("h",), {"program_ops": [many(4100)], "peaks": [NO_PEAKS]})).rows()
    category = find(tree["byProgram"], "jit_f(7)", "copy")
    assert (len(category["children"]), category["numChildren"]) == (100, 2050)

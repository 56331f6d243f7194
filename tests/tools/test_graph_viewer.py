"""The documents and files of the graph viewer, of drawn programs."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.drawn.small_runs import one_run
from helpers.payloads import content_of
from traces import draw
from traces.programs import Program

from tbprof._pb import message
from tbprof.base.errors import BadRequest, NoData
from tbprof.engine.engine import DataRequest, Engine


def program(number: int, *, is_long: bool = False) -> Program:
    """p -> fusion -> root, in which the fusion adds p to itself."""
    one = Program()
    one.name("jit_f", number)
    one.add("x", "parameter", "f32[8]{0}", within="inner")
    one.add("sum", "add", "f32[8]{0}", "x", "x", within="inner")
    one.add("p", "parameter", "f32[8]{0}")
    fusion = one.add("fusion.1", "fusion", "f32[8]{0}", "p", calls="inner", op="jit(f)/add")
    fusion.fusion_kind = "kLoop"
    fusion.metadata.source_file, fusion.metadata.source_line = "f.py", 3
    one.add("root", "negate", "f32[8]{0}", "fusion.1")
    for extra in range(1000 if is_long else 0):
        one.add(f"n.{extra}", "negate", "f32[8]{0}", "p" if extra == 0 else f"n.{extra - 1}")
    return one


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Programs 7 and 8 of one name: the fusion of 8 runs 3 µs and its root 1 µs, on a GPU."""
    trace = draw(
        {"/device:GPU:0": "Stream #1 |fff.r"},
        stats={
            "f": {"hlo_op": "fusion.1", "hlo_module": "jit_f", "program_id": 8},
            "r": {"hlo_op": "root", "hlo_module": "jit_f", "program_id": 8},
        },
        programs={"jit_f(7)": program(7, is_long=True).bytes(), "jit_f(8)": program(8).bytes()},
    )
    return one_run(tmp_path, h0=trace)


def ask(engine: Engine, **params: str) -> Any:
    return json.loads(answer(engine, **params))


def answer(engine: Engine, **params: str) -> bytes:
    request = DataRequest(engine.runs()[0], "graph_viewer", params=params)
    return content_of(engine, request)


def test_without_a_choice_it_shows_the_op_that_took_most_time(engine: Engine):
    shown = ask(engine)
    assert [(one["program_id"], one["device_ps"]) for one in shown["programs"]] == [
        ("8", 4_000_000), ("7", 0),
    ]  # fmt: skip
    assert (shown["program_id"], shown["name"], shown["center_name"]) == ("8", "jit_f", "fusion.1")
    assert [node["name"] for node in shown["nodes"]] == ["fusion.1", "p", "root"]
    fusion = shown["nodes"][0]
    assert {name: fusion[name] for name in FACTS} == {
        "opcode": "fusion", "shape": "f32[8]{0}", "category": "loop fusion", "group": "fusion",
        "details": ["kind=kLoop", "add"], "op_name": "jit(f)/add", "source": "f.py:3",
        "flops": 8, "bytes": 64, "occurrences": 1, "total_ps": 3_000_000, "self_ps": 3_000_000,
        "can_open": True, "left_operands": 0, "left_users": 0,
    }  # fmt: skip
    assert shown["nodes"][1]["self_ps"] is None
    assert [(edge["operand"], edge["tuple_index"]) for edge in shown["edges"]] == [(0, -1), (0, -1)]


FACTS = (
    "opcode", "shape", "category", "group", "details", "op_name", "source", "flops", "bytes",
    "occurrences", "total_ps", "self_ps", "can_open", "left_operands", "left_users",
)  # fmt: skip


def test_a_program_that_did_not_run_shows_its_result(engine: Engine):
    assert ask(engine, program_id="7", graph_width="1")["center_name"] == "n.999"


def test_programs_of_one_name_are_told_apart_by_their_ids(engine: Engine):
    assert ask(engine, module_name="jit_f(7)")["program_id"] == "7"
    # As metadata may have it: the same 64 bits.
    assert ask(engine, program_id=str(8 - 2**64))["program_id"] == "8"
    with pytest.raises(BadRequest, match="2 programs are named 'jit_f'") as caught:
        answer(engine, module_name="jit_f")
    assert "jit_f(8), jit_f(7)" in caught.value.hint


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"program_id": "9"}, "program '9' is not in the trace"),
        ({"program_id": "8 "}, "is not in the trace"),
        ({"module_name": "jit"}, "program 'jit' is not in the trace"),
        ({"program_host": "h9"}, "is not in the trace"),
        ({"node_name": "nothing"}, "no instruction or computation named 'nothing'"),
        ({"graph_width": "-1"}, "is not a number of hops"),
        ({"graph_width": "²"}, "is not a number of hops"),
        ({"type": "graf"}, "type='graf' is unknown"),
        ({"format": "url"}, "format='url' is not supported"),
        ({"type": "adj_nodes"}, "needs node_name"),
        ({"type": "custom_call", "node_name": "p"}, "is not a custom call"),
    ],
)
def test_what_cannot_be_shown_is_said(engine: Engine, params: dict[str, str], problem: str):
    with pytest.raises(BadRequest, match=problem) as caught:
        answer(engine, **params)
    assert caught.value.hint


def test_names_are_found_without_case_and_with_a_percent_sign(engine: Engine):
    assert ask(engine, node_name="%FUSION.1")["center_name"] == "fusion.1"


def test_a_computation_is_shown_as_a_whole(engine: Engine):
    shown = ask(engine, node_name="inner", graph_width="1")
    assert [node["name"] for node in shown["nodes"]] == ["sum", "x"]
    assert shown["clusters"][0]["computation"] == "inner"
    assert shown["clusters"][0]["callers"] == ["fusion.1"]
    assert not shown["clusters"][0]["is_entry"]


def test_fusions_open_in_place(engine: Engine):
    for params in ({"opened": "fusion.1"}, {"merge_fusion": "0"}):
        shown = ask(engine, **params)
        assert {node["name"]: node["cluster"] for node in shown["nodes"]} == {
            "p": 0, "root": 0, "sum": 1, "x": 1,
        }  # fmt: skip
        [_, cluster] = shown["clusters"]
        assert (cluster["computation"], cluster["owner"]["name"]) == ("inner", "fusion.1")
    assert len(ask(engine, opened="nothing,x,fusion.1,fusion.1")["clusters"]) == 2


def test_more_than_can_be_drawn_is_counted(engine: Engine):
    shown = ask(engine, program_id="7", node_name="main")
    assert len(shown["nodes"]) == shown["most_nodes"] == 400
    assert shown["omitted"] == 1003 - 400
    assert shown["clusters"][0]["left_out"] == 603


def test_one_instruction_with_its_text(engine: Engine):
    one = ask(engine, type="node", node_name="fusion.1")
    assert one["text"] == (
        "%fusion.1 = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop, calls=%inner, "
        'metadata={op_name="jit(f)/add" source_file="f.py" source_line=3}'
    )
    assert (one["operands"], one["users"], one["calls"]) == (["p"], ["root"], ["inner"])
    assert one["computation"] == "main"


def test_the_search_ranks_names_before_opcodes_and_by_time(engine: Engine):
    answer = ask(engine, type="search", search="n")
    # Names that begin with it, that contain it (by time), and opcodes that do.
    assert [one["name"] for one in answer["found"]] == ["fusion.1", "root"]
    assert ask(engine, type="search", search="%ROOT")["found"][0]["self_ps"] == 1_000_000
    many = ask(engine, type="search", search="n.", program_id="7")
    assert (many["count"], len(many["found"])) == (1001, 50)
    assert many["found"][0]["name"] == "n.0"
    assert ask(engine, type="search", search="(")["count"] == 0
    assert ask(engine, type="search")["count"] == 5


def test_files_for_scripts(engine: Engine):
    short = answer(engine, type="short_txt").decode()
    assert short.startswith("HloModule jit_f\n")
    assert "  fusion.1 = f32[8]{0} fusion(p), kind=kLoop, calls=inner\n" in short
    assert "source_line=3" not in answer(engine, type="long_txt").decode()
    assert "source_line=3" in answer(engine, type="long_txt", show_metadata="1").decode()
    assert answer(engine, type="pb") == program(8).bytes()
    assert b'name: "fusion.1"' in answer(engine, type="pbtxt")
    assert ask(engine, type="adj_nodes", node_name="fusion.1") == {
        "consumer_names": ["root"], "operand_names": ["p"],
    }  # fmt: skip
    assert ask(engine, type="text")["text"].startswith("HloModule jit_f\n")


def test_a_text_comes_in_parts(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tbprof.tools.graph.graph_document._MOST_LETTERS", 10_000)
    whole: str = ask(engine, program_id="7", type="text")["text"]
    line: int | None = 0
    parts: list[str] = []
    while line is not None:
        part = ask(engine, program_id="7", type="text", first_line=str(line))
        parts.append(part["text"])
        line = part["next_line"]
        assert line is None or line == sum(one.count("\n") + 1 for one in parts)
    assert len(parts) > 2
    assert "\n".join(parts) == whole
    with pytest.raises(BadRequest, match="no line"):
        answer(engine, type="text", first_line="-1")


def test_dot_quotes_names(engine: Engine):
    dot = answer(engine, format="dot").decode()
    assert dot.startswith("digraph G {\n")
    assert '"fusion.1\\nfusion\\nkind=kLoop\\nadd\\nf32[8]{0}"' in dot
    assert dot.count(" -> ") == 2


def test_the_table_has_a_row_per_node(engine: Engine):
    [table] = engine.tables(DataRequest(engine.runs()[0], "graph_viewer"))
    assert table.column("name").cells() == ["fusion.1", "p", "root"]
    assert table.column("self_us").cells() == [3.0, None, 1.0]
    assert table.column("flops").cells() == [8.0, 0.0, 8.0]


def test_damaged_and_hostile_programs_are_shown_as_far_as_they_are_known(tmp_path: Path):
    hostile = Program()
    hostile.add('a"]; b [label="\\N', "parameter", "f32[]")
    hostile.add("<b>\n", "quantum", "f32[]", 'a"]; b [label="\\N')
    cyclic = message("xla.HloProto").FromString(program(3).bytes())
    for part in cyclic.hlo_module.computations:
        for instruction in part.instructions:
            instruction.operand_ids[:] = [instruction.id, 99]
            instruction.called_computation_ids[:] = [part.id, 77]
    trace = draw(
        {"/host:CPU": "python |x"},
        programs={
            "h(1)": hostile.bytes(),
            "cut(2)": program(2).bytes()[:-7],
            "cyclic(3)": cyclic.SerializeToString(),
        },
    )
    engine = one_run(tmp_path, h0=trace)
    dot = answer(engine, program_id="1", format="dot").decode()
    assert '"a\\"]; b [label=\\"\\\\N' in dot
    assert "<b>\\\\n" in dot
    for number in "123":
        for params in ({}, {"merge_fusion": "0"}, {"type": "text"}, {"format": "dot"}):
            if number == "2" and "format" in params:
                continue
            assert answer(engine, program_id=number, **params)
    assert ask(engine, program_id="2")["programs"]


def test_a_trace_without_programs_says_so(tmp_path: Path):
    engine = one_run(tmp_path, h0=draw({"/host:CPU": "python |x"}))
    with pytest.raises(NoData, match="no compiled programs"):
        answer(engine)

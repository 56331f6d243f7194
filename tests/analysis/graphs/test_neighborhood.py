"""What is near an instruction, beside a search that tries everything."""

from hypothesis import given, settings
from hypothesis import strategies as st
from traces.programs import Program

from tbprof.analysis.graphs.neighborhood import MOST_USERS, find_neighborhood
from tbprof.analysis.graphs.program_graph import draw_graph
from tbprof.analysis.graphs.program_links import ProgramLinks
from tbprof.analysis.hlo.module import Module

OPCODES = ("add", "add", "bitcast", "constant", "tuple", "get-tuple-element", "negate")


def links_of(program: Program) -> ProgramLinks:
    return ProgramLinks(Module(program.bytes()))


def near(links: ProgramLinks, center: str, hops: int, *opened: str, most: int = 400) -> set[str]:
    rows = [links.find(name) for name in opened]
    neighborhood = find_neighborhood(links, links.find(center), hops, rows, most)
    assert len(neighborhood.rows) == len(set(neighborhood.rows))
    return {links.module.message(row).name for row in neighborhood.rows}


def chain() -> Program:
    """a -> b -> c -> d, and e, which takes b and c."""
    program = Program()
    program.add("a", "parameter", "f32[]")
    program.add("b", "negate", "f32[]", "a")
    program.add("c", "negate", "f32[]", "b")
    program.add("d", "negate", "f32[]", "c")
    program.add("e", "add", "f32[]", "b", "c")
    return program


def test_a_hop_leads_to_operands_and_users():
    links = links_of(chain())
    assert near(links, "c", 0) == {"c"}
    assert near(links, "c", 1) == {"b", "c", "d", "e"}
    assert near(links, "d", 1) == {"c", "d"}
    assert near(links, "d", 2) == {"b", "c", "d", "e"}
    assert near(links, "d", 3) == {"a", "b", "c", "d", "e"}


def test_bitcasts_are_free_towards_operands():
    program = Program()
    program.add("a", "parameter", "f32[4]")
    program.add("b", "bitcast", "f32[2,2]", "a")
    program.add("c", "negate", "f32[2,2]", "b")
    links = links_of(program)
    assert near(links, "c", 1) == {"a", "b", "c"}
    assert near(links, "c", 0) == {"c"}
    # Towards users they count.
    assert near(links, "a", 1) == {"a", "b"}


def test_users_of_constants_and_many_users_are_not_followed():
    program = Program()
    program.add("one", "constant", "f32[]")
    program.add("p", "parameter", "f32[]")
    for number in range(MOST_USERS + 1):
        program.add(f"u.{number}", "add", "f32[]", "p", "one")
    links = links_of(program)
    assert near(links, "u.0", 3) == {"u.0", "p"}
    assert near(links, "one", 1) == {"one"}
    assert len(near(links, "p", 1)) == 1


def test_operands_of_a_tuple_are_followed_only_from_the_center():
    program = Program()
    program.add("a", "parameter", "f32[]")
    program.add("b", "parameter", "f32[]")
    program.add("t", "tuple", "f32[] f32[]", "a", "b")
    links = links_of(program)
    assert near(links, "t", 1) == {"a", "b", "t"}
    assert near(links, "a", 4) == {"a", "t"}


def test_at_most_so_many_the_nearest_first_and_the_rest_is_counted():
    program = Program()
    program.add("p", "parameter", "f32[]")
    last = "p"
    for number in range(50):
        program.add(f"n.{number}", "negate", "f32[]", last)
        last = f"n.{number}"
    links = links_of(program)
    neighborhood = find_neighborhood(links, links.find("n.0"), 20, [], 10)
    assert neighborhood.hops == sorted(neighborhood.hops)
    assert len(neighborhood.rows) == 10
    # n.0 to n.20 and p.
    assert sum(neighborhood.left_out.values()) == 22 - 10


def fused() -> Program:
    program = Program()
    program.add("x", "parameter", "f32[]", within="inner")
    program.add("y", "parameter", "f32[]", within="inner").parameter_number = 1
    program.add("m", "multiply", "f32[]", "x", "y", within="inner")
    program.add("a", "parameter", "f32[]")
    program.add("b", "parameter", "f32[]")
    program.add("f", "fusion", "f32[]", "a", "b", calls="inner")
    program.add("g", "negate", "f32[]", "f")
    return program


def edges(links: ProgramLinks, center: str, hops: int, *opened: str) -> set[tuple[str, str, int]]:
    rows = [links.find(name) for name in opened]
    row = links.find(center)
    graph = draw_graph(links, row, find_neighborhood(links, row, hops, rows, 400))
    name = {node.row: links.module.message(node.row).name for node in graph.nodes}
    return {(name[edge.source], name[edge.target], edge.operand) for edge in graph.edges}


def test_what_is_open_is_drawn_in_place():
    links = links_of(fused())
    assert edges(links, "g", 2) == {("a", "f", 0), ("b", "f", 1), ("f", "g", 0)}
    assert edges(links, "g", 2, "f") == {
        ("a", "x", 0), ("b", "y", 0), ("x", "m", 0), ("y", "m", 1), ("m", "g", 0),
    }  # fmt: skip


def test_elements_of_tuples_are_edges():
    program = Program()
    program.add("p", "parameter", "f32[] f32[]")
    program.add("e", "get-tuple-element", "f32[]", "p").tuple_index = 1
    program.add("n", "negate", "f32[]", "e")
    program.add("last", "negate", "f32[]", "n")
    links = links_of(program)
    row = links.find("n")
    graph = draw_graph(links, row, find_neighborhood(links, row, 2, [], 400))
    assert {links.module.message(node.row).name for node in graph.nodes} == {"p", "n", "last"}
    assert [(edge.operand, edge.tuple_index) for edge in graph.edges] == [(0, -1), (0, 1)] or [
        (edge.operand, edge.tuple_index) for edge in graph.edges
    ] == [(0, 1), (0, -1)]
    # What is the center is a node.
    assert {"e"} <= near(links, "e", 1)


def test_loops_and_branches_open():
    program = Program()
    program.add("state", "parameter", "f32[]", within="body")
    program.add("next", "negate", "f32[]", "state", within="body")
    program.add("seen", "parameter", "f32[]", within="condition")
    program.add("less", "compare", "pred[]", "seen", "seen", within="condition")
    program.add("start", "parameter", "f32[]")
    loop = program.add("loop", "while", "f32[]", "start", calls="body")
    loop.called_computation_ids.append(program.computation("condition").id)
    program.add("after", "negate", "f32[]", "loop")
    assert edges(links_of(program), "after", 3, "loop") == {
        ("start", "state", 0), ("start", "seen", 0), ("state", "next", 0),
        ("seen", "less", 0), ("seen", "less", 1), ("next", "after", 0), ("less", "after", 0),
    }  # fmt: skip


def test_programs_that_contain_themselves_end():
    program = fused()
    inner = program.named["m"]
    inner.opcode = "fusion"
    inner.called_computation_ids.append(program.computation("inner").id)
    program.named["x"].operand_ids.append(inner.id)
    links = links_of(program)
    assert near(links, "g", 4, "f", "m") == {"a", "b", "f", "g", "m", "x", "y"}
    row = links.find("g")
    assert draw_graph(links, row, find_neighborhood(links, row, 4, [row], 400)).nodes


def test_ids_that_lead_nowhere_are_left_out():
    program = chain()
    program.named["c"].operand_ids.extend([99, 98])
    program.named["d"].control_predecessor_ids.append(97)
    program.computation("main").root_id = 96
    links = links_of(program)
    assert near(links, "c", 1) == {"b", "c", "d", "e"}
    assert edges(links, "c", 1) == {("b", "c", 0), ("c", "d", 0), ("b", "e", 0), ("c", "e", 1)}


@st.composite
def programs(draw: st.DrawFn) -> Program:
    program = Program()
    count = draw(st.integers(1, 14))
    for number in range(count):
        opcode = draw(st.sampled_from(OPCODES)) if number else "parameter"
        most = 0 if opcode in ("constant", "parameter") else 3
        operands = draw(st.lists(st.integers(0, max(number - 1, 0)), max_size=most))
        names = [f"i.{operand}" for operand in operands if number]
        program.add(f"i.{number}", opcode, "f32[]", *names)
    return program


@settings(max_examples=300)
@given(programs(), st.integers(0, 4), st.integers(0, 13))
def test_the_hops_are_the_least(program: Program, hops: int, at: int):
    links = links_of(program)
    center = at % links.rows
    neighborhood = find_neighborhood(links, center, hops, [], 400)
    assert dict(zip(neighborhood.rows, neighborhood.hops, strict=True)) == brute_force(
        links, center, hops
    )


def brute_force(links: ProgramLinks, center: int, most: int) -> dict[int, int]:
    """The least number of hops by trying every step again until nothing changes."""
    hops = {center: 0}
    while True:
        before = dict(hops)
        for row, distance in before.items():
            if distance >= most:
                continue
            opcode = links.module.opcode(row)
            steps = []
            if row == center or opcode != "tuple":
                for operand in links.module.operand_rows(row):
                    is_free = "bitcast" in (opcode, links.module.opcode(operand))
                    steps.append((operand, 0 if is_free else 1))
            if opcode != "constant":
                steps += [(user, 1) for user in range(links.rows)
                          if row in links.module.operand_rows(user)]  # fmt: skip
            for other, cost in steps:
                hops[other] = min(hops.get(other, 99), distance + cost)
        if hops == before:
            break
    return {
        row: distance
        for row, distance in hops.items()
        if row == center or links.module.opcode(row) != "constant"
    }

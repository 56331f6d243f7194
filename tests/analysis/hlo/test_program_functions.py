"""Functions of one name are told apart by where they are written."""

from typing import Any
from unittest.mock import Mock

import pytest
from traces import drawn_space
from traces.programs import Program

from tbprof._pb import message
from tbprof.analysis.hlo import hlo
from tbprof.analysis.hlo import module as module_
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo.program_functions import locate_functions, places_of, with_location
from tbprof.analysis.hlo_messages.program_index import ProgramIndex
from tbprof.analysis.ops.ops import find_ops

Frame = tuple[str, str, int]  # a file, a function, a line


def module(op: str, *stack: Frame, **metadata: Any) -> Any:
    """A program of one instruction, made on a stack of Python, outermost first."""
    made = message("xla.HloModuleProto")()
    index = made.stack_frame_index
    for at, (file, function, line) in enumerate(stack):
        index.file_names.append(file)
        index.function_names.append(function)
        index.file_locations.add(file_name_id=at + 1, function_name_id=at + 1, line=line)
        index.stack_frames.add(file_location_id=at + 1, parent_frame_id=at)
    about = made.computations.add().instructions.add().metadata
    about.op_name = op
    about.stack_frame_id = len(stack)
    for name, value in metadata.items():
        setattr(about, name, value)
    return made


def located(modules: dict[int, Any]) -> dict[int, str]:
    protos = {
        program: message("xla.HloProto")(hlo_module=made) for program, made in modules.items()
    }
    return locate_functions(
        {program: places_of(Module(proto.SerializeToString())) for program, proto in protos.items()}
    )


def nameless(line: int, file: str = "/src/train.py", op: str = "jit(<lambda>)/add") -> Any:
    return module(op, (file, "<module>", 9), (file, "<lambda>", line), ("/src/lib.py", "help", 3))


def test_unnamed_functions_on_different_lines_are_different():
    """Each is compiled for two shapes."""
    lines = located({1: nameless(5), 2: nameless(8), 3: nameless(5), 4: nameless(8)})
    assert lines == {
        1: "train.py line 5", 3: "train.py line 5", 2: "train.py line 8", 4: "train.py line 8",
    }  # fmt: skip


def test_one_function_that_is_compiled_again_is_one():
    assert located({1: nameless(5), 2: nameless(5)}) == {}
    assert located({1: nameless(5)}) == {}


def test_a_named_function_may_take_another_branch_for_another_shape():
    def step(line: int, file: str) -> Any:
        return module("jit(step)/add", (file, "main", 40), (file, "Model.step", line))

    assert located({1: step(5, "a.py"), 2: step(8, "a.py")}) == {}
    assert located({1: step(5, "a.py"), 2: step(5, "x/b.py"), 3: step(9, "a.py")}) == {
        1: "a.py", 2: "b.py", 3: "a.py",
    }  # fmt: skip


def test_the_function_that_was_compiled_is_the_outermost_of_its_name():
    """A function that it calls is called so, too."""

    def of(outer: str) -> Any:
        return module("jit(f)/add", (outer, "f", 1), ("lib.py", "f", 7))

    assert located({1: of("a.py"), 2: of("b.py")}) == {1: "a.py", 2: "b.py"}
    assert located({1: of("a.py"), 2: of("a.py")}) == {}


def test_what_does_not_say_where_it_is_written_stays_as_it_is():
    bare = module("jit(<lambda>)/add")
    assert located({1: bare, 2: bare}) == {}
    assert located({1: bare, 2: nameless(5), 3: nameless(8)}) == {
        2: "train.py line 5", 3: "train.py line 8",
    }  # fmt: skip
    # The line of an op, which older versions write, may be one of a function that f calls.
    f, unnamed = "jit(f)/add", "jit(<lambda>)/add"
    assert located({at: module(f, source_file=f"{at}.py", source_line=1) for at in (1, 2)}) == {}
    lines = {at: module(unnamed, source_file="a.py", source_line=at) for at in (5, 6)}
    assert located(lines) == {5: "a.py line 5", 6: "a.py line 6"}


@pytest.mark.parametrize("frame", [(0, 0), (7, 7), (-1, -2)])
def test_stacks_of_damaged_programs_say_nothing(frame: tuple[int, int]):
    made = nameless(5)
    made.stack_frame_index.stack_frames[2].parent_frame_id = frame[0]
    made.stack_frame_index.stack_frames[2].file_location_id = frame[1]
    assert located({1: made, 2: made}) == {}
    made.stack_frame_index.stack_frames[2].parent_frame_id = 3  # a circle
    assert located({1: made, 2: made}) == {}


def test_names_of_ops_hold_the_place():
    assert with_location("jit(<lambda>)/jit(main)/add", "a.py line 5") == (
        "jit(<lambda>, a.py line 5)/jit(main)/add"
    )
    assert with_location("model/dense/MatMul", "a.py line 5") == "model/dense/MatMul"


@pytest.mark.parametrize("largest_cached", [2**17, 0])
def test_tables_have_a_row_for_each(monkeypatch: pytest.MonkeyPatch, largest_cached: int):
    """Two programs of one name on a CPU: x ran one instruction of each.

    Large programs, which are not cached, are read where the file lies in memory.
    """
    monkeypatch.setattr(hlo, "_LARGEST_CACHED", largest_cached)
    programs = {}
    for id_, line in ((7, 5), (8, 6)):
        program = Program()
        program.name("jit__lambda", id_)
        program.add("add.1", "add", "f32[8]", op="jit(<lambda>)/add")
        proto = message("xla.HloProto").FromString(program.bytes())
        proto.hlo_module.stack_frame_index.CopyFrom(nameless(line).stack_frame_index)
        proto.hlo_module.computations[0].instructions[0].metadata.stack_frame_id = 3
        programs[id_] = bytes(proto.SerializeToString())
    calls = {letter: {"hlo_op": "add.1", "hlo_module": "jit__lambda", "program_id": id_}
             for letter, id_ in (("x", 7), ("y", 8))}  # fmt: skip
    space = drawn_space(
        {"/host:CPU": "thread |xxx.yy"},
        names={"x": "add.1", "y": "add.1"},
        stats=calls,
        programs={"jit__lambda(7)": programs[7], "jit__lambda(8)": programs[8]},
    )
    ops = find_ops(space, Programs(space))
    assert dict(zip(ops.name, ops.occurrences.tolist(), strict=True)) == {
        "jit(<lambda>, train.py line 5)/add": 1,
        "jit(<lambda>, train.py line 6)/add": 1,
    }
    assert set(ops.type) == {"add"}


def test_a_program_is_read_once_for_all_hosts(monkeypatch: pytest.MonkeyPatch):
    program = Program()
    program.name("jit_step", 7)
    program.add("shared.1", "add", "f32[8]", op="jit(step)/add")
    read = Mock(wraps=ProgramIndex)
    monkeypatch.setattr(module_, "ProgramIndex", read)
    for _ in range(3):
        space = drawn_space(
            {},
            programs={"jit_step(7)": program.bytes()},
        )
        programs = Programs(space)
        assert programs.op_name(7, "", "shared.1") == "jit(step)/add:"
        assert programs.op_type(7, "", "shared.1") == "add"
    read.assert_called_once_with(program.bytes())

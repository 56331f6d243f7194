"""The memory of one program, and what could be saved of it."""

from typing import Any

import pytest
from traces import space_of
from traces.memory.memory_plans import MemoryPlan, planned_trace, train_step

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.program_memory.live_buffers import LiveBuffers, live_at, live_ever
from tbprof.analysis.program_memory.memory_savings import MemorySavings, find_savings
from tbprof.analysis.program_memory.program_memory import ProgramMemory, find_program_memory
from tbprof.analysis.program_memory.program_peaks import find_program_peaks


def memory_of(content: bytes, module: str = "", number: str = "", space: str = "") -> ProgramMemory:
    opened = space_of(content)
    programs = Programs(opened)
    peaks = find_program_peaks(opened, programs)
    return find_program_memory(opened, programs, peaks, module, number, space)


def planned(plan: MemoryPlan, space: str = "") -> ProgramMemory:
    return memory_of(planned_trace(("jit_step(7)", plan.bytes())), space=space)


def named(memory: ProgramMemory, rows: Any) -> list[str]:
    facts = memory.facts
    return [
        facts.texts[facts.instruction[row]] + facts.texts[facts.part[row]] for row in rows.tolist()
    ]


def table(memory: ProgramMemory, live: LiveBuffers) -> dict[str, tuple[int, ...]]:
    columns = (live.size_bytes, live.unpadded_bytes, live.start, live.end)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return dict(zip(named(memory, live.buffer), rows, strict=True))


def test_memory_is_that_of_fixed_allocations_and_of_the_heap():
    memory = planned(train_step())
    assert (memory.title, memory.entry, memory.space, memory.reason) == (
        "jit_step(7)",
        "main",
        0,
        "",
    )
    assert memory.fixed_bytes == 3 * 4096 + 16
    assert memory.use.in_use_bytes.tolist() == [512, 1024, 512, 1024, 512, 0]
    assert memory.use.unpadded_bytes.tolist() == [400, 912, 400, 912, 400, 0]
    assert (memory.use.peak, memory.peak_bytes) == (1, 13328)
    names = [memory.instructions[row] for row in memory.use.instruction.tolist()]
    assert names == ["norm", "dot", "act", "act", "out", "out"]


def test_at_the_peak_all_that_is_in_use_is_listed():
    memory = planned(train_step())
    assert table(memory, live_at(memory, memory.use.peak)) == {
        "x": (4096, 4096, -1, 6),
        "w": (4096, 4096, -1, 6),
        "out": (4096, 4096, -1, 6),
        "root": (16, 16, -1, 6),
        "norm": (512, 400, 0, 5),
        "dot": (512, 512, 1, 2),
    }


def test_memory_that_is_used_again_is_listed_under_who_uses_it():
    memory = planned(train_step())
    assert [*table(memory, live_at(memory, 3))] == ["x", "w", "out", "root", "norm", "act"]
    assert [*table(memory, live_at(memory, 2))] == ["x", "w", "out", "root", "norm"]
    assert [*table(memory, live_at(memory, -1))] == ["x", "w", "out", "root"]
    ever = table(memory, live_ever(memory))
    assert [*ever] == ["x", "w", "out", "root", "norm", "dot", "act"]
    assert ever["act"] == (512, 512, 3, 4)  # the memory of `dot`


def test_buffers_say_what_they_hold():
    memory = planned(train_step())
    facts = memory.facts
    row = named(memory, live_ever(memory).buffer).index("norm")
    buffer = int(live_ever(memory).buffer[row])
    found = {
        name: facts.texts[getattr(facts, name)[buffer]]
        for name in ("opcode", "fusion_kind", "shape", "op", "source", "stack")
    }
    assert found == {
        "opcode": "fusion",
        "fusion_kind": "kLoop",
        "shape": "f32[100]{0:T(128)}",
        "op": "jit(step)/norm/mul",
        "source": "train.py:12",
        "stack": "",
    }


def test_what_could_be_saved():
    memory = planned(train_step())
    savings = find_savings(memory)
    # `w` is donated already, and `root` is a table of pointers.
    assert (savings.donated_bytes, named(memory, savings.donors)) == (4096, ["x"])
    assert (savings.recomputed_bytes, named(memory, savings.recomputed)) == (512, ["norm"])
    assert (savings.padding_bytes, named(memory, savings.padded)) == (112, ["norm"])
    assert savings.hole_bytes == 1200 - 1024


def saved(plan: MemoryPlan) -> MemorySavings:
    return find_savings(planned(plan))


def test_a_result_takes_the_place_of_one_parameter():
    plan = MemoryPlan()
    for number, name in enumerate("ab"):
        plan.parameter(name, 64, "f32[16]{0}", number)
    plan.program.add("out", "add", "f32[16]{0}", "a", "b")
    plan.buffer("out", 64)
    plan.allocate(64, "out", maybe_live_out=True)
    assert saved(plan).donated_bytes == 64


@pytest.mark.parametrize("shape", ["f32[4,4]{1,0}", "s32[16]{0}", "f32[16]{0:T(128)}"])
def test_a_parameter_of_another_shape_holds_no_result(shape):
    plan = MemoryPlan()
    plan.parameter("a", 64, "f32[16]{0}")
    plan.program.add("out", "add", shape, "a")
    plan.buffer("out", 64)
    plan.allocate(64, "out", maybe_live_out=True)
    assert saved(plan).donated_bytes == 0


@pytest.mark.parametrize(
    ("opcode", "events", "bytes_"),
    [
        ("tanh", "+a +big -big -a", 8),
        ("dot", "+a +big -big -a", 0),  # expensive
        ("tanh", "+big +a -big -a", 0),  # made at the peak
        ("tanh", "+a +big -a -big", 0),  # freed with the peak
    ],
)
def test_cheap_results_that_wait_for_the_end_of_the_peak_can_be_recomputed(opcode, events, bytes_):
    plan = MemoryPlan()
    plan.program.add("a", opcode, "f32[2]{0}")
    plan.program.add("big", "dot", "f32[100]{0}", "a")
    plan.buffer("a", 8)
    plan.buffer("big", 400)
    plan.allocate(408, "a big@8")
    plan.heap(events)
    assert saved(plan).recomputed_bytes == bytes_


def test_memory_spaces_are_apart():
    plan = MemoryPlan()
    plan.parameter("p", 64, "f32[16]{0}")
    plan.program.add("copy", "copy-start", "f32[16]{0}, f32[16]{0:S(5)}, u32[]{:S(2)}", "p")
    for at, (name, size, space) in enumerate((("d", 64, 0), ("h", 64, 5), ("s", 4, 2))):
        plan.buffer(name, size, "copy", at)
        plan.allocate(size, name, space=space)
    plan.heap("+d -d")
    plan.heap("+h -h")
    plan.heap("+s -s")
    found = {space: planned(plan, space) for space in ("", "0", "2", "5", "1")}
    assert [memory.peak_bytes for memory in found.values()] == [128, 128, 4, 64, 0]
    assert all(memory.spaces.tolist() == [0, 2, 5] for memory in found.values())
    assert found["1"].reason == "the program uses no vector memory (VMEM)"
    assert [*table(found["2"], live_at(found["2"], 0))] == ["copy{2}"]
    facts = found["5"].facts
    assert [facts.texts[row] for row in facts.shape.tolist()] == ["f32[16]{0:S(5)}"]


def test_vector_memory_of_single_instructions_is_the_most_of_any():
    plan = train_step()
    for name, size in (("norm", "1000"), ("dot", "3000"), ("act", '"x"')):
        plan.program.named[name].backend_config = (
            b'{"used_scoped_memory_configs":[{"memory_space":"1","size":%s}]}' % size.encode()
        )
    memory = planned(plan, "1")
    assert (memory.scoped_bytes, memory.scoped_instruction) == (3000, "dot")
    assert (memory.reason, memory.spaces.tolist(), memory.peak_bytes) == ("", [0, 1], 0)
    assert planned(plan).scoped_bytes == -1  # of device memory


# Which program.


def three() -> bytes:
    """Two programs of one name, of which one ran, and a larger one that did not."""
    plans = [MemoryPlan() for _ in range(3)]
    for size, plan in zip((100, 200, 300), plans, strict=True):
        plan.parameter("p", size, f"u8[{size}]{{0}}")
    names = ("jit_f(17)", "jit_f(1)", "jit_g(3)")
    programs = [(name, plan.bytes()) for name, plan in zip(names, plans, strict=True)]
    return planned_trace(*programs, ran=[17])


@pytest.mark.parametrize(
    ("module", "number", "shown"),
    [
        ("", "", "jit_f(17)"),  # the largest that ran
        ("", "1", "jit_f(1)"),  # not the one whose id contains it
        ("jit_f(1)", "", "jit_f(1)"),
        ("jit_g", "", "jit_g(3)"),
        ("jit_g", "17", "jit_f(17)"),  # ids come first
        ("", str(3 - 2**64), "jit_g(3)"),  # signed
    ],
)
def test_a_program_is_found_by_its_id_or_its_name(module, number, shown):
    assert memory_of(three(), module, number).title == shown


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("jit_f", ""),
        ("jit", ""),
        ("jit_g(4)", ""),
        ("", "7"),
        ("", "x"),
        ("", "9" * 400),
        ("../", ""),
    ],
)
def test_a_program_that_is_not_there_or_not_the_only_one_is_said_to(module, number):
    memory = memory_of(three(), module, number)
    assert memory.reason == f"program {(number or module)[:200]!r} is not in the trace"
    assert (memory.name, memory.peak_bytes, memory.id.size) == ("", 0, 0)


def test_without_programs_there_is_nothing():
    assert memory_of(planned_trace()).reason == "the trace has no compiled programs"


@pytest.mark.parametrize("space", ["x", "-1", "7", "9" * 30, "0" * 30])
def test_a_memory_space_that_is_not_there_is_said_to(space):
    memory = memory_of(three(), space=space)
    assert memory.reason.startswith("the program uses no memory space ")
    assert memory.title == "jit_f(17)"

"""What TPU ops spend time on, and which op runs innermost when."""

import pytest
from builders.event_columns import event_columns
from hypothesis import given
from hypothesis import strategies as st
from traces.programs import Program

from tbprof.analysis.hlo.instruction import Instruction
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.tpu.tpu_phases import innermost_ops, op_phase
from tbprof.analysis.vocabulary.phases import Phase

IN, OUT, COPY = Phase.INPUT, Phase.OUTPUT, Phase.DEVICE_TO_DEVICE
TOGETHER, NONE, FULL = Phase.COLLECTIVES, Phase.COMPUTE_UNKNOWN, Phase.COMPUTE_32

# Every category that the pod viewer of xprof was probed with, and those of newer compilers.
CATEGORIES = {
    IN: "infeed|sparsecorev0 infeed",
    OUT: "outfeed|sparsecorev0 outfeed",
    # They do not say what for.
    Phase.HOST_TRANSFER: "host send|host send-done|host recv|host recv-done",
    COPY: (
        "send|send-done|recv|recv-done|copy|copy-start|copy-done|async-start|async-done|async-update"
        "|slice-start|slice-done|dynamic-slice-start|dynamic-update-slice-done|async-copy"
    ),
    TOGETHER: (
        "all-reduce|all-reduce fusion|all-reduce-start|all-reduce-done|all-gather|all-gather fusion"
        "|all-gather-start|all-gather-done|reduce-scatter|all-reduce-scatter fusion|all-to-all"
        "|ragged-all-to-all|collective-permute|collective-permute-start|collective-permute-done"
        "|collective-broadcast|megacore fusion"
    ),
    FULL: (
        "convolution|convolution fusion|loop fusion|input fusion|output fusion|custom fusion"
        "|data formatting|dynamic-slice|dynamic-update-slice|slice|sort|rng-bit-generator|reduce"
        "|custom-call|non-fusion elementwise|broadcast|gather|scatter|select-and-scatter"
    ),
    NONE: "while|conditional|call|tuple|barrier",
}


@pytest.mark.parametrize(
    ("phase", "category"),
    [(phase, one) for phase, texts in CATEGORIES.items() for one in texts.split("|")],
)
def test_the_phase_of_a_category(phase, category):
    text = f"%x.1 = f32[8]{{0}} {category.replace(' ', '-')}(f32[8]{{0}} %a)"
    assert op_phase(category, text, "x.1", None) == phase


def test_an_op_without_category_goes_by_its_opcode():
    def phase(text: str, label: str = "") -> Phase:
        return op_phase("", text, label, None)

    assert phase("%x = ((f32[8]{0}, pred[]), token[]) infeed(token[] %t)") == IN
    assert phase("%x = f32[8]{0:T(8,128)} all-gather(f32[4]{0} %a), dimensions={0}") == TOGETHER
    assert phase("%x = bf16[8]{0} add(bf16[8]{0} %a, bf16[8]{0} %b)") == Phase.COMPUTE_16
    assert phase("all-reduce.3 = ") == TOGETHER
    assert phase("anything", "copy-done.4") == COPY
    assert phase("") == NONE


def op(
    opcode: str, wrapped: str = "", *, is_host: bool = False, handler: str = "", of: str = ""
) -> Instruction:
    return Instruction(opcode, "", (), (), (), wrapped, is_host, handler=handler, op=of)


def test_what_an_asynchronous_op_waits_for():
    done = "%async-done.1 = f32[8] async-done(((f32[8]), f32[8], u32[]) %async-start.1)"
    assert op_phase("async-done", done, "async-done.1", None) == COPY
    wrapped = done + ", calls=%wrapped_all_gather"
    assert op_phase("async-done", wrapped, "async-done.1", None) == TOGETHER
    named = op_phase("async-done", "%all-gather-done", "async-collective-done.2", None)
    assert named == TOGETHER
    assert op_phase("async-done", done, "x", op("async-done", "reduce-scatter")) == TOGETHER
    # The program is certain where the text only looks like it.
    assert op_phase("async-done", wrapped, "x", op("async-done", "dynamic-slice")) == COPY


def test_what_goes_through_the_host_is_told_apart_by_who_serves_it():
    """Megascale's transfers are collectives, callbacks are waits for them; others are transfers."""
    text = "%r = f32[8] recv-done(%a), is_host_transfer=true, frontend_attributes={{{}}}"
    handler = '_xla_host_transfer_handler_name="{}"'
    for name, phase in (
        ("xla_megascale_runtime", TOGETHER),
        ("tf_rendezvous", Phase.HOST_CALLBACK),
        ("pjrt_rendezvous", Phase.HOST_CALLBACK),
    ):
        stated = text.format(handler.format(name))
        for kind in ("host recv-done", "recv-done", "host send"):
            assert op_phase(kind, stated, "r", None) == phase
        done = op("recv-done", is_host=True, handler=name)
        assert op_phase("host recv-done", "%r", "r", done) == phase
    assert op_phase("recv-done", text.format(""), "r", None) == Phase.HOST_TRANSFER
    assert op_phase("recv-done", "%r", "r", op("recv-done", is_host=True)) == Phase.HOST_TRANSFER
    assert op_phase("recv-done", "%r", "r", op("recv-done")) == COPY


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("jit(step)/jit(main)/pure_callback:", Phase.HOST_CALLBACK),
        ("jit(step)/io_callback", Phase.HOST_CALLBACK),
        ("model/summary:XlaSendToHost", Phase.HOST_CALLBACK),
        ("jit(step)/psum", Phase.HOST_TRANSFER),
        ("", Phase.HOST_TRANSFER),
    ],
)
def test_without_a_handler_the_framework_s_op_tells_callbacks(name, phase):
    assert op_phase("host recv-done", "%r", "r", None, name) == phase
    assert op_phase("recv-done", "%r", "r", op("recv-done", is_host=True, of=name)) == phase


def test_a_program_states_the_handler_where_the_transfer_begins():
    program = Program()
    program.add("a", "parameter", "f32[8]")
    begin = program.add("recv.1", "recv", "f32[8]", "a")
    begin.is_host_transfer = True
    begin.frontend_attributes.map["_xla_host_transfer_handler_name"] = "xla_megascale_runtime"
    program.add("recv-done.1", "recv-done", "f32[8]", "recv.1").is_host_transfer = True
    module = Module(program.bytes())
    for name in ("recv.1", "recv-done.1"):
        kind = name.partition(".")[0]
        assert op_phase(kind, f"%{name}", name, module.instruction(name)) == TOGETHER


def test_copies_go_by_the_memories_between_which():
    """S(5) is the host's memory, S(1) the core's own; the program may tell where texts do not."""
    host = "%d = f32[8]{{0:T(8)}} {}(f32[8]{{0:T(8)S(5)}} %a)"
    near = "%d = f32[8]{{0:T(8)}} {}(f32[8]{{0:T(8)S(1)}} %a)"
    for opcode in ("copy-start", "copy-done", "copy", "dynamic-slice-done", "async-done"):
        assert op_phase(opcode, host.format(opcode), "d", None) == Phase.HOST_TRANSFER
    assert op_phase("copy-done", near.format("copy-done"), "d", None) == COPY
    assert op_phase("loop fusion", host.format("fusion"), "d", None) == FULL
    program = Program()
    program.add("x", "parameter", "f32[8]{0:S(5)}")
    program.add("start", "copy-start", "f32[8]{0}, f32[8]{0:S(5)}", "x")
    program.add("d", "copy-done", "f32[8]{0}", "start")
    done = Module(program.bytes()).instruction("d")
    assert op_phase("copy-done", "%d = f32[8] copy-done(%a)", "d", done) == Phase.HOST_TRANSFER
    gather = "%d = f32[8]{0:S(5)} async-done(%a), calls=%wrapped_all_gather"
    assert op_phase("async-done", gather, "d", None) == TOGETHER


def test_custom_calls_are_collectives_by_name():
    assert op_phase("custom-call", "%x = f32[8] custom-call()", "all-gather.3", None) == TOGETHER
    # The fusion computes while a collective goes on.
    text = "%async-collective-fusion = f32[8] fusion(f32[8] %a)"
    assert op_phase("custom fusion", text, "async-collective-fusion.1", None) == FULL


def flattened(*lines: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """(start, end, row) of events as (start, duration) in lines."""
    columns = innermost_ops(*event_columns(lines))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_the_innermost_op_runs():
    #  |aaaaaaaa|
    #  |.bbb.cc.|
    #  |..d.....|
    assert flattened([(0, 8), (1, 3), (2, 1), (5, 2)]) == [
        (0, 1, 0), (1, 2, 1), (2, 3, 2), (3, 4, 1), (4, 5, 0), (5, 7, 3), (7, 8, 0),
    ]  # fmt: skip


def test_touching_and_equal_and_empty_events():
    assert flattened([(0, 2), (2, 2)]) == [(0, 2, 0), (2, 4, 1)]
    assert flattened([(0, 2), (0, 2)]) == [(0, 2, 1)]
    assert flattened([(0, 4), (1, 0)]) == [(0, 1, 0), (1, 4, 0)]
    assert flattened([(3, 0)]) == []
    assert flattened([]) == []


def test_of_a_partial_overlap_the_later_event_has_it():
    assert flattened([(0, 4), (2, 4)]) == [(0, 2, 0), (2, 6, 1)]
    assert flattened([(0, 4), (1, 5), (2, 1)]) == [(0, 1, 0), (1, 2, 1), (2, 3, 2), (3, 6, 1)]


def test_lines_are_apart():
    assert flattened([(5, 2)], [(0, 2), (6, 3)]) == [(5, 7, 0), (0, 2, 1), (6, 9, 2)]


@given(
    st.lists(st.lists(st.tuples(st.integers(-9, 20), st.integers(0, 12)), max_size=8), max_size=3)
)
def test_each_instant_of_a_line_is_the_latest_started_events(lines):
    """Brute force: the last in order of the events that hold the instant."""
    found = flattened(*lines)
    assert all(start < end for start, end, _ in found)
    row = 0
    for line in lines:
        events = sorted(line, key=lambda event: (event[0], -event[1]))
        mine = [one for one in found if row <= one[2] < row + len(events)]
        assert mine == sorted(mine)
        for instant in range(-10, 35):
            holds = [
                at for at, (start, size) in enumerate(events) if start <= instant < start + size
            ]
            inside = [at - row for start, end, at in mine if start <= instant < end]
            assert inside == holds[-1:]
        row += len(events)

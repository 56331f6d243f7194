"""One event: what the file says of it, what lies around it, and where moves lead."""

import json
from typing import Any

import pytest
from builders import open_timelines
from builders.open_timelines import first
from traces import Unsigned, draw, drawn_space, space_of
from traces.programs import Program

from tbprof.base.errors import EventNotFound
from tbprof.timeline.questions.details import MOVES, details, move
from tbprof.timeline.questions.steps_of_events import step_windows
from tbprof.xplane.reader import read_space

US = 1_000_000


def values(answer: dict) -> dict[str, object]:
    return {stat["key"]: stat["value"] for stat in answer["stats"]}


def test_an_event_with_all_that_surrounds_it():
    opened = open_timelines.opened(
        [[(0, 20, "step"), (2, 10, "op"), (3, 2, "launch"), (6, 2, "launch")], [(3, 1, "other")]],
        categories={"launch": 6, "op": 7},
    )
    assert details(opened, first(opened, "op")) == {
        "id": 1, "name": "op", "track": 0, "row": 1, "start_ps": 2, "duration_ps": 10,
        "full_name": "op", "category": "host", "depth": 1, "self_ps": 6,
        "stack": [{"id": 0, "name": "step"}], "step": None, "stats": [], "hlo": None,
        "source": None, "links": [],
        "same_name": {"count": 1, "total_ps": 10, "mean_ps": 10.0, "min_ps": 10, "max_ps": 10,
                      "others": 0},
    }  # fmt: skip
    launch = details(opened, first(opened, "launch"))
    assert launch["stack"] == [{"id": 0, "name": "step"}, {"id": 1, "name": "op"}]
    assert launch["same_name"]["total_ps"] == 4
    assert launch["category"] == "launch"


def test_a_kernel_is_not_compared_with_its_launches():
    """Kernels of 4, 2 and 3 µs; the calls that launch them, 1 µs each, have their name."""
    space = drawn_space(
        {"/device:GPU:0": "Stream #1 |..aaaa.bb.ccc", "/host:CPU": "t |x.y.z"},
        names=dict.fromkeys("abcxyz", "gemm_fusion_dot"),
        stats={letter: {"kernel_details": "grid:1"} for letter in "abc"},
    )
    opened = open_timelines.built(space)
    start = opened.timeline.start_ps
    longest = int(opened.timeline.duration_ps.argmax())
    assert details(opened, longest)["same_name"] == {
        "count": 3, "total_ps": 9 * US, "mean_ps": 3.0 * US, "min_ps": 2 * US, "max_ps": 4 * US,
        "others": 3,
    }  # fmt: skip
    launch = next(index for index in range(start.size) if opened.timeline.duration_ps[index] == US)
    assert details(opened, launch)["same_name"] == {
        "count": 3, "total_ps": 3 * US, "mean_ps": 1.0 * US, "min_ps": US, "max_ps": US,
        "others": 3,
    }  # fmt: skip
    second = move(opened, longest, "next_same")
    assert second is not None
    third = move(opened, second, "next_same")
    assert third is not None
    assert [int(start[one]) // US for one in (longest, second, third)] == [2, 7, 10]
    assert move(opened, third, "next_same") is None
    assert move(opened, third, "first_same") == longest


def test_events_of_one_name_and_several_categories_are_not_compared():
    space = drawn_space(
        {"/device:GPU:0": "Stream #1 |aa.b", "/device:GPU:1": "Stream #1 |aaaa\nSteps |a"},
        names={"b": "c"},
    )
    opened = open_timelines.built(space)
    found = details(opened, first(opened, "a"))["same_name"]
    assert (found["count"], found["mean_ps"], found["others"]) == (2, 3.0 * US, 1)


def test_stats_have_labels_units_and_meanings():
    space = drawn_space(
        {"/device:GPU:0": "Stream |a.b"},
        names={"a": "kernel"},
        stats={
            "a": {
                "kernel_details": "regs:38 static_shared:16 dynamic_shared:0 grid:160,1,1 "
                "block:1024,1,1 occ_pct:50",
                "correlation_id": Unsigned(2**64 - 1),
                "bytes_accessed": 5 * 2**20,
                "is_eager": 1,
                "ratio": float("nan"),
                "blob": b"\x00" * 1234,
                "note": "own",
                "_pt": 12,
                "flow": Unsigned(7 << 58 | 5 << 2 | 2),
            },
            "b": {"memcpy_details": "size:112 dest:4 async:0 kind_src:pinned", "addr": 255},
        },
        type_stats={"a": {"flops": 10, "note": "shared"}},
    )
    opened = open_timelines.opened_space(space)
    answer = details(opened, 0)
    assert [tuple(stat.values()) for stat in answer["stats"]] == [
        (
            "kernel_details", "Launch",
            "regs:38 static_shared:16 dynamic_shared:0 grid:160,1,1 block:1024,1,1 occ_pct:50",
            "", "",
        ),
        ("kernel_details.grid", "Grid", "160 × 1 × 1", "", ""),
        ("kernel_details.block", "Block", "1024 × 1 × 1", "", ""),
        ("kernel_details.registers", "Registers per thread", 38, "", ""),
        ("kernel_details.shared", "Shared memory", 16, "bytes", ""),
        ("kernel_details.occupancy", "Occupancy", 50.0, "percent", ""),
        ("correlation_id", "Correlation id", str(2**64 - 1), "id", ""),
        ("bytes_accessed", "Bytes accessed", 5 * 2**20, "bytes", ""),
        ("is_eager", "Eager", 1, "bool", "yes"),
        ("ratio", "ratio", None, "", "nan"),
        ("blob", "blob", "<1,234 bytes>", "", ""),
        ("note", "note", "own", "", ""),
        ("_pt", "Produces: context type", 12, "id", "TPU launch"),
        ("flow", "Flow", str(7 << 58 | 5 << 2 | 2), "id", "5 out of the event, TFRT TPU runtime"),
        ("flops", "FLOPs", 10, "flops", ""),
    ]  # fmt: skip
    copy = details(opened, 1)
    assert values(copy) == {
        "memcpy_details": "size:112 dest:4 async:0 kind_src:pinned",
        "memcpy_details.size": 112,
        "memcpy_details.dest": 4,
        "memcpy_details.async": 0,
        "memcpy_details.kind_src": "pinned",
        "addr": 255,
    }
    assert copy["stats"][-1]["text"] == "0xff"
    json.dumps(answer, allow_nan=False)


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        # As recorded on a V100 with the host's call of a launch.
        ("regs:687194767361 shm:4294967297 grid:1272,139757090178736,1008622464 block:0,0,0", {}),
        ("regs:38", {"registers": 38}),
        ("grid:9999999999,1,1 block:32,1,1", {"block": "32 × 1 × 1"}),
        ("grid:8 block:32,2", {"grid": "8 × 1 × 1", "block": "32 × 2 × 1"}),
    ],
)
def test_launches_have_the_sizes_that_are_said_and_possible(said: str, facts: dict[str, object]):
    space = drawn_space({"/device:GPU:0": "s |k"}, stats={"k": {"kernel_details": said}})
    found = values(details(open_timelines.opened_space(space), 0))
    assert found.pop("kernel_details") == said
    assert found == {f"kernel_details.{name}": value for name, value in facts.items()}


def test_texts_of_a_megabyte_are_cut():
    space = drawn_space({"/host:CPU": "t |a"}, stats={"a": {"note": "x" * 1_000_000}})
    (note,) = details(open_timelines.opened_space(space), 0)["stats"]
    assert note["value"] == "x" * 100_000 + "… (1,000,000 characters)"


def test_instructions_have_their_text_and_source_where_the_program_is_known():
    program = Program()
    program.add("p", "parameter", "f32[8]{0}")
    program.add("a", "parameter", "f32[8]{0}", within="fused")
    program.add("b", "negate", "f32[8]{0}", "a", within="fused")
    fusion = program.add("fusion.1", "fusion", "f32[8]{0}", "p", calls="fused", op="jit(f)/neg")
    fusion.metadata.source_file, fusion.metadata.source_line = "model.py", 12
    fusion.fusion_kind = "kLoop"
    space = drawn_space(
        {"/host:CPU": "t |a.b", "/device:GPU:0": "s |k"},
        names={"k": "loop_fusion_kernel"},
        stats={
            "a": {"hlo_op": "while::fusion.1", "hlo_module": "jit_f"},
            "b": {"hlo_op": "fusion.9", "hlo_module": "jit_f"},
            "k": {"hlo_op": "fusion.1", "hlo_module": "jit_f", "program_id": 7},
        },
        programs={"jit_f(7)": program.bytes()},
    )
    opened = open_timelines.opened_space(space)
    answer = details(opened, first(opened, "a"))
    assert answer["hlo"]["instruction"] == "fusion.1"
    more = 'metadata={op_name="jit(f)/neg" source_file="model.py" source_line=12}'
    assert answer["hlo"]["text"].splitlines() == [
        f"%fusion.1 = f32[8]{{0}} fusion(f32[8]{{0}} %p), kind=kLoop, calls=%fused, {more}",
        "",
        "%fused {",
        "  %a = f32[8]{0} parameter(0)",
        "  ROOT %b = f32[8]{0} negate(f32[8]{0} %a)",
        "}",
    ]
    assert answer["source"] == "model.py:12"
    unknown = details(opened, first(opened, "b"))
    assert unknown["hlo"] == {"module": "jit_f", "instruction": "fusion.9", "text": ""}
    assert unknown["source"] is None
    kernel = details(opened, first(opened, "loop_fusion_kernel"))
    assert kernel["hlo"] == answer["hlo"]
    assert kernel["links"][0]["params"]["f.operation"] == "=jit(f)/neg"
    graph = [link for link in kernel["links"] if link["tool"] == "graph_viewer"]
    assert [link["params"] for link in graph] == [{"program_id": "7", "node_name": "fusion.1"}]


def test_kernels_in_graphs_have_the_instructions_of_their_programs():
    """`sgemm` is the kernel of the library call between `a` and `b`."""
    program = Program()
    program.add("a", "negate", "f32[8]")
    call = program.add("call.2", "custom-call", "f32[8]", "a", op="jit(f)/dot_general")
    call.metadata.source_file, call.metadata.source_line = "model.py", 12
    program.add("b", "negate", "f32[8]", "call.2")
    graph = {"program_id": 7, "hlo_op": "command_buffer", "cuda_graph_id": 3}
    space = drawn_space(
        {"/device:GPU:0": "s |akb"},
        names={"k": "sgemm"},
        stats={
            letter: {**graph, "cuda_graph_node_id": node}
            for node, letter in enumerate("akb", start=1)
        },
        programs={"jit_f(7)": program.bytes()},
    )
    opened = open_timelines.opened_space(space)
    kernel = details(opened, first(opened, "sgemm"))
    assert kernel["hlo"]["instruction"] == "call.2"
    assert kernel["hlo"]["text"].startswith("%call.2 = f32[8] custom-call(")
    assert kernel["source"] == "model.py:12"
    assert kernel["links"][0]["params"]["f.operation"] == "=jit(f)/dot_general"


def test_instructions_on_a_cpu_say_how_long_their_work_went_on():
    trace = draw(
        {"/host:CPU": """
            main |ddd.t..
            pool |.......e
        """},
        names={"d": "dot.1", "t": "tanh", "e": "end: dot.1"},
        stats={"d": {"hlo_op": "dot.1", "_pt": 0, "_p": 70}, "e": {"_ct": 0, "_c": 70}},
    )  # fmt: skip
    opened = open_timelines.built(space_of(trace))
    [late] = details(opened, first(opened, "dot.1"))["stats"][:1]
    assert (late["label"], late["value"], late["unit"]) == ("Work after the event", 4 * US, "ps")
    assert "late_work_ps" not in values(details(opened, first(opened, "tanh")))


def test_sources_are_stats_or_frames():
    space = drawn_space(
        {"/host:CPU": "t |aabbccdd"},
        names={"a": "$model.py:12 call", "c": "$builtins isinstance"},
        stats={"b": {"source": "x.py:3", "_src": "x.cc"}, "d": {"_src": "y.cc"}},
    )
    opened = open_timelines.opened_space(space)
    sources = {opened.name(index): details(opened, index)["source"] for index in range(4)}
    assert sources == {
        "$model.py:12 call": "model.py:12", "b": "x.py:3", "$builtins isinstance": None, "d": "y.cc"
    }  # fmt: skip


def test_links_lead_to_the_rows_that_count_the_event():
    space = drawn_space(
        {"/host:CPU": "t |abc", "/device:GPU:0": "s |kml"},
        names={
            "a": "model/dense/MatMul:MatMul", "b": "Iterator::Root::Map", "c": "Something",
            "k": "gemm", "m": "MemcpyH2D", "l": "relu",
        },
        stats={
            "k": {"kernel_details": "regs:1", "tf_op": "model/dense/MatMul:MatMul"},
            "l": {"kernel_details": "regs:1"},
        },
    )  # fmt: skip
    opened = open_timelines.opened_space(space)

    def links(name: str) -> list[tuple[str, dict[str, str]]]:
        return [
            (link["tool"], link["params"]) for link in details(opened, first(opened, name))["links"]
        ]

    def op(name: str, side: str) -> tuple[str, dict[str, str]]:
        filters = {"f.operation": f"={name}", "f.host_or_device": f"={side}", "filters": "1"}
        return "framework_op_stats", filters

    def kernel(name: str, **filters: str) -> tuple[str, dict[str, str]]:
        return "kernel_stats", {"f.kernel_name": f"={name}", **filters, "filters": "1"}

    assert links("model/dense/MatMul:MatMul") == [op("model/dense/MatMul", "Host")]
    assert links("Iterator::Root::Map") == [
        op("Iterator::Root::Map", "Host"),
        ("input_pipeline_analyzer", {"f.opName": "=Iterator::Root::Map", "filters": "1"}),
    ]
    assert links("Something") == []
    assert links("gemm") == [
        kernel("gemm", **{"f.op_name": "=model/dense/MatMul"}),
        op("model/dense/MatMul", "Device"),
    ]
    assert links("MemcpyH2D") == [op("MemcpyH2D", "Device")]
    assert links("relu") == [kernel("relu"), op("relu", "Device")]


def test_an_event_is_in_the_step_that_it_starts_in():
    opened = open_timelines.opened(
        [[(0, 10, "train 1"), (10, 10, "train 2")], [(2, 30, "a"), (19, 5, "b"), (20, 5, "c")]],
        kind=["steps", "thread"],
    )

    def step(name: str) -> object:
        return details(opened, first(opened, name))["step"]

    one = {"label": "train 1", "id": 0, "part": "events", "number": 0}
    two = {"label": "train 2", "id": 1, "part": "events", "number": 1}
    assert step("a") == one
    assert step("b") == step("train 2") == two
    assert step("c") is None
    answer = details(opened, first(opened, "b"))
    assert answer["links"] == [{"tool": "overview_page", "label": "Step train 2", "params": {}}]
    assert [link["tool"] for link in details(opened, 0)["links"]] == ["overview_page", "pod_viewer"]


def test_steps_of_the_derived_part_come_first():
    derived = open_timelines.opened([[(0, 15, "7"), (15, 15, "8")]], kind=["steps"])
    opened = open_timelines.opened([[(16, 2, "a")], [(0, 40, "own")]], kind=["thread", "steps"])
    windows = [step_windows(derived, "derived")]
    answer = details(opened, first(opened, "a"), steps=windows)
    assert answer["step"] == {"label": "8", "id": 1, "part": "derived", "number": 1}
    assert answer["links"] == [
        {"tool": "overview_page", "label": "Step 8", "params": {"step": "1"}}
    ]
    late = open_timelines.opened([[(35, 2, "a")], [(0, 40, "own")]], kind=["thread", "steps"])
    assert details(late, first(late, "a"), steps=windows)["step"]["label"] == "own"
    assert details(derived, 0, steps=windows)["step"]["part"] == "derived"


def test_an_event_that_is_not_there_is_refused():
    opened = open_timelines.opened([[(0, 1, "a")]])
    for event in (-1, 1, 2**40):
        with pytest.raises(EventNotFound, match="no event"):
            details(opened, event)
        for how in MOVES:
            with pytest.raises(EventNotFound, match="no event"):
                move(opened, event, how)


def test_texts_of_instructions_are_cut_where_they_are_too_long_to_read():
    program = Program()
    parts = [f"p{number}" for number in range(2000)]
    for part in parts:
        program.add(part, "parameter", "f32[8]", within="body")
    program.add("all", "tuple", "f32[8], f32[8]", *parts)
    program.add("loop", "call", "f32[8]", calls="body")
    space = drawn_space(
        {"/host:CPU": "t |a.b"},
        stats={
            "a": {"hlo_op": "all", "hlo_module": "jit_f"},
            "b": {"hlo_op": "loop", "hlo_module": "jit_f"},
        },
        programs={"jit_f(7)": program.bytes()},
    )
    opened = open_timelines.opened_space(space)
    wide, long = (details(opened, first(opened, name))["hlo"]["text"] for name in "ab")
    assert wide.startswith("%all = (f32[8], f32[8]) tuple(f32[8] %p0, ")
    assert len(wide) == 2**14 + 1
    assert wide.endswith("…")
    lines = long.splitlines()
    assert lines[:4] == [
        "%loop = f32[8] call(), to_apply=%body",
        "",
        "%body {",
        "  %p0 = f32[8] parameter(0)",
    ]
    assert len(lines) == 201
    assert lines[-1] == "… (more is left out)"


@pytest.mark.parametrize("trace", ["gpu_trace", "tpu_trace"])
def test_events_of_real_traces(trace, request):
    opened = open_timelines.built(read_space(request.getfixturevalue(trace)))
    size = opened.timeline.start_ps.size
    texts = links = 0
    for event in range(0, size, size // 300):
        answer = details(opened, event)
        json.dumps(answer, allow_nan=False)
        assert 0 <= answer["self_ps"] <= answer["duration_ps"]
        assert answer["same_name"]["count"] >= 1
        texts += bool(answer["hlo"] and answer["hlo"]["text"])
        links += len(answer["links"])
    assert links > 50
    assert texts > 50 or trace == "gpu_trace"


def test_lines_of_ops_lead_to_the_rows_of_their_ops(gpu_trace):
    opened = open_timelines.built(read_space(gpu_trace))
    kinds = {track.kind for track in opened.timeline.tracks}
    assert {"stream", "ops", "steps", "scopes", "thread"} <= kinds
    links: dict[str, Any] = {}
    for track in opened.timeline.tracks:
        if track.rows and opened.timeline.sections[track.section].kind == "device":
            event = int(opened.timeline.row_first[track.first_row])
            answer = details(opened, event)
            params = [link["params"] for link in answer["links"] if "f.operation" in link["params"]]
            links.setdefault(track.kind, params)
            if track.kind in ("ops", "stream"):
                assert params[0]["f.host_or_device"] == "=Device"
                assert ":" not in params[0]["f.operation"]
    assert links["steps"] == links["scopes"] == []


def test_events_of_examples(sample_logdir):
    for path in sorted(sample_logdir.rglob("*.xplane.pb")):
        opened = open_timelines.built(read_space(path))
        size = opened.timeline.start_ps.size
        for event in range(0, size, size // 100):
            json.dumps(details(opened, event), allow_nan=False)

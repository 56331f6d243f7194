"""Whole steps of drawn traces, each phase counted by hand. One column is 1 µs."""

import pytest
from helpers.drawn.drawn_steps import GPU, HOST, steps_of, table, times
from traces import Unsigned, draw, message_of

STEP = {"step_num": 0, "_r": 1}
MARKERS = {"s": {"_r": 1, "step_num": 7}, "t": {"_r": 1, "step_num": 8}}
TRAIN = {"s": "train", "t": "train"}


def test_a_cpu_step_is_split_by_what_its_thread_did():
    trace = draw(
        {HOST: """
            python |ssssssssss..tttttttttt
                   |.IIaaa.w....
        """},
        names={**TRAIN, "I": "IteratorGetNextOp::DoCompute", "a": "x:MatMul",
               "w": "WaitForNotification"},
        stats=MARKERS,
    )  # fmt: skip
    steps = steps_of(trace)
    assert steps.source == "markers"
    assert steps.marker == "train"
    assert steps.has_explicit_numbers
    assert times(steps) == [(0, 12, 10), (12, 10, 10)]
    assert table(steps) == [
        ("CPU", "train 7", {"input": 2, "host_compute": 3, "other": 7}),
        ("CPU", "train 8", {"other": 10}),
    ]
    # The last one has no gap behind it, as the first has: a sixth of the step is missing.
    assert steps.is_truncated.tolist() == [False, True]


def test_input_outside_of_the_marker_belongs_to_the_step_before_it():
    trace = draw(
        {HOST: """
            python |ssssss........tttttt
                   |.aaaa.IIIIIIII..bbb
        """},
        names={**TRAIN, "I": "IteratorGetNext:IteratorGetNext", "a": "x:MatMul", "b": "x:MatMul"},
        stats=MARKERS,
    )  # fmt: skip
    assert table(steps_of(trace)) == [
        ("CPU", "train 7", {"input": 8, "host_compute": 4, "other": 2}),
        ("CPU", "train 8", {"host_compute": 3, "other": 3}),
    ]


def test_a_gpu_step_counts_the_host_where_the_device_is_idle():
    trace = draw(
        {
            HOST: """
                python |ssssssssssssssss....tttttttttttttttt
                       |IIII.LL..LL.CCC.........LL
            """,
            GPU: """
                Stream #1(Compute) |......kkk.mm.............nnn
                Stream #2(MemcpyH2D) |....hhhh
                Stream #3(MemcpyD2H) |............dd
            """,
        },
        names={**TRAIN, "I": "IteratorGetNextOp::DoCompute", "L": "cuLaunchKernel",
               "C": "PjRtStreamExecutorClient::Compile", "k": "sgemm_f32", "n": "sgemm_f32",
               "m": "gemm_f16", "h": "MemcpyH2D", "d": "MemcpyD2H"},
        stats={**MARKERS, "L": {"correlation_id": 1},
               "k": {"correlation_id": 1, "kernel_details": "regs:1"},
               "m": {"correlation_id": 1, "kernel_details": "regs:1"},
               "n": {"kernel_details": "regs:1"}, "h": {"correlation_id": 1},
               "d": {"correlation_id": 1}},
    )  # fmt: skip
    steps = steps_of(trace)
    # 0-4 input, 4-6 copy to the device, 6-9 and 10-12 kernels, 9-10 a launch, 12-14 copy back,
    # 14-15 the rest of compilation; launches at 5 and 10 are behind the device's work.
    assert table(steps)[0] == (
        "GPU:0",
        "train 7",
        {"compute_32": 3, "compute_16": 2, "input": 6, "output": 2, "kernel_launch": 1,
         "compilation": 1, "other": 5},
    )  # fmt: skip
    assert times(steps)[0] == (0, 20, 16)


def test_several_gpus_are_workers_of_their_own():
    trace = draw(
        {
            HOST: "python |ssssssssssttttttttttt\n       |.L.M.....",
            GPU: "Stream #1 |..kkkk......mm",
            "/device:GPU:3": "Stream #1 |...kkkkkk.....",
            "/device:GPU:5": "Stream #1 |...hh",
        },
        names={**TRAIN, "k": "sgemm_f32", "m": "sgemm_f32", "L": "cuLaunchKernel",
               "M": "cuLaunchKernel", "h": "MemcpyH2D"},
        stats={**MARKERS, "k": {"correlation_id": 1, "kernel_details": "regs:1"},
               "m": {"kernel_details": "regs:1"},
               "L": {"correlation_id": 1}, "M": {"correlation_id": 1}},
    )  # fmt: skip
    steps = steps_of(trace)
    assert steps.worker_name == ["GPU:0", "GPU:3"]  # a GPU that only received a copy did no work
    assert [(row[:2], row[2].get("compute_32")) for row in table(steps)] == [
        (("GPU:0", "train 7"), 4),
        (("GPU:0", "train 8"), 2),
        (("GPU:3", "train 7"), 6),
        (("GPU:3", "train 8"), None),
    ]


def test_the_thread_of_another_gpu_does_not_explain_an_idle_one():
    trace = draw(
        {
            HOST: """
                python |ssssssssssssss
                       |p.q
                tf_gpu_private_0 |.LL...HHH
                tf_gpu_private_1 |...MMMMMMMM
            """,
            GPU: "Stream #1 |...kk.....",
            "/device:GPU:1": "Stream #1 |...........mmm",
        },
        names={**TRAIN, "p": "give", "q": "give", "k": "sgemm_f32", "m": "sgemm_f32",
               "L": "cuLaunchKernel", "M": "cuLaunchKernel", "H": "x:Assert"},
        stats={**MARKERS, "k": {"correlation_id": 1, "kernel_details": "regs:1"},
               "m": {"correlation_id": 2, "kernel_details": "regs:1"},
               "p": {"_pt": 2, "_p": 5}, "q": {"_pt": 2, "_p": 6},
               "L": {"correlation_id": 1, "_ct": 2, "_c": 5}, "H": {"_ct": 2, "_c": 5},
               "M": {"correlation_id": 2, "_ct": 2, "_c": 6}},
    )  # fmt: skip
    assert table(steps_of(trace)) == [
        # Columns 1-2 launch, 3-4 compute, 6-8 an op of its own thread.
        ("GPU:0", "train 7", {"kernel_launch": 2, "compute_32": 2, "host_compute": 3, "other": 7}),
        ("GPU:1", "train 7", {"kernel_launch": 8, "compute_32": 3, "other": 3}),
    ]


def test_devices_that_run_behind_have_steps_of_their_own_times():
    trace = draw(
        {
            HOST: "python |ssttuu....\n       |L.M.N",
            GPU: "Stream #1 |..kkkkkk..mmmmmm..nnnnnn",
        },
        names={**TRAIN, "u": "train", "k": "sgemm_f32", "m": "sgemm_f32", "n": "sgemm_f32",
               "L": "cuLaunchKernel", "M": "cuLaunchKernel", "N": "cuLaunchKernel"},
        stats={**MARKERS, "u": {"_r": 1, "step_num": 9},
               "L": {"correlation_id": 1}, "M": {"correlation_id": 2}, "N": {"correlation_id": 3},
               **{letter: {"correlation_id": at, "kernel_details": "regs:1"}
                  for at, letter in enumerate("kmn", 1)}},
    )  # fmt: skip
    steps = steps_of(trace)
    assert times(steps) == [(2, 8, 6), (10, 8, 6), (18, 6, 6)]
    assert "behind the host" in steps.note
    assert steps.label == ["train 7", "train 8", "train 9"]


def test_python_frames_and_sleeping_are_no_work():
    trace = draw(
        {HOST: """
            python |sssssssssstttttttttt
                   |pppppppppp
                   |.qqqq.aaa
        """},
        names={**TRAIN, "p": "$train.py:10 step", "q": "$time sleep", "a": "x:MatMul"},
        stats=MARKERS,
    )  # fmt: skip
    assert table(steps_of(trace))[0][2] == {"host_compute": 3, "other": 7}


def test_work_ahead_of_the_step_is_not_the_step():
    trace = draw(
        {HOST: """
            python |sssssssstttttttt
            tf_data_private_threadpool/1 |aaaaaaaaaaaa
        """},
        names={**TRAIN, "a": "x:Decode"},
        stats=MARKERS,
    )  # fmt: skip
    assert table(steps_of(trace))[0][2] == {"other": 8}


def test_the_users_choice_marks_the_steps():
    trace = draw(
        {HOST: """
            python |ssssssssssssssssss
                   |aaaa.bbbb.cccc
        """},
        names={**TRAIN, "a": "epoch", "b": "epoch", "c": "epoch"},
        stats=MARKERS,
    )  # fmt: skip
    steps = steps_of(trace, "epoch")
    assert steps.source == "chosen"
    assert times(steps) == [(0, 5, 4), (5, 5, 4), (10, 4, 4)]
    missing = steps_of(trace, "no such <b>event</b>")
    assert missing.source == "markers"
    assert missing.note.startswith("No thread has an event 'no such <b>event</b>'.")


def test_what_carries_a_steps_number_marks_steps_without_being_a_root():
    trace = draw(
        {HOST: """
            python |ppppp.qqqqq
                   |.ff.g..ff
        """},
        names={"p": "Profiled batch", "q": "Profiled batch", "f": "FunctionRun",
               "g": "FunctionRun"},
        stats={"p": {"step_num": 4}, "q": {"step_num": 5}, "f": {"_r": 1}, "g": {"_r": 1}},
    )  # fmt: skip
    steps = steps_of(trace)
    assert (steps.source, steps.marker) == ("markers", "Profiled batch")
    assert steps.label == ["Profiled batch 4", "Profiled batch 5"]
    assert steps.has_explicit_numbers
    assert times(steps) == [(0, 6, 5), (6, 5, 5)]


def test_numbered_events_without_a_name_mark_no_steps():
    trace = draw(
        {HOST: "python |xx.ppp.qqq"},
        names={"x": "lost", "p": "batch", "q": "batch"},
        stats={letter: {"step_num": at} for at, letter in enumerate("xpq")},
    )
    space = message_of(trace)
    kinds = space.planes[0].event_metadata
    [lost] = [key for key, kind in kinds.items() if kind.name == "lost"]
    del kinds[lost]
    steps = steps_of(space.SerializeToString())
    assert (steps.source, steps.marker) == ("markers", "batch")
    assert steps.label == ["batch 1", "batch 2"]


def test_what_a_step_started_on_other_threads_is_its_own_work():
    trace = draw(
        {HOST: """
            python |ss......tt
                   |p
            pool   |..qqqq....
                   |..aaaa
        """},
        names={**TRAIN, "p": "produce", "q": "consume", "a": "x:MatMul"},
        stats={**MARKERS, "p": {"_pt": 2, "_p": 5}, "q": {"_ct": 2, "_c": 5}},
    )  # fmt: skip
    steps = steps_of(trace)
    assert times(steps) == [(0, 8, 6), (8, 2, 2)]
    assert table(steps)[0][2]["host_compute"] >= 4


def test_equal_and_nested_markers_are_tiled():
    trace = draw(
        {HOST: """
            python |ssssssssss.tttttttt
                   |.uuu
        """},
        names={**TRAIN, "u": "eval"},
        stats={**MARKERS, "u": {"_r": 1, "step_num": -5}},
    )  # fmt: skip
    steps = steps_of(trace)
    # The nested one is of the same level, so it is part of the step around it.
    assert steps.label == ["train 7", "train 8"]


def test_a_step_is_not_cut_because_threads_share_its_work_otherwise():
    """Four ops each, in one piece of time or in four: on two threads they follow without a gap."""
    step = "ssssssssssss"
    scattered = ".a.b.c.d...."
    dense = ".aabbccdd..."
    trace = draw(
        {HOST: f"""
            python |{step}{step.replace("s", "t")}{step.replace("s", "u")}{step.replace("s", "v")}
                   |{scattered * 3}{dense}
        """},
        names={"s": "train", "t": "train", "u": "train", "v": "train"}
        | {letter: f"{letter}:MatMul" for letter in "abcd"},
        stats={letter: {"_r": 1, "step_num": at} for at, letter in enumerate("stuv")},
    )  # fmt: skip
    steps = steps_of(trace)
    assert steps.number.tolist() == [0, 1, 2, 3]
    assert not steps.is_truncated.any()


@pytest.mark.parametrize(
    ("other", "is_uncertain"), [("..uuuuuu.vvvvvv.", True), ("ww...............", False)]
)
def test_steps_that_several_threads_mark_are_uncertain(other: str, is_uncertain: bool):
    letters = "stuvw"
    trace = draw(
        {HOST: f"python |ssssssstttttttttt\npython |{other}"},
        names=dict.fromkeys(letters, "train"),
        stats={letter: {"_r": 1, "step_num": at} for at, letter in enumerate(letters)},
    )
    said = [doubt.partition(".")[0] for doubt in steps_of(trace).doubts]
    assert said == (["Several threads mark steps at the same time"] if is_uncertain else [])


@pytest.mark.parametrize(
    ("start_ns", "stated", "epoch_ns"),
    [(0, 0, 0), (0, 1_700_000_000_000_000_000, 1_700_000_000_000_000_000),
     (1_700_000_000_000_000_500, 1_700_000_000_000_000_000, 1_700_000_000_000_000_500)],
)  # fmt: skip
def test_the_time_of_day_of_steps(start_ns: int, stated: int, epoch_ns: int):
    """TensorFlow and JAX write times since the recording began, and apart from them when."""
    environment = "Task Environment"
    steps = steps_of(
        draw(
            {HOST: "python |ssssssssss", environment: ""},
            names=TRAIN,
            stats=MARKERS,
            plane_stats={environment: {"profile_start_time": Unsigned(stated)} if stated else {}},
            start_ns=start_ns,
        )
    )
    assert steps.epoch_ns == epoch_ns
    assert steps.start_ps.tolist() == [0]


def test_a_gap_is_time_in_which_no_device_works():
    """Its own kernel ends at 9, another's at 12; then one works from 14 to 16."""
    trace = draw(
        {
            HOST: "python |ssssss..............tttttt\n       |.L",
            GPU: """
                Stream #1 |..kkkkkkk
                Stream #2 |......zzzzzz..zz....z
            """,
            "/device:GPU:1": "Stream #1 |................yyy",
        },
        names={**TRAIN, "L": "cuLaunchKernel", **dict.fromkeys("kzy", "sgemm_f32")},
        stats={**MARKERS, "L": {"correlation_id": 1},
               "k": {"correlation_id": 1, "kernel_details": "regs:1"},
               "z": {"kernel_details": "regs:1"}, "y": {"kernel_details": "regs:1"}},
    )  # fmt: skip
    steps = steps_of(trace)
    # Idle are 12 to 14 and 19 to 20 of either: GPU:1 works while GPU:0 waits, from 16 to 19.
    assert steps.worker_name == ["GPU:0", "GPU:1"]
    assert times(steps) == [(0, 20, 17), (20, 6, 6), (0, 20, 17), (20, 6, 6)]


def test_a_gap_of_a_host_is_time_in_which_no_op_computes():
    trace = draw(
        {HOST: """
            python |ssss..........tttt
                   |.aa..bbb.ww...cc
        """},
        names={**TRAIN, **dict.fromkeys("abc", "x:MatMul"), "w": "$time sleep"},
        stats=MARKERS,
    )  # fmt: skip
    assert times(steps_of(trace)) == [(0, 14, 7), (14, 4, 4)]


def test_building_the_graph_of_a_function_is_compilation():
    """A call that traces runs Python until it executes what came of it."""
    drawing = """
        python |ssssssssssssssssssssttttttttttttttttttttt
               |.ffffffffffffffffff..gggggggggggggggggg
               |..pppp.wwTTTTTTTTT..........TTTTTTTTTTT
               |............ooooo...............oooooo
    """
    names = {**TRAIN, "f": "step", "g": "step", "p": "$train.py:3 step", "w": "$time sleep",
             "T": "TFE_Py_ExecuteCancelable", "o": "dense/MatMul:MatMul"}  # fmt: skip
    stats = {**MARKERS, "f": {"tf_function_call": "traced-nonXla"},
             "g": {"tf_function_call": "notTraced-nonXla"}}  # fmt: skip
    assert [row[2] for row in table(steps_of(draw({HOST: drawing}, names=names, stats=stats)))] == [
        {"compilation": 9, "host_compute": 5, "other": 6},
        {"host_compute": 6, "other": 15},
    ]
